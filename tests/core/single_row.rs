//! Once a thread has scored a sample, scoring another allocates nothing.
#![allow(clippy::unwrap_used, unsafe_code, missing_docs)]

use binfm::Model;
use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target, Units};
use binfm::encoding::Encoder;
use binfm::model::{Loss, RealScale, Scales, SignRows, SignShape, Weights};
use binfm::scoring::{Scorer, Scratch};
use binfm::threads::{Stop, Threads};
use binfm::training::Params;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

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

fn scorer(outputs: usize, values: &[f32]) -> Scorer {
    let matrix = Matrix::new(values, COLUMNS);
    let labels = Labels::counting(outputs.max(2)).unwrap();
    let schema = Schema { categorical: vec![4], ..Schema::numeric(labels.clone()) };
    let target = Target::numbers(&[], None, Units::Standard).unwrap();
    let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
    let params = Params::default().encoding();
    let encoder =
        Encoder::fit(&dataset, &schema, &params, &Threads::single(), &Stop::default()).unwrap();
    let rows = encoder.rows() as usize;
    let shape = SignShape { rows, outputs, w_bits: 3, factors: 40 };
    let w = |k, r| 2 * ((k + r * 5) % 8) as i16 - 7;
    let signs = SignRows::new(shape, w, |k, r, c| (k + r * 7 + c * 3) % 5 < 2).unwrap();
    let scale = RealScale { bias: 0.1, alpha: 0.2, beta_squared: 0.01 };
    let weights = Weights::Signs { signs, scales: Scales::new(&vec![scale; outputs]).unwrap() };
    Scorer::new(Model::new(encoder, weights, Loss::Logistic, labels).unwrap()).unwrap()
}

#[test]
fn scoring_one_sample_allocates_nothing() {
    let values: Vec<f32> = (0..500 * COLUMNS).map(|i| (i * 7919 % 1009) as f32).collect();
    for outputs in [1, 4] {
        let scorer = scorer(outputs, &values);
        let sample = Matrix::new(&values[..COLUMNS], COLUMNS);
        let (threads, stop) = (Threads::single(), Stop::default());
        let score = |out: &mut [f64]| {
            scorer.scores(Table::Dense(&sample), &threads, &stop, out).unwrap();
        };
        let mut out = vec![0.0; outputs];
        score(&mut out);
        let before = ALLOCATIONS.get();
        score(&mut out);
        assert_eq!(ALLOCATIONS.get() - before, 0, "{outputs} outputs");
        assert!(out.iter().all(|score| *score != 0.0));
        // Without threads.
        let mut scratch = Scratch::default();
        scorer.terms(Table::Dense(&sample), 0, &mut scratch).unwrap();
        let before = ALLOCATIONS.get();
        let terms = scorer.terms(Table::Dense(&sample), 0, &mut scratch).unwrap();
        assert_eq!(ALLOCATIONS.get() - before, 0, "{outputs} outputs");
        let scores = (0..outputs).map(|output| terms.score(output));
        assert!(scores.map(f64::to_bits).eq(out.iter().map(|score| score.to_bits())));
        assert!(scorer.terms(Table::Dense(&sample), 1, &mut scratch).is_err());
    }
}
