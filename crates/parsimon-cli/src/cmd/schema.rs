//! `parsimon schema`

use std::io::Write;

use parsimon::data::{Labels, Options, Reading};
use parsimon::settings::Precision;
use parsimon::survey::{schema_to_json, table};

use crate::args::SchemaArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::{Files, Output};

pub(crate) fn run(args: &SchemaArgs) -> Result<(), Fault> {
    let inputs = args.data.inputs();
    let mut files = Files::default();
    files.read("DATA", &inputs);
    files.write("--output", args.output.as_deref())?;
    let options = args.data.options(Precision::F64)?;
    // A table without a clear label still has a schema.
    let labels = Labels::Optional(Box::new(Labels::Any));
    let Some(table) =
        table(&inputs[..], &Options { reading: Reading { labels, ..options.reading }, ..options })?
    else {
        return Err(Fault::Input(format!(
            "{}: only CSV, TSV, Parquet and Arrow tables have a schema",
            inputs.first().map(parsimon::data::Input::name).unwrap_or_default()
        )));
    };
    let mut out = Output::open(args.output.as_deref())?;
    out.write_all(schema_to_json(&table).as_bytes())?;
    out.finish()?;
    if table.label.is_none() {
        note("the label is not clear; set \"label\" in the file, or pass --label-column NAME");
    }
    Ok(())
}
