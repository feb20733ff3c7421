//! A number that counts the multiplications and divisions made with it, for the code of the library unchanged.

use std::cell::Cell;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use parsimon_core::{Float, Precision, Reduce, State, StateError, StateWriter};

thread_local! {
    static PRODUCTS: Cell<u64> = const { Cell::new(0) };
}

/// Runs the work and returns how many multiplications and divisions it made with [`Counted`] numbers.
pub(super) fn products_of(work: impl FnOnce()) -> u64 {
    let before = PRODUCTS.get();
    work();
    PRODUCTS.get() - before
}

fn product(x: f64) -> Counted {
    PRODUCTS.set(PRODUCTS.get() + 1);
    Counted(x)
}

/// A double that counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct Counted(pub(super) f64);

impl Add for Counted {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Counted {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for Counted {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        product(self.0 * other.0)
    }
}

impl Div for Counted {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        product(self.0 / other.0)
    }
}

impl Neg for Counted {
    type Output = Self;
    fn neg(self) -> Self {
        Self(-self.0)
    }
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Counted {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl MulAssign for Counted {
    fn mul_assign(&mut self, other: Self) {
        *self = *self * other;
    }
}

impl State for Counted {
    fn write(&self, out: &mut StateWriter) {
        self.0.write(out);
    }
    fn read(input: &mut &[u8]) -> Result<Self, StateError> {
        f64::read(input).map(Self)
    }
}

impl Reduce for Counted {
    fn dot(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).fold(Self::ZERO, |sum, (a, b)| sum + *a * *b)
    }
    fn total(a: &[Self]) -> Self {
        a.iter().fold(Self::ZERO, |sum, a| sum + *a)
    }
    fn norm1(a: &[Self]) -> Self {
        a.iter().fold(Self::ZERO, |sum, a| sum + a.abs())
    }
}

impl Float for Counted {
    const PRECISION: Precision = Precision::F64;
    const ZERO: Self = Self(0.0);
    const ONE: Self = Self(1.0);
    fn from_f64(x: f64) -> Self {
        Self(x)
    }
    fn to_f64(self) -> f64 {
        self.0
    }
    fn sqrt(self) -> Self {
        Self(self.0.sqrt())
    }
    fn abs(self) -> Self {
        Self(self.0.abs())
    }
    fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }
    fn copysign(self, sign: Self) -> Self {
        Self(self.0.copysign(sign.0))
    }
}
