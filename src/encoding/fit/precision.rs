//! Edges that take few bytes.

use crate::encoding::edges;
use crate::encoding::{Codebook, Spacing};

/// The edges that a number of bytes can express.
#[derive(Clone, Copy)]
pub enum Precision {
    /// One byte each.
    Code(Codebook),
    /// This number of leading bytes of the key.
    Leading(u8),
}

impl Precision {
    /// Returns the precisions to try for edges near these keys, the shortest first.
    pub fn candidates(keys: &[i32]) -> impl Iterator<Item = Self> {
        let spacings = keys.first().map_or(&[][..], |&first| Spacing::candidates(first));
        let books = spacings.iter().filter_map(|&spacing| Codebook::covering(spacing, keys));
        let books: Vec<Self> = books.map(Self::Code).collect();
        books.into_iter().chain((2..=4).map(Self::Leading))
    }

    /// Returns the largest edge that is not above a key, or the first one if all are above.
    pub fn last_not_above(self, key: i32) -> i32 {
        match self {
            Self::Code(book) => book.edge(book.last_not_above(key).unwrap_or(0)).unwrap_or(key),
            Self::Leading(bytes) => edges::from_leading(edges::leading(key, bytes), bytes),
        }
    }

    /// Returns the edge nearest to a key.
    pub fn nearest(self, key: i32) -> i32 {
        let below = self.last_not_above(key);
        let above = match self {
            Self::Code(book) => {
                let next = book.last_not_above(key).map_or(Some(0), |code| code.checked_add(1));
                next.and_then(|code| book.edge(code))
            }
            Self::Leading(bytes) => {
                let next = edges::leading(key, bytes).checked_add(1);
                next.map(|next| edges::from_leading(next, bytes)).filter(|&edge| edge > below)
            }
        };
        let distance =
            |edge: i32| (f64::from(edges::number(edge)) - f64::from(edges::number(key))).abs();
        above.filter(|&above| distance(above) < distance(below)).unwrap_or(below)
    }
}
