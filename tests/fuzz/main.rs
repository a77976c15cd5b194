//! Hostile files: any bytes are either rejected or load as a model that scores, within bounded memory.
//!
//! Environment variables: `FUZZ_SECONDS` is the time to spend on random inputs, and makes the other tests exhaustive;
//! `FUZZ_INPUTS` limits the number of random inputs, `FUZZ_THREADS` sets the number of threads, `FUZZ_SEED` the random
//! seed, and `FUZZ_REASONS` prints how often each reason for rejection occurred.
//!
//! A failing input is written to `target/fuzz`. Once it is fixed, add it to `tests/fuzz/found` as a regression test.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code, missing_docs)]

mod check;
mod extremes;
mod memory;
mod mutate;
mod run;
mod seeds;
mod worst;

use check::{Verdict, check};
use seeds::{regressions, sealed, seeds};

/// Returns true if the tests should be exhaustive; without `FUZZ_SECONDS` they take only a few seconds.
fn exhaustive() -> bool {
    std::env::var_os("FUZZ_SECONDS").is_some()
}

#[test]
fn seeds_load_and_regressions_stay_rejected() {
    for seed in seeds() {
        assert_eq!(check(&seed.bytes), Verdict::Loaded, "{}", seed.name);
    }
    for (name, bytes) in regressions() {
        assert_ne!(check(&bytes), Verdict::Loaded, "{name}");
    }
}

#[test]
fn truncated_files_and_flipped_bits_are_rejected() {
    let mut inputs = 0;
    for seed in seeds() {
        for end in 0..seed.bytes.len() {
            assert!(
                matches!(check(&seed.bytes[..end]), Verdict::Rejected(_)),
                "{} {end}",
                seed.name
            );
        }
        let mut bytes = seed.bytes.clone();
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(check(&bytes), Verdict::Rejected(_)), "{} bit {bit}", seed.name);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        inputs += 9 * bytes.len();
    }
    println!("{inputs} files truncated or with one bit flipped: all rejected");
}

#[test]
fn flipped_bits_with_a_valid_checksum_are_rejected_or_score() {
    let (mut inputs, mut loaded) = (0, 0);
    for seed in seeds() {
        for bit in 0..8 * seed.body().len() {
            if seed.weights.contains(&(bit / 8)) && bit % 61 > 0 && !exhaustive() {
                continue;
            }
            let mut body = seed.body().to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            inputs += 1;
            loaded += usize::from(check(&sealed(body)) == Verdict::Loaded);
        }
    }
    println!(
        "{inputs} files with one bit flipped and a valid checksum: {loaded} loaded and scored"
    );
}

#[test]
fn extreme_numbers_are_rejected_or_score() {
    let (mut inputs, mut loaded) = (0, 0);
    let step = if exhaustive() { 1 } else { 5 };
    for seed in seeds() {
        for body in extremes::bodies(&seed).step_by(step) {
            inputs += 1;
            loaded += usize::from(check(&sealed(body)) == Verdict::Loaded);
        }
    }
    println!(
        "{inputs} files with an extreme number and a valid checksum: {loaded} loaded and scored"
    );
}

#[test]
fn random_mutations_are_rejected_or_score() {
    let report = run::run(run::Settings::from_environment());
    println!("{report}");
    assert!(
        report.loaded > 0 && report.reasons.len() > 10,
        "mutations must reach every part of the file"
    );
}
