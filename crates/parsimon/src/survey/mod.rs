//! What the data holds.

/// What a look at the data has found. Values given in the settings take precedence.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// The labels of a problem of several classes.
    pub classes: Vec<String>,
    /// The number of features.
    pub dimension: Option<u32>,
    /// The number of rows.
    pub rows: Option<u64>,
}
