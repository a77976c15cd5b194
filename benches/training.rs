//! One epoch of training on one thread, with each instruction set of this CPU.
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use binfm::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use binfm::kernels::Isa;
use binfm::threads::{Stop, Threads};
use binfm::training::{Context, Params, Schedule, Trained, Trainer};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use std::ops::ControlFlow;
use synthetic::{FEATURES, numbers};

const SAMPLES: usize = 10_000;

fn epoch(criterion: &mut Criterion) {
    let numbers = numbers(SAMPLES);
    let matrix = Matrix::new(&numbers, FEATURES);
    let dataset = Dataset { table: Table::Dense(&matrix), target: target(&numbers), weight: None };
    let (threads, stop) = (Threads::single(), Stop::default());
    let mut group = criterion.benchmark_group("epoch");
    group.sample_size(10);
    for tilings in [1, 4] {
        // The work of a sample: its active rows times their factors.
        let factors = FEATURES * tilings * Params::default().m;
        group.throughput(Throughput::Elements((SAMPLES * factors) as u64));
        for isa in Isa::available() {
            let context = Context { threads: &threads, isa, stop: &stop };
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter_batched(
                    || trainer(&dataset, tilings, context),
                    |trainer| one_epoch(trainer, &dataset, context),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

fn trainer(dataset: &Dataset, tilings: usize, context: Context) -> Trainer {
    let params = Params { tilings, ..Params::default() }.check().unwrap();
    Trainer::new(dataset, Schema::numeric(Labels::counting(2).unwrap()), params, context).unwrap()
}

/// Encodes the samples and makes one pass over them.
fn one_epoch(mut trainer: Trainer, dataset: &Dataset, context: Context) -> Trained {
    let schedule = Schedule { epochs: 1, ..Schedule::new(&Params::default()) };
    let on_epoch = &mut |_: &mut _, _| ControlFlow::Continue(());
    trainer.fit(dataset, None, schedule, context, on_epoch).unwrap()
}

/// Two classes by the sign of a product, which no linear model can learn.
fn target(numbers: &[f32]) -> Target {
    let class = |x: &[f32]| u32::from((x[0] - 0.5) * (x[1] - 0.5) > 0.0);
    Target::Classes { of: numbers.chunks_exact(FEATURES).map(class).collect(), classes: 2 }
}

criterion_group!(benches, epoch);
criterion_main!(benches);
