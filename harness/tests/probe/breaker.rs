//! Breaker states from the endpoints that services have.

use harness::probe::{BreakerProbe, ProbeError, Probed, WordMap, code};
use judge::evidence::{BreakerReading, BreakerState};
use serde_json::json;

use crate::kit::*;

async fn read(probe: BreakerProbe) -> Result<Probed<BreakerReading>, ProbeError> {
    probe.read(&TIME, &limits()).await
}

async fn actuator(body: String, name: &str) -> Result<Probed<BreakerReading>, ProbeError> {
    let url = serve(200, "application/vnd.spring-boot.actuator.v3+json", body).await;
    read(BreakerProbe::Actuator { url, name: name.to_owned() }).await
}

async fn prometheus(body: &str, name: &str) -> Result<Probed<BreakerReading>, ProbeError> {
    let url = serve(200, "text/plain; version=0.0.4", body).await;
    read(BreakerProbe::Prometheus { url, name: name.to_owned() }).await
}

fn state(got: &Probed<BreakerReading>) -> (BreakerState, Option<u64>) {
    (got.reading.state, got.reading.not_permitted)
}

fn document(state: &str) -> String {
    let breaker = json!({
        "failureRate": "-1.0%", "slowCallRate": "-1.0%", "failureRateThreshold": "50.0%", "bufferedCalls": 0,
        "failedCalls": 0, "slowCalls": 0, "slowFailedCalls": 0, "notPermittedCalls": 3, "state": state
    });
    json!({"circuitBreakers": {"bank": breaker, "a/b": {"state": "OPEN", "notPermittedCalls": -1}}}).to_string()
}

/// Every state word of resilience4j, with rates that say "too few calls"; a negative count is no count, and a name may
/// hold what a JSON pointer would take for a separator.
#[tokio::test]
async fn the_actuator_is_read() {
    let words = [
        ("CLOSED", BreakerState::Closed),
        ("OPEN", BreakerState::Open),
        ("HALF_OPEN", BreakerState::HalfOpen),
        ("DISABLED", BreakerState::Disabled),
        ("FORCED_OPEN", BreakerState::ForcedOpen),
        ("METRICS_ONLY", BreakerState::MetricsOnly),
    ];
    for (word, expected) in words {
        let got = actuator(document(word), "bank").await.expect("a good document");
        assert_eq!(state(&got), (expected, Some(3)), "{word}");
        assert_eq!((got.reading.source.as_str(), got.reading.name.as_str(), got.notes.len()), ("actuator", "bank", 0));
    }
    assert_eq!(state(&actuator(document("OPEN"), "a/b").await.expect("good")), (BreakerState::Open, None));
}

/// A breaker that is not there is an error that lists those that are; a word that nobody knows is a reading with a note.
#[tokio::test]
async fn the_actuators_surprises_are_named() {
    says(actuator(document("OPEN"), "bnak").await, &["`bnak`", "a/b, bank"]);
    says(actuator(json!({"circuitBreakers": {}}).to_string(), "bank").await, &["none", "registered"]);
    says(actuator(json!({"status": "UP"}).to_string(), "bank").await, &["/circuitBreakers", "not there"]);
    says(
        actuator(json!({"circuitBreakers": {"bank": {}}}).to_string(), "bank").await,
        &["/circuitBreakers/bank/state"],
    );
    let got = actuator(document("TRANSITIONING"), "bank").await.expect("a good document");
    assert_eq!(got.reading.state, BreakerState::Unknown);
    let [note] = got.notes.as_slice() else { panic!("one note: {:?}", got.notes) };
    assert!(note.code == code::UNKNOWN_WORD && note.text.contains("TRANSITIONING"), "{}", note.text);
}

/// One gauge for each state, as Micrometer writes them: with the comma after the last label that its older client left,
/// without it as the newer one does, with timestamps, in any order of labels, and among other breakers and metrics.
#[tokio::test]
async fn micrometer_gauges_are_read() {
    let old = r#"# HELP resilience4j_circuitbreaker_state The states of the circuit breaker
# TYPE resilience4j_circuitbreaker_state gauge
resilience4j_circuitbreaker_state{name="bank",state="forced_open",} 0.0
resilience4j_circuitbreaker_state{name="bank",state="half_open",} 1.0
resilience4j_circuitbreaker_state{name="bank",state="closed",} 0.0
resilience4j_circuitbreaker_state{name="other",state="open",} 1.0
resilience4j_circuitbreaker_not_permitted_calls_total{kind="not_permitted",name="other",} 99.0
resilience4j_circuitbreaker_not_permitted_calls_total{kind="not_permitted",name="bank",} 1.2E1
resilience4j_circuitbreaker_failure_rate{name="bank",} -1.0
jvm_gc_pause_seconds_max{action="end of minor GC",cause="G1 {weird=\"yes\"}",} NaN
"#;
    let new = "resilience4j_circuitbreaker_state{group=\"none\", state=\"open\", name=\"bank\"} 1 1700000000000\r\n\
               resilience4j_circuitbreaker_state{group=\"none\",state=\"closed\",name=\"bank\"} 0 1700000000000\r\n\
               resilience4j_circuitbreaker_not_permitted_calls_total{name=\"bank\"} 0 # {trace_id=\"x\"} 1 1.5\r\n# EOF\r\n";
    assert_eq!(state(&prometheus(old, "bank").await.expect("good")), (BreakerState::HalfOpen, Some(12)));
    assert_eq!(state(&prometheus(old, "other").await.expect("good")), (BreakerState::Open, Some(99)));
    assert_eq!(state(&prometheus(new, "bank").await.expect("good")), (BreakerState::Open, Some(0)));
}

/// The other flavour: one gauge with the state's ordinal, and the refused calls as one kind of a family of calls.
#[tokio::test]
async fn ordinal_gauges_are_read() {
    let states = [
        ("0.0", BreakerState::Closed),
        ("1.0", BreakerState::Open),
        ("2", BreakerState::HalfOpen),
        ("3", BreakerState::Disabled),
        ("4", BreakerState::ForcedOpen),
        ("5", BreakerState::MetricsOnly),
        ("0.5", BreakerState::Unknown),
        ("NaN", BreakerState::Unknown),
    ];
    for (value, expected) in states {
        let body = format!(
            "resilience4j_circuitbreaker_state {{ name = \"bank\" }} {value}\n\
             resilience4j_circuitbreaker_calls_total{{name=\"bank\",kind=\"failed\"}} 5\n\
             resilience4j_circuitbreaker_calls_total{{name=\"bank\",kind=\"not_permitted\"}} 8\n"
        );
        assert_eq!(state(&prometheus(&body, "bank").await.expect("good")), (expected, Some(8)), "{value}");
    }
}

/// Names with every character that the format escapes are matched as they are, not as they are written.
#[tokio::test]
async fn escapes_in_labels_are_undone() {
    let body = "resilience4j_circuitbreaker_state{name=\"b\\\\a\\\"n},\\nk=\",state=\"open\"} 1\n";
    assert_eq!(prometheus(body, "b\\a\"n},\nk=").await.expect("good").reading.state, BreakerState::Open);
}

/// A scrape in mid-transition shows no state or two: that is no state, with a note, and not the first that comes.
#[tokio::test]
async fn a_scrape_in_mid_transition_is_unknown() {
    let gauges = |open, half| {
        format!(
            "resilience4j_circuitbreaker_state{{name=\"bank\",state=\"open\"}} {open}\n\
             resilience4j_circuitbreaker_state{{name=\"bank\",state=\"half_open\"}} {half}\n"
        )
    };
    for (body, word) in [(gauges(0, 0), "no state"), (gauges(1, 1), "open and half_open")] {
        let got = prometheus(&body, "bank").await.expect("good");
        assert_eq!(state(&got), (BreakerState::Unknown, None));
        assert!(got.notes[0].text.contains(word), "{}", got.notes[0].text);
    }
}

/// A text that is no exposition, a broken line of the breaker's own, and a breaker that is not there are errors; a broken
/// line of somebody else's is not this probe's business.
#[tokio::test]
async fn prometheus_surprises_are_named() {
    for line in [
        "resilience4j_circuitbreaker_state{name=\"bank\"",
        "resilience4j_circuitbreaker_state{name=\"bank} 1",
        "resilience4j_circuitbreaker_state{name=bank} 1",
        "resilience4j_circuitbreaker_state{name=\"bank\" state=\"open\"} 1",
        "resilience4j_circuitbreaker_state{name=\"bank\",state=\"open\"}",
        "resilience4j_circuitbreaker_state{name=\"bank\",state=\"open\"} one",
        "resilience4j_circuitbreaker_state{,} 1",
    ] {
        says(prometheus(&format!("\n{line}\n"), "bank").await, &["line 2", "Prometheus text", "state"]);
    }
    says(prometheus("<html><body>hello</body></html>", "bank").await, &["Prometheus text", "<html>"]);
    says(prometheus("", "bank").await, &["Prometheus text"]);
    says(prometheus("up 1\n", "bank").await, &["`bank`", "none"]);
    let other = "resilience4j_circuitbreaker_state{name=\"b2\",state=\"open\"} 1\nbroken{ 1\n";
    says(prometheus(other, "bank").await, &["`bank`", "b2"]);
    assert_eq!(prometheus(other, "b2").await.expect("good").reading.state, BreakerState::Open);
}

/// Any JSON: text, number or boolean, by the service's own words first and then by those that libraries share.
#[tokio::test]
async fn any_json_is_read_by_pointer() {
    let url = serve(
        200,
        "application/json",
        json!({"a": [{"state": "half-open"}, {"state": "TRIPPED"}], "isOpen": true, "code": 2, "refused": 4, "odd": "?"})
            .to_string(),
    )
    .await;
    let words: WordMap = [
        ("TRIPPED".to_owned(), BreakerState::Open),
        ("true".to_owned(), BreakerState::Open),
        ("2".to_owned(), BreakerState::HalfOpen),
    ]
    .into();
    let probe = |pointer: &str, not_permitted: Option<&str>| BreakerProbe::Json {
        url: url.clone(),
        name: "bank".to_owned(),
        pointer: pointer.to_owned(),
        words: words.clone(),
        not_permitted: not_permitted.map(str::to_owned),
    };
    let cases = [
        ("/a/0/state", BreakerState::HalfOpen),
        ("/a/1/state", BreakerState::Open),
        ("/isOpen", BreakerState::Open),
        ("/code", BreakerState::HalfOpen),
        ("/odd", BreakerState::Unknown),
    ];
    for (pointer, expected) in cases {
        let got = read(probe(pointer, Some("/refused"))).await.expect("a good document");
        assert_eq!((state(&got), got.reading.name.as_str()), ((expected, Some(4)), "bank"), "{pointer}");
    }
    assert_eq!(read(probe("/code", None)).await.expect("good").reading.not_permitted, None);
    says(read(probe("/b", None)).await, &["`/b`", "not there"]);
    says(read(probe("/a", None)).await, &["`/a`", "an array of 2"]);
    says(read(probe("/code", Some("/odd"))).await, &["`/odd`", "the text `?`", "calls not permitted"]);
}
