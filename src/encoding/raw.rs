//! Rows of X to active rows with values, for models that use numbers as they are.
//!
//! A number activates the one row of its feature with its value in standard units, a category its row with 1. NaN is
//! absent: it counts as the mean.

use super::starts::ABSENT;
use super::{Active, Block, Category, Csr, Dense, Encoder, Feature, Table, Values};
use alloc::vec::Vec;

impl Encoder {
    /// Replace `active` by the starts and values of `rows` rows of a table from row `first` on.
    pub(super) fn activate_raw(
        &self,
        table: Table,
        first: usize,
        rows: usize,
        block: &mut Block,
        active: &mut Active,
    ) {
        match table {
            Table::Dense(dense) => self.activate_dense(dense, first, rows, block, active),
            Table::Csr(csr) if self.zero_is_absent => {
                for row in first..first + rows {
                    let stored = csr.row(row).filter_map(|(column, value)| {
                        self.of_column(column)?.start_and_value(value, true)
                    });
                    active.push_valued(stored);
                }
            }
            Table::Csr(csr) => self.activate_all_values(csr, first, rows, active),
        }
    }

    fn activate_dense(
        &self,
        dense: &dyn Dense,
        first: usize,
        rows: usize,
        block: &mut Block,
        active: &mut Active,
    ) {
        block.numbers.resize(rows * self.columns(), 0.0);
        dense.rows_of_numbers(first, &mut block.numbers);
        for (i, numbers) in block.numbers.chunks_exact(self.columns()).enumerate() {
            let of_row = self.features.iter().filter_map(|feature| {
                let Values::Levels(levels) = &feature.values else {
                    let number = *numbers.get(feature.column)?;
                    return feature.start_and_value(number, self.zero_is_absent);
                };
                let mut category = [Category::Missing];
                dense.categories(feature.column, first + i, &mut category);
                let [category] = category;
                Some((feature.span.level_start(levels, category, self.zero_is_absent), 1.0))
            });
            active.push_valued(of_row);
        }
    }

    /// A sparse table for a model of dense ones: what is not stored is a zero like any other.
    fn activate_all_values(&self, csr: &Csr, first: usize, rows: usize, active: &mut Active) {
        let zeros: Vec<_> =
            self.features.iter().map(|feature| feature.start_and_value(0.0, false)).collect();
        for row in first..first + rows {
            let mut all = zeros.clone();
            for (column, value) in csr.row(row) {
                let place = self.places.get(column).and_then(|&place| all.get_mut(place as usize));
                if let (Some(place), Some(feature)) = (place, self.of_column(column)) {
                    *place = feature.start_and_value(value, false);
                }
            }
            active.push_valued(all.into_iter().flatten());
        }
    }
}

impl Feature {
    /// Start and value of a single number; None if it is absent.
    fn start_and_value(&self, number: f32, zero_is_absent: bool) -> Option<(u32, f32)> {
        let start = self.start_of(number, zero_is_absent);
        let value = match &self.values {
            Values::Raw(standard) => standard.value(number),
            Values::Numbers(_) | Values::Levels(_) => 1.0,
        };
        (start != ABSENT).then_some((start, value))
    }
}

impl Active {
    fn push_valued(&mut self, row: impl Iterator<Item = (u32, f32)>) {
        for (start, value) in row.filter(|&(start, _)| start != ABSENT) {
            self.starts.push(start);
            self.values.push(value);
        }
        self.ends.push(self.starts.len() as u32);
    }
}
