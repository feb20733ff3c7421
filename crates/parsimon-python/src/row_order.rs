//! The order in which `fit` learns rows: it depends on the contents of the rows, not on their positions.
//!
//! A data set is a set of rows with weights. Equal rows are put together and their weights added; a row of weight 3 is shown three
//! times, like three equal rows; each showing has its place in the order by a hash of the row, the number of the showing, the pass
//! and the seed. So a permutation of the rows changes nothing, a weight of 3 is a row three times, and one of 0 is no row.

use parsimon::rows::Chunk;
use pyo3::prelude::*;
use xxhash_rust::xxh3::{xxh3_64_with_seed, xxh3_128};

use crate::errors::BadInput;
use crate::guard::detached;
use crate::rows::{Rows, copy_row};

/// Number of rows that are learned between two checks of the interpreter for Ctrl-C. The model is valid at each check.
pub(crate) const BLOCK: usize = 1024;

/// Weights beyond this are not spelled out: the showings share the weight.
const MOST_SHOWINGS: u64 = 64;

/// The order of the rows in every pass.
pub(crate) enum Order {
    /// In the given order.
    Given(Vec<Showing>),
    /// In an order by a hash of the rows and a seed.
    Mixed(Presentation, u64),
}

/// Index and weight of a row.
pub(crate) type Showing = (usize, f64);

impl Order {
    /// The rows of one pass.
    pub(crate) fn pass(&self, pass: u64) -> Vec<Showing> {
        match self {
            Order::Given(rows) => rows.clone(),
            Order::Mixed(set, seed) => set.pass(*seed, pass),
        }
    }
}

/// The order for a seed; without one, that of the rows.
pub(crate) fn order_of(
    py: Python<'_>,
    rows: &dyn Rows,
    labels: &[f64],
    weights: Option<&[f64]>,
    seed: Option<u64>,
) -> PyResult<Order> {
    let Some(seed) = seed else {
        let rows = (0..rows.len()).map(|i| (i, weights.map_or(1.0, |w| w[i])));
        return Ok(Order::Given(rows.collect()));
    };
    let mut copies = Vec::with_capacity(rows.len());
    for start in (0..rows.len()).step_by(BLOCK) {
        let block = start..rows.len().min(start + BLOCK);
        detached(py, || hash_rows(rows, labels, weights, block, &mut copies))??;
        py.check_signals()?;
    }
    detached(py, || Order::Mixed(Presentation::new(copies), seed))
}

/// A row's hash, its weight and its place.
type Copy = (u128, f64, usize);

fn hash_rows(
    rows: &dyn Rows,
    labels: &[f64],
    weights: Option<&[f64]>,
    block: std::ops::Range<usize>,
    copies: &mut Vec<Copy>,
) -> Result<(), BadInput> {
    let (mut chunk, mut bytes) = (Chunk::new(), Vec::new());
    for i in block {
        let weight = weights.map_or(1.0, |w| w[i]);
        chunk.clear();
        copy_row(rows, i, None, weight, &mut chunk)?;
        // INVARIANT: the chunk's row is the same for every layout of the matrix: sorted, without zeros.
        bytes.clear();
        for (j, v) in chunk.row(0).iter() {
            bytes.extend_from_slice(&j.to_le_bytes());
            bytes.extend_from_slice(&v.to_le_bytes());
        }
        // A missing cell is not zero where columns are standardized.
        rows.missing(i, &mut |j| {
            bytes.extend_from_slice(&(j as u64).to_le_bytes());
            bytes.extend_from_slice(&f64::NAN.to_le_bytes());
        });
        bytes.extend_from_slice(&(labels[i] + 0.0).to_le_bytes());
        copies.push((xxh3_128(&bytes), weight, i));
    }
    Ok(())
}

/// A row of the set.
struct Member {
    hash: u128,
    row: usize,
    weight: f64,
    showings: u64,
}

/// The set of rows.
pub(crate) struct Presentation {
    members: Vec<Member>,
}

impl Presentation {
    /// Puts equal rows together.
    fn new(mut all: Vec<Copy>) -> Self {
        // Weights add up in a fixed order too.
        all.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let equal = all.chunk_by(|a, b| a.0 == b.0);
        let members = equal.filter_map(|copies| {
            let weight: f64 = copies.iter().map(|c| c.1).sum();
            let most = MOST_SHOWINGS.max(copies.len() as u64);
            let showings = (weight.ceil() as u64).min(most);
            let (hash, _, row) = copies[0];
            (showings > 0).then_some(Member { hash, row, weight, showings })
        });
        Self { members: members.collect() }
    }

    /// The rows of one pass in their order, with the weight of each showing.
    fn pass(&self, seed: u64, pass: u64) -> Vec<Showing> {
        let mut order = Vec::new();
        for member in &self.members {
            let spelled_out = member.weight.ceil() <= member.showings as f64;
            for k in 0..member.showings {
                let mut bytes = [0; 32];
                bytes[..16].copy_from_slice(&member.hash.to_le_bytes());
                bytes[16..24].copy_from_slice(&k.to_le_bytes());
                bytes[24..].copy_from_slice(&pass.to_le_bytes());
                let weight = match spelled_out {
                    true => (member.weight - k as f64).min(1.0),
                    false => member.weight / member.showings as f64,
                };
                order.push((xxh3_64_with_seed(&bytes, seed), member.hash, k, member.row, weight));
            }
        }
        order.sort_unstable_by_key(|o| (o.0, o.1, o.2));
        order.into_iter().map(|(.., row, weight)| (row, weight)).collect()
    }
}
