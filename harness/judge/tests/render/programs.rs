//! What programs read.

use judge::render::{json, junit};
use judge::stats::Tail;
use judge::{Finding, Ruling, Verdict};

use crate::xml::well_formed;
use crate::{failed, finding, verdict};

/// Proves the mapping: a suite for each scenario, a case for each check, failure and error where they belong, counts
/// and properties.
#[test]
fn junit_report() {
    let expected = "\
<?xml version=\"1.0\" encoding=\"UTF-8\"?>
<testsuites name=\"harness payments\" tests=\"3\" failures=\"1\" errors=\"1\">
  <testsuite name=\"breaker-recovery\" tests=\"3\" failures=\"1\" errors=\"1\">
    <properties>
      <property name=\"seed\" value=\"7\"/>
      <property name=\"run\" value=\"r1\"/>
      <property name=\"placement\" value=\"process\"/>
    </properties>
    <testcase classname=\"payments.breaker-recovery\" name=\"B1 TripsAtThreshold\">
      <system-out>opened after exactly 5 failures in each of 3 trip(s)</system-out>
    </testcase>
    <testcase classname=\"payments.breaker-recovery\" name=\"B4 HalfOpenSingleProbe\">
      <properties>
        <property name=\"chance\" value=\"0\"/>
        <property name=\"callers\" value=\"32\"/>
        <property name=\"held for\" value=\"21.5 ms\"/>
      </properties>
      <failure message=\"probe/2: 7 backend calls while the probe was held, declared 1\" type=\"B4 FAIL\">
B4 HalfOpenSingleProbe  payments -&gt; bank
  scenario    breaker-recovery
  promised    half-open lets exactly 1 call through
  measured    calls at the proxy while it held the probe
  numbers     callers 32; held for 21.5 ms
  chance      0: a correct service cannot fail this way, nothing is estimated
  looks like  transition and permit are not atomic
  evidence
       t+1500.000 ms  key key-7  attempt 1  probe/2: arrived +0.1 ms after the hold began, answered 201  trace 4bf92f35
  exhibit
    t+0.000 ms  closed  first call
  reproduce   harness verify contract.toml --only B4 --seed 7
      </failure>
    </testcase>
    <testcase classname=\"payments.breaker-recovery\" name=\"B3 OpenDuration\">
      <error message=\"the machine paused for 80.0 ms\" type=\"B3 INCONCLUSIVE\">
B3 OpenDuration  payments -&gt; bank
  scenario    breaker-recovery
  promised    half-open lets exactly 1 call through
  measured    calls at the proxy while it held the probe
  advice      run it again on a quieter machine
      </error>
    </testcase>
  </testsuite>
</testsuites>
";
    let text = junit(&verdict());
    assert_eq!(text, expected);
    well_formed(&text).expect("well-formed");
}

/// Proves that scenarios are kept apart, with counts of their own.
#[test]
fn junit_has_a_suite_for_each_scenario() {
    let other = Finding { scenario: "steady".into(), ..finding("H4", "SteadyState", Ruling::Pass, "20 of 20") };
    let text = junit(&Verdict::of("r1", "payments", 7, "process", vec![failed(), other.clone(), failed()]));
    assert!(text.contains("<testsuite name=\"breaker-recovery\" tests=\"2\" failures=\"2\" errors=\"0\">"), "{text}");
    assert!(text.contains("<testsuite name=\"steady\" tests=\"1\" failures=\"0\" errors=\"0\">"), "{text}");
    assert_eq!(text.matches("<testsuite ").count(), 2);
}

/// Proves that a build server does not take a run without findings for a good one.
#[test]
fn junit_of_nothing_is_an_error() {
    let text = junit(&Verdict::of("r1", "payments", 7, "process", Vec::new()));
    well_formed(&text).expect("well-formed");
    assert!(text.contains("tests=\"1\" failures=\"0\" errors=\"1\"") && text.contains("<error "), "{text}");
}

/// Proves that the JSON is the verdict: versioned, and the same after a round trip, bounds on chance included.
#[test]
fn json_round_trip() {
    let mut verdict = verdict();
    verdict.findings[1].chance = Some(Tail::at_most(1e-7));
    let text = json(&verdict);
    assert_eq!(serde_json::from_str::<Verdict>(&text).expect("a verdict"), verdict);
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&value["schema"], &value["version"]), (&"harness-verdict".into(), &1.into()));
    assert_eq!(value["ruling"], "fail");
    assert_eq!(value["findings"][1]["chance"]["at_most"], 1e-7);
    assert_eq!(value["findings"][0].get("lines"), None);
}
