//! Categories: each level that training saw often enough has a cell, others are absent.

use alloc::{string::String, vec::Vec};

/// A value of a categorical column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A whole number.
    Level(i64),
    /// NaN.
    Missing,
    /// A number that is not whole, or infinite: no category has it.
    Fraction,
}

/// The known levels of a column, ascending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Levels {
    /// The whole numbers below this one, which need no list.
    Counting(u32),
    /// Other whole numbers, looked up by value.
    Whole(Vec<i64>),
    /// Texts, looked up by their place in this list: the caller turns text into places.
    Text(Vec<String>),
}

impl Levels {
    /// From ascending whole numbers.
    pub fn whole(levels: Vec<i64>) -> Self {
        let counting =
            levels.first() == Some(&0) && levels.last() == Some(&(levels.len() as i64 - 1));
        if counting { Self::Counting(levels.len() as u32) } else { Self::Whole(levels) }
    }

    /// Number of levels.
    pub fn len(&self) -> usize {
        match self {
            Self::Counting(levels) => *levels as usize,
            Self::Whole(levels) => levels.len(),
            Self::Text(levels) => levels.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Cell of a level, if it is known.
    pub fn cell(&self, level: i64) -> Option<u32> {
        match self {
            Self::Whole(levels) => levels.binary_search(&level).ok().map(|at| at as u32),
            Self::Counting(_) | Self::Text(_) => {
                u32::try_from(level).ok().filter(|&at| (at as usize) < self.len())
            }
        }
    }
}

/// The levels whose weights add up to `min_count` or more, and whether any value has none of them.
pub fn frequent(mut seen: Vec<(i64, f64)>, min_count: f64) -> (Vec<i64>, bool) {
    seen.sort_by_key(|&(level, _)| level);
    let mut rare = false;
    let mut levels = Vec::new();
    for run in seen.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = run.iter().map(|&(_, weight)| weight).sum();
        if weight >= min_count {
            levels.extend(run.first().map(|&(level, _)| level));
        } else {
            rare = true;
        }
    }
    (levels, rare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_found_with_and_without_gaps() {
        for levels in [vec![0, 1, 2], vec![3, 4, 5], vec![i64::MIN, 0, 7, i64::MAX]] {
            let all = Levels::whole(levels.clone());
            for (cell, &level) in levels.iter().enumerate() {
                assert_eq!(all.cell(level), Some(cell as u32));
            }
            assert_eq!(all.cell(6), None);
            assert_eq!(all.cell(-1), None);
        }
        assert_eq!(Levels::Text(vec!["a".into()]).cell(-1), None);
    }
}
