//! Once a thread has scored a row, scoring another allocates nothing.
#![allow(clippy::unwrap_used, unsafe_code, missing_docs)]

use binfm::Model;
use binfm::encoding::{Binning, Encoder, EncodingParams, Matrix, Rows, Table, Truth};
use binfm::model::{Labels, Loss, Real, Scales, SignRows};
use binfm::scoring::{Scorer, Scratch};
use binfm::threads::{Stop, Threads};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// Counts what this thread allocates.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: everything is passed on to the system.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COLUMNS: usize = 5;

fn scorer(functions: usize, values: &[f32]) -> Scorer {
    let params = EncodingParams {
        bins: 20,
        tilings: 4,
        binning: Binning::Quantile,
        categorical: vec![4],
        vocabularies: BTreeMap::new(),
        min_count: 1.0,
        raw: false,
        leave_out: BTreeSet::new(),
    };
    let matrix = Matrix::new(values, COLUMNS);
    let rows = Rows { table: Table::Dense(&matrix), truth: Truth::Numbers(&[]), weight: None };
    let encoder = Encoder::fit(rows, &params, &Threads::one(), &Stop::default()).unwrap();
    let rows = encoder.rows() as usize;
    let signs = SignRows::new(rows, functions, 40, |k, r, c| (k + r * 7 + c * 3) % 5 < 2);
    let scales = Scales::new(&vec![Real { bias: 0.1, alpha: 0.2, beta_squared: 0.01 }; functions]);
    let classes = functions.max(2);
    let labels = Labels::counting(classes);
    let model = Model::new(encoder, signs, scales, Loss::Logistic, labels).unwrap();
    Scorer::new(model).unwrap()
}

#[test]
fn a_single_row_allocates_nothing() {
    let values: Vec<f32> = (0..500 * COLUMNS).map(|i| (i * 7919 % 1009) as f32).collect();
    for functions in [1, 4] {
        let scorer = scorer(functions, &values);
        let row = Matrix::new(&values[..COLUMNS], COLUMNS);
        let (threads, stop) = (Threads::one(), Stop::default());
        let score = |out: &mut [f64]| {
            let write = |terms: &[_], out: &mut [f64]| {
                out.iter_mut().enumerate().for_each(|(k, out)| *out = scorer.score(k, terms[k]));
            };
            scorer.each_row(Table::Dense(&row), &threads, &stop, out, write).unwrap();
        };
        let mut out = vec![0.0; functions];
        score(&mut out);
        let before = ALLOCATIONS.get();
        score(&mut out);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{functions} functions");
        assert!(out.iter().all(|score| *score != 0.0));
        // The way without threads.
        let mut room = Scratch::default();
        scorer.terms(Table::Dense(&row), 0..1, &mut room).unwrap();
        let before = ALLOCATIONS.get();
        let terms = scorer.terms(Table::Dense(&row), 0..1, &mut room).unwrap();
        assert_eq!(ALLOCATIONS.get() - before, 0, "{functions} functions");
        let scores = terms.iter().enumerate().map(|(k, &terms)| scorer.score(k, terms));
        assert!(scores.map(f64::to_bits).eq(out.iter().map(|score| score.to_bits())));
        assert!(scorer.terms(Table::Dense(&row), 0..2, &mut room).is_err());
    }
}
