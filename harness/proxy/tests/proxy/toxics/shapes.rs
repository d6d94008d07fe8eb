//! The JSON of toxics and the board's bookkeeping.

use chaos_proxy::{
    AttributeValue, Direction, Share, Stream, Toxic, ToxicBoard, ToxicError, ToxicKind, ToxicParseError,
};
use serde_json::{Value, json};

fn board(toxics: impl IntoIterator<Item = Toxic>) -> ToxicBoard {
    ToxicBoard::new(1, false, toxics).expect("a board")
}

fn parsed(value: Value) -> Result<Toxic, ToxicParseError> {
    Toxic::from_json(value)
}

// Proves the exact text of each type, taken from Toxiproxy's recorded answers: field order, attributes that were not
// given, the spelling of the stream, and the shortest toxicity.
#[test]
fn the_json_is_toxiproxys() {
    let default = |name: &str| Toxic::new(ToxicKind::toxiproxy(name).expect(name), Direction::Downstream);
    let mut cases = vec![
        (
            Toxic::new(ToxicKind::Latency { latency: -5, jitter: 0 }, Stream::parse("UPSTREAM").expect("stream"))
                .toxicity(0.3),
            r#"{"attributes":{"latency":-5,"jitter":0},"name":"latency_UPSTREAM","type":"latency","stream":"UPSTREAM","toxicity":0.3}"#,
        ),
        (
            default("noop").named("n1").toxicity(7.0),
            r#"{"attributes":{},"name":"n1","type":"noop","stream":"downstream","toxicity":7}"#,
        ),
        (
            Toxic::new(ToxicKind::PacketLoss { loss_rate: 0.1, correlation: 1.0 }, Direction::Upstream).toxicity(-0.5),
            r#"{"attributes":{"loss_rate":0.1,"correlation":1},"name":"packet_loss_upstream","type":"packet_loss","stream":"upstream","toxicity":-0.5}"#,
        ),
    ];
    let attributes = [
        ("bandwidth", r#"{"rate":0}"#),
        ("slow_close", r#"{"delay":0}"#),
        ("timeout", r#"{"timeout":0}"#),
        ("reset_peer", r#"{"timeout":0}"#),
        ("slicer", r#"{"average_size":0,"size_variation":0,"delay":0}"#),
        ("limit_data", r#"{"bytes":0}"#),
    ];
    let texts: Vec<_> = attributes
        .iter()
        .map(|(t, a)| {
            format!(r#"{{"attributes":{a},"name":"{t}_downstream","type":"{t}","stream":"downstream","toxicity":1}}"#)
        })
        .collect();
    cases.extend(attributes.iter().zip(&texts).map(|((t, _), text)| (default(t), text.as_str())));
    for (toxic, text) in cases {
        assert_eq!(serde_json::to_string(&toxic).expect("json"), text);
        if (0.0..=1.0).contains(&toxic.toxicity) {
            assert_eq!(parsed(serde_json::from_str(text).expect("json")), Ok(toxic), "{text}");
        }
    }
}

// Proves that our own types read back what they write.
#[test]
fn our_types_round_trip() {
    for value in [
        json!({"attributes":{"distribution":{"normal":{"mean_ms":5.5,"sd_ms":1.0}}},"name":"d","type":"delay","stream":"upstream","toxicity":0.5}),
        json!({"attributes":{"bytes_per_s":10,"per":"link"},"name":"t","type":"throttle","stream":"upstream","toxicity":1}),
        json!({"attributes":{},"name":"c","type":"cut","stream":"downstream","toxicity":1}),
        json!({"attributes":{"after_bytes":7},"name":"r","type":"reset","stream":"downstream","toxicity":1}),
    ] {
        let toxic = parsed(value.clone()).expect("a toxic");
        assert_eq!(serde_json::to_value(&toxic).expect("json"), value);
        assert!(!toxic.kind.is_toxiproxy());
    }
    let toxic = parsed(json!({"type":"throttle","attributes":{"bytes_per_s":9}})).expect("a toxic");
    assert_eq!(toxic.kind, ToxicKind::Throttle { bytes_per_s: 9, per: Share::Connection });
    assert_eq!(toxic.name, "throttle_downstream");
}

// Proves that a refusal names the field.
#[test]
fn strict_reading_names_the_field() {
    for (value, field) in [
        (json!({"type":"latency","x":1}), "toxic"),
        (json!({"type":"latency","attributes":{"x":1}}), "attributes.x"),
        (json!({"type":"latency","attributes":{"latency":1.5}}), "attributes.latency"),
        (json!({"type":"latency","attributes":{"latency":"1"}}), "attributes.latency"),
        (json!({"type":"latency","stream":"sideways"}), "stream"),
        (json!({"type":"latency","toxicity":2}), "toxicity"),
        (json!({"type":"latency","name":""}), "name"),
        (json!({"type":"bogus"}), "type"),
        (json!({"type":"cut","attributes":{"x":1}}), "attributes"),
        (json!({"type":"throttle","attributes":{"bytes_per_s":0}}), "attributes.bytes_per_s"),
        (json!({"type":"delay","attributes":{"distribution":{"ms":-1}}}), "attributes.distribution.ms"),
    ] {
        let error = parsed(value.clone()).expect_err("refused");
        assert_eq!(error.field, field, "{value}: {error}");
    }
}

// Proves the board's order and names: upstream first, ours left out, names unique over both directions.
#[test]
fn toxiproxys_list_is_ordered_and_closed() {
    let noop = |name: &str, direction| Toxic::new(ToxicKind::Noop, direction).named(name);
    let board = board([noop("d1", Direction::Downstream), noop("u1", Direction::Upstream)]);
    board.add(Toxic::new(ToxicKind::Cut, Direction::Upstream).named("ours")).expect("added");
    board.add(noop("d2", Direction::Downstream)).expect("added");
    board.add(noop("u2", Direction::Upstream)).expect("added");
    let names = |toxics: Vec<Toxic>| toxics.into_iter().map(|t| t.name).collect::<Vec<_>>();
    assert_eq!(names(board.list_toxiproxy()), ["u1", "u2", "d1", "d2"]);
    assert_eq!(names(board.list()), ["d1", "u1", "ours", "d2", "u2"]);
    let twice = board.add(noop("u1", Direction::Downstream)).expect_err("taken");
    assert_eq!(twice, ToxicError::Duplicate("u1".to_owned()));
    assert_eq!(board.epoch(), 5, "a refused change is none");
    assert_eq!(board.remove("nobody"), Err(ToxicError::Unknown("nobody".to_owned())));
    assert_eq!(board.remove("ours").expect("removed").epoch, 6);
    assert_eq!((board.clear(), board.list().len()), (7, 0));
    assert_eq!(board.clear(), 7, "nothing to clear is no change");
}

// Proves that an update commits as a whole or not at all, and touches neither name nor stream.
#[test]
fn an_update_is_atomic() {
    let board = board([Toxic::new(ToxicKind::Latency { latency: 1, jitter: 2 }, Direction::Upstream).named("l")]);
    let set = |toxic: &mut Toxic, key: &str| toxic.kind.set(key, AttributeValue::Int(9)).map_err(|e| e.to_string());
    let refused = board.update::<Refused>("l", |toxic| {
        set(toxic, "latency")?;
        Ok(set(toxic, "rate")?)
    });
    let Refused(text) = refused.expect_err("refused");
    assert_eq!(text, "`latency` has no attribute `rate`; it has: latency, jitter");
    assert_eq!(board.get("l").expect("l").kind, ToxicKind::Latency { latency: 1, jitter: 2 });
    let changed = board.update::<Refused>("l", |toxic| {
        toxic.name = "other".to_owned();
        toxic.stream = Direction::Downstream.into();
        toxic.toxicity = 0.5;
        Ok(set(toxic, "jitter")?)
    });
    let expected =
        Toxic::new(ToxicKind::Latency { latency: 1, jitter: 9 }, Direction::Upstream).named("l").toxicity(0.5);
    let changed = changed.expect("changed");
    assert_eq!((&changed.toxic, changed.epoch), (&expected, 2));
    assert_eq!(board.list(), [expected]);
}

#[derive(Debug)]
struct Refused(String);

impl From<ToxicError> for Refused {
    fn from(e: ToxicError) -> Self {
        Self(e.to_string())
    }
}

impl From<String> for Refused {
    fn from(text: String) -> Self {
        Self(text)
    }
}
