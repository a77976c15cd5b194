//! Σ c and Σ c² of a group of samples.

use super::{MAX_SAMPLES, Vector};
use crate::kernels::lookup::{Count, MAX_PLANES};

/// Octets that are tallied in bytes before they could overflow: each adds at most 56.
const FLUSH: usize = 4;

/// Set bits by their weight: in bytes as long as they fit, then in `sums` and `squares`.
pub struct Tallies<V, const PLANES: usize> {
    octets: usize,
    by_plane: [V; MAX_PLANES],
    by_weight: [V; 2 * MAX_PLANES],
    sums: [u32; MAX_SAMPLES],
    squares: [u32; MAX_SAMPLES],
}

impl<V: Vector, const PLANES: usize> Tallies<V, PLANES> {
    /// Starts with tallies of zero.
    ///
    /// # Safety
    /// The CPU must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn new() -> Self {
        // SAFETY: the caller guarantees the instructions of `V`.
        let zero = unsafe { V::splat(0) };
        Self {
            octets: 0,
            by_plane: [zero; MAX_PLANES],
            by_weight: [zero; 2 * MAX_PLANES],
            sums: [0; MAX_SAMPLES],
            squares: [0; MAX_SAMPLES],
        }
    }

    /// Adds Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b| over the columns in `mask`.
    ///
    /// # Safety
    /// The CPU must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn add(&mut self, planes: &[V; PLANES], mask: u8) {
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            if self.octets == FLUSH {
                self.flush();
            }
            self.octets += 1;
            let mask = V::splat(mask);
            for a in 0..PLANES {
                let plane = planes[a].and(mask);
                let alone = plane.count_ones();
                self.by_plane[a] = self.by_plane[a].add(alone);
                self.by_weight[2 * a] = self.by_weight[2 * a].add(alone);
                for (b, &other) in planes[..a].iter().enumerate() {
                    let both = plane.and(other).count_ones();
                    self.by_weight[a + b + 1] = self.by_weight[a + b + 1].add(both);
                }
            }
        }
    }

    /// Moves the bytes into `sums` and `squares`.
    ///
    /// # Safety
    /// The CPU must have the instructions of `V`.
    #[inline(always)]
    unsafe fn flush(&mut self) {
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe {
            drain(&mut self.by_plane[..PLANES], &mut self.sums);
            drain(&mut self.by_weight[..2 * PLANES], &mut self.squares);
        }
        self.octets = 0;
    }

    /// Stores the tallies of an output and resets them.
    ///
    /// # Safety
    /// The CPU must have the instructions of `V`.
    #[inline(always)]
    pub unsafe fn finish(&mut self, output: usize, outputs: usize, counts: &mut [Count]) {
        // SAFETY: the caller guarantees the instructions of `V`.
        unsafe { self.flush() };
        let tallies = self.sums.iter_mut().zip(&mut self.squares);
        for (counts, (sum, squares)) in counts.chunks_exact_mut(outputs).zip(tallies) {
            counts[output].sum = std::mem::take(sum);
            counts[output].squares = std::mem::take(squares);
        }
    }
}

/// Adds Σ_w 2^w · bytes[w] to the number of each sample, and sets the bytes to zero. The sum over eight weights of bytes
/// up to 224 fits into 16 bits.
///
/// # Safety
/// The CPU must have the instructions of `V`.
#[inline(always)]
unsafe fn drain<V: Vector>(bytes: &mut [V], numbers: &mut [u32; MAX_SAMPLES]) {
    for (i, bytes) in bytes.chunks_mut(8).enumerate() {
        let mut weighted = [0_u16; MAX_SAMPLES];
        for (weight, bytes) in bytes.iter_mut().enumerate() {
            let mut stored = [0; MAX_SAMPLES];
            // SAFETY: the caller guarantees the instructions of `V`.
            unsafe {
                bytes.store(&mut stored);
                *bytes = V::splat(0);
            }
            for (weighted, byte) in weighted.iter_mut().zip(stored) {
                *weighted += u16::from(byte) << weight;
            }
        }
        for (number, weighted) in numbers.iter_mut().zip(weighted) {
            *number += u32::from(weighted) << (8 * i);
        }
    }
}
