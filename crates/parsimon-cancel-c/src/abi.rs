//! The functions of `parsimon_cancel.h`: raw pointers of C, checked and copied from and to in pieces.
//!
//! No slice is ever made of memory of the caller that is written to, so input and output may be the same array. What
//! cannot be checked is the caller's promise, and the header names it: a pointer that is not null points to as many
//! items as the call says, a canceller comes from this library and is used by one thread at a time.

#![allow(unsafe_code, reason = "a C interface is raw pointers; every block has its argument")]

use std::ffi::{c_char, c_int};
use std::ptr;

use crate::handle::{Code, Failure, Handle, describe, guarded, message};

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
    guarded(|| deliver(out, || Handle::new(rate, taps, flags))) as c_int
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

/// # Safety
///
/// As of [`parsimon_cancel_process`].
unsafe fn process<T: Sample>(
    canceller: *mut Handle,
    reference: *const T,
    microphone: *const T,
    output: *mut T,
    samples: usize,
) -> c_int {
    // SAFETY: null, or a live canceller by the caller's promise, which no other thread uses meanwhile.
    let Some(handle) = (unsafe { canceller.as_mut() }) else {
        return guarded(|| Err((Code::Pointer, "canceller is null".into()))) as c_int;
    };
    let code = handle.guarded(|handle| {
        if samples == 0 {
            return Ok(());
        }
        check(reference, samples, "reference")?;
        check(microphone, samples, "microphone")?;
        check(output, samples, "output")?;
        let piece = handle.piece().min(PIECE);
        let (mut far, mut near) = ([0.0f32; PIECE], [0.0f32; PIECE]);
        for start in (0..samples).step_by(piece) {
            let n = piece.min(samples - start);
            for i in 0..n {
                // SAFETY: `start + i < samples`, and the caller promises `samples` readable items behind both.
                let (x, d) =
                    unsafe { (reference.add(start + i).read(), microphone.add(start + i).read()) };
                (far[i], near[i]) = (x.to_float(), d.to_float());
            }
            let out = handle.push(&far[..n], &near[..n]);
            for (i, &v) in out.iter().enumerate() {
                // SAFETY: `out` has `n` samples, so `start + i < samples`; the caller promises as many
                // writable items. What was at these places was read above, so they may be those of an input.
                unsafe { output.add(start + i).write(T::from_float(v)) };
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
    unsafe { process(canceller, reference, microphone, output, samples) }
}

/// Cancels echo in integers of 16 bits; see the header.
///
/// # Safety
///
/// As of [`parsimon_cancel_process`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn parsimon_cancel_process_s16(
    canceller: *mut Handle,
    reference: *const i16,
    microphone: *const i16,
    output: *mut i16,
    samples: usize,
) -> c_int {
    // SAFETY: the same promises.
    unsafe { process(canceller, reference, microphone, output, samples) }
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
