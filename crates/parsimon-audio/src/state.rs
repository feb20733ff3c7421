//! The bytes of a saved state: little-endian numbers, one after the other, under a checksum.

use parsimon_files::checksum;

use crate::AudioError;

const MAGIC: &[u8; 8] = b"PSMECHO9";

/// Collects a state as bytes.
///
/// [`Reader`] must read the values in the order in which they were written.
#[derive(Debug)]
pub struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    pub(crate) fn new() -> Self {
        Self { bytes: MAGIC.to_vec() }
    }

    /// A count.
    pub fn count(&mut self, v: u64) {
        self.bytes.extend_from_slice(&v.to_le_bytes());
    }

    /// A number, bit for bit.
    pub fn number(&mut self, v: f32) {
        self.bytes.extend_from_slice(&v.to_bits().to_le_bytes());
    }

    /// A number of double precision, bit for bit.
    pub fn double(&mut self, v: f64) {
        self.count(v.to_bits());
    }

    /// Numbers with their count in front.
    pub fn numbers(&mut self, values: &[f32]) {
        self.count(values.len() as u64);
        values.iter().for_each(|&v| self.number(v));
    }

    /// A short text.
    pub fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    /// Bytes with their count in front.
    pub fn bytes(&mut self, bytes: &[u8]) {
        self.count(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let sum = checksum(&self.bytes);
        self.count(sum);
        self.bytes
    }
}

/// Reads what a [`Writer`] wrote; refuses bytes that end early or hold what was not asked for.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Result<Self, AudioError> {
        let body = bytes
            .strip_prefix(MAGIC)
            .ok_or_else(|| state("does not begin like one (or is of another version)"))?;
        let Some((body, sum)) = body.split_last_chunk::<8>() else {
            return Err(state("ends early"));
        };
        if u64::from_le_bytes(*sum) != checksum(&bytes[..bytes.len() - 8]) {
            return Err(state("the checksum does not match: the bytes are damaged or cut short"));
        }
        Ok(Self { bytes: body })
    }

    fn take<const N: usize>(&mut self) -> Result<[u8; N], AudioError> {
        let (head, rest) =
            self.bytes.split_first_chunk::<N>().ok_or_else(|| state("ends early"))?;
        self.bytes = rest;
        Ok(*head)
    }

    /// A count.
    pub fn count(&mut self) -> Result<u64, AudioError> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// A finite number.
    pub fn number(&mut self) -> Result<f32, AudioError> {
        let v = f32::from_le_bytes(self.take()?);
        v.is_finite().then_some(v).ok_or_else(|| state("holds a number that is not finite"))
    }

    /// A finite number of double precision.
    pub fn double(&mut self) -> Result<f64, AudioError> {
        let v = f64::from_bits(self.count()?);
        v.is_finite().then_some(v).ok_or_else(|| state("holds a number that is not finite"))
    }

    /// Exactly `into.len()` numbers.
    pub fn numbers(&mut self, into: &mut [f32]) -> Result<(), AudioError> {
        let n = self.count()?;
        if n != into.len() as u64 {
            return Err(state(format!("holds {n} numbers where {} belong", into.len())));
        }
        for v in into {
            *v = self.number()?;
        }
        Ok(())
    }

    /// Bytes.
    pub fn bytes(&mut self) -> Result<&'a [u8], AudioError> {
        let n = self.count()?;
        if n > self.bytes.len() as u64 {
            return Err(state("ends early"));
        }
        let (head, rest) = self.bytes.split_at(n as usize);
        self.bytes = rest;
        Ok(head)
    }

    /// A short text.
    pub fn text(&mut self) -> Result<String, AudioError> {
        let bytes = self.bytes()?.to_vec();
        String::from_utf8(bytes).map_err(|_| state("holds a text that is not UTF-8"))
    }

    pub(crate) fn finish(self) -> Result<(), AudioError> {
        match self.bytes.len() {
            0 => Ok(()),
            n => Err(state(format!("goes on for {n} bytes after its end"))),
        }
    }
}

pub(crate) fn state(message: impl Into<String>) -> AudioError {
    AudioError::State(message.into())
}
