use super::*;

fn from(json: &str) -> Distribution {
    serde_json::from_str(json).expect("a distribution")
}

// Proves each inverse by quantiles that can be worked out by hand (z(0.975) = 1.959964), to the nanosecond's rounding.
#[test]
fn quantiles_are_exact() {
    let cases = [
        (r#"{"ms":2.5}"#, 0.3, 2.5),
        (r#"{"uniform":{"lo_ms":10,"hi_ms":30}}"#, 0.25, 15.0),
        (r#"{"normal":{"mean_ms":100,"sd_ms":10}}"#, 0.975, 119.599_639_845),
        (r#"{"normal":{"mean_ms":1,"sd_ms":10}}"#, 0.025, 0.0),
        (r#"{"normal":{"mean_ms":7,"sd_ms":0}}"#, 0.0, 7.0),
        (r#"{"normal":{"mean_ms":100,"sd_ms":10,"max_ms":110}}"#, 0.975, 110.0),
        (r#"{"lognormal":{"median_ms":20,"sigma":0.5}}"#, 0.5, 20.0),
        (r#"{"lognormal":{"median_ms":20,"sigma":0.5}}"#, 0.975, 53.288_165_231),
        (r#"{"lognormal":{"median_ms":20,"sigma":0.5}}"#, 0.0, 0.0),
        (r#"{"pareto":{"scale_ms":2,"shape":2}}"#, 0.75, 4.0),
        (r#"{"pareto":{"scale_ms":2,"shape":2}}"#, 0.0, 2.0),
        (r#"{"pareto":{"scale_ms":2,"shape":2,"max_ms":3}}"#, 0.75, 3.0),
        (r#"{"table":{"quantiles":[[0.5,10],[0.9,50],[1,100]]}}"#, 0.1, 10.0),
        (r#"{"table":{"quantiles":[[0.5,10],[0.9,50],[1,100]]}}"#, 0.7, 30.0),
        (r#"{"table":{"quantiles":[[0.5,10],[0.9,50],[1,100]]}}"#, 0.95, 75.0),
        (r#"{"table":{"quantiles":[[0.5,10],[0.9,50]]}}"#, 0.95, 50.0),
    ];
    for (json, u, ms) in cases {
        let drawn = from(json);
        drawn.check().expect(json);
        let got = drawn.sample(u).as_secs_f64() * 1e3;
        assert!((got - ms).abs() < 2e-6, "{json} at {u}: {got} is not {ms}");
    }
}

// Proves that draws follow the distribution's own function (Kolmogorov-Smirnov): with 10,000 seeded draws the distance
// stays under 1.95 / sqrt(n), the bound of a false alarm in a thousand; the draws are fixed, so the test is too.
#[test]
fn draws_follow_the_function() {
    type Cdf = fn(f64) -> f64;
    let cases: [(&str, Cdf); 4] = [
        (r#"{"uniform":{"lo_ms":10,"hi_ms":30}}"#, |x| (x - 10.0) / 20.0),
        (r#"{"normal":{"mean_ms":100,"sd_ms":10}}"#, |x| normal_cdf((x - 100.0) / 10.0)),
        (r#"{"lognormal":{"median_ms":20,"sigma":0.5}}"#, |x| normal_cdf((x / 20.0).ln() / 0.5)),
        (r#"{"pareto":{"scale_ms":2,"shape":1.5}}"#, |x| 1.0 - (2.0 / x).powf(1.5)),
    ];
    let n = 10_000_usize;
    for (json, cdf) in cases {
        let drawn = from(json);
        let mut state = 7_u64;
        let mut xs: Vec<f64> = (0..n).map(|_| drawn.sample(split_mix(&mut state)).as_secs_f64() * 1e3).collect();
        xs.sort_by(f64::total_cmp);
        let distance = |(i, x): (usize, &f64)| {
            let f = cdf(*x);
            (f - i as f64 / n as f64).abs().max((f - (i + 1) as f64 / n as f64).abs())
        };
        let worst = xs.iter().enumerate().map(distance).fold(0.0, f64::max);
        assert!(worst < 1.95 / (n as f64).sqrt(), "{json}: {worst}");
    }
}

// Proves that what does not hold is refused and that the refusal names the field.
#[test]
fn refusals_name_the_field() {
    let cases = [
        (r#"{"ms":-1}"#, "ms: "),
        (r#"{"ms":86400001}"#, "ms: "),
        (r#"{"uniform":{"lo_ms":3,"hi_ms":2}}"#, "uniform.hi_ms: must not be below lo_ms"),
        (r#"{"normal":{"mean_ms":3,"sd_ms":-2}}"#, "normal.sd_ms: "),
        (r#"{"lognormal":{"median_ms":3,"sigma":11}}"#, "lognormal.sigma: "),
        (r#"{"lognormal":{"median_ms":3,"sigma":1,"max_ms":-1}}"#, "lognormal.max_ms: "),
        (r#"{"pareto":{"scale_ms":3,"shape":0}}"#, "pareto.shape: "),
        (r#"{"table":{"quantiles":[]}}"#, "table.quantiles: must have 1 to 1000 points"),
        (r#"{"table":{"quantiles":[[0.5,1],[0.5,2]]}}"#, "table.quantiles[1][0]: "),
        (r#"{"table":{"quantiles":[[0.5,1],[0.6,0.5]]}}"#, "table.quantiles[1][1]: "),
        (r#"{"table":{"quantiles":[[2,1]]}}"#, "table.quantiles[0][0]: "),
    ];
    for (json, expected) in cases {
        let error = from(json).check().expect_err(json).to_string();
        assert!(error.starts_with(expected), "{json}: {error}");
    }
    for json in [r#"{"ms":1,"x":2}"#, r#"{"normal":{"mean_ms":1,"sd_ms":1,"x":1}}"#, r#"{"gamma":{}}"#] {
        serde_json::from_str::<Distribution>(json).expect_err(json);
    }
    assert!(Distribution::Ms(f64::NAN).check().is_err());
}

fn split_mix(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// The normal distribution by Simpson's rule from -9 on: good to 1e-10, far finer than the test's bound.
fn normal_cdf(z: f64) -> f64 {
    let density = |x: f64| (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let (steps, from) = (400, -9.0);
    let h = (z.max(from) - from) / f64::from(steps);
    let inner: f64 = (1..steps).map(|i| density(from + h * f64::from(i)) * if i % 2 == 0 { 2.0 } else { 4.0 }).sum();
    (density(from) + inner + density(z)) * h / 3.0
}
