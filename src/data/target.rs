//! What a model should say about each sample: a class, or a number.

use crate::Result;
use crate::memory::{collect, copied};

/// Targets of all samples of a dataset.
#[derive(Clone, Debug)]
pub enum Target {
    /// Classes. Two classes share one output.
    Classes {
        /// Class index of each sample.
        of: Vec<u32>,
        /// Number of classes.
        classes: usize,
    },
    /// Numbers in units of their own: (y − center) / spread.
    Numbers {
        /// Target of each sample in these units.
        standard: Vec<f64>,
        /// What was subtracted: the mean, a quantile, or nothing.
        center: f64,
        /// What they were divided by: their spread or their mean.
        spread: f64,
        /// Whether scores are logarithms.
        is_log: bool,
    },
}

/// Units in which numbers are learned, so that a model of one and of a thousand times the other learn alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Units {
    /// Standard deviations from the mean.
    Standard,
    /// Multiples of the mean; scores are logarithms.
    Mean,
    /// Distances from a quantile, in units of the mean distance from the median (of a normal distribution, its standard
    /// deviation): unlike the mean and the standard deviation, these do not follow a few outliers.
    Quantile(f64),
}

/// Standard deviation of a normal distribution over its mean distance from the median: √(π/2).
const NORMAL_DEVIATION: f64 = 1.253_314_137_315_500_3;

impl Target {
    /// Takes numbers in units that follow from their own weighted distribution.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn numbers(y: &[f64], weight: Option<&[f64]>, units: Units) -> Result<Self> {
        let weight_of =
            |sample: usize| weight.map_or(1.0, |w| w.get(sample).copied().unwrap_or(0.0));
        let mut known = collect(y.iter().enumerate().map(|(i, &y)| [y, weight_of(i)]))?;
        // In an order that does not depend on that of the samples, nor do the sums.
        known.sort_unstable_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
        let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
            known.iter().map(|&[y, weight]| weight * f(y)).sum()
        };
        let total = weighted(&|_| 1.0);
        // Scaled before they are squared, so that huge numbers do not overflow.
        let size = y.iter().fold(0.0, |max: f64, y| max.max(y.abs())).max(f64::MIN_POSITIVE);
        let is_constant = known.first().zip(known.last()).is_none_or(|(low, high)| low[0].total_cmp(&high[0]).is_eq());
        let center = match known.first() {
            Some(&[y, _]) if is_constant => y,
            _ => weighted(&|y| y / size) / total * size,
        };
        let distance = |y: f64, from: f64| y / size - from / size;
        let quantile = |share: f64| quantile(&known, share * total).unwrap_or(center);
        let (center, spread) = match units {
            Units::Standard => {
                let variance = weighted(&|y| distance(y, center) * distance(y, center)) / total;
                (center, variance.sqrt())
            }
            Units::Mean => (0.0, center / size),
            Units::Quantile(share) => {
                let median = quantile(0.5);
                let mean_distance = weighted(&|y| distance(y, median).abs()) / total;
                (quantile(share), NORMAL_DEVIATION * mean_distance)
            }
        };
        let spread = spread * size;
        Self::in_units(y, center, if spread > 0.0 { spread } else { 1.0 }, units == Units::Mean)
    }

    /// Standardizes numbers by a mean and standard deviation.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn standardized(y: &[f64], center: f64, spread: f64) -> Result<Self> {
        Self::in_units(y, center, spread, false)
    }

    fn in_units(y: &[f64], center: f64, spread: f64, is_log: bool) -> Result<Self> {
        let standard = collect(y.iter().map(|y| (y - center) / spread))?;
        Ok(Self::Numbers { standard, center, spread, is_log })
    }

    /// Takes class indices.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn classes(y: &[f64], classes: usize) -> Result<Self> {
        Ok(Self::Classes { of: collect(y.iter().map(|&y| y as u32))?, classes })
    }

    /// Returns other targets of the same kind, in the same units.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn like(&self, y: &[f64]) -> Result<Self> {
        match self {
            Self::Classes { classes, .. } => Self::classes(y, *classes),
            Self::Numbers { center, spread, is_log, .. } => Self::in_units(y, *center, *spread, *is_log),
        }
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::Classes { of, classes } => Self::Classes { of: copied(of)?, classes: *classes },
            Self::Numbers { standard, center, spread, is_log } => Self::Numbers {
                standard: copied(standard)?,
                center: *center,
                spread: *spread,
                is_log: *is_log,
            },
        })
    }

    /// Returns the number of outputs of a model: one per class, or one in all for two classes and for regression.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Classes { classes, .. } if *classes > 2 => *classes,
            _ => 1,
        }
    }

    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        match self {
            Self::Classes { of, .. } => of.len(),
            Self::Numbers { standard, .. } => standard.len(),
        }
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns what an output should say about a sample: ±1, or a number in its units.
    #[inline]
    pub fn at(&self, output: usize, sample: usize) -> f64 {
        match self {
            Self::Classes { of, classes } => {
                let positive = if *classes > 2 { output as u32 } else { 1 };
                if of.get(sample) == Some(&positive) { 1.0 } else { -1.0 }
            }
            Self::Numbers { standard, .. } => standard.get(sample).copied().unwrap_or(0.0),
        }
    }

    /// Returns the class index of a sample; 0 for numbers.
    pub fn class(&self, sample: usize) -> u32 {
        match self {
            Self::Classes { of, .. } => of.get(sample).copied().unwrap_or(0),
            Self::Numbers { .. } => 0,
        }
    }

    /// Returns the target of a sample as bits, for hashing.
    pub fn bits(&self, sample: usize) -> u64 {
        match self {
            Self::Classes { .. } => self.class(sample).into(),
            Self::Numbers { .. } => self.at(0, sample).to_bits(),
        }
    }

    /// Returns what is to be added to scores and what to multiply them by before that, so that they are about the
    /// original numbers.
    pub fn units(&self) -> (f64, f64) {
        match self {
            Self::Classes { .. } => (0.0, 1.0),
            Self::Numbers { spread, is_log: true, .. } => (libm::log(*spread), 1.0),
            Self::Numbers { center, spread, .. } => (*center, *spread),
        }
    }
}

/// Returns the first of some ascending values with this much weight up to it.
fn quantile(known: &[[f64; 2]], weight: f64) -> Option<f64> {
    let mut below = 0.0;
    let reaches = |&&[_, own]: &&[f64; 2]| {
        below += own;
        below >= weight && own > 0.0
    };
    known.iter().find(reaches).or(known.last()).map(|&[y, _]| y)
}
