//! Joining members that were trained apart: their factors side by side, and for each w the sign of the sum, or the mean
//! where w has several bits.
//!
//! The mean of the members' scores errs less than each of them. Its pairs are Σ Q of all members, so with one β for all
//! it is a model with all their factors. Only the linear term is not: a sum of signs has more than two values. The scales
//! are those that bring the joined model closest to the mean of its members.

use super::head::{Head, REFIT_SAMPLES, spread_evenly};
use super::kept::KeptSigns;
use super::refit::{self, Point};
use super::state::Scale;
use super::{Context, Examples, Params};
use crate::memory::{collect, extend, try_collect, with_capacity};
use crate::Result;
use crate::encoding::Encoder;
use crate::kernels::Kind;
use crate::model::{Loss, RealScale};

/// What the members of one output have become.
pub struct Joined {
    /// ±1, or numbers that are still to be rounded.
    pub w: Vec<f32>,
    /// In the units of the target.
    pub scale: RealScale,
}

/// Joins the members of one output, each of which has `m` factors.
///
/// # Errors
/// If it is stopped.
pub fn join(
    heads: &[&Head],
    m: usize,
    encoder: &Encoder,
    examples: &Examples,
    context: Context,
) -> Result<Joined> {
    let members = try_collect(heads.iter().map(|head| Member::of(head)))?;
    let share = 1.0 / members.len() as f64;
    let mean = |of: &dyn Fn(&Member) -> f64| members.iter().map(of).sum::<f64>() * share;
    let rows = 0..encoder.rows() as usize;
    let sums = collect(rows.map(|row| mean(&|member| member.scale.alpha * member.w(row))))?;
    let (w, alpha) = match heads.first().map(|head| head.rules.learner.w_kind()) {
        Some(Kind::Float) => (collect(sums.iter().map(|&sum| sum as f32))?, 1.0),
        _ => signs_of(&sums)?,
    };
    let before = Scale {
        bias: mean(&|member| member.scale.bias),
        alpha,
        beta: (mean(&|member| member.scale.beta * member.scale.beta) * share).sqrt(),
    };
    let mut active = Active::new(encoder.tilings());
    let samples = spread_evenly(&examples.samples, REFIT_SAMPLES)?;
    let mut points = with_capacity(samples.len())?;
    for sample in samples {
        context.stop.check()?;
        active.read(examples, sample as usize)?;
        let (mut score, mut pairs) = (0.0, 0.0);
        for member in &members {
            let terms = [active.sum(|row| member.w(row)), active.pairs(member, m)];
            score += member.scale.score(terms) * share;
            pairs += terms[1];
        }
        let terms = [active.sum(|row| f64::from(w[row])), pairs];
        let weight = examples.weight(sample as usize);
        points.push(Point { terms, y: score, weight, offset: 0.0 });
    }
    let squared = Params { loss: Loss::Squared, ..Params::default() }.objective();
    let scale = refit::scale(&points, squared, before);
    let in_units = |member: &&Head| member.in_target_units(scale);
    Ok(Joined { w, scale: heads.first().map_or(scale.real(), in_units) })
}

/// Returns the signs of some numbers, and their mean size.
fn signs_of(numbers: &[f64]) -> Result<(Vec<f32>, f64)> {
    let signs = collect(numbers.iter().map(|&number| if number >= 0.0 { 1.0 } else { -1.0 }))?;
    let size = numbers.iter().map(|number| number.abs()).sum::<f64>();
    Ok((signs, size / numbers.len().max(1) as f64))
}

/// The kept signs and scales of a member.
struct Member<'a> {
    signs: &'a KeptSigns,
    scale: Scale,
}

impl<'a> Member<'a> {
    fn of(head: &'a Head) -> Result<Self> {
        Ok(Self { signs: head.kept_signs()?, scale: head.kept_scale() })
    }

    fn w(&self, row: usize) -> f64 {
        self.signs.w()[row].into()
    }
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

    fn read(&mut self, examples: &Examples, sample: usize) -> Result<()> {
        examples.table.starts_of(sample, &mut self.starts)?;
        self.rows.clear();
        let tilings = self.tilings;
        let starts = self.starts.iter().map(|&start| start as usize);
        extend(&mut self.rows, starts.flat_map(|start| start..start + tilings))
    }

    /// Returns the sum of a number of each row.
    fn sum(&self, number: impl Fn(usize) -> f64) -> f64 {
        self.rows.iter().map(|&row| number(row)).sum()
    }

    /// Returns Q of a member with m factors.
    fn pairs(&self, member: &Member, m: usize) -> f64 {
        let squares: f64 = (0..m)
            .map(|factor| {
                let sum = self.sum(|row| sign(member.signs.v(row * m + factor)));
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
        let all: Vec<&Head> = heads.iter().collect();
        let Joined { w, scale } = join(&all, M, encoder, &examples, context)?;
        let members: Vec<Member> = heads.iter().map(Member::of).collect::<Result<_>>()?;
        let mut active = Active::new(encoder.tilings());
        let (mut error, mut spread, mut single) = (0.0, 0.0, 0.0);
        for sample in 0..2000 {
            active.read(&examples, sample)?;
            let score = |member: &Member| {
                let terms = [active.sum(|row| member.w(row)), active.pairs(member, M)];
                member.scale.score(terms)
            };
            let all: Vec<f64> = members.iter().map(score).collect();
            let mean = all.iter().sum::<f64>() / 5.0;
            let pairs: f64 = members.iter().map(|member| active.pairs(member, M)).sum();
            let joined =
                scale.bias + scale.alpha * active.sum(|row| w[row].into()) + scale.beta_squared * pairs;
            error += (joined - mean) * (joined - mean);
            spread += mean * mean;
            single += (all[0] - mean) * (all[0] - mean);
        }
        assert!(error < 0.05 * spread, "{error} of {spread}");
        assert!(error < 0.5 * single, "{error}, and a single member {single}");
        Ok(())
    }
}
