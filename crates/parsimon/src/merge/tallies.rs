//! Differences and sums of coordinates, in order of their ids.

use parsimon_core::merge::{MOST_PARTS, Parts, Tally};

/// Calls `emit` for every coordinate that changed, in order of ids, with what it was and what it is.
pub(super) fn difference(
    start: &Tally,
    end: &Tally,
    width: usize,
    mut emit: impl FnMut(u32, &Parts, &Parts),
) {
    join(start, end, width, |id, from, to| {
        let (from, to) = (parts_of(from), parts_of(to));
        if from != to {
            emit(id, &from, &to);
        }
    });
}

/// A coordinate's numbers; all zero where it was never seen.
pub(super) fn parts_of(parts: Option<&[f64]>) -> Parts {
    let mut all = [0.0; MOST_PARTS];
    all.iter_mut().zip(parts.unwrap_or_default()).for_each(|(a, p)| *a = *p);
    all
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
