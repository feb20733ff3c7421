//! Reading files, standard input and bytes as rows.
//!
//! A [`Reader`] opens inputs, decompresses them, recognizes the format and fills one [`Chunk`](crate::rows::Chunk) after the
//! other. Errors are [`DataError`]s with the file, the line, the column and the text at fault.
//!
//! | format | recognized by | features are | ids are |
//! | --- | --- | --- | --- |
//! | svmlight | `.svm .svmlight .libsvm .libfm`, or `label index:value` | ids | kept |
//! | vw | `.vw`, or a bar in the first row | names in namespaces | hashed |
//! | csv, tsv | `.csv .tsv`, or commas or tabs | columns | hashed |
//! | jsonl | `.json .jsonl .ndjson`, or a brace | fields | hashed |
//! | parquet, arrow | `.parquet .arrow .feather .ipc`, or the first bytes | columns, or lists of ids | hashed, or kept |
//! | cache | `.psc`, or the first bytes | as in the file it was made from | as in that file |
//!
//! [`Options`] has four parts. [`Reading`] sets what is not recognized: the label column, how labels are read, interactions, the
//! number of hash bits. [`Ask`] names what is wanted beside rows, [`Bounds`] limits sizes, and [`Run`] has the number of parser
//! threads, which changes neither the rows nor their order.
//!
//! ```
//! use parsimon::data::{Format, Input, Labels, Reader, Reading};
//! use parsimon::rows::Chunk;
//!
//! let csv = b"click,site,age\nyes,news,31\nno,shop,27\n".to_vec();
//! let input = Input::Bytes { name: "clicks.csv".into(), bytes: csv };
//! let reading = Reading {
//!     label_column: Some("click".into()),
//!     labels: Labels::Binary { negative: "no".into(), positive: "yes".into() },
//!     ..Reading::default()
//! };
//! let mut reader = Reader::open(&[input], &reading.into())?;
//! let mut chunk = Chunk::new();
//! assert!(reader.read(&mut chunk)?);
//! assert_eq!((chunk.len(), chunk.label(0)), (2, Some(1.0)));
//! # Ok::<(), parsimon::data::DataError>(())
//! ```
//!
//! Under [`Kinds::Found`] the first rows decide the kinds of the columns. The features are names, which are hashed:
//!
//! ```
//! use parsimon::data::{Input, Kinds, Options, Reader, Reading, Space, TableSchema};
//!
//! let csv = b"label,site,age\n1,news,31\n0,shop,27\n1,news,44\n".to_vec();
//! let input = Input::Bytes { name: "clicks.csv".into(), bytes: csv };
//! let options = Options::from(Reading {
//!     kinds: Kinds::Found,
//!     space: Some(Space::Hashed { bits: 18 }),
//!     ..Reading::default()
//! });
//! let reader = Reader::open(&[input], &options)?;
//! let schema: &TableSchema = reader.table().unwrap();
//! assert_eq!(schema.columns.len(), 3);
//! # Ok::<(), parsimon::data::DataError>(())
//! ```

#[cfg(feature = "columnar")]
#[doc(no_inline)]
pub use parsimon_data::arrow;
#[doc(inline)]
pub use parsimon_data::{
    Ask, Bounds, DataError, DataErrorKind, Format, Input, Kinds, Labels, Names, Options, Reader,
    Reading, Run, Space, TableSchema,
};
