//! Radix sort of keys: a stable pass for each digit, the lowest first, except those that are the same in all keys.

use crate::Result;
use crate::encoding::edges;
use crate::memory::{check_available, resize};
use crate::threads::Stop;

/// Bits per digit. Three digits cover a key; with four digits of eight bits sorting 35,000 keys took a fifth longer.
const DIGIT: u32 = 11;
const VALUES: usize = 1 << DIGIT;
const DIGITS: usize = 3;

/// With fewer items, clearing and adding up the counts of the digits takes longer than sorting by comparison.
const MIN_ITEMS: usize = 1500;

/// Sorts items by key; items of equal keys stay in order. `spare` is scratch space.
///
/// # Errors
/// If it is stopped, or there is not enough memory.
pub fn sort<T: Copy>(
    items: &mut Vec<T>,
    spare: &mut Vec<T>,
    key: impl Fn(&T) -> i32,
    stop: &Stop,
) -> Result<()> {
    let Some(&first) = items.first() else { return Ok(()) };
    // The counts have 32 bits.
    if items.len() < MIN_ITEMS || items.len() > u32::MAX as usize {
        if items.len() >= MIN_ITEMS {
            check_available::<T>(items.len())?; // a stable sort needs room of its own
        }
        items.sort_by_key(key);
        return Ok(());
    }
    resize(spare, items.len(), first)?;
    for digit in 0..DIGITS {
        stop.check()?;
        let digit = |item: &T| digit_of(key(item), digit);
        let mut counts = [0; VALUES];
        for item in items.iter() {
            counts[digit(item)] += 1;
        }
        if counts[digit(&first)] as usize != items.len() {
            place(items, spare, &mut counts, digit);
            std::mem::swap(items, spare);
        }
    }
    Ok(())
}

/// Copies items into the order of a digit, given how many items have each value of it.
fn place<T: Copy>(
    items: &[T],
    into: &mut [T],
    counts: &mut [u32; VALUES],
    digit: impl Fn(&T) -> usize,
) {
    let mut total = 0;
    for count in &mut *counts {
        (*count, total) = (total, total + *count);
    }
    for item in items {
        let next = &mut counts[digit(item)];
        into[*next as usize] = *item;
        *next += 1;
    }
}

/// Returns a digit of a key, counted from the lowest.
#[inline(always)]
fn digit_of(key: i32, digit: usize) -> usize {
    (edges::leading(key, 4) >> (digit as u32 * DIGIT)) as usize % VALUES
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn sorts_like_a_stable_sort(
            keys in prop::collection::vec(any::<i32>(), 0..50),
            shift in 0_u32..32,
            repeat in 1_usize..100,
        ) {
            let keys = keys.iter().map(|key| key >> shift).collect::<Vec<_>>().repeat(repeat);
            let mut items: Vec<(i32, usize)> =
                keys.iter().enumerate().map(|(i, &key)| (key, i)).collect();
            let mut sorted = items.clone();
            sorted.sort_by_key(|item| item.0);
            sort(&mut items, &mut Vec::new(), |item| item.0, &Stop::default()).unwrap();
            prop_assert_eq!(items, sorted);
        }
    }
}
