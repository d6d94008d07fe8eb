//! The quantile function of the standard normal distribution.
//!
//! Method: M. J. Wichura, "Algorithm AS 241: The Percentage Points of the Normal Distribution", Applied Statistics 37
//! (1988), routine PPND16: three rational approximations, relative error about 1e-16.

/// The z with P(Z <= z) = `p`; minus infinity at 0, infinity at 1.
pub(super) fn normal_quantile(p: f64) -> f64 {
    if p <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if p >= 1.0 {
        return f64::INFINITY;
    }
    let q = p - 0.5;
    if q.abs() <= 0.425 {
        return q * ratio(&CENTRE, 0.180_625 - q * q);
    }
    let r = (-p.min(1.0 - p).ln()).sqrt();
    let z = if r <= 5.0 { ratio(&TAIL, r - 1.6) } else { ratio(&FAR_TAIL, r - 5.0) };
    if q < 0.0 { -z } else { z }
}

/// Coefficients of numerator and denominator, from the constant term up.
type Ratio = [[f64; 8]; 2];

fn ratio([numerator, denominator]: &Ratio, x: f64) -> f64 {
    let polynomial = |terms: &[f64; 8]| terms.iter().rev().fold(0.0, |sum, term| sum * x + term);
    polynomial(numerator) / polynomial(denominator)
}

const CENTRE: Ratio = [
    [
        3.3871328727963665,
        133.14166789178438,
        1971.5909503065513,
        13731.69376550946,
        45921.95393154987,
        67265.7709270087,
        33430.57558358813,
        2509.0809287301227,
    ],
    [
        1.0,
        42.31333070160091,
        687.1870074920579,
        5394.196021424751,
        21213.794301586597,
        39307.89580009271,
        28729.085735721943,
        5226.495278852854,
    ],
];

const TAIL: Ratio = [
    [
        1.4234371107496835,
        4.630337846156546,
        5.769497221460691,
        3.6478483247632045,
        1.2704582524523684,
        0.2417807251774506,
        0.022723844989269184,
        0.0007745450142783414,
    ],
    [
        1.0,
        2.053191626637759,
        1.6763848301838038,
        0.6897673349851,
        0.14810397642748008,
        0.015198666563616457,
        0.0005475938084995345,
        1.0507500716444169e-09,
    ],
];

const FAR_TAIL: Ratio = [
    [
        6.657904643501103,
        5.463784911164114,
        1.7848265399172913,
        0.29656057182850487,
        0.026532189526576124,
        0.0012426609473880784,
        2.7115555687434876e-05,
        2.0103343992922881e-07,
    ],
    [
        1.0,
        0.599832206555888,
        0.1369298809227358,
        0.014875361290850615,
        0.0007868691311456133,
        1.8463183175100548e-05,
        1.421511758316446e-07,
        2.0442631033899397e-15,
    ],
];

#[cfg(test)]
mod tests {
    use super::*;

    // Proves the three branches against values from R's qnorm (15 digits), and the symmetry.
    #[test]
    fn known_quantiles() {
        let known = [
            (0.5, 0.0),
            (0.75, 0.674_489_750_196_081_7),
            (0.975, 1.959_963_984_540_054),
            (0.999, 3.090_232_306_167_813),
            (1e-9, -5.997_807_015_007_687),
            (1e-20, -9.262_340_089_798_408),
        ];
        for (p, z) in known {
            let got = normal_quantile(p);
            assert!((got - z).abs() <= 1e-13 * (1.0 + z.abs()), "{p}: {got} is not {z}");
        }
        assert!((normal_quantile(0.025) + normal_quantile(0.975)).abs() < 1e-14);
        assert_eq!((normal_quantile(0.0), normal_quantile(1.0)), (f64::NEG_INFINITY, f64::INFINITY));
    }
}
