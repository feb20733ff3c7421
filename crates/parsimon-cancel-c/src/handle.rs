//! What stands behind a pointer of C: a canceller, pieces of any length, and errors as codes with a message.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parsimon_audio::{AudioError, Canceller, Config};

/// What a function of the C interface returns.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// All went well.
    Ok = 0,
    /// A pointer is null that must not be, or is not aligned for what it points to.
    Pointer = 1,
    /// A setting is out of its range.
    Setting = 2,
    /// A number of samples or bytes cannot be, or a buffer is too small.
    Size = 3,
    /// Saved bytes are damaged or of another version.
    State = 4,
    /// A bug: the canceller refuses further work and can only be freed.
    Panic = 5,
}

/// A code with the words for it.
pub(crate) type Failure = (Code, String);

/// Set in the flags of a new canceller: attenuate what the filter leaves of the echo.
pub(crate) const SUPPRESS: u32 = 1;

/// A canceller of C.
#[derive(Debug)]
pub struct Handle {
    canceller: Canceller,
    broken: bool,
}

impl Handle {
    pub(crate) fn new(rate: u32, taps: usize, flags: u32) -> Result<Self, Failure> {
        if flags & !SUPPRESS != 0 {
            return Err((Code::Setting, format!("flags {flags:#x} has bits that mean nothing")));
        }
        let mut config = Config { suppress: flags & SUPPRESS != 0, ..Config::at(rate) };
        if taps != 0 {
            (config.taps, config.growth) = (taps, 1);
        }
        Ok(Self { canceller: Canceller::new(config).map_err(failure)?, broken: false })
    }

    pub(crate) fn restore(bytes: &[u8]) -> Result<Self, Failure> {
        Ok(Self { canceller: Canceller::restore(bytes).map_err(failure)?, broken: false })
    }

    pub(crate) fn latency(&self) -> usize {
        self.canceller.latency()
    }

    pub(crate) fn save(&self) -> Result<Vec<u8>, Failure> {
        self.check()?;
        Ok(self.canceller.save())
    }

    /// Pieces that are pushed at once; no longer than a block, so that nothing is ever allocated.
    pub(crate) fn piece(&self) -> usize {
        self.canceller.config().block()
    }

    pub(crate) fn push(&mut self, reference: &[f32], microphone: &[f32]) -> &[f32] {
        self.canceller.push(reference, microphone)
    }

    pub(crate) fn check(&self) -> Result<(), Failure> {
        match self.broken {
            true => Err((Code::Panic, "an earlier call panicked; free this canceller".into())),
            false => Ok(()),
        }
    }

    /// Works on the canceller. A panic leaves it in a state that is not known, so it is not used again.
    pub(crate) fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Code {
        let code = guarded(|| {
            self.check()?;
            work(self)
        });
        self.broken |= code == Code::Panic;
        code
    }
}

fn failure(error: AudioError) -> Failure {
    let code = match error {
        AudioError::Setting(_) => Code::Setting,
        _ => Code::State,
    };
    (code, error.to_string())
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::default();
}

/// The words for the last failure of this thread; valid until its next failure.
pub(crate) fn message() -> *const std::ffi::c_char {
    MESSAGE.try_with(|m| m.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

fn remember(words: &str) {
    let words: Vec<u8> = words.bytes().filter(|&b| b != 0).collect();
    let words = CString::new(words).unwrap_or_default();
    // A thread that is ending has no place for a message.
    let _ = MESSAGE.try_with(|m| *m.borrow_mut() = words);
}

/// Runs `work` and turns a failure or a panic into a code and a message.
pub(crate) fn guarded(work: impl FnOnce() -> Result<(), Failure>) -> Code {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Code::Ok,
        Ok(Err((code, words))) => {
            remember(&words);
            code
        }
        Err(cause) => {
            remember("a bug: the canceller panicked");
            // What was thrown may itself panic when it is dropped.
            std::mem::forget(cause);
            Code::Panic
        }
    }
}

/// The words for a code.
pub(crate) fn describe(code: i32) -> &'static CStr {
    match code {
        0 => c"ok",
        1 => c"a pointer is null or not aligned",
        2 => c"a setting is out of range",
        3 => c"a size is out of range or a buffer is too small",
        4 => c"saved bytes are damaged or of another version",
        5 => c"a bug: the canceller panicked",
        _ => c"not a code of parsimon_cancel.h",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_code_and_ends_the_canceller() {
        let mut handle = Handle::new(16_000, 64, 0).unwrap();
        assert_eq!(handle.guarded(|_| panic!("on purpose")), Code::Panic);
        assert_eq!(handle.guarded(|_| Ok(())), Code::Panic);
        assert!(handle.save().is_err());
    }

    #[test]
    fn flags_without_a_meaning_are_refused() {
        assert_eq!(Handle::new(16_000, 0, 2).unwrap_err().0, Code::Setting);
        assert!(Handle::new(16_000, 0, SUPPRESS).is_ok());
    }
}
