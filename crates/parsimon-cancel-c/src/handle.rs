//! The object behind a C pointer: a canceller that accepts pieces of any length and reports errors as codes with a message.

use std::cell::RefCell;
use std::ffi::{CStr, CString};
use std::panic::{AssertUnwindSafe, catch_unwind};

use parsimon_audio::{AudioError, Config, Duplex};

/// Return codes of the C interface.
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
/// Loudspeaker and microphone share one clock: do not look for a drift.
pub(crate) const ONE_CLOCK: u32 = 2;
/// Keep hum, rumble and offsets below 100 Hz.
pub(crate) const KEEP_RUMBLE: u32 = 4;

/// The settings of a canceller; see the header.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Samples per second.
    pub rate: u32,
    /// Samples of the echo path, 0 for the default.
    pub taps: u32,
    /// Flags of the header.
    pub flags: u32,
    /// Delay of the echo in samples, where it is known.
    pub delay: u32,
    /// Longest delay to search for in milliseconds, 0 for none.
    pub search_ms: u32,
    /// Number of loudspeakers, 0 for one.
    pub loudspeakers: u32,
    /// Number of microphones, 0 for one.
    pub microphones: u32,
}

/// The status of a canceller; see the header.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Status {
    /// By how many dB the microphone has become quieter.
    pub erle_db: f32,
    /// The delay applied to the reference, in milliseconds.
    pub delay_ms: f32,
    /// The drift of the clocks in parts per million.
    pub drift_ppm: f32,
    /// 1 while the near end speaks over the echo.
    pub double_talk: i32,
    /// Frames processed.
    pub frames: u64,
    /// Frames played and not yet used.
    pub waiting: u64,
    /// Frames recorded without played ones.
    pub missing: u64,
    /// Frames played and dropped.
    pub dropped: u64,
    /// Samples that were not finite.
    pub not_finite: u64,
}

/// A canceller of C.
#[derive(Debug)]
pub struct Handle {
    duplex: Duplex,
    warning: CString,
    broken: bool,
}

impl Handle {
    pub(crate) fn new(settings: Settings) -> Result<Self, Failure> {
        let Settings { rate, taps, flags, delay, search_ms, loudspeakers, microphones } = settings;
        if flags & !(SUPPRESS | ONE_CLOCK | KEEP_RUMBLE) != 0 {
            return Err((Code::Setting, format!("flags {flags:#x} has bits that mean nothing")));
        }
        let mut config = Config {
            suppress: flags & SUPPRESS != 0,
            drift: flags & ONE_CLOCK == 0,
            high_pass: flags & KEEP_RUMBLE == 0,
            delay: delay as usize,
            search: search_ms as f32 / 1000.0,
            ..Config::at(rate)
        };
        if taps != 0 {
            (config.taps, config.growth) = (taps as usize, 1);
        }
        let counts = [loudspeakers, microphones].map(|n| n.max(1) as usize);
        let duplex = Duplex::with_channels(config, counts[0], counts[1]).map_err(failure)?;
        Ok(Self { duplex, warning: CString::default(), broken: false })
    }

    pub(crate) fn restore(bytes: &[u8]) -> Result<Self, Failure> {
        let duplex = Duplex::restore(bytes).map_err(failure)?;
        Ok(Self { duplex, warning: CString::default(), broken: false })
    }

    pub(crate) fn latency(&self) -> usize {
        self.duplex.latency()
    }

    pub(crate) fn save(&self) -> Result<Vec<u8>, Failure> {
        self.check()?;
        Ok(self.duplex.save())
    }

    /// Frames that are processed at once; no more than a block, so that nothing is ever allocated.
    pub(crate) fn piece(&self) -> usize {
        self.duplex.canceller().config().block()
    }

    /// Numbers of loudspeakers and microphones.
    pub(crate) fn channels(&self) -> [usize; 2] {
        [self.duplex.speakers(), self.duplex.microphones()]
    }

    pub(crate) fn play(&mut self, reference: &[f32]) {
        self.duplex.play(reference);
    }

    pub(crate) fn record(&mut self, microphone: &[f32]) -> &[f32] {
        self.duplex.record(microphone)
    }

    pub(crate) fn reset(&mut self) -> Result<(), Failure> {
        self.duplex.reset().map_err(failure)
    }

    pub(crate) fn status(&self) -> Status {
        let (duplex, canceller) = (&self.duplex, self.duplex.canceller());
        let rate = canceller.config().rate as f32;
        let counts = canceller.status();
        Status {
            erle_db: canceller.recent_erle().unwrap_or(0.0),
            delay_ms: 1000.0 * canceller.delay() as f32 / rate,
            drift_ppm: canceller.drift_ppm() as f32,
            double_talk: canceller.double_talk().into(),
            frames: counts.samples,
            waiting: duplex.waiting() as u64,
            missing: duplex.missing(),
            dropped: duplex.dropped(),
            not_finite: counts.not_finite,
        }
    }

    /// The faults of the signals in words, or an empty text. Valid until the next call.
    pub(crate) fn warning(&mut self) -> &CStr {
        let words = self.duplex.warning().map_or_else(String::new, |warning| warning.to_string());
        self.warning = CString::new(words).unwrap_or_default();
        &self.warning
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
            // The payload of the panic may itself panic when it is dropped.
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

    fn settings(flags: u32) -> Settings {
        Settings {
            rate: 16_000,
            taps: 64,
            flags,
            delay: 0,
            search_ms: 0,
            loudspeakers: 0,
            microphones: 0,
        }
    }

    #[test]
    fn a_panic_is_a_code_and_ends_the_canceller() {
        let mut handle = Handle::new(settings(0)).unwrap();
        assert_eq!(handle.guarded(|_| panic!("on purpose")), Code::Panic);
        assert_eq!(handle.guarded(|_| Ok(())), Code::Panic);
        assert!(handle.save().is_err());
    }

    #[test]
    fn flags_without_a_meaning_are_refused() {
        assert_eq!(Handle::new(settings(8)).unwrap_err().0, Code::Setting);
        assert!(Handle::new(settings(SUPPRESS | ONE_CLOCK | KEEP_RUMBLE)).is_ok());
    }
}
