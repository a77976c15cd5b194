//! Signs flipped one by one after training, each where that lowers the loss of the training rows: coordinate descent on
//! the bits. Gradients through a sign are a guess, and the fewer bits there are, the more each wrong one costs.
//!
//! With the others held, turning w_r or v_rf around moves the score of every row of data that activates r by
//!
//! ```text
//! −2·α·w_r          −2·β²·( v_rf·s_f − 1 )
//! ```
//!
//! Slopes and curvatures of the loss tell which flips may help, the loss itself whether one does. After each pass bias, α
//! and β² are fitted again. Classes that are trained together are polished one after the other: the softmax of one score
//! is a logistic loss of its distance from log Σ exp of the others.

use super::refit::{self, Point};
use super::sample::Sample;
use super::{Examples, Machine, Scale};
use crate::Result;
use crate::error::filled;
use crate::model::Loss;
use crate::threads::Stop;

/// Polish the kept signs of machines that were trained together, in some passes or until nothing changes.
///
/// # Errors
/// If it is stopped, or there is not enough memory.
pub fn polish(
    machines: &mut [Machine],
    sample: &Sample,
    examples: &Examples,
    passes: usize,
    stop: &Stop,
) -> Result<()> {
    let mut scores = Vec::new();
    if machines.len() > 1 {
        for machine in &*machines {
            let alone = filled(sample.rows.len(), 0.0)?;
            scores.push(Function::new(machine, sample, examples, alone)?.scores());
        }
    }
    for _ in 0..passes {
        let mut flips = 0;
        for (i, machine) in machines.iter_mut().enumerate() {
            let offsets = against_others(&scores, i, sample.rows.len())?;
            let mut function = Function::new(machine, sample, examples, offsets)?;
            flips += function.pass(sample, stop)?;
            function.settle();
            if let Some(own) = scores.get_mut(i) {
                *own = function.scores();
            }
            machine.keep_signs(&function.w, &function.v, function.scale);
        }
        if flips == 0 {
            break;
        }
    }
    Ok(())
}

/// −log Σ exp of the scores of the others; zero without any.
fn against_others(scores: &[Vec<f64>], own: usize, rows: usize) -> Result<Vec<f64>> {
    let mut offsets = filled(rows, 0.0)?;
    if scores.is_empty() {
        return Ok(offsets);
    }
    for (row, offset) in offsets.iter_mut().enumerate() {
        let others = || scores.iter().enumerate().filter(|&(i, _)| i != own).map(|(_, of)| of[row]);
        let most = others().fold(f64::MIN, f64::max).min(f64::MAX);
        *offset = -most - libm::log(others().map(|score| libm::exp(score - most)).sum());
    }
    Ok(offsets)
}

/// What the loss of one row of data is and how it changes, all times the row's weight.
#[derive(Clone, Copy, Default)]
struct State {
    score: f64,
    loss: f64,
    slope: f64,
    curvature: f64,
}

/// One score function and what it says of the sample.
struct Function {
    loss: Loss,
    m: usize,
    scale: Scale,
    /// ±1
    w: Vec<f32>,
    /// ±1, m a parameter row.
    v: Vec<f32>,
    y: Vec<f64>,
    weight: Vec<f64>,
    /// Added to the scores.
    offset: Vec<f64>,
    /// L and Q.
    terms: Vec<[f64; 2]>,
    /// s, m a row of data.
    sums: Vec<f32>,
    states: Vec<State>,
    /// Σ slope · (v·s − 1) and Σ curvature · (v·s − 1)² of each factor.
    first: Vec<f64>,
    second: Vec<f64>,
}

/// Which sign of a parameter row.
#[derive(Clone, Copy)]
enum Bit {
    Linear,
    Factor(usize),
}

impl Function {
    fn new(
        machine: &Machine,
        sample: &Sample,
        examples: &Examples,
        offset: Vec<f64>,
    ) -> Result<Self> {
        let (w, v) = machine.kept_signs()?;
        let (n, m) = (sample.rows.len(), v.len() / w.len().max(1));
        let rows = || sample.rows.iter().map(|&row| row as usize);
        let mut function = Self {
            loss: if machine.loss() == Loss::Squared { Loss::Squared } else { Loss::Logistic },
            m,
            scale: machine.kept_scale(),
            y: rows().map(|row| examples.targets.at(machine.function(), row)).collect(),
            weight: rows().map(|row| examples.weight(row)).collect(),
            offset,
            terms: filled(n, [0.0; 2])?,
            sums: filled(n * m, 0.0)?,
            states: filled(n, State::default())?,
            first: vec![0.0; m],
            second: vec![0.0; m],
            w,
            v,
        };
        function.count(sample);
        Ok(function)
    }

    /// Count L, Q and s of all rows.
    fn count(&mut self, sample: &Sample) {
        let m = self.m;
        for (row, &w) in self.w.iter().enumerate() {
            let v = &self.v[row * m..][..m];
            for &place in sample.visitors(row) {
                let place = place as usize;
                self.terms[place][0] += f64::from(w);
                self.sums[place * m..][..m].iter_mut().zip(v).for_each(|(sum, v)| *sum += v);
            }
        }
        for (place, &active) in sample.active.iter().enumerate() {
            let squares: f64 =
                self.sums[place * m..][..m].iter().map(|&s| f64::from(s) * f64::from(s)).sum();
            self.terms[place][1] = (squares - f64::from(active) * m as f64) / 2.0;
            self.look(place);
        }
    }

    /// Score a row of data anew.
    fn look(&mut self, place: usize) {
        let score = self.scale.score(self.terms[place]) + self.offset[place];
        let (loss, slope) = self.loss.value_and_slope(score, self.y[place]);
        let curvature = match self.loss {
            Loss::Squared => 1.0,
            _ => slope.abs() * (1.0 - slope.abs()),
        };
        let weight = self.weight[place];
        self.states[place] = State {
            score,
            loss: weight * loss,
            slope: weight * slope,
            curvature: weight * curvature,
        };
    }

    /// Try to flip every sign once; how many were.
    fn pass(&mut self, sample: &Sample, stop: &Stop) -> Result<usize> {
        let mut flips = 0;
        for row in 0..self.w.len() {
            stop.check()?;
            let visitors = sample.visitors(row);
            if self.may_help_w(row, visitors) {
                flips += self.flip_if_better(row, Bit::Linear, visitors);
            }
            self.weigh_factors(row, visitors);
            let step = self.scale.beta * self.scale.beta;
            for factor in 0..self.m {
                let expected = -step * self.first[factor] + step * step * self.second[factor];
                if expected < 0.0 {
                    flips += self.flip_if_better(row, Bit::Factor(factor), visitors);
                }
            }
        }
        Ok(flips)
    }

    fn may_help_w(&self, row: usize, visitors: &[u32]) -> bool {
        let change = self.change(row, Bit::Linear, 0);
        let mut expected = 0.0;
        for &place in visitors {
            let State { slope, curvature, .. } = self.states[place as usize];
            expected += slope + curvature * change / 2.0;
        }
        change * expected < 0.0
    }

    fn weigh_factors(&mut self, row: usize, visitors: &[u32]) {
        let m = self.m;
        self.first.fill(0.0);
        self.second.fill(0.0);
        let v = &self.v[row * m..][..m];
        for &place in visitors {
            let State { slope, curvature, .. } = self.states[place as usize];
            let sums = &self.sums[place as usize * m..][..m];
            let sides = self.first.iter_mut().zip(&mut self.second);
            for ((first, second), (v, sum)) in sides.zip(v.iter().zip(sums)) {
                let others = f64::from(v * sum - 1.0);
                *first += slope * others;
                *second += curvature * others * others;
            }
        }
    }

    /// What a flip adds to the score of a row of data.
    fn change(&self, row: usize, bit: Bit, place: usize) -> f64 {
        match bit {
            Bit::Linear => -2.0 * self.scale.alpha * f64::from(self.w[row]),
            Bit::Factor(factor) => {
                self.scale.beta * self.scale.beta * self.pairs_change(row, factor, place)
            }
        }
    }

    /// What a flip adds to Q.
    fn pairs_change(&self, row: usize, factor: usize, place: usize) -> f64 {
        let others = self.v[row * self.m + factor] * self.sums[place * self.m + factor] - 1.0;
        -2.0 * f64::from(others)
    }

    /// Flip a sign if that lowers the loss; how many were flipped.
    fn flip_if_better(&mut self, row: usize, bit: Bit, visitors: &[u32]) -> usize {
        let mut rise = 0.0;
        for &place in visitors {
            let place = place as usize;
            let State { score, loss, .. } = self.states[place];
            let changed = score + self.change(row, bit, place);
            rise += self.weight[place] * self.loss.value(changed, self.y[place]) - loss;
        }
        if rise < 0.0 {
            self.flip(row, bit, visitors);
        }
        usize::from(rise < 0.0)
    }

    fn flip(&mut self, row: usize, bit: Bit, visitors: &[u32]) {
        for &place in visitors {
            let place = place as usize;
            match bit {
                Bit::Linear => self.terms[place][0] -= 2.0 * f64::from(self.w[row]),
                Bit::Factor(factor) => {
                    self.terms[place][1] += self.pairs_change(row, factor, place);
                    self.sums[place * self.m + factor] -= 2.0 * self.v[row * self.m + factor];
                }
            }
            self.look(place);
        }
        match bit {
            Bit::Linear => self.w[row] = -self.w[row],
            Bit::Factor(factor) => self.v[row * self.m + factor] *= -1.0,
        }
    }

    /// Fit the scales to the signs.
    fn settle(&mut self) {
        let numbers = self.y.iter().zip(&self.weight).zip(&self.offset);
        let point = |(&terms, ((&y, &weight), &offset))| Point { terms, y, weight, offset };
        let points: Vec<Point> = self.terms.iter().zip(numbers).map(point).collect();
        self.scale = refit::scale(&points, self.loss == Loss::Squared, self.scale);
    }

    /// The scores of the sample, without the offsets.
    fn scores(&self) -> Vec<f64> {
        self.terms.iter().map(|&terms| self.scale.score(terms)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::Params;
    use crate::training::example::Example;
    use crate::training::machine::Seat;

    fn three_classes(row: &[f32]) -> f64 {
        f64::from(row[0] * row[1] > 0.1) + f64::from(row[0] + row[1] > 0.5)
    }

    fn machines(example: &Example, loss: Loss, functions: usize) -> Result<Vec<Machine>> {
        let params = Params { m: 3, loss, ..Params::default() };
        (0..functions)
            .map(|function| example.trained(Seat { function, member: 0 }, &params, 3))
            .collect()
    }

    fn total(function: &Function) -> f64 {
        function.states.iter().map(|state| state.loss).sum()
    }

    #[test]
    fn every_pass_lowers_the_loss_and_keeps_count() -> Result<()> {
        let class = |row: &[f32]| f64::from(row[0] * row[1] + 0.3 * row[0] > 0.0);
        let example = Example::new(class, 2, [7, 2])?;
        let (examples, stop) = (example.examples(), Stop::default());
        let mut machines = machines(&example, Loss::Logistic, 1)?;
        let sample = Sample::new(&example.encoder, &examples, 1, &stop)?;
        let none = || vec![0.0; sample.rows.len()];
        let mut function = Function::new(&machines[0], &sample, &examples, none())?;
        let first = total(&function);
        let mut before = first;
        let mut flips = 0;
        for _ in 0..4 {
            let flipped = function.pass(&sample, &stop)?;
            flips += flipped;
            let after = total(&function);
            assert!(if flipped > 0 { after < before } else { after <= before });
            function.settle();
            machines[0].keep_signs(&function.w, &function.v, function.scale);
            let counted = Function::new(&machines[0], &sample, &examples, none())?;
            assert_eq!(counted.terms, function.terms);
            assert_eq!(counted.sums, function.sums);
            before = total(&counted);
            assert!(before <= after);
            function = counted;
        }
        assert!(flips > 0 && before < 0.9 * first, "{flips} flips: {first} to {before}");
        Ok(())
    }

    #[test]
    fn a_flip_adds_what_it_is_said_to_add() -> Result<()> {
        let example = Example::new(three_classes, 3, [6, 3])?;
        let (examples, stop) = (example.examples(), Stop::default());
        let machines = machines(&example, Loss::Logistic, 3)?;
        let sample = Sample::new(&example.encoder, &examples, 3, &stop)?;
        let none = vec![0.0; sample.rows.len()];
        let mut function = Function::new(&machines[1], &sample, &examples, none)?;
        for row in 0..function.w.len() {
            for bit in [Bit::Linear, Bit::Factor(0), Bit::Factor(2)] {
                let visitors = sample.visitors(row);
                let said: Vec<f64> = visitors
                    .iter()
                    .map(|&place| {
                        function.states[place as usize].score
                            + function.change(row, bit, place as usize)
                    })
                    .collect();
                function.flip(row, bit, visitors);
                for (&place, said) in visitors.iter().zip(said) {
                    assert!((function.states[place as usize].score - said).abs() < 1e-9);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn classes_that_are_trained_together_fall_together() -> Result<()> {
        let example = Example::new(three_classes, 3, [6, 2])?;
        let (examples, stop) = (example.examples(), Stop::default());
        let mut machines = machines(&example, Loss::Softmax, 3)?;
        let sample = Sample::new(&example.encoder, &examples, 3, &stop)?;
        let mut losses = Vec::new();
        for _ in 0..4 {
            let mut scores = Vec::new();
            for machine in &machines {
                let none = vec![0.0; sample.rows.len()];
                scores.push(Function::new(machine, &sample, &examples, none)?.scores());
            }
            let right = |row: usize| {
                let all: f64 = scores.iter().map(|of| libm::exp(of[row])).sum();
                let class = examples.targets.class(sample.rows[row] as usize) as usize;
                libm::log(all) - scores[class][row]
            };
            losses.push((0..sample.rows.len()).map(right).sum::<f64>());
            polish(&mut machines, &sample, &examples, 1, &stop)?;
        }
        assert!(losses.is_sorted_by(|a, b| a >= b), "{losses:?}");
        assert!(losses[3] < 0.95 * losses[0], "{losses:?}");
        Ok(())
    }
}
