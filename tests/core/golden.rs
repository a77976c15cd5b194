//! Files of every version score the same bits, on whatever machine this runs: 32 bits or 64, low byte first or last.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::Model;
use binfm::encoding::{Matrix, Table};
use binfm::model::Weights;
use binfm::scoring::{RealScorer, Scorer, Scratch};
use std::fs;
use std::path::{Path, PathBuf};

fn files() -> Vec<PathBuf> {
    let list = |folder: &Path| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden");
    let folders: Vec<_> = list(&golden).filter(|path| path.is_dir()).collect();
    let files = folders.iter().flat_map(|folder| list(folder));
    files.filter(|path| path.extension().is_some_and(|extension| extension == "binfm")).collect()
}

/// Rows and their scores: values, an empty field, scores.
fn expected(path: &Path) -> (Vec<f32>, Vec<Vec<f64>>) {
    let text = fs::read_to_string(path.with_extension("tsv")).unwrap();
    let (mut rows, mut scores) = (vec![], vec![]);
    for line in text.lines() {
        let (values, expected) = line.split_once("\t\t").unwrap();
        rows.extend(values.split('\t').map(|value| value.parse::<f32>().unwrap()));
        scores.push(expected.split('\t').map(|score| score.parse().unwrap()).collect());
    }
    (rows, scores)
}

#[test]
fn golden_files_are_written_again_and_score_the_same_bits() {
    let files = files();
    assert!(files.len() > 10);
    for path in files {
        let bytes = fs::read(&path).unwrap();
        let model = Model::from_bytes(&bytes).unwrap();
        assert!(model.to_bytes() == bytes, "{}", path.display());
        let (rows, expected) = expected(&path);
        let table = Matrix::new(&rows, model.encoder().columns());
        let functions = model.weights().functions();
        let scores = scores(model, Table::Dense(&table), expected.len());
        for (i, (scores, expected)) in scores.chunks_exact(functions).zip(&expected).enumerate() {
            let same = scores.iter().map(|x| x.to_bits()).eq(expected.iter().map(|x| x.to_bits()));
            assert!(same, "{} row {i}", path.display());
        }
    }
}

/// The scores of all functions, row by row.
fn scores(model: Model, table: Table, rows: usize) -> Vec<f64> {
    let functions = model.weights().functions();
    let mut room = Scratch::default();
    if matches!(model.weights(), Weights::Bits { .. }) {
        let scorer = Scorer::new(model).unwrap();
        let terms = scorer.terms(table, 0..rows, &mut room).unwrap();
        return terms.iter().enumerate().map(|(i, &t)| scorer.score(i % functions, t)).collect();
    }
    let scorer = RealScorer::new(model).unwrap();
    let terms = scorer.terms(table, 0..rows, &mut room).unwrap();
    terms.iter().enumerate().map(|(i, &t)| scorer.score(i % functions, t)).collect()
}
