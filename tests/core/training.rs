//! Gradients are those of the loss, and why weights do not start at zero, as in the paper.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use binfm::aligned::Aligned;
use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use binfm::kernels::{Batch, Isa, RowWeights, Touched, Visits};
use binfm::model::{Loss, Method, Weights};
use binfm::threads::{Stop, Threads};
use binfm::training::learner::{Learner, Pace, Workspace};
use binfm::training::state::State;
use binfm::training::{Context, Init, Optimizer, Params, Schedule, Trained, Trainer, TrainingSet};
use std::ops::ControlFlow;

const M: usize = 5;
const TILINGS: usize = 3;
const ROWS: usize = 14;
const RATE: f64 = 0.25;
const PACE: Pace = Pace { rate: RATE, holds_linear: false };
/// Two samples in cells that start here. The second cell is shared, and overlaps the first.
const STARTS: [&[u32]; 2] = [&[0, 2, 9], &[2, 5]];
/// The values of raw features.
const VALUES: [&[f32]; 2] = [&[0.7, -1.3, 2.0], &[-0.4, 1.1]];
/// The same, cell by cell.
const TOUCHED: [Touched; 4] = [
    Touched { start: 0, end: 1 },
    Touched { start: 2, end: 3 },
    Touched { start: 5, end: 4 },
    Touched { start: 9, end: 5 },
];
const VISITORS: [u32; 5] = [0, 0, 1, 1, 0];
const VISITOR_VALUES: [f32; 5] = [0.7, -1.3, -0.4, 1.1, 2.0];

fn batch(has_values: bool) -> Batch<'static> {
    let values = |values: &'static [f32]| if has_values { values } else { &[] };
    Batch {
        touched: &TOUCHED,
        by_sample: Visits { of: &[0, 1, 3, 1, 2], values: values(&[0.7, -1.3, 2.0, -0.4, 1.1]) },
        ends: &[3, 5],
        active: &[3, 2],
        by_cell: Visits { of: &VISITORS, values: values(&VISITOR_VALUES) },
    }
}

fn proxies() -> Vec<f32> {
    let wave = |i: usize| ((i * i * 7 + 3 * i) as f32).sin() * 0.8;
    (0..ROWS * (M + 1)).map(wave).collect()
}

/// Returns w and v of all rows, as the kernels store them.
fn split(rows: &[f32]) -> RowWeights {
    let rows = rows.chunks_exact(M + 1);
    let w = rows.clone().map(|row| row[0]).collect();
    let v: Vec<f32> = rows.flat_map(|row| &row[1..]).copied().collect();
    RowWeights { w, v: Aligned::copied(&v).unwrap() }
}

/// Returns w and v row by row again.
fn interleave(weights: &RowWeights) -> Vec<f32> {
    let rows = weights.w.iter().zip(weights.v.chunks_exact(M));
    rows.flat_map(|(&w, v)| [&[w], v].concat()).collect()
}

fn start(params: Params, isa: Isa) -> (Learner, State) {
    let params = Params { m: M, optimizer: Optimizer::Sgd, ..params };
    let learner = Learner::new(&params, TILINGS, None, isa);
    let mut state = State::new(split(&proxies()), params.optimizer).unwrap();
    learner.refresh(&mut state);
    state.scale.bias = 0.3;
    (learner, state)
}

/// Computes the score of a sample with the parameters as real numbers instead of signs, pair by pair.
fn relaxed_score(state: &State, parameters: &[f64], sample: usize, has_values: bool) -> f64 {
    let rows = |(&start, &x): (&u32, &f32)| {
        let x = if has_values { f64::from(x) } else { 1.0 };
        (start as usize..start as usize + TILINGS).map(move |row| (row, x))
    };
    let active: Vec<(usize, f64)> =
        STARTS[sample].iter().zip(VALUES[sample]).flat_map(rows).collect();
    let mut score = state.scale.bias;
    for (i, &(row, x)) in active.iter().enumerate() {
        score += state.scale.alpha * x * parameters[row * (M + 1)];
        for &(other, y) in &active[..i] {
            for f in 1..=M {
                let pair = parameters[row * (M + 1) + f] * parameters[other * (M + 1) + f];
                score += state.scale.beta.powi(2) * x * y * pair;
            }
        }
    }
    score
}

/// Compares a step of both samples with finite differences of the sum of their losses.
fn check_gradients(params: Params, isa: Isa, y: [f64; 2], has_values: bool) {
    let (method, loss) = (params.method, params.objective());
    let (learner, mut state) = start(params, isa);
    let sign = |p: f64| if p >= 0.0 { 1.0 } else { -1.0 };
    let is_sign = |i: usize| match method {
        Method::Bfm => true,
        Method::Dfm => !i.is_multiple_of(M + 1),
        Method::Sefm | Method::Fm => false,
    };
    let values = proxies().into_iter().map(f64::from).enumerate();
    let used: Vec<f64> = values.map(|(i, p)| if is_sign(i) { sign(p) } else { p }).collect();
    let mut workspace = Workspace::default();
    learner.forward(&state, batch(has_values), &mut workspace).unwrap();
    let scores: Vec<f64> =
        workspace.terms().iter().map(|&terms| state.scale.score(terms)).collect();
    for (sample, score) in scores.iter().enumerate() {
        assert!((score - relaxed_score(&state, &used, sample, has_values)).abs() < 1e-5);
    }
    // A row that two cells of a sample share interacts with itself; the gradient takes it as two rows.
    let total = |parameters: &[f64]| -> f64 {
        (0..2).map(|i| loss.value(relaxed_score(&state, parameters, i, has_values), y[i])).sum()
    };
    let difference = |i: usize| {
        let at = |step: f64| total(&[&used[..i], &[used[i] + step], &used[i + 1..]].concat());
        (at(1e-5) - at(-1e-5)) / 2e-5
    };
    let differences: Vec<f64> = (0..used.len()).map(difference).collect();
    let slopes: Vec<f32> = scores.iter().zip(y).map(|(&s, y)| loss.slope(s, y) as f32).collect();
    learner.backward(&mut state, batch(has_values), &slopes, PACE, &mut workspace).unwrap();
    let after = interleave(&state.weights);
    for ((before, after), difference) in proxies().iter().zip(after).zip(differences) {
        let gradient = f64::from(before - after) / RATE;
        assert!(
            (gradient - difference).abs() < 2e-5 * difference.abs().max(1.0),
            "{method:?}, {loss:?}: {gradient} is not {difference}"
        );
    }
}

#[test]
fn gradients_are_finite_differences_of_the_relaxed_loss() {
    for (_, loss) in Loss::NAMED {
        for y in [[-1.0, 1.0], [1.0, 1.0]] {
            let params = Params { loss, ..Params::default() };
            check_gradients(params, Isa::available()[0], y, false);
        }
    }
}

#[test]
fn gradients_of_floats_are_finite_differences_of_the_loss() {
    for method in [Method::Sefm, Method::Dfm] {
        for isa in Isa::available() {
            for has_values in [false, true] {
                let params = Params { method, ..Params::default() };
                check_gradients(params, isa, [1.0, -1.0], has_values);
            }
        }
    }
}

#[test]
fn regularization_pulls_active_rows_as_the_paper_says() {
    let (lambda_w, lambda_v) = (0.3, 0.7);
    let params = Params { lambda_w, lambda_v, ..Params::default() };
    let (learner, mut state) = start(params, Isa::available()[0]);
    let scale = state.scale;
    let mut workspace = Workspace::default();
    learner.forward(&state, batch(false), &mut workspace).unwrap();
    learner.backward(&mut state, batch(false), &[0.0; 2], PACE, &mut workspace).unwrap();
    for (i, (before, after)) in proxies().iter().zip(interleave(&state.weights)).enumerate() {
        let (row, column) = (i / (M + 1), i % (M + 1));
        let covers = |&&start: &&u32| (start as usize..start as usize + TILINGS).contains(&row);
        let visits = STARTS.concat().iter().filter(covers).count() as f64;
        let strength = if column == 0 { lambda_w * scale.alpha } else { lambda_v * scale.beta };
        let wanted = visits * RATE * strength * f64::from(before.signum());
        assert!((f64::from(before - after) - wanted).abs() < 1e-6);
    }
}

/// Trains on two features whose product decides the class; also returns the share of the positive class.
fn train_product(init: Init) -> (Trained, f64) {
    let x: Vec<f32> = (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
    let y: Vec<f64> = x.chunks_exact(2).map(|x| f64::from(x[0] * x[1] > 0.0)).collect();
    let matrix = Matrix::new(&x, 2);
    let target = Target::classes(&y, 2).unwrap();
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let params = Params { m: 8, init, ..Params::default() }.check().unwrap();
    let schema = Schema::numeric(Labels::counting(2).unwrap());
    let (threads, stop) = (Threads::single(), Stop::default());
    let context = Context { threads: &threads, isa: Isa::available()[0], stop: &stop };
    let schedule = Schedule::new(&params);
    let mut trainer = Trainer::new(&dataset, schema, params, context).unwrap();
    let on_epoch = &mut |_: &mut _, _| ControlFlow::Continue(());
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

#[test]
fn a_training_set_gives_the_models_of_separate_trainers() {
    let x: Vec<f32> = (0..2000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
    let y: Vec<f64> = x.chunks_exact(2).map(|x| f64::from(x[0] * x[1] > 0.0)).collect();
    let weight: Vec<f64> = (0..y.len()).map(|i| (i % 4) as f64).collect();
    let (matrix, target) = (Matrix::new(&x, 2), Target::classes(&y, 2).unwrap());
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: Some(&weight) };
    let schema = || Schema::numeric(Labels::counting(2).unwrap());
    let (threads, stop) = (Threads::single(), Stop::default());
    let context = Context { threads: &threads, isa: Isa::available()[0], stop: &stop };
    let valid = |params: Params| Params { epochs: 3, ..params }.check().unwrap();
    let encoding = Params::default().encoding();
    let set = TrainingSet::new(&dataset, schema(), encoding, context).unwrap();
    let shared = |params: Params| {
        let params = valid(params);
        let schedule = Schedule::new(&params);
        set.fit(params, schedule, context, &mut |_, _| ControlFlow::Continue(())).map(|t| t.model)
    };
    let alone = |params: Params| {
        let params = valid(params);
        let schedule = Schedule::new(&params);
        let mut trainer = Trainer::new(&dataset, schema(), params, context).unwrap();
        let on_epoch = &mut |_: &mut _, _| ControlFlow::Continue(());
        trainer.fit(&dataset, None, schedule, context, on_epoch).unwrap().model
    };
    for dropout in [0.0, 0.3] {
        for (m, ensemble, holdout) in [(3, 1, 0.0), (8, 2, 0.0), (8, 1, 0.2)] {
            let params = || Params { m, ensemble, holdout, dropout, ..Params::default() };
            assert!(
                shared(params()).unwrap().to_bytes().unwrap()
                    == alone(params()).to_bytes().unwrap()
            );
        }
    }
    let refused = shared(Params { b: 9, ..Params::default() }).unwrap_err().to_string();
    assert!(refused.starts_with("params must have the encoding of the training set"), "{refused}");
}
