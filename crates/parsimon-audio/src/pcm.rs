//! Samples as bytes, little-endian, as WAV files and pipes hold them.

use serde::Serialize;

/// How a sample is stored.
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
}

impl SampleFormat {
    /// Bytes per sample.
    pub fn bytes(self) -> usize {
        match self {
            Self::Int8 => 1,
            Self::Int16 => 2,
            Self::Int24 => 3,
            Self::Int32 | Self::Float32 => 4,
        }
    }

    pub(crate) fn is_float(self) -> bool {
        self == Self::Float32
    }

    /// The integer that stands for 1.
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
            _ => panic!("a sample has {} bytes, got {}", self.bytes(), bytes.len()),
        }
    }

    /// Appends samples to `bytes`; returns how many are beyond full scale. Integers hold the nearest value there is.
    pub fn encode(self, samples: &[f32], bytes: &mut Vec<u8>) -> u64 {
        let (scale, mut clipped) = (self.scale(), 0);
        for &v in samples {
            if self.is_float() {
                clipped += u64::from(v.abs() > 1.0);
                bytes.extend_from_slice(&v.to_le_bytes());
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
