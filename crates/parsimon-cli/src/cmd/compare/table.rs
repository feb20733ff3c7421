//! The table of all runs, for the terminal and for the page.

use parsimon::eval::Evaluation;
use parsimon::eval::Table;
use parsimon::eval::number::{duration, maybe, thousands};

use super::contest::{Finish, Score};
use super::verdict::Verdict;

/// What the table says, cell by cell.
pub(super) struct Cells {
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Cells {
    /// Method, metrics, nonzeros, time and mark of every run.
    pub(super) fn of(verdict: &Verdict<'_>) -> Self {
        let finishes = &verdict.contest.finishes;
        // Methods with other losses may have other metrics: every one that somebody has is a column.
        let mut columns: Vec<String> = Vec::new();
        for (name, _) in finishes.iter().filter_map(|f| f.result.as_ref().ok()).flat_map(metrics) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        let row = |(i, f): (usize, &Finish)| {
            let mut row = vec![f.run.name.clone()];
            match &f.result {
                Ok(score) => {
                    let metrics = metrics(score);
                    let value =
                        |column: &String| metrics.iter().find(|m| m.0 == *column).and_then(|m| m.1);
                    row.extend(columns.iter().map(|column| maybe(value(column), 4)));
                    row.push(thousands(score.nonzeros as u64));
                }
                Err(_) => row.extend((0..=columns.len()).map(|_| "-".to_owned())),
            }
            let mark = if f.result.is_ok() { verdict.mark(i) } else { "failed" };
            row.extend([duration(f.time), mark.to_owned()]);
            row
        };
        let rows = finishes.iter().enumerate().map(row).collect();
        let mut header = vec!["method".to_owned()];
        header.extend(columns);
        header.extend(["nonzeros", "time", ""].map(str::to_owned));
        Self { header, rows }
    }

    pub(super) fn table(self) -> Table {
        let last = self.header.len() - 1;
        let mut table = Table::new(self.header).right(1..last);
        self.rows.into_iter().for_each(|row| {
            table.row(row);
        });
        table
    }
}

/// The progressive metrics, then those of the test data: the few that fit side by side.
fn metrics(score: &Score) -> Vec<(String, Option<f64>)> {
    let wanted = ["mean loss", "AUC", "accuracy", "RMSE", "R2", "deviance"];
    let of = |evaluation: &Evaluation, prefix: &str| {
        let all = evaluation.metrics().into_iter().filter(|(name, _)| wanted.contains(name));
        all.map(|(name, x)| (format!("{prefix}{name}"), x)).collect::<Vec<_>>()
    };
    let mut all = of(&score.progressive, "");
    // Of all rows, even where the others are of the last ones.
    if !matches!(score.progressive, Evaluation::Multiclass(_)) {
        all.iter_mut().filter(|m| m.0 == "mean loss").for_each(|m| m.1 = Some(score.loss));
    }
    all.extend(score.test.iter().flat_map(|test| of(test, "test ")));
    all
}
