//! Outcome of one input.

/// The outcome of one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was refused before its contents were looked at: no header, no format, no syntax.
    Unrecognized,
    /// It was refused for its contents.
    Refused,
    /// It was taken.
    Accepted,
}

impl Outcome {
    /// Accepted or refused, as a result is.
    pub(crate) fn of<T, E>(result: &Result<T, E>) -> Self {
        if result.is_ok() { Outcome::Accepted } else { Outcome::Refused }
    }
}
