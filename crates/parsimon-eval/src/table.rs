//! Tables: the same rows as aligned text for a terminal, or as Markdown for a report.

use std::fmt::{self, Write};

/// Rows of text under a header.
///
/// ```
/// use parsimon_eval::Table;
///
/// let mut table = Table::new(["algorithm", "log loss", "nonzeros"]).right([1, 2]);
/// table.row(["ftrl", "0.4471", "1,204"]);
/// table.row(["rda", "0.4502", "987"]);
/// assert_eq!(table.to_string(), "\
/// algorithm  log loss  nonzeros
/// ---------  --------  --------
/// ftrl         0.4471     1,204
/// rda          0.4502       987
/// ");
/// assert_eq!(table.to_markdown().lines().nth(1), Some("| --------- | -------: | -------: |"));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Table {
    header: Vec<String>,
    right: Vec<bool>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table with these columns, aligned to the left.
    pub fn new<T: Into<String>>(header: impl IntoIterator<Item = T>) -> Self {
        let header: Vec<String> = header.into_iter().map(Into::into).collect();
        Self { right: vec![false; header.len()], header, rows: Vec::new() }
    }

    /// Aligns these columns to the right, as numbers are.
    ///
    /// # Panics
    ///
    /// If there is no such column.
    #[must_use]
    pub fn right(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        columns.into_iter().for_each(|i| self.right[i] = true);
        self
    }

    /// Adds a row. Missing cells are empty.
    ///
    /// # Panics
    ///
    /// If the row has more cells than the header: a column without a name is a mistake in the caller.
    pub fn row<T: Into<String>>(&mut self, cells: impl IntoIterator<Item = T>) {
        let mut row: Vec<String> = cells.into_iter().map(Into::into).collect();
        assert!(row.len() <= self.header.len(), "a row of {} cells, a header of fewer", row.len());
        row.resize(self.header.len(), String::new());
        self.rows.push(row);
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The table in GitHub's Markdown. Pipes and line breaks in cells are escaped; the columns are padded,
    /// so that the source can be read too.
    pub fn to_markdown(&self) -> String {
        let escape = |cell: &String| cell.replace('|', "\\|").replace(['\n', '\r'], " ");
        let header: Vec<String> = self.header.iter().map(escape).collect();
        let rows: Vec<Vec<String>> =
            self.rows.iter().map(|row| row.iter().map(escape).collect()).collect();
        // Markdown needs three dashes, and one colon where a column is aligned to the right.
        let widths: Vec<usize> = widths(&header, &rows).into_iter().map(|w| w.max(4)).collect();
        let mut out = String::new();
        let mut line = |cells: &[String]| {
            let padded: Vec<String> =
                (0..cells.len()).map(|i| pad(&cells[i], widths[i], self.right[i])).collect();
            let _ = writeln!(out, "| {} |", padded.join(" | "));
        };
        line(&header);
        let rule: Vec<String> = (0..widths.len())
            .map(|i| {
                let colon = if self.right[i] { ":" } else { "" };
                "-".repeat(widths[i] - colon.len()) + colon
            })
            .collect();
        line(&rule);
        for row in &rows {
            line(row);
        }
        out
    }
}

impl fmt::Display for Table {
    /// Aligned text; no line ends in spaces.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widths = widths(&self.header, &self.rows);
        let rule: Vec<String> = widths.iter().map(|&w| "-".repeat(w)).collect();
        for cells in [&self.header, &rule].into_iter().chain(&self.rows) {
            let padded: Vec<String> =
                (0..cells.len()).map(|i| pad(&cells[i], widths[i], self.right[i])).collect();
            writeln!(f, "{}", padded.join("  ").trim_end())?;
        }
        Ok(())
    }
}

fn widths(header: &[String], rows: &[Vec<String>]) -> Vec<usize> {
    let width = |cell: &String| cell.chars().count();
    (0..header.len())
        .map(|i| rows.iter().map(|row| width(&row[i])).fold(width(&header[i]), usize::max))
        .collect()
}

fn pad(cell: &str, width: usize, right: bool) -> String {
    if right { format!("{cell:>width$}") } else { format!("{cell:<width$}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_escapes_what_would_break_it() {
        let mut table = Table::new(["a|b", "n"]).right([1]);
        table.row(["x\ny", "1"]);
        table.row(["only one cell"]);
        assert_eq!(
            table.to_markdown(),
            "\
| a\\|b          |    n |
| ------------- | ---: |
| x y           |    1 |
| only one cell |      |
"
        );
    }

    #[test]
    fn text_counts_characters_and_not_bytes() {
        let mut table = Table::new(["name", "µs"]).right([1]);
        table.row(["Łukasz", "1"]);
        table.row(["Ada", ""]);
        assert_eq!(table.to_string(), "name    µs\n------  --\nŁukasz   1\nAda\n");
    }

    #[test]
    #[should_panic(expected = "a row of 2 cells")]
    fn a_row_too_long_is_refused() {
        Table::new(["one"]).row(["1", "2"]);
    }
}
