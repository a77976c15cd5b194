//! Many random inputs, in threads, for a time; a watch over each.

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

/// No file of a few kilobytes may take longer than this, on however busy a machine.
const LONGEST: Duration = Duration::from_secs(10);
/// Models that were made on the way and are damaged further, in each thread.
const KEPT: usize = 512;
/// Longer ones are not: time is better spent on many short ones.
const KEPT_BYTES: usize = 512;
/// Inputs between two looks at the clock.
const TURN: u64 = 256;

pub struct Settings {
    pub time: Duration,
    pub most: u64,
    pub threads: usize,
    pub seed: u64,
}

impl Settings {
    pub fn from_environment() -> Self {
        let number =
            |name: &str| env::var(name).ok().map(|given| given.parse::<u64>().expect(name));
        Self {
            time: Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(3)),
            most: number("FUZZ_INPUTS").unwrap_or(u64::MAX),
            threads: number("FUZZ_THREADS").unwrap_or(2) as usize,
            seed: number("FUZZ_SEED").unwrap_or(0),
        }
    }
}

#[derive(Default)]
pub struct Report {
    pub inputs: u64,
    pub loaded: u64,
    /// How many were refused for each reason.
    pub reasons: BTreeMap<String, u64>,
    pub time: Duration,
    pub seed: u64,
}

impl Report {
    fn add(&mut self, other: Self) {
        self.inputs += other.inputs;
        self.loaded += other.loaded;
        other.reasons.into_iter().for_each(|(why, n)| *self.reasons.entry(why).or_default() += n);
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let refused: u64 = self.reasons.values().sum();
        write!(
            f,
            "{} inputs in {:.0} s (seed {}): {} loaded and scored, {refused} refused for {} reasons",
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

/// What a thread is busy with.
struct Desk {
    input: Mutex<Vec<u8>>,
    turn: AtomicUsize,
}

pub fn run(settings: Settings) -> Report {
    let began = Instant::now();
    let (seeds, stop) = (seeds(), AtomicBool::new(false));
    let desks: Vec<_> = (0..settings.threads)
        .map(|_| Desk { input: Mutex::default(), turn: AtomicUsize::new(0) })
        .collect();
    let mut report = Report { seed: settings.seed, ..Report::default() };
    thread::scope(|scope| {
        let workers: Vec<_> = desks
            .iter()
            .enumerate()
            .map(|(i, desk)| {
                let rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed ^ (i as u64) << 32);
                let (seeds, stop) = (seeds.clone(), &stop);
                let most = settings.most / settings.threads as u64;
                scope.spawn(move || work(desk, Mutator { rng }, seeds, most, stop))
            })
            .collect();
        let mut told = Instant::now();
        let mut seen: Vec<_> = desks.iter().map(|_| (0, Instant::now())).collect();
        while began.elapsed() < settings.time
            && !workers.iter().any(thread::ScopedJoinHandle::is_finished)
        {
            thread::sleep(Duration::from_millis(50));
            desks.iter().zip(&mut seen).for_each(|(desk, seen)| watch(desk, seen));
            if told.elapsed() > Duration::from_secs(60) {
                told = Instant::now();
                let inputs: usize =
                    desks.iter().map(|desk| desk.turn.load(Ordering::Relaxed)).sum();
                eprintln!("{inputs} inputs in {:.0} s", began.elapsed().as_secs_f64());
            }
        }
        stop.store(true, Ordering::Relaxed);
        for worker in workers {
            report.add(worker.join().unwrap());
        }
    });
    Report { time: began.elapsed(), ..report }
}

/// End everything if a thread is at the same inputs for too long.
fn watch(desk: &Desk, (turn, since): &mut (usize, Instant)) {
    let now = desk.turn.load(Ordering::Relaxed);
    if now != *turn {
        (*turn, *since) = (now, Instant::now());
    } else if since.elapsed() > LONGEST * 2 {
        keep(&desk.input.lock().unwrap(), "hangs");
        std::process::abort();
    }
}

fn work(
    desk: &Desk,
    mut mutator: Mutator,
    mut seeds: Vec<Seed>,
    most: u64,
    stop: &AtomicBool,
) -> Report {
    let (mut report, golden) = (Report::default(), seeds.len());
    while report.inputs < most && (report.inputs % TURN != 0 || !stop.load(Ordering::Relaxed)) {
        let (one, other) = (pick(&mut mutator, &seeds), pick(&mut mutator, &seeds));
        let input = mutator.input(&seeds[one], &seeds[other]);
        desk.input.lock().unwrap().clone_from(&input);
        desk.turn.fetch_add(1, Ordering::Relaxed);
        report.inputs += 1;
        match judge(&input) {
            Verdict::Refused(reason) => *report.reasons.entry(reason).or_default() += 1,
            Verdict::Loaded => {
                report.loaded += 1;
                // Few are kept, so that damage adds up over many steps.
                if input.len() <= KEPT_BYTES
                    && mutator.below(16) == 0
                    && let Some(seed) = Seed::new("made on the way", input)
                {
                    if seeds.len() < golden + KEPT {
                        seeds.push(seed);
                    } else {
                        seeds[golden + mutator.below(KEPT)] = seed;
                    }
                }
            }
        }
    }
    report
}

/// The shorter of two: most of the time goes into long ones.
fn pick(mutator: &mut Mutator, seeds: &[Seed]) -> usize {
    let (one, other) = (mutator.below(seeds.len()), mutator.below(seeds.len()));
    if seeds[one].bytes.len() <= seeds[other].bytes.len() { one } else { other }
}

fn judge(input: &[u8]) -> Verdict {
    let began = Instant::now();
    let verdict = catch_unwind(AssertUnwindSafe(|| check(input)));
    let verdict = verdict.unwrap_or_else(|_| panic!("see {}", keep(input, "fails")));
    let time = began.elapsed();
    assert!(time <= LONGEST, "{time:?}: see {}", keep(input, "slow"));
    verdict
}

/// Write an input to `target/fuzz`.
fn keep(input: &[u8], why: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/fuzz");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(format!("{why}-{:08x}.binfm", crc32c::crc32c(input)));
    fs::write(&path, input).unwrap();
    eprintln!("an input of {} bytes {why}: {}", input.len(), path.display());
    path.display().to_string()
}
