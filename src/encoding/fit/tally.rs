//! The weights of the categories of a column, which can be merged in any order.

use super::sketch::WeightUnit;
use crate::data::Category;
use crate::encoding::{Categories, CellMap, Column};
use crate::memory::{collect, copied, with_capacity};
use crate::{Error, Result};

/// The weight of each category.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Ascending; weights are whole numbers of [`WeightUnit`].
    counts: Vec<(i64, u64)>,
    has_missing: bool,
}

impl Tally {
    /// Adds the values of a column, given the weight of each sample.
    ///
    /// # Errors
    /// If a value is a fraction, or there is not enough memory.
    pub fn add(
        &mut self,
        column: usize,
        categories: &[Category],
        unit: WeightUnit,
        weight_of: impl Fn(usize) -> f64,
    ) -> Result<()> {
        let mut seen = with_capacity(categories.len())?;
        for (sample, category) in categories.iter().enumerate() {
            let weight = weight_of(sample);
            match category {
                _ if weight <= 0.0 => {}
                Category::Id(id) => seen.push((*id, unit.count(weight))),
                Category::Missing => self.has_missing = true,
                Category::Invalid => {
                    let must = "hold whole numbers or text in categorical columns";
                    return Err(Error::value("X", must, format!("a fraction in column {column}")));
                }
            }
        }
        seen.sort_unstable_by_key(|&(id, _)| id);
        add_up(&mut seen);
        self.merge_counts(&seen)
    }

    /// Adds the values of another tally, whose weights have the same unit.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        self.has_missing |= other.has_missing;
        self.merge_counts(&other.counts)
    }

    /// Returns the weight of each category in units, ascending by category.
    pub fn counts(&self) -> &[(i64, u64)] {
        &self.counts
    }

    /// Replaces each category by its place in a list; those not in the list become −1.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn renumber(&mut self, order: &[i64]) -> Result<()> {
        let mut places = collect(order.iter().copied().zip(0_i64..))?;
        places.sort_unstable();
        for (id, _) in &mut self.counts {
            let place = places.binary_search_by_key(id, |&(id, _)| id);
            *id = place.map_or(-1, |place| places[place].1);
        }
        self.counts.sort_unstable_by_key(|&(id, _)| id);
        add_up(&mut self.counts);
        Ok(())
    }

    /// Gives each frequent category a cell; `None` if that says nothing. With a vocabulary, categories are places in it.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn column(
        &self,
        vocabulary: Option<&Vec<String>>,
        min_count: f64,
        unit: WeightUnit,
    ) -> Result<Option<Column>> {
        let in_vocabulary =
            |id: i64| vocabulary.is_none_or(|texts| (0..texts.len() as i64).contains(&id));
        let is_frequent =
            |&&(id, weight): &&(i64, u64)| in_vocabulary(id) && unit.weight(weight) >= min_count;
        let ids = collect(self.counts.iter().filter(is_frequent).map(|&(id, _)| id))?;
        let is_constant = ids.len() == 1 && !self.has_missing && self.counts.len() == 1;
        if ids.is_empty() || is_constant {
            return Ok(None);
        }
        let categories = match vocabulary {
            Some(texts) => Categories::Texts(copied(texts)?),
            None => Categories::from_ids(ids),
        };
        let map = CellMap::Categories(categories);
        Ok(Some(Column { map, copies: true, missing: self.has_missing }))
    }

    /// Adds ascending categories.
    fn merge_counts(&mut self, others: &[(i64, u64)]) -> Result<()> {
        let mut merged = with_capacity(self.counts.len() + others.len())?;
        let mut others = others.iter().copied().peekable();
        for own in &self.counts {
            while let Some(other) = others.next_if(|other| other.0 < own.0) {
                merged.push(other);
            }
            merged.push(*own);
        }
        merged.extend(others);
        add_up(&mut merged);
        self.counts = merged;
        Ok(())
    }
}

/// Adds up the weights of equal neighbours.
fn add_up(counts: &mut Vec<(i64, u64)>) {
    counts.dedup_by(|next, last| {
        let is_same = next.0 == last.0;
        if is_same {
            last.1 += next.1;
        }
        is_same
    });
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tally(ids: &[i64]) -> Tally {
        let categories: Vec<Category> =
            ids.iter().map(|&id| if id == 5 { Category::Missing } else { Category::Id(id) }).collect();
        let mut tally = Tally::default();
        tally.add(0, &categories, WeightUnit::of(1.5), |sample| f64::from(ids[sample] as i32 % 4) / 2.0).unwrap();
        tally
    }

    proptest! {
        #[test]
        fn any_merge_order_gives_the_same_tally(
            parts in prop::collection::vec(prop::collection::vec(-3_i64..9, 0..30), 1..5),
        ) {
            let mut merged = Tally::default();
            for part in parts.iter().rev() {
                merged.merge(&tally(part)).unwrap();
            }
            prop_assert_eq!(merged, tally(&parts.concat()));
        }
    }

    #[test]
    fn renumbered_categories_keep_their_weights() {
        let mut found = Tally { counts: vec![(0, 5), (1, 7), (2, 1), (3, 2)], has_missing: false };
        found.renumber(&[3, 0]).unwrap();
        assert_eq!(found.counts(), [(-1, 8), (0, 2), (1, 5)]);
    }
}
