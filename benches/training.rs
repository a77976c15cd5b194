//! One epoch of training on one thread, with each instruction set of this CPU.
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use binfm::encoding::{Cells, Encoder, Matrix, Table};
use binfm::kernels::Isa;
use binfm::model::Labels;
use binfm::threads::{Stop, Threads};
use binfm::training::{Epoch, Examples, Params, Run, Targets, Trained, train};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::ops::ControlFlow;
use synthetic::{FEATURES, encoder, numbers};

const ROWS: usize = 10_000;

fn epoch(criterion: &mut Criterion) {
    let numbers = numbers(ROWS);
    let targets = targets(&numbers);
    let mut group = criterion.benchmark_group("epoch");
    group.sample_size(10);
    for tilings in [1, 4] {
        let encoder = encoder(&numbers, tilings);
        let table = Table::Dense(&Matrix::new(&numbers, FEATURES));
        let cells =
            Cells::new(&encoder, Isa::detect().unwrap(), table, &Threads::one(), &Stop::default())
                .unwrap();
        let examples = Examples::all(&cells, &targets, None);
        // A row's work is its active rows times their factors.
        let factors = FEATURES * tilings as usize * Params::default().m;
        group.throughput(Throughput::Elements((ROWS * factors) as u64));
        for isa in Isa::available() {
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter_batched(
                    || encoder.clone(),
                    |e| one_epoch(e, &examples, isa),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

fn one_epoch(encoder: Encoder, examples: &Examples, isa: Isa) -> Trained {
    let params = Params { epochs: 1, ..Params::default() };
    let run = Run { threads: &Threads::one(), isa, stop: &Stop::default() };
    let go_on = &mut |_: &Epoch| ControlFlow::Continue(());
    train(encoder, examples, None, Labels::counting(2), &params, run, go_on).unwrap()
}

/// Two classes by the sign of a product: nothing a linear model could learn.
fn targets(numbers: &[f32]) -> Targets {
    let class = |row: &[f32]| u32::from((row[0] - 0.5) * (row[1] - 0.5) > 0.0);
    Targets::Classes { of: numbers.chunks_exact(FEATURES).map(class).collect(), classes: 2 }
}

criterion_group!(benches, epoch);
criterion_main!(benches);
