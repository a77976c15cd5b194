//! What training knows about the rows of the parameter table.

use super::batch::PREFETCH_DISTANCE;
use super::{Context, Examples, cholesky};
use crate::Result;
use crate::encoding::{Encoder, Span};
use crate::kernels::PulledRow;
use crate::memory::{collect, copied, filled, resize, try_collect};
use std::ops::Range;

/// The rows of the parameter table, and how often the samples visit them.
#[derive(Debug)]
pub struct Rows {
    /// Feature, rest pattern and visits of each row.
    pulled: Vec<PulledRow>,
    /// How often the cell that starts at each row is visited.
    visits: Vec<u32>,
    spans: Vec<Span>,
    tilings: usize,
    /// Whether the cell that starts at each row is silent; empty if none is.
    silent: Vec<bool>,
    /// For each feature, a straight line: what to add to w of its rows for a slope of one standard deviation. Empty where
    /// there is none.
    lines: Vec<Vec<f64>>,
}

/// Samples between two looks at the flag that stops the work.
const CHECKED: usize = 1024;
/// A cell with more than this share of the samples is silent: it would drown what the other cells have to say.
const MAJORITY: f64 = 0.5;

impl Rows {
    /// Describes the rows of an encoder, without visits.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(encoder: &Encoder) -> Result<Self> {
        let spans = collect(encoder.features().iter().map(|feature| feature.span))?;
        let tilings = encoder.tilings() as usize;
        let none = PulledRow { pattern: 0, feature: 0, per_visit: 0.0, is_copy: false };
        let mut pulled = filled(encoder.rows() as usize, none)?;
        for (feature, span) in (0..).zip(&spans) {
            for (i, row) in (0..).zip(&mut pulled[range(span)]) {
                let place = i % tilings as u32; // among the rows of a cell
                let (pattern, is_copy) = (feature * tilings as u32 + place, span.is_copied() && place > 0);
                *row = PulledRow { pattern, feature, is_copy, ..none };
            }
        }
        let lines = filled(spans.len(), Vec::new())?;
        Ok(Self { pulled, visits: Vec::new(), spans, tilings, silent: Vec::new(), lines })
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self {
            pulled: copied(&self.pulled)?,
            visits: copied(&self.visits)?,
            spans: copied(&self.spans)?,
            silent: copied(&self.silent)?,
            lines: try_collect(self.lines.iter().map(|line| copied(line)))?,
            ..*self
        })
    }

    /// Draws the straight lines of numeric features, given the centers of their cells.
    fn draw_lines(&mut self, centers: &[Vec<f64>]) -> Result<()> {
        for ((line, centers), span) in self.lines.iter_mut().zip(centers).zip(&self.spans) {
            *line = line_through(centers, self.tilings)?;
            if !line.is_empty() {
                resize(line, span.rows() as usize, 0.0)?; // the cell of missing values is on no line
            }
        }
        Ok(())
    }

    /// Returns the runs of rows, feature by feature.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Returns the rows of a feature.
    pub fn range(&self, feature: usize) -> Range<usize> {
        range(&self.spans[feature])
    }

    /// Returns what to add to w of a feature's rows for a slope of one; empty if it has no line.
    pub fn line(&self, feature: usize) -> &[f64] {
        &self.lines[feature]
    }

    /// Learns from samples which cells are silent, and the straight lines of numeric features.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn learn(&mut self, examples: &Examples, context: Context) -> Result<()> {
        self.draw_lines(examples.centers)?;
        self.silence(examples, context)
    }

    /// Silences majority cells that have rows of their own, as many as can be balanced.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    fn silence(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let is_even = self.tilings.is_multiple_of(2); // an odd number of signs cannot cancel
        if !is_even || !self.spans.iter().any(Span::is_copied) {
            return Ok(());
        }
        let visits = self.count_visits(examples, context)?;
        let most = MAJORITY * examples.samples.len() as f64;
        for span in self.spans.iter().filter(|span| span.is_copied()) {
            let starts = range(span).step_by(self.tilings);
            if let Some(start) = starts.into_iter().find(|&start| f64::from(visits[start]) > most) {
                if self.silent.is_empty() {
                    self.silent = filled(self.pulled.len(), false)?;
                }
                self.silent[start] = true;
            }
        }
        Ok(())
    }

    /// Counts the visits of an epoch.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn count(&mut self, examples: &Examples, context: Context) -> Result<()> {
        self.visits = self.count_visits(examples, context)?;
        for (row, pulled) in self.pulled.iter_mut().enumerate() {
            let starts = (row + 1).saturating_sub(self.tilings)..row + 1;
            let total: u32 = self.visits[starts].iter().sum();
            pulled.per_visit = if total == 0 { 0.0 } else { 1.0 / total as f32 };
        }
        Ok(())
    }

    /// Returns how often the cell that starts at a row is visited.
    pub fn visits(&self, start: usize) -> u32 {
        self.visits.get(start).copied().unwrap_or(0)
    }

    /// Returns how many samples are in the cell that starts at each row, silent cells left out.
    fn count_visits(&self, examples: &Examples, context: Context) -> Result<Vec<u32>> {
        let size = examples.samples.len().div_ceil(context.threads.count()).max(CHECKED);
        let count = |starts: &mut Vec<u32>, samples: &[u32]| {
            let mut visits = filled(self.pulled.len(), 0_u32)?;
            for some in samples.chunks(CHECKED) {
                context.stop.check()?;
                for (i, &sample) in some.iter().enumerate() {
                    if let Some(&later) = some.get(i + PREFETCH_DISTANCE) {
                        examples.table.prefetch(later as usize);
                    }
                    examples.table.starts_of(sample as usize, starts)?;
                    for &start in starts.iter().filter(|&&start| !self.is_silent(start)) {
                        visits[start as usize] += 1;
                    }
                }
            }
            Ok(visits)
        };
        let parts = context.threads.map(examples.samples.chunks(size), Vec::new, count)?;
        let mut parts = parts.into_iter();
        let mut visits = parts.next().map_or_else(|| filled(self.pulled.len(), 0), Ok)?;
        for part in parts {
            visits.iter_mut().zip(part).for_each(|(visits, part)| *visits += part);
        }
        Ok(visits)
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.pulled.len()
    }

    /// Returns the number of features.
    pub fn features(&self) -> usize {
        self.spans.len()
    }

    /// Returns the number of rows that a cell activates.
    pub fn tilings(&self) -> usize {
        self.tilings
    }

    /// Returns how each row is pulled.
    pub fn pulled(&self) -> &[PulledRow] {
        &self.pulled
    }

    /// Returns whether there are silent cells.
    pub fn has_silent(&self) -> bool {
        !self.silent.is_empty()
    }

    /// Returns whether the cell that starts at a row is silent.
    #[inline]
    pub fn is_silent(&self, start: u32) -> bool {
        self.silent.get(start as usize).is_some_and(|&silent| silent)
    }
}

/// Returns the smallest row weights that sum to the given effects over each window of T rows.
///
/// # Errors
/// If there is not enough memory.
pub fn line_through(effects: &[f64], tilings: usize) -> Result<Vec<f64>> {
    let cells = effects.len();
    if cells == 0 {
        return Ok(Vec::new());
    }
    let shared = |i: usize, j: usize| tilings.saturating_sub(i.abs_diff(j)) as f64;
    let mut a = collect((0..cells * cells).map(|ij| shared(ij / cells, ij % cells)))?;
    let mut b = copied(effects)?;
    if !cholesky::solve(&mut a, &mut b) {
        return Ok(Vec::new());
    }
    let mut line = filled(cells + tilings - 1, 0.0)?;
    for (cell, b) in b.into_iter().enumerate() {
        line[cell..cell + tilings].iter_mut().for_each(|row| *row += b);
    }
    Ok(line)
}

/// Returns the rows of a feature.
fn range(span: &Span) -> Range<usize> {
    span.first as usize..(span.first + span.rows()) as usize
}
