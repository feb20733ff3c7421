//! Rows of a dictionary in flat arrays.

use crate::{Float, Row};

/// Rows in the order in which they came: center `j` is at `ends[j-1]..ends[j]`.
///
/// INVARIANT: within a center indices strictly increase, and values are finite and not zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Centers<F> {
    ends: Vec<u64>,
    indices: Vec<u32>,
    values: Vec<F>,
}

/// The inputs of a kernel: squared distance and dot product of two rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Meeting {
    pub(crate) distance2: f64,
    pub(crate) dot: f64,
}

impl Meeting {
    /// Products of a row, rounded to `F`, with a center.
    ///
    /// NUMERICS: the squared distance is a sum of squares of differences, never `|u|^2 + |v|^2 - 2 u.v`: it cannot be
    /// negative, and it is exactly 0 between a row and itself.
    pub(crate) fn new<F: Float, C: Float>(x: Row<'_>, (indices, values): (&[u32], &[C])) -> Self {
        let (mut distance2, mut dot) = (0.0, 0.0);
        let mut center = indices.iter().zip(values).peekable();
        for (j, v) in x.iter() {
            while let Some((_, c)) = center.next_if(|(i, _)| **i < j) {
                distance2 += c.to_f64() * c.to_f64();
            }
            let u = F::from_f64(v).to_f64();
            let c = center.next_if(|(i, _)| **i == j).map_or(0.0, |(_, c)| c.to_f64());
            distance2 += (u - c) * (u - c);
            dot += u * c;
        }
        for (_, c) in center {
            distance2 += c.to_f64() * c.to_f64();
        }
        Self { distance2, dot }
    }

    /// Product of a row with itself.
    pub(crate) fn own<F: Float>(x: Row<'_>) -> Self {
        let square = |v: &f64| F::from_f64(*v).to_f64() * F::from_f64(*v).to_f64();
        Self { distance2: 0.0, dot: x.values().iter().map(square).sum() }
    }
}

impl<F: Float> Centers<F> {
    /// Checks and takes arrays from outside; `None` unless they keep the invariant.
    pub(crate) fn from_parts(ends: Vec<u64>, indices: Vec<u32>, values: Vec<F>) -> Option<Self> {
        let whole = ends.last().copied().unwrap_or(0) == indices.len() as u64;
        let fits = whole && ends.is_sorted() && indices.len() == values.len();
        let good = |v: &F| v.to_f64().is_finite() && *v != F::ZERO;
        let centers =
            (fits && values.iter().all(good)).then_some(Self { ends, indices, values })?;
        let sorted = |j| centers.get(j).0.is_sorted_by(|a, b| a < b);
        (0..centers.len()).all(sorted).then_some(centers)
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }
    pub(crate) fn ends(&self) -> &[u64] {
        &self.ends
    }
    pub(crate) fn indices(&self) -> &[u32] {
        &self.indices
    }
    pub(crate) fn values(&self) -> &[F] {
        &self.values
    }

    fn start(&self, j: usize) -> usize {
        if j == 0 { 0 } else { self.ends[j - 1] as usize }
    }

    pub(crate) fn get(&self, j: usize) -> (&[u32], &[F]) {
        let range = self.start(j)..self.ends[j] as usize;
        (&self.indices[range.clone()], &self.values[range])
    }

    /// Adds a row, rounded to `F`; what rounds to zero is left out.
    pub(crate) fn push(&mut self, features: impl Iterator<Item = (u32, f64)>) {
        for (j, v) in features {
            let v = F::from_f64(v);
            if v != F::ZERO {
                self.indices.push(j);
                self.values.push(v);
            }
        }
        self.ends.push(self.indices.len() as u64);
    }

    /// Puts center `from` in the place of center `to`, which must not come after it; those after `to` are lost at the next
    /// [`truncate`](Self::truncate).
    pub(crate) fn move_down(&mut self, from: usize, to: usize) {
        let (start, end, place) = (self.start(from), self.ends[from] as usize, self.start(to));
        self.indices.copy_within(start..end, place);
        self.values.copy_within(start..end, place);
        self.ends[to] = (place + end - start) as u64;
    }

    pub(crate) fn truncate(&mut self, len: usize) {
        self.ends.truncate(len);
        let end = self.start(len);
        self.indices.truncate(end);
        self.values.truncate(end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Chunk, Repeats};

    fn chunk(rows: &[&[(u32, f64)]]) -> Chunk {
        let mut chunk = Chunk::new();
        for row in rows {
            row.iter().for_each(|&(j, v)| chunk.push_feature(j, v));
            chunk.finish_row(Some(0.0), 1.0, Repeats::Refuse).unwrap();
        }
        chunk
    }

    const ROWS: [&[(u32, f64)]; 4] =
        [&[(1, 1.0), (4, -2.0)], &[], &[(2, 0.1), (4, 3.0), (9, 0.3)], &[(1, 0.5)]];

    fn centers() -> Centers<f64> {
        let mut centers = Centers::default();
        ROWS.iter().for_each(|row| centers.push(row.iter().copied()));
        centers
    }

    #[test]
    fn distances_and_products_are_those_of_dense_rows() {
        let (rows, centers) = (chunk(&ROWS), centers());
        for (i, a) in ROWS.iter().enumerate() {
            for (j, b) in ROWS.iter().enumerate() {
                let at =
                    |row: &[(u32, f64)], f| row.iter().find(|(j, _)| *j == f).map_or(0.0, |x| x.1);
                let dense = |f| (at(a, f), at(b, f));
                let distance2: f64 = (0..10).map(dense).map(|(u, v)| (u - v) * (u - v)).sum();
                let dot: f64 = (0..10).map(dense).map(|(u, v)| u * v).sum();
                let meeting = Meeting::new::<f64, f64>(rows.row(i), centers.get(j));
                assert_eq!(meeting, Meeting { distance2, dot }, "{i} and {j}");
            }
            assert_eq!(
                Meeting::new::<f64, f64>(rows.row(i), centers.get(i)),
                Meeting::own::<f64>(rows.row(i))
            );
        }
    }

    #[test]
    fn a_row_is_at_distance_zero_of_itself_in_either_precision() {
        let rows = chunk(&[&[(1, 0.1), (7, 1e-60), (9, 1.0 / 3.0)]]);
        let mut centers = Centers::<f32>::default();
        centers.push(rows.row(0).iter());
        assert_eq!(centers.get(0).0, [1, 9]); // 1e-60 is zero in 32 bits
        assert_eq!(Meeting::new::<f32, f32>(rows.row(0), centers.get(0)).distance2, 0.0);
    }

    #[test]
    fn what_is_left_after_moving_down_is_whole() {
        let mut kept = centers();
        kept.move_down(2, 1);
        kept.move_down(3, 2);
        kept.truncate(3);
        let mut expected = Centers::default();
        [0, 2, 3].iter().for_each(|&j: &usize| expected.push(ROWS[j].iter().copied()));
        assert_eq!(kept, expected);
        kept.truncate(0);
        assert_eq!(kept, Centers::default());
    }

    #[test]
    fn arrays_that_make_no_sense_are_refused() {
        let take = |ends: &[u64], indices: &[u32], values: &[f64]| {
            Centers::from_parts(ends.to_vec(), indices.to_vec(), values.to_vec())
        };
        assert!(take(&[0, 2, 3], &[1, 4, 1], &[1.0, 2.0, 3.0]).is_some());
        assert!(take(&[], &[], &[]).is_some());
        assert!(take(&[], &[1], &[1.0]).is_none(), "a feature of nobody");
        assert!(take(&[2], &[1], &[1.0]).is_none(), "past the end");
        assert!(take(&[2, 1], &[1], &[1.0]).is_none(), "backward");
        assert!(take(&[u64::MAX, 1], &[1], &[1.0]).is_none(), "huge");
        assert!(take(&[1], &[1], &[]).is_none(), "a value is missing");
        assert!(take(&[2], &[4, 1], &[1.0, 2.0]).is_none(), "not sorted");
        assert!(take(&[2], &[1, 1], &[1.0, 2.0]).is_none(), "twice");
        assert!(take(&[1], &[1], &[f64::NAN]).is_none(), "not a number");
        assert!(take(&[1], &[1], &[0.0]).is_none(), "an explicit zero");
    }
}
