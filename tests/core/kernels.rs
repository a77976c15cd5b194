//! Every instruction set against the portable definition, and that against a naive one, on awkward lengths.
#![allow(clippy::unwrap_used, clippy::float_cmp, clippy::needless_range_loop, missing_docs)]

use binfm::aligned::Aligned;
use binfm::encoding::edges;
use binfm::kernels::lookup::{CELLS, DIGIT_BITS, NAN, Part, Searched, Tree};
use binfm::kernels::{
    self, Batch, CellGradients, CellSums, CellTable, Count, FloatRows, Isa, Kind, Pull, PulledRow,
    RowWeights, Sample, SampleSums, Samples, SignTable, Slot, Step, StoredColumn, StoredTable,
    Tally, Touched, Visits,
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

/// The start of a value, edge by edge.
fn naive_start(table: &StoredTable, column: u32, number: f32) -> u32 {
    let column = &table.columns[column as usize];
    if number.is_nan() || number == 0.0 {
        return if number == 0.0 { u32::MAX } else { column.missing };
    }
    let edges = &table.edges[column.first_edge as usize..][..column.edges.into()];
    let cell = edges.iter().filter(|&&edge| edges::number(edge) <= number).count() as u32;
    column.start + cell * u32::from(column.stride)
}

#[test]
fn stored_values_start_where_their_cells_do() {
    let numbers = [-0.0, f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 1e-45, -1e-45];
    for isa in Isa::available() {
        for (most, values) in
            [0, 3, 8, 9, 60].into_iter().flat_map(|most| LENGTHS.map(|n| (most, n)))
        {
            let mut next = noise((values * 100 + most) as u64);
            let mut table = StoredTable::default();
            for i in 0..20_u32 {
                let mut own: Vec<i32> = (0..next() as usize % (most + 1))
                    .map(|_| edges::key((next() % 99) as f32 - 49.5))
                    .collect();
                own.sort_unstable();
                table.columns.push(StoredColumn {
                    start: 1000 * i,
                    missing: if i % 2 == 0 { u32::MAX } else { 1000 * i + 900 },
                    first_edge: table.edges.len() as u32,
                    edges: own.len() as u16,
                    stride: 1 + (i % 4) as u16,
                });
                table.edges.extend(own);
            }
            table.edges.extend([i32::MIN; kernels::FEW]);
            let columns: Vec<u32> = (0..values).map(|_| next() as u32 % 20).collect();
            let own = |i| numbers.get(i % 11).copied().unwrap_or((next() % 100) as f32 - 50.0);
            let values: Vec<f32> = (0..values).map(own).collect();
            let keys: Vec<i32> = values.iter().map(|&number| edges::key(number)).collect();
            let mut starts = vec![7; columns.len()];
            kernels::find_starts(isa, &table, &columns, &keys, &mut starts);
            let naive = columns.iter().zip(&values).map(|(&j, &x)| naive_start(&table, j, x));
            assert!(starts.iter().copied().eq(naive), "{} {most} edges", isa.name());
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
    linear_digits: usize,
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
        linear_digits,
        linear: (0..3 * linear_digits * features * CELLS)
            .map(|_| (next() % (1 << DIGIT_BITS)) as u8)
            .collect(),
        features: searched,
        octets,
        outputs: 3,
    }
}

/// Σ u of a sample, digit by digit.
fn naive_linear(table: &CellTable, values: &[f32], output: usize) -> u32 {
    let mut sum = 0;
    for (i, feature) in table.features.iter().enumerate() {
        let value = values[feature.column];
        let cell = if value.is_nan() { NAN } else { feature.tree.cell(value) };
        for digit in 0..table.linear_digits {
            let place = (output * table.linear_digits + digit) * table.features.len() + i;
            sum += u32::from(table.linear[place * CELLS + cell]) * 8_u32.pow(digit as u32);
        }
    }
    sum
}

#[test]
fn samples_are_looked_up_alike_on_every_tier() {
    for (features, cells, tilings, digits) in [
        (0, 1, 1, 1),
        (1, 2, 1, 1),
        (2, 31, 1, 3),
        (7, 17, 4, 1),
        (8, 24, 2, 4),
        (9, 25, 7, 2),
        (22, 20, 4, 1),
        (31, 31, 7, 1),
        (37, 8, 2, 3),
        (90, 16, 1, 1),
        (300, 9, 4, 4),
        (90, 12, 7, 1),
        (3, 9, 8, 2),
        (22, 30, 15, 4),
        (22, 30, 16, 4),
        (200, 8, 31, 4),
    ] {
        for rows in [0, 1, 7, 8, 9, 31, 32, 33, 65, 97] {
            let mut next = noise((features * 1000 + cells * 10 + rows) as u64);
            let table = cell_table(features, cells, tilings, digits, &mut next);
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
                kernels::count_samples(isa, &table, &values, &mut counts).unwrap();
                counts
            };
            let defined = run(portable());
            for (values, counts) in values.chunks(table.columns).zip(defined.chunks(3)) {
                for (output, count) in counts.iter().enumerate() {
                    assert_eq!(count.linear, naive_linear(&table, values, output));
                }
            }
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

/// The sums of float rows are those of the definition.
#[test]
fn float_rows_are_summed() {
    let (m, tilings) = (3, 2);
    let v: Vec<f32> = (0..18).map(|i| (i as f32 - 9.0) / 4.0).collect();
    let sample = Sample { starts: &[0, 3], values: &[2.0, -0.5] };
    let mut sums = vec![9.0; m];
    let rows = FloatRows { numbers: &v, width: m, tilings };
    kernels::sum_floats(portable(), rows, sample, &mut sums);
    let active = [(0, 2.0), (1, 2.0), (3, -0.5), (4, -0.5)];
    for f in 0..m {
        // Exact: all numbers are small multiples of 1/8.
        assert_eq!(sums[f], active.iter().map(|&(row, x)| x * v[row * m + f]).sum::<f32>());
    }
    assert_eq!(kernels::sum_squares(&sums), sums.iter().map(|&s| f64::from(s * s)).sum::<f64>());
}

/// 1/√x is close over the whole range of Adagrad's sums.
#[test]
fn inverse_square_roots_are_close() {
    for exponent in -80..=125 {
        for i in 0..1000 {
            let x = (1.0 + i as f32 / 1000.0) * (f64::from(exponent)).exp2() as f32;
            let exact = 1.0 / f64::from(x).sqrt();
            let error = (f64::from(kernels::inverse_sqrt(x)) - exact).abs() / exact;
            assert!(error < 7e-4, "{x}: {error}");
        }
    }
}

/// Loss and slope of a margin are those of the definition.
#[test]
fn logistic_losses_are_close() {
    let margins: Vec<f32> =
        (-20_000..20_000).map(|i| i as f32 / 100.0).chain([1e30, -1e30]).collect();
    let (mut losses, mut slopes) = (vec![9.0; margins.len()], vec![9.0; margins.len()]);
    kernels::logistic(portable(), &margins, &mut losses, &mut slopes);
    for ((&margin, loss), slope) in margins.iter().zip(losses).zip(slopes) {
        let margin = f64::from(margin);
        let exact = (-margin).max(0.0) + (-margin.abs()).exp().ln_1p();
        assert!(
            (f64::from(loss) - exact).abs() < 1e-6 * exact.max(1e-30) + 1e-34,
            "{margin}: {loss}"
        );
        let exact = -1.0 / (1.0 + margin.exp());
        assert!((f64::from(slope) - exact).abs() < 1e-6 * exact.abs() + 1e-34, "{margin}: {slope}");
    }
}

#[test]
fn sizes_are_averaged() {
    let numbers: Vec<f32> = (0..37).map(|i| (i as f32 - 20.0) / 8.0).collect();
    let mean = numbers.iter().map(|x| f64::from(x.abs())).sum::<f64>() / 37.0;
    for isa in Isa::available() {
        assert!((kernels::mean_size(isa, &numbers) - mean).abs() < 1e-15);
    }
}

fn proxies(next: &mut impl FnMut() -> u64, count: usize) -> Vec<f32> {
    (0..count).map(|_| (next() as i32 as f32) / 1.6e9).collect()
}

fn bits(values: &[f32]) -> Vec<u32> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// A batch of samples in which cells overlap, are visited more than once, or are not touched at all.
struct Example {
    tilings: usize,
    factors: usize,
    touched: Vec<Touched>,
    visited: Vec<u32>,
    active: Vec<u32>,
    ends: Vec<u32>,
    values: Vec<f32>,
    visitors: Vec<u32>,
    visitor_values: Vec<f32>,
    before: RowWeights,
    squares: RowWeights,
    slopes: Vec<f32>,
}

fn weights(w: &[f32], v: &[f32]) -> RowWeights {
    RowWeights { w: w.to_vec(), v: Aligned::copied(v).unwrap() }
}

const ROWS: usize = 40;
const KINDS: [[Kind; 2]; 4] =
    [[Kind::Sign; 2], [Kind::Float; 2], [Kind::Float, Kind::Sign], [Kind::Float, Kind::Level]];

impl Example {
    fn new(factors: usize, tilings: usize, samples: usize, has_values: bool, seed: u64) -> Self {
        let mut next = noise(seed);
        let (mut starts, mut ends) = (Vec::new(), Vec::new());
        for _ in 0..samples {
            for _ in 0..next() % 6 {
                starts.push((next() % (ROWS - tilings + 1) as u64) as u32);
            }
            ends.push(starts.len() as u32);
        }
        let mut cells = starts.clone();
        cells.sort_unstable();
        cells.dedup();
        let values = if has_values { proxies(&mut next, starts.len()) } else { Vec::new() };
        let (mut touched, mut visitors, mut visitor_values) = (Vec::new(), Vec::new(), Vec::new());
        for &start in &cells {
            for visit in (0..starts.len()).filter(|&visit| starts[visit] == start) {
                visitors.push(ends.partition_point(|&end| end as usize <= visit) as u32);
                visitor_values.extend(values.get(visit));
            }
            touched.push(Touched { start, end: visitors.len() as u32 });
        }
        let visited =
            starts.iter().map(|start| cells.binary_search(start).unwrap() as u32).collect();
        let positive =
            |numbers: Vec<f32>| -> Vec<f32> { numbers.iter().map(|x| x.abs() + 1e-8).collect() };
        let begins = [0].iter().chain(&ends);
        let active = ends.iter().zip(begins).map(|(end, begin)| end - begin).collect();
        Self {
            tilings,
            factors,
            touched,
            visited,
            active,
            ends,
            values,
            visitors,
            visitor_values,
            before: weights(&proxies(&mut next, ROWS), &proxies(&mut next, ROWS * factors)),
            squares: weights(
                &positive(proxies(&mut next, ROWS)),
                &positive(proxies(&mut next, ROWS * factors)),
            ),
            slopes: proxies(&mut next, samples),
        }
    }

    fn batch(&self) -> Batch<'_> {
        Batch {
            touched: &self.touched,
            by_sample: Visits { of: &self.visited, values: &self.values },
            ends: &self.ends,
            active: &self.active,
            by_cell: Visits { of: &self.visitors, values: &self.visitor_values },
        }
    }

    /// Runs the kernels; returns the terms, the weights and the sums of squares.
    fn run(
        &self,
        isa: Isa,
        kinds: [Kind; 2],
        adagrad: bool,
    ) -> (Vec<[f64; 2]>, RowWeights, RowWeights) {
        let batch = self.batch();
        let (terms, mut gradients) = self.gradients(isa, kinds);
        let mut after = weights(&self.before.w, &self.before.v);
        let mut squares =
            if adagrad { weights(&self.squares.w, &self.squares.v) } else { RowWeights::default() };
        kernels::step(
            isa,
            &mut after,
            &mut squares,
            batch.touched,
            &mut gradients,
            self.step(kinds),
            None,
        );
        (terms, after, squares)
    }

    fn step(&self, kinds: [Kind; 2]) -> Step {
        let decay = [0.0625, 0.03125];
        let tilings = self.tilings;
        Step { rate: 0.25, alpha: 0.5, pair_scale: 0.125, decay, kinds, tilings, holds_w: false }
    }

    /// Returns L and Q of the samples, and the gradients of the cells.
    fn gradients(&self, isa: Isa, kinds: [Kind; 2]) -> (Vec<[f64; 2]>, CellGradients) {
        let (batch, factors) = (self.batch(), self.factors);
        let mut cells = CellSums::default();
        cells.make_room(batch.touched.len(), factors).unwrap();
        kernels::sum_cells(isa, &self.before, kinds, self.tilings, batch, &mut cells);
        let mut sums = SampleSums::default();
        sums.make_room(batch.len(), factors).unwrap();
        kernels::forward(isa, batch, &cells, kinds[1], self.tilings, factors, &mut sums);
        let mut gradients = CellGradients::default();
        gradients.make_room(batch.touched.len(), factors).unwrap();
        let alone = (kinds[1] == Kind::Level).then_some(&cells);
        kernels::backward(isa, batch, &mut sums.s, &self.slopes, factors, alone, &mut gradients);
        (sums.terms, gradients)
    }

    /// Returns how often the samples visit a row.
    fn visits(&self, row: usize) -> u32 {
        let visits =
            |sample: usize| self.active(sample).iter().filter(|&&(r, _)| r == row).count() as u32;
        (0..self.slopes.len()).map(visits).sum()
    }

    /// Returns the gradients of w and of the factors of a row with real w and signs v, by definition.
    fn row_gradients(&self, row: usize, pull: Pull) -> (f32, Vec<f32>) {
        let sign = |v: f32| if v.is_sign_negative() { -1.0_f32 } else { 1.0 };
        let (factors, own) = (self.factors, pull.rows[row]);
        let share = self.visits(row) as f32 * own.per_visit;
        let mut w = share * pull.w_strength * (self.before.w[row] - pull.w_rest[row]);
        let mut v: Vec<f32> = (0..factors)
            .map(|i| {
                let rest = pull.rest[own.pattern as usize * factors + i];
                let strength = pull.strength[own.feature as usize * factors + i];
                share * strength * (self.before.v[row * factors + i] - rest)
            })
            .collect();
        for (sample, &slope) in self.slopes.iter().enumerate() {
            let active = self.active(sample);
            for _ in active.iter().filter(|&&(r, _)| r == row) {
                w += 0.5 * slope;
                for (i, v) in v.iter_mut().enumerate() {
                    let sum: f32 =
                        active.iter().map(|&(r, _)| sign(self.before.v[r * factors + i])).sum();
                    *v += 0.125 * slope * (sum - sign(self.before.v[row * factors + i]));
                }
            }
        }
        (w, v)
    }

    /// Returns the rows that a sample activates, with their multipliers; cells may share rows.
    fn active(&self, sample: usize) -> Vec<(usize, f64)> {
        let from = sample.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let cell = |i: usize| {
            let start = self.touched[self.visited[i] as usize].start as usize;
            let x = self.values.get(i).map_or(1.0, |&x| f64::from(x));
            (start..start + self.tilings).map(move |row| (row, x))
        };
        (from..self.ends[sample] as usize).flat_map(cell).collect()
    }
}

/// Rows that are pulled towards rest move by the gradient of the loss and of the pull, on every tier.
#[test]
fn rest_values_pull() {
    for (factors, tilings) in [(1, 2), (7, 4), (32, 4), (37, 3)] {
        let example = Example::new(factors, tilings, 9, false, 11);
        let rows: Vec<PulledRow> = (0..ROWS as u32)
            .map(|row| PulledRow {
                pattern: row % 3,
                feature: row % 2,
                per_visit: 0.125,
                is_copy: false,
            })
            .collect();
        let number = |i: usize| ((i * 37 % 11) as f32 - 5.0) / 8.0;
        let rest: Vec<f32> = (0..3 * factors).map(number).collect();
        let strength: Vec<f32> = (0..2 * factors).map(|i| 2.0 + number(i)).collect();
        let w_rest: Vec<f32> = (0..ROWS).map(number).collect();
        let pull = Pull {
            rows: &rows,
            rest: &rest,
            strength: &strength,
            often: [0.0, 1.0],
            w_rest: &w_rest,
            w_strength: 0.5,
        };
        let reference = check_pull(&example, portable(), pull);
        for isa in Isa::available() {
            assert_eq!(check_pull(&example, isa, pull), reference, "{}", isa.name());
        }
    }
}

/// The rows of a cell that is alone move as one, at the price of one.
#[test]
fn copies_move_together() {
    let (factors, tilings) = (7, 4);
    let mut example = Example::new(factors, 1, 9, false, 5);
    // The cells of the example, each with rows of its own.
    example.tilings = tilings;
    example.touched.iter_mut().for_each(|cell| cell.start *= tilings as u32);
    let rows = ROWS * tilings;
    let repeated = |numbers: &[f32]| -> Vec<f32> {
        let cells = numbers.chunks(numbers.len() / ROWS);
        cells.flat_map(|cell| cell.repeat(tilings)).collect()
    };
    example.before = weights(&repeated(&example.before.w), &repeated(&example.before.v));
    let number = |i: usize| ((i * 37 % 11) as f32 - 5.0) / 8.0;
    let (rest, w_rest) = (vec![0.0; factors], vec![0.0; rows]);
    let strength: Vec<f32> = (0..factors).map(|i| 2.0 + number(i)).collect();
    let run = |isa: Isa, are_copies: bool| {
        let pulled: Vec<PulledRow> = (0..rows)
            .map(|row| PulledRow {
                pattern: 0,
                feature: 0,
                per_visit: 0.125,
                is_copy: are_copies && row % tilings > 0,
            })
            .collect();
        let (rows, rest, strength, w_rest) = (&pulled[..], &rest[..], &strength[..], &w_rest[..]);
        let pull = Pull { rows, rest, strength, often: [0.5, 3.0], w_rest, w_strength: 0.0 };
        let kinds = [Kind::Float, Kind::Level];
        let step = Step { holds_w: true, ..example.step(kinds) };
        let (_, mut gradients) = example.gradients(isa, kinds);
        let mut after = weights(&example.before.w, &example.before.v);
        let mut squares = weights(&vec![1.0; after.w.len()], &vec![1.0; after.v.len()]);
        kernels::step(
            isa,
            &mut after,
            &mut squares,
            &example.touched,
            &mut gradients,
            step,
            Some(pull),
        );
        after
    };
    let reference = run(portable(), false);
    assert_ne!(reference.v, example.before.v);
    for isa in Isa::available() {
        assert_eq!(run(isa, true), reference, "{}", isa.name());
    }
}

/// Takes a step with a pull, compares its direction with the formulas, and returns the weights.
fn check_pull(example: &Example, isa: Isa, pull: Pull) -> RowWeights {
    let kinds = [Kind::Float, Kind::Sign];
    let step = Step { rate: 0.25, decay: [0.0; 2], ..example.step(kinds) };
    let (batch, factors) = (example.batch(), example.factors);
    let (_, mut gradients) = example.gradients(isa, kinds);
    let squares =
        kernels::gradient_squares(isa, &example.before, batch.touched, &mut gradients, step, pull);
    let (mut after, mut sums) = (
        weights(&example.before.w, &example.before.v),
        weights(&[1e-12; ROWS], &vec![1e-12; ROWS * factors]),
    );
    kernels::step(isa, &mut after, &mut sums, batch.touched, &mut gradients, step, Some(pull));
    let (mut means, mut touched) = ([0.0; 2], 0.0);
    for row in 0..ROWS {
        let (w, v) = example.row_gradients(row, pull);
        let visits = example.visits(row);
        let moved = after.w[row] - example.before.w[row];
        assert_eq!(moved == 0.0, visits == 0 || w.abs() < 1e-6, "row {row}: {moved} {w}");
        if visits == 0 {
            continue;
        }
        touched += 1.0;
        means[0] += f64::from(w * w) / f64::from(visits);
        for (i, gradient) in v.iter().enumerate() {
            means[1] += f64::from(gradient * gradient) / f64::from(visits) / factors as f64;
            let moved = after.v[row * factors + i] - example.before.v[row * factors + i];
            // The first step of Adagrad has the size of the rate, whatever the gradient is.
            let expected = -0.25 * gradient.signum();
            assert!(gradient.abs() < 1e-4 || (moved - expected).abs() < 1e-3, "{moved} {gradient}");
        }
    }
    for (mean, found) in means.iter().zip(squares) {
        assert!((mean / touched - found).abs() <= 1e-4 * found, "{} {found}", mean / touched);
    }
    after
}

/// Compares a batch with the formulas, sample by sample and row by row.
fn check_formulas(example: &Example, kinds: [Kind; 2], adagrad: bool) {
    let (m, step) = (example.factors, example.step(kinds));
    let (terms, after, _) = example.run(portable(), kinds, adagrad);
    let w = |row: usize| f64::from(kinds[0].value(example.before.w[row]));
    let v = |row: usize, f: usize| f64::from(kinds[1].value(example.before.v[row * m + f]));
    let mut gradients = vec![vec![0.0; m + 1]; ROWS];
    let mut visits = [0.0; ROWS];
    for (sample, &[linear, pairs]) in terms.iter().enumerate() {
        let (active, slope) = (example.active(sample), f64::from(example.slopes[sample]));
        let exact: f64 = active.iter().map(|&(row, x)| x * w(row)).sum();
        assert!((linear - exact).abs() < 1e-4, "{linear} is not {exact}");
        let s = |f: usize| active.iter().map(|&(row, x)| x * v(row, f)).sum::<f64>();
        // The rows that make no pair with each other: each alone, or those of a cell.
        let together = if kinds[1] == Kind::Level { example.tilings } else { 1 };
        let sum =
            |rows: &[(usize, f64)], f| rows.iter().map(|&(row, x)| x * v(row, f)).sum::<f64>();
        let own = |f: usize| active.chunks(together).map(|rows| sum(rows, f).powi(2)).sum::<f64>();
        let exact: f64 = (0..m).map(|f| (s(f) * s(f) - own(f)) / 2.0).sum();
        assert!((pairs - exact).abs() < 1e-3, "{pairs} is not {exact}");
        for rows in active.chunks(together) {
            for &(row, x) in rows {
                visits[row] += 1.0;
                gradients[row][0] += slope * x;
                for f in 0..m {
                    gradients[row][f + 1] += slope * x * (s(f) - sum(rows, f));
                }
            }
        }
    }
    let moved = |before: f32, square: f32, gradient: f64, kind: Kind| {
        let passes = kind != Kind::Sign || before.abs() <= 1.0;
        let gradient = if passes { gradient } else { 0.0 };
        let size = if adagrad { (f64::from(square) + gradient * gradient).sqrt() } else { 1.0 };
        f64::from(before) - f64::from(step.rate) * gradient / size
    };
    for row in 0..ROWS {
        let decay = step.decay.map(|decay| visits[row] * f64::from(decay));
        let gradient = f64::from(step.alpha) * gradients[row][0] + decay[0] * w(row);
        let exact = moved(example.before.w[row], example.squares.w[row], gradient, kinds[0]);
        assert!((f64::from(after.w[row]) - exact).abs() < 1e-3, "{} is not {exact}", after.w[row]);
        for f in 0..m {
            let i = row * m + f;
            let gradient =
                f64::from(step.pair_scale) * gradients[row][f + 1] + decay[1] * v(row, f);
            let exact = moved(example.before.v[i], example.squares.v[i], gradient, kinds[1]);
            assert!((f64::from(after.v[i]) - exact).abs() < 1e-3, "{} is not {exact}", after.v[i]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn batches_follow_the_formulas(
        m in 0_usize..45, tilings in 1_usize..6, samples in 1_usize..20, values: bool, seed in any::<u64>(),
    ) {
        let example = Example::new(m, tilings, samples, values, seed);
        for kinds in KINDS {
            check_formulas(&example, kinds, false);
            check_formulas(&example, kinds, true);
        }
    }

    #[test]
    fn training_has_the_same_bits_on_every_tier(
        m in 0_usize..70, tilings in 1_usize..9, samples in 1_usize..20, values: bool, seed in any::<u64>(),
    ) {
        let example = Example::new(m, tilings, samples, values, seed);
        let run = |isa: Isa, kinds: [Kind; 2], adagrad: bool| {
            let (terms, after, squares) = example.run(isa, kinds, adagrad);
            let terms: Vec<u64> = terms.iter().flatten().map(|term| term.to_bits()).collect();
            let lists: [&[f32]; 4] = [&after.w, &after.v, &squares.w, &squares.v];
            let weights = lists.map(bits);
            let (mut losses, mut slopes) = (vec![0.0; samples], vec![0.0; samples]);
            kernels::logistic(isa, &example.slopes, &mut losses, &mut slopes);
            let size = kernels::mean_size(isa, &example.before.v).to_bits();
            (terms, weights, bits(&losses), bits(&slopes), size)
        };
        for kinds in KINDS {
            for adagrad in [false, true] {
                let defined = run(portable(), kinds, adagrad);
                for isa in Isa::available() {
                    prop_assert_eq!(&run(isa, kinds, adagrad), &defined, "{}", isa.name());
                }
            }
        }
    }

    #[test]
    fn float_sums_have_the_same_bits_on_every_tier(
        m in 0_usize..40, tilings in 1_usize..5, active in 0_usize..12, seed in any::<u64>(),
    ) {
        let mut next = noise(seed);
        let v = proxies(&mut next, 60 * m);
        let starts: Vec<u32> = (0..active).map(|i| (i * tilings) as u32).collect();
        let values = if seed.is_multiple_of(2) { Vec::new() } else { proxies(&mut next, active) };
        let sample = Sample { starts: &starts, values: &values };
        let rows = FloatRows { numbers: &v, width: m, tilings };
        let run = |isa: Isa| {
            let mut sums = vec![5.0; m];
            kernels::sum_floats(isa, rows, sample, &mut sums);
            bits(&sums)
        };
        let defined = run(portable());
        for isa in Isa::available() {
            prop_assert_eq!(&run(isa), &defined, "{}", isa.name());
        }
    }
}
