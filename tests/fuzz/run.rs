//! Checks random inputs on several threads for a set time, with a watchdog for inputs that hang.

use crate::check::{Verdict, check};
use crate::mutate::Mutator;
use crate::seeds::{Seed, seeds};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fmt, fs, thread};

/// Time limit for one input, which is at most a few kilobytes; generous enough for a busy machine.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Maximum number of inputs that each thread keeps as new seeds.
const MAX_NEW_SEEDS: usize = 512;
/// Longer inputs are not kept: many short ones find more in the same time.
const MAX_NEW_SEED_BYTES: usize = 512;
/// Number of inputs between two checks of the stop flag.
const STOP_INTERVAL: u64 = 256;

pub struct Settings {
    pub time: Duration,
    pub max_inputs: u64,
    pub threads: usize,
    pub seed: u64,
}

impl Settings {
    pub fn from_environment() -> Self {
        let number =
            |name: &str| env::var(name).ok().map(|value| value.parse::<u64>().expect(name));
        Self {
            time: Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(3)),
            max_inputs: number("FUZZ_INPUTS").unwrap_or(u64::MAX),
            threads: number("FUZZ_THREADS").unwrap_or(2) as usize,
            seed: number("FUZZ_SEED").unwrap_or(0),
        }
    }
}

#[derive(Default)]
pub struct Report {
    pub inputs: u64,
    pub loaded: u64,
    /// Number of inputs rejected for each reason.
    pub reasons: BTreeMap<String, u64>,
    pub time: Duration,
    pub seed: u64,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.loaded += other.loaded;
        other
            .reasons
            .into_iter()
            .for_each(|(reason, n)| *self.reasons.entry(reason).or_default() += n);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let rejected: u64 = self.reasons.values().sum();
        write!(
            f,
            "{} inputs in {:.0} s (seed {}): {} loaded and scored, {rejected} rejected for {} reasons",
            self.inputs,
            self.time.as_secs_f64(),
            self.seed,
            self.loaded,
            self.reasons.len()
        )?;
        if env::var_os("FUZZ_REASONS").is_some() {
            self.reasons.iter().try_for_each(|(reason, n)| write!(f, "\n{n:>12}  {reason}"))?;
        }
        Ok(())
    }
}

/// The current input of a worker thread, and the number of inputs it has started.
struct WorkerState {
    input: Mutex<Vec<u8>>,
    inputs: AtomicUsize,
}

/// Runs the fuzzer until the time is up or a worker has finished.
pub fn run(settings: Settings) -> Report {
    let started = Instant::now();
    let (seeds, stop) = (seeds(), AtomicBool::new(false));
    let states: Vec<_> = (0..settings.threads)
        .map(|_| WorkerState { input: Mutex::default(), inputs: AtomicUsize::new(0) })
        .collect();
    let mut report = Report { seed: settings.seed, ..Report::default() };
    thread::scope(|scope| {
        let workers: Vec<_> = states
            .iter()
            .enumerate()
            .map(|(i, state)| {
                let rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed ^ (i as u64) << 32);
                let (seeds, stop) = (seeds.clone(), &stop);
                let max_inputs = settings.max_inputs / settings.threads as u64;
                scope.spawn(move || work(state, Mutator { rng }, seeds, max_inputs, stop))
            })
            .collect();
        let mut last_message = Instant::now();
        let mut seen: Vec<_> = states.iter().map(|_| (0, Instant::now())).collect();
        while started.elapsed() < settings.time
            && !workers.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(50));
            states.iter().zip(&mut seen).for_each(|(state, seen)| abort_if_stuck(state, seen));
            if last_message.elapsed() > Duration::from_secs(60) {
                last_message = Instant::now();
                let inputs: usize =
                    states.iter().map(|state| state.inputs.load(Ordering::Relaxed)).sum();
                eprintln!("{inputs} inputs in {:.0} s", started.elapsed().as_secs_f64());
            }
        }
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            report.add(worker.join().unwrap());
        }
    });
    Report { time: started.elapsed(), ..report }
}

/// Aborts the process if a worker spends too long on one input.
fn abort_if_stuck(state: &WorkerState, (last, since): &mut (usize, Instant)) {
    let now = state.inputs.load(Ordering::Relaxed);
    if now != *last {
        (*last, *since) = (now, Instant::now());
    } else if since.elapsed() > TIME_LIMIT * 2 {
        save(&state.input.lock().unwrap(), "hangs");
        std::process::abort();
    }
}

/// Mutates seeds and checks the results until told to stop or `max_inputs` is reached.
fn work(
    state: &WorkerState,
    mut mutator: Mutator,
    mut seeds: Vec<Seed>,
    max_inputs: u64,
    stop: &AtomicBool,
) -> Report {
    let (mut report, golden) = (Report::default(), seeds.len());
    while report.inputs < max_inputs
        && (report.inputs % STOP_INTERVAL != 0 || !stop.load(Ordering::Relaxed))
    {
        let (one, other) = (pick(&mut mutator, &seeds), pick(&mut mutator, &seeds));
        let input = mutator.input(&seeds[one], &seeds[other]);
        state.input.lock().unwrap().clone_from(&input);
        state.inputs.fetch_add(1, Ordering::Relaxed);
        report.inputs += 1;
        match check_or_save(&input) {
            Verdict::Rejected(reason) => *report.reasons.entry(reason).or_default() += 1,
            Verdict::Loaded => {
                report.loaded += 1;
                // Keep a few as seeds, so that mutations accumulate.
                if input.len() <= MAX_NEW_SEED_BYTES
                    && mutator.below(16) == 0
                    && let Some(seed) = Seed::new("mutated", input)
                {
                    if seeds.len() < golden + MAX_NEW_SEEDS {
                        seeds.push(seed);
                    } else {
                        seeds[golden + mutator.below(MAX_NEW_SEEDS)] = seed;
                    }
                }
            }
        }
    }
    report
}

/// Picks the shorter of two random seeds, because long ones take most of the time.
fn pick(mutator: &mut Mutator, seeds: &[Seed]) -> usize {
    let (one, other) = (mutator.below(seeds.len()), mutator.below(seeds.len()));
    if seeds[one].bytes.len() <= seeds[other].bytes.len() { one } else { other }
}

/// Checks an input; saves it and panics if a check fails or takes too long.
fn check_or_save(input: &[u8]) -> Verdict {
    let started = Instant::now();
    let verdict = catch_unwind(AssertUnwindSafe(|| check(input)));
    let verdict = verdict.unwrap_or_else(|_| panic!("see {}", save(input, "fails")));
    let time = started.elapsed();
    assert!(time <= TIME_LIMIT, "{time:?}: see {}", save(input, "slow"));
    verdict
}

/// Writes an input to `target/fuzz` and returns its path.
fn save(input: &[u8], symptom: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{symptom}-{:08x}.binfm", crc32c::crc32c(input)));
    fs::write(&path, input).unwrap();
    eprintln!("{symptom}: an input of {} bytes, saved as {}", input.len(), path.display());
    path.display().to_string()
}
