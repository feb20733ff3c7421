//! Samples as bytes, little-endian, as WAV files and pipes hold them.

use serde::Serialize;

/// Sample formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SampleFormat {
    /// Unsigned, 8 bits.
    Int8,
    /// Signed, 16 bits.
    Int16,
    /// Signed, 24 bits.
    Int24,
    /// Signed, 32 bits.
    Int32,
    /// IEEE 754, 32 bits.
    Float32,
    /// IEEE 754, 64 bits.
    Float64,
    /// Logarithmic, 8 bits: the mu-law of ITU-T G.711, 14 bits of range.
    MuLaw,
    /// Logarithmic, 8 bits: the A-law of ITU-T G.711, 13 bits of range.
    ALaw,
}

impl SampleFormat {
    /// Bytes per sample.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 | Self::MuLaw | Self::ALaw => 1,
            Self::Int16 => 2,
            Self::Int24 => 3,
            Self::Int32 | Self::Float32 => 4,
            Self::Float64 => 8,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    fn is_logarithmic(self) -> bool {
        matches!(self, Self::MuLaw | Self::ALaw)
    }

    /// The integer that represents 1.
    fn scale(self) -> f64 {
        (1u64 << (8 * self.bytes() - 1)) as f64
    }

    /// The sample, of full scale 1, and whether it is at full scale. A float need not be finite.
    ///
    /// # Panics
    ///
    /// If there are not [`bytes`](Self::bytes) bytes.
    pub fn decode(self, bytes: &[u8]) -> (f32, bool) {
        let integer = |v: i64| {
            let (v, scale) = (v as f64, self.scale());
            ((v / scale) as f32, v >= scale - 1.0 || v <= -scale)
        };
        match (self, bytes) {
            (Self::Int8, &[a]) => integer(i64::from(a) - 128),
            (Self::Int16, &[a, b]) => integer(i16::from_le_bytes([a, b]).into()),
            (Self::Int24, &[a, b, c]) => integer((i32::from_le_bytes([0, a, b, c]) >> 8).into()),
            (Self::Int32, &[a, b, c, d]) => integer(i32::from_le_bytes([a, b, c, d]).into()),
            (Self::Float32, &[a, b, c, d]) => {
                let v = f32::from_le_bytes([a, b, c, d]);
                (v, v.abs() >= 1.0)
            }
            (Self::Float64, bytes) if let Ok(bytes) = bytes.try_into() => {
                let v = f64::from_le_bytes(bytes) as f32;
                (v, v.abs() >= 1.0)
            }
            (Self::MuLaw, &[a]) => logarithmic(mu_law(a), mu_law(0x80)),
            (Self::ALaw, &[a]) => logarithmic(a_law(a), a_law(0xaa)),
            _ => panic!("a sample has {} bytes, got {}", self.bytes(), bytes.len()),
        }
    }

    /// Appends samples to `bytes`; returns how many are beyond full scale. Integers hold the nearest value there is.
    pub fn encode(self, samples: &[f32], bytes: &mut Vec<u8>) -> u64 {
        let (scale, mut clipped) = (self.scale(), 0);
        for &v in samples {
            match self {
                Self::Float32 => bytes.extend_from_slice(&v.to_le_bytes()),
                Self::Float64 => bytes.extend_from_slice(&f64::from(v).to_le_bytes()),
                Self::MuLaw | Self::ALaw => {
                    let decode = if self == Self::MuLaw { mu_law } else { a_law };
                    bytes.push(nearest(decode, f64::from(v) * 32_768.0));
                }
                _ => {}
            }
            if self.is_float() || self.is_logarithmic() {
                clipped += u64::from(v.abs() > 1.0);
                continue;
            }
            let rounded = (f64::from(v) * scale).round();
            let kept = rounded.clamp(-scale, scale - 1.0);
            clipped += u64::from(rounded != kept);
            match self {
                Self::Int8 => bytes.push((kept as i64 + 128) as u8),
                _ => bytes.extend_from_slice(&(kept as i32).to_le_bytes()[..self.bytes()]),
            }
        }
        clipped
    }
}

/// Equal full-scale samples in a row that make a clipped run.
const CLIPPED_RUN: usize = 3;

/// The index of the channel that was asked for, counted from 1.
pub(crate) fn choose(channel: Option<usize>, channels: usize) -> Result<usize, String> {
    match (channel, channels) {
        (Some(c), _) if (1..=channels).contains(&c) => Ok(c - 1),
        (Some(c), _) => {
            Err(format!("has {channels} channels, counted from 1; there is no channel {c}"))
        }
        (None, 1) => Ok(0),
        (None, _) => Err(format!(
            "has {channels} channels; choose one, counted from 1, with --reference-channel and --microphone-channel, or --channel"
        )),
    }
}

/// Samples in runs of three or more equal ones at or beyond full scale.
#[derive(Default)]
pub(crate) struct Clipping {
    run: usize,
    last: f32,
    pub(crate) samples: u64,
}

impl Clipping {
    pub(crate) fn observe(&mut self, v: f32, full: bool) {
        self.run = match full {
            false => 0,
            true if self.run > 0 && v == self.last => self.run + 1,
            true => 1,
        };
        self.samples += match self.run {
            0..CLIPPED_RUN => 0,
            CLIPPED_RUN => CLIPPED_RUN as u64,
            _ => 1,
        };
        self.last = v;
    }
}

/// Decodes a byte of mu-law to the scale of 16-bit integers (ITU-T G.711, table 2a).
fn mu_law(byte: u8) -> i32 {
    let byte = !byte;
    let size = (((i32::from(byte & 0x0f) << 3) + 0x84) << ((byte >> 4) & 7)) - 0x84;
    if byte & 0x80 == 0 { size } else { -size }
}

/// Decodes a byte of A-law to the scale of 16-bit integers (ITU-T G.711, table 1a).
fn a_law(byte: u8) -> i32 {
    let byte = byte ^ 0x55;
    let (step, segment) = (i32::from(byte & 0x0f), (byte >> 4) & 7);
    let size = match segment {
        0 => (step << 4) + 8,
        _ => ((step << 4) + 0x108) << (segment - 1),
    };
    if byte & 0x80 == 0 { -size } else { size }
}

/// The sample of a logarithmic code, and whether it is the loudest there is.
fn logarithmic(value: i32, loudest: i32) -> (f32, bool) {
    (value as f32 / 32_768.0, value.abs() >= loudest.abs())
}

/// The byte whose value is nearest to `wanted`. Each half of the codes is monotonous in size.
fn nearest(decode: fn(u8) -> i32, wanted: f64) -> u8 {
    let distance = |byte: u8| (f64::from(decode(byte)) - wanted).abs();
    (0..=u8::MAX).min_by(|&a, &b| distance(a).total_cmp(&distance(b))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_of_g711() {
        // Decision values of G.711: the ends, the smallest steps and the codes of silence.
        for (byte, value) in
            [(0xff, 0), (0x80, 32_124), (0x00, -32_124), (0xfe, 8), (0x7e, -8), (0xef, 132)]
        {
            assert_eq!(mu_law(byte), value, "{byte:#x}");
        }
        for (byte, value) in
            [(0xd5, 8), (0x55, -8), (0xaa, 32_256), (0x2a, -32_256), (0xd4, 24), (0xc5, 264)]
        {
            assert_eq!(a_law(byte), value, "{byte:#x}");
        }
    }

    #[test]
    fn logarithmic_codes_come_back() {
        for format in [SampleFormat::MuLaw, SampleFormat::ALaw] {
            for byte in 0..=u8::MAX {
                let (v, full) = format.decode(&[byte]);
                assert_eq!(full, v.abs() > 0.98, "{format:?} {byte:#x}");
                let mut bytes = Vec::new();
                assert_eq!(format.encode(&[v], &mut bytes), 0);
                assert_eq!(format.decode(&bytes).0, v, "{format:?} {byte:#x}");
            }
        }
    }
}
