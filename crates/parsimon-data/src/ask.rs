//! Wishes of a caller beside rows.

use std::collections::HashSet;
use std::sync::Arc;

use crate::Setting;

/// Wishes of a caller beside rows: carried columns, ids, names, and required columns.
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a choice that is independent of the others and named where it is made"
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// Columns (in JSON, fields) whose cells are returned with each row as text, whether they are features or not: names, numbers,
    /// ranges, patterns or `all`. [`Carried`](crate::Carried) reads them.
    pub carried: Vec<String>,
    /// The field of JSON rows that identifies a row: a text or a whole number. It becomes the row's tag and is no feature.
    pub id: Option<String>,
    /// Whether the names of hashed features are kept.
    pub keep_names: bool,
    /// The slots whose names are kept, the first of each; `None` for all names of all slots.
    pub named_slots: Option<Arc<HashSet<u32>>>,
    /// Whether the places of skipped rows are kept, for [`Reader::skipped_before`](crate::Reader::skipped_before).
    pub mark_skipped: bool,
    /// Whether all labels are inspected before the first row is learned, and not only those of the first rows. Readers do not use it.
    pub every_label: bool,
    /// Whether the label must be found by its name: one of the first rows of JSON files must have it, and in tables that a
    /// [`RowParser`](crate::RowParser) reads the first column is not taken for it.
    pub needs_label: bool,
    /// Whether an interaction of a namespace that no row has is an error, once all rows were read. Columns of tables are
    /// checked in any case, before the first row.
    pub needs_namespaces: bool,
    /// Whether a cell that contradicts the kind of its column is missing and counted
    /// ([`Reader::unfit_cells`](crate::Reader::unfit_cells)); otherwise its row is bad.
    pub unfit_is_missing: bool,
    /// The setting by which a person named a column: data without columns is then refused. A model
    /// may name columns, too, and its rows come from anywhere.
    pub asked_column: Option<Setting>,
}

impl Default for Ask {
    fn default() -> Self {
        Self {
            carried: Vec::new(),
            id: None,
            keep_names: true,
            named_slots: None,
            mark_skipped: false,
            every_label: false,
            needs_label: false,
            needs_namespaces: false,
            unfit_is_missing: false,
            asked_column: None,
        }
    }
}
