//! The linear term, solved exactly for what the pairs leave, feature by feature.
//!
//! ```text
//! minimize  Σ ℓ(bias + Σ_j w(cell of j) + offset, y) + ½ λ Σ (w_r − c_j·z_r)² + ½ Σ c_j²
//! ```
//!
//! The weights of a feature are pulled towards a straight line with the free slope c_j, so that linear data costs
//! nothing; z is the line through the cells in standard units. Features take turns (backfitting), and each is solved
//! jointly with its slope. Before every turn of all features the loss is replaced by a parabola that touches it at the
//! current score (Newton's method; for losses with corners, majorization), which for the squared loss is the loss itself.

use super::balance::Fields;
use super::columns::Columns;
use super::parabolas::{Move, Parabolas};
use super::rows::Rows;
use super::{Context, Examples, Objective, balance, cholesky};
use crate::Result;
use crate::memory::{collect, copied, extend, filled, push, try_collect};
use crate::model::Loss;
use crate::threads::Threads;
use std::sync::Arc;

/// Samples by the cells that they are in.
pub struct Linear<'a> {
    examples: &'a Examples<'a>,
    rows: &'a Rows,
    /// The features that are solved; w of others stays.
    features: Vec<usize>,
    objective: Objective,
    columns: Arc<Columns>,
    /// What λ of each feature is multiplied by, for each output; empty if nothing is balanced.
    balance: Vec<Vec<f64>>,
}

/// What is solved: w of one output, and its bias.
pub struct Solution<'a> {
    /// One per row.
    pub w: &'a mut [f32],
    /// Bias.
    pub bias: &'a mut f64,
}

impl Solution<'_> {
    /// Moves the bias, and all scores with it.
    fn move_bias(&mut self, by: f64) -> Move {
        *self.bias += by;
        Move::All(by as f32)
    }
}

/// The λ that is usual.
pub const USUAL_STRENGTH: f64 = 30.0;
/// How often λ of all features follows from their effects, and sweeps over them in between.
const BALANCING_ROUNDS: usize = 8;
const BALANCING_SWEEPS: usize = 3;
/// Features of more rows have no straight line, and their rows are solved one by one.
const MAX_JOINT_ROWS: u32 = 512;

impl<'a> Linear<'a> {
    /// Turns the samples around; `None` if the linear term is not solved for a loss, because it has no curvature.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        examples: &'a Examples<'a>,
        rows: &'a Rows,
        objective: Objective,
        context: Context<'a>,
    ) -> Result<Option<Self>> {
        if !Self::is_solved_for(objective) {
            return Ok(None);
        }
        let columns = Arc::new(Columns::new(examples, rows, context)?);
        let features = collect(0..rows.features())?;
        Ok(Some(Self { examples, rows, features, objective, columns, balance: Vec::new() }))
    }

    /// Returns whether the linear term is solved for a loss.
    pub fn is_solved_for(objective: Objective) -> bool {
        objective.loss == Loss::Logistic || objective.loss.is_regression()
    }

    /// Returns the same for some of the features.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn of_features(&self, features: &[usize]) -> Result<Self> {
        let balance = try_collect(self.balance.iter().map(|balance| copied(balance)))?;
        Ok(Self { features: copied(features)?, columns: Arc::clone(&self.columns), balance, ..*self })
    }

    /// Returns the samples.
    pub fn examples(&self) -> &'a Examples<'a> {
        self.examples
    }

    /// Returns the rows of the parameter table.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    /// Returns the samples by the cells that they are in.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Returns whether the targets are numbers, not classes.
    pub fn is_of_numbers(&self) -> bool {
        self.objective.loss.is_regression()
    }

    /// Sweeps over all features several times. `offsets` are what other terms add to the score of each sample.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn solve(
        &self,
        solution: &mut Solution,
        output: usize,
        offsets: &[f64],
        lambda: f64,
        sweeps: usize,
        context: Context,
    ) -> Result<()> {
        let single = Threads::single();
        let is_block = offsets.len() <= self.columns.block();
        let context = Context { threads: if is_block { &single } else { context.threads }, ..context };
        let mut parabolas = self.parabolas(solution, offsets, context)?;
        for _ in 0..sweeps {
            let mean = parabolas.approximate(output)?;
            parabolas.move_scores(solution.move_bias(mean));
            for &feature in &self.features {
                let sums = parabolas.sums(feature, self.rows.range(feature).len())?;
                let lambda = lambda * self.balance.get(output).map_or(1.0, |balance| balance[feature]);
                parabolas.move_scores(self.solve_feature(feature, &sums, solution, lambda)?);
            }
            let mean = parabolas.mean()?;
            parabolas.move_scores(solution.move_bias(mean));
        }
        Ok(())
    }

    /// Lets λ of each feature whose cells have rows of their own follow from how much their effects differ: the λ with
    /// which they are most likely, if the usual one is asked for.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn balanced(mut self, context: Context) -> Result<Self> {
        let fields = Fields::new(self.rows)?;
        let offsets = filled(self.examples.samples.len(), 0.0)?;
        for output in 0..self.examples.target.outputs() {
            let (mut w, mut bias) = (filled(self.rows.len(), 0.0)?, 0.0);
            let mut solution = Solution { w: &mut w, bias: &mut bias };
            push(&mut self.balance, filled(self.rows.features(), 1.0)?)?;
            for _ in 0..BALANCING_ROUNDS {
                self.solve(&mut solution, output, &offsets, USUAL_STRENGTH, BALANCING_SWEEPS, context)?;
                self.balance[output] = self.balance_for(&fields, &solution, output, &offsets, context)?;
            }
        }
        Ok(self)
    }

    /// Returns what λ of each feature is multiplied by, given the effects of their cells and how certain each of them is.
    fn balance_for(
        &self,
        fields: &Fields,
        solution: &Solution,
        output: usize,
        offsets: &[f64],
        context: Context,
    ) -> Result<Vec<f64>> {
        let mut parabolas = self.parabolas(solution, offsets, context)?;
        parabolas.approximate(output)?;
        // Classes and counts are as noisy as their curvature says.
        let is_spread = self.is_of_numbers() && self.objective.loss != Loss::Poisson;
        let noise = if is_spread { parabolas.mean_square()? } else { 1.0 };
        let mut balance = filled(self.rows.features(), 1.0)?;
        for features in fields.all() {
            let mut cells = Vec::new();
            for &feature in features {
                let sums = parabolas.sums(feature, self.rows.range(feature).len())?;
                let own = sums.iter().zip(self.effects(feature, solution.w)).step_by(self.rows.tilings());
                extend(&mut cells, own.map(|(&[weight, _], effect)| [weight, effect]))?;
            }
            let usual = USUAL_STRENGTH / self.rows.tilings() as f64;
            let before = usual * features.first().map_or(1.0, |&feature| self.balance[output][feature]);
            let lambda = balance::most_likely(&cells, noise, before);
            for &feature in features {
                balance[feature] = lambda / usual;
            }
        }
        Ok(balance)
    }

    /// Returns the samples with the scores that a solution gives them.
    fn parabolas<'b>(&'b self, solution: &Solution, offsets: &[f64], context: Context<'b>) -> Result<Parabolas<'b>> {
        let effects = |feature| collect(self.effects(feature, solution.w).chain([0.0]).map(|effect| effect as f32));
        let effects = try_collect((0..self.rows.features()).map(effects))?;
        Parabolas::new(self.examples, &self.columns, self.objective, (offsets, *solution.bias), &effects, context)
    }

    /// Returns Σ w over the rows of each cell of a feature.
    fn effects(&self, feature: usize, w: &[f32]) -> impl Iterator<Item = f64> {
        let tilings = self.rows.tilings();
        let effect = move |start: usize| -> f64 {
            let end = (start + tilings).min(w.len());
            w[start..end].iter().map(|&w| f64::from(w)).sum()
        };
        self.rows.range(feature).map(effect)
    }

    /// Solves the rows of a feature; returns by how much its cells moved.
    fn solve_feature(
        &self,
        feature: usize,
        sums: &[[f64; 2]],
        solution: &mut Solution,
        lambda: f64,
    ) -> Result<Move> {
        let span = self.rows.spans()[feature];
        let before = collect(self.effects(feature, solution.w))?;
        if span.is_copied() || self.rows.tilings() == 1 || span.rows() > MAX_JOINT_ROWS {
            self.solve_cells(feature, sums, solution, lambda);
        } else {
            self.solve_jointly(feature, sums, &before, solution, lambda)?;
        }
        let after = self.effects(feature, solution.w);
        let moved = after.zip(before).map(|(after, before)| (after - before) as f32);
        Ok(Move::Cells(feature, collect(moved.chain([0.0]))?))
    }

    /// Solves cells that have rows of their own: T equal weights each.
    fn solve_cells(&self, feature: usize, sums: &[[f64; 2]], solution: &mut Solution, lambda: f64) {
        let tilings = self.rows.tilings();
        for (start, &[weight, rest]) in self.rows.range(feature).zip(sums).step_by(tilings) {
            let own = f64::from(solution.w[start]) * tilings as f64;
            let effect = (rest + weight * own) / (weight + lambda / tilings as f64);
            solution.w[start..start + tilings].fill((effect / tilings as f64) as f32);
        }
    }

    /// Solves overlapping rows and the slope together. Unknown are the distances of w from the line, and its slope.
    fn solve_jointly(
        &self,
        feature: usize,
        sums: &[[f64; 2]],
        effects: &[f64],
        solution: &mut Solution,
        lambda: f64,
    ) -> Result<()> {
        let (range, tilings) = (self.rows.range(feature), self.rows.tilings());
        let rows = range.len();
        let line = self.rows.line(feature);
        let n = rows + usize::from(!line.is_empty());
        let (mut a, mut b) = (filled(n * n, 0.0)?, filled(n, 0.0)?);
        for (cell, &[weight, rest]) in sums.iter().enumerate().filter(|(_, sums)| sums[0] > 0.0) {
            let own = cell..cell + tilings;
            let target = rest + weight * effects[cell];
            let slope: f64 = if line.is_empty() { 0.0 } else { line[own.clone()].iter().sum() };
            for i in own.clone() {
                own.clone().for_each(|j| a[i * n + j] += weight);
                b[i] += target;
                if n > rows {
                    a[rows * n + i] += weight * slope;
                    a[i * n + rows] += weight * slope;
                }
            }
            if n > rows {
                a[rows * n + rows] += weight * slope * slope;
                b[rows] += target * slope;
            }
        }
        (0..rows).for_each(|i| a[i * n + i] += lambda);
        (rows..n).for_each(|i| a[i * n + i] += 1.0);
        if cholesky::solve(&mut a, &mut b) {
            for (i, row) in range.enumerate() {
                let along = if n > rows { b[rows] * line[i] } else { 0.0 };
                solution.w[row] = (b[i] + along) as f32;
            }
        }
        Ok(())
    }
}
