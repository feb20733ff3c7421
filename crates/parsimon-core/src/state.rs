//! State that can be written to a checkpoint and read back, bit for bit.

use std::fmt;

/// A value made of numbers, whose default means "never seen".
///
/// ```
/// use parsimon_core::{State, StateWriter};
///
/// let mut out = StateWriter::new();
/// (-0.0f64).write(&mut out);
/// let read = f64::read(&mut out.as_bytes()).unwrap();
/// assert_eq!(read.to_bits(), (-0.0f64).to_bits());
/// ```
pub trait State: Clone + Default + PartialEq {
    /// Appends the value, little endian.
    fn write(&self, out: &mut StateWriter);
    /// Takes a value off the front. Bytes that end early and numbers that are not finite are errors.
    fn read(input: &mut &[u8]) -> Result<Self, StateError>;
    /// The bits of all its numbers, combined with "or". Two values for which this is 0 are equal.
    ///
    /// PERF: the check for default coordinates reads several at once.
    #[inline(always)]
    fn bits(&self) -> u64 {
        u64::from(*self != Self::default())
    }
}

/// Collects the numbers of a state as bytes, and detects numbers that are not finite.
#[derive(Clone, Debug, Default)]
pub struct StateWriter {
    bytes: Vec<u8>,
    has_non_finite: bool,
}

impl StateWriter {
    /// No bytes yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes into the buffer of earlier bytes, which are discarded.
    pub fn reusing(mut bytes: Vec<u8>) -> Self {
        bytes.clear();
        Self { bytes, has_non_finite: false }
    }

    /// Bytes written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Whether all numbers were finite. Bytes for which this is false cannot be read back.
    pub fn is_finite(&self) -> bool {
        !self.has_non_finite
    }

    /// Appends pairs of an index and a coordinate, with their count before them.
    pub(crate) fn places<'a, C: State + 'a>(&mut self, places: impl Iterator<Item = (u32, &'a C)>) {
        let (start, mut count) = (self.bytes.len(), 0u64);
        count.write(self);
        for (j, c) in places {
            j.write(self);
            c.write(self);
            count += 1;
        }
        self.bytes[start..start + 8].copy_from_slice(&count.to_le_bytes());
    }

    /// Appends a number that may be infinite.
    pub(crate) fn unbounded(&mut self, x: f64) {
        self.bytes.extend_from_slice(&x.to_le_bytes());
    }
}

/// Error of bytes that are not the state of a learner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateError {
    kind: StateErrorKind,
    field: &'static str,
}

/// The kind of a [`StateError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateErrorKind {
    /// The bytes end before the state does.
    CutShort,
    /// A number is infinite or NaN.
    NotFinite,
    /// A size or a number does not fit the settings of the learner or the rest of the state.
    Inconsistent,
    /// The state needs more memory than it may have ([`restore_within`](crate::workspace::restore_within)).
    TooLarge,
}

impl StateError {
    pub(crate) const fn new(kind: StateErrorKind, field: &'static str) -> Self {
        Self { kind, field }
    }

    /// A number or a size that does not fit.
    pub const fn inconsistent(field: &'static str) -> Self {
        Self { kind: StateErrorKind::Inconsistent, field }
    }

    /// The kind of error.
    pub fn kind(&self) -> StateErrorKind {
        self.kind
    }

    /// The part of the state at fault.
    pub fn field(&self) -> &'static str {
        self.field
    }

    /// Names the field, unless a part of the field was named.
    #[must_use]
    pub fn in_field(self, field: &'static str) -> Self {
        if self.field.is_empty() { Self { field, ..self } } else { self }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.field.is_empty() { "a number" } else { self.field };
        match self.kind {
            StateErrorKind::CutShort => write!(f, "the state ends before {field}"),
            StateErrorKind::NotFinite => write!(f, "{field} is not a finite number"),
            StateErrorKind::Inconsistent => write!(f, "{field} does not fit the settings"),
            StateErrorKind::TooLarge => write!(f, "{field} needs more memory than there is"),
        }
    }
}

impl std::error::Error for StateError {}

const CUT_SHORT: StateError = StateError { kind: StateErrorKind::CutShort, field: "" };
const NOT_FINITE: StateError = StateError { kind: StateErrorKind::NotFinite, field: "" };

macro_rules! number {
    ($($type:ident ($is_finite:expr) ($bits:expr)),*) => {$(
        impl State for $type {
            #[inline]
            fn write(&self, out: &mut StateWriter) {
                out.has_non_finite |= !$is_finite(*self);
                out.bytes.extend_from_slice(&self.to_le_bytes());
            }
            #[inline]
            fn read(input: &mut &[u8]) -> Result<Self, StateError> {
                let (bytes, rest) = input.split_first_chunk().ok_or(CUT_SHORT)?;
                *input = rest;
                let number = $type::from_le_bytes(*bytes);
                if $is_finite(number) { Ok(number) } else { Err(NOT_FINITE) }
            }
            #[inline(always)]
            fn bits(&self) -> u64 {
                u64::from($bits(*self))
            }
        }
    )*};
}

number!(
    f32(f32::is_finite)(f32::to_bits),
    f64(f64::is_finite)(f64::to_bits),
    u32(|_| true)(u32::from)
);

/// The largest valid count: counts grow, and no stream has as many rows.
const MOST: u64 = 1 << 53;

/// A count. Larger numbers than any count are refused.
impl State for u64 {
    #[inline]
    fn write(&self, out: &mut StateWriter) {
        out.bytes.extend_from_slice(&self.to_le_bytes());
    }
    #[inline]
    fn read(input: &mut &[u8]) -> Result<Self, StateError> {
        let count = read_bits(input)?;
        fits(count <= MOST, "").map(|()| count)
    }
    #[inline(always)]
    fn bits(&self) -> u64 {
        *self
    }
}

/// Reads eight bytes without a check, such as a hash.
pub(crate) fn read_bits(input: &mut &[u8]) -> Result<u64, StateError> {
    let (bytes, rest) = input.split_first_chunk().ok_or(CUT_SHORT)?;
    *input = rest;
    Ok(u64::from_le_bytes(*bytes))
}

impl State for () {
    fn write(&self, _out: &mut StateWriter) {}
    fn read(_input: &mut &[u8]) -> Result<Self, StateError> {
        Ok(())
    }
}

impl<T: State> State for Vec<T> {
    fn write(&self, out: &mut StateWriter) {
        (self.len() as u64).write(out);
        self.iter().for_each(|item| item.write(out));
    }
    fn read(input: &mut &[u8]) -> Result<Self, StateError> {
        let len = u64::read(input)?;
        // The vector grows item by item, so that a forged length runs out of bytes before it runs out of memory.
        let mut items = Vec::new();
        for _ in 0..len {
            items.push(T::read(input)?);
        }
        Ok(items)
    }
}

/// Reads a number that may be infinite, but not NaN.
pub(crate) fn read_unbounded(input: &mut &[u8]) -> Result<f64, StateError> {
    let number = f64::from_bits(read_bits(input)?);
    if number.is_nan() { Err(NOT_FINITE) } else { Ok(number) }
}

/// Reads pairs of an index and a coordinate and puts each in its place. A place that comes twice is an error.
pub(crate) fn read_places<C: State>(
    input: &mut &[u8],
    mut put: impl FnMut(u32, C) -> Result<(), StateError>,
) -> Result<(), StateError> {
    for _ in 0..u64::read(input).map_err(|e| e.in_field("the number of features"))? {
        let j = u32::read(input).map_err(|e| e.in_field("a feature"))?;
        put(j, C::read(input).map_err(|e| e.in_field("a coordinate"))?)?;
    }
    Ok(())
}

/// Refuses a size or a number that does not fit.
pub(crate) fn fits(is_so: bool, field: &'static str) -> Result<(), StateError> {
    if is_so { Ok(()) } else { Err(StateError::inconsistent(field)) }
}

/// Implements [`State`] for a struct, field by field.
macro_rules! state {
    ($name:ident $(<$($p:ident: $bound:path),*>)? { $($field:ident),* $(,)? }) => {
        impl$(<$($p: $bound),*>)? $crate::State for $name$(<$($p),*>)? {
            #[inline]
            fn write(&self, out: &mut $crate::StateWriter) {
                $($crate::State::write(&self.$field, out);)*
            }
            #[inline]
            fn read(input: &mut &[u8]) -> Result<Self, $crate::StateError> {
                Ok(Self { $($field: $crate::State::read(input).map_err(|e| {
                    e.in_field(concat!(stringify!($name), ".", stringify!($field)))
                })?),* })
            }
            #[inline(always)]
            fn bits(&self) -> u64 {
                0 $(| $crate::State::bits(&self.$field))*
            }
        }
    };
}
pub(crate) use state;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_are_noticed_and_refused() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut out = StateWriter::new();
            1.0f64.write(&mut out);
            assert!(out.is_finite());
            bad.write(&mut out);
            assert!(!out.is_finite());
            let error = Vec::<f64>::read(&mut &[&2u64.to_le_bytes(), out.as_bytes()].concat()[..]);
            assert_eq!(error.unwrap_err().kind(), StateErrorKind::NotFinite);
            let mut out = StateWriter::new();
            (bad as f32).write(&mut out);
            assert!(!out.is_finite() && f32::read(&mut out.as_bytes()).is_err());
        }
    }

    #[test]
    fn errors_name_the_innermost_field() {
        #[derive(Clone, Debug, Default, PartialEq)]
        struct Pair {
            first: f64,
            second: f64,
        }
        state!(Pair { first, second });
        let mut bytes = [1.0f64.to_le_bytes(), f64::NAN.to_le_bytes()].concat();
        let error = Pair::read(&mut &bytes[..]).unwrap_err().in_field("outer");
        assert_eq!(error.to_string(), "Pair.second is not a finite number");
        bytes.truncate(3);
        let error = Pair::read(&mut &bytes[..]).unwrap_err();
        assert_eq!(error.to_string(), "the state ends before Pair.first");
        assert_eq!(Pair { first: 1.0, second: 2.0 }, Pair { first: 1.0, second: 2.0 });
    }
}
