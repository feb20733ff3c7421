//! Checks of rows, labels and weights that run before any row is learned.

use parsimon::Settings;

use crate::errors::BadInput;
use crate::rows::Rows;

/// Checks all rows with their labels and weights.
pub(crate) fn check(
    settings: &Settings,
    limit: f64,
    rows: &dyn Rows,
    labels: &[f64],
    weights: Option<&[f64]>,
) -> Result<(), BadInput> {
    let n = rows.len();
    if labels.len() != n || weights.is_some_and(|w| w.len() != n) {
        let (y, w) = (labels.len(), weights.map_or(n, <[f64]>::len));
        return Err(BadInput::new(format!("X has {n} rows, y {y} and the weights {w}")));
    }
    rows.check(limit)?;
    let counts = settings.is_of_counts();
    for (i, &y) in labels.iter().enumerate() {
        let weight = weights.map_or(1.0, |w| w[i]);
        check_label(counts, limit, y, weight).map_err(|e| placed(e, i))?;
    }
    Ok(())
}

/// Adds the row to a message.
pub(crate) fn placed(bad: BadInput, row: usize) -> BadInput {
    bad.and(&format!(" at row {row}")).at_row(row)
}

/// Checks one label and the weight of its row.
pub(crate) fn check_label(counts: bool, limit: f64, y: f64, weight: f64) -> Result<(), BadInput> {
    if !(y.abs() <= limit && (!counts || y >= 0.0)) {
        let wanted = if counts { "a finite number >= 0" } else { "a finite number" };
        return Err(BadInput::new(format!("y must be {wanted}, got {}", spelled(y))));
    }
    if !(weight.is_finite() && weight >= 0.0) {
        let got = spelled(weight);
        let words = format!("sample_weight must be a finite number >= 0, got {got}");
        return Err(BadInput::new(words));
    }
    Ok(())
}

fn spelled(x: f64) -> String {
    if x.is_nan() { "NaN".into() } else { x.to_string() }
}
