//! The steps of the optimizer: one per touched row and batch.

use super::batch::{CellGradients, Touched};
use super::blocks::for_blocks;
use super::prefetch::{cell_ahead, prefetch_parts, prefetch_rows};
use super::weights::{Kind, RowWeights};
use core::ops::Range;

/// How gradients move weights.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Learning rate.
    pub rate: f32,
    /// α, which multiplies the gradient of w.
    pub alpha: f32,
    /// What multiplies the gradient of v: β², or β where rest values pull.
    pub pair_scale: f32,
    /// L2 penalty of w and v, per visit.
    pub decay: [f32; 2],
    /// What w and v are used as.
    pub kinds: [Kind; 2],
    /// Number of consecutive rows that a cell activates.
    pub tilings: usize,
    /// Whether pulled rows keep their w.
    pub holds_w: bool,
}

/// Gradients are limited to ± this, so that their squares are finite.
const MAX_GRADIENT: f32 = 1e18;

/// Float weights below this are zero: regularization would turn them into denormal numbers, which are slow.
const MIN_WEIGHT: f32 = 1e-12;

/// Pulls weights towards rest values.
#[derive(Clone, Copy, Debug)]
pub struct Pull<'a> {
    /// For each row of the parameter table.
    pub rows: &'a [PulledRow],
    /// Rest values of the factors, m per pattern.
    pub rest: &'a [f32],
    /// Strength of the pull on the factors, m per feature.
    pub strength: &'a [f32],
    /// How often the factors of a row are pulled: at each visit, and over all visits of an epoch.
    pub often: [f32; 2],
    /// Rest values of w, one per row.
    pub w_rest: &'a [f32],
    /// Strength of the pull of w.
    pub w_strength: f32,
}

/// How a row is pulled.
#[derive(Clone, Copy, Debug)]
pub struct PulledRow {
    /// Its rest values.
    pub pattern: u32,
    /// The feature that it belongs to.
    pub feature: u32,
    /// Share of the pull of an epoch for each visit: 1 / visits.
    pub per_visit: f32,
    /// Whether it belongs to the same cell as the row before, and to no other: levels of both rows are always equal.
    pub is_copy: bool,
}

/// A row to step with: its touched cells, and the number of their visits.
struct TouchedRow {
    row: usize,
    cells: Range<usize>,
    visits: f32,
}

/// Iterates over the rows of the touched cells.
///
/// Row r belongs to the cells that start at r − T + 1 … r. As touched cells are in ascending order, those of a row stand
/// side by side, and each row is met once: between the start of its last cell and that of the next one.
///
/// It is an iterator because the body of a `for` loop is compiled for the instructions of the tier; a closure is not.
struct TouchedRows<'a> {
    touched: &'a [Touched],
    tilings: usize,
    /// The first cell of the next row, and the end of its cells.
    first: usize,
    cells: usize,
    /// The next rows.
    rows: Range<usize>,
}

impl<'a> TouchedRows<'a> {
    #[inline(always)]
    fn new(touched: &'a [Touched], tilings: usize) -> Self {
        Self { touched, tilings, first: 0, cells: 0, rows: 0..0 }
    }
}

impl Iterator for TouchedRows<'_> {
    type Item = TouchedRow;

    #[inline(always)]
    fn next(&mut self) -> Option<TouchedRow> {
        if self.rows.is_empty() {
            let start = self.touched.get(self.cells)?.start as usize;
            self.cells += 1;
            let next = self.touched.get(self.cells).map_or(usize::MAX, |next| next.start as usize);
            self.rows = start..next.min(start + self.tilings);
        }
        let row = self.rows.start;
        self.rows.start += 1;
        while self.touched[self.first].start as usize + self.tilings <= row {
            self.first += 1;
        }
        let begin = self.first.checked_sub(1).map_or(0, |before| self.touched[before].end);
        let visits = (self.touched[self.cells - 1].end - begin) as f32;
        Some(TouchedRow { row, cells: self.first..self.cells, visits })
    }
}

/// See [`step`](super::step).
#[inline(always)]
pub fn step(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    touched: &[Touched],
    gradients: &mut CellGradients,
    step: Step,
    pull: Option<Pull<'_>>,
) {
    match pull {
        None => {
            for row in TouchedRows::new(touched, step.tilings) {
                if let Some(later) = row_ahead(weights, touched, &row) {
                    prefetch_rows(weights, later, step.tilings);
                    prefetch_rows(squares, later, step.tilings);
                }
                step_row(weights, squares, &row, gradients, step);
            }
        }
        Some(pull) => {
            for row in TouchedRows::new(touched, step.tilings) {
                if let Some(later) = row_ahead(weights, touched, &row) {
                    prefetch_rows(weights, later, step.tilings);
                    prefetch_rows(squares, later, step.tilings);
                    let factors = weights.v.len() / weights.w.len();
                    prefetch_pull(pull, factors, later, step.tilings);
                }
                pulled_row(weights, squares, &row, gradients, step, pull);
            }
        }
    }
}

/// Returns the first row of a later cell to prefetch, when the first row of a cell is met.
#[inline(always)]
fn row_ahead(weights: &RowWeights, touched: &[Touched], row: &TouchedRow) -> Option<usize> {
    let last = row.cells.end - 1;
    let is_first = touched[last].start as usize == row.row;
    let later = if is_first { cell_ahead(weights, touched, last) } else { None };
    later.map(|later| later.start as usize)
}

/// Prefetches what pulls rows.
#[inline(always)]
fn prefetch_pull(pull: Pull<'_>, factors: usize, first: usize, count: usize) {
    let PulledRow { pattern, feature, .. } = pull.rows[first];
    let parts = |table: &[f32]| table.len() / factors.max(1);
    prefetch_parts(pull.rest, parts(pull.rest), pattern as usize, count);
    prefetch_parts(pull.strength, parts(pull.strength), feature as usize, 1);
    prefetch_parts(pull.w_rest, pull.w_rest.len(), first, count);
}

/// See [`gradient_squares`](super::gradient_squares).
#[inline(always)]
pub fn gradient_squares(
    weights: &RowWeights,
    touched: &[Touched],
    gradients: &mut CellGradients,
    step: Step,
    pull: Pull<'_>,
) -> [f64; 2] {
    let (mut sums, mut rows) = ([0.0; 2], 0);
    let factors = weights.v.len() / weights.w.len().max(1);
    for row in TouchedRows::new(touched, step.tilings) {
        let (w_gradient, own) = row_gradient(weights, &row, gradients, step, pull);
        let own_pull = OwnPull::new(pull, &row, factors);
        let v = &weights.v[row.row * factors..][..factors];
        let mut squares = 0.0;
        for (i, (&v, &sum)) in v.iter().zip(gradients.row.iter()).enumerate() {
            let gradient = step.pair_scale * sum + own * Kind::Sign.value(v) + own_pull.on(i, v);
            squares += f64::from(gradient * gradient);
        }
        sums[0] += f64::from(w_gradient * w_gradient) / f64::from(row.visits);
        sums[1] += squares / f64::from(row.visits);
        rows += 1;
    }
    let rows = f64::from(rows.max(1));
    [sums[0] / rows, sums[1] / rows / factors.max(1) as f64]
}

/// The pull on the factors of one row.
#[derive(Clone, Copy)]
struct OwnPull<'a> {
    rest: &'a [f32],
    strength: &'a [f32],
    share: f32,
}

impl<'a> OwnPull<'a> {
    #[inline(always)]
    fn new(pull: Pull<'a>, row: &TouchedRow, factors: usize) -> Self {
        let (own, often) = (pull.rows[row.row], pull.often);
        Self {
            rest: &pull.rest[own.pattern as usize * factors..][..factors],
            strength: &pull.strength[own.feature as usize * factors..][..factors],
            share: row.visits * (often[0] + often[1] * own.per_visit),
        }
    }

    /// Returns the gradient of the pull on a factor.
    #[inline(always)]
    fn on(self, factor: usize, v: f32) -> f32 {
        self.share * self.strength[factor] * (v - self.rest[factor])
    }
}

/// Adds up the gradients of the factors of a pulled row in `gradients.row`, and returns that of w, and what the signs of
/// the factors are multiplied by.
#[inline(always)]
fn row_gradient(
    weights: &RowWeights,
    row: &TouchedRow,
    gradients: &mut CellGradients,
    step: Step,
    pull: Pull<'_>,
) -> (f32, f32) {
    let (w_sum, own_sum) = add_row(weights, row, gradients);
    let share = row.visits * pull.rows[row.row].per_visit;
    let away = step.kinds[0].value(weights.w[row.row]) - pull.w_rest[row.row];
    (step.alpha * w_sum + share * pull.w_strength * away, -step.pair_scale * own_sum)
}

/// Adds up the gradients of the factors of a row in `gradients.row`, and returns Σ ℓ'·x and Σ ℓ'·x².
#[inline(always)]
fn add_row(weights: &RowWeights, row: &TouchedRow, gradients: &mut CellGradients) -> (f32, f32) {
    let factors = weights.v.len() / weights.w.len();
    let sum = |numbers: &[f32]| numbers.iter().fold(0.0, |sum, number| sum + number);
    let w_sum = sum(&gradients.w[row.cells.clone()]);
    let own_sum = sum(&gradients.own[row.cells.clone()]);
    let CellGradients { v: cell_gradients, row: row_gradient, .. } = gradients;
    let cell_gradients = &cell_gradients[row.cells.start * factors..row.cells.end * factors];
    for_blocks!(factors, |first| add_gradients::<_>(cell_gradients, first, row_gradient));
    (w_sum, own_sum)
}

/// Takes a step with a row that is pulled towards rest. Its proxies may leave [−1, 1].
#[inline(always)]
fn pulled_row(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    row: &TouchedRow,
    gradients: &mut CellGradients,
    step: Step,
    pull: Pull<'_>,
) {
    let factors = weights.v.len() / weights.w.len();
    if step.kinds[1] == Kind::Level && step.holds_w && pull.rows[row.row].is_copy {
        let before = (row.row - 1) * factors;
        weights.v.copy_within(before..before + factors, before + factors);
        return;
    }
    let (w_gradient, own) = row_gradient(weights, row, gradients, step, pull);
    let own_pull = OwnPull::new(pull, row, factors);
    let place = row.row * factors..(row.row + 1) * factors;
    let (v, squares_v) = (&mut weights.v[place.clone()], &mut squares.v[place]);
    let sums = &gradients.row[..];
    for_blocks!(factors, |first| move_pulled::<_>(v, squares_v, sums, own, step, own_pull, first));
    if !step.holds_w {
        let (w, square) = (&mut weights.w[row.row], squares.w.get_mut(row.row));
        move_weight(w, square, w_gradient, step.rate, Kind::Float);
    }
}

#[inline(always)]
fn move_pulled<const N: usize>(
    v: &mut [f32],
    squares: &mut [f32],
    sums: &[f32],
    own: f32,
    step: Step,
    pull: OwnPull<'_>,
    first: usize,
) {
    let (v, squares) = (&mut v[first..][..N], &mut squares[first..][..N]);
    let sums = &sums[first..][..N];
    let (rest, strength) = (&pull.rest[first..][..N], &pull.strength[first..][..N]);
    let pull = OwnPull { rest, strength, ..pull };
    for i in 0..N {
        let gradient = step.pair_scale * sums[i] + own * Kind::Sign.value(v[i]) + pull.on(i, v[i]);
        let gradient = gradient.clamp(-MAX_GRADIENT, MAX_GRADIENT);
        squares[i] += gradient * gradient;
        v[i] -= step.rate * gradient * inverse_sqrt(squares[i]);
    }
}

/// Takes a step with a row.
#[inline(always)]
fn step_row(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    touched: &TouchedRow,
    gradients: &mut CellGradients,
    step: Step,
) {
    let factors = weights.v.len() / weights.w.len();
    let (row, visits) = (touched.row, touched.visits);
    let (w_sum, own_sum) = add_row(weights, touched, gradients);
    let row_gradient = &gradients.row[..];
    let own = step.decay[1] * visits - step.pair_scale * own_sum;
    let v = &mut weights.v[row * factors..][..factors];
    if let Some(squares) = squares.v.get_mut(row * factors..(row + 1) * factors) {
        match step.kinds[1] {
            Kind::Sign => move_factors(v, squares, row_gradient, own, step, Kind::Sign),
            Kind::Float | Kind::Level => move_factors(v, squares, row_gradient, own, step, Kind::Float),
        }
    } else {
        for (v, &sum) in v.iter_mut().zip(row_gradient.iter()) {
            let gradient = step.pair_scale * sum + own * step.kinds[1].value(*v);
            move_weight(v, None, gradient, step.rate, step.kinds[1]);
        }
    }
    let value = step.kinds[0].value(weights.w[row]);
    let gradient = step.alpha * w_sum + step.decay[0] * visits * value;
    let square = squares.w.get_mut(row);
    move_weight(&mut weights.w[row], square, gradient, step.rate, step.kinds[0]);
}

/// Adds up the gradients of N factors over the cells of a row, whose gradients follow each other.
#[inline(always)]
fn add_gradients<const N: usize>(gradients: &[f32], first: usize, row: &mut [f32]) {
    let factors = row.len();
    let cell = |i: usize| &gradients[i * factors + first..][..N];
    let row = &mut row[first..][..N];
    // The usual numbers of cells are added up in registers.
    match gradients.len() / factors {
        1 => row.copy_from_slice(cell(0)),
        2 => add::<N, 2>([cell(0), cell(1)], row),
        3 => add::<N, 3>([cell(0), cell(1), cell(2)], row),
        cells => {
            add::<N, 4>([cell(0), cell(1), cell(2), cell(3)], row);
            for i in 4..cells {
                row.iter_mut().zip(cell(i)).for_each(|(sum, gradient)| *sum += gradient);
            }
        }
    }
}

#[inline(always)]
fn add<const N: usize, const COUNT: usize>(lists: [&[f32]; COUNT], out: &mut [f32]) {
    let (lists, out) = (lists.map(|list| &list[..N]), &mut out[..N]);
    for i in 0..N {
        out[i] = lists[1..].iter().fold(lists[0][i], |sum, list| sum + list[i]);
    }
}

/// Moves the factors of a row by g = β²·(Σ ℓ'·x·s − v·Σ ℓ'·x²) + λ·v.
#[inline(always)]
fn move_factors(
    v: &mut [f32],
    squares: &mut [f32],
    gradients: &[f32],
    own: f32,
    step: Step,
    kind: Kind,
) {
    for_blocks!(v.len(), |first| move_block::<_>(v, squares, gradients, own, step, kind, first));
}

#[inline(always)]
fn move_block<const N: usize>(
    v: &mut [f32],
    squares: &mut [f32],
    gradients: &[f32],
    own: f32,
    step: Step,
    kind: Kind,
    first: usize,
) {
    let (v, squares) = (&mut v[first..][..N], &mut squares[first..][..N]);
    let gradients = &gradients[first..][..N];
    for i in 0..N {
        let gradient = step.pair_scale * gradients[i] + own * kind.value(v[i]);
        move_weight(&mut v[i], Some(&mut squares[i]), gradient, step.rate, kind);
    }
}

/// Moves one weight, with Adagrad if there is a sum of squares. The gradient of a sign is the straight-through one, zero
/// where the proxy has left [−1, 1].
#[inline(always)]
fn move_weight(
    weight: &mut f32,
    square: Option<&mut f32>,
    gradient: f32,
    rate: f32,
    kind: Kind,
) {
    let gradient = match kind {
        Kind::Sign if weight.abs() > 1.0 => 0.0,
        _ => gradient,
    };
    let step = match square {
        None => gradient,
        Some(square) => {
            let gradient = gradient.clamp(-MAX_GRADIENT, MAX_GRADIENT);
            *square += gradient * gradient;
            gradient * inverse_sqrt(*square)
        }
    };
    *weight -= rate * step;
    if kind == Kind::Float && weight.abs() < MIN_WEIGHT {
        *weight = 0.0;
    }
}

/// Returns 1/√x within 0.07 % of its size, for normal x up to 2¹²⁶: an estimate from the exponent and one step of
/// Newton's method, with the constants that make its error least. Faster than a division by a square root, and the same
/// bits on every CPU, unlike their own estimates.
#[inline(always)]
pub fn inverse_sqrt(x: f32) -> f32 {
    let y = f32::from_bits(0x5f1f_fff9 - (x.to_bits() >> 1));
    0.703_952_25 * y * (2.389_244_6 - x * y * y)
}
