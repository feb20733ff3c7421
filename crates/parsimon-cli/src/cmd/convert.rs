//! `parsimon convert`

use parsimon::data::{DataError, Input, Kinds, Labels, Options, Reader, cache};
use parsimon::eval::number::thousands;
use parsimon::rows::Chunk;
use parsimon::settings::Precision;
use parsimon::survey;

use super::columns;
use crate::args::ConvertArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::Files;

pub(crate) fn run(args: &ConvertArgs) -> Result<(), Fault> {
    let inputs = args.data.inputs();
    let mut files = Files::default();
    files.read("DATA", &inputs);
    files.write("--output", Some(&args.output))?;
    // Labels stay texts: the cache serves every loss.
    let options = Options { labels: Labels::Any, ..args.data.options(Precision::F64)? };
    let mut options = survey::with_kinds(&inputs[..], &options)?;
    // Numbers stay apart for learners that standardize them; others take them as features again.
    options.numbers_apart = options.kinds != Kinds::ByCell;
    let (rows, reader) = loop {
        match write(args, &inputs, &options) {
            Ok(written) => break written,
            Err(error) => match survey::widened(&options, &error) {
                Some(wider) if !inputs.iter().any(Input::is_read_once) => {
                    columns::widened(&error, &wider);
                    options.kinds = wider.kinds;
                }
                _ => return Err(error.into()),
            },
        }
    };
    columns::warn(&reader.warnings());
    let kinds = match reader.table() {
        Some(table) => format!(", with the kinds of {} columns", table.columns.len()),
        None => String::new(),
    };
    note(&format!("{} rows in {}{kinds}", thousands(rows), args.output.display()));
    Ok(())
}

/// Writes the cache; the number of rows, and the reader at its end.
fn write(
    args: &ConvertArgs,
    inputs: &[Input],
    options: &Options,
) -> Result<(u64, Reader), DataError> {
    let mut reader = Reader::open(inputs, options)?;
    let mut writer = match reader.table() {
        Some(table) => cache::Writer::create_table(&args.output, reader.space(), table)?,
        None => cache::Writer::create(&args.output, reader.space())?,
    };
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        writer.write(&chunk)?;
    }
    writer.label_texts(reader.label_texts());
    writer.names(reader.names());
    Ok((writer.finish()?, reader))
}
