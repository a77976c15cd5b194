//! Polishing: after training, signs are flipped one by one where that lowers the training loss. This is coordinate descent
//! on the bits. Gradients through a sign are a guess, and the fewer bits there are, the more each wrong one costs.
//!
//! With all others fixed, flipping w_r or v_rf moves the score of every sample that activates row r by
//!
//! ```text
//! −2·α·w_r          −2·β²·( v_rf·s_f − 1 )
//! ```
//!
//! Slopes and curvatures of the loss tell which flips may help, the loss itself whether one does. After each pass bias, α
//! and β² are refitted. Classes that are trained together are polished one after the other: the softmax of one score is a
//! logistic loss of its distance from log Σ exp of the others. A w of several bits has no sign to flip: it is a number
//! until training ends, and only the factors are polished.

use super::head::Head;
use super::kept::KeptSigns;
use super::refit::{self, Point};
use super::state::Scale;
use super::visitors::Visitors;
use super::{Examples, Objective};
use crate::Result;
use crate::kernels::Kind;
use crate::memory::{collect, filled};
use crate::threads::Stop;

/// Polishes the kept signs of heads that were trained together, for some passes or until nothing changes.
///
/// # Errors
/// If it is stopped, or there is not enough memory.
pub fn polish(
    heads: &mut [Head],
    visitors: &Visitors,
    examples: &Examples,
    passes: usize,
    stop: &Stop,
) -> Result<()> {
    let mut scores = Vec::new();
    if heads.len() > 1 {
        for head in &*heads {
            let no_offsets = filled(visitors.samples.len(), 0.0)?;
            scores.push(OutputState::new(head, visitors, examples, no_offsets)?.scores()?);
        }
    }
    for _ in 0..passes {
        let mut flips = 0;
        for (i, head) in heads.iter_mut().enumerate() {
            let offsets = softmax_offsets(&scores, i, visitors.samples.len())?;
            let mut output = OutputState::new(head, visitors, examples, offsets)?;
            flips += output.pass(visitors, stop)?;
            output.refit_scale()?;
            if let Some(own) = scores.get_mut(i) {
                *own = output.scores()?;
            }
            head.keep_signs(KeptSigns::new(output.w, &output.v)?, output.scale);
        }
        if flips == 0 {
            break;
        }
    }
    Ok(())
}

/// Returns −log Σ exp of the scores of the other outputs, per sample; zero if there are none.
fn softmax_offsets(scores: &[Vec<f64>], own: usize, samples: usize) -> Result<Vec<f64>> {
    let mut offsets = filled(samples, 0.0)?;
    if scores.is_empty() {
        return Ok(offsets);
    }
    for (i, offset) in offsets.iter_mut().enumerate() {
        let others = || scores.iter().enumerate().filter(|&(k, _)| k != own).map(|(_, of)| of[i]);
        let max = others().fold(f64::MIN, f64::max).min(f64::MAX);
        *offset = -max - libm::log(others().map(|score| libm::exp(score - max)).sum());
    }
    Ok(offsets)
}

/// The score of one sample and, multiplied by its weight, the loss and its derivatives.
#[derive(Clone, Copy, Default)]
struct SampleState {
    score: f64,
    loss: f64,
    slope: f64,
    curvature: f64,
}

/// One output and what it says about the samples.
struct OutputState {
    objective: Objective,
    m: usize,
    scale: Scale,
    /// Whether w is ±1.
    has_sign_w: bool,
    w: Vec<f32>,
    /// ±1, m per parameter row.
    v: Vec<f32>,
    y: Vec<f64>,
    weight: Vec<f64>,
    /// Added to each score.
    offset: Vec<f64>,
    /// L and Q of each sample.
    terms: Vec<[f64; 2]>,
    /// s, m per sample.
    sums: Vec<f32>,
    states: Vec<SampleState>,
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

impl OutputState {
    fn new(
        head: &Head,
        visitors: &Visitors,
        examples: &Examples,
        offset: Vec<f64>,
    ) -> Result<Self> {
        let (w, v) = head.kept_signs()?.unpack()?;
        let (n, m) = (visitors.samples.len(), v.len() / w.len().max(1));
        let samples = || visitors.samples.iter().map(|&sample| sample as usize);
        let mut output = Self {
            objective: head.rules.objective.smooth(),
            m,
            scale: head.kept_scale(),
            has_sign_w: head.rules.learner.w_kind() == Kind::Sign,
            y: collect(samples().map(|sample| examples.target.at(head.rules.id.output, sample)))?,
            weight: collect(samples().map(|sample| examples.weight(sample)))?,
            offset,
            terms: filled(n, [0.0; 2])?,
            sums: filled(n * m, 0.0)?,
            states: filled(n, SampleState::default())?,
            first: filled(m, 0.0)?,
            second: filled(m, 0.0)?,
            w,
            v,
        };
        output.count(visitors);
        Ok(output)
    }

    /// Computes L, Q and s of all samples.
    fn count(&mut self, visitors: &Visitors) {
        let m = self.m;
        for (row, &w) in self.w.iter().enumerate() {
            let v = &self.v[row * m..][..m];
            for &i in visitors.of(row) {
                let i = i as usize;
                self.terms[i][0] += f64::from(w);
                self.sums[i * m..][..m].iter_mut().zip(v).for_each(|(sum, v)| *sum += v);
            }
        }
        for (i, &active) in visitors.active.iter().enumerate() {
            let squares: f64 =
                self.sums[i * m..][..m].iter().map(|&s| f64::from(s) * f64::from(s)).sum();
            self.terms[i][1] = (squares - f64::from(active) * m as f64) / 2.0;
            self.rescore(i);
        }
    }

    /// Recomputes the state of a sample.
    fn rescore(&mut self, i: usize) {
        let score = self.scale.score(self.terms[i]) + self.offset[i];
        let (loss, slope) = self.objective.value_and_slope(score, self.y[i]);
        let curvature = self.objective.curvature(score, self.y[i], slope);
        let weight = self.weight[i];
        self.states[i] = SampleState {
            score,
            loss: weight * loss,
            slope: weight * slope,
            curvature: weight * curvature,
        };
    }

    /// Tries to flip every sign once, and returns the number of flips.
    fn pass(&mut self, visitors: &Visitors, stop: &Stop) -> Result<usize> {
        let mut flips = 0;
        for row in 0..self.w.len() {
            stop.check()?;
            let visitors = visitors.of(row);
            if self.has_sign_w && self.may_help_w(row, visitors) {
                flips += self.flip_if_better(row, Bit::Linear, visitors);
            }
            self.sum_derivatives(row, visitors);
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
        for &i in visitors {
            let SampleState { slope, curvature, .. } = self.states[i as usize];
            expected += slope + curvature * change / 2.0;
        }
        change * expected < 0.0
    }

    fn sum_derivatives(&mut self, row: usize, visitors: &[u32]) {
        let m = self.m;
        self.first.fill(0.0);
        self.second.fill(0.0);
        let v = &self.v[row * m..][..m];
        for &i in visitors {
            let SampleState { slope, curvature, .. } = self.states[i as usize];
            let sums = &self.sums[i as usize * m..][..m];
            let sides = self.first.iter_mut().zip(&mut self.second);
            for ((first, second), (v, sum)) in sides.zip(v.iter().zip(sums)) {
                let others = f64::from(v * sum - 1.0);
                *first += slope * others;
                *second += curvature * others * others;
            }
        }
    }

    /// Returns what a flip adds to the score of a sample.
    fn change(&self, row: usize, bit: Bit, i: usize) -> f64 {
        match bit {
            Bit::Linear => -2.0 * self.scale.alpha * f64::from(self.w[row]),
            Bit::Factor(factor) => {
                self.scale.beta * self.scale.beta * self.pairs_change(row, factor, i)
            }
        }
    }

    /// Returns what a flip adds to Q.
    fn pairs_change(&self, row: usize, factor: usize, i: usize) -> f64 {
        let others = self.v[row * self.m + factor] * self.sums[i * self.m + factor] - 1.0;
        -2.0 * f64::from(others)
    }

    /// Flips a sign if that lowers the loss, and returns the number of flips.
    fn flip_if_better(&mut self, row: usize, bit: Bit, visitors: &[u32]) -> usize {
        let mut rise = 0.0;
        for &i in visitors {
            let i = i as usize;
            let SampleState { score, loss, .. } = self.states[i];
            let changed = score + self.change(row, bit, i);
            rise += self.weight[i] * self.objective.value(changed, self.y[i]) - loss;
        }
        if rise < 0.0 {
            self.flip(row, bit, visitors);
        }
        usize::from(rise < 0.0)
    }

    fn flip(&mut self, row: usize, bit: Bit, visitors: &[u32]) {
        for &i in visitors {
            let i = i as usize;
            match bit {
                Bit::Linear => self.terms[i][0] -= 2.0 * f64::from(self.w[row]),
                Bit::Factor(factor) => {
                    self.terms[i][1] += self.pairs_change(row, factor, i);
                    self.sums[i * self.m + factor] -= 2.0 * self.v[row * self.m + factor];
                }
            }
            self.rescore(i);
        }
        match bit {
            Bit::Linear => self.w[row] = -self.w[row],
            Bit::Factor(factor) => self.v[row * self.m + factor] *= -1.0,
        }
    }

    /// Refits the scales to the signs.
    fn refit_scale(&mut self) -> Result<()> {
        let numbers = self.y.iter().zip(&self.weight).zip(&self.offset);
        let point = |(&terms, ((&y, &weight), &offset))| Point { terms, y, weight, offset };
        let points = collect(self.terms.iter().zip(numbers).map(point))?;
        self.scale = refit::scale(&points, self.objective, self.scale);
        Ok(())
    }

    /// Returns the scores of the samples, without the offsets.
    fn scores(&self) -> Result<Vec<f64>> {
        collect(self.terms.iter().map(|&terms| self.scale.score(terms)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Loss;
    use crate::training::Params;
    use crate::training::fixture::Fixture;
    use crate::training::head::HeadId;

    fn three_classes(x: &[f32]) -> f64 {
        f64::from(x[0] * x[1] > 0.1) + f64::from(x[0] + x[1] > 0.5)
    }

    fn heads(fixture: &Fixture, loss: Loss, outputs: usize) -> Result<Vec<Head>> {
        let params = || Params { m: 3, loss, ..Params::default() };
        (0..outputs)
            .map(|output| fixture.trained(HeadId { output, member: 0 }, params(), 3))
            .collect()
    }

    fn total(output: &OutputState) -> f64 {
        output.states.iter().map(|state| state.loss).sum()
    }

    #[test]
    fn every_pass_lowers_the_loss_and_keeps_exact_sums() -> Result<()> {
        let class = |x: &[f32]| f64::from(x[0] * x[1] + 0.3 * x[0] > 0.0);
        let fixture = Fixture::new(class, 2, [7, 2])?;
        let (examples, stop) = (fixture.examples(), Stop::default());
        let mut heads = heads(&fixture, Loss::Logistic, 1)?;
        let visitors = Visitors::new(&fixture.encoder, &examples, 1, &stop)?;
        let zeros = || vec![0.0; visitors.samples.len()];
        let mut output = OutputState::new(&heads[0], &visitors, &examples, zeros())?;
        let first = total(&output);
        let mut before = first;
        let mut flips = 0;
        for _ in 0..4 {
            let flipped = output.pass(&visitors, &stop)?;
            flips += flipped;
            let after = total(&output);
            assert!(if flipped > 0 { after < before } else { after <= before });
            output.refit_scale()?;
            heads[0].keep_signs(KeptSigns::new(output.w.clone(), &output.v)?, output.scale);
            let counted = OutputState::new(&heads[0], &visitors, &examples, zeros())?;
            assert_eq!(counted.terms, output.terms);
            assert_eq!(counted.sums, output.sums);
            before = total(&counted);
            assert!(before <= after);
            output = counted;
        }
        assert!(flips > 0 && before < 0.9 * first, "{flips} flips: {first} to {before}");
        Ok(())
    }

    #[test]
    fn a_flip_changes_scores_as_predicted() -> Result<()> {
        let fixture = Fixture::new(three_classes, 3, [6, 3])?;
        let (examples, stop) = (fixture.examples(), Stop::default());
        let heads = heads(&fixture, Loss::Logistic, 3)?;
        let visitors = Visitors::new(&fixture.encoder, &examples, 3, &stop)?;
        let zeros = vec![0.0; visitors.samples.len()];
        let mut output = OutputState::new(&heads[1], &visitors, &examples, zeros)?;
        for row in 0..output.w.len() {
            for bit in [Bit::Linear, Bit::Factor(0), Bit::Factor(2)] {
                let visitors = visitors.of(row);
                let predicted: Vec<f64> = visitors
                    .iter()
                    .map(|&i| {
                        output.states[i as usize].score + output.change(row, bit, i as usize)
                    })
                    .collect();
                output.flip(row, bit, visitors);
                for (&i, predicted) in visitors.iter().zip(predicted) {
                    assert!((output.states[i as usize].score - predicted).abs() < 1e-9);
                }
            }
        }
        Ok(())
    }

    #[test]
    fn the_loss_of_classes_trained_together_falls() -> Result<()> {
        let fixture = Fixture::new(three_classes, 3, [6, 2])?;
        let (examples, stop) = (fixture.examples(), Stop::default());
        let mut heads = heads(&fixture, Loss::Softmax, 3)?;
        let visitors = Visitors::new(&fixture.encoder, &examples, 3, &stop)?;
        let mut losses = Vec::new();
        for _ in 0..4 {
            let mut scores = Vec::new();
            for head in &heads {
                let zeros = vec![0.0; visitors.samples.len()];
                scores.push(OutputState::new(head, &visitors, &examples, zeros)?.scores()?);
            }
            let loss = |i: usize| {
                let all: f64 = scores.iter().map(|of| libm::exp(of[i])).sum();
                let class = examples.target.class(visitors.samples[i] as usize) as usize;
                libm::log(all) - scores[class][i]
            };
            losses.push((0..visitors.samples.len()).map(loss).sum::<f64>());
            polish(&mut heads, &visitors, &examples, 1, &stop)?;
        }
        assert!(losses.is_sorted_by(|a, b| a >= b), "{losses:?}");
        assert!(losses[3] < 0.95 * losses[0], "{losses:?}");
        Ok(())
    }
}
