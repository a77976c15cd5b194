//! A numeric column as a histogram that can be merged: the weight of each bucket of neighbouring keys.
//!
//! A bucket holds the keys with the same `key >> shift`. The shift is zero while the column has few distinct values, and
//! rises only as far as it must for [`MAX_BUCKETS`]. All weights are whole numbers. So a sketch is a function of the bag
//! of values: whatever parts they come in and in whatever order these are merged, it has the same buckets.
//!
//! A bucket knows its smallest and largest key. Where it is too heavy to be cut around, a second pass over the values
//! divides it again.

use super::buffers::Buffers;
use crate::Result;
use crate::encoding::edges;
use crate::memory::{collect, copied, filled, reserve, with_capacity};
use crate::threads::Stop;

/// Values with neighbouring keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bucket {
    /// The smallest key.
    pub low: i32,
    /// The largest key.
    pub high: i32,
    /// The weight of this bucket and of all before it, in units of [`WeightUnit`].
    pub end: u64,
}

/// The unit in which weights are whole numbers: sums of these do not depend on their order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WeightUnit {
    per_unit: f64,
}

impl Default for WeightUnit {
    fn default() -> Self {
        Self { per_unit: 1.0 }
    }
}

/// The largest weight has this many bits, so that 2³² of them can be added up.
const WEIGHT_BITS: i32 = 32;

impl WeightUnit {
    /// Chooses the unit for weights up to `largest`; a power of two, so that most weights lose nothing.
    pub fn of(largest: f64) -> Self {
        let exponent = (WEIGHT_BITS - libm::frexp(largest).1).min(f64::MAX_EXP - 1);
        Self { per_unit: libm::scalbn(1.0, exponent) }
    }

    /// Chooses the unit for the weights of some samples, if they have any.
    pub fn of_all(weights: Option<&[f64]>) -> Self {
        weights.map_or_else(Self::default, |weights| Self::of(weights.iter().copied().fold(0.0, f64::max)))
    }

    /// Returns a positive weight in units, at least one.
    #[inline]
    pub fn count(self, weight: f64) -> u64 {
        ((weight * self.per_unit + 0.5) as u64).max(1)
    }

    /// Returns a number of units as a weight.
    pub fn weight(self, units: u64) -> f64 {
        units as f64 / self.per_unit
    }
}

/// Weights of some values, and their unit.
pub type UnitWeights<'a> = Option<(&'a [f64], WeightUnit)>;

/// The weights of the values of a column by bucket.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sketch {
    shift: u32,
    /// Ascending; none is empty.
    buckets: Vec<Bucket>,
    has_missing: bool,
}

/// Buckets of a sketch, at most.
pub const MAX_BUCKETS: usize = 1 << 16;
/// Values that are sorted at a time: they stay in the second-level cache.
const CHUNK: usize = 1 << 18;
/// A bucket is too heavy if it has more than the weight that a cell should have, divided by this.
const PARTS: f64 = 4.0;

impl Sketch {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self { buckets: copied(&self.buckets)?, ..*self })
    }

    /// Forgets all values.
    pub fn clear(&mut self) {
        self.shift = 0;
        self.buckets.clear();
        self.has_missing = false;
    }

    /// Adds values; those of zero weight do not count.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn add(
        &mut self,
        values: &[f32],
        weights: UnitWeights,
        buffers: &mut Buffers,
        stop: &Stop,
    ) -> Result<()> {
        for (i, values) in values.chunks(CHUNK).enumerate() {
            let weights = weights.map(|(weights, unit)| (&weights[i * CHUNK..][..values.len()], unit));
            self.has_missing |= buffers.count(values, weights, self.shift, stop)?;
            if self.buckets.is_empty() {
                std::mem::swap(&mut self.buckets, &mut buffers.runs);
                self.shift = buffers.shift;
            } else {
                self.merge_buckets(&buffers.runs, buffers.shift)?;
            }
        }
        Ok(())
    }

    /// Adds the values of another sketch, whose weights have the same unit.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.has_missing |= other.has_missing;
        if self.shift <= other.shift {
            return self.merge_buckets(&other.buckets, other.shift);
        }
        let mut coarse = copied(&other.buckets)?;
        coarsen(&mut coarse, self.shift);
        self.merge_buckets(&coarse, self.shift)
    }

    /// Returns the buckets, ascending.
    pub fn buckets(&self) -> &[Bucket] {
        &self.buckets
    }

    /// Returns whether NaN is among the values.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Returns the buckets of several values that are too heavy to be cut into this number of cells.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn heavy(&self, cells: usize) -> Result<Heavy> {
        if self.shift == 0 {
            return Ok(Heavy::default());
        }
        let most = total(&self.buckets) as f64 / (PARTS * cells as f64);
        let mut before = 0;
        let is_heavy = |bucket: &&Bucket| {
            let weight = bucket.end - std::mem::replace(&mut before, bucket.end);
            bucket.low < bucket.high && weight as f64 > most
        };
        let heavy = self.buckets.iter().filter(is_heavy);
        let numbers = collect(heavy.map(|bucket| bucket.low >> self.shift))?;
        Ok(Heavy { shift: self.shift, numbers })
    }

    /// Replaces heavy buckets by those of a sketch of the values in them. No more values can be added afterwards.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn refine(&mut self, heavy: &Heavy, fine: &Self) -> Result<()> {
        let (mut before, mut end) = (0, 0);
        self.buckets.retain_mut(|bucket| {
            let weight = bucket.end - std::mem::replace(&mut before, bucket.end);
            let is_kept = !heavy.has(bucket.low);
            end += if is_kept { weight } else { 0 };
            bucket.end = end;
            is_kept
        });
        self.buckets = merged(&self.buckets, &fine.buckets, 0)?;
        Ok(())
    }

    /// Merges buckets made with a shift that is not less than this sketch's, and raises it while there are too many.
    fn merge_buckets(&mut self, others: &[Bucket], shift: u32) -> Result<()> {
        if shift > self.shift {
            coarsen(&mut self.buckets, shift);
        }
        self.buckets = merged(&self.buckets, others, shift)?;
        self.shift = shift;
        if self.buckets.len() > MAX_BUCKETS {
            self.shift = shift_for(self.buckets.iter().map(|bucket| bucket.low), shift);
            coarsen(&mut self.buckets, self.shift);
        }
        Ok(())
    }
}

/// Returns the least shift, from a given one on, at which ascending keys have no more than [`MAX_BUCKETS`] buckets.
pub fn shift_for(keys: impl Iterator<Item = i32>, least: u32) -> u32 {
    // Neighbours part at their highest different bit.
    let mut parting = [0_usize; 33];
    let mut last = None;
    for key in keys {
        let differs = key ^ last.unwrap_or(!key);
        parting[(i32::BITS - differs.leading_zeros()) as usize] += 1;
        last = Some(key);
    }
    let buckets = |shift: u32| parting[shift as usize + 1..].iter().sum::<usize>();
    (least..i32::BITS).find(|&shift| buckets(shift) <= MAX_BUCKETS).unwrap_or(i32::BITS - 1)
}

/// Joins the buckets that have the same keys after a shift.
pub fn coarsen(buckets: &mut Vec<Bucket>, shift: u32) {
    buckets.dedup_by(|next, last| {
        let is_same = next.low >> shift == last.low >> shift;
        if is_same {
            (last.high, last.end) = (next.high, next.end);
        }
        is_same
    });
}

/// Returns the total weight of some buckets.
pub fn total(buckets: &[Bucket]) -> u64 {
    buckets.last().map_or(0, |last| last.end)
}

/// Merges two lists of buckets of the same shift. There is no branch that could be mispredicted.
fn merged(a: &[Bucket], b: &[Bucket], shift: u32) -> Result<Vec<Bucket>> {
    let mut merged = filled(a.len() + b.len(), Bucket { low: 0, high: 0, end: 0 })?;
    let (mut i, mut j, mut at, mut ends) = (0, 0, 0, [0, 0]);
    while i < a.len() && j < b.len() {
        let (own, other) = (a[i], b[j]);
        let (number, other_number) = (own.low >> shift, other.low >> shift);
        let (takes_own, takes_other) = (number <= other_number, other_number <= number);
        ends[0] = if takes_own { own.end } else { ends[0] };
        ends[1] = if takes_other { other.end } else { ends[1] };
        let high = if takes_own { own.high } else { i32::MIN };
        let high = if takes_other { high.max(other.high) } else { high };
        merged[at] = Bucket { low: own.low.min(other.low), high, end: ends[0] + ends[1] };
        i += usize::from(takes_own);
        j += usize::from(takes_other);
        at += 1;
    }
    merged.truncate(at);
    let others = ends[0] + ends[1];
    merged.extend(a[i..].iter().map(|bucket| Bucket { end: bucket.end + others - ends[0], ..*bucket }));
    merged.extend(b[j..].iter().map(|bucket| Bucket { end: bucket.end + others - ends[1], ..*bucket }));
    Ok(merged)
}

/// Buckets that need a second pass over the values.
#[derive(Clone, Debug, Default)]
pub struct Heavy {
    shift: u32,
    /// Their `key >> shift`, ascending.
    numbers: Vec<i32>,
}

impl Heavy {
    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Adds the values in these buckets to a sketch of their own.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn add(
        &self,
        fine: &mut Sketch,
        values: &[f32],
        weights: UnitWeights,
        buffers: &mut Buffers,
        stop: &Stop,
    ) -> Result<()> {
        let inside = || (0..).zip(values).filter(|(_, value)| !value.is_nan() && self.has(edges::key(**value)));
        let mut own = Vec::new();
        reserve(&mut own, inside().count())?;
        own.extend(inside().map(|(_, &value)| value));
        let Some((weights, unit)) = weights else { return fine.add(&own, None, buffers, stop) };
        let mut own_weights = with_capacity(own.len())?;
        own_weights.extend(inside().map(|(i, _): (usize, _)| weights[i]));
        fine.add(&own, Some((&own_weights, unit)), buffers, stop)
    }

    fn has(&self, key: i32) -> bool {
        self.numbers.binary_search(&(key >> self.shift)).is_ok()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn sketch(values: &[f32], weights: UnitWeights) -> Sketch {
        let mut sketch = Sketch::default();
        sketch.add(values, weights, &mut Buffers::default(), &Stop::default()).unwrap();
        sketch
    }

    /// Numbers of many sizes; few distinct ones if `bits` is small.
    fn numbers(seed: u64, count: usize, bits: u32) -> Vec<f32> {
        let draw = |i: u64| {
            let bits = (crate::hash::mix(seed, i) >> (64 - bits)) as u32;
            f32::from_bits(bits.reverse_bits())
        };
        (0..count as u64).map(draw).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20))]
        #[test]
        fn any_merge_order_gives_the_same_sketch(
            seed in any::<u64>(),
            bits in 1_u32..=32,
            at in prop::collection::vec(0_usize..150_000, 0..6),
            reverse in any::<bool>(),
            weighted in any::<bool>(),
        ) {
            let values = numbers(seed, 150_000, bits);
            let all: Vec<f64> = (0..150_000).map(|i| f64::from(i % 7) * 0.3).collect();
            let unit = WeightUnit::of(1.8);
            let part = |range: std::ops::Range<usize>| {
                let weights = weighted.then(|| (&all[range.clone()], unit));
                sketch(&values[range], weights)
            };
            let mut cuts = at;
            cuts.extend([0, 150_000]);
            cuts.sort_unstable();
            let mut parts: Vec<Sketch> = cuts.windows(2).map(|cut| part(cut[0]..cut[1])).collect();
            if reverse {
                parts.reverse();
            }
            let mut merged = Sketch::default();
            for part in &parts {
                merged.merge(part).unwrap();
            }
            let whole = part(0..150_000);
            prop_assert!(whole.buckets().len() <= MAX_BUCKETS);
            prop_assert!(whole.buckets().is_sorted_by(|a, b| a.high < b.low && a.end < b.end));
            prop_assert_eq!(merged, whole);
        }

        #[test]
        fn few_distinct_values_are_exact(seed in any::<u64>(), bits in 1_u32..=16) {
            let values = numbers(seed, 70_000, bits);
            let mut keys: Vec<i32> =
                values.iter().filter(|value| !value.is_nan()).map(|&value| edges::key(value)).collect();
            keys.sort_unstable();
            let mut end = 0;
            let runs = keys.chunk_by(|a, b| a == b).map(|run| {
                end += run.len() as u64;
                Bucket { low: run[0], high: run[0], end }
            });
            let runs: Vec<Bucket> = runs.collect();
            let found = sketch(&values, None);
            prop_assert_eq!(found.buckets(), runs);
        }
    }

    #[test]
    fn a_second_pass_divides_heavy_buckets() {
        // Most values are close together; the others are too many and too far apart for the first shift.
        let mut values = numbers(3, 200_000, 32);
        values.extend((0..300_000).map(|i| 1000.0 + (i % 10) as f32 * 1e-4));
        let mut found = sketch(&values, None);
        let heavy = found.heavy(16).unwrap();
        assert!(!heavy.is_empty());
        let (mut fine, mut buffers, stop) = (Sketch::default(), Buffers::default(), Stop::default());
        heavy.add(&mut fine, &values, None, &mut buffers, &stop).unwrap();
        found.refine(&heavy, &fine).unwrap();
        let present = values.iter().filter(|value| !value.is_nan()).count();
        assert_eq!(total(found.buckets()), present as u64);
        assert!(found.buckets().is_sorted_by(|a, b| a.high < b.low && a.end < b.end));
        let is_near = |bucket: &Bucket| (1000.0..=1000.001).contains(&edges::number(bucket.low));
        let weights = found.buckets().windows(2).filter(|pair| is_near(&pair[1]));
        assert_eq!(weights.filter(|pair| pair[1].end - pair[0].end > 25_000).count(), 10);
    }

    #[test]
    fn whole_weights_lose_nothing() {
        let unit = WeightUnit::of(5.0);
        assert_eq!(unit.count(5.0), 5 * unit.count(1.0));
        assert!((unit.weight(unit.count(0.5) * 3) - 1.5).abs() < f64::EPSILON);
        for largest in [f64::MIN_POSITIVE, 5e-324, f64::MAX] {
            let unit = WeightUnit::of(largest);
            assert!(unit.count(largest) >= 1 && unit.weight(1).is_finite(), "{largest}");
        }
    }
}
