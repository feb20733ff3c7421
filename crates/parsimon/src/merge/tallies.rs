//! Differences and sums of coordinates, in order of their ids.

use parsimon_core::merge::{Parts, Tally};

/// Calls `emit` with the old and the new value of every coordinate that changed, in order of ids.
pub(super) fn difference(
    start: &Tally,
    end: &Tally,
    width: usize,
    mut emit: impl FnMut(u32, &Parts, &Parts),
) {
    join(start, end, width, |id, from, to| {
        // All numbers are zero where a coordinate was never seen.
        let parts = |numbers: Option<&[f64]>| Parts::from_slice(numbers.unwrap_or_default());
        let (from, to) = (parts(from), parts(to));
        if from != to {
            emit(id, &from, &to);
        }
    });
}

pub(super) fn sum(a: &Tally, b: &Tally, width: usize) -> Tally {
    let mut all = Tally::default();
    join(a, b, width, |id, a, b| {
        all.ids.push(id);
        match (a, b) {
            (Some(a), Some(b)) => all.parts.extend(a.iter().zip(b).map(|(a, b)| a + b)),
            (a, b) => all.parts.extend_from_slice(a.or(b).unwrap_or_default()),
        }
    });
    all
}

/// Walks over two tallies at once, in order of ids.
fn join(
    a: &Tally,
    b: &Tally,
    width: usize,
    mut each: impl FnMut(u32, Option<&[f64]>, Option<&[f64]>),
) {
    let (mut i, mut k) = (0, 0);
    while i < a.ids.len() || k < b.ids.len() {
        let (left, right) = (a.ids.get(i).copied(), b.ids.get(k).copied());
        let id = match (left, right) {
            (Some(x), Some(y)) => x.min(y),
            (x, y) => x.or(y).unwrap_or_default(),
        };
        let left = (left == Some(id)).then(|| &a.parts[i * width..(i + 1) * width]);
        let right = (right == Some(id)).then(|| &b.parts[k * width..(k + 1) * width]);
        i += usize::from(left.is_some());
        k += usize::from(right.is_some());
        each(id, left, right);
    }
}
