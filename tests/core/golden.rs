//! Files of every version give the same scores, bit for bit, on any machine: 32 bits or 64, either byte order.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::Model;
use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use binfm::kernels::Isa;
use binfm::scoring::{Scorer, Scratch};
use binfm::threads::{Stop, Threads};
use binfm::training::{Context, Params, Schedule, Trainer};
use std::fs;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let list = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders: Vec<_> = list(&golden).filter(|path| path.is_dir()).collect();
    let files = folders.iter().flat_map(|folder| list(folder));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "binfm")).collect()
}

/// Reads samples and their scores: values, an empty field, scores.
fn expected(path: &Path) -> (Vec<f32>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path.with_extension("tsv")).unwrap();
    let (mut samples, mut scores) = (vec![], vec![]);
    for line in text.lines() {
        let (values, expected) = line.split_once("\t\t").unwrap();
        samples.extend(values.split('\t').map(|value| value.parse::<f32>().unwrap()));
        scores.push(expected.split('\t').map(|score| score.parse().unwrap()).collect());
    }
    (samples, scores)
}

#[test]
fn golden_files_are_written_again_and_score_the_same_bits() {
    let files = files();
    assert!(files.len() > 10);
    for path in files {
        let bytes = fs::read(&path).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        assert!(model.to_bytes().unwrap() == bytes, "{}", path.display());
        let (samples, expected) = expected(&path);
        let table = Matrix::new(&samples, model.encoder().columns());
        let outputs = model.weights().outputs();
        let scores = scores(model, Table::Dense(&table), expected.len());
        for (i, (scores, expected)) in scores.chunks_exact(outputs).zip(&expected).enumerate() {
            let same = scores.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits()));
            assert!(same, "{} sample {i}", path.display());
        }
    }
}

/// Returns the scores of all outputs, sample by sample, in blocks and one at a time.
fn scores(model: Model, table: Table, samples: usize) -> Vec<f64> {
    let outputs = model.weights().outputs();
    let scorer = Scorer::new(model).unwrap();
    let mut scores = vec![0.0; samples * outputs];
    scorer.scores(table, &Threads::single(), &Stop::default(), &mut scores).unwrap();
    let mut scratch = Scratch::default();
    for (sample, together) in scores.chunks_exact(outputs).enumerate() {
        let terms = scorer.terms(table, sample, &mut scratch).unwrap();
        let alone = (0..outputs).map(|output| terms.score(output).to_bits());
        assert!(alone.eq(together.iter().map(|score| score.to_bits())));
    }
    scores
}

/// Numbers in [0, 1), evenly: SplitMix64 of their places, as in `tests/golden/cases.py`.
fn draws(rows: usize, columns: usize, seed: u64) -> Vec<f64> {
    let draw = |place: u64| {
        let state = place.wrapping_add(seed << 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let state = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ state >> 31) >> 11) as f64 / (1_u64 << 53) as f64
    };
    (1..=(rows * columns) as u64).map(draw).collect()
}

/// The case of that name: its table, and whether the first two numbers of a row agree.
fn case(columns: usize, seed: u64, holes: bool) -> (Vec<f64>, Vec<f64>) {
    let rows = 400;
    let mut x: Vec<f64> = draws(rows, columns, seed).iter().map(|u| 6.0 * u - 3.0).collect();
    let gone = draws(rows, columns, 3);
    let y = x.chunks_exact(columns).map(|row| f64::from(u8::from(row[0] * row[1] > 0.0))).collect();
    for (i, x) in x.iter_mut().enumerate() {
        let column = i % columns;
        if column % 3 == 2 {
            let square = *x * *x;
            *x = square * square * 50.0;
        }
        if holes {
            *x = if gone[i] < 0.15 || column == 6 { f64::NAN } else { *x };
            *x = if column == 4 { 1.5 } else { *x };
        }
    }
    (x, y)
}

/// Trains as `binfm.train` does.
fn train((x, y): &(Vec<f64>, Vec<f64>), [m, b, tilings]: [usize; 3], isa: Isa) -> Model {
    let matrix = Matrix::new(x, x.len() / y.len());
    let target = Target::classes(y, 2).unwrap();
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let params = Params { m, b, tilings, epochs: 3, ..Params::default() }.check().unwrap();
    let (threads, stop) = (Threads::single(), Stop::default());
    let context = Context { threads: &threads, isa, stop: &stop };
    let schedule = Schedule::new(&params);
    let schema = Schema::numeric(Labels::Bool);
    let mut trainer = Trainer::new(&dataset, schema, params, context).unwrap();
    let on_epoch = &mut |_: &mut _, _| ControlFlow::Continue(());
    trainer.fit(&dataset, None, schedule, context, on_epoch).unwrap().model
}

#[test]
fn training_again_gives_the_same_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/0.1.0");
    for (name, data, settings) in [
        ("binary", case(5, 1, false), [7, 9, 3]),
        ("one-grid", case(5, 1, false), [5, 12, 1]),
        ("missing", case(7, 2, true), [4, 7, 3]),
    ] {
        let golden = fs::read(folder.join(format!("{name}.binfm"))).unwrap();
        for isa in Isa::available() {
            assert!(
                train(&data, settings, isa).to_bytes().unwrap() == golden,
                "{name} {}",
                isa.name()
            );
        }
    }
}
