//! The native half of the Python package `parsimon`: learners over NumPy and SciPy arrays, models, and the registry.
//!
//! The boundary is crossed once per call; the interpreter is free to run other threads while rows are learned.

mod capsule;
mod checks;
mod dict;
mod echo;
mod errors;
mod filter;
mod guard;
mod inner;
mod json_rows;
mod learn_arrays;
mod learn_dicts;
mod learn_tables;
mod learner;
mod link;
mod memory;
mod model;
mod notices;
mod registry;
mod row_order;
mod rows;
mod slots;
mod sweep;
mod table;
mod tick;
mod worker;

use pyo3::prelude::*;

#[pymodule]
fn _parsimon(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<learner::Learner>()?;
    module.add_class::<model::Model>()?;
    module.add_class::<table::Table>()?;
    module.add_class::<filter::Filter>()?;
    module.add_class::<echo::Echo>()?;
    module.add_class::<sweep::Sweep>()?;
    module.add_function(wrap_pyfunction!(model::load, module)?)?;
    module.add_function(wrap_pyfunction!(sweep::expand, module)?)?;
    module.add_function(wrap_pyfunction!(memory::set_memory_budget, module)?)?;
    module.add_function(wrap_pyfunction!(memory::memory_budget, module)?)?;
    module.add_function(wrap_pyfunction!(registry::registry, module)?)?;
    module.add_function(wrap_pyfunction!(registry::resolve, module)?)?;
    module.add_function(wrap_pyfunction!(registry::setting_name, module)?)?;
    module.add_function(wrap_pyfunction!(link::link, module)?)?;
    module.add_function(wrap_pyfunction!(slots::slots, module)?)?;
    module.add_function(wrap_pyfunction!(slots::pair_slots, module)?)?;
    module.add_function(wrap_pyfunction!(slots::knot_names, module)?)?;
    module.add_function(wrap_pyfunction!(slots::bin_names, module)?)?;
    module.add_function(wrap_pyfunction!(worker::delta, module)?)?;
    module.add_function(wrap_pyfunction!(worker::merge_deltas, module)?)?;
    module.add_function(wrap_pyfunction!(worker::absorb, module)?)?;
    module.add_function(wrap_pyfunction!(worker::about_delta, module)?)?;
    module.add_function(wrap_pyfunction!(worker::check_mergeable, module)?)?;
    module.add_function(wrap_pyfunction!(guard::_panic, module)?)?;
    module.add("__version__", env!("CARGO_PKG_VERSION"))
}
