//! Files of every version score the same bits, on whatever machine this runs: 32 bits or 64, low byte first or last.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::Model;
use binfm::encoding::{Matrix, Table};
use binfm::scoring::{Scorer, Scratch};
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
        let (scorer, mut room) = (Scorer::new(model), Scratch::default());
        let all = 0..expected.len();
        let terms = scorer.terms(Table::Dense(&table), all, &mut room).unwrap();
        let functions = terms.len() / expected.len();
        for (i, (terms, expected)) in terms.chunks_exact(functions).zip(&expected).enumerate() {
            let scores =
                terms.iter().enumerate().map(|(k, &terms)| scorer.score(k, terms).to_bits());
            assert!(scores.eq(expected.iter().map(|x| x.to_bits())), "{} row {i}", path.display());
        }
    }
}
