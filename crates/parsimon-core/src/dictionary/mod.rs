//! The result of a multikernel filter: the rows that count, and their coefficients.

mod centers;
mod function;

pub(crate) use centers::{Centers, Meeting};
pub use function::Kernel;

use crate::{Float, Precision, Row};

/// A function `f(x) = sum_m sum_j h_j^(m) k_m(x, x_j)`: kernels, centers and their coefficients. It predicts and cannot learn.
///
/// ```
/// use parsimon_core::kernel::{Dictionary, Kernel};
/// use parsimon_core::{Chunk, Precision, Repeats};
///
/// // One center, {2: 3}, under two kernels.
/// let kernels = vec![Kernel::Linear, Kernel::Polynomial { degree: 2 }];
/// let (ends, indices, values) = (vec![1], vec![2], vec![3.0]);
/// let dictionary =
///     Dictionary::from_parts(kernels, ends, indices, values, vec![0.5, 0.25]).unwrap();
///
/// let mut chunk = Chunk::new();
/// chunk.push_feature(2, 1.0);
/// chunk.finish_row(None, 1.0, Repeats::Refuse).unwrap();
/// let margin = dictionary.margin(chunk.row(0), Precision::F64);
/// assert_eq!(margin, 0.5 * 3.0 + 0.25 * 16.0);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    kernels: Vec<Kernel>,
    centers: Centers<f64>,
    coefficients: Vec<f64>,
}

impl Dictionary {
    pub(crate) fn new(kernels: Vec<Kernel>) -> Self {
        Self { kernels, centers: Centers::default(), coefficients: Vec::new() }
    }

    pub(crate) fn push<F: Float>(
        &mut self,
        (indices, values): (&[u32], &[F]),
        coefficients: impl Iterator<Item = f64>,
    ) {
        self.centers.push(indices.iter().copied().zip(values.iter().map(|v| v.to_f64())));
        self.coefficients.extend(coefficients);
    }

    /// Checks and takes arrays from outside. Center `j` has the features from `ends[j-1]` up to `ends[j]`, and one coefficient per
    /// kernel, center after center.
    ///
    /// `None` unless the lengths agree, the indices of each center strictly increase, all numbers are finite and no feature is
    /// zero.
    pub fn from_parts(
        kernels: Vec<Kernel>,
        ends: Vec<u64>,
        indices: Vec<u32>,
        values: Vec<f64>,
        coefficients: Vec<f64>,
    ) -> Option<Self> {
        let expected = ends.len().checked_mul(kernels.len())?;
        let finite = coefficients.iter().all(|h| h.is_finite());
        let centers = Centers::from_parts(ends, indices, values)?;
        (finite && !kernels.is_empty() && coefficients.len() == expected).then_some(Self {
            kernels,
            centers,
            coefficients,
        })
    }

    /// The kernels, in the order of a center's coefficients.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }
    /// The number of centers.
    pub fn len(&self) -> usize {
        self.centers.len()
    }
    /// Whether there is no center: the function is zero.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Center `j`.
    pub fn center(&self, j: usize) -> Row<'_> {
        let (indices, values) = self.centers.get(j);
        Row::from_checked(indices, values)
    }
    /// The coefficients of center `j`, one per kernel.
    pub fn coefficients(&self, j: usize) -> &[f64] {
        let m = self.kernels.len();
        &self.coefficients[j * m..(j + 1) * m]
    }
    /// `|h_j|`, what center `j` weighs.
    pub fn norm(&self, j: usize) -> f64 {
        self.coefficients(j).iter().map(|h| h * h).sum::<f64>().sqrt()
    }
    /// End of each center's features, for writers of files.
    pub fn ends(&self) -> &[u64] {
        self.centers.ends()
    }
    /// The indices of all centers, one after the other.
    pub fn indices(&self) -> &[u32] {
        self.centers.indices()
    }
    /// The values that go with [`indices`](Self::indices).
    pub fn values(&self) -> &[f64] {
        self.centers.values()
    }
    /// The coefficients of all centers, one after the other.
    pub fn all_coefficients(&self) -> &[f64] {
        &self.coefficients
    }

    /// The value of the function at a row, as the learner of that precision would have predicted it.
    pub fn margin(&self, x: Row<'_>, precision: Precision) -> f64 {
        match precision {
            Precision::F32 => self.sum::<f32>(x),
            Precision::F64 => self.sum::<f64>(x),
        }
    }

    fn sum<F: Float>(&self, x: Row<'_>) -> f64 {
        let mut p = 0.0;
        for j in 0..self.len() {
            let meeting = Meeting::new::<F, f64>(x, self.centers.get(j));
            for (h, kernel) in self.coefficients(j).iter().zip(&self.kernels) {
                p += h * kernel.value(meeting.distance2, meeting.dot);
            }
        }
        p
    }
}
