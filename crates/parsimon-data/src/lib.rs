#![doc = include_str!("../README.md")]
//!
//! # Formats
//!
//! A [`Reader`] fills one [`Chunk`](parsimon_core::Chunk) after the other with rows that are sorted, unique and finite. It returns a
//! [`DataError`] for malformed input and does not panic.
//!
//! | format | recognized by | features are | default space |
//! | --- | --- | --- | --- |
//! | svmlight | `.svm .svmlight .libsvm .libfm`, `label index:value` | ids | ids |
//! | vw | `.vw`, a bar in the first row | names in namespaces | hashed |
//! | csv, tsv | `.csv .tsv`, commas or tabs | columns, or column and text | hashed |
//! | jsonl | `.json .jsonl .ndjson`, a brace | fields, or field and text | hashed |
//! | parquet, arrow | `.parquet .arrow .feather .ipc`, first bytes | as csv; or a list column of ids | hashed; ids |
//! | cache | `.psc`, first bytes | as recorded | as recorded |
//!
//! # Names
//!
//! A feature is called `text`, or `namespace^text` where it has a namespace. Where a field or column holds a
//! text, the feature's own text is `field=text`. The name alone decides the slot ([`hash`]), so a feature has the
//! same slot in whatever format it arrives. [`Names`] leads back from slots to names and counts collisions.
//!
//! # Interactions
//!
//! [`Reading::interactions`] lists pairs and triples of namespaces whose features are multiplied while
//! rows are read. One character selects every namespace that begins with it, more select the one of that
//! name, none selects the anonymous one; `:` and `*` select all, and a name with `*` or `?` those that fit the
//! pattern. In tables every column is a namespace; svmlight has only the anonymous one. The product of `a^x` and
//! `b^y` is called `a^x*b^y`; its order is that of the selectors. Each unordered pair or triple of features is made
//! once, squares included, however many interactions select it.
//!
//! # Encodings
//!
//! Text is UTF-8. UTF-16 is recognized by its byte order mark, or by its zeros; in CSV and TSV, bytes that are not UTF-8 are
//! read as Windows-1252 and counted ([`Reader::warnings`]). Files of other programs, such as workbooks, are refused by name.
//!
//! # Features
//!
//! `columnar` reads and writes Parquet and Arrow, `zstd` decompresses zstd; both are on by default. What was left out is refused
//! by name. gzip and bzip2 are always there.
//!
//! # Threads
//!
//! With [`Run::threads`] above 1 one more thread reads and cuts the input into blocks of whole
//! lines and that many parse them. Rows, names, errors and their order do not depend on it.
//!
//! # What it does not do
//!
//! It never shuffles, never repeats, never guesses a class from a number; it does not read Vowpal Wabbit's
//! multi-line, cost-sensitive or contextual-bandit labels, nor reproduce its hashes.

#![warn(clippy::print_stdout, clippy::print_stderr)]

#[cfg(feature = "columnar")]
pub mod arrow;
mod ask;
mod bounds;
mod builder;
pub mod cache;
mod carried;
#[cfg_attr(not(feature = "columnar"), path = "columnar/left_out.rs")]
mod columnar;
mod columns;
mod cross;
mod curves;
mod decompress;
mod delimited;
mod encoding;
mod engine;
mod error;
mod foreign;
mod format;
#[cfg(target_arch = "x86_64")]
mod four_features;
mod guesses;
pub mod hash;
mod input;
#[cfg(feature = "columnar")]
mod ipc;
mod json_lines;
mod json_object;
mod jsonl;
mod kinds;
mod label;
#[cfg(not(all(feature = "columnar", feature = "zstd")))]
mod left_out;
mod line_blocks;
mod listing;
mod names;
mod number;
mod number_rows;
mod opened;
mod options;
mod reader;
mod reading;
mod recognize;
mod remarks;
mod remedy;
mod role_names;
mod row_parser;
mod row_sort;
mod run;
mod sample;
mod scan;
mod seen;
mod selector;
mod separators;
mod source;
mod space;
mod stop;
mod stored;
mod suggestion;
mod svmlight;
mod table_writer;
#[cfg(test)]
mod testing;
mod unmet;
mod vw;

pub use ask::Ask;
pub use bounds::Bounds;
pub use carried::Carried;
#[cfg(feature = "columnar")]
pub use columnar::BatchIterator;
pub use curves::{bin_name, knot_name};
#[doc(hidden)]
pub use decompress::decompressed;
pub use error::{DataError, DataErrorKind};
pub use format::Format;
pub use input::Input;
pub use kinds::{
    ColumnKind, Curves, Kind, Kinds, LabelGuess, LabelReason, OddText, Pairs, Points, TableSchema,
    TypeNote, TypeNotes, is_missing_word, is_written_number,
};
pub use label::{LabelTexts, Labels};
pub use listing::listed;
pub use names::{Names, NewNames};
pub use options::Options;
pub use reader::{Position, Reader};
pub use reading::{Header, Reading};
pub use remedy::{Door, Message, Remedy, Setting};
pub use role_names::{is_label_name, label_field, label_name, may_be_weight};
pub use row_parser::RowParser;
pub use run::Run;
pub use sample::Sample;
pub use scan::{LabelCounter, LabelScan, count_labels, scan_labels};
pub use space::Space;
pub use stop::{Stop, Stopper};
pub use suggestion::{did_you_mean, nearest};
pub use table_writer::{Cell, ColumnType, TableFormat, TableWriter};
