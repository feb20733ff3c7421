//! The table of all runs, for the terminal and for the page.

use parsimon::eval::Evaluation;
use parsimon::settings::Loss;
use parsimon::workspace::Stopped;
use parsimon::workspace::{Measure, Table};
use parsimon::workspace::{number::duration, number::maybe, number::thousands};
use parsimon_page::{Cell, SortableTable};

use super::{Finish, Score, Verdict};

/// Cells of the table.
pub(crate) struct Cells {
    pub(crate) header: Vec<String>,
    /// The runs, best first, with the constant in its place; last those that failed or were given up.
    pub(crate) rows: Vec<Vec<Cell>>,
}

impl Cells {
    /// Method, metrics, nonzeros, time and mark of every run, and the same of the constant.
    pub(crate) fn of(verdict: &Verdict<'_>) -> Self {
        let finishes = &verdict.comparison.finishes;
        // Methods with other losses may have other metrics: every one that a method has is a column.
        let mut columns: Vec<String> = Vec::new();
        let scored = finishes.iter().filter_map(|f| Some((f, f.result.as_ref().ok()?)));
        for (name, _) in scored.flat_map(|(f, score)| metrics(f.settings.loss(), score)) {
            if !columns.contains(&name) {
                columns.push(name);
            }
        }
        let has_times = finishes.iter().any(|f| f.time.is_some());
        let number = |value: Option<f64>| Cell::number(maybe(value, 4), value);
        let row = |i: usize| {
            let Finish { run, settings, time, result } = &finishes[i];
            let mut row = vec![Cell::text(&run.name)];
            match result {
                Ok(score) => {
                    let metrics = metrics(settings.loss(), score);
                    let value =
                        |column: &String| metrics.iter().find(|m| m.0 == *column).and_then(|m| m.1);
                    row.extend(columns.iter().map(|column| number(value(column))));
                    let nonzeros = thousands(score.nonzeros as u64);
                    row.push(Cell::number(nonzeros, Some(score.nonzeros as f64)));
                }
                Err(_) => row.extend((0..=columns.len()).map(|_| number(None))),
            }
            row.extend(has_times.then(|| {
                let text = time.map_or("-".to_owned(), duration);
                Cell::number(text, time.map(|time| time.as_secs_f64()))
            }));
            row.push(Cell::text(match result {
                Ok(_) => verdict.mark(i).to_owned(),
                Err(Stopped::Failed(_)) => "failed".to_owned(),
                Err(Stopped::GivenUp { rows, .. }) => format!("given up at {}", thousands(*rows)),
            }));
            row
        };
        let ranking = verdict.ranking();
        let better = ranking.iter().take_while(|i| verdict.is_better_than_constant(**i)).count();
        let mut rows: Vec<Vec<Cell>> = ranking.into_iter().map(row).collect();
        if let Some(constant) = &verdict.comparison.constant {
            let mut row = vec![Cell::text("constant")];
            row.extend(columns.iter().map(|column| number(constant.value(column))));
            row.push(Cell::number("0", Some(0.0)));
            row.extend(has_times.then(|| number(None)));
            row.push(Cell::text(""));
            rows.insert(better, row);
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
        for row in self.rows {
            table.row(row.iter().map(Cell::as_str));
        }
        table
    }

    /// The table for the page: narrow windows show the method, what runs are ranked by, the nonzeros and the mark.
    pub(crate) fn sortable(&self, verdict: &Verdict<'_>) -> SortableTable {
        let last = self.header.len() - 1;
        let ranked_by = verdict.column();
        // A single metric ranks the runs under any name.
        let metrics = self.header.iter().filter(|name| is_metric(name)).count();
        let mut table = SortableTable::new();
        for (k, name) in self.header.iter().enumerate() {
            let is_major = k == 0
                || k == last
                || name == "nonzeros"
                || *name == ranked_by
                || (metrics == 1 && is_metric(name));
            table = if is_major { table.column(name) } else { table.minor_column(name) };
        }
        for row in &self.rows {
            // The first word is the class of the row: "given up at ..." would be several classes.
            let mark = row.last().and_then(|mark| mark.as_str().split(' ').next());
            table = table.row(mark.unwrap_or_default(), row.iter().cloned());
        }
        table
    }
}

fn is_metric(column: &str) -> bool {
    !["method", "nonzeros", "time", ""].contains(&column)
}

/// The progressive metrics, then those of the test data: the few that fit side by side.
fn metrics(loss: Loss, score: &Score) -> Vec<(String, Option<f64>)> {
    let measure = Measure::of(loss);
    let average = Some(measure.factor * score.loss);
    let wanted = ["mean loss", "MSE", "AUC", "accuracy", "RMSE", "R2", "deviance"];
    let of = |evaluation: &Evaluation, prefix: &str| {
        let all = evaluation.metrics().into_iter().filter(|(name, _)| wanted.contains(name));
        all.map(|(name, x)| (format!("{prefix}{name}"), x)).collect::<Vec<_>>()
    };
    let mut all = match &score.progressive {
        Some(progressive) => of(progressive, ""),
        None if measure.is_mse() && score.curve.loss != "error" => {
            vec![(format!("progressive {}", measure.name), average)]
        }
        None => vec![(format!("progressive {}", score.curve.loss), Some(score.loss))],
    };
    // Loss over all rows, even if the others are of the last rows.
    if !matches!(score.progressive, Some(Evaluation::Multiclass(_))) {
        all.iter_mut().filter(|m| m.0 == measure.name).for_each(|m| m.1 = average);
    }
    all.extend(score.test.iter().flat_map(|test| of(test, "test ")));
    all
}
