//! What is asked of one input.

use crate::memory::most_held;
use binfm::encoding::sparse::{Csr, Values, Whole};
use binfm::encoding::{Matrix, Table};
use binfm::model::{Model, Weights};
use binfm::scoring::{RealScorer, Scorer, Scratch};
use binfm::{Error, Result};
use std::ops::Range;

/// Bytes of memory for each byte of the file, and some for all: while it is read, with an error's text.
const LOAD: [(usize, usize); 1] = [(80, 1 << 10)];
/// Until it is ready to score. Tables of cells are there for up to 4,095 active rows.
const READY: [(usize, usize); 2] = [(512, 1 << 16), (64, 3 << 20)];
/// While rows are scored, the rows and their scores included.
const SCORE: [(usize, usize); 1] = [(2048, 1 << 16)];

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Loaded,
    /// With the reason, but for its numbers.
    Refused(String),
}

/// Load a file and score some rows; panics where anything but a refusal or sound scores comes out.
pub fn check(bytes: &[u8]) -> Verdict {
    let (model, held) = most_held(|| Model::from_bytes(bytes));
    within("load", held, bytes, &LOAD);
    let model = match model {
        Ok(model) => model,
        Err(Error::Format { offset, reason }) => {
            assert!(offset <= bytes.len(), "{reason} at {offset}, behind the end");
            return Verdict::Refused(reason.replace(|c: char| c.is_ascii_digit(), ""));
        }
        Err(other) => panic!("another error than that of the format: {other}"),
    };
    assert!(model.to_bytes() == bytes, "there is one file for each model");
    let (engine, held) = most_held(|| Engine::new(model));
    within("make ready", held, bytes, &READY);
    let engine = engine.unwrap();
    let ((), held) = most_held(|| engine.score().unwrap());
    within("score", held, bytes, &SCORE);
    Verdict::Loaded
}

/// Bytes held while a file is loaded and while it is made ready; none for the latter if it is refused.
pub fn costs(bytes: &[u8]) -> [usize; 2] {
    let (model, load) = most_held(|| Model::from_bytes(bytes));
    [load, model.map_or(0, |model| most_held(|| Engine::new(model)).1)]
}

/// All limits hold.
fn within(what: &str, held: usize, bytes: &[u8], limits: &[(usize, usize)]) {
    let most = limits.iter().map(|(each, fixed)| each * bytes.len() + fixed).min().unwrap_or(0);
    assert!(held <= most, "to {what} {} bytes took {held} bytes, more than {most}", bytes.len());
}

const STRANGE: [f32; 16] = [
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

/// Wider rows are scored one at a time only.
const WIDE: usize = 4096;

/// A model made ready to score, whatever its weights.
enum Engine {
    Bits(Scorer),
    Reals(RealScorer),
}

impl Engine {
    fn new(model: Model) -> Result<Self> {
        Ok(match model.weights() {
            Weights::Bits { .. } => Self::Bits(Scorer::new(model)?),
            Weights::Reals(_) => Self::Reals(RealScorer::new(model)?),
        })
    }

    /// Many rows, one row and a sparse table give the same.
    fn score(&self) -> Result<()> {
        let model = match self {
            Self::Bits(scorer) => scorer.model(),
            Self::Reals(scorer) => scorer.model(),
        };
        let columns = model.encoder().columns();
        let rows = if columns <= WIDE { STRANGE.len() } else { 1 };
        let value = |i: usize| STRANGE[(i / columns + i % columns * 7) % STRANGE.len()];
        let values: Vec<f32> = (0..rows * columns).map(value).collect();
        let matrix = Matrix::new(&values, columns);
        let all = self.bits(Table::Dense(&matrix), 0..rows)?;
        for (row, together) in all.chunks_exact(all.len() / rows).enumerate() {
            let alone = self.bits(Table::Dense(&matrix), row..row + 1)?;
            assert_eq!(alone, together, "row {row} alone and in company");
        }
        let ends: Vec<i64> = (0..=rows).map(|row| (row * columns) as i64).collect();
        let places: Vec<i64> = (0..rows).flat_map(|_| 0..columns as i64).collect();
        let (ends, places) = (Whole::Long(&ends), Whole::Long(&places));
        let csr = Csr::new(ends, places, Values::Single(&values), columns)?;
        assert_eq!(self.bits(Table::Csr(&csr), 0..rows)?, all, "sparse and dense");
        Ok(())
    }

    /// The scores of some rows as bits; on the way, classes and probabilities.
    fn bits(&self, table: Table, rows: Range<usize>) -> Result<Vec<u64>> {
        let (mut room, count) = (Scratch::default(), rows.len());
        let mut scores = vec![];
        match self {
            Self::Bits(scorer) => {
                let terms = scorer.terms(table, rows, &mut room)?;
                for terms in terms.chunks_exact(terms.len() / count) {
                    scores.extend(terms.iter().enumerate().map(|(k, &t)| scorer.score(k, t)));
                    let mut out = vec![0.0; terms.len().max(2)];
                    scorer.probabilities(terms, &mut out);
                    assert!(out.iter().all(|p| (0.0..=1.0).contains(p)), "{out:?}");
                    assert!(scorer.class(terms) < out.len());
                }
                assert!(!scores.iter().any(|score| score.is_nan()));
            }
            Self::Reals(scorer) => {
                let terms = scorer.terms(table, rows, &mut room)?;
                for terms in terms.chunks_exact(terms.len() / count) {
                    scores.extend(terms.iter().enumerate().map(|(k, &t)| scorer.score(k, t)));
                    let mut out = vec![0.0; terms.len().max(2)];
                    scorer.probabilities(terms, &mut out);
                    assert!(scorer.class(terms) < out.len());
                }
            }
        }
        // Float weights may be so large that a sum is none: then it is none each time.
        Ok(scores.iter().map(|x| if x.is_nan() { u64::MAX } else { (x + 0.0).to_bits() }).collect())
    }
}
