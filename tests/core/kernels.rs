//! Every instruction set against the portable definition, and that against a naive one, on awkward lengths.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::kernels::{self, Isa, Pull, SignTable, Slot, Tally};
use proptest::prelude::*;

const LENGTHS: [usize; 16] = [0, 1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200];

/// Numbers that look random and are the same on every run.
fn noise(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed ^ 0x1234_5678_9abc_def1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

fn portable() -> Isa {
    Isa::available()[0]
}

#[test]
fn the_portable_tier_is_always_there_and_first() {
    assert_eq!(portable().name(), "portable");
    let names: Vec<_> = Isa::available().iter().map(|isa| isa.name()).collect();
    println!("tiers tested here: {names:?}");
}

#[test]
fn cells_are_counted_edges() {
    for isa in Isa::available() {
        for keys in LENGTHS {
            for edges in [0, 1, 2, 7, 19, 47, 48, 49, 300] {
                let mut next = noise((keys * 1000 + edges) as u64);
                let keys: Vec<i32> = (0..keys).map(|_| next() as i32 >> 8).collect();
                let mut edges: Vec<i32> = (0..edges).map(|_| next() as i32 >> 8).collect();
                edges.sort_unstable();
                let mut cells = vec![7; keys.len()];
                kernels::count_edges(isa, &keys, &edges, &mut cells);
                let naive =
                    keys.iter().map(|key| edges.iter().filter(|edge| *edge <= key).count() as u32);
                assert!(cells.iter().copied().eq(naive), "{} {} keys", isa.name(), keys.len());
            }
        }
    }
}

/// Σ c and Σ c² column by column.
fn naive_tally(table: &SignTable, starts: &[u32], slot: &Slot) -> Tally {
    let mut tally = Tally::default();
    for bit in (0..64).filter(|bit| slot.mask >> bit & 1 == 1) {
        let rows = starts.iter().flat_map(|&s| s as usize..s as usize + table.tilings);
        let count = rows
            .filter(|row| table.words[row * table.width + slot.word] >> bit & 1 == 1)
            .count() as u64;
        tally.sum += count;
        tally.squares += count * count;
    }
    tally
}

#[test]
fn tallies_are_counts() {
    for isa in Isa::available() {
        for active in LENGTHS {
            for tilings in [1, 2, 3, 4, 7] {
                let mut next = noise((active * 10 + tilings) as u64);
                let rows = 50;
                let slots = vec![
                    Slot { word: 0, function: 0, mask: 0xffff },
                    Slot { word: 0, function: 1, mask: 0xffff << 16 },
                    Slot { word: 1, function: 2, mask: u64::MAX },
                ];
                let words = (0..rows * 2).map(|_| next()).collect();
                let table = SignTable { words, width: 2, tilings, slots, functions: 3 };
                let starts: Vec<u32> =
                    (0..2 * active).map(|_| next() as u32 % (rows - tilings) as u32).collect();
                let mut tallies = vec![Tally { sum: 9, squares: 9 }; 6];
                kernels::tally_rows(
                    isa,
                    &table,
                    &starts,
                    &[active as u32, 2 * active as u32],
                    &mut tallies,
                );
                for (row, starts) in [&starts[..active], &starts[active..]].iter().enumerate() {
                    for slot in &table.slots {
                        let naive = naive_tally(&table, starts, slot);
                        assert_eq!(
                            tallies[row * 3 + slot.function],
                            naive,
                            "{} active {active}",
                            isa.name()
                        );
                    }
                }
            }
        }
    }
}

fn proxies(next: &mut impl FnMut() -> u64, count: usize) -> Vec<f32> {
    (0..count).map(|_| (next() as i32 as f32) / 1.6e9).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn training_has_the_same_bits_on_every_tier(
        m in 1_usize..70, tilings in 1_usize..9, active in 0_usize..20, seed in any::<u64>(),
    ) {
        let mut next = noise(seed);
        let (columns, rows) = (m + 1, 40);
        let before = proxies(&mut next, rows * columns);
        let squares: Vec<f32> = proxies(&mut next, rows * columns).iter().map(|x| x.abs()).collect();
        // As in a row of data, no parameter row is active twice.
        let starts: Vec<u32> = (0..active.min(rows / tilings)).map(|i| (i * tilings) as u32).collect();
        let tile = tilings * columns;
        let pull = Pull { base: proxies(&mut next, tile), own: proxies(&mut next, tile), rate: 0.02, epsilon: 1e-8 };
        let run = |isa: Isa| {
            let (mut adagrad, mut sgd, mut squares) = (before.clone(), before.clone(), squares.clone());
            let mut sums = vec![5.0; tile];
            kernels::sum_signs(isa, &before, columns, &starts, &mut sums);
            kernels::adagrad(isa, &mut adagrad, &mut squares, columns, &starts, &pull);
            kernels::sgd(isa, &mut sgd, columns, &starts, &pull);
            [bits(&sums), bits(&adagrad), bits(&squares), bits(&sgd)]
        };
        let defined = run(portable());
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &defined, "{}", isa.name());
        }
    }
}
