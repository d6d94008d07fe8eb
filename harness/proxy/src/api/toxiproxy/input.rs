//! The bodies of Toxiproxy's calls, read as Go reads them.

use super::Failure;
use crate::api::go_json::{Decoder, Kind, Owner, Raw, meant};
use crate::toxics::{AttributeValue, Stream, Toxic, ToxicError, ToxicKind};

const PROXY_KEYS: [&str; 5] = ["name", "listen", "upstream", "enabled", "Logger"];
const TOXIC_KEYS: [&str; 6] = ["attributes", "name", "type", "stream", "toxicity", "direction"];
/// Go's names of types without a name, as they stand in its errors.
const UPDATE_TYPE: &str =
    r#"struct { Attributes interface {} "json:\"attributes\""; Toxicity float32 "json:\"toxicity\"" }"#;
const ENTRY_TYPE: &str = r#"struct { toxiproxy.Proxy; Enabled *bool "json:\"enabled\"" }"#;

/// A proxy as a caller describes it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct ProxyInput {
    pub(super) name: String,
    pub(super) listen: String,
    pub(super) upstream: String,
    pub(super) enabled: bool,
}

/// A proxy; what the body does not say stays as in `defaults`.
pub(super) fn proxy(body: &[u8], defaults: ProxyInput) -> Result<ProxyInput, Failure> {
    let raw = Raw::first(body).map_err(Failure::bad_body)?;
    let (mut decoder, mut input) = (Decoder::default(), defaults);
    if decoder.is_object(raw, "toxiproxy.Proxy") {
        fields(raw, &mut decoder, Owner::root("Proxy"), &mut input);
    }
    decoder.finish().map_err(Failure::bad_body)?;
    Ok(input)
}

/// The proxies of `/populate` and of a configuration file.
pub(super) fn proxies(body: &[u8]) -> Result<Vec<ProxyInput>, Failure> {
    let raw = Raw::first(body).map_err(Failure::bad_body)?;
    let (mut decoder, mut inputs) = (Decoder::default(), Vec::new());
    if decoder.is_array(raw, &format!("[]{ENTRY_TYPE}")) {
        for entry in raw.elements() {
            let mut input = ProxyInput { enabled: true, ..ProxyInput::default() };
            if decoder.is_object(entry, ENTRY_TYPE) {
                fields(entry, &mut decoder, Owner::root(""), &mut input);
            }
            inputs.push(input);
        }
    }
    decoder.finish().map_err(Failure::bad_body)?;
    for (i, input) in inputs.iter().enumerate() {
        input.check(&format!(" at proxy {}", i + 1))?;
    }
    Ok(inputs)
}

impl ProxyInput {
    /// Refuses a proxy without a name or upstream.
    pub(super) fn check(&self, place: &str) -> Result<(), Failure> {
        let missing = [("name", &self.name), ("upstream", &self.upstream)].into_iter().find(|(_, v)| v.is_empty());
        missing.map_or(Ok(()), |(field, _)| Err(Failure::missing(&format!("{field}{place}"))))
    }
}

fn fields(raw: Raw<'_>, decoder: &mut Decoder, owner: Owner<'_>, input: &mut ProxyInput) {
    for (key, value) in raw.members() {
        match meant(&key, &PROXY_KEYS) {
            Some(key @ "name") => decoder.string(value, owner, key, &mut input.name),
            Some(key @ "listen") => decoder.string(value, owner, key, &mut input.listen),
            Some(key @ "upstream") => decoder.string(value, owner, key, &mut input.upstream),
            Some(key @ "enabled") => decoder.boolean(value, owner, key, &mut input.enabled),
            Some(key) => _ = decoder.is_object_at(value, owner, key, "zerolog.Logger"),
            None => {}
        }
    }
}

/// A new toxic: read once for its type, and again for the attributes of that type. `taken` says whether a name is:
/// Toxiproxy looks at that before it looks at the attributes.
pub(super) fn toxic(body: &[u8], taken: impl Fn(&str) -> bool) -> Result<Toxic, Failure> {
    let raw = Raw::first(body).map_err(Failure::bad_body)?;
    let (mut decoder, owner) = (Decoder::default(), Owner::root("ToxicWrapper"));
    let (mut name, mut type_name, mut toxicity) = (String::new(), String::new(), 1.0);
    let (mut stream, mut direction) = (None, None);
    let is_object = decoder.is_object(raw, "toxics.ToxicWrapper");
    for (key, value) in raw.members().filter(|_| is_object) {
        match meant(&key, &TOXIC_KEYS) {
            Some(key @ "name") => decoder.string(value, owner, key, &mut name),
            Some(key @ "type") => decoder.string(value, owner, key, &mut type_name),
            Some(key @ "stream") if value.kind() != Kind::Null => {
                decoder.string(value, owner, key, stream.get_or_insert_default());
            }
            Some(key @ "toxicity") => decoder.float32(value, owner, key, &mut toxicity),
            Some(key @ "attributes") => _ = decoder.is_object_at(value, owner, key, "toxics.NoopToxic"),
            // Toxiproxy does not know it, but one client sends it in place of `stream`.
            Some("direction") if value.kind() == Kind::String => direction = Some(value.string()),
            _ => {}
        }
    }
    decoder.finish().map_err(Failure::bad_body)?;
    let stream = stream.or(direction).unwrap_or_else(|| "downstream".to_owned());
    let bad_stream = |_| Failure::new(400, "stream was invalid, can be either upstream or downstream");
    let stream = Stream::parse(stream).map_err(bad_stream)?;
    let kind = ToxicKind::toxiproxy(&type_name).ok_or_else(|| Failure::new(400, "invalid toxic type"))?;
    let mut toxic = Toxic::new(kind, stream).toxicity(toxicity);
    if !name.is_empty() {
        toxic.name = name;
    }
    if taken(&toxic.name) {
        return Err(ToxicError::Duplicate(toxic.name).into());
    }
    let mut decoder = Decoder::default();
    for (_, object) in raw.members().filter(|(key, _)| meant(key, &["attributes"]).is_some()) {
        attributes(object, &mut decoder, &mut toxic.kind);
    }
    decoder.finish().map_err(Failure::bad_body).map(|()| toxic)
}

/// Merges a change into a toxic that is a copy: after an error nobody uses it.
pub(super) fn toxic_update(body: &[u8], toxic: &mut Toxic) -> Result<(), Failure> {
    let raw = Raw::first(body).map_err(Failure::bad_body)?;
    let (mut decoder, owner) = (Decoder::default(), Owner::root(""));
    let is_object = decoder.is_object(raw, UPDATE_TYPE);
    let go_type = format!("toxics.{}", struct_name(&toxic.kind));
    for (key, value) in raw.members().filter(|_| is_object) {
        match meant(&key, &["attributes", "toxicity"]) {
            Some(key @ "toxicity") => decoder.float32(value, owner, key, &mut toxic.toxicity),
            Some(key) if decoder.is_object_at(value, owner, key, &go_type) => {
                attributes(value, &mut decoder, &mut toxic.kind);
            }
            _ => {}
        }
    }
    decoder.finish().map_err(Failure::bad_body)
}

/// Sets the attributes that a toxic's type has and the object names.
fn attributes(object: Raw<'_>, decoder: &mut Decoder, kind: &mut ToxicKind) {
    let owner = Owner { name: struct_name(kind), path: "attributes." };
    for (key, value) in object.members() {
        let known = kind.numbers();
        let keys: Vec<_> = known.iter().map(|(key, _)| *key).collect();
        let Some(key) = meant(&key, &keys) else { continue };
        let Some((_, mut number)) = known.iter().find(|(known, _)| *known == key).copied() else { continue };
        match &mut number {
            AttributeValue::Int(n) => decoder.int64(value, owner, key, n),
            AttributeValue::Float(x) => decoder.float64(value, owner, key, x),
        }
        // The key is one of the type's, and the number of its width.
        let _set = kind.set(key, number);
    }
}

/// Go's name of a type's attributes, as it stands in its errors.
fn struct_name(kind: &ToxicKind) -> &'static str {
    match kind {
        ToxicKind::Latency { .. } => "LatencyToxic",
        ToxicKind::Bandwidth { .. } => "BandwidthToxic",
        ToxicKind::SlowClose { .. } => "SlowCloseToxic",
        ToxicKind::Timeout { .. } => "TimeoutToxic",
        ToxicKind::ResetPeer { .. } => "ResetToxic",
        ToxicKind::Slicer { .. } => "SlicerToxic",
        ToxicKind::LimitData { .. } => "LimitDataToxic",
        ToxicKind::PacketLoss { .. } => "PacketLossToxic",
        _ => "NoopToxic",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toxics::Direction;

    const FREE: fn(&str) -> bool = |_| false;

    fn error<T: std::fmt::Debug>(outcome: Result<T, Failure>) -> String {
        outcome.expect_err("a refusal").text
    }

    // Proves the defaults, keys in any case, unknown keys, null, trailing text, and that the last of two keys counts.
    #[test]
    fn proxies_are_read_leniently() {
        let body = br#"{"NAME":"a","Upstream":"u:1","listen":null,"x":[{}],"name":"b","toxics":5,"logger":{}} tail"#;
        let defaults = ProxyInput { enabled: true, listen: "l:1".into(), ..ProxyInput::default() };
        let input = proxy(body, defaults).expect("proxy");
        let expected = ProxyInput { name: "b".into(), listen: "l:1".into(), upstream: "u:1".into(), enabled: true };
        assert_eq!(input, expected);
        assert_eq!(proxy(b"null", expected.clone()), Ok(expected));
        let wrong = error(proxy(br#"{"enabled":1,"name":2}"#, ProxyInput::default()));
        assert!(wrong.ends_with("cannot unmarshal number into Go struct field Proxy.enabled of type bool"), "{wrong}");
    }

    // Proves what a list of proxies may be, and how its entries are named in refusals.
    #[test]
    fn entries_are_checked_before_any_is_used() {
        assert_eq!(proxies(b"null"), Ok(Vec::new()));
        assert_eq!(proxies(br#"[{"name":"a","upstream":"u:1"}]"#).map(|all| all[0].enabled), Ok(true));
        assert_eq!(
            error(proxies(br#"[{"name":"a","upstream":"u:1"},null]"#)),
            "missing required field: name at proxy 2"
        );
        assert!(error(proxies(b"[5]")).contains(r#"into Go value of type struct { toxiproxy.Proxy; Enabled *bool"#));
        assert!(error(proxies(br#"[{"name":5}]"#)).ends_with("Go struct field .name of type string"));
    }

    // Proves the order of the checks on a new toxic: body, stream, type, name, attributes.
    #[test]
    fn toxics_are_checked_in_order() {
        let all_wrong = |text: &str| text.replace('\'', "\"");
        let body = all_wrong("{'type':'x','stream':'y','attributes':{'latency':'z'}}");
        assert!(error(toxic(body.as_bytes(), FREE)).starts_with("stream was invalid"));
        let body = all_wrong("{'type':'x','attributes':{'latency':'z'}}");
        assert_eq!(error(toxic(body.as_bytes(), FREE)), "invalid toxic type");
        let body = all_wrong("{'type':'latency','attributes':{'latency':'z'}}");
        assert_eq!(error(toxic(body.as_bytes(), |name| name == "latency_downstream")), "toxic already exists");
        assert!(error(toxic(body.as_bytes(), FREE)).contains("Go struct field LatencyToxic.attributes.latency"));
        let body = all_wrong("{'type':'latency','attributes':5}");
        assert!(error(toxic(body.as_bytes(), FREE)).contains("ToxicWrapper.attributes of type toxics.NoopToxic"));
    }

    // Proves that `direction` stands in for a missing `stream` only.
    #[test]
    fn a_direction_stands_in_for_a_stream() {
        let made = |body: &str| toxic(body.as_bytes(), FREE).expect("toxic");
        let alone = made(r#"{"type":"noop","direction":"upstream"}"#);
        assert_eq!((alone.direction(), alone.name.as_str()), (Direction::Upstream, "noop_upstream"));
        let both = made(r#"{"type":"noop","direction":"upstream","stream":"downstream"}"#);
        assert_eq!(both.direction(), Direction::Downstream);
        assert_eq!(made(r#"{"type":"noop","direction":7,"stream":null}"#).direction(), Direction::Downstream);
    }

    // Proves that updates merge key by key, and the words for a wrong shape at each level.
    #[test]
    fn updates_are_merged() {
        let mut slow = toxic(br#"{"type":"latency","attributes":{"latency":100}}"#, FREE).expect("toxic");
        toxic_update(br#"{"Attributes":{"JITTER":5},"toxicity":0.5,"name":"zz","type":"noop"}"#, &mut slow)
            .expect("fits");
        assert_eq!(slow.kind, ToxicKind::Latency { latency: 100, jitter: 5 });
        assert_eq!((slow.toxicity, slow.name.as_str()), (0.5, "latency_downstream"));
        for (body, words) in [
            (r#"{"toxicity":"x"}"#, "string into Go struct field .toxicity of type float32"),
            (r#"{"attributes":[]}"#, "array into Go struct field .attributes of type toxics.LatencyToxic"),
            ("5", r#"number into Go value of type struct { Attributes interface {} "json:"#),
        ] {
            let text = error(toxic_update(body.as_bytes(), &mut slow));
            assert!(text.contains(words), "{text}");
        }
    }
}
