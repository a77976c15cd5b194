//! The logistic loss of many samples at once.

/// Below this exp is taken as exp of this: less than the smallest difference of floats near 1 by far.
const MIN_EXPONENT: f32 = -80.0;
/// Added to a float, this rounds it to a whole number, which is then in its lowest bits.
const ROUND: f32 = 12_582_912.0; // 1.5 · 2²³

/// See [`logistic`](super::logistic).
#[inline(always)]
pub fn logistic(margins: &[f32], losses: &mut [f32], slopes: &mut [f32]) {
    for ((&margin, loss), slope) in margins.iter().zip(losses).zip(slopes) {
        let small = exp_negative(-margin.abs());
        let wrong = if margin > 0.0 { small } else { 1.0 } / (1.0 + small); // σ(−margin)
        *slope = -wrong;
        *loss = (-margin).max(0.0) + log1p_share(small);
    }
}

/// The first bits of ln 2, so few that the product with a small whole number is exact; and the rest.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// Returns exp(x) for x ≤ 0 within 3·10⁻⁷ of its size.
#[inline(always)]
fn exp_negative(x: f32) -> f32 {
    let x = x.max(MIN_EXPONENT);
    let rounded = x * core::f32::consts::LOG2_E + ROUND;
    let whole = rounded.to_bits().wrapping_sub(ROUND.to_bits());
    let exponent = rounded - ROUND;
    let f = x - exponent * LN_2[0] - exponent * LN_2[1];
    // exp(f) for |f| ≤ ½ ln 2, by its Taylor series.
    let series = 1.0 / 720.0;
    let series = series * f + 1.0 / 120.0;
    let series = series * f + 1.0 / 24.0;
    let series = series * f + 1.0 / 6.0;
    let series = series * f + 0.5;
    let series = (series * f + 1.0) * f + 1.0;
    f32::from_bits(series.to_bits().wrapping_add(whole << 23))
}

/// Returns log(1 + e) for 0 ≤ e ≤ 1 within 3·10⁻⁷: 2·artanh(z) with z = e / (2 + e) ≤ ⅓.
#[inline(always)]
fn log1p_share(e: f32) -> f32 {
    let z = e / (2.0 + e);
    let square = z * z;
    let series = 1.0 / 11.0;
    let series = series * square + 1.0 / 9.0;
    let series = series * square + 1.0 / 7.0;
    let series = series * square + 0.2;
    let series = series * square + 1.0 / 3.0;
    2.0 * z * (series * square + 1.0)
}
