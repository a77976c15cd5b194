//! Rounding w to what a file can hold: odd multiples of a unit, up to 2^`w_bits` − 1 times the unit.
//!
//! The unit is the multiplier of L. First the one of least squared error is found, at most that of the largest |α·w|; the
//! file holds one close to it, and then each w becomes an odd multiple of that. Samples see sums over consecutive rows, so what a row is rounded by is made up for by the next
//! one: zeros become +1, −1, +1, …. A sign is ±1 times its unit α before and after.

use crate::memory::{collect, try_collect, with_capacity};
use crate::model::{RealScale, Scales};
use crate::{Error, Result};

/// The w of all outputs, as multiples of their units.
pub struct Rounded {
    /// The scales with these units.
    pub scales: Scales,
    w: Vec<Vec<i16>>,
}

impl Rounded {
    /// Rounds w of some outputs, given the scales of each.
    ///
    /// # Errors
    /// [`Error::Diverged`] if a number is not finite; if there is not enough memory.
    pub fn new(w: &[&[f32]], mut real: Vec<RealScale>, max_w: i16) -> Result<Self> {
        let alphas = collect(real.iter().map(|scale| scale.alpha))?;
        for (scale, w) in real.iter_mut().zip(w) {
            scale.alpha *= best_unit(w, max_w);
        }
        if !real.iter().all(RealScale::is_finite) || w.iter().any(|w| w.iter().any(|w| w.is_nan())) {
            return Err(Error::Diverged);
        }
        let scales = Scales::new(&real)?;
        let round = |(output, (w, alpha)): (usize, (&&[f32], f64))| {
            let unit = scales.real(output).alpha;
            round(w, if unit > 0.0 { alpha / unit } else { 0.0 }, max_w)
        };
        let w = try_collect(w.iter().zip(alphas).enumerate().map(round))?;
        Ok(Self { scales, w })
    }

    /// Returns w of an output and row.
    pub fn w(&self, output: usize, row: usize) -> i16 {
        self.w[output][row]
    }
}

/// Units that are tried: shares of the one in which the largest w is the largest multiple. With few bits a smaller one
/// cuts the largest w, and serves all others better: with two bits it gave 5 points on digits without factors.
const SHARES: [f64; 15] =
    [1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4, 0.35, 0.3];
/// Number of w, about, by which they are compared.
const COMPARED: usize = 10_000;

/// Returns the unit in which rounding has the least squared error; 1 if there are no numbers.
fn best_unit(w: &[f32], max_w: i16) -> f64 {
    let Some(largest) = w.iter().map(|w| w.abs()).reduce(f32::max) else { return 1.0 };
    let whole = f64::from(largest) / f64::from(max_w);
    let error = |unit: f64| -> f64 {
        let compared = w.iter().step_by((w.len() / COMPARED).max(1)).map(|&w| f64::from(w));
        compared.map(|w| w - unit * f64::from(nearest_odd(w / unit, max_w))).map(|e| e * e).sum()
    };
    let units = SHARES.map(|share| (share * whole, error(share * whole)));
    let best = units.into_iter().reduce(|best, next| if next.1 < best.1 { next } else { best });
    best.map_or(whole, |(unit, _)| unit)
}

/// Rounds numbers, multiplied by a factor, to odd numbers within ±`max`.
fn round(numbers: &[f32], factor: f64, max: i16) -> Result<Vec<i16>> {
    let mut rounded = with_capacity(numbers.len())?;
    let mut owed = 0.0;
    for &number in numbers {
        let exact = f64::from(number) * factor;
        let wanted = if max > 1 { exact + owed } else { exact };
        let odd = nearest_odd(wanted, max);
        owed = (wanted - f64::from(odd)).clamp(-1.0, 1.0); // what a cut number lacks is not made up for
        rounded.push(odd);
    }
    Ok(rounded)
}

/// Returns the odd number within ±`max` that is nearest.
fn nearest_odd(number: f64, max: i16) -> i16 {
    let half = (number.abs() / 2.0).floor().min(f64::from(max / 2)) as i16;
    let size = 2 * half + 1;
    if number.is_sign_negative() { -size } else { size }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn real(alpha: f64) -> RealScale {
        RealScale { bias: 0.5, alpha, beta_squared: 0.01 }
    }

    #[test]
    fn the_nearest_odd_number_is_found() {
        for (number, nearest) in
            [(0.0, 1), (-0.0, -1), (1.9, 1), (2.1, 3), (-3.9, -3), (14.2, 15), (99.0, 15), (-1e300, -15)]
        {
            assert_eq!(nearest_odd(number, 15), nearest, "{number}");
        }
        assert_eq!([nearest_odd(7.0, 1), nearest_odd(-7.0, 1)], [1, -1]);
    }

    #[test]
    fn sums_of_rows_are_multiples_of_a_unit_that_the_file_holds() -> Result<()> {
        for w_bits in 6..=8 {
            let max_w = (1_i16 << w_bits) - 1;
            let w: Vec<f32> = (0..50).map(|i| 0.9 * libm::sinf(i as f32)).chain([0.0; 8]).collect();
            let rounded = Rounded::new(&[&w], vec![real(0.9)], max_w)?;
            let unit = rounded.scales.real(0).alpha;
            let (mut exact, mut found) = (0.0, 0.0);
            for (row, &w) in w.iter().enumerate() {
                exact += 0.9 * f64::from(w) / unit;
                found += f64::from(rounded.w(0, row));
                assert!((exact - found).abs() < 1.1, "{w_bits} bits, row {row}: {exact} {found}");
            }
            assert_eq!((50..58).map(|row| rounded.w(0, row)).sum::<i16>(), 0);
        }
        Ok(())
    }

    #[test]
    fn a_single_large_number_does_not_set_the_unit() {
        let mut w = vec![0.1_f32; 50];
        w.extend([-0.1; 50]);
        w.push(0.5);
        let unit = |max_w| best_unit(&w, max_w);
        assert!(unit(3) < 0.11, "{}", unit(3));
        assert!((unit(255) * 255.0 - 0.5).abs() < 0.03, "{}", unit(255));
    }

    #[test]
    fn signs_keep_their_scale() -> Result<()> {
        let rounded = Rounded::new(&[&[1.0, -1.0]], vec![real(0.37)], 1)?;
        assert_eq!(rounded.scales, Scales::new(&[real(0.37)])?);
        assert_eq!([rounded.w(0, 0), rounded.w(0, 1)], [1, -1]);
        assert_eq!(Rounded::new(&[&[]], vec![real(0.37)], 15)?.scales, rounded.scales);
        Ok(())
    }

    #[test]
    fn what_is_not_finite_has_diverged() {
        for w in [f32::NAN, f32::INFINITY] {
            assert!(Rounded::new(&[&[1.0, w]], vec![real(0.1)], 15).is_err());
        }
    }
}
