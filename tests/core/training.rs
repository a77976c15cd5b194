//! Gradients are those of the loss, and why weights do not start at zero, as in the paper.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use binfm::kernels::{Isa, RowWeights, Sample};
use binfm::model::{Loss, Method, Weights};
use binfm::threads::{Stop, Threads};
use binfm::training::head::{FloatLearner, Learner, SignLearner};
use binfm::training::{Context, Init, Optimizer, Params, Schedule, Trained, Trainer};
use std::ops::ControlFlow;

const M: usize = 5;
const TILINGS: usize = 3;
const ROWS: usize = 14;
const STARTS: [u32; 3] = [0, 4, 9];
const RATE: f64 = 0.25;

fn proxies() -> Vec<f32> {
    let wave = |i: usize| ((i * i * 7 + 3 * i) as f32).sin() * 0.8;
    (0..ROWS * (M + 1)).map(wave).collect()
}

/// Returns w and v of all rows, as the kernels store them.
fn split(rows: &[f32]) -> RowWeights {
    let rows = rows.chunks_exact(M + 1);
    let w = rows.clone().map(|row| row[0]).collect();
    RowWeights { w, v: rows.flat_map(|row| &row[1..]).copied().collect() }
}

/// Returns w and v row by row again.
fn interleave(weights: &RowWeights) -> Vec<f32> {
    let rows = weights.w.iter().zip(weights.v.chunks_exact(M));
    rows.flat_map(|(&w, v)| [&[w], v].concat()).collect()
}

const SAMPLE: Sample = Sample { starts: &STARTS, values: &[] };

fn learner(loss: Loss, lambda_w: f64, lambda_v: f64) -> SignLearner {
    let params =
        Params { m: M, loss, optimizer: Optimizer::Sgd, lambda_w, lambda_v, ..Params::default() };
    let isa = Isa::available()[0];
    let mut learner = SignLearner::new(split(&proxies()), TILINGS, &params, isa).unwrap();
    learner.set_bias(0.3);
    learner.set_rate(RATE);
    learner
}

/// Computes the score with the active parameters as real numbers instead of signs, pair by pair.
fn relaxed_score(learner: &SignLearner, parameters: &[f64]) -> f64 {
    let scale = learner.scale();
    let active: Vec<usize> =
        STARTS.iter().flat_map(|&s| s as usize..s as usize + TILINGS).collect();
    let mut score = scale.bias;
    for (i, &row) in active.iter().enumerate() {
        score += scale.alpha * parameters[row * (M + 1)];
        for &other in &active[..i] {
            for f in 1..=M {
                score += scale.beta.powi(2)
                    * parameters[row * (M + 1) + f]
                    * parameters[other * (M + 1) + f];
            }
        }
    }
    score
}

#[test]
fn gradients_are_finite_differences_of_the_relaxed_loss() {
    for (_, loss) in Loss::NAMED {
        for y in [-1.0, 1.0] {
            let mut learner = learner(loss, 0.0, 0.0);
            let signs: Vec<f64> =
                proxies().iter().map(|&p| if p >= 0.0 { 1.0 } else { -1.0 }).collect();
            let terms = learner.terms(SAMPLE);
            let score = learner.scale().score(terms);
            assert!((score - relaxed_score(&learner, &signs)).abs() < 1e-12);
            let value = |parameters: &[f64]| loss.value(relaxed_score(&learner, parameters), y);
            let differences: Vec<f64> = (0..signs.len())
                .map(|i| {
                    let at = |step: f64| {
                        value(&[&signs[..i], &[signs[i] + step], &signs[i + 1..]].concat())
                    };
                    (at(1e-5) - at(-1e-5)) / 2e-5
                })
                .collect();
            learner.step(SAMPLE, loss.slope(score, y));
            for ((before, after), difference) in
                proxies().iter().zip(interleave(learner.proxies())).zip(differences)
            {
                let gradient = f64::from(before - after) / RATE;
                assert!(
                    (gradient - difference).abs() < 1e-5,
                    "{loss:?}: {gradient} is not {difference}"
                );
            }
        }
    }
}

/// The value of each start.
const VALUES: [f32; 3] = [0.7, -1.3, 2.0];

/// Computes the score of float weights pair by pair.
fn float_score(learner: &FloatLearner, parameters: &[f64]) -> f64 {
    let scale = learner.scale();
    let rows = |(&start, &x): (&u32, &f32)| {
        (start as usize..start as usize + TILINGS).map(move |row| (row, f64::from(x)))
    };
    let active: Vec<(usize, f64)> = STARTS.iter().zip(&VALUES).flat_map(rows).collect();
    let mut score = scale.bias;
    for (i, &(row, x)) in active.iter().enumerate() {
        score += x * parameters[row * (M + 1)];
        for &(other, y) in &active[..i] {
            for f in 1..=M {
                let pair = parameters[row * (M + 1) + f] * parameters[other * (M + 1) + f];
                score += scale.beta.powi(2) * x * y * pair;
            }
        }
    }
    score
}

#[test]
fn gradients_of_floats_are_finite_differences_of_the_loss() {
    for method in [Method::Sefm, Method::Dfm] {
        let optimizer = Optimizer::Sgd;
        let params = Params { method, m: M, optimizer, ..Params::default() };
        for isa in Isa::available() {
            let mut learner = FloatLearner::new(split(&proxies()), TILINGS, &params, isa).unwrap();
            learner.set_bias(0.3);
            learner.set_rate(RATE);
            let sign = |p: f64| if p >= 0.0 { 1.0 } else { -1.0 };
            let used: Vec<f64> = proxies()
                .iter()
                .enumerate()
                .map(|(i, &p)| {
                    let through_sign = method.has_sign_factors() && i % (M + 1) > 0;
                    if through_sign { sign(p.into()) } else { p.into() }
                })
                .collect();
            let sample = Sample { starts: &STARTS, values: &VALUES };
            let terms = learner.terms(sample);
            let score = learner.scale().score(terms);
            assert!((score - float_score(&learner, &used)).abs() < 1e-5);
            let differences: Vec<f64> = (0..used.len())
                .map(|i| {
                    let at = |step: f64| {
                        let moved = [&used[..i], &[used[i] + step], &used[i + 1..]].concat();
                        Loss::Logistic.value(float_score(&learner, &moved), 1.0)
                    };
                    (at(1e-5) - at(-1e-5)) / 2e-5
                })
                .collect();
            learner.step(sample, Loss::Logistic.slope(score, 1.0));
            for ((before, after), difference) in
                proxies().iter().zip(interleave(learner.weights())).zip(differences)
            {
                let gradient = f64::from(before - after) / RATE;
                assert!(
                    (gradient - difference).abs() < 1e-5,
                    "{method:?}: {gradient} is not {difference}"
                );
            }
        }
    }
}

#[test]
fn regularization_pulls_active_rows_as_the_paper_says() {
    let (lambda_w, lambda_v) = (0.3, 0.7);
    let mut learner = learner(Loss::Logistic, lambda_w, lambda_v);
    let scale = learner.scale();
    learner.terms(SAMPLE);
    learner.step(SAMPLE, 0.0);
    for (i, (before, after)) in proxies().iter().zip(interleave(learner.proxies())).enumerate() {
        let (row, column) = (i / (M + 1), i % (M + 1));
        let active = STARTS.iter().any(|&s| (s as usize..s as usize + TILINGS).contains(&row));
        let strength = if column == 0 { lambda_w * scale.alpha } else { lambda_v * scale.beta };
        let wanted = if active { RATE * strength * f64::from(before.signum()) } else { 0.0 };
        assert!((f64::from(before - after) - wanted).abs() < 1e-6);
    }
}

/// Trains on two features whose product decides the class; also returns the share of the positive class.
fn train_product(init: Init) -> (Trained, f64) {
    let x: Vec<f32> = (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
    let y: Vec<f64> = x.chunks_exact(2).map(|x| f64::from(x[0] * x[1] > 0.0)).collect();
    let matrix = Matrix::new(&x, 2);
    let target = Target::classes(&y, 2);
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let params = Params { m: 8, init, ..Params::default() }.check().unwrap();
    let schema = Schema::numeric(Labels::counting(2));
    let (threads, stop) = (Threads::single(), Stop::default());
    let context = Context { threads: &threads, isa: Isa::available()[0], stop: &stop };
    let schedule = Schedule::new(&params);
    let mut trainer = Trainer::new(&dataset, schema, params, context).unwrap();
    let on_epoch = &mut |_: &_| ControlFlow::Continue(());
    let trained = trainer.fit(&dataset, None, schedule, context, on_epoch).unwrap();
    (trained, y.iter().sum::<f64>() / y.len() as f64)
}

#[test]
fn the_papers_zero_init_cannot_learn_and_ours_can() {
    let (stuck, share) = train_product(Init::Zero);
    let entropy = -share * share.ln() - (1.0 - share) * (1.0 - share).ln();
    let Weights::Signs { scales, .. } = stuck.model.weights() else { panic!("not signs") };
    let real = scales.real(0);
    assert_eq!((real.alpha, real.beta_squared), (0.0, 0.0));
    let last = |trained: &Trained| trained.history.last().map_or(f64::NAN, |epoch| epoch.loss);
    assert!(last(&stuck) > 0.99 * entropy, "a constant score cannot do better");
    for init in [Init::Smooth, Init::Noise] {
        let (learned, _) = train_product(init);
        assert!(last(&learned) < 0.5 * entropy, "{init:?}: {}", last(&learned));
    }
}
