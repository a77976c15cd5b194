//! A table with its targets and weights: what training, held-out evaluation and the encoder read.

use super::{Labels, Table, Target};
use crate::Result;
use crate::memory::copied;
use std::collections::{BTreeMap, BTreeSet};

/// Samples to learn from or to evaluate on.
pub struct Dataset<'a> {
    /// The samples.
    pub table: Table<'a>,
    /// What the model should say about each sample.
    pub target: Target,
    /// Weight of each sample; `None` is 1 for all.
    pub weight: Option<&'a [f64]>,
}

/// What the columns and classes of a dataset are.
#[derive(Clone, Debug)]
pub struct Schema {
    /// The class labels.
    pub labels: Labels,
    /// The names of the columns, if they have any.
    pub names: Option<Vec<String>>,
    /// Columns that hold categories.
    pub categorical: Vec<usize>,
    /// The texts of categorical columns that hold indices into a vocabulary.
    pub vocabularies: BTreeMap<usize, Vec<String>>,
    /// Columns to leave unused.
    pub leave_out: BTreeSet<usize>,
}

impl Dataset<'_> {
    /// Returns the weight of a sample as given, 1 without weights.
    #[inline]
    pub fn weight_of(&self, sample: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight.get(sample).copied().unwrap_or(0.0))
    }
}

impl Schema {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        let mut vocabularies = BTreeMap::new();
        for (&column, texts) in &self.vocabularies {
            vocabularies.insert(column, copied(texts)?);
        }
        Ok(Self {
            labels: self.labels.copied()?,
            names: self.names.as_deref().map(copied).transpose()?,
            categorical: copied(&self.categorical)?,
            vocabularies,
            leave_out: self.leave_out.clone(),
        })
    }

    /// Describes numeric columns without names.
    pub fn numeric(labels: Labels) -> Self {
        Self {
            labels,
            names: None,
            categorical: Vec::new(),
            vocabularies: BTreeMap::new(),
            leave_out: BTreeSet::new(),
        }
    }
}
