//! Every instruction set against the portable definition, and that against a naive one, on awkward lengths.
#![allow(clippy::unwrap_used, clippy::float_cmp, clippy::needless_range_loop, missing_docs)]

use binfm::kernels::lookup::{CELLS, NAN, Part, Searched, Tree};
use binfm::kernels::{
    self, CellTable, Count, FloatGradient, FloatRows, Isa, RowWeights, Sample, Samples,
    SignGradient, SignTable, Slot, Tally,
};
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
    let here: Vec<_> = Isa::available().iter().map(|isa| isa.name()).collect();
    for name in Isa::NAMES {
        println!(
            "{name}: {}",
            if here.contains(name) { "tested" } else { "skipped, not supported by this CPU" }
        );
    }
    assert!(here.iter().all(|name| Isa::NAMES.contains(name)));
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
                    Slot { word: 0, output: 0, mask: 0xffff },
                    Slot { word: 0, output: 1, mask: 0xffff << 16 },
                    Slot { word: 1, output: 2, mask: u64::MAX },
                ];
                let words = (0..rows * 2).map(|_| next()).collect();
                let table = SignTable { words, width: 2, tilings, slots, outputs: 3 };
                let starts: Vec<u32> =
                    (0..2 * active).map(|_| next() as u32 % (rows - tilings) as u32).collect();
                let mut tallies = vec![Tally { sum: 9, squares: 9 }; 6];
                let ends = [active as u32, 2 * active as u32];
                let samples = Samples { starts: &starts, ends: &ends };
                kernels::tally_samples(isa, &table, samples, &mut tallies);
                for (row, starts) in [&starts[..active], &starts[active..]].iter().enumerate() {
                    for slot in &table.slots {
                        let naive = naive_tally(&table, starts, slot);
                        assert_eq!(
                            tallies[row * 3 + slot.output],
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

/// A model of `features` numeric features with random bits, `cells` cells each, of which two outputs share an octet.
fn cell_table(
    features: usize,
    cells: usize,
    tilings: u32,
    next: &mut impl FnMut() -> u64,
) -> CellTable {
    let bits = |most: u32| (32 - most.leading_zeros()) as usize;
    let cell_planes = bits(tilings);
    let searched = |i: usize, next: &mut dyn FnMut() -> u64| {
        // Every third column is not in use, every other one is cut by leading halves, and zero is an edge of some.
        let mask = if i.is_multiple_of(2) { !0xffff } else { !0 };
        let mut edges: Vec<i32> = (1..cells).map(|_| next() as i32 & mask).collect();
        if i.is_multiple_of(3) && cells > 1 {
            edges[0] = 0;
        }
        edges.sort_unstable();
        Searched { column: i + i / 2, tree: Tree::new(&edges), absent: !i.is_multiple_of(4) }
    };
    let searched: Vec<Searched> = (0..features).map(|i| searched(i, next)).collect();
    let mut octets = vec![vec![Part { output: 0, mask: 0x0f }, Part { output: 1, mask: 0x70 }]];
    octets.extend((0..9).map(|_| vec![Part { output: 2, mask: u8::MAX }]));
    octets.push(vec![Part { output: 2, mask: 0x1f }]);
    // Counts of a cell are below 2^planes; those of random planes too.
    let planes = bits(features as u32 * ((1 << cell_planes) - 1));
    CellTable {
        columns: features + features / 2 + 1,
        active: features,
        cell_planes,
        planes,
        factors: (0..octets.len() * features * cell_planes * CELLS).map(|_| next() as u8).collect(),
        linear: (0..3 * features * CELLS)
            .map(|_| (next() % u64::from(tilings + 1)) as u8)
            .collect(),
        features: searched,
        octets,
        outputs: 3,
    }
}

#[test]
fn samples_are_looked_up_alike_on_every_tier() {
    for (features, cells, tilings) in [
        (0, 1, 1),
        (1, 2, 1),
        (2, 31, 1),
        (7, 17, 4),
        (8, 24, 2),
        (9, 25, 7),
        (22, 20, 4),
        (31, 31, 7),
        (90, 16, 1),
        (300, 9, 4),
        (90, 12, 7),
    ] {
        for rows in [0, 1, 7, 8, 9, 31, 32, 33, 65, 97] {
            let mut next = noise((features * 1000 + cells * 10 + rows) as u64);
            let table = cell_table(features, cells, tilings, &mut next);
            // Any bits at all: NaN, infinities, denormals, and zeros of both signs among them; some rows without NaN.
            let awkward = [0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45];
            let mut value = |nan: bool| match next() % 64 {
                i if i < 6 => awkward[i as usize],
                _ => Some(f32::from_bits(next() as u32))
                    .filter(|x| nan || !x.is_nan())
                    .unwrap_or(1.0),
            };
            let values: Vec<f32> =
                (0..rows * table.columns).map(|i| value(i / table.columns % 40 > 31)).collect();
            let run = |isa: Isa| {
                let mut counts = vec![Count::default(); rows * 3];
                kernels::count_samples(isa, &table, &values, &mut counts);
                counts
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
    let number = |key: i32| f32::from_bits((key ^ ((key >> 31) & i32::MAX)) as u32);
    for count in 0..NAN {
        let mut edges: Vec<i32> = (0..count).map(|_| next() as i32 / 2).collect();
        edges.sort_unstable();
        let tree = Tree::new(&edges);
        for key in edges.iter().flat_map(|&e| [e - 1, e, e + 1]).chain([-5, 7]) {
            let key = if number(key) == 0.0 { 0 } else { key };
            assert_eq!(tree.cell(number(key)), edges.iter().filter(|&&e| e <= key).count());
        }
    }
}

/// Signs are summed one by one, and a step of Adagrad is what the formula says.
#[test]
fn steps_are_those_of_the_formula() {
    let (m, tilings, rows) = (11, 3, 12);
    let mut next = noise(5);
    let before = RowWeights { w: proxies(&mut next, rows), v: proxies(&mut next, rows * m) };
    let starts = [0_u32, 4, 9];
    let active: Vec<usize> =
        starts.iter().flat_map(|&s| s as usize..s as usize + tilings).collect();
    let mut sums = vec![0.0; tilings * m];
    let summed = kernels::sum_signs(portable(), &before, &starts, m, &mut sums);
    let sign = |x: f32| if x >= 0.0 { 1.0 } else { -1.0 };
    assert_eq!(summed.linear, active.iter().map(|&row| sign(before.w[row])).sum::<f64>());
    for f in 0..m {
        let sum: f64 = active.iter().map(|&row| sign(before.v[row * m + f])).sum();
        assert_eq!(f64::from(sums[f]), sum);
    }
    assert_eq!(summed.squares, sums[..m].iter().map(|&s| f64::from(s * s)).sum::<f64>());
    let tile = |value: f32| vec![value; tilings * m];
    let gradient = SignGradient {
        w: [0.5, -0.25],
        plus: tile(0.125),
        minus: tile(-2.0),
        rate: 0.02,
        factors: m,
    };
    let (mut after, mut squares) =
        (before.clone(), RowWeights { w: vec![0.3; rows], v: vec![0.3; rows * m] });
    kernels::adagrad(portable(), &mut after, &mut squares, &starts, &gradient);
    let expected = |proxy: f32, plus: f32, minus: f32| {
        let gradient = if proxy.abs() > 1.0 {
            0.0
        } else if proxy >= 0.0 {
            plus
        } else {
            minus
        };
        proxy - 0.02 * gradient / (0.3 + gradient * gradient).sqrt()
    };
    for row in 0..rows {
        let moved = active.contains(&row);
        let w = if moved { expected(before.w[row], 0.5, -0.25) } else { before.w[row] };
        assert_eq!(after.w[row], w);
        for i in row * m..(row + 1) * m {
            let v = if moved { expected(before.v[i], 0.125, -2.0) } else { before.v[i] };
            assert_eq!(after.v[i], v);
        }
    }
}

/// The sums of float rows, and steps of plain gradient descent, follow the formulas.
#[test]
fn float_steps_follow_the_formula() {
    let (m, tilings) = (3, 2);
    let before = RowWeights {
        w: (0..6).map(|i| i as f32 / 8.0).collect(),
        v: (0..18).map(|i| (i as f32 - 9.0) / 4.0).collect(),
    };
    let sample = Sample { starts: &[0, 3], values: &[2.0, -0.5] };
    let rows = FloatRows { numbers: &before.v, width: m, tilings };
    let active = [(0, 2.0), (1, 2.0), (3, -0.5), (4, -0.5)];
    let (mut sums, mut signs) = (vec![9.0; m], vec![9.0; m]);
    kernels::sum_floats(portable(), rows, sample, &mut sums);
    kernels::sum_float_signs(portable(), rows, sample, &mut signs);
    for f in 0..m {
        // Exact: all numbers are small multiples of 1/8.
        let v = |row: usize| before.v[row * m + f];
        assert_eq!(sums[f], active.iter().map(|&(row, x)| x * v(row)).sum::<f32>());
        let sign = |row: usize| if v(row) >= 0.0 { 1.0 } else { -1.0 };
        assert_eq!(signs[f], active.iter().map(|&(row, x)| x * sign(row)).sum::<f32>());
    }
    assert_eq!(kernels::sum_squares(&sums), sums.iter().map(|&s| f64::from(s * s)).sum::<f64>());
    let gradient = FloatGradient {
        w: 0.5,
        v: 0.25,
        lambda_w: 0.125,
        lambda_v: 0.5,
        rate: 0.25,
        factors: m,
        tilings,
        signs: false,
    };
    let mut after = before.clone();
    kernels::step_floats(
        portable(),
        &mut after,
        &mut RowWeights::default(),
        sample,
        &sums,
        &gradient,
    );
    for row in 0..6 {
        let x = active.iter().find(|&&(active, _)| active == row).map(|&(_, x)| x);
        let moved = |before: f32, g: f32| if x.is_some() { before - 0.25 * g } else { before };
        let (x, w) = (x.unwrap_or(0.0), before.w[row]);
        assert_eq!(after.w[row], moved(w, 0.5 * x + 0.125 * w));
        for f in 0..m {
            let v = before.v[row * m + f];
            assert_eq!(after.v[row * m + f], moved(v, 0.25 * x * (sums[f] - x * v) + 0.5 * v));
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
        let rows = 40;
        let mut weights = |size: f32| {
            let mut numbers = |count| proxies(&mut next, count).iter().map(|x| x * size).collect();
            RowWeights { w: numbers(rows), v: numbers(rows * m) }
        };
        let (before, squares) = (weights(1.0), weights(0.1));
        let positive = |numbers: Vec<f32>| numbers.iter().map(|x| x.abs() + 1e-8).collect();
        let squares = RowWeights { w: positive(squares.w), v: positive(squares.v) };
        // As in a sample, no row is active twice.
        let starts: Vec<u32> = (0..active.min(rows / tilings)).map(|i| (i * tilings) as u32).collect();
        let mut gradients = || proxies(&mut next, tilings * m);
        let gradient = SignGradient { w: [0.3, -0.2], plus: gradients(), minus: gradients(), rate: 0.02, factors: m };
        let run = |isa: Isa| {
            let (mut adagrad, mut sgd, mut squares) = (before.clone(), before.clone(), squares.clone());
            let mut sums = vec![5.0; tilings * m];
            let summed = kernels::sum_signs(isa, &before, &starts, m, &mut sums);
            kernels::adagrad(isa, &mut adagrad, &mut squares, &starts, &gradient);
            kernels::sgd(isa, &mut sgd, &starts, &gradient);
            let both = |weights: &RowWeights| [bits(&weights.w), bits(&weights.v)];
            (summed, bits(&sums), both(&adagrad), both(&squares), both(&sgd))
        };
        let defined = run(portable());
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &defined, "{}", isa.name());
        }
    }
    #[test]
    fn float_kernels_have_the_same_bits_on_every_tier(
        m in 1_usize..40, tilings in 1_usize..5, active in 0_usize..12, seed in any::<u64>(),
    ) {
        let mut next = noise(seed);
        let rows = 60;
        let before = RowWeights { w: proxies(&mut next, rows), v: proxies(&mut next, rows * m) };
        let starts: Vec<u32> = (0..active).map(|i| (i * tilings) as u32).collect();
        let values = if seed.is_multiple_of(2) { Vec::new() } else { proxies(&mut next, active) };
        let sample = Sample { starts: &starts, values: &values };
        let numbers = FloatRows { numbers: &before.v, width: m, tilings };
        let run = |isa: Isa| {
            let (mut sums, mut signs) = (vec![5.0; m], vec![5.0; m]);
            kernels::sum_floats(isa, numbers, sample, &mut sums);
            kernels::sum_float_signs(isa, numbers, sample, &mut signs);
            let mut all = vec![bits(&sums), bits(&signs)];
            for (with_signs, adagrad) in [(false, false), (false, true), (true, false), (true, true)] {
                let gradient = FloatGradient {
                    w: 0.3, v: -0.2, lambda_w: 0.01, lambda_v: 0.02, rate: 0.1, factors: m, tilings, signs: with_signs,
                };
                let filled = |count| if adagrad { vec![0.5; count] } else { Vec::new() };
                let mut squares = RowWeights { w: filled(rows), v: filled(rows * m) };
                let mut after = before.clone();
                kernels::step_floats(isa, &mut after, &mut squares, sample, &sums, &gradient);
                all.extend([after.w, after.v, squares.w, squares.v].iter().map(|numbers| bits(numbers)));
            }
            all
        };
        let defined = run(portable());
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &defined, "{}", isa.name());
        }
    }
}
