//! Scoring a table, and one sample, with the instruction set in use (`BINFM_ISA` chooses another).
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use binfm::data::{Matrix, Table};
use binfm::kernels::Isa;
use binfm::scoring::Scorer;
use binfm::threads::{Stop, Threads, count};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synthetic::{FEATURES, numbers, scorer};

const SAMPLES: usize = 100_000;
const M: usize = 32;

fn score(criterion: &mut Criterion) {
    let numbers = numbers(SAMPLES);
    let mut group = criterion.benchmark_group(format!("score, {}", Isa::detect().unwrap().name()));
    group.sample_size(20);
    for (tilings, w_bits) in [(1, 1), (4, 1), (4, 8)] {
        let scorer = scorer(&numbers, tilings, [w_bits, M]);
        for (samples, n_jobs) in [(1, Some(1)), (SAMPLES, Some(1)), (SAMPLES, None)] {
            let threads = Threads::new(n_jobs).unwrap();
            group.throughput(Throughput::Elements(samples as u64));
            let count = count(n_jobs).unwrap();
            let name =
                format!("tilings {tilings}, w_bits {w_bits}, samples {samples}, threads {count}");
            let mut scores = vec![0.0; samples];
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    score_all(&scorer, &numbers[..samples * FEATURES], &threads, &mut scores);
                });
            });
        }
    }
}

fn score_all(scorer: &Scorer, numbers: &[f32], threads: &Threads, scores: &mut [f64]) {
    let matrix = Matrix::new(numbers, FEATURES);
    scorer.scores(Table::Dense(&matrix), threads, &Stop::default(), scores).unwrap();
}

criterion_group!(benches, score);
criterion_main!(benches);
