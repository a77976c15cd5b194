//! Raw numbers in standard units: (x − center) · scale.

/// The units of a numeric feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// Subtracted first; zero where a zero is absent.
    pub center: f32,
    /// Multiplied by afterwards; positive.
    pub scale: f32,
}

/// Values are clamped to ± this many standard deviations, so that an infinity cannot turn a score into NaN.
const MAX_UNITS: f64 = 1e6;

impl Standard {
    /// Returns whether both numbers are usable.
    pub fn is_valid(self) -> bool {
        self.center.is_finite() && self.scale.is_finite() && self.scale > 0.0
    }

    /// Returns a number in standard units.
    #[inline]
    pub fn value(self, number: f32) -> f32 {
        let deviation = f64::from(number) - f64::from(self.center);
        (deviation * f64::from(self.scale)).clamp(-MAX_UNITS, MAX_UNITS) as f32
    }

    /// Measures the mean and standard deviation of the finite numbers; with `keep_zero` the mean is taken to be zero.
    #[cfg(feature = "std")]
    pub fn fit(numbers: &[f32], weights: Option<&[f64]>, keep_zero: bool) -> Self {
        let weight =
            |i: usize| weights.map_or(1.0, |weights| weights.get(i).copied().unwrap_or(0.0));
        let finite = || numbers.iter().enumerate().filter(|(_, number)| number.is_finite());
        // Scaled below one by a power of two, so that huge numbers of huge weight do not overflow.
        let largest = finite().fold(0.0, |max: f32, (_, number)| max.max(number.abs()));
        let unit = libm::scalbn(1.0, -2 - libm::frexp(largest.into()).1);
        let known = || finite().map(|(i, &number)| (f64::from(number) * unit, weight(i)));
        let total: f64 = known().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return Self { center: 0.0, scale: 1.0 };
        }
        let mean = known().map(|(number, weight)| number * weight).sum::<f64>() / total;
        let center = if keep_zero { 0.0 } else { (mean / unit) as f32 };
        let square = |(number, weight): (f64, f64)| {
            let deviation = number - f64::from(center) * unit;
            deviation * deviation * weight
        };
        let spread = (known().map(square).sum::<f64>() / total).sqrt() / unit;
        let least = f64::from(f32::MIN_POSITIVE);
        let scale = if spread > least { (1.0 / spread).max(least) as f32 } else { 1.0 };
        Self { center, scale }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_units_have_mean_zero_and_spread_one() {
        let numbers = [1.0, 2.0, 4.0, f32::NAN, f32::INFINITY];
        let standard = Standard::fit(&numbers, Some(&[1.0, 1.0, 2.0, 9.0, 9.0]), false);
        let values: Vec<f64> = numbers[..3].iter().map(|&x| standard.value(x).into()).collect();
        assert!((values[0] + values[1] + 2.0 * values[2]).abs() < 1e-6);
        let squares = values[0].powi(2) + values[1].powi(2) + 2.0 * values[2].powi(2);
        assert!((squares / 4.0 - 1.0).abs() < 1e-6);
        assert!(standard.value(f32::INFINITY) <= 1e6 && standard.value(f32::MIN) >= -1e6);
    }

    #[test]
    fn units_are_usable_whatever_the_numbers() {
        for numbers in [&[][..], &[f32::NAN], &[3.0, 3.0], &[f32::MAX, f32::MIN], &[1e-45, 0.0]] {
            for keep_zero in [false, true] {
                for weight in [1.0, 5e-324, 1e307] {
                    let standard = Standard::fit(numbers, Some(&[weight; 2]), keep_zero);
                    assert!(standard.is_valid(), "{numbers:?} {weight}");
                }
            }
        }
        assert_eq!(Standard::fit(&[2.0, -2.0, 4.0], None, true).value(0.0).to_bits(), 0);
    }
}
