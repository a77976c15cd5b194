//! The checks on one input.

use crate::memory::peak_bytes;
use binfm::data::{Csr, CsrIndices, CsrValues, Matrix, Table};
use binfm::model::{Model, Weights};
use binfm::scoring::{SampleTerms, Scorer, Scratch};
use binfm::threads::{Stop, Threads};
use binfm::{Error, Result};

/// A limit on memory: bytes per byte of the file, plus a constant number of bytes.
type Limit = (usize, usize);

/// Limit for loading a file, including the text of an error.
const LOAD: [Limit; 1] = [(80, 1 << 10)];
/// Limits for preparing a model for scoring. Lookup tables are built for up to 4,095 active rows.
const PREPARE: [Limit; 2] = [(512, 1 << 16), (64, 3 << 20)];
/// Limit for scoring, including the samples and their scores.
const SCORE: [Limit; 1] = [(2048, 1 << 16)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Loaded,
    /// The reason, with digits removed so that similar errors count as one.
    Rejected(String),
}

/// Loads a file and scores a few samples; panics unless the file is rejected or every check on the scores passes.
pub fn check(bytes: &[u8]) -> Verdict {
    let (model, peak) = peak_bytes(|| Model::from_bytes(bytes));
    assert_within("load", peak, bytes, &LOAD);
    let model = match model {
        Ok(model) => model,
        Err(Error::Format { offset, reason }) => {
            assert!(offset <= bytes.len(), "{reason}: offset {offset} is past the end");
            return Verdict::Rejected(reason.replace(|c: char| c.is_ascii_digit(), ""));
        }
        Err(other) => panic!("expected a format error, got: {other}"),
    };
    assert!(model.to_bytes().unwrap() == bytes, "saving the model must reproduce the file");
    let (scorer, peak) = peak_bytes(|| Scorer::new(model));
    assert_within("prepare", peak, bytes, &PREPARE);
    let scorer = scorer.unwrap();
    let ((), peak) = peak_bytes(|| check_scores(&scorer).unwrap());
    assert_within("score", peak, bytes, &SCORE);
    Verdict::Loaded
}

/// Returns the peak memory of loading a file and of preparing it for scoring; the latter is 0 if it is rejected.
pub fn memory_costs(bytes: &[u8]) -> [usize; 2] {
    let (model, load) = peak_bytes(|| Model::from_bytes(bytes));
    [load, model.map_or(0, |model| peak_bytes(|| Scorer::new(model)).1)]
}

/// Checks the peak memory of a step against all of its limits.
fn assert_within(step: &str, peak: usize, bytes: &[u8], limits: &[Limit]) {
    let limit =
        limits.iter().map(|(per_byte, fixed)| per_byte * bytes.len() + fixed).min().unwrap_or(0);
    let size = bytes.len();
    assert!(peak <= limit, "{step}: {peak} bytes for a file of {size}, limit {limit}");
}

/// Values that often go wrong: not finite, signed zeros, subnormal, huge.
const EDGE_CASES: [f32; 16] = [
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    0.0,
    -0.0,
    1e-45,
    -1e-45,
    f32::MAX,
    f32::MIN,
    1.0,
    2.0,
    -1.5,
    255.0,
    4_294_967_040.0,
    -9.223_372e18,
    0.7,
];

/// Models with more columns than this score a single sample instead of one per edge case.
const MAX_COLUMNS: usize = 4096;

/// Checks that scoring in blocks, one sample at a time and from a sparse table gives the same scores.
fn check_scores(scorer: &Scorer) -> Result<()> {
    let columns = scorer.model().encoder().columns();
    let samples = if columns <= MAX_COLUMNS { EDGE_CASES.len() } else { 1 };
    let value = |i: usize| EDGE_CASES[(i / columns + i % columns * 7) % EDGE_CASES.len()];
    let values: Vec<f32> = (0..samples * columns).map(value).collect();
    let matrix = Matrix::new(&values, columns);
    let all = scores(scorer, Table::Dense(&matrix))?;
    let mut scratch = Scratch::default();
    for (sample, in_block) in all.chunks_exact(all.len() / samples).enumerate() {
        let terms = scorer.terms(Table::Dense(&matrix), sample, &mut scratch)?;
        let alone: Vec<u64> = (0..in_block.len()).map(|output| bits(terms.score(output))).collect();
        assert_eq!(alone, in_block, "scores of sample {sample} alone and in a block differ");
    }
    let ends: Vec<i64> = (0..=samples).map(|sample| (sample * columns) as i64).collect();
    let indices: Vec<i64> = (0..samples).flat_map(|_| 0..columns as i64).collect();
    let (ends, indices) = (CsrIndices::I64(&ends), CsrIndices::I64(&indices));
    let csr = Csr::new(ends, indices, CsrValues::F32(&values), columns)?;
    assert_eq!(scores(scorer, Table::Csr(&csr))?, all, "sparse and dense scores differ");
    Ok(())
}

/// Returns the scores of all samples as bits, checking classes and probabilities on the way.
fn scores(scorer: &Scorer, table: Table) -> Result<Vec<u64>> {
    let outputs = scorer.model().weights().outputs();
    let is_signs = matches!(scorer.model().weights(), Weights::Signs { .. });
    let mut scores = vec![0; table.samples() * outputs];
    let write = |terms: SampleTerms, out: &mut [u64]| {
        for (output, out) in out.iter_mut().enumerate() {
            assert!(!is_signs || !terms.score(output).is_nan());
            *out = bits(terms.score(output));
        }
        let mut probabilities = vec![0.0; outputs.max(2)];
        terms.write_probabilities(&mut probabilities);
        let are_valid = probabilities.iter().all(|p| (0.0..=1.0).contains(p));
        assert!(!is_signs || are_valid, "{probabilities:?}");
        assert!(terms.class() < probabilities.len());
    };
    scorer.each_sample(table, &Threads::single(), &Stop::default(), &mut scores, write)?;
    Ok(scores)
}

/// Maps a score to comparable bits. Float weights can be so large that a sum is NaN; any NaN equals any other, and 0.0
/// equals -0.0.
fn bits(score: f64) -> u64 {
    if score.is_nan() { u64::MAX } else { (score + 0.0).to_bits() }
}
