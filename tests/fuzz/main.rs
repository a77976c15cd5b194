//! Hostile files: whatever the bytes say, they are refused, or they are a model that scores, within a bounded memory.
//!
//! `FUZZ_SECONDS` is the time that is spent on random inputs, `FUZZ_THREADS` the threads, `FUZZ_SEED` repeats a run.
//! An input that fails is written to `target/fuzz`; once it is understood it belongs into `tests/fuzz/found`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, unsafe_code, missing_docs)]

mod check;
mod extremes;
mod memory;
mod mutate;
mod run;
mod seeds;
mod worst;

use check::{Verdict, check};
use seeds::{found, seeds, signed};

/// Whether there is time for everything: without `FUZZ_SECONDS` a few seconds have to do.
fn thorough() -> bool {
    std::env::var_os("FUZZ_SECONDS").is_some()
}

#[test]
fn the_seeds_are_models_and_what_was_found_stays_fixed() {
    for seed in seeds() {
        assert_eq!(check(&seed.bytes), Verdict::Loaded, "{}", seed.name);
    }
    for (name, bytes) in found() {
        assert_ne!(check(&bytes), Verdict::Loaded, "{name}");
    }
}

#[test]
fn every_file_that_is_cut_or_has_a_flipped_bit_is_refused() {
    let mut inputs = 0;
    for seed in seeds() {
        for end in 0..seed.bytes.len() {
            assert!(
                matches!(check(&seed.bytes[..end]), Verdict::Refused(_)),
                "{} {end}",
                seed.name
            );
        }
        let mut bytes = seed.bytes.clone();
        for bit in 0..8 * bytes.len() {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(matches!(check(&bytes), Verdict::Refused(_)), "{} bit {bit}", seed.name);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
        inputs += 9 * bytes.len();
    }
    println!("{inputs} files cut or with one bit flipped: all refused");
}

#[test]
fn every_flipped_bit_with_the_right_checksum_is_refused_or_scores() {
    let (mut inputs, mut loaded) = (0, 0);
    for seed in seeds() {
        for bit in 0..8 * seed.body().len() {
            if seed.bits.contains(&(bit / 8)) && bit % 61 > 0 && !thorough() {
                continue;
            }
            let mut body = seed.body().to_vec();
            body[bit / 8] ^= 1 << (bit % 8);
            inputs += 1;
            loaded += usize::from(check(&signed(body)) == Verdict::Loaded);
        }
    }
    println!("{inputs} signed files with one bit flipped: {loaded} loaded and scored");
}

#[test]
fn every_number_at_its_extremes_is_refused_or_scores() {
    let (mut inputs, mut loaded) = (0, 0);
    let step = if thorough() { 1 } else { 5 };
    for seed in seeds() {
        for body in extremes::of(&seed).step_by(step) {
            inputs += 1;
            loaded += usize::from(check(&signed(body)) == Verdict::Loaded);
        }
    }
    println!("{inputs} signed files with a number at an extreme: {loaded} loaded and scored");
}

#[test]
fn random_damage_and_splices_are_refused_or_score() {
    let report = run::run(run::Settings::from_environment());
    println!("{report}");
    assert!(report.loaded > 0 && report.reasons.len() > 10, "the mutations reach into the file");
}
