//! Categories: each one seen often enough in training has a cell, others are absent.

use crate::Result;
use crate::memory::copied;
use alloc::{string::String, vec::Vec};

/// The known categories of a column, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Categories {
    /// The whole numbers below this one.
    Counting(u32),
    /// Other whole numbers.
    Ids(Vec<i64>),
    /// Texts, referred to by their index here: the caller maps text to indices.
    Texts(Vec<String>),
}

impl Categories {
    /// Takes ascending whole numbers.
    pub fn from_ids(ids: Vec<i64>) -> Self {
        let counting = ids.first() == Some(&0) && ids.last() == Some(&(ids.len() as i64 - 1));
        if counting { Self::Counting(ids.len() as u32) } else { Self::Ids(ids) }
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::Counting(count) => Self::Counting(*count),
            Self::Ids(ids) => Self::Ids(copied(ids)?),
            Self::Texts(texts) => Self::Texts(copied(texts)?),
        })
    }

    /// Returns the number of categories.
    pub fn len(&self) -> usize {
        match self {
            Self::Counting(count) => *count as usize,
            Self::Ids(ids) => ids.len(),
            Self::Texts(texts) => texts.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the cell of a category, if it is known.
    pub fn cell(&self, id: i64) -> Option<u32> {
        match self {
            Self::Ids(ids) => ids.binary_search(&id).ok().map(|at| at as u32),
            Self::Counting(_) | Self::Texts(_) => {
                u32::try_from(id).ok().filter(|&at| (at as usize) < self.len())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_are_found_with_and_without_gaps() {
        for ids in [vec![0, 1, 2], vec![3, 4, 5], vec![i64::MIN, 0, 7, i64::MAX]] {
            let all = Categories::from_ids(ids.clone());
            for (cell, &id) in ids.iter().enumerate() {
                assert_eq!(all.cell(id), Some(cell as u32));
            }
            assert_eq!(all.cell(6), None);
            assert_eq!(all.cell(-1), None);
        }
        assert_eq!(Categories::Texts(vec!["a".into()]).cell(-1), None);
    }
}
