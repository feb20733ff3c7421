//! The table of all runs, for the terminal and for the page.

use parsimon::Stopped;
use parsimon::eval::number::{duration, maybe, thousands};
use parsimon::eval::{Evaluation, Table};

use super::{Finish, Score, Verdict};

/// What the table says, cell by cell.
pub(crate) struct Cells {
    pub(crate) header: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Cells {
    /// Method, metrics, nonzeros, time and mark of every run, and below them the constant.
    pub(crate) fn of(verdict: &Verdict<'_>) -> Self {
        let finishes = &verdict.comparison.finishes;
        // Methods with other losses may have other metrics: every one that somebody has is a column.
        let mut columns: Vec<String> = Vec::new();
        for (name, _) in finishes.iter().filter_map(|f| f.result.as_ref().ok()).flat_map(metrics) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        let has_times = finishes.iter().any(|f| f.time.is_some());
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
            row.extend(has_times.then(|| f.time.map_or("-".to_owned(), duration)));
            row.push(match &f.result {
                Ok(_) => verdict.mark(i).to_owned(),
                Err(Stopped::Failed(_)) => "failed".to_owned(),
                Err(Stopped::GivenUp { rows, .. }) => format!("given up at {}", thousands(*rows)),
            });
            row
        };
        let mut rows: Vec<Vec<String>> = finishes.iter().enumerate().map(row).collect();
        if let Some(constant) = &verdict.comparison.constant {
            let mut row = vec!["constant".to_owned()];
            row.extend(columns.iter().map(|column| constant.cell(column)));
            row.push("0".to_owned());
            row.extend(has_times.then(|| "-".to_owned()));
            row.push(String::new());
            rows.push(row);
        }
        let mut header = vec!["method".to_owned()];
        header.extend(columns);
        header.push("nonzeros".to_owned());
        header.extend(has_times.then(|| "time".to_owned()));
        header.push(String::new());
        Self { header, rows }
    }

    pub(crate) fn table(self) -> Table {
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
    let mut all = match &score.progressive {
        Some(progressive) => of(progressive, ""),
        None => vec![(format!("progressive {}", score.curve.loss), Some(score.loss))],
    };
    // Of all rows, even where the others are of the last ones.
    if !matches!(score.progressive, Some(Evaluation::Multiclass(_))) {
        all.iter_mut().filter(|m| m.0 == "mean loss").for_each(|m| m.1 = Some(score.loss));
    }
    all.extend(score.test.iter().flat_map(|test| of(test, "test ")));
    all
}
