//! Class labels.

use crate::Result;
use crate::memory::{collect, copied};
use alloc::{string::String, vec::Vec};

/// The labels of the classes, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// None: regression.
    None,
    /// Whole numbers.
    Ints(Vec<i64>),
    /// Finite numbers.
    Floats(Vec<f64>),
    /// False and True.
    Bool,
    /// Texts.
    Texts(Vec<String>),
}

impl Labels {
    /// Returns the labels 0, 1, …, which take no bytes in a file.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn counting(classes: usize) -> Result<Self> {
        collect(0..classes as i64).map(Self::Ints)
    }

    /// Returns whether they are 0, 1, …
    pub fn are_counting(&self) -> bool {
        matches!(self, Self::Ints(labels) if labels.iter().copied().eq(0..labels.len() as i64))
    }

    /// Returns as many labels that take no bytes in a file.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn counted(&self) -> Result<Self> {
        if *self == Self::None { Ok(Self::None) } else { Self::counting(self.len()) }
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::None => Self::None,
            Self::Ints(labels) => Self::Ints(copied(labels)?),
            Self::Floats(labels) => Self::Floats(copied(labels)?),
            Self::Bool => Self::Bool,
            Self::Texts(labels) => Self::Texts(copied(labels)?),
        })
    }

    /// Returns the number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Ints(labels) => labels.len(),
            Self::Floats(labels) => labels.len(),
            Self::Bool => 2,
            Self::Texts(labels) => labels.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether they ascend strictly and are finite.
    pub fn are_sorted(&self) -> bool {
        match self {
            Self::None | Self::Bool => true,
            Self::Ints(labels) => labels.is_sorted_by(|a, b| a < b),
            Self::Floats(labels) => {
                labels.iter().all(|x| x.is_finite()) && labels.is_sorted_by(|a, b| a < b)
            }
            Self::Texts(labels) => labels.is_sorted_by(|a, b| a < b),
        }
    }
}
