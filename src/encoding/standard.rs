//! Numbers that are used as they are, in standard units: (x − center) · scale.

/// The units of a numeric feature.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Standard {
    /// What is taken off; zero where a zero is absent.
    pub center: f32,
    /// What is multiplied by after that; above zero.
    pub scale: f32,
}

/// Values are held within ± this many units: one infinity shall not make a score no number.
const FURTHEST: f64 = 1e6;

impl Standard {
    /// Whether both are numbers that can be used.
    pub fn is_valid(self) -> bool {
        self.center.is_finite() && self.scale.is_finite() && self.scale > 0.0
    }

    /// A number in standard units.
    #[inline]
    pub fn value(self, number: f32) -> f32 {
        let apart = f64::from(number) - f64::from(self.center);
        (apart * f64::from(self.scale)).clamp(-FURTHEST, FURTHEST) as f32
    }

    /// The mean and spread of some numbers; NaN is left out. With `zero_stays` the mean is taken to be zero.
    #[cfg(feature = "std")]
    pub fn fit(numbers: &[f32], weights: Option<&[f64]>, zero_stays: bool) -> Self {
        let weight =
            |row: usize| weights.map_or(1.0, |weights| weights.get(row).copied().unwrap_or(0.0));
        let finite = || numbers.iter().enumerate().filter(|(_, number)| number.is_finite());
        // Halves at most, by a power of two, so that huge numbers of huge weight do not overflow.
        let largest = finite().fold(0.0, |most: f32, (_, number)| most.max(number.abs()));
        let unit = libm::scalbn(1.0, -2 - libm::frexp(largest.into()).1);
        let known = || finite().map(|(row, &number)| (f64::from(number) * unit, weight(row)));
        let total: f64 = known().map(|(_, weight)| weight).sum();
        if total <= 0.0 {
            return Self { center: 0.0, scale: 1.0 };
        }
        let mean = known().map(|(number, weight)| number * weight).sum::<f64>() / total;
        let center = if zero_stays { 0.0 } else { (mean / unit) as f32 };
        let square = |(number, weight): (f64, f64)| {
            let apart = number - f64::from(center) * unit;
            apart * apart * weight
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
    fn whatever_the_numbers_the_units_can_be_used() {
        for numbers in [&[][..], &[f32::NAN], &[3.0, 3.0], &[f32::MAX, f32::MIN], &[1e-45, 0.0]] {
            for zero_stays in [false, true] {
                for weight in [1.0, 5e-324, 1e307] {
                    let standard = Standard::fit(numbers, Some(&[weight; 2]), zero_stays);
                    assert!(standard.is_valid(), "{numbers:?} {weight}");
                }
            }
        }
        assert_eq!(Standard::fit(&[2.0, -2.0, 4.0], None, true).value(0.0).to_bits(), 0);
    }
}
