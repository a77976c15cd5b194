//! Joining members that were trained apart: their factors side by side, and for each w the sign of the sum.
//!
//! The mean of the members' scores errs less than each of them. Its pairs are Σ Q of all members, so with one β for all
//! it is a model with all their factors. Only the linear term is not: a sum of signs has more than two values. The scales
//! are those that bring the joined model closest to the mean of its members.

use super::head::{Head, REFIT_SAMPLES, Scale, SignLearner};
use super::refit::{self, Point};
use super::{Context, Examples};
use crate::Result;
use crate::encoding::Encoder;
use crate::model::RealScale;

/// What the members of one output have become.
pub struct Joined {
    /// Whether each w is +1.
    pub w: Vec<bool>,
    /// In the units of the target.
    pub scale: RealScale,
}

/// Joins the members of one output, each of which has `m` factors.
///
/// # Errors
/// If it is stopped.
pub fn join(
    members: &[&Head<SignLearner>],
    m: usize,
    encoder: &Encoder,
    examples: &Examples,
    context: Context,
) -> Result<Joined> {
    let share = 1.0 / members.len() as f64;
    let mean = |of: &dyn Fn(&Head<SignLearner>) -> f64| {
        members.iter().map(|&member| of(member)).sum::<f64>() * share
    };
    let sums: Vec<f64> = (0..encoder.rows() as usize)
        .map(|row| mean(&|member| member.kept_scale().alpha * sign(member.kept_w(row))))
        .collect();
    let w: Vec<bool> = sums.iter().map(|&sum| sum >= 0.0).collect();
    let before = Scale {
        bias: mean(&|member| member.kept_scale().bias),
        alpha: sums.iter().map(|sum| sum.abs()).sum::<f64>() / sums.len().max(1) as f64,
        beta: (mean(&|member| member.kept_scale().beta * member.kept_scale().beta) * share).sqrt(),
    };
    let samples = examples.weighted_samples();
    let mut active = Active::new(encoder.tilings());
    let mut points = Vec::new();
    for &sample in samples.iter().step_by((samples.len() / REFIT_SAMPLES).max(1)) {
        context.stop.check()?;
        active.read(examples, sample as usize);
        let (mut score, mut pairs) = (0.0, 0.0);
        for &member in members {
            let terms = [active.linear(|row| member.kept_w(row)), active.pairs(member, m)];
            score += member.kept_scale().score(terms) * share;
            pairs += terms[1];
        }
        let terms = [active.linear(|row| w[row]), pairs];
        let weight = examples.weight(sample as usize);
        points.push(Point { terms, y: score, weight, offset: 0.0 });
    }
    let scale = refit::scale(&points, true, before);
    let in_units = |member: &&Head<SignLearner>| member.in_target_units(scale);
    Ok(Joined { w, scale: members.first().map_or(scale.real(), in_units) })
}

/// The parameter rows that a sample activates.
struct Active {
    tilings: usize,
    starts: Vec<u32>,
    rows: Vec<usize>,
}

impl Active {
    fn new(tilings: u32) -> Self {
        Self { tilings: tilings as usize, starts: Vec::new(), rows: Vec::new() }
    }

    fn read(&mut self, examples: &Examples, sample: usize) {
        examples.table.starts_of(sample, &mut self.starts);
        self.rows.clear();
        let tilings = self.tilings;
        self.rows
            .extend(self.starts.iter().flat_map(|&start| start as usize..start as usize + tilings));
    }

    /// Returns L.
    fn linear(&self, is_positive: impl Fn(usize) -> bool) -> f64 {
        self.rows.iter().map(|&row| sign(is_positive(row))).sum()
    }

    /// Returns Q of a head with m factors.
    fn pairs(&self, head: &Head<SignLearner>, m: usize) -> f64 {
        let squares: f64 = (0..m)
            .map(|factor| {
                let sum = self.linear(|row| head.kept_v(row * m + factor));
                sum * sum
            })
            .sum();
        (squares - (self.rows.len() * m) as f64) / 2.0
    }
}

fn sign(is_positive: bool) -> f64 {
    if is_positive { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::threads::{Stop, Threads};
    use crate::training::Params;
    use crate::training::fixture::Fixture;
    use crate::training::head::HeadId;

    const M: usize = 4;

    #[test]
    fn the_joined_model_says_what_its_members_say_on_average() -> Result<()> {
        let class = |x: &[f32]| f64::from(x[0] * x[1] + 0.3 * x[0] > 0.0);
        let fixture = Fixture::new(class, 2, [12, 3])?;
        let (encoder, examples) = (&fixture.encoder, fixture.examples());
        let (threads, stop) = (Threads::single(), Stop::default());
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        let mut heads = Vec::new();
        for member in 0..5 {
            let params = Params { m: M, ..Params::default() };
            heads.push(fixture.trained(HeadId { output: 0, member }, params, 8)?);
        }
        let members: Vec<&Head<SignLearner>> = heads.iter().collect();
        let Joined { w, scale } = join(&members, M, encoder, &examples, context)?;
        let mut active = Active::new(encoder.tilings());
        let (mut error, mut spread, mut single) = (0.0, 0.0, 0.0);
        for sample in 0..2000 {
            active.read(&examples, sample);
            let score = |member: &&Head<SignLearner>| {
                let terms = [active.linear(|row| member.kept_w(row)), active.pairs(member, M)];
                member.kept_scale().score(terms)
            };
            let all: Vec<f64> = members.iter().map(score).collect();
            let mean = all.iter().sum::<f64>() / 5.0;
            let pairs: f64 = members.iter().map(|member| active.pairs(member, M)).sum();
            let joined =
                scale.bias + scale.alpha * active.linear(|row| w[row]) + scale.beta_squared * pairs;
            error += (joined - mean) * (joined - mean);
            spread += mean * mean;
            single += (all[0] - mean) * (all[0] - mean);
        }
        assert!(error < 0.05 * spread, "{error} of {spread}");
        assert!(error < 0.5 * single, "{error}, and a single member {single}");
        Ok(())
    }
}
