//! `parsimon evaluate`

use std::io::Write;

use parsimon::Model;
use parsimon::eval::Evaluation;
use parsimon_page::chart;

use crate::args::EvaluateArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output, write_text};

pub(crate) fn run(args: &EvaluateArgs) -> Result<(), Fault> {
    args.data.refuse_reading()?;
    let mut files = Files::default();
    files.read_path("MODEL", &args.model);
    files.read("DATA", &args.data.inputs());
    files.write("--json", args.json.as_deref())?;
    files.write("--plot", args.plot.as_deref())?;
    let model = Model::load(&args.model)?;
    let options = args.data.options(model.precision())?;
    let evaluation = model.evaluate(&args.data.inputs(), &options)?;
    match &args.json {
        Some(path) => {
            let mut text = serde_json::to_string_pretty(&evaluation).unwrap_or_default();
            text.push('\n');
            write_text(path, &text)?;
        }
        None => {
            let mut out = Output::open(None)?;
            writeln!(out, "{evaluation}")?;
            out.finish()?;
        }
    }
    if let Some(path) = &args.plot {
        let Evaluation::Binary(metrics) = &evaluation else {
            return Err(Fault::Usage("the reliability diagram is for two classes".into()));
        };
        let figure = chart::reliability(format!("{}", args.model.display()), &metrics.calibration);
        write_text(path, &figure.to_svg())?;
        note(&format!("plot {}", path.display()));
    }
    Ok(())
}
