//! Scoring a table, and one row, with the instruction set in use (`BINFM_ISA` chooses another).
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use binfm::encoding::{Matrix, Table};
use binfm::kernels::Isa;
use binfm::scoring::Scorer;
use binfm::threads::{Stop, Threads};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synthetic::{FEATURES, numbers, scorer};

const ROWS: usize = 100_000;
const M: usize = 32;

fn score(criterion: &mut Criterion) {
    let numbers = numbers(ROWS);
    let mut group = criterion.benchmark_group(format!("score, {}", Isa::detect().unwrap().name()));
    group.sample_size(20);
    for tilings in [1, 4] {
        let scorer = scorer(&numbers, tilings, M);
        for (rows, threads) in [(1, Some(1)), (ROWS, Some(1)), (ROWS, None)] {
            let threads = Threads::new(threads).unwrap();
            group.throughput(Throughput::Elements(rows as u64));
            let name = format!("tilings {tilings}, rows {rows}, threads {}", threads.count());
            let mut scores = vec![0.0; rows];
            group.bench_function(name, |bencher| {
                bencher.iter(|| {
                    score_all(&scorer, &numbers[..rows * FEATURES], &threads, &mut scores);
                });
            });
        }
    }
}

fn score_all(scorer: &Scorer, numbers: &[f32], threads: &Threads, scores: &mut [f64]) {
    let matrix = Matrix::new(numbers, FEATURES);
    let write = |terms: &[_], out: &mut [f64]| out[0] = scorer.score(0, terms[0]);
    scorer.each_row(Table::Dense(&matrix), threads, &Stop::default(), scores, write).unwrap();
}

criterion_group!(benches, score);
criterion_main!(benches);
