//! The one place where a task on rows starts again: a cell contradicts the kind of its column, and the column gets a wider kind, or a
//! label is not among those of the first rows, and all labels are inspected.

use parsimon_data::{Ask, DataError, DataErrorKind, Labels, Options};

use crate::survey::{self, Source};
use crate::training::{Events, Notice};

/// The end of an attempt that has not succeeded.
#[derive(Debug)]
pub enum Ended<E> {
    /// The data has an error, which may be a cell that contradicts the kind of its column.
    Data {
        /// The error.
        error: DataError,
        /// Whether the caller can do everything from the start again.
        is_repeatable: bool,
    },
    /// A label is not among the two that the first rows have.
    Labels(DataError),
    /// Another error.
    Other(E),
}

impl<E> Ended<E> {
    /// An error of the data, after which everything can be done again.
    pub fn data(error: DataError) -> Self {
        Ended::Data { error, is_repeatable: true }
    }

    /// An error of a row that was read with some options; `is_declared` says that the caller has declared the labels.
    pub(super) fn row(error: DataError, options: &Options, is_declared: bool) -> Self {
        let is_of_two = matches!(options.reading.labels, Labels::Binary { .. });
        let is_new = error.kind() == DataErrorKind::Label && error.token().is_some();
        match is_new && is_of_two && !is_declared && !options.ask.every_label {
            true => Ended::Labels(error),
            false => Ended::data(error),
        }
    }
}

/// Makes attempts until one succeeds or fails for another reason than a cell that contradicts the kind of its column, or a label that
/// the first rows do not have. Each gets options with the kinds of the columns of a table; after such a cell, its column has a wider
/// kind, and after such a label, all labels are inspected. Data that can be read once only has one attempt.
///
/// ```
/// use parsimon::Error;
/// use parsimon::data::{Input, Kinds, Labels, Options, Reader, Reading};
/// use parsimon::job::{Ended, until_it_fits};
/// use parsimon::rows::Chunk;
///
/// let mut csv = String::from("price,label\n");
/// (0..12_000).for_each(|i| csv += &format!("{i}.5,{}\n", i % 2));
/// let inputs = vec![Input::Bytes { name: "d.csv".into(), bytes: (csv + "b7,1\n").into_bytes() }];
/// let reading = Reading { labels: Labels::Any, kinds: Kinds::Found, ..Reading::default() };
/// let options = Options::from(reading);
/// let rows: u64 = until_it_fits(&inputs, &options, &mut (), |options, _| {
///     let mut reader = Reader::open(&inputs, options).map_err(Ended::data)?;
///     let mut chunk = Chunk::new();
///     while reader.read(&mut chunk).map_err(Ended::data)? {}
///     Ok::<_, Ended<Error>>(reader.position().rows)
/// })?;
/// assert_eq!(rows, 12_001);
/// # Ok::<(), Error>(())
/// ```
pub fn until_it_fits<T, E: From<DataError>>(
    source: &dyn Source,
    options: &Options,
    events: &mut dyn Events,
    mut attempt: impl FnMut(&Options, &mut dyn Events) -> Result<T, Ended<E>>,
) -> Result<T, E> {
    let mut options = survey::with_kinds(source, options)?;
    loop {
        let (error, is_repeatable) = match attempt(&options, events) {
            Ok(done) => return Ok(done),
            Err(Ended::Other(error)) => return Err(error),
            Err(Ended::Labels(error)) if source.read_once().is_none() => {
                events.notice(&Notice::MoreLabels {
                    input: error.name().to_owned(),
                    line: error.line().unwrap_or_default(),
                    label: error.token().unwrap_or_default().to_owned(),
                });
                options.ask = Ask { every_label: true, ..options.ask };
                continue;
            }
            Err(Ended::Labels(error)) => (error, false),
            Err(Ended::Data { error, is_repeatable }) => (error, is_repeatable),
        };
        let may_repeat = is_repeatable && source.read_once().is_none();
        match survey::widened(&options, &error).filter(|_| may_repeat) {
            Some((wider, widening)) => {
                events.notice(&Notice::Widened(widening));
                options = wider;
            }
            None => return Err(error.into()),
        }
    }
}
