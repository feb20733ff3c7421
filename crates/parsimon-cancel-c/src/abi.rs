//! The functions of `parsimon_cancel.h`: raw pointers of C, checked and copied from and to in pieces.
//!
//! No slice is ever made of memory of the caller that is written to, so input and output may be the same array. What
//! cannot be checked is the caller's promise, and the header names it: a pointer that is not null points to as many
//! items as the call says, a canceller comes from this library and is used by one thread at a time.

#![allow(unsafe_code, reason = "a C interface is raw pointers; every block has its argument")]

use std::ffi::{c_char, c_int};
use std::ptr;

use crate::handle::{Code, Failure, Handle, Settings, Status, describe, guarded, message};

/// The largest block of any rate.
const PIECE: usize = 256;

/// The least alignment and the presence of `count` items at `pointer`.
fn check<T>(pointer: *const T, count: usize, name: &str) -> Result<(), Failure> {
    if count > isize::MAX as usize / size_of::<T>().max(1) {
        return Err((Code::Size, format!("{count} items of {name} exceed the address space")));
    }
    if pointer.is_null() {
        return Err((Code::Pointer, format!("{name} is null")));
    }
    if !pointer.is_aligned() {
        return Err((Code::Pointer, format!("{name} is not aligned to {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// Hands a new canceller to the caller.
fn deliver(
    out: *mut *mut Handle,
    make: impl FnOnce() -> Result<Handle, Failure>,
) -> Result<(), Failure> {
    check(out, 1, "out")?;
    // SAFETY: `out` is not null and aligned; the caller promises that it may be written.
    unsafe { out.write(ptr::null_mut()) };
    let handle = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { out.write(handle) };
    Ok(())
}

/// A new canceller; see the header.
///
/// # Safety
///
/// `out` is null or points to a pointer that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_new(
    rate: u32,
    taps: usize,
    flags: u32,
    out: *mut *mut Handle,
) -> c_int {
    guarded(|| {
        let taps = u32::try_from(taps).unwrap_or(u32::MAX);
        let one =
            Settings { rate, taps, flags, delay: 0, search_ms: 0, loudspeakers: 1, microphones: 1 };
        deliver(out, || Handle::new(one))
    }) as c_int
}

/// A new canceller with all settings; see the header.
///
/// # Safety
///
/// `settings` is null or points to settings, `out` is null or points to a pointer that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_open(
    settings: *const Settings,
    out: *mut *mut Handle,
) -> c_int {
    guarded(|| {
        check(settings, 1, "settings")?;
        // SAFETY: not null and aligned; the caller promises that it may be read.
        let settings = unsafe { settings.read() };
        deliver(out, || Handle::new(settings))
    }) as c_int
}

/// A canceller from saved bytes; see the header.
///
/// # Safety
///
/// `bytes` is null or points to `size` bytes, `out` is null or points to a pointer that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_restore(
    bytes: *const u8,
    size: usize,
    out: *mut *mut Handle,
) -> c_int {
    guarded(|| {
        check(bytes, size, "bytes")?;
        // SAFETY: not null, aligned, no larger than the address space; the caller promises `size` bytes that do not
        // change during the call.
        let bytes = unsafe { std::slice::from_raw_parts(bytes, size) };
        deliver(out, || Handle::restore(bytes))
    }) as c_int
}

/// Frees a canceller; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_free(canceller: *mut Handle) {
    if canceller.is_null() {
        return;
    }
    // SAFETY: made by `Box::into_raw` in `deliver`; the caller promises that it is freed once.
    let handle = unsafe { Box::from_raw(canceller) };
    guarded(|| {
        drop(handle);
        Ok(())
    });
}

/// By how many samples the output is late, 0 for a null pointer; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_latency(canceller: *const Handle) -> usize {
    // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
    unsafe { canceller.as_ref() }.map_or(0, Handle::latency)
}

/// A sample of C as a float, and back.
trait Sample: Copy + Default {
    fn to_float(self) -> f32;
    fn from_float(v: f32) -> Self;
}

impl Sample for f32 {
    fn to_float(self) -> f32 {
        self
    }
    fn from_float(v: f32) -> Self {
        v
    }
}

impl Sample for i16 {
    fn to_float(self) -> f32 {
        f32::from(self) / 32_768.0
    }
    fn from_float(v: f32) -> Self {
        (v * 32_768.0).round().clamp(-32_768.0, 32_767.0) as i16
    }
}

/// Frames that are processed at once, given the channels of a frame.
fn frames(handle: &Handle, channels: usize) -> usize {
    handle.piece().min(PIECE / channels.max(1)).max(1)
}

/// Copies `count` samples from `from` on.
///
/// # Safety
///
/// `from` points to as many items that may be read.
unsafe fn copy<T: Sample>(from: *const T, to: &mut [f32]) {
    for (i, v) in to.iter_mut().enumerate() {
        // SAFETY: `i` is below the count of items that the caller promises.
        *v = unsafe { from.add(i).read() }.to_float();
    }
}

/// Plays from `reference` and records to `recorded`, each if it is there, in pieces.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`].
unsafe fn process<T: Sample>(
    canceller: *mut Handle,
    reference: Option<*const T>,
    recorded: Option<(*const T, *mut T)>,
    count: usize,
) -> c_int {
    // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
    let Some(handle) = (unsafe { canceller.as_mut() }) else {
        return guarded(|| Err((Code::Pointer, "canceller is null".into()))) as c_int;
    };
    let code = handle.guarded(|handle| {
        if count == 0 {
            return Ok(());
        }
        let [speakers, microphones] = handle.channels();
        let items = |channels: usize| {
            count
                .checked_mul(channels)
                .ok_or_else(|| (Code::Size, format!("{count} frames exceed the address space")))
        };
        if let Some(reference) = reference {
            check(reference, items(speakers)?, "reference")?;
        }
        if let Some((microphone, output)) = recorded {
            check(microphone, items(microphones)?, "microphone")?;
            check(output, items(microphones)?, "output")?;
        }
        let piece = frames(handle, speakers.max(microphones));
        let (mut far, mut near) = ([0.0f32; PIECE], [0.0f32; PIECE]);
        for start in (0..count).step_by(piece) {
            let n = piece.min(count - start);
            if let Some(reference) = reference {
                let far = &mut far[..n * speakers];
                // SAFETY: `start + n <= count`, and the caller promises `count` readable frames.
                unsafe { copy(reference.add(start * speakers), far) };
                handle.play(far);
            }
            if let Some((microphone, output)) = recorded {
                let near = &mut near[..n * microphones];
                // SAFETY: as above.
                unsafe { copy(microphone.add(start * microphones), near) };
                let out = handle.record(near);
                for (i, &v) in out.iter().enumerate() {
                    // SAFETY: `out` has `n` frames, so the place is before the end; the caller promises as many
                    // writable items. What was at these places was read above, so they may be those of an input.
                    unsafe { output.add(start * microphones + i).write(T::from_float(v)) };
                }
            }
        }
        Ok(())
    });
    code as c_int
}

/// Cancels echo in floats of full scale 1; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library, was not freed and is not in use by another thread. `reference` and
/// `microphone` are null or point to `samples` floats, `output` is null or points to as many that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_process(
    canceller: *mut Handle,
    reference: *const f32,
    microphone: *const f32,
    output: *mut f32,
    samples: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, Some(reference), Some((microphone, output)), samples) }
}

/// Cancels echo in integers of 16 bits; see the header.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_process_s16(
    canceller: *mut Handle,
    reference: *const i16,
    microphone: *const i16,
    output: *mut i16,
    samples: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, Some(reference), Some((microphone, output)), samples) }
}

/// Takes what the loudspeaker plays; see the header.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`] for the canceller and the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_play(
    canceller: *mut Handle,
    reference: *const f32,
    frames: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, Some(reference), None, frames) }
}

/// Takes what the microphone records and writes it without the echo; see the header.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`] for the canceller, the microphone and the output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_record(
    canceller: *mut Handle,
    microphone: *const f32,
    output: *mut f32,
    frames: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, None, Some((microphone, output)), frames) }
}

/// Takes what the loudspeaker plays; see the header.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`] for the canceller and the reference.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_play_s16(
    canceller: *mut Handle,
    reference: *const i16,
    frames: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, Some(reference), None, frames) }
}

/// Takes what the microphone records and writes it without the echo; see the header.
///
/// # Safety
///
/// The conditions of [`parsimon_cancel_process`] for the canceller, the microphone and the output.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_record_s16(
    canceller: *mut Handle,
    microphone: *const i16,
    output: *mut i16,
    frames: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, None, Some((microphone, output)), frames) }
}

/// Starts over with the same settings; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library, was not freed and is not in use by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_reset(canceller: *mut Handle) -> c_int {
    // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
    match unsafe { canceller.as_mut() } {
        Some(handle) => handle.guarded(Handle::reset) as c_int,
        None => guarded(|| Err((Code::Pointer, "canceller is null".into()))) as c_int,
    }
}

/// Writes the status; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library, was not freed and is not in use by another thread; `status` is null or points to a
/// status that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_status(
    canceller: *const Handle,
    status: *mut Status,
) -> c_int {
    guarded(|| {
        // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
        let handle = unsafe { canceller.as_ref() };
        let handle = handle.ok_or_else(|| (Code::Pointer, "canceller is null".to_owned()))?;
        check(status, 1, "status")?;
        handle.check()?;
        // SAFETY: not null and aligned; the caller promises that it may be written.
        unsafe { status.write(handle.status()) };
        Ok(())
    }) as c_int
}

/// Returns the faults of the signals in words; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library, was not freed and is not in use by another thread.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_warning(canceller: *mut Handle) -> *const c_char {
    // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
    let handle = unsafe { canceller.as_mut() };
    handle.map_or(c"".as_ptr(), |handle| handle.warning().as_ptr())
}

/// Saves a canceller; see the header.
///
/// # Safety
///
/// `canceller` is null or comes from this library, was not freed and is not in use by another thread. `bytes` is null or
/// points to `room` bytes that may be written, `size` is null or points to a number that may be written.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_save(
    canceller: *const Handle,
    bytes: *mut u8,
    room: usize,
    size: *mut usize,
) -> c_int {
    guarded(|| {
        // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
        let handle = unsafe { canceller.as_ref() };
        let handle = handle.ok_or_else(|| (Code::Pointer, "canceller is null".to_owned()))?;
        check(size, 1, "size")?;
        let saved = handle.save()?;
        // SAFETY: not null and aligned; the caller promises that it may be written.
        unsafe { size.write(saved.len()) };
        if bytes.is_null() && room == 0 {
            return Ok(());
        }
        check(bytes, room, "bytes")?;
        if room < saved.len() {
            let words = format!("{} bytes are needed, there is room for {room}", saved.len());
            return Err((Code::Size, words));
        }
        // SAFETY: `saved` is ours and does not overlap; the caller promises `room` writable bytes, which suffice.
        unsafe { ptr::copy_nonoverlapping(saved.as_ptr(), bytes, saved.len()) };
        Ok(())
    }) as c_int
}

/// The words for a code; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn parsimon_cancel_describe(code: c_int) -> *const c_char {
    describe(code).as_ptr()
}

/// The words for the last failure of this thread; see the header.
#[unsafe(no_mangle)]
pub extern "C" fn parsimon_cancel_message() -> *const c_char {
    message()
}
