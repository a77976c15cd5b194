//! Sparse tables by column, for learning how to encode each of them.

use super::Csr;
use crate::Result;
use crate::memory::filled;

/// The stored values of a table by column, with their samples and weights.
pub(crate) struct Columns {
    ends: Vec<usize>,
    values: Vec<f32>,
    samples: Vec<u32>,
    weights: Option<Vec<f64>>,
}

/// One column of [`Columns`].
pub(crate) struct StoredColumn<'a> {
    pub values: &'a [f32],
    /// The sample of each value.
    pub samples: &'a [u32],
    /// The weight of each value's sample, if samples have weights.
    pub weights: Option<&'a [f64]>,
}

impl Columns {
    /// Transposes a table, leaving out samples of zero weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(csr: &Csr, weight: Option<&[f64]>) -> Result<Self> {
        let weight_of = |sample: usize| weight.map_or(Some(1.0), |w| w.get(sample).copied());
        let counted = || {
            let all = (0..csr.samples()).filter_map(|sample| Some((sample, weight_of(sample)?)));
            all.filter(|&(_, weight)| weight > 0.0)
        };
        let mut next = filled(csr.columns(), 0_usize)?;
        for (column, _) in counted().flat_map(|(sample, _)| csr.sample(sample)) {
            if let Some(count) = next.get_mut(column) {
                *count += 1;
            }
        }
        let mut total = 0;
        for next in &mut next {
            (*next, total) = (total, total + *next);
        }
        let (mut values, mut samples) = (filled(total, 0.0)?, filled(total, 0)?);
        let mut weights = weight.map(|_| filled(total, 0.0)).transpose()?;
        for (sample, weight) in counted() {
            for (column, value) in csr.sample(sample) {
                let Some(next) = next.get_mut(column) else { continue };
                put(&mut values, *next, value);
                put(&mut samples, *next, sample as u32);
                if let Some(weights) = &mut weights {
                    put(weights, *next, weight);
                }
                *next += 1;
            }
        }
        Ok(Self { ends: next, values, samples, weights })
    }

    /// Returns one column.
    pub fn column(&self, column: usize) -> StoredColumn<'_> {
        let end = |column: usize| self.ends.get(column).copied().unwrap_or(0);
        let range = column.checked_sub(1).map_or(0, end)..end(column);
        StoredColumn {
            values: self.values.get(range.clone()).unwrap_or_default(),
            samples: self.samples.get(range.clone()).unwrap_or_default(),
            weights: self.weights.as_ref().map(|weights| weights.get(range).unwrap_or_default()),
        }
    }
}

fn put<T>(into: &mut [T], at: usize, value: T) {
    if let Some(place) = into.get_mut(at) {
        *place = value;
    }
}
