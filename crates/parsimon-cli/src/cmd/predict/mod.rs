//! `parsimon predict`

mod shown;
mod sink;

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use parsimon::Model;
use parsimon::data::{Input, Reader};
use parsimon::error::FormatErrorKind;
use parsimon::predict::Coverage;
use parsimon::rows::Chunk;
use parsimon::workspace::Expect;
use parsimon::workspace::TableFormat;

use super::{columns, unknown};
use crate::args::{BY_MODEL, PredictArgs};
use crate::console::{ReadingBar, note};
use crate::fault::Fault;
use crate::output::{Files, Output, refuse_endings};
use shown::Shown;
pub(crate) use shown::{best, shares};
use sink::{OutputColumns, Predicted, Sink};

/// Endings of tables that are not written.
pub(crate) const OTHER_TABLES: [&str; 6] = ["xlsx", "xls", "ods", "json", "feather", "psm"];
pub(crate) const TABLE_NAMES: &str =
    "writes tables that end in .csv, .tsv, .jsonl, .parquet or .arrow, or lines of text";

pub(crate) fn run(args: &PredictArgs) -> Result<(), Fault> {
    args.data.refuse_reading(BY_MODEL)?;
    let mut files = Files::default();
    files.read_path("MODEL", &args.model);
    files.read("DATA", &args.data.inputs());
    files.write("--output", Some(args.output.as_deref().unwrap_or(Path::new("-"))))?;
    let table = table_format(args);
    if args.output_format.is_none() {
        refuse_endings("--output", args.output.as_deref(), &OTHER_TABLES, TABLE_NAMES)?;
    }
    check(args, table)?;
    let mut model = loaded(&args.model, &args.data.inputs())?;
    if args.rows.raw {
        model = model.with_calibration(None);
    }
    if (args.audit || args.explain.is_some()) && model.dictionary().is_some() {
        return Err(Fault::Usage(
            "--audit and --explain show what each weight adds, and a dictionary has none; `parsimon inspect` shows its rows"
                .into(),
        ));
    }
    let shown = Shown::new(&model, args.shown)?;
    let options = args.data.options(model.precision())?;
    let mut options = model.options(&options, Expect::Nothing);
    // Explanations name features by the names of the data; without explanations names would only cost memory.
    options.ask.keep_names = args.audit || (args.explain.is_some() && !model.has_names());
    // Only weights are explained: the names of other features are not kept, however many the data has.
    options.ask.named_slots = options.ask.keep_names.then(|| Arc::new(model.used().collect()));
    options.ask.mark_skipped = true;
    options.ask.carried = args.id.iter().chain(&args.keep_columns).cloned().collect();
    let inputs = args.data.inputs();
    let mut reader = Reader::open(&inputs, &options)?;
    let coverage = Coverage::new(&model, &reader);
    if coverage.lacks_half() {
        unknown::refuse(&coverage, args.rows.allow_unknown)?;
    }
    let place = OutputColumns::new(args, &reader);
    let out = Output::open(args.output.as_deref())?;
    let is_stdout = matches!(out, Output::Stdout(_) | Output::Terminal(_));
    let sink = match table {
        None => Sink::lines(out),
        Some((format, is_zipped)) => Sink::table(out, format, is_zipped, &model, &shown, &place)?,
    };
    // A bar between the lines on a terminal would only be in the way.
    let bar = ReadingBar::new(args.rows.quiet || (is_stdout && std::io::stdout().is_terminal()));
    let is_live = inputs.iter().any(Input::is_read_once);
    let job = Job { args, model: &model, shown: &shown, place: &place, is_live, bar };
    let (coverage, sink) = job.predict(&mut reader, coverage, sink)?;
    unknown::refuse(&coverage, args.rows.allow_unknown)?;
    sink.finish()?;
    if !args.rows.quiet {
        report(&coverage, &reader);
    }
    Ok(())
}

/// Loads a model. The error names the mistake if the model was passed among the data and a file of data as the model.
pub(crate) fn loaded(path: &Path, inputs: &[Input]) -> Result<Model, Fault> {
    Model::load(path).map_err(|error| {
        let is_model = |input: &&Input| input.path().is_some_and(|path| Model::load(path).is_ok());
        match inputs.iter().find(is_model) {
            Some(model) if error.kind() == FormatErrorKind::NotOurs => Fault::Input(format!(
                "{} is not a model, and {} is one: swap the two, the model comes first",
                path.display(),
                model.name()
            )),
            _ => error.into(),
        }
    })
}

/// The format of a table and whether it is compressed; `None` for lines.
fn table_format(args: &PredictArgs) -> Option<(TableFormat, bool)> {
    let by_name = args.output.as_deref().and_then(TableFormat::of_path);
    match args.output_format {
        Some(format) => {
            let is_zipped = by_name.is_some_and(|(_, is_zipped)| is_zipped);
            format.table().map(|format| {
                let is_text = !matches!(format, TableFormat::Parquet | TableFormat::Arrow);
                (format, is_zipped && is_text)
            })
        }
        None => by_name,
    }
}

fn check(args: &PredictArgs, table: Option<(TableFormat, bool)>) -> Result<(), Fault> {
    if table.is_none() && !args.keep_columns.is_empty() {
        return Err(Fault::Usage(
            "--keep-columns needs a table; write one with -o FILE.csv or --output-format csv"
                .into(),
        ));
    }
    if table.is_some() && args.audit {
        return Err(Fault::Usage(
            "--audit prints lines of text; use --explain N to write contributions to a table"
                .into(),
        ));
    }
    match &args.id {
        Some(id) if id.contains(['*', '?']) || id == "all" => {
            Err(Fault::Usage(format!("--id is one column; {id:?} is a pattern")))
        }
        _ => Ok(()),
    }
}

/// Prints remarks at the end.
fn report(coverage: &Coverage, reader: &Reader) {
    coverage.warnings().iter().for_each(|warning| note(warning));
    columns::warn(&reader.warnings());
    columns::skipped(reader, " (empty predictions)").iter().for_each(|line| note(line));
}

/// A run over the rows.
struct Job<'a> {
    args: &'a PredictArgs,
    model: &'a Model,
    shown: &'a Shown,
    place: &'a OutputColumns,
    /// Whether rows come when they like: each is then answered at once.
    is_live: bool,
    bar: ReadingBar,
}

impl Job<'_> {
    fn predict(
        &self,
        reader: &mut Reader,
        mut coverage: Coverage,
        mut sink: Sink,
    ) -> Result<(Coverage, Sink), Fault> {
        let scorer = self.model.scorer();
        let (mut chunk, mut margins, mut parts) = (Chunk::new(), Vec::new(), Vec::new());
        let mut rest = Vec::new();
        let outputs = self.model.outputs();
        let mut window = Window::new(self.args.rows.skip, self.args.rows.limit);
        let mut rows = 0;
        while !window.is_over() && reader.read(&mut chunk)? {
            margins.clear();
            scorer.margins(&chunk, &mut margins);
            for (i, margins) in margins.chunks_exact(outputs).enumerate() {
                for _ in 0..reader.skipped_before(rows) {
                    if window.takes() {
                        sink.skipped()?;
                    }
                }
                rows += 1;
                if !window.takes() {
                    continue;
                }
                let best = shown::best(margins);
                if let Some(most) = self.args.explain {
                    self.model.contributions(&chunk, i, best, &mut parts);
                    rest = self.model.rest(&chunk, i, best, &parts, most, margins[best]);
                    parts.truncate(most);
                }
                let (model, chunk) = (self.model, &chunk);
                let row = Predicted { model, chunk, i, margins, parts: &parts, rest: &rest };
                sink.push(&row, self.shown, self.place, reader.names())?;
                if self.args.audit {
                    sink.audit(&scorer, &row, best, reader.names())?;
                }
            }
            for _ in 0..reader.skipped_before(rows) {
                if window.takes() {
                    sink.skipped()?;
                }
            }
            if self.is_live {
                sink.flush()?;
            }
            if coverage.take(&chunk) {
                unknown::refuse(&coverage, self.args.rows.allow_unknown)?;
            }
            self.bar.show(&reader.position());
        }
        Ok((coverage, sink))
    }
}

/// The rows that are wanted: `--skip` and `--limit`. Skipped bad rows count as rows.
struct Window {
    skip: u64,
    left: u64,
}

impl Window {
    fn new(skip: u64, limit: Option<u64>) -> Self {
        Self { skip, left: limit.unwrap_or(u64::MAX) }
    }

    fn is_over(&self) -> bool {
        self.left == 0
    }

    /// Whether the next row is wanted.
    fn takes(&mut self) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return false;
        }
        let takes = self.left > 0;
        self.left = self.left.saturating_sub(1);
        takes
    }
}
