//! Files of several sizes that are designed to use as much memory as possible.

use crate::check::{Verdict, check, memory_costs};
use crate::extremes::encode_count;
use crate::seeds::sealed;

/// Fields of the header that are set; the others are zero.
#[derive(Clone, Copy)]
struct Header {
    flags: u8,
    features: usize,
    factors: u16,
    w_bits: u8,
    outputs: u16,
    tilings: u8,
    /// The method, in the upper four bits, and the loss: 0 is bfm and logistic.
    method: u8,
    usual_edges: u16,
}

const MINIMAL: Header = Header {
    flags: 0,
    features: 1,
    factors: 1,
    w_bits: 1,
    outputs: 1,
    tilings: 1,
    method: 0,
    usual_edges: 0,
};

// Flags.
const LABELS: u8 = 2;
const UNUSED: u8 = 4;
const NAMES: u8 = 8;
const CARD: u8 = 16;

/// A method with float weights: sefm.
const FLOATS: u8 = 0x10;

// How the record of a feature begins.

/// Numeric, without edges.
const NO_EDGES: u8 = 1;
/// Numeric, with one edge of one byte; this is the whole record.
const ONE_EDGE: [u8; 3] = [0x40, 0, 1];
/// Categories 0, 1, 2, …, which are not written.
const CONSECUTIVE: u8 = 2;
/// Text categories.
const TEXT: u8 = 3;

/// Builds a file from a header, the records of its features, a number of zero bits as weights, and what follows them.
fn file(header: Header, features: &[u8], bits: usize, rest: &[u8]) -> Vec<u8> {
    let Header { flags, features: columns, factors, w_bits, outputs, tilings, method, usual_edges } =
        header;
    let mut body = b"\xb1FM\n\x01".to_vec();
    body.push(flags);
    body.extend([0; 4]);
    body.extend((columns as u32).to_le_bytes());
    body.extend(factors.to_le_bytes());
    body.extend(outputs.to_le_bytes());
    body.extend([tilings, method, (w_bits - 1) << 5, 0, 0, 0, 0]);
    body.extend(usual_edges.to_le_bytes());
    let scale = match (method, outputs) {
        (0, 1) => 8,
        (0, _) => 2,
        _ => 4,
    };
    body.resize(body.len() + scale * usize::from(outputs), 0);
    body.extend(features);
    body.resize(body.len() + bits.div_ceil(8), 0);
    body.extend(rest);
    sealed(body)
}

/// Returns `n` distinct texts that are as short as possible.
fn short_texts(n: usize) -> Vec<u8> {
    let text = |i: usize| {
        let digits: Vec<u8> = (0..3).map(|digit| (i >> (7 * digit) & 127) as u8).collect();
        let length = if i < 1 << 7 {
            1
        } else if i < 1 << 14 {
            2
        } else {
            3
        };
        let mut text = digits[..length].to_vec();
        text.reverse();
        [encode_count(length as u64), text].concat()
    };
    (0..n).flat_map(text).collect()
}

/// Returns `n` ascending texts of three bytes.
fn ascending_texts(n: usize) -> Vec<u8> {
    let text =
        |i: usize| [vec![3], vec![(i >> 14) as u8, (i >> 7 & 127) as u8, (i & 127) as u8]].concat();
    (0..n).flat_map(text).collect()
}

/// Returns a card of about `n` bytes that is as nested as possible, as often as possible.
fn card(n: usize) -> Vec<u8> {
    let nested = [&[b'['; 14][..], &[b']'; 14], b","].concat().repeat(n.min(1_000_000) / 29);
    let text = [b"{\"a\":[", &nested[..], b"0]}"].concat();
    [encode_count(text.len() as u64), text].concat()
}

/// Returns files whose size is mostly proportional to `n`, with their names.
fn worst_cases(n: usize) -> Vec<(&'static str, Vec<u8>)> {
    let wide = Header { features: n, ..MINIMAL };
    let text_feature = |texts: &[u8]| [&[TEXT], &encode_count(n as u64)[..], texts].concat();
    let max_weights = Header { flags: UNUSED, factors: u16::MAX, outputs: u16::MAX, ..MINIMAL };
    vec![
        (
            "unused columns",
            file(Header { flags: UNUSED, features: 8 * n, ..MINIMAL }, &vec![0; n], 0, &[]),
        ),
        ("columns without edges", file(wide, &vec![NO_EDGES; n], 2 * n, &[])),
        ("columns without edges, truncated", file(wide, &vec![NO_EDGES; n], 0, &[])),
        ("one edge each", {
            let features = [&ONE_EDGE[..], &vec![[0, 1]; n - 1].concat()].concat();
            file(Header { usual_edges: 1, ..wide }, &features, 4 * n, &[])
        }),
        (
            "categories",
            file(MINIMAL, &[&[CONSECUTIVE], &encode_count(n as u64)[..]].concat(), 2 * n, &[]),
        ),
        ("text categories", file(MINIMAL, &text_feature(&ascending_texts(n)), 2 * n, &[])),
        ("empty text categories", file(MINIMAL, &text_feature(&vec![0; n]), 2 * n, &[])),
        (
            "names",
            file(Header { flags: NAMES, ..wide }, &vec![NO_EDGES; n], 2 * n, &short_texts(n)),
        ),
        ("card", file(Header { flags: CARD, ..MINIMAL }, &[NO_EDGES], 2, &card(n))),
        (
            "empty names",
            file(Header { flags: NAMES, ..wide }, &vec![NO_EDGES; n], 2 * n, &vec![0; n]),
        ),
        (
            "factors",
            file(
                Header { factors: u16::MAX, ..wide },
                &vec![NO_EDGES; n.min(9)],
                n.min(9) << 16,
                &[],
            ),
        ),
        (
            "outputs and factors without rows",
            file(Header { features: 8, ..max_weights }, &[0], 0, &[]),
        ),
        (
            "outputs and factors without rows, floats",
            file(Header { features: 8, method: FLOATS, ..max_weights }, &[0], 0, &[]),
        ),
        ("floats", file(Header { method: FLOATS, ..wide }, &vec![NO_EDGES; n], 8 * 8 * n, &[])),
        ("outputs", file(Header { outputs: u16::MAX, ..MINIMAL }, &[NO_EDGES], 2 * 65_535, &[])),
        (
            "empty labels",
            file(
                Header { flags: LABELS, outputs: u16::MAX, ..MINIMAL },
                &[NO_EDGES],
                2 * 65_535,
                &[4; 65_536],
            ),
        ),
        ("no factors", file(Header { factors: 0, ..wide }, &vec![NO_EDGES; n], n, &[])),
        (
            "no factors and seven tilings",
            file(Header { factors: 0, tilings: 7, ..wide }, &vec![NO_EDGES; n], 7 * n, &[]),
        ),
        (
            "categories without factors",
            file(
                Header { factors: 0, ..MINIMAL },
                &[&[CONSECUTIVE], &encode_count(8 * n as u64)[..]].concat(),
                8 * n,
                &[],
            ),
        ),
        (
            "outputs without factors",
            file(
                Header { factors: 0, outputs: u16::MAX, ..MINIMAL },
                &[NO_EDGES],
                usize::from(u16::MAX),
                &[],
            ),
        ),
        ("eight bits", file(Header { w_bits: 8, ..wide }, &vec![NO_EDGES; n], 9 * n, &[])),
        (
            "eight bits and seven tilings",
            file(Header { w_bits: 8, tilings: 7, ..wide }, &vec![NO_EDGES; n], 63 * n, &[]),
        ),
        ("tilings", file(Header { tilings: u8::MAX, ..wide }, &vec![NO_EDGES; n], 510 * n, &[])),
        ("seven tilings", file(Header { tilings: 7, ..wide }, &vec![NO_EDGES; n], 14 * n, &[])),
    ]
}

/// Cases that may be rejected; until then they use memory, which is limited all the same.
const MAY_BE_REJECTED: [&str; 5] = [
    "empty text categories",
    "empty names",
    "empty labels",
    "columns without edges, truncated",
    "factors",
];

#[test]
fn memory_is_bounded_by_file_size() {
    let largest = if crate::exhaustive() { 100_000 } else { 10_000 };
    let mut worst = [(0, ""); 2];
    for n in [1, 10, 100, 1000, 4000, largest] {
        for (name, bytes) in worst_cases(n) {
            let verdict = std::panic::catch_unwind(|| check(&bytes));
            let verdict = verdict.unwrap_or_else(|_| panic!("{n} {name}"));
            assert!(
                verdict == Verdict::Loaded || MAY_BE_REJECTED.contains(&name),
                "{n} {name}: {verdict:?}"
            );
            let ratios = memory_costs(&bytes).map(|peak| (peak / bytes.len(), name));
            worst = [worst[0].max(ratios[0]), worst[1].max(ratios[1])];
        }
    }
    println!(
        "peak memory: {} times the file size to load ({}), {} times to prepare ({})",
        worst[0].0, worst[0].1, worst[1].0, worst[1].1
    );
}
