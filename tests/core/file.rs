//! The file: what is written is read, and what is damaged is refused.
#![allow(clippy::unwrap_used, missing_docs)]

use binfm::encoding::{Codes, Column, Edges, Encoder, Form, Levels, Standard, Values, keys};
use binfm::model::{Labels, Loss, Method, Model, Real, RealFunction, Reals, Scales, SignRows};
use proptest::prelude::*;

fn column() -> impl Strategy<Value = Option<(Values, bool, bool)>> {
    let edges = (prop::collection::btree_set(0_u32..60_000, 0..30), 2_u8..=4).prop_map(
        |(leading, bytes)| {
            let edges = leading
                .into_iter()
                .map(|leading| keys::from_leading((leading + 200) << (8 * (bytes - 2)), bytes))
                .collect();
            Values::Numbers(Edges::new(edges))
        },
    );
    let coded = (0..3_usize, -20_i8..20, prop::collection::btree_set(any::<u8>(), 1..20)).prop_map(
        |(form, parameter, codes)| {
            let form = Form::ALL[form];
            let middle = if form == Form::Logarithmic { 120 } else { 0 };
            let grid = Codes { form, parameter: (i16::from(parameter) + middle) as u8 };
            Values::Numbers(Edges::new(codes.iter().filter_map(|&code| grid.edge(code)).collect()))
        },
    );
    let whole = prop::collection::btree_set(any::<i64>(), 1..20)
        .prop_map(|levels| Values::Levels(Levels::whole(levels.into_iter().collect())));
    let text = prop::collection::btree_set("[a-zé]{0,9}", 1..9)
        .prop_map(|levels| Values::Levels(Levels::Text(levels.into_iter().collect())));
    let counting = (1_u32..400).prop_map(|n| Values::Levels(Levels::Counting(n)));
    let values = prop_oneof![edges, coded, whole, text, counting];
    prop::option::weighted(0.8, (values, any::<bool>(), any::<bool>()))
}

fn labels(functions: usize) -> impl Strategy<Value = Labels> {
    let classes = if functions == 1 { 2 } else { functions };
    prop_oneof![
        Just(Labels::counting(classes)),
        prop::collection::btree_set(any::<i32>(), classes)
            .prop_map(|labels| Labels::Whole(labels.into_iter().map(i64::from).collect())),
        prop::collection::btree_set("[a-z]{1,5}", classes)
            .prop_map(|labels| Labels::Text(labels.into_iter().collect())),
    ]
}

prop_compose! {
    fn model()(
        method in 0..Method::ALL.len(),
        columns in prop::collection::vec(column(), 1..12),
        m in 1_usize..70,
        tilings in 1_u32..6,
        functions in prop_oneof![Just(1_usize), 3_usize..5],
        bias in -9.0..9.0_f64,
        alpha in 0.0..1.0_f64,
        beta_squared in 0.0..0.1_f64,
        zero_is_absent in any::<bool>(),
        seed in any::<usize>(),
    )(
        labels in labels(functions),
        names in prop::option::of(prop::collection::btree_set("[a-zé ]{0,9}", columns.len())),
        columns in Just(columns), m in Just(m), tilings in Just(tilings), functions in Just(functions),
        method in Just(Method::ALL[method]), real in Just(Real { bias, alpha, beta_squared }), zero_is_absent in Just(zero_is_absent), seed in Just(seed),
    ) -> Model {
        let tilings = if method.is_raw() { 1 } else { tilings };
        let columns = columns.into_iter().map(|column| {
            let (values, copies, missing) = column?;
            if let (true, Values::Numbers(edges)) = (method.is_raw(), &values) {
                let standard = Standard { center: edges.len() as f32, scale: 0.5 };
                return Some(Column { values: Values::Raw(standard), copies: false, missing: false });
            }
            let copies = tilings > 1 && (copies || matches!(values, Values::Levels(_)));
            Some(Column { values, copies, missing })
        });
        let encoder = Encoder::new(columns.collect(), tilings, zero_is_absent).unwrap();
        let sign = |k, r, c| (seed.wrapping_mul(k * 31 + r * 7 + c + 1) >> 7) & 1 == 1;
        let rows = encoder.rows() as usize;
        let model = if method == Method::Bfm {
            let signs = SignRows::new(rows, functions, m, sign);
            let scales = Scales::new(&vec![real; functions]);
            Model::new(encoder, signs, scales, Loss::Logistic, labels).unwrap()
        } else {
            let float = |i: usize| (seed.wrapping_mul(i + 1) >> 5) as i16 as f32 / 256.0;
            let function = RealFunction {
                bias: real.bias,
                beta: real.alpha,
                w: (0..rows).map(float).collect(),
                v: (0..rows * m).map(float).collect(),
            };
            let reals = Reals::new(method, m, &vec![function; functions]);
            Model::with_reals(encoder, reals, Loss::Logistic, labels).unwrap()
        };
        match names {
            Some(names) => model.with_names(names.into_iter().rev().collect()).unwrap(),
            None => model,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn what_is_written_is_read(model in model()) {
        let bytes = model.to_bytes();
        prop_assert_eq!(model.size(), bytes.len());
        let read = Model::from_bytes(&bytes).unwrap();
        prop_assert_eq!(&read, &model);
        prop_assert_eq!(read.to_bytes(), bytes);
    }

    #[test]
    fn every_damage_is_refused(model in model(), at in any::<prop::sample::Index>(), flip in 1_u8..) {
        let bytes = model.to_bytes();
        let at = at.index(bytes.len());
        prop_assert!(Model::from_bytes(&bytes[..at]).is_err());
        let mut damaged = bytes.clone();
        damaged[at] ^= flip;
        prop_assert!(Model::from_bytes(&damaged).is_err());
        prop_assert!(Model::from_bytes(&[&bytes[..], &[0]].concat()).is_err());
    }

    #[test]
    fn a_hostile_file_is_refused_or_read_but_never_panics(
        model in model(), at in any::<prop::sample::Index>(), value in any::<u8>(),
    ) {
        let mut bytes = model.to_bytes();
        let end = bytes.len() - 4;
        bytes[at.index(end)] = value;
        let checksum = crc32c::crc32c(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
        if let Ok(read) = Model::from_bytes(&bytes) {
            prop_assert_eq!(read.to_bytes(), bytes, "there is one file for each model");
        }
    }
}
