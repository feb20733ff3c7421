//! Ctrl-C and the signals that end a program.
//!
//! By default a signal ends the program at once, after it has removed the temporary files of outputs that are not complete.
//! A command that has something to save calls [`stop`]: the first signal then ends the reading of rows, and the second ends the
//! program at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use parsimon::workspace::{Stop, Stopper};

#[derive(Default)]
struct State {
    /// Dropped by the first signal.
    stopper: Option<Stopper>,
    /// The signal that came.
    signal: Option<i32>,
}

/// Whether SIGHUP asks the command to read a file again, and whether it came.
static RELOADS: AtomicBool = AtomicBool::new(false);
static HUNG_UP: AtomicBool = AtomicBool::new(false);

static STATE: Mutex<State> = Mutex::new(State { stopper: None, signal: None });

fn with_state<T>(f: impl FnOnce(&mut State) -> T) -> T {
    f(&mut STATE.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Stops the readers of a command that ends early and keeps its result.
pub(crate) fn stop() -> Stop {
    let (stopper, stop) = Stop::new();
    with_state(|state| match state.signal {
        // The signal arrived before the command was ready.
        Some(_) => drop(stopper),
        None => state.stopper = Some(stopper),
    });
    stop
}

/// From now on SIGHUP does not end the program: see [`hung_up`].
#[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only the service reloads"))]
pub(crate) fn keep_on_hangup() {
    RELOADS.store(true, Ordering::Relaxed);
}

/// Whether SIGHUP came since the last call.
#[cfg_attr(not(feature = "serve"), allow(dead_code, reason = "only the service reloads"))]
pub(crate) fn hung_up() -> bool {
    HUNG_UP.swap(false, Ordering::Relaxed)
}

/// The exit code of a program that a signal ended: 128 and the number of the signal.
pub(crate) fn exit_code() -> u8 {
    let signal = with_state(|state| state.signal).unwrap_or(2);
    u8::try_from(128 + signal).unwrap_or(1)
}

/// Name of the signal in messages.
pub(crate) fn cause() -> &'static str {
    match with_state(|state| state.signal) {
        Some(15) => "terminated",
        Some(1) => "hung up",
        _ => "interrupted",
    }
}

/// Takes a signal. Returns whether the program is to end at once.
#[cfg_attr(not(unix), allow(dead_code, reason = "there are no signals"))]
fn take(signal: i32) -> bool {
    if signal == HANGUP && RELOADS.load(Ordering::Relaxed) {
        HUNG_UP.store(true, Ordering::Relaxed);
        return false;
    }
    with_state(|state| {
        state.signal = Some(signal);
        // Dropping the stopper here stops the readers.
        state.stopper.take().is_none()
    })
}

/// The number of SIGHUP.
const HANGUP: i32 = 1;

/// Waits for signals in a thread. Called before any other thread is started: all of them inherit which signals are blocked.
#[cfg(unix)]
pub(crate) fn watch() {
    let signals = unix::block();
    // Without the thread, signals end the program as they end any other.
    let waiting = std::thread::Builder::new().name("signals".into()).spawn(move || {
        loop {
            let signal = unix::wait(&signals);
            if take(signal) {
                parsimon_files::remove_temporary_files();
                unix::end(128 + signal);
            }
        }
    });
    if waiting.is_err() {
        unix::unblock(&signals);
    }
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// Signals by system calls. A thread that waits for blocked signals needs no handler, which could do almost nothing.
#[cfg(unix)]
mod unix {
    #![allow(unsafe_code, reason = "the standard library has no signals")]

    use std::mem::MaybeUninit;
    use std::ptr;

    const WATCHED: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

    #[derive(Clone, Copy)]
    pub(super) struct Signals(libc::sigset_t);

    /// Blocks the signals in this thread and those it starts; but not those that are ignored, as by `nohup`.
    pub(super) fn block() -> Signals {
        let mut set = MaybeUninit::uninit();
        // SAFETY: sigemptyset initializes the set; the other calls have valid pointers to it, or null where that is allowed.
        unsafe {
            libc::sigemptyset(set.as_mut_ptr());
            let mut set = set.assume_init();
            for signal in WATCHED {
                let mut action = MaybeUninit::<libc::sigaction>::zeroed();
                let asked = libc::sigaction(signal, ptr::null(), action.as_mut_ptr());
                if asked != 0 || action.assume_init().sa_sigaction != libc::SIG_IGN {
                    libc::sigaddset(&raw mut set, signal);
                }
            }
            libc::pthread_sigmask(libc::SIG_BLOCK, &raw const set, ptr::null_mut());
            Signals(set)
        }
    }

    pub(super) fn unblock(signals: &Signals) {
        // SAFETY: the set is initialized, and no earlier one is asked for.
        unsafe {
            libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const signals.0, ptr::null_mut());
        }
    }

    /// The next signal.
    pub(super) fn wait(signals: &Signals) -> i32 {
        let mut signal = 0;
        loop {
            // SAFETY: both pointers are valid for the time of the call.
            if unsafe { libc::sigwait(&raw const signals.0, &raw mut signal) } == 0 {
                return signal;
            }
        }
    }

    /// Ends the process at once: other threads may hold locks that an ordinary exit waits for.
    pub(super) fn end(code: i32) -> ! {
        // SAFETY: the call does not return and touches no memory of ours.
        unsafe { libc::_exit(code) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_signal_stops_readers_and_the_second_ends_the_program() {
        let stop = stop();
        assert!(!stop.is_stopped());
        assert!(!take(15));
        assert!(stop.is_stopped());
        assert_eq!((exit_code(), cause()), (143, "terminated"));
        assert!(take(2));
        assert_eq!((exit_code(), cause()), (130, "interrupted"));
        assert!(super::stop().is_stopped(), "a signal that came before");
        keep_on_hangup();
        assert!(!take(HANGUP));
        assert_eq!((hung_up(), hung_up()), (true, false));
        assert_eq!(cause(), "interrupted");
    }
}
