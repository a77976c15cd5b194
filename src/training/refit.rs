//! The best scales for given signs: bias, α and β², a small convex problem.

use super::Objective;
use super::state::Scale;

/// One sample: L and Q, its target and weight, and an offset that is added to its score.
pub struct Point {
    pub terms: [f64; 2],
    pub y: f64,
    pub weight: f64,
    pub offset: f64,
}

impl Point {
    /// Returns what bias, α and β² are multiplied by, in units of L and Q.
    fn inputs(&self, units: &[f64; 3]) -> [f64; 3] {
        [1.0, self.terms[0] / units[1], self.terms[1] / units[2]]
    }
}

/// Newton steps; the problem has three dimensions and is convex.
const STEPS: usize = 12;
/// How often a step that does not lower the loss is halved.
const HALVINGS: i32 = 12;
/// Keeps the curvature away from zero where the classes are separable.
const RIDGE: f64 = 1e-3;

/// Returns the scales of least loss, which must have a curvature. None is negative; `before` is returned if nothing better
/// is found.
pub fn scale(points: &[Point], objective: Objective, before: Scale) -> Scale {
    let unit = |term: usize| {
        let mean_square = points.iter().map(|p| p.terms[term] * p.terms[term]).sum::<f64>();
        (mean_square / points.len().max(1) as f64).sqrt().max(f64::MIN_POSITIVE)
    };
    let units = [1.0, unit(0), unit(1)];
    let begin = [before.bias, before.alpha * units[1], before.beta * before.beta * units[2]];
    let mut is_zero = [false; 3];
    let mut found = minimum(points, objective, &units, begin, is_zero);
    while let Some(negative) = (1..3).find(|&i| found[i] < 0.0) {
        is_zero[negative] = true;
        found = minimum(points, objective, &units, begin, is_zero);
    }
    if found.iter().any(|number| !number.is_finite()) {
        return before;
    }
    let [bias, alpha, beta_squared] = found;
    Scale { bias, alpha: alpha / units[1], beta: (beta_squared / units[2]).sqrt() }
}

/// Minimizes the loss, with some scales held at zero.
fn minimum(
    points: &[Point],
    objective: Objective,
    units: &[f64; 3],
    begin: [f64; 3],
    is_zero: [bool; 3],
) -> [f64; 3] {
    let mut found = begin;
    (0..3).filter(|&i| is_zero[i]).for_each(|i| found[i] = 0.0);
    for _ in 0..STEPS {
        let (mut slope, mut curvature) = derivatives(points, objective, units, &found, &begin);
        for i in (0..3).filter(|&i| is_zero[i]) {
            slope[i] = 0.0;
            (0..3).for_each(|j| (curvature[i][j], curvature[j][i]) = (0.0, 0.0));
            curvature[i][i] = 1.0;
        }
        let Some(step) = solve(curvature, slope) else { break };
        let loss = |at: &[f64; 3]| mean_loss(points, objective, units, at, &begin);
        let now = loss(&found);
        let moved = |share: f64| [0, 1, 2].map(|i| found[i] - share * step[i]);
        let shares = (0..HALVINGS).map(|halvings| libm::scalbn(1.0, -halvings));
        let Some(better) = shares.map(moved).find(|at| loss(at) < now) else { break };
        found = better;
    }
    found
}

/// Returns the mean loss, plus a small penalty on the distance from where the scales began.
fn mean_loss(
    points: &[Point],
    objective: Objective,
    units: &[f64; 3],
    at: &[f64; 3],
    begin: &[f64; 3],
) -> f64 {
    let of = |point: &Point| {
        let [_, linear, pairs] = point.inputs(units);
        let score = at[0] + at[1] * linear + at[2] * pairs + point.offset;
        point.weight * objective.value(score, point.y)
    };
    let total: f64 = points.iter().map(|point| point.weight).sum();
    let penalty: f64 = at.iter().zip(begin).map(|(at, begin)| (at - begin) * (at - begin)).sum();
    points.iter().map(of).sum::<f64>() / total + RIDGE * penalty / 2.0
}

/// Returns the first and second derivatives of [`mean_loss`].
fn derivatives(
    points: &[Point],
    objective: Objective,
    units: &[f64; 3],
    at: &[f64; 3],
    begin: &[f64; 3],
) -> ([f64; 3], [[f64; 3]; 3]) {
    let total: f64 = points.iter().map(|point| point.weight).sum();
    let mut slope = [0.0; 3];
    let mut curvature = [[0.0; 3]; 3];
    for point in points {
        let x = point.inputs(units);
        let score = point.offset + x.iter().zip(at).map(|(x, at)| x * at).sum::<f64>();
        let first = objective.slope(score, point.y);
        let second = objective.curvature(score, point.y, first);
        let weight = point.weight / total;
        for i in 0..3 {
            slope[i] += weight * first * x[i];
            (0..3).for_each(|j| curvature[i][j] += weight * second * x[i] * x[j]);
        }
    }
    for i in 0..3 {
        slope[i] += RIDGE * (at[i] - begin[i]);
        curvature[i][i] += RIDGE;
    }
    (slope, curvature)
}

/// Solves three equations by elimination; `None` if they are not independent.
fn solve(mut matrix: [[f64; 3]; 3], mut right: [f64; 3]) -> Option<[f64; 3]> {
    for i in 0..3 {
        let pivot = matrix[i][i];
        if pivot.abs() < f64::MIN_POSITIVE {
            return None;
        }
        for j in i + 1..3 {
            let share = matrix[j][i] / pivot;
            (i..3).for_each(|k| matrix[j][k] -= share * matrix[i][k]);
            right[j] -= share * right[i];
        }
    }
    let mut found = [0.0; 3];
    for i in (0..3).rev() {
        let known: f64 = (i + 1..3).map(|k| matrix[i][k] * found[k]).sum();
        found[i] = (right[i] - known) / matrix[i][i];
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Loss;

    fn of(loss: Loss) -> Objective {
        Objective { loss, quantile: 0.5, delta: 1.0 }
    }

    fn points(score: impl Fn([f64; 2]) -> f64, noise: impl Fn(usize) -> f64) -> Vec<Point> {
        (0..2000)
            .map(|i| {
                let terms = [(i * 37 % 41) as f64 - 20.0, (i * 53 % 97) as f64 - 30.0];
                let weight = 1.0 + (i % 3) as f64;
                Point { terms, y: score(terms) + noise(i), weight, offset: 0.0 }
            })
            .collect()
    }

    const BEFORE: Scale = Scale { bias: 0.0, alpha: 0.3, beta: 0.2 };

    #[test]
    fn numbers_are_fitted_by_least_squares() {
        let points = points(|[linear, pairs]| 3.0 + 0.2 * linear + 0.04 * pairs, |_| 0.0);
        let Scale { bias, alpha, beta } = scale(&points, of(Loss::Squared), BEFORE);
        assert!((bias - 3.0).abs() < 0.1 && (alpha - 0.2).abs() < 0.01, "{bias} {alpha}");
        assert!((beta * beta - 0.04).abs() < 0.01, "{beta}");
    }

    #[test]
    fn classes_are_fitted_and_no_scale_is_negative() {
        let class = |score: f64, i: usize| {
            let wrong = 1.0 / (1.0 + libm::exp(score));
            if (i * 7919 % 1000) as f64 / 1000.0 < wrong { -1.0 } else { 1.0 }
        };
        let mut rows = points(|_| 0.0, |_| 0.0);
        for (i, point) in rows.iter_mut().enumerate() {
            point.y = class(0.5 + 0.1 * point.terms[0] - 0.05 * point.terms[1], i);
        }
        let Scale { bias, alpha, beta } = scale(&rows, of(Loss::Logistic), BEFORE);
        assert!(beta.abs() < 1e-9, "pairs would need a negative scale: {beta}");
        assert!(alpha > 0.0);
        let score = |terms: [f64; 2]| bias + alpha * terms[0];
        let slope = |p: &Point| -p.y / (1.0 + libm::exp(p.y * score(p.terms))) * p.weight;
        let total: f64 = rows.iter().map(|p| p.weight).sum();
        let left: f64 = rows.iter().map(slope).sum::<f64>() / total;
        assert!(left.abs() < 2e-3, "{left}");
    }

    #[test]
    fn scales_stay_finite_without_information() {
        for points in [vec![], vec![Point { terms: [0.0; 2], y: 1.0, weight: 1.0, offset: 0.0 }]] {
            let Scale { bias, alpha, beta } = scale(&points, of(Loss::Logistic), BEFORE);
            assert!(bias.is_finite() && alpha.is_finite() && beta.is_finite());
        }
    }
}
