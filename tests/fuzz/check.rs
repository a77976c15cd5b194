//! What is asked of one input.

use crate::memory::most_held;
use binfm::encoding::sparse::{Csr, Values, Whole};
use binfm::encoding::{Matrix, Table};
use binfm::model::{Model, Weights};
use binfm::scoring::{RealScorer, Scorer, Scratch};
use binfm::{Error, Result};

/// Bytes of memory for each byte of the file while it is read, and some for an error's text.
pub const LOAD: (usize, usize) = (128, 1 << 10);
/// The same until it is ready to score: tables of cells have a size of their own.
pub const READY: (usize, usize) = (512, 1 << 16);

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Loaded,
    /// With the reason, but for its numbers.
    Refused(String),
}

/// Load a file and score some rows; panics where anything but a refusal or sound scores comes out.
pub fn check(bytes: &[u8]) -> Verdict {
    let (model, held) = most_held(|| Model::from_bytes(bytes));
    within("load", held, bytes, LOAD);
    let model = match model {
        Ok(model) => model,
        Err(Error::Format { offset, reason }) => {
            assert!(offset <= bytes.len(), "{reason} at {offset}, behind the end");
            return Verdict::Refused(reason.replace(|c: char| c.is_ascii_digit(), ""));
        }
        Err(other) => panic!("another error than that of the format: {other}"),
    };
    assert!(model.to_bytes() == bytes, "there is one file for each model");
    let (scorer, held) = most_held(|| Ready::new(model).unwrap());
    within("make ready", held, bytes, READY);
    score(&scorer).unwrap();
    Verdict::Loaded
}

fn within(what: &str, held: usize, bytes: &[u8], (each, fixed): (usize, usize)) {
    let most = each * bytes.len() + fixed;
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

/// A scorer of bits or of floats.
enum Ready {
    Bits(Scorer),
    Reals(RealScorer),
}

/// L and Q of one row and function: a whole number each, or the bits of a float.
type Pair = [u64; 2];

impl Ready {
    fn new(model: Model) -> Result<Self> {
        match model.weights() {
            Weights::Bits { .. } => Scorer::new(model).map(Self::Bits),
            Weights::Reals(_) => RealScorer::new(model).map(Self::Reals),
        }
    }

    fn model(&self) -> &Model {
        match self {
            Self::Bits(scorer) => scorer.model(),
            Self::Reals(scorer) => scorer.model(),
        }
    }

    /// The terms of some rows, after a look at the scores, classes and probabilities that they make.
    fn terms(&self, table: Table, rows: std::ops::Range<usize>) -> Result<Vec<Pair>> {
        let (labels, mut room) = (self.model().labels().len(), Scratch::default());
        let functions = self.model().weights().functions();
        match self {
            Self::Bits(scorer) => {
                let all = scorer.terms(table, rows, &mut room)?;
                for terms in all.chunks_exact(functions) {
                    let mut out = vec![0.0; labels.max(functions)];
                    scorer.probabilities(terms, &mut out);
                    let scores = terms.iter().enumerate().map(|(k, &t)| scorer.score(k, t));
                    look_at(scorer.class(terms), scores, &out);
                }
                Ok(all.iter().map(|t| [t.linear as u64, t.pairs as u64]).collect())
            }
            Self::Reals(scorer) => {
                let all = scorer.terms(table, rows, &mut room)?;
                for terms in all.chunks_exact(functions) {
                    let mut out = vec![0.0; labels.max(functions)];
                    scorer.probabilities(terms, &mut out);
                    let scores = terms.iter().enumerate().map(|(k, &t)| scorer.score(k, t));
                    look_at(scorer.class(terms), scores, &out);
                }
                Ok(all.iter().map(|t| [t.linear.to_bits(), t.pairs.to_bits()]).collect())
            }
        }
    }
}

/// Many rows, one row and a sparse table give the same.
fn score(scorer: &Ready) -> Result<()> {
    let columns = scorer.model().encoder().columns();
    let rows = if columns <= WIDE { STRANGE.len() } else { 1 };
    let value = |i: usize| STRANGE[(i / columns + i % columns * 7) % STRANGE.len()];
    let values: Vec<f32> = (0..rows * columns).map(value).collect();
    let matrix = Matrix::new(&values, columns);
    let all = scorer.terms(Table::Dense(&matrix), 0..rows)?;
    let functions = all.len() / rows;
    for (row, together) in all.chunks_exact(functions).enumerate() {
        let alone = scorer.terms(Table::Dense(&matrix), row..row + 1)?;
        assert_eq!(alone, together, "row {row} alone and in company");
    }
    let ends: Vec<i64> = (0..=rows).map(|row| (row * columns) as i64).collect();
    let places: Vec<i64> = (0..rows).flat_map(|_| 0..columns as i64).collect();
    let csr = Csr::new(Whole::Long(&ends), Whole::Long(&places), Values::Single(&values), columns)?;
    assert_eq!(scorer.terms(Table::Csr(&csr), 0..rows)?, all, "sparse and dense");
    Ok(())
}

fn look_at(class: usize, mut scores: impl Iterator<Item = f64>, probabilities: &[f64]) {
    assert!(class < probabilities.len().max(2));
    assert!(scores.all(f64::is_finite));
    assert!(probabilities.iter().all(|p| (0.0..=1.0).contains(p)), "{probabilities:?}");
}
