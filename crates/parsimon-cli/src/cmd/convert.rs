//! `parsimon convert`

use parsimon::data::{DataError, Input, Kinds, Labels, Options, Reader};
use parsimon::job::{Ended, Events, Notice, until_it_fits};
use parsimon::rows::Chunk;
use parsimon::settings::Precision;
use parsimon::workspace::cache;
use parsimon::workspace::number::thousands;

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
    let mut options = args.data.options(Precision::F64)?;
    options.reading.labels = Labels::Any;
    let mut notes = Notes;
    let (rows, reader) = until_it_fits(&inputs, &options, &mut notes, |options, _| {
        // Numbers stay apart for learners that standardize them; others take them as features again.
        let mut options = options.clone();
        options.reading.numbers_apart = options.reading.kinds != Kinds::ByCell;
        write(args, &inputs, &options).map_err(Ended::<Fault>::data)
    })?;
    columns::warn(&reader.warnings());
    let kinds = match reader.table() {
        Some(table) => format!(", with the kinds of {} columns", table.columns.len()),
        None => String::new(),
    };
    note(&format!("{} rows in {}{kinds}", thousands(rows), args.output.display()));
    Ok(())
}

/// Prints which column gets a wider kind.
struct Notes;

impl Events for Notes {
    fn notice(&mut self, notice: &Notice) {
        if let Notice::Widened(widening) = notice {
            note(&format!("{widening}\n"));
        }
    }
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
