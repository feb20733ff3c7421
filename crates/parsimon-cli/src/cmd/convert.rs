//! `parsimon convert`

use parsimon::core::{Chunk, Precision};
use parsimon::data::{Kinds, Labels, Options, Reader, cache};
use parsimon::eval::number::thousands;

use crate::args::ConvertArgs;
use crate::console::note;
use crate::fault::Fault;
use crate::output::Files;

pub(crate) fn run(args: &ConvertArgs) -> Result<(), Fault> {
    // Labels stay texts: the cache serves every loss. Cells are judged one by one, because a cache has no place for the kinds of
    // columns, and a model trained on it has to read tables as the cache did.
    let data = args.data.options(Precision::F64)?;
    let options = Options { labels: Labels::Any, kinds: Kinds::ByCell, ..data };
    let mut files = Files::default();
    files.read("DATA", &args.data.inputs());
    files.write("--output", Some(&args.output))?;
    let mut reader = Reader::open(&args.data.inputs(), &options)?;
    let mut writer = cache::Writer::create(&args.output, reader.space())?;
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk)? {
        writer.write(&chunk)?;
    }
    writer.label_texts(reader.label_texts());
    writer.names(reader.names());
    let rows = reader.position().rows;
    writer.finish()?;
    note(&format!("{} rows in {}", thousands(rows), args.output.display()));
    Ok(())
}
