//! Bytes to chunks: readers for every format parsimon learns from.

mod builder;
pub mod cache;
mod columnar;
mod columns;
mod cross;
mod cut;
mod decompress;
mod delimited;
mod engine;
mod error;
pub mod hash;
mod jsonl;
mod label;
mod names;
mod number;
mod options;
mod reader;
mod recognize;
mod scan;
mod source;
mod svmlight;
#[cfg(test)]
mod testing;
mod vw;

pub use error::{DataError, What};
pub use label::{LabelTexts, Labels};
pub use names::Names;
pub use options::{Format, Header, Input, Options, Space};
pub use reader::{Position, Reader};
pub use scan::{LabelScan, scan_labels};
