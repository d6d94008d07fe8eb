//! Proxies and toxics as Toxiproxy writes them.

use crate::api::go_json::{float32, float64, quoted};
use crate::core::LinkStatus;
use crate::toxics::{AttributeValue, Toxic};

/// A proxy. `Logger` is an accident of Toxiproxy's that is really on the wire; clients ignore it.
pub(super) fn proxy(link: &LinkStatus) -> String {
    format!(
        "{{\"name\":{},\"listen\":{},\"upstream\":{},\"enabled\":{},\"Logger\":{{}},\"toxics\":{}}}",
        quoted(&link.name),
        quoted(&link.listen),
        quoted(link.upstream.as_deref().unwrap_or_default()),
        link.enabled,
        toxics(&link.toxics),
    )
}

/// Proxies by name.
pub(super) fn index(links: &[LinkStatus]) -> String {
    let members: Vec<_> = links.iter().map(|link| format!("{}:{}", quoted(&link.name), proxy(link))).collect();
    format!("{{{}}}", members.join(","))
}

/// Toxics, upstream first. Ours are left out: several clients fail on a type that they do not know.
pub(super) fn toxics(all: &[Toxic]) -> String {
    let mut shown: Vec<_> = all.iter().filter(|toxic| toxic.kind.is_toxiproxy()).collect();
    shown.sort_by_key(|toxic| toxic.direction());
    let shown: Vec<_> = shown.into_iter().map(toxic).collect();
    format!("[{}]", shown.join(","))
}

/// One toxic.
pub(super) fn toxic(toxic: &Toxic) -> String {
    let attributes = toxic.kind.numbers().into_iter().map(|(key, value)| match value {
        AttributeValue::Int(n) => format!("{}:{n}", quoted(key)),
        AttributeValue::Float(x) => format!("{}:{}", quoted(key), float64(x)),
    });
    format!(
        "{{\"attributes\":{{{}}},\"name\":{},\"type\":{},\"stream\":{},\"toxicity\":{}}}",
        attributes.collect::<Vec<_>>().join(","),
        quoted(&toxic.name),
        quoted(toxic.kind.type_name()),
        quoted(toxic.stream.text()),
        float32(toxic.toxicity),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::toxics::{Direction, Share, ToxicKind};

    // Proves order, defaults, short floats, escaped names, and that our own kinds do not show.
    #[test]
    fn toxics_are_shown_upstream_first_without_ours() {
        let lossy = ToxicKind::PacketLoss { loss_rate: 0.25, correlation: 0.0 };
        let own = ToxicKind::Throttle { bytes_per_s: 1, per: Share::Link };
        let all = [
            Toxic::new(ToxicKind::Noop, Direction::Downstream).named("<a>"),
            Toxic::new(own, Direction::Upstream),
            Toxic::new(lossy, Direction::Upstream).toxicity(0.3),
        ];
        let first = r#"{"attributes":{"loss_rate":0.25,"correlation":0},"name":"packet_loss_upstream","#;
        let first = format!("{first}{}", r#""type":"packet_loss","stream":"upstream","toxicity":0.3}"#);
        let second = r#"{"attributes":{},"name":"\u003ca\u003e","type":"noop","stream":"downstream","toxicity":1}"#;
        assert_eq!(toxics(&all), format!("[{first},{second}]"));
        assert_eq!(toxics(&[]), "[]");
    }
}
