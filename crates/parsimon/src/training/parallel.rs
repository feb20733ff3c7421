//! Parallel work on several threads.

use std::sync::{Mutex, PoisonError};
use std::thread;

use parsimon_files::threads;

/// Applies `work` to every item, each in one thread: the result does not depend on the number of threads.
pub(crate) fn in_parallel<T: Send>(threads: usize, items: &mut [T], work: impl Fn(&mut T) + Sync) {
    let threads = threads::usable(threads).min(items.len());
    if threads < 2 {
        return items.iter_mut().for_each(work);
    }
    let queue = Mutex::new(items.iter_mut());
    // A panic of a thread ends the others, so that its partial results are never used.
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let drain = || {
        while let Some(item) = next() {
            work(item);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // If the system allows no more threads, the existing ones do the work.
            if thread::Builder::new().spawn_scoped(scope, drain).is_err() {
                break;
            }
        }
        drain();
    });
}
