//! Precisions of a learner: `f32` and `f64`.

use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::State;

/// `f32` or `f64`: the number type of a coordinate's state, and of all arithmetic on it.
///
/// A computation never mixes the two. Sums that run over the whole stream (the
/// clock) are always `f64`.
pub trait Float:
    State
    + Reduce
    + Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + std::fmt::Debug
    + Send
    + Sync
    + 'static
{
    /// Precision of this type.
    const PRECISION: Precision;
    /// Zero.
    const ZERO: Self;
    /// One.
    const ONE: Self;
    /// Rounds to this precision.
    fn from_f64(x: f64) -> Self;
    /// Exact.
    fn to_f64(self) -> f64;
    /// Square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Magnitude.
    #[must_use]
    fn abs(self) -> Self;
    /// The larger of the two; the other one when one is NaN.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// The magnitude of `self` with the sign of `sign`.
    #[must_use]
    fn copysign(self, sign: Self) -> Self;
}

/// The sums of one number type; a part of [`Float`], written out in `vector.rs`.
pub trait Reduce: Sized {
    /// `a.b`, over the shorter one's length.
    fn dot(a: &[Self], b: &[Self]) -> Self;
    /// Sum of all lanes.
    fn total(a: &[Self]) -> Self;
    /// The sum of the magnitudes.
    fn norm1(a: &[Self]) -> Self;
}

/// The name of a number type.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits: half the memory traffic, the default of the program.
    #[default]
    F32,
    /// 64 bits: theorems, golden values and experiments.
    F64,
}

impl Precision {
    /// The distance from 1 to the next number.
    pub fn epsilon(self) -> f64 {
        match self {
            Precision::F32 => f64::from(f32::EPSILON),
            Precision::F64 => f64::EPSILON,
        }
    }

    /// The largest finite number.
    pub fn largest(self) -> f64 {
        match self {
            Precision::F32 => f64::from(f32::MAX),
            Precision::F64 => f64::MAX,
        }
    }

    /// The largest magnitude a feature or label may have.
    ///
    /// NUMERICS: gradients are squared and the squares summed over the stream; beyond these bounds the
    /// sum overflows and `inf * 0` would turn a weight into NaN.
    pub fn max_value(self) -> f64 {
        match self {
            Precision::F32 => 1e12,
            Precision::F64 => 1e100,
        }
    }
}

impl std::fmt::Display for Precision {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Precision::F32 => "f32",
            Precision::F64 => "f64",
        })
    }
}

impl std::str::FromStr for Precision {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "f32" => Ok(Precision::F32),
            "f64" => Ok(Precision::F64),
            _ => Err(format!("precision must be f32 or f64, got {s:?}")),
        }
    }
}

macro_rules! float {
    ($type:ident, $precision:ident) => {
        impl Float for $type {
            const PRECISION: Precision = Precision::$precision;
            const ZERO: Self = 0.0;
            const ONE: Self = 1.0;
            #[inline(always)]
            #[allow(clippy::cast_lossless)]
            fn from_f64(x: f64) -> Self {
                x as $type
            }
            #[inline(always)]
            #[allow(clippy::cast_lossless)]
            fn to_f64(self) -> f64 {
                self as f64
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                $type::sqrt(self)
            }
            #[inline(always)]
            fn abs(self) -> Self {
                $type::abs(self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                $type::max(self, other)
            }
            #[inline(always)]
            fn copysign(self, sign: Self) -> Self {
                $type::copysign(self, sign)
            }
        }
    };
}

float!(f32, F32);
float!(f64, F64);
