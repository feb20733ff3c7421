//! `parsimon predict`

use std::borrow::Cow;
use std::io::Write;
use std::path::Path;

use parsimon::core::{Chunk, Loss, Row};
use parsimon::data::Reader;
use parsimon::{Expect, Model};

use super::columns;
use crate::args::{BY_MODEL, PredictArgs, PredictionArg};
use crate::fault::Fault;
use crate::output::{Files, Output};

pub(crate) fn run(args: &PredictArgs) -> Result<(), Fault> {
    args.data.refuse_reading(BY_MODEL)?;
    let mut files = Files::default();
    files.read_path("MODEL", &args.model);
    files.read("DATA", &args.data.inputs());
    files.write("--output", Some(args.output.as_deref().unwrap_or(Path::new("-"))))?;
    let model = Model::load(&args.model)?;
    if args.audit && model.dictionary().is_some() {
        return Err(Fault::Usage(
            "--audit shows what each weight adds, and a dictionary has none; `parsimon inspect` shows its rows"
                .into(),
        ));
    }
    let printer = Printer::new(&model, args.shown)?;
    let options = args.data.options(model.precision())?;
    let mut options = model.options(&options, Expect::Nothing);
    // Contributions are told in the data's own words; else names would only cost.
    options.keep_names = args.audit;
    let mut reader = Reader::open(&args.data.inputs(), &options)?;
    let scorer = model.scorer();
    let mut out = Output::open(args.output.as_deref())?;
    let (mut chunk, mut margins) = (Chunk::new(), Vec::new());
    let outputs = model.outputs();
    while reader.read(&mut chunk)? {
        margins.clear();
        scorer.margins(&chunk, &mut margins);
        let features = if args.audit { scorer.features(&chunk) } else { Cow::Borrowed(&chunk) };
        for (i, margins) in margins.chunks_exact(outputs).enumerate() {
            printer.print(&mut out, margins)?;
            if !chunk.tag(i).is_empty() {
                out.write_all(b" ")?;
                out.write_all(chunk.tag(i))?;
            }
            out.write_all(b"\n")?;
            if args.audit {
                let base = chunk.base(i);
                if base != 0.0 {
                    writeln!(out, "\t(base)\t1\t{base}\t{base}")?;
                }
                audit(&mut out, &model, reader.names(), features.row(i), margins)?;
            }
        }
    }
    out.finish()?;
    columns::warn(&reader.warnings());
    Ok(())
}

/// Prints what was asked for.
struct Printer {
    shown: PredictionArg,
    loss: Loss,
    classes: Vec<String>,
}

impl Printer {
    fn new(model: &Model, shown: PredictionArg) -> Result<Self, Fault> {
        let loss = model.settings().loss();
        let shown = match shown {
            PredictionArg::Auto if model.is_multiclass() => PredictionArg::Class,
            PredictionArg::Auto => PredictionArg::Auto,
            PredictionArg::Probability if loss != Loss::Logistic => {
                let name = model.settings().loss_name();
                return Err(Fault::Usage(format!(
                    "the loss {name} gives no probabilities; use --as margin"
                )));
            }
            PredictionArg::Class if !model.is_binary() && !model.is_multiclass() => {
                return Err(Fault::Usage("the model predicts numbers, not classes".into()));
            }
            shown => shown,
        };
        Ok(Self { shown, loss, classes: model.classes() })
    }

    fn print(&self, out: &mut Output, margins: &[f64]) -> std::io::Result<()> {
        match (self.shown, margins) {
            (PredictionArg::Auto | PredictionArg::Probability, [p]) => {
                write!(out, "{}", self.loss.predict(*p))
            }
            (PredictionArg::Margin, margins) => spaced(out, margins.iter().copied()),
            (PredictionArg::Class, [p]) => {
                out.write_all(self.classes[usize::from(*p > 0.0)].as_bytes())
            }
            (PredictionArg::Class, margins) => {
                let best =
                    (0..margins.len()).fold(0, |b, k| if margins[k] > margins[b] { k } else { b });
                out.write_all(self.classes[best].as_bytes())
            }
            (_, margins) => {
                let shares: Vec<f64> = margins.iter().map(|p| self.loss.predict(*p)).collect();
                let sum: f64 = shares.iter().sum();
                spaced(out, shares.into_iter().map(|s| s / sum))
            }
        }
    }
}

fn spaced(out: &mut Output, values: impl Iterator<Item = f64>) -> std::io::Result<()> {
    for (k, value) in values.enumerate() {
        if k > 0 {
            out.write_all(b" ")?;
        }
        write!(out, "{value}")?;
    }
    Ok(())
}

/// One line per feature with a weight, the largest contribution first: name, value, weight, product. With several
/// classes, those of the class with the largest margin.
fn audit(
    out: &mut Output,
    model: &Model,
    names: &parsimon::data::Names,
    row: Row<'_>,
    margins: &[f64],
) -> std::io::Result<()> {
    let best = (0..margins.len()).fold(0, |b, k| if margins[k] > margins[b] { k } else { b });
    let head = &model.heads()[best];
    let mut parts: Vec<(u32, f64, f64)> =
        row.iter().map(|(j, v)| (j, v, head.weight(j))).filter(|(_, _, w)| *w != 0.0).collect();
    parts.sort_by(|a, b| (b.1 * b.2).abs().total_cmp(&(a.1 * a.2).abs()).then(a.0.cmp(&b.0)));
    if head.bias() != 0.0 {
        writeln!(out, "\t(bias)\t1\t{}\t{}", head.bias(), head.bias())?;
    }
    for (j, v, w) in parts {
        let name = names.name(j).map_or_else(|| model.name(j), Into::into);
        writeln!(out, "\t{name}\t{v}\t{w}\t{}", v * w)?;
    }
    Ok(())
}
