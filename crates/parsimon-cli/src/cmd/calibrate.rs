//! `parsimon calibrate`

use std::io::Write;

use parsimon::Model;
use parsimon::eval::BinaryMetrics;
use parsimon::settings::Loss;
use parsimon::workspace::{Binary, CalibrationMethod, Calibrator, Table};
use parsimon::workspace::{number::maybe, number::thousands};

use crate::args::{BY_MODEL, CalibrateArgs};
use crate::console::{ReadingBar, note};
use crate::fault::Fault;
use crate::output::{Files, Output};

pub(crate) fn run(args: &CalibrateArgs) -> Result<(), Fault> {
    args.data.refuse_reading(BY_MODEL)?;
    let mut files = Files::default();
    files.read("DATA", &args.data.inputs());
    let path = args.output.as_ref().unwrap_or(&args.model);
    files.write("--output", Some(path))?;
    let model = Model::load(&args.model)?;
    let options = args.data.options(model.precision())?;
    let bar = ReadingBar::new(args.quiet);
    let mut observe = |position: &_| bar.show(position);
    let rows = model.calibration_rows(&args.data.inputs(), &options, &mut observe)?;
    drop(bar);
    let method = CalibrationMethod::from(args.method);
    let calibrator = Calibrator::fit(method, &rows);
    let before = metrics(model.settings().loss(), &rows, |margin| margin);
    let after = metrics(Loss::Logistic, &rows, |margin| calibrator.log_odds(margin));
    let replaces = model.calibration().is_some();
    model.with_calibration(Some(calibrator)).save(path)?;
    let mut out = Output::open(None)?;
    write!(out, "{}", table(&before, &after))?;
    out.finish()?;
    if !args.quiet {
        note(&format!(
            "{method} calibration fitted to {} rows; the numbers above are of these rows",
            thousands(rows.len() as u64)
        ));
        if replaces {
            note("the calibration that the model had is replaced");
        }
        note(&format!("model {}", path.display()));
    }
    Ok(())
}

/// The metrics of margins, changed or not.
fn metrics(loss: Loss, rows: &[(f64, bool, f64)], change: impl Fn(f64) -> f64) -> BinaryMetrics {
    let mut binary = Binary::new(loss);
    for &(margin, positive, weight) in rows {
        binary.record(change(margin), if positive { 1.0 } else { -1.0 }, weight);
    }
    binary.finish()
}

fn table(before: &BinaryMetrics, after: &BinaryMetrics) -> Table {
    let mut table = Table::new(["", "before", "after"]).right([1, 2]);
    let lines = [
        ("log loss", before.log_loss, after.log_loss),
        ("calibration ratio", before.calibration_ratio, after.calibration_ratio),
        ("calibration error", before.calibration_error, after.calibration_error),
        ("AUC", before.auc, after.auc),
    ];
    for (name, before, after) in lines {
        table.row([name.to_owned(), maybe(before, 4), maybe(after, 4)]);
    }
    table
}
