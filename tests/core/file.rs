//! The file: what is written can be read, and what is damaged is rejected.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::data::Labels;
use binfm::encoding::{
    Categories, CellMap, Codebook, Column, Edges, Encoder, Spacing, Standard, edges,
};
use binfm::model::{
    Card, FloatOutput, FloatWeights, Loss, Method, Model, RealScale, Scales, SignRows, SignShape,
    Weights,
};
use proptest::prelude::*;

fn column() -> impl Strategy<Value = Option<(CellMap, bool, bool)>> {
    let leading = (prop::collection::btree_set(0_u32..60_000, 0..30), 2_u8..=4).prop_map(
        |(leading, bytes)| {
            let edges = leading
                .into_iter()
                .map(|leading| edges::from_leading((leading + 200) << (8 * (bytes - 2)), bytes))
                .collect();
            CellMap::Intervals(Edges::new(edges))
        },
    );
    let coded = (0..3_usize, -20_i8..20, prop::collection::btree_set(any::<u8>(), 1..20)).prop_map(
        |(spacing, parameter, codes)| {
            let spacing = Spacing::ALL[spacing];
            let middle = if spacing == Spacing::Logarithmic { 120 } else { 0 };
            let book = Codebook { spacing, parameter: (i16::from(parameter) + middle) as u8 };
            let edges = codes.iter().filter_map(|&code| book.edge(code)).collect();
            CellMap::Intervals(Edges::new(edges))
        },
    );
    let ids = prop::collection::btree_set(any::<i64>(), 1..20)
        .prop_map(|ids| CellMap::Categories(Categories::from_ids(ids.into_iter().collect())));
    let texts = prop::collection::btree_set("[a-zé]{0,9}", 1..9)
        .prop_map(|texts| CellMap::Categories(Categories::Texts(texts.into_iter().collect())));
    let counting = (1_u32..400).prop_map(|n| CellMap::Categories(Categories::Counting(n)));
    let map = prop_oneof![leading, coded, ids, texts, counting];
    prop::option::weighted(0.8, (map, any::<bool>(), any::<bool>()))
}

fn labels(outputs: usize) -> impl Strategy<Value = Labels> {
    let classes = if outputs == 1 { 2 } else { outputs };
    prop_oneof![
        Just(Labels::counting(classes).unwrap()),
        prop::collection::btree_set(any::<i32>(), classes)
            .prop_map(|labels| Labels::Ints(labels.into_iter().map(i64::from).collect())),
        prop::collection::btree_set("[a-z]{1,5}", classes)
            .prop_map(|labels| Labels::Texts(labels.into_iter().collect())),
    ]
}

prop_compose! {
    fn model()(
        method in 0..Method::NAMED.len(),
        columns in prop::collection::vec(column(), 1..12),
        m in prop_oneof![1 => Just(0_usize), 9 => 1_usize..70],
        w_bits in 1_usize..9,
        tilings in 1_u32..6,
        outputs in prop_oneof![Just(1_usize), 3_usize..5],
        bias in -9.0..9.0_f64,
        alpha in 0.0..1.0_f64,
        beta_squared in 0.0..0.1_f64,
        zero_is_absent in any::<bool>(),
        seed in any::<usize>(),
    )(
        labels in labels(outputs),
        names in prop::option::of(prop::collection::btree_set("[a-zé ]{0,9}", columns.len())),
        columns in Just(columns), m in Just(m), w_bits in Just(w_bits), tilings in Just(tilings), outputs in Just(outputs),
        method in Just(Method::NAMED[method].1), real in Just(RealScale { bias, alpha, beta_squared }), zero_is_absent in Just(zero_is_absent), seed in Just(seed),
    ) -> Model {
        let tilings = if method.is_raw() { 1 } else { tilings };
        let columns = columns.into_iter().map(|column| {
            let (map, copies, missing) = column?;
            if let (true, CellMap::Intervals(edges)) = (method.is_raw(), &map) {
                let standard = Standard { center: edges.len() as f32, scale: 0.5 };
                return Some(Column { map: CellMap::Raw(standard), copies: false, missing: false });
            }
            let copies = tilings > 1 && (copies || matches!(map, CellMap::Categories(_)));
            Some(Column { map, copies, missing })
        });
        let encoder = Encoder::new(columns.collect(), tilings, zero_is_absent).unwrap();
        let sign = |k, r, c| (seed.wrapping_mul(k * 31 + r * 7 + c + 1) >> 7) & 1 == 1;
        let rows = encoder.rows() as usize;
        let weights = if method == Method::Bfm {
            let shape = SignShape { rows, outputs, w_bits, factors: m };
            let w = |k, r| {
                let u = seed.wrapping_mul(k * 29 + r * 5 + 1) >> 9 & ((1 << w_bits) - 1);
                2 * u as i16 - shape.max_w()
            };
            let signs = SignRows::new(shape, w, sign).unwrap();
            for (output, row) in (0..outputs).flat_map(|k| (0..rows).map(move |r| (k, r))) {
                assert_eq!(signs.w(output, row), w(output, row));
                let is_kept = |i| signs.is_positive(output, row, i) == sign(output, row, i);
                assert!((0..m).all(is_kept));
            }
            Weights::Signs { signs, scales: Scales::new(&vec![real; outputs]).unwrap() }
        } else {
            let float = |i: usize| (seed.wrapping_mul(i + 1) >> 5) as i16 as f32 / 256.0;
            let output = FloatOutput {
                bias: real.bias,
                beta: real.alpha,
                w: (0..rows).map(float).collect(),
                v: (0..rows * m).map(float).collect(),
            };
            Weights::Floats(FloatWeights::new(method, m, &vec![output; outputs]).unwrap())
        };
        let card = (seed % 3 == 0).then(|| Card::new(format!("{{\"seed\": {seed}}}")).unwrap());
        let model = Model::new(encoder, weights, Loss::Logistic, labels).unwrap().with_card(card);
        match names {
            Some(names) => model.with_names(names.into_iter().rev().collect()).unwrap(),
            None => model,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_written_can_be_read(model in model()) {
        let bytes = model.to_bytes().unwrap();
        prop_assert_eq!(model.size(), bytes.len());
        let read = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &model);
        prop_assert_eq!(read.to_bytes().unwrap(), bytes);
    }

    #[test]
    fn every_damage_is_rejected(model in model(), at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let bytes = model.to_bytes().unwrap();
        let at = at.index(bytes.len());
        prop_assert!(Model::from_bytes(&bytes[..at]).is_err());
        let mut damaged = bytes.clone();
        damaged[at] ^= flip;
        prop_assert!(Model::from_bytes(&damaged).is_err());
        prop_assert!(Model::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_hostile_file_is_rejected_or_read_but_never_panics(
        model in model(), at in any::<prop::sample::Index>(), value in any::<u8>(),
    ) {
        let mut bytes = model.to_bytes().unwrap();
        let end = bytes.len() - 4;
        bytes[at.index(end)] = value;
        let checksum = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(read) = Model::from_bytes(&bytes) {
            prop_assert_eq!(read.to_bytes().unwrap(), bytes, "there is one file for each model");
        }
    }
}
