//! Blocks of factors.

/// Returns N factors of a row, from `first` on. Rows as long as the block are found with one check instead of two.
#[inline(always)]
pub fn block<const N: usize, T>(numbers: &[T], row: u32, factors: usize, first: usize) -> &[T] {
    if factors == N {
        &numbers.as_chunks::<N>().0[row as usize]
    } else {
        &numbers[row as usize * factors + first..][..N]
    }
}

/// Calls a block function for consecutive blocks of factors, whose sizes the compiler knows: 32 or 8 factors stay in
/// registers, the last ones come in fours and one by one.
macro_rules! for_blocks {
    ($factors:expr, |$first:ident| $call:ident::<_>($($argument:expr),* $(,)?)) => {{
        let mut $first = 0;
        while $factors - $first >= 32 {
            $call::<32>($($argument),*);
            $first += 32;
        }
        while $factors - $first >= 8 {
            $call::<8>($($argument),*);
            $first += 8;
        }
        if $factors - $first >= 4 {
            $call::<4>($($argument),*);
            $first += 4;
        }
        while $factors > $first {
            $call::<1>($($argument),*);
            $first += 1;
        }
    }};
}
pub(super) use for_blocks;
