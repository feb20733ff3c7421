//! Data that a model does not know.

use parsimon::predict::Coverage;

use crate::fault::Fault;

/// Refuses data that the model does not fit, unless it is allowed.
pub(super) fn refuse(coverage: &Coverage, is_allowed: bool) -> Result<(), Fault> {
    match coverage.refusal() {
        Some(why) if !is_allowed => Err(refusal(&why)),
        _ => Ok(()),
    }
}

/// The error, with its remedy.
pub(super) fn refusal(why: &str) -> Fault {
    Fault::Input(format!(
        "{why}; check that this is data for the model, or pass --allow-unknown to predict all the same"
    ))
}
