//! Threads: how many, and a pool that survives `fork`.
//!
//! rayon's own global pool is lost in a forked child: the first parallel call there waits for ever for threads that
//! were not copied. So the pool is ours, is made at the first call that needs it, and is known by the process that
//! made it; a child finds that the pool is not its own, leaves it alone and makes another.

use crate::{Error, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Set by the caller to end work early; looked at every few thousand rows.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Ask the work to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails once the work was asked to end.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// A number of threads: one (the caller's own) or a pool.
#[derive(Clone)]
pub struct Threads(Option<Arc<Pool>>);

/// A pool and the process that made it. Dropping it in another process would wait for threads that are not there.
struct Pool {
    process: u32,
    threads: usize,
    workers: Option<ThreadPool>,
}

impl Drop for Pool {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            std::mem::forget(self.workers.take());
        }
    }
}

static SHARED: Mutex<Option<Arc<Pool>>> = Mutex::new(None);

impl Threads {
    /// The caller's thread alone.
    pub fn one() -> Self {
        Self(None)
    }

    /// As many as asked for; `None` is `RAYON_NUM_THREADS`, or else all cores this process may use.
    ///
    /// # Errors
    /// If `n_jobs` is not accepted or the threads cannot be started.
    pub fn new(n_jobs: Option<i64>) -> Result<Self> {
        Self::start(wanted(n_jobs)?)
    }

    /// So many.
    ///
    /// # Errors
    /// If they cannot be started.
    pub fn start(threads: usize) -> Result<Self> {
        match threads {
            1 => Ok(Self::one()),
            _ => shared_pool(threads).map(|pool| Self(Some(pool))),
        }
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.threads)
    }

    /// Do `work` on each item and give the results in order. Each thread has a scratch of its own. One thread takes
    /// the items as they come.
    ///
    /// # Errors
    /// The first that the work gives.
    pub fn map<I: Send, S, R: Send>(
        &self,
        items: impl IntoIterator<Item = I>,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, I) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        if let Some(workers) = self.0.as_ref().and_then(|shared| shared.workers.as_ref()) {
            let items: Vec<I> = items.into_iter().collect();
            return workers.install(|| items.into_par_iter().map_init(scratch, work).collect());
        }
        let mut scratch = scratch();
        items.into_iter().map(|item| work(&mut scratch, item)).collect()
    }
}

/// More threads than any machine of today has cores; a limit for mistakes.
const MOST_THREADS: i64 = 4096;

/// The number of threads that `n_jobs` asks for; none is started.
///
/// # Errors
/// If it is not accepted.
pub fn wanted(n_jobs: Option<i64>) -> Result<usize> {
    check(n_jobs)?;
    Ok(match n_jobs {
        None => default_threads(),
        Some(-1) => cores(),
        Some(n) => n as usize,
    })
}

/// Whether `n_jobs` is accepted; unlike [`wanted`] it does not ask the system for anything.
///
/// # Errors
/// If it is not.
pub fn check(n_jobs: Option<i64>) -> Result<()> {
    match n_jobs {
        None | Some(-1 | 1..=MOST_THREADS) => Ok(()),
        Some(n) => {
            let accepted = format!("are None, -1 (all cores) and 1 to {MOST_THREADS}");
            Err(Error::value("n_jobs", n, accepted))
        }
    }
}

/// Asking takes a hundred times longer than scoring a row, so it is asked once.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn default_threads() -> usize {
    let named =
        std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.trim().parse::<usize>().ok());
    named.filter(|n| (1..=MOST_THREADS as usize).contains(n)).unwrap_or_else(cores)
}

/// The pool of this process with that many threads, made if need be.
///
/// The lock is held for a few instructions only, and never waited for: a fork may have copied it locked.
fn shared_pool(threads: usize) -> Result<Arc<Pool>> {
    let process = std::process::id();
    let fits = |pool: &Arc<Pool>| pool.process == process && pool.threads == threads;
    if let Ok(shared) = SHARED.try_lock()
        && let Some(pool) = shared.as_ref().filter(|pool| fits(pool))
    {
        return Ok(Arc::clone(pool));
    }
    let workers = ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|i| format!("binfm-{i}"))
        .build()
        .map_err(|_| Error::Threads(threads))?;
    let pool = Arc::new(Pool { process, threads, workers: Some(workers) });
    let old = SHARED.try_lock().ok().and_then(|mut shared| shared.replace(Arc::clone(&pool)));
    drop(old); // outside the lock: ending a pool's threads takes a while
    Ok(pool)
}
