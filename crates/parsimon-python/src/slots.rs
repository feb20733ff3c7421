//! Slots of features by their names, for exports.

use parsimon::workspace::{bin_name, hash, knot_name};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Returns the slot of each name.
#[pyfunction]
pub(crate) fn slots(names: Vec<String>, bits: u8) -> PyResult<Vec<u32>> {
    check(bits)?;
    Ok(names.iter().map(|name| hash::slot(of_name(name), bits)).collect())
}

/// Returns the slot of the pair of a name with each of others.
#[pyfunction]
pub(crate) fn pair_slots(name: &str, others: Vec<String>, bits: u8) -> PyResult<Vec<u32>> {
    check(bits)?;
    let first = of_name(name);
    let pair = |other: &String| hash::slot(hash::cross(first, of_name(other)), bits);
    Ok(others.iter().map(pair).collect())
}

/// Returns the names of the features that the knots of a number column are.
#[pyfunction]
pub(crate) fn knot_names(column: &str, knots: Vec<f64>) -> Vec<String> {
    knots.iter().map(|&knot| knot_name(column, knot)).collect()
}

/// Returns the names of the features that the bins of a number column are.
#[pyfunction]
pub(crate) fn bin_names(column: &str, cuts: Vec<f64>) -> Vec<String> {
    (0..=cuts.len()).map(|i| bin_name(column, &cuts, i)).collect()
}

fn of_name(name: &str) -> u64 {
    hash::feature(0, name.as_bytes())
}

fn check(bits: u8) -> PyResult<()> {
    let words = "bits must be a whole number from 1 to 31";
    if (1..=31).contains(&bits) { Ok(()) } else { Err(PyValueError::new_err(words)) }
}
