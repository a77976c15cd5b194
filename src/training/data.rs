//! What is learned from: encoded rows, their targets and weights.

use super::random;
use crate::encoding::{Cells, Truth};
use crate::kernels;

/// Rows between the one at work and the one that is asked for.
const AHEAD: usize = 4;

/// What the score functions shall say.
#[derive(Clone, Debug)]
pub enum Targets {
    /// The number of each row's class, and how many classes there are. Two classes need one score function.
    Classes {
        /// Class of each row.
        of: Vec<u32>,
        /// How many there are.
        classes: usize,
    },
    /// Numbers, and the mean and spread they were freed of: (y − center) / spread.
    Numbers {
        /// Target of each row, in standard units.
        standard: Vec<f64>,
        /// What was taken off.
        center: f64,
        /// What they were divided by.
        spread: f64,
    },
}

impl Targets {
    /// Numbers in standard units, by their own mean and spread.
    pub fn numbers(y: &[f64], weight: Option<&[f64]>) -> Self {
        let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
            y.iter().enumerate().map(|(row, &y)| weight.map_or(1.0, |w| w[row]) * f(y)).sum()
        };
        let total = weighted(&|_| 1.0);
        // Scaled before they are squared, so that huge numbers do not overflow.
        let size = y.iter().fold(0.0, |most: f64, y| most.max(y.abs())).max(f64::MIN_POSITIVE);
        let center = weighted(&|y| y / size) / total * size;
        let apart = |y: f64| y / size - center / size;
        let variance = weighted(&|y| apart(y) * apart(y)) / total;
        let spread = variance.sqrt() * size;
        Self::standard(y, center, if spread > 0.0 { spread } else { 1.0 })
    }

    /// Numbers in the standard units of other numbers.
    pub fn standard(y: &[f64], center: f64, spread: f64) -> Self {
        Self::Numbers {
            standard: y.iter().map(|y| (y - center) / spread).collect(),
            center,
            spread,
        }
    }

    /// From the number of each row's class.
    pub fn classes(y: &[f64], classes: usize) -> Self {
        Self::Classes { of: y.iter().map(|&y| y as u32).collect(), classes }
    }

    /// Other targets of the same kind and in the same units.
    #[must_use]
    pub fn alike(&self, y: &[f64]) -> Self {
        match self {
            Self::Classes { classes, .. } => Self::classes(y, *classes),
            Self::Numbers { center, spread, .. } => Self::standard(y, *center, *spread),
        }
    }

    /// As the encoder is told of them.
    pub fn truth(&self) -> Truth<'_> {
        match self {
            Self::Classes { of, classes } => Truth::Classes(of, *classes),
            Self::Numbers { standard, .. } => Truth::Numbers(standard),
        }
    }

    /// Number of score functions.
    pub fn functions(&self) -> usize {
        match self {
            Self::Classes { classes, .. } if *classes > 2 => *classes,
            _ => 1,
        }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Classes { of, .. } => of.len(),
            Self::Numbers { standard, .. } => standard.len(),
        }
    }

    /// What a score function shall say of a row: ±1, or a number.
    #[inline]
    pub fn at(&self, function: usize, row: usize) -> f64 {
        match self {
            Self::Classes { of, classes } => {
                let wanted = if *classes > 2 { function as u32 } else { 1 };
                if of[row] == wanted { 1.0 } else { -1.0 }
            }
            Self::Numbers { standard, .. } => standard[row],
        }
    }

    /// The number of a row's class; 0 for numbers.
    pub fn class(&self, row: usize) -> u32 {
        match self {
            Self::Classes { of, .. } => of[row],
            Self::Numbers { .. } => 0,
        }
    }
}

/// Encoded rows with their targets and weights.
#[derive(Clone, Debug)]
pub struct Examples<'a> {
    /// The encoded table.
    pub cells: &'a Cells,
    /// What the score functions shall say.
    pub targets: &'a Targets,
    /// Weight of each row; None is 1. They are used in units of their mean.
    pub weight: Option<&'a [f64]>,
    /// 1 / mean weight
    unit: f64,
    /// The rows that belong to this set.
    pub rows: Vec<u32>,
}

impl<'a> Examples<'a> {
    /// All rows of a table.
    pub fn all(cells: &'a Cells, targets: &'a Targets, weight: Option<&'a [f64]>) -> Self {
        let unit = weight.map_or(1.0, |weight| {
            let most = weight.iter().fold(0.0, |most: f64, &w| most.max(w));
            let mean = weight.iter().map(|w| w / most).sum::<f64>() / weight.len() as f64;
            1.0 / mean / most
        });
        Self { cells, targets, weight, unit, rows: (0..targets.rows() as u32).collect() }
    }

    /// Ask for a row that will be read soon.
    #[inline]
    fn prefetch(&self, row: usize) {
        self.cells.prefetch(row);
        match self.targets {
            Targets::Classes { of, .. } => kernels::prefetch(&of[row..=row]),
            Targets::Numbers { standard, .. } => kernels::prefetch(&standard[row..=row]),
        }
    }

    /// Rows in an order, each asked for before it is needed.
    pub fn visits<'o>(&'o self, order: &'o [u32]) -> impl Iterator<Item = usize> + 'o {
        order.iter().enumerate().map(|(visited, &row)| {
            if let Some(&later) = order.get(visited + AHEAD) {
                self.prefetch(later as usize);
            }
            row as usize
        })
    }

    /// Weight of a row; 1 is the mean.
    #[inline]
    pub fn weight(&self, row: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[row] * self.unit)
    }

    /// 1 / mean weight
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// The same with weights in units of those of other rows.
    #[must_use]
    pub fn in_units_of(self, unit: f64) -> Self {
        Self { unit, ..self }
    }

    /// The rows that count for something.
    pub fn counted_rows(&self) -> Vec<u32> {
        self.rows.iter().copied().filter(|&row| self.weight(row as usize) > 0.0).collect()
    }

    /// Hold out a share of each class; at least one row stays with each part, or nothing is held out.
    pub fn hold_out(self, share: f64, seed: u64) -> (Self, Option<Self>) {
        let mut rows = self.counted_rows();
        random::shuffle(&mut rows, &mut random::stream(seed, random::HOLDOUT));
        rows.sort_by_key(|&row| self.targets.class(row as usize));
        let (mut kept, mut held) = (Vec::new(), Vec::new());
        let mut due = 0.0;
        for row in rows {
            due += share;
            if due >= 1.0 {
                due -= 1.0;
                held.push(row);
            } else {
                kept.push(row);
            }
        }
        if held.is_empty() || kept.is_empty() {
            return (self, None);
        }
        kept.sort_unstable();
        held.sort_unstable();
        (Self { rows: kept, ..self.clone() }, Some(Self { rows: held, ..self }))
    }
}
