//! Encoding a block of rows and tallying its active bits, with each instruction set of this CPU.
#![allow(clippy::unwrap_used, missing_docs)]

mod synthetic;

use binfm::encoding::{Active, Block, Matrix, Table};
use binfm::kernels::{self, Count, Isa, SignTable, Slot, Tally};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use synthetic::{FEATURES, encoder, numbers, scorer};

const ROWS: usize = 128;
const M: usize = 32;
const GRIDS: [u32; 2] = [1, 4];

fn encode(criterion: &mut Criterion) {
    let numbers = numbers(ROWS);
    let matrix = Matrix::new(&numbers, FEATURES);
    let mut group = criterion.benchmark_group("encode");
    group.throughput(Throughput::Elements(ROWS as u64));
    for tilings in GRIDS {
        let encoder = encoder(&numbers, tilings);
        for isa in Isa::available() {
            let (mut block, mut active) = (Block::default(), Active::default());
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| {
                    encoder.activate(isa, Table::Dense(&matrix), 0, ROWS, &mut block, &mut active);
                });
            });
        }
    }
}

fn tally(criterion: &mut Criterion) {
    let numbers = numbers(ROWS);
    let matrix = Matrix::new(&numbers, FEATURES);
    let mut group = criterion.benchmark_group("tally");
    group.throughput(Throughput::Elements(ROWS as u64));
    for tilings in GRIDS {
        let encoder = encoder(&numbers, tilings);
        let signs = signs(encoder.rows() as usize, tilings as usize);
        let mut active = Active::default();
        encoder.activate(
            Isa::detect().unwrap(),
            Table::Dense(&matrix),
            0,
            ROWS,
            &mut Block::default(),
            &mut active,
        );
        for isa in Isa::available() {
            let mut tallies = vec![Tally::default(); ROWS];
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| {
                    kernels::tally_rows(isa, &signs, &active.starts, &active.ends, &mut tallies);
                });
            });
        }
    }
}

/// From values to tallies in one go, where the model allows it.
fn look_up(criterion: &mut Criterion) {
    let numbers = numbers(ROWS);
    let mut group = criterion.benchmark_group("look up");
    group.throughput(Throughput::Elements(ROWS as u64));
    for tilings in GRIDS {
        let scorer = scorer(&numbers, tilings, M);
        let table = scorer.cell_table().unwrap();
        for isa in Isa::available() {
            let mut counts = vec![Count::default(); ROWS];
            group.bench_function(format!("tilings {tilings}, {}", isa.name()), |bencher| {
                bencher.iter(|| kernels::count_rows(isa, table, &numbers, &mut counts));
            });
        }
    }
}

/// The signs of one score function: bits without pattern.
fn signs(rows: usize, tilings: usize) -> SignTable {
    let mask = (1 << M) - 1;
    let words =
        (1..=rows as u64).map(|row| row.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 16 & mask).collect();
    SignTable {
        words,
        width: 1,
        tilings,
        slots: vec![Slot { word: 0, function: 0, mask }],
        functions: 1,
    }
}

criterion_group!(benches, encode, tally, look_up);
criterion_main!(benches);
