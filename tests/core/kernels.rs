//! Every instruction set against the portable definition, and that against a naive one, on awkward lengths.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::kernels::lookup::{CELLS, LEVELS, Part, Searched, tree};
use binfm::kernels::{self, CellTable, Count, Isa, Pull, SignTable, Slot, Tally};
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

/// A model of `features` numeric features with random bits, `cells` cells each, of which two score functions share an octet.
fn cell_table(
    features: usize,
    cells: usize,
    tilings: u32,
    next: &mut impl FnMut() -> u64,
) -> CellTable {
    let bits = |most: u32| (32 - most.leading_zeros()) as usize;
    let cell_planes = bits(tilings);
    let searched = |i: usize, next: &mut dyn FnMut() -> u64| {
        let mut edges: Vec<i32> = (1..cells).map(|_| next() as i32).collect();
        if i == 0 && cells > 1 {
            edges[0] = 0;
        }
        edges.sort_unstable();
        // Every third column is not in use.
        Searched { column: i + i / 2, tree: tree(&edges) }
    };
    let searched: Vec<Searched> = (0..features).map(|i| searched(i, next)).collect();
    let mut octets = vec![vec![Part { function: 0, mask: 0x0f }, Part { function: 1, mask: 0x70 }]];
    octets.extend((0..9).map(|_| vec![Part { function: 2, mask: u8::MAX }]));
    octets.push(vec![Part { function: 2, mask: 0x1f }]);
    // Counts of a cell are below 2^planes; those of random planes too.
    let planes = bits(features as u32 * ((1 << cell_planes) - 1));
    CellTable {
        columns: features + features / 2 + 1,
        cell_planes,
        planes,
        factors: (0..octets.len() * features * cell_planes * CELLS).map(|_| next() as u8).collect(),
        linear: (0..3 * features * CELLS)
            .map(|_| (next() % u64::from(tilings + 1)) as u8)
            .collect(),
        features: searched,
        octets,
        functions: 3,
    }
}

#[test]
fn rows_are_looked_up_alike_on_every_tier() {
    for (features, cells, tilings) in [
        (0, 1, 1),
        (1, 2, 1),
        (2, 32, 1),
        (7, 17, 4),
        (8, 24, 2),
        (9, 25, 7),
        (22, 20, 4),
        (31, 32, 7),
        (90, 16, 1),
    ] {
        for rows in [0, 1, 7, 8, 9, 31, 32, 33, 65] {
            let mut next = noise((features * 1000 + cells * 10 + rows) as u64);
            let table = cell_table(features, cells, tilings, &mut next);
            // Any bits at all: NaN, infinities, denormals, and zeros of both signs among them.
            let awkward = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 1e-45, -1e-45];
            let mut value = || match next() % 64 {
                i if i < 7 => awkward[i as usize],
                _ => Some(f32::from_bits(next() as u32)).filter(|x| !x.is_nan()).unwrap_or(1.0),
            };
            let values: Vec<f32> = (0..rows * table.columns).map(|_| value()).collect();
            let run = |isa: Isa| {
                let (mut counts, mut skipped) = (vec![Count::default(); rows * 3], Vec::new());
                kernels::count_rows(isa, &table, &values, &mut counts, &mut skipped);
                let counted = |row: &usize| !skipped.contains(row);
                let counts: Vec<_> = (0..rows)
                    .filter(counted)
                    .map(|row| counts[3 * row..3 * row + 3].to_vec())
                    .collect();
                (counts, skipped)
            };
            let defined = run(portable());
            for isa in Isa::available() {
                assert_eq!(
                    run(isa),
                    defined,
                    "{} with {features} features, {rows} rows",
                    isa.name()
                );
            }
        }
    }
}

#[test]
fn the_tree_counts_edges() {
    let mut next = noise(3);
    for count in 0..CELLS {
        let mut edges: Vec<i32> = (0..count).map(|_| next() as i32 / 2).collect();
        edges.sort_unstable();
        let tree = tree(&edges);
        for key in edges.iter().flat_map(|&e| [e - 1, e, e + 1]).chain([i32::MIN, -5, 7]) {
            let down = |node, first| 2 * node + usize::from(key > tree[first + node]);
            assert_eq!(
                LEVELS.into_iter().fold(0, down),
                edges.iter().filter(|&&e| e <= key).count()
            );
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
