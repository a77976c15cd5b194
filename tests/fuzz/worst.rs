//! Files made to take as much memory as they can, of several sizes.

use crate::check::{Verdict, check, costs};
use crate::extremes::count;
use crate::seeds::signed;

/// What the header says; the rest of it is zeros.
#[derive(Clone, Copy)]
struct Header {
    flags: u8,
    features: usize,
    factors: u16,
    functions: u16,
    tilings: u8,
    /// In the upper half; 0 is bits, 1 floats.
    method: u8,
    usual_edges: u16,
}

const PLAIN: Header = Header {
    flags: 0,
    features: 1,
    factors: 1,
    functions: 1,
    tilings: 1,
    method: 0,
    usual_edges: 0,
};
const LABELS: u8 = 2;
const UNUSED: u8 = 4;
const NAMES: u8 = 8;
const FLOATS: u8 = 0x10;

/// First bytes of a record: a feature without edges, with one code, with levels 0, 1, …, and with texts.
const NO_EDGES: u8 = 1;
const ONE_CODE: [u8; 3] = [0x40, 0, 1];
const COUNTING: u8 = 2;
const TEXT: u8 = 3;

fn file(header: Header, features: &[u8], bits: usize, rest: &[u8]) -> Vec<u8> {
    let Header { flags, features: columns, factors, functions, tilings, method, usual_edges } =
        header;
    let mut body = b"\xb1FM\n\x01".to_vec();
    body.push(flags);
    body.extend([0; 4]);
    body.extend((columns as u32).to_le_bytes());
    body.extend(factors.to_le_bytes());
    body.extend(functions.to_le_bytes());
    body.extend([tilings, method, 0, 0, 0, 0, 0]);
    body.extend(usual_edges.to_le_bytes());
    let scale = match (method, functions) {
        (0, 1) => 8,
        (0, _) => 2,
        _ => 4,
    };
    body.resize(body.len() + scale * usize::from(functions), 0);
    body.extend(features);
    body.resize(body.len() + bits.div_ceil(8), 0);
    body.extend(rest);
    signed(body)
}

/// So many different texts, none longer than need be.
fn texts(many: usize) -> Vec<u8> {
    let text = |i: usize| {
        let digits: Vec<u8> = (0..3).map(|place| (i >> (7 * place) & 127) as u8).collect();
        let length = if i < 1 << 7 {
            1
        } else if i < 1 << 14 {
            2
        } else {
            3
        };
        let mut text = digits[..length].to_vec();
        text.reverse();
        [count(length as u64), text].concat()
    };
    (0..many).flat_map(text).collect()
}

fn texts_in_order(many: usize) -> Vec<u8> {
    let text =
        |i: usize| [vec![3], vec![(i >> 14) as u8, (i >> 7 & 127) as u8, (i & 127) as u8]].concat();
    (0..many).flat_map(text).collect()
}

fn worst(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let many = Header { features: n, ..PLAIN };
    let text = |texts: &[u8]| [&[TEXT], &count(n as u64)[..], texts].concat();
    let most = Header { flags: UNUSED, factors: u16::MAX, functions: u16::MAX, ..PLAIN };
    vec![
        (
            "columns without use",
            file(Header { flags: UNUSED, features: 8 * n, ..PLAIN }, &vec![0; n], 0, &[]),
        ),
        ("columns without edges", file(many, &vec![NO_EDGES; n], 2 * n, &[])),
        ("columns without edges, cut", file(many, &vec![NO_EDGES; n], 0, &[])),
        ("one edge each", {
            let features = [&ONE_CODE[..], &vec![[0, 1]; n - 1].concat()].concat();
            file(Header { usual_edges: 1, ..many }, &features, 4 * n, &[])
        }),
        ("levels", file(PLAIN, &[&[COUNTING], &count(n as u64)[..]].concat(), 2 * n, &[])),
        ("texts", file(PLAIN, &text(&texts_in_order(n)), 2 * n, &[])),
        ("empty texts", file(PLAIN, &text(&vec![0; n]), 2 * n, &[])),
        ("names", file(Header { flags: NAMES, ..many }, &vec![NO_EDGES; n], 2 * n, &texts(n))),
        (
            "empty names",
            file(Header { flags: NAMES, ..many }, &vec![NO_EDGES; n], 2 * n, &vec![0; n]),
        ),
        (
            "factors",
            file(
                Header { factors: u16::MAX, ..many },
                &vec![NO_EDGES; n.min(9)],
                n.min(9) << 16,
                &[],
            ),
        ),
        ("functions and factors of nothing", file(Header { features: 8, ..most }, &[0], 0, &[])),
        (
            "functions and factors of nothing, floats",
            file(Header { features: 8, method: FLOATS, ..most }, &[0], 0, &[]),
        ),
        ("floats", file(Header { method: FLOATS, ..many }, &vec![NO_EDGES; n], 8 * 8 * n, &[])),
        ("functions", file(Header { functions: u16::MAX, ..PLAIN }, &[NO_EDGES], 2 * 65_535, &[])),
        (
            "empty labels",
            file(
                Header { flags: LABELS, functions: u16::MAX, ..PLAIN },
                &[NO_EDGES],
                2 * 65_535,
                &[4; 65_536],
            ),
        ),
        ("grids", file(Header { tilings: u8::MAX, ..many }, &vec![NO_EDGES; n], 510 * n, &[])),
        ("seven grids", file(Header { tilings: 7, ..many }, &vec![NO_EDGES; n], 14 * n, &[])),
    ]
}

/// What may be refused: after it was read.
const REFUSED: [&str; 5] =
    ["empty texts", "empty names", "empty labels", "columns without edges, cut", "factors"];

#[test]
fn no_file_takes_more_than_its_share_of_memory() {
    let largest = if crate::thorough() { 100_000 } else { 10_000 };
    let mut most = [(0, ""); 2];
    for n in [1, 10, 100, 1000, 4000, largest] {
        for (name, bytes) in worst(n) {
            let verdict = std::panic::catch_unwind(|| check(&bytes));
            let verdict = verdict.unwrap_or_else(|_| panic!("{n} {name}"));
            assert!(
                verdict == Verdict::Loaded || REFUSED.contains(&name),
                "{n} {name}: {verdict:?}"
            );
            let times = costs(&bytes).map(|held| (held / bytes.len(), name));
            most = [most[0].max(times[0]), most[1].max(times[1])];
        }
    }
    println!(
        "at most {} times a file's size to load ({}), {} to make ready ({})",
        most[0].0, most[0].1, most[1].0, most[1].1
    );
}
