//! Reading everything into plain vectors.

#![allow(dead_code)] // Each test binary uses its own part.
#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

use parsimon_core::Chunk;
use parsimon_data::{Input, Labels, Options, Reader, Reading, cache::Writer};

#[expect(clippy::struct_field_names, reason = "rows have rows")]
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Rows {
    pub(crate) labels: Vec<Option<f64>>,
    pub(crate) weights: Vec<f64>,
    pub(crate) rows: Vec<Vec<(u32, f64)>>,
    pub(crate) tags: Vec<Vec<u8>>,
    pub(crate) names: Vec<(u32, String)>,
    pub(crate) collisions: usize,
    pub(crate) texts: Vec<String>,
    pub(crate) skipped: Vec<String>,
    pub(crate) largest: u32,
}

pub(crate) fn bytes(name: &str, bytes: &[u8]) -> Input {
    Input::Bytes { name: name.into(), bytes: bytes.to_vec() }
}

pub(crate) fn any_labels() -> Options {
    Options::from(Reading { labels: Labels::Any, ..Reading::default() })
}

/// All rows, and the error that ended them.
pub(crate) fn read(name: &str, text: &[u8], options: &Options) -> (Rows, Option<String>) {
    read_inputs(&[bytes(name, text)], options)
}

pub(crate) fn read_inputs(inputs: &[Input], options: &Options) -> (Rows, Option<String>) {
    let mut all = Rows::default();
    let mut reader = match Reader::open(inputs, options) {
        Ok(reader) => reader,
        Err(e) => return (all, Some(e.to_string())),
    };
    let mut chunk = Chunk::new();
    let error = loop {
        match reader.read(&mut chunk) {
            Ok(false) => break None,
            Err(e) => break Some(e.to_string()),
            Ok(true) => {
                for i in 0..chunk.len() {
                    all.labels.push(chunk.label(i));
                    all.weights.push(chunk.weight(i));
                    all.rows.push(chunk.row(i).iter().collect());
                    all.tags.push(chunk.tag(i).to_vec());
                }
            }
        }
    };
    all.skipped = reader.skipped().iter().map(ToString::to_string).collect();
    all.texts = reader.label_texts().iter().map(|(_, text)| text.to_owned()).collect();
    // What was parsed ahead of an error is nobody's business.
    if error.is_none() {
        all.largest = reader.largest_index();
        all.collisions = reader.names().collisions();
        all.names =
            reader.into_names().iter().map(|(slot, name)| (slot, name.to_owned())).collect();
    }
    (all, error)
}

/// The cache of some text.
pub(crate) fn cached(text: &[u8], options: &Options) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.psc");
    let mut reader = Reader::open(&[bytes("x", text)], options).unwrap();
    let mut writer = Writer::create(&path, reader.space()).unwrap();
    let mut chunk = Chunk::new();
    while reader.read(&mut chunk).unwrap() {
        writer.write(&chunk).unwrap();
    }
    writer.names(reader.names());
    writer.label_texts(reader.label_texts());
    writer.finish().unwrap();
    std::fs::read(&path).unwrap()
}
