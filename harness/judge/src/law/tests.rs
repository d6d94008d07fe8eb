use super::*;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-12
}

/// Proves the support of each law before the first three retries, base 200 ms, against values worked out by hand.
#[test]
fn supports_match_their_definitions() {
    let table = LawSpec::table([(ms(10), ms(20)), (ms(30), ms(30))]);
    let cases: [(LawSpec, [(f64, f64); 3]); 14] = [
        (LawSpec::immediate(), [(0.0, 0.0); 3]),
        (LawSpec::fixed(ms(200)), [(0.2, 0.2); 3]),
        (LawSpec::exponential(ms(200)), [(0.2, 0.2), (0.4, 0.4), (0.8, 0.8)]),
        (LawSpec::exponential(ms(200)).factor(3.0).cap(ms(500)), [(0.2, 0.2), (0.5, 0.5), (0.5, 0.5)]),
        (LawSpec::full(ms(200)).first_exponent(1), [(0.0, 0.4), (0.0, 0.8), (0.0, 1.6)]),
        (LawSpec::equal(ms(200)), [(0.1, 0.2), (0.2, 0.4), (0.4, 0.8)]),
        (LawSpec::decorrelated(ms(200)).cap(ms(1000)), [(0.2, 0.6), (0.2, 1.0), (0.2, 1.0)]),
        (LawSpec::plus_minus(ms(200), 0.25), [(0.15, 0.25), (0.3, 0.5), (0.6, 1.0)]),
        (LawSpec::scaled_by(ms(200), 0.8, 1.2), [(0.16, 0.24), (0.32, 0.48), (0.64, 0.96)]),
        (LawSpec::additive_ratio(ms(200), 0.5), [(0.2, 0.3), (0.4, 0.6), (0.8, 1.2)]),
        (LawSpec::additive_fixed(ms(200), ms(100)), [(0.2, 0.3), (0.4, 0.5), (0.8, 0.9)]),
        (LawSpec::capped_additive(ms(200), ms(100), ms(450)), [(0.2, 0.3), (0.4, 0.45), (0.45, 0.45)]),
        (LawSpec::envoy(ms(200)).cap(ms(1000)), [(0.0, 0.2), (0.0, 0.6), (0.0, 1.0)]),
        (table, [(0.01, 0.02), (0.03, 0.03), (0.03, 0.03)]),
    ];
    for (spec, supports) in cases {
        let law = spec.build().expect("valid");
        for (k, (lo, hi)) in supports.into_iter().enumerate() {
            let seen = law.support(k);
            assert!(close(seen.0, lo) && close(seen.1, hi), "{law}, retry {k}: {seen:?} instead of {lo}..{hi}");
            assert_eq!(law.is_atom(k), lo == hi, "{law}, retry {k}");
        }
    }
}

/// Proves that the distribution function is right inside, outside and exactly at an atom, and that the conditional law
/// reads the previous delay.
#[test]
fn distribution_functions() {
    let full = LawSpec::full(ms(200)).build().expect("valid").delay(0, None);
    assert!(close(full.cdf(0.05), 0.25) && full.cdf(-1.0) == 0.0 && full.cdf(1.0) == 1.0);
    let atom = Law::immediate().delay(3, None);
    assert_eq!((atom.cdf_before(0.0), atom.cdf(0.0), atom.cdf(-1e-9)), (0.0, 1.0, 0.0));

    let capped = LawSpec::capped_additive(ms(200), ms(100), ms(450)).build().expect("valid").delay(1, None);
    assert!(close(capped.cdf_before(0.45), 0.5) && capped.cdf(0.45) == 1.0 && close(capped.atom_mass(), 0.5));
    assert!(!capped.is_uniform() && !capped.is_atom());

    let decorrelated = LawSpec::decorrelated(ms(200)).cap(ms(1000)).build().expect("valid");
    assert!(close(decorrelated.delay(1, Some(0.4)).cdf(0.7), 0.5));
    let at_cap = decorrelated.delay(1, Some(1.0));
    assert!(close(at_cap.cdf_before(1.0), 0.8 / 2.8) && at_cap.cdf(1.0) == 1.0);
}

/// Proves that every law survives its written form, and that the written form is the flat table of the guide.
#[test]
fn round_trips_through_its_table() {
    let text = r#"{"law":"plus_minus","base":"200ms","cap":"5s","factor":2.0,"spread":0.25}"#;
    let law: Law = serde_json::from_str(text).expect("the documented form");
    assert_eq!(law, LawSpec::plus_minus(ms(200), 0.25).cap(ms(5000)).factor(2.0).build().expect("valid"));
    assert_eq!(serde_json::to_string(&law).expect("serializes"), text);
    let table: Law =
        serde_json::from_str(r#"{"law":"table","table":[["0s","200ms"],["1.5s","2m"]]}"#).expect("a table");
    assert_eq!(table.support(7), (1.5, 120.0));
}

/// Proves that a wrong table is refused, and that each refusal names the parameter and what to write.
#[test]
fn refuses_with_advice() {
    let cases = [
        (r#"{"law":"full"}"#, "needs `base`, for example base = \"200ms\""),
        (r#"{"law":"full","base":"200ms","spread":0.2}"#, "has no parameter `spread`"),
        (r#"{"law":"full","base":"0ms"}"#, "longer than zero"),
        (r#"{"law":"full","base":"2s","cap":"1s"}"#, "at least the base"),
        (r#"{"law":"full","base":"200ms","factor":0.5}"#, "from 1 to 1000"),
        (r#"{"law":"scaled","base":"200ms","lo":1.2,"hi":0.8}"#, "larger than `lo`"),
        (r#"{"law":"plus_minus","base":"200ms","spread":25}"#, "0.25 means plus or minus 25 %"),
        (r#"{"law":"full","base":"200ms","first_exponent":40}"#, "from -8 to 8"),
        (r#"{"law":"table","table":[["2s","1s"]]}"#, "row 1"),
        (r#"{"law":"table"}"#, "needs `table`"),
        (r#"{"law":"full","base":"200 sheep"}"#, "200 sheep"),
        (r#"{"law":"fool","base":"200ms"}"#, "decorrelated"),
        (r#"{"law":"full","bsae":"200ms"}"#, "bsae"),
    ];
    for (text, advice) in cases {
        let error = serde_json::from_str::<Law>(text).expect_err(text).to_string();
        assert!(error.contains(advice), "{text}: {error}");
    }
    let nan = LawSpec { factor: Some(f64::NAN), ..LawSpec::full(ms(200)) };
    assert!(matches!(nan.build(), Err(LawError::Range { parameter: "factor", .. })));
}

/// Proves that growth without a cap stays finite for any number of retries.
#[test]
fn growth_never_overflows() {
    for spec in [LawSpec::full(ms(200)), LawSpec::envoy(ms(200)), LawSpec::decorrelated(ms(200))] {
        let law = spec.build().expect("valid");
        assert!(law.support(5_000).1.is_finite());
    }
}
