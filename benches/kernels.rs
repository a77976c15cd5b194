//! Encoding a block of samples and tallying its active bits, with each instruction set of this CPU.
#![allow(clippy::unwrap_used, clippy::unreachable, missing_docs)]

mod synthetic;

use binfm::data::{Matrix, Table};
use binfm::encoding::{ActiveRows, EncodeScratch};
use binfm::kernels::{self, Count, Isa, Samples, SignTable, Slot, Tally};
use binfm::scoring::Scorer;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synthetic::{FEATURES, encoder, numbers, scorer};

const SAMPLES: usize = 128;
const M: usize = 32;
const TILINGS: [usize; 2] = [1, 4];

fn encode(criterion: &mut Criterion) {
    let numbers = numbers(SAMPLES);
    let matrix = Matrix::new(&numbers, FEATURES);
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    for tilings in TILINGS {
        let encoder = encoder(&numbers, tilings);
        for isa in Isa::available() {
            let (mut scratch, mut active) = (EncodeScratch::default(), ActiveRows::default());
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| {
                    let table = Table::Dense(&matrix);
                    encoder.encode(isa, table, 0..SAMPLES, &mut scratch, &mut active).unwrap();
                });
            });
        }
    }
}

fn tally(criterion: &mut Criterion) {
    let numbers = numbers(SAMPLES);
    let matrix = Matrix::new(&numbers, FEATURES);
    let mut group = criterion.benchmark_group("tally");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    for tilings in TILINGS {
        let encoder = encoder(&numbers, tilings);
        let signs = signs(encoder.rows() as usize, tilings);
        let (isa, table) = (Isa::detect().unwrap(), Table::Dense(&matrix));
        let mut active = ActiveRows::default();
        encoder.encode(isa, table, 0..SAMPLES, &mut EncodeScratch::default(), &mut active).unwrap();
        for isa in Isa::available() {
            let samples = Samples { starts: &active.starts, ends: &active.ends };
            let mut tallies = vec![Tally::default(); SAMPLES];
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| {
                    kernels::tally_samples(isa, &signs, samples, &mut tallies);
                });
            });
        }
    }
}

/// From values to counts, where the model allows it.
fn look_up(criterion: &mut Criterion) {
    let numbers = numbers(SAMPLES);
    let mut group = criterion.benchmark_group("look up");
    group.throughput(Throughput::Elements(SAMPLES as u64));
    for tilings in TILINGS {
        let scorer = scorer(&numbers, tilings, [1, M]);
        let Scorer::Sign(scorer) = &scorer else { unreachable!() };
        let table = scorer.cell_table().unwrap();
        for isa in Isa::available() {
            let mut counts = vec![Count::default(); SAMPLES];
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| kernels::count_samples(isa, table, &numbers, &mut counts));
            });
        }
    }
}

/// The signs of one output: bits without pattern.
fn signs(rows: usize, tilings: usize) -> SignTable {
    let mask = (1 << M) - 1;
    let words =
        (1..=rows as u64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16 & mask).collect();
    SignTable {
        words,
        width: 1,
        tilings,
        slots: vec![Slot { word: 0, output: 0, mask }],
        outputs: 1,
    }
}

criterion_group!(benches, encode, tally, look_up);
criterion_main!(benches);
