//! Members that were trained apart become one machine: their factors side by side, and of each w the sign of the sum.
//!
//! The mean of the members' scores errs less than each of them. It has Σ Q of all members as its pairs, so with one β
//! for all it is a machine with all their factors. Only the linear term is not: a sum of signs has more than two values.
//! The scales are those with which the joined machine comes closest to the mean of its members.

use super::machine::REFIT_SAMPLE;
use super::refit::{self, Point};
use super::{Examples, Machine, Scale};
use crate::Result;
use crate::encoding::Encoder;
use crate::model::Real;
use crate::threads::Stop;

/// The signs of w and the scales of what several members have become.
pub struct Joined {
    /// Whether w is +1.
    pub w: Vec<bool>,
    /// In the units of the target.
    pub scale: Real,
}

/// Join the members of one score function, each of which has `m` factors.
///
/// # Errors
/// If it is stopped.
pub fn join(
    members: &[&Machine],
    m: usize,
    encoder: &Encoder,
    examples: &Examples,
    stop: &Stop,
) -> Result<Joined> {
    let share = 1.0 / members.len() as f64;
    let mean =
        |of: &dyn Fn(&Machine) -> f64| members.iter().map(|&one| of(one)).sum::<f64>() * share;
    let sums: Vec<f64> = (0..encoder.rows() as usize)
        .map(|row| mean(&|one| one.kept_scale().alpha * sign(one.kept_w(row))))
        .collect();
    let w: Vec<bool> = sums.iter().map(|&sum| sum >= 0.0).collect();
    let before = Scale {
        bias: mean(&|one| one.kept_scale().bias),
        alpha: sums.iter().map(|sum| sum.abs()).sum::<f64>() / sums.len().max(1) as f64,
        beta: (mean(&|one| one.kept_scale().beta * one.kept_scale().beta) * share).sqrt(),
    };
    let rows = examples.counted_rows();
    let mut active = Active::new(encoder.tilings());
    let mut points = Vec::new();
    for &row in rows.iter().step_by((rows.len() / REFIT_SAMPLE).max(1)) {
        stop.check()?;
        active.read(examples, row as usize);
        let (mut score, mut pairs) = (0.0, 0.0);
        for &one in members {
            let terms = [active.linear(|row| one.kept_w(row)), active.pairs(one, m)];
            score += one.kept_scale().score(terms) * share;
            pairs += terms[1];
        }
        let terms = [active.linear(|row| w[row]), pairs];
        let weight = examples.weight(row as usize);
        points.push(Point { terms, y: score, weight, offset: 0.0 });
    }
    let scale = refit::scale(&points, true, before);
    Ok(Joined { w, scale: members.first().map_or(scale.real(), |one| one.in_units(scale)) })
}

/// The parameter rows that a row of data activates.
struct Active {
    tilings: usize,
    starts: Vec<u32>,
    rows: Vec<usize>,
}

impl Active {
    fn new(tilings: u32) -> Self {
        Self { tilings: tilings as usize, starts: Vec::new(), rows: Vec::new() }
    }

    fn read(&mut self, examples: &Examples, row: usize) {
        examples.cells.starts_of(row, &mut self.starts);
        self.rows.clear();
        let tilings = self.tilings;
        self.rows
            .extend(self.starts.iter().flat_map(|&start| start as usize..start as usize + tilings));
    }

    /// L
    fn linear(&self, is_positive: impl Fn(usize) -> bool) -> f64 {
        self.rows.iter().map(|&row| sign(is_positive(row))).sum()
    }

    /// Q of a machine with m factors.
    fn pairs(&self, machine: &Machine, m: usize) -> f64 {
        let squares: f64 = (0..m)
            .map(|factor| {
                let sum = self.linear(|row| machine.kept_v(row * m + factor));
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
    use crate::training::Params;
    use crate::training::example::Example;
    use crate::training::machine::Seat;

    const M: usize = 4;

    #[test]
    fn the_joined_machine_says_what_its_members_say_on_average() -> Result<()> {
        let class = |row: &[f32]| f64::from(row[0] * row[1] + 0.3 * row[0] > 0.0);
        let example = Example::new(class, 2, [12, 3])?;
        let (encoder, examples, stop) = (&example.encoder, example.examples(), Stop::default());
        let params = Params { m: M, ..Params::default() };
        let mut machines = Vec::new();
        for member in 0..5 {
            machines.push(example.trained(Seat { function: 0, member }, &params, 8)?);
        }
        let members: Vec<&Machine> = machines.iter().collect();
        let Joined { w, scale } = join(&members, M, encoder, &examples, &stop)?;
        let mut active = Active::new(encoder.tilings());
        let (mut apart, mut spread, mut alone) = (0.0, 0.0, 0.0);
        for row in 0..2000 {
            active.read(&examples, row);
            let said = |one: &&Machine| {
                let terms = [active.linear(|row| one.kept_w(row)), active.pairs(one, M)];
                one.kept_scale().score(terms)
            };
            let all: Vec<f64> = members.iter().map(said).collect();
            let mean = all.iter().sum::<f64>() / 5.0;
            let pairs: f64 = members.iter().map(|one| active.pairs(one, M)).sum();
            let joined =
                scale.bias + scale.alpha * active.linear(|row| w[row]) + scale.beta_squared * pairs;
            apart += (joined - mean) * (joined - mean);
            spread += mean * mean;
            alone += (all[0] - mean) * (all[0] - mean);
        }
        assert!(apart < 0.05 * spread, "{apart} of {spread}");
        assert!(apart < 0.5 * alone, "{apart}, and a member {alone}");
        Ok(())
    }
}
