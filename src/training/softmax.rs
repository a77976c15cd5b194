//! The score functions of all classes under training together: each learns from what the others say of the same row.

use super::{Examples, Machine};
use crate::Result;
use crate::threads::Stop;

/// A pass of one machine a class, as [`Machine::epoch`] is one of a single machine.
///
/// # Errors
/// If it is stopped.
pub fn epoch(
    machines: &mut [Machine],
    share: f64,
    examples: &Examples,
    order: &[u32],
    valid: Option<&Examples>,
    stop: &Stop,
) -> Result<(f64, Option<f64>)> {
    let mut scores = vec![0.0; machines.len()];
    let (mut total, mut weights) = (0.0, 0.0);
    for machine in &mut *machines {
        machine.begin_pass(share);
    }
    for row in examples.visits(order) {
        stop.check()?;
        for (score, machine) in scores.iter_mut().zip(&mut *machines) {
            *score = machine.look(examples, row);
        }
        let (class, weight) = (examples.targets.class(row) as usize, examples.weight(row));
        total += loss_and_slopes(&mut scores, class) * weight;
        weights += weight;
        for (slope, machine) in scores.iter().zip(&mut *machines) {
            machine.learn(examples, row, slope * weight);
        }
    }
    for machine in &mut *machines {
        machine.end_pass(examples, order, stop)?;
    }
    let held_out = valid.map(|valid| mean_loss(machines, valid, stop)).transpose()?;
    Ok((total / weights, held_out))
}

fn mean_loss(machines: &mut [Machine], examples: &Examples, stop: &Stop) -> Result<f64> {
    let mut scores = vec![0.0; machines.len()];
    let (mut total, mut weights) = (0.0, 0.0);
    for &row in &examples.rows {
        stop.check()?;
        let row = row as usize;
        for (score, machine) in scores.iter_mut().zip(&mut *machines) {
            *score = machine.score(examples, row);
        }
        let class = examples.targets.class(row) as usize;
        total += loss_and_slopes(&mut scores, class) * examples.weight(row);
        weights += examples.weight(row);
    }
    Ok(total / weights)
}

/// Scores beyond are as good as this: two that are infinite would have no difference.
const LOUDEST: f64 = 1e300;

/// log Σ exp(s) − s of the right class; its slopes take the place of the scores.
fn loss_and_slopes(scores: &mut [f64], class: usize) -> f64 {
    for score in &mut *scores {
        *score = score.clamp(-LOUDEST, LOUDEST);
    }
    let most = scores.iter().fold(f64::NEG_INFINITY, |most, &score| most.max(score));
    let right = scores[class] - most;
    let sum: f64 = scores.iter().map(|score| libm::exp(score - most)).sum();
    for score in &mut *scores {
        *score = libm::exp(*score - most) / sum;
    }
    scores[class] -= 1.0;
    libm::log(sum) - right
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_the_loss() {
        let scores = [1.3, -0.4, 700.0, 699.5];
        let loss = |mut scores: [f64; 4]| loss_and_slopes(&mut scores, 3);
        let mut slopes = scores;
        loss_and_slopes(&mut slopes, 3);
        assert!(slopes.iter().sum::<f64>().abs() < 1e-12);
        assert!(loss([f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, 0.0]).is_finite());
        for i in 0..scores.len() {
            let moved = |by: f64| {
                let mut moved = scores;
                moved[i] += by;
                loss(moved)
            };
            let measured = (moved(1e-5) - moved(-1e-5)) / 2e-5;
            assert!((measured - slopes[i]).abs() < 1e-6, "{i}: {measured} {}", slopes[i]);
        }
    }
}
