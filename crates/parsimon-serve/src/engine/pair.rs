//! Two copies of one thing: one is read while the other is written.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock, RwLockReadGuard, TryLockError};

/// Two copies that are changed alike, one after the other. Readers see the copy that is not being changed and never wait for a
/// change; the one writer waits for the readers of the copy that it changes.
#[derive(Debug)]
pub(crate) struct Pair<T> {
    sides: [RwLock<T>; 2],
    shown: AtomicUsize,
}

impl<T> Pair<T> {
    /// Two equal copies.
    pub(crate) fn new(one: T, other: T) -> Self {
        Self { sides: [RwLock::new(one), RwLock::new(other)], shown: AtomicUsize::new(0) }
    }

    /// The copy that is shown. It stays as it is until the guard is dropped, and the writer waits for that: guards are for a
    /// few hundred rows, not for an answer to a client.
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, T> {
        loop {
            let shown = self.shown.load(Ordering::Acquire);
            match self.sides[shown].try_read() {
                // Swapped between load and lock, it may be a change ahead of what is shown, and the next reader would go back.
                Ok(guard) if self.shown.load(Ordering::Acquire) == shown => return guard,
                Ok(_) => {}
                // A writer that panicked was at work on the other side; what is shown is whole.
                Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
                // The sides were swapped since the load: the other one is free.
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
    }

    /// Changes the copy that is not shown, shows it, and changes the other. The change must be the same both times. For one
    /// thread: a second writer would wait.
    pub(crate) fn write<R>(&self, mut change: impl FnMut(&mut T) -> R) -> R {
        let back = 1 - self.shown.load(Ordering::Acquire);
        let first = change(&mut self.sides[back].write().unwrap_or_else(PoisonError::into_inner));
        self.shown.store(back, Ordering::Release);
        change(&mut self.sides[1 - back].write().unwrap_or_else(PoisonError::into_inner));
        first
    }

    /// Like [`write`](Self::write) for a change that may fail and return false. The copy is then made again from
    /// the other one, and the change is tried again; it has to leave out what spoiled it.
    pub(crate) fn write_mending<E>(
        &self,
        mut change: impl FnMut(&mut T) -> bool,
        copy: impl Fn(&T) -> Result<T, E>,
    ) -> Result<(), E> {
        let back = 1 - self.shown.load(Ordering::Acquire);
        let mut side = self.sides[back].write().unwrap_or_else(PoisonError::into_inner);
        while !change(&mut side) {
            *side = copy(&self.sides[1 - back].read().unwrap_or_else(PoisonError::into_inner))?;
        }
        drop(side);
        self.shown.store(back, Ordering::Release);
        change(&mut self.sides[1 - back].write().unwrap_or_else(PoisonError::into_inner));
        Ok(())
    }

    /// Looks at the copy that is not shown for as long as it takes. For the thread that writes.
    pub(crate) fn look<R>(&self, look: impl FnOnce(&T) -> R) -> R {
        let back = 1 - self.shown.load(Ordering::Acquire);
        look(&self.sides[back].read().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn readers_see_whole_changes_in_order_and_never_wait_for_one() {
        let pair = Pair::new((0u64, 0u64), (0, 0));
        let is_done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    let mut last = 0;
                    while !is_done.load(Ordering::Relaxed) {
                        let (a, b) = *pair.read();
                        assert!(a == b && a >= last, "{a} {b} {last}");
                        last = a;
                    }
                });
            }
            for n in 1..=2000 {
                pair.write(|sides| {
                    sides.0 = n;
                    std::thread::yield_now();
                    sides.1 = n;
                });
            }
            is_done.store(true, Ordering::Relaxed);
        });
        assert_eq!((*pair.read(), pair.look(|sides| *sides)), ((2000, 2000), (2000, 2000)));
    }

    #[test]
    fn a_change_that_spoils_is_undone() {
        let pair = Pair::new(vec![1], vec![1]);
        let mut bad = Vec::new();
        let change = |list: &mut Vec<i32>| {
            for n in 2..6 {
                if !bad.contains(&n) {
                    list.push(n);
                    if n % 2 == 0 {
                        bad.push(n);
                        return false;
                    }
                }
            }
            true
        };
        pair.write_mending(change, |good| Ok::<_, ()>(good.clone())).unwrap();
        assert_eq!((pair.read().clone(), pair.look(Clone::clone)), (vec![1, 3, 5], vec![1, 3, 5]));
        assert_eq!(pair.write_mending(|_| false, |_| Err("no copy")), Err("no copy"));
    }

    #[test]
    fn a_reader_is_served_while_the_writer_waits_for_another() {
        let pair = Pair::new(0, 0);
        std::thread::scope(|scope| {
            let old = pair.read();
            let writer = scope.spawn(|| pair.write(|n| *n += 1));
            while *pair.read() == 0 {
                std::thread::yield_now();
            }
            assert_eq!((*old, *pair.read()), (0, 1));
            assert!(!writer.is_finished());
            drop(old);
        });
        assert_eq!(pair.look(|n| *n), 1);
    }
}
