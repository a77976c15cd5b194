//! Columns of few distinct values, added up in a small hash table instead of sorted.

use crate::Result;
use crate::encoding::edges;
use crate::memory::collect;

/// Columns of more distinct values are sorted.
const MAX_VALUES: usize = 256;
/// Places in the table for each key: enough that a key is nearly always where it is looked for first.
const PLACES: usize = 1 << PLACE_BITS;
const PLACE_BITS: u32 = 10;
/// Marks a free place. No number has this key.
const FREE: i32 = -1;

/// The weight of each distinct key, in no order.
pub struct Few {
    keys: [i32; PLACES],
    weights: [u64; PLACES],
    len: usize,
}

impl Few {
    /// Adds up the weights of numbers, in their order, unless they have too many distinct values. None is NaN.
    pub fn new(numbers: impl Iterator<Item = (f32, u64)>) -> Option<Self> {
        let mut few = Self { keys: [FREE; PLACES], weights: [0; PLACES], len: 0 };
        for (number, weight) in numbers {
            let place = few.place(edges::key(number))?;
            few.weights[place] += weight;
        }
        Some(few)
    }

    /// Returns the place of a key, new or not, if there is one.
    #[inline(always)]
    fn place(&mut self, key: i32) -> Option<usize> {
        // Fibonacci hashing: the multiplier is 2³² / golden ratio.
        let mut place = ((key as u32).wrapping_mul(0x9E37_79B9) >> (32 - PLACE_BITS)) as usize;
        while self.keys[place] != key {
            if self.keys[place] == FREE {
                self.len += 1;
                self.keys[place] = key;
                return (self.len <= MAX_VALUES).then_some(place);
            }
            place = (place + 1) % PLACES;
        }
        Some(place)
    }

    /// Returns the keys, ascending, with their weights.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn sorted(&self) -> Result<Vec<(i32, u64)>> {
        let all = self.keys.iter().copied().zip(self.weights);
        let mut pairs = collect(all.filter(|&(key, _)| key != FREE))?;
        pairs.sort_unstable_by_key(|&(key, _)| key);
        Ok(pairs)
    }
}
