//! How many threads to use, and a pool of them that survives `fork`.
//!
//! rayon's global pool does not survive a fork: the child's first parallel call waits forever for threads that were
//! not copied. So this module keeps a pool of its own, created by the first call that needs one and tagged with the
//! process that created it. A child sees that the pool is not its own, leaves it alone and creates another.

use crate::memory::{collect, try_collect, with_capacity};
use crate::{Error, Result};
use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// A flag by which the caller ends work early. Workers check it every few thousand samples or more often.
#[derive(Debug, Default)]
pub struct Stop(AtomicBool);

impl Stop {
    /// Asks the work to end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Fails once the work has been asked to end.
    ///
    /// # Errors
    /// [`Error::Stopped`].
    pub fn check(&self) -> Result<()> {
        if self.0.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// The calling thread alone, or a pool.
#[derive(Clone)]
pub struct Threads(Option<Arc<Pool>>);

/// A pool and the process that created it. Dropping a pool in another process would wait for threads that do not
/// exist there.
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
    /// Uses the calling thread alone.
    pub fn single() -> Self {
        Self(None)
    }

    /// Uses as many threads as `n_jobs` means; see [`count`].
    ///
    /// # Errors
    /// If `n_jobs` is out of range or the threads cannot be started.
    pub fn new(n_jobs: Option<i64>) -> Result<Self> {
        match count(n_jobs)? {
            1 => Ok(Self::single()),
            threads => shared_pool(threads).map(|pool| Self(Some(pool))),
        }
    }

    /// Returns the number of threads.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.threads)
    }

    /// Applies `work` to each item and returns the results in order. Each thread has a scratch of its own; a single
    /// thread consumes the items lazily.
    ///
    /// # Errors
    /// The first error of `work`.
    pub fn map<I: Send, S, R: Send>(
        &self,
        items: impl IntoIterator<Item = I>,
        scratch: impl Fn() -> S + Sync + Send,
        work: impl Fn(&mut S, I) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        if let Some(workers) = self.0.as_ref().and_then(|shared| shared.workers.as_ref()) {
            let items = collect(items)?;
            let mut results = with_capacity(items.len())?;
            results.resize_with(items.len(), || None);
            let pairs = items.into_par_iter().zip(results.par_iter_mut());
            workers.install(|| {
                pairs.try_for_each_init(scratch, |scratch, (item, result)| {
                    *result = Some(work(scratch, item)?);
                    Ok(())
                })
            })?;
            return collect(results.into_iter().flatten());
        }
        let mut scratch = scratch();
        try_collect(items.into_iter().map(|item| work(&mut scratch, item)))
    }
}

/// More threads than any machine has cores today; a bound against typing errors.
const MAX_THREADS: i64 = 4096;

/// Returns the number of threads that `n_jobs` means, without starting any: −1 is all cores, −2 all but one and so on,
/// `None` is `RAYON_NUM_THREADS` or else all cores that this process may use.
///
/// # Errors
/// If `n_jobs` is out of range.
pub fn count(n_jobs: Option<i64>) -> Result<usize> {
    check(n_jobs)?;
    Ok(match n_jobs {
        None => default_count(),
        Some(n @ ..0) => (cores() as i64 + 1).saturating_add(n).max(1) as usize,
        Some(n) => n as usize,
    })
}

/// Checks the range of `n_jobs`; unlike [`count`] it makes no system call.
///
/// # Errors
/// If it is out of range.
pub fn check(n_jobs: Option<i64>) -> Result<()> {
    match n_jobs {
        None | Some(..=-1 | 1..=MAX_THREADS) => Ok(()),
        Some(n) => {
            let must = format!("be None, -1 (all cores), -2 (all but one) and so on, or 1 to {MAX_THREADS}");
            Err(Error::value("n_jobs", must, n))
        }
    }
}

/// Asks the system once: the call takes a hundred times longer than scoring a sample.
fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

fn default_count() -> usize {
    let named =
        std::env::var("RAYON_NUM_THREADS").ok().and_then(|n| n.trim().parse::<usize>().ok());
    named.filter(|n| (1..=MAX_THREADS as usize).contains(n)).unwrap_or_else(cores)
}

/// Returns this process's pool of that many threads, creating it if necessary.
///
/// The lock is held for a few instructions and never waited for: a fork may have copied it while it was held.
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
    drop(old); // outside the lock: joining a pool's threads takes a while
    Ok(pool)
}
