//! Class labels.

use alloc::{string::String, vec::Vec};
/// The labels of the classes, ascending.
#[derive(Clone, Debug, PartialEq)]
pub enum Labels {
    /// Regression has none.
    None,
    /// Whole numbers.
    Whole(Vec<i64>),
    /// Finite numbers.
    Number(Vec<f64>),
    /// False and True.
    Bool,
    /// Texts.
    Text(Vec<String>),
}

impl Labels {
    /// The labels 0, 1, …, which take no room in the file.
    pub fn counting(classes: usize) -> Self {
        Self::Whole((0..classes as i64).collect())
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Whole(labels) => labels.len(),
            Self::Number(labels) => labels.len(),
            Self::Bool => 2,
            Self::Text(labels) => labels.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether each is greater than the one before, and all are finite.
    pub fn ascend(&self) -> bool {
        match self {
            Self::None | Self::Bool => true,
            Self::Whole(labels) => labels.is_sorted_by(|a, b| a < b),
            Self::Number(labels) => {
                labels.iter().all(|x| x.is_finite()) && labels.is_sorted_by(|a, b| a < b)
            }
            Self::Text(labels) => labels.is_sorted_by(|a, b| a < b),
        }
    }
}
