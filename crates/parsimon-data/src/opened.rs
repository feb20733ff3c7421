//! Opening of an input: its first bytes, decompressed and in UTF-8, and its format.

use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parsimon_files::InputFile;
use parsimon_files::memory;

use crate::decompress::{self, Counting, Stream};
use crate::delimited::{self, Prelude};
use crate::encoding::{self, FromReturns, FromUtf16, FromWindows1252, Strays};
use crate::error::DataError;
use crate::json_lines::{self, JsonLines};
use crate::line_blocks::{Ends, record_end};
use crate::remarks::Remarks;
use crate::remedy::{Message, Remedy, Setting};
use crate::stop::Pipe;
use crate::{Format, Input, Kinds, Options, foreign, recognize};

/// One opened input: its first bytes and the rest, decompressed.
pub(crate) struct Opened {
    pub(crate) name: Arc<str>,
    pub(crate) head: Vec<u8>,
    pub(crate) rest: Stream,
    pub(crate) is_compressed: bool,
    pub(crate) is_pipe: bool,
    pub(crate) format: Format,
    /// Bytes that are not UTF-8, of a table.
    pub(crate) strays: Option<Arc<Strays>>,
}

/// Number of bytes from which the format is recognized.
const HEAD: usize = 64 << 10;

/// Opens an input, decompresses it and finds out its format.
pub(crate) fn open(
    input: &Input,
    options: &Options,
    count: &Arc<AtomicU64>,
    remarks: &Remarks,
) -> Result<Opened, DataError> {
    let name: Arc<str> = Arc::from(input.name());
    let raw: Stream = match (input, options.run.stop.as_ref().filter(|_| is_pipe(input))) {
        // Opening a named pipe may wait, too.
        (Input::Path(path), Some(stop)) => {
            let path = path.clone();
            Box::new(Counting::new(Pipe::new(move || InputFile::open(&path), stop), count.clone()))
        }
        (Input::Path(path), None) => {
            let file = InputFile::open(path).map_err(|e| DataError::io(&name, "cannot open", e))?;
            Box::new(Counting::new(file, count.clone()))
        }
        (Input::Stdin, Some(stop)) => {
            Box::new(Counting::new(Pipe::new(|| Ok(std::io::stdin()), stop), count.clone()))
        }
        (Input::Stdin, None) => Box::new(Counting::new(std::io::stdin(), count.clone())),
        (Input::Bytes { bytes, .. }, _) => {
            Box::new(Counting::new(Cursor::new(bytes.clone()), count.clone()))
        }
    };
    let cannot_read = |e| DataError::io(&name, "cannot read", e);
    let (rest, is_compressed) = decompress::open(raw).map_err(cannot_read)?;
    let is_pipe = !is_compressed && is_pipe(input);
    let (mut head, mut rest) = again(rest, is_pipe);
    if head.is_empty() {
        // Nothing at all, or an error before anything.
        let mut byte = [0];
        rest.read(&mut byte).map_err(cannot_read)?;
        return Err(DataError::empty(&name));
    }
    if let Some(words) = foreign::refusal(&name, &head) {
        return Err(DataError::format(&name, words));
    }
    if let Some((order, mark)) = encoding::utf16(&head) {
        if mark == 0 {
            let spelled = format!("{order:?}").to_lowercase();
            remarks.add(&name, &format!("read as UTF-16 ({spelled}-endian)"));
        }
        let all = Cursor::new(head.split_off(mark)).chain(rest);
        (head, rest) = again(Box::new(FromUtf16::new(all, order)), is_pipe);
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    if head.is_empty() {
        return Err(DataError::empty(&name));
    }
    if encoding::ends_in_returns(&head) && !foreign::is_binary(&head) {
        let all = Cursor::new(head).chain(rest);
        (head, rest) = again(Box::new(FromReturns(all)), is_pipe);
    }
    let format = match options.reading.format.or_else(|| recognize::by_name(&name)) {
        Some(format) => format,
        None => recognize::by_bytes(&head).map_err(|words| DataError::format(&name, words))?,
    };
    if let (Format::Jsonl, Some(layout)) = (format, json_lines::layout(&head)) {
        let all = Cursor::new(head).chain(rest);
        (head, rest) = again(Box::new(JsonLines::new(all, layout)), is_pipe);
        if head.is_empty() {
            let mut byte = [0];
            rest.read(&mut byte).map_err(cannot_read)?;
            return Err(DataError::empty(&name));
        }
    }
    let mut strays = None;
    if matches!(format, Format::Csv | Format::Tsv) {
        let found = Arc::new(Strays::default());
        remarks.watch(&name, &found);
        let all = Cursor::new(head).chain(rest);
        (head, rest) = again(Box::new(FromWindows1252::new(all, found.clone())), is_pipe);
        strays = Some(found);
    }
    Ok(Opened { name, head, rest, is_compressed, is_pipe, format, strays })
}

/// The first bytes of a stream that was begun anew, and the rest.
fn again(mut stream: Stream, is_pipe: bool) -> (Vec<u8>, Stream) {
    let mut head = Vec::new();
    match read_head(&mut stream, &mut head, is_pipe) {
        Ok(()) => (head, stream),
        // What came before the error may be whole rows; the error follows them.
        Err(e) => (head, Box::new(Broken(Some(e)))),
    }
}

fn read_head(stream: &mut Stream, head: &mut Vec<u8>, is_pipe: bool) -> std::io::Result<()> {
    match is_pipe {
        true => read_first_line(stream, head),
        false => decompress::read_up_to(stream, head, HEAD),
    }
}

/// Whether bytes come when they like, rather than lying there.
fn is_pipe(input: &Input) -> bool {
    match input {
        Input::Path(path) => !path.is_file(),
        Input::Stdin => true,
        Input::Bytes { .. } => false,
    }
}

/// Reads what is there up to a first line that is not blank.
fn read_first_line(stream: &mut Stream, head: &mut Vec<u8>) -> std::io::Result<()> {
    let mut buffer = vec![0; HEAD];
    while head.len() < HEAD && !head.trim_ascii_start().contains(&b'\n') {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => head.extend_from_slice(&buffer[..n]),
            Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

impl Opened {
    /// Reads on until the head holds a first record that is not blank, or a great deal.
    pub(crate) fn read_first_record(&mut self, ends: Ends) -> Result<(), DataError> {
        const MOST: usize = 64 << 20;
        while record_end(self.head.trim_ascii_start(), ends).is_none() && self.head.len() < MOST {
            let (before, more) = (self.head.len(), 2 * self.head.len());
            self.check_head(more)?;
            decompress::read_up_to(&mut self.rest, &mut self.head, more)
                .map_err(|e| DataError::io(&self.name, "cannot read", e))?;
            if self.head.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Reads on until the head holds a line that is no comment, or a great deal.
    pub(crate) fn read_prelude(&mut self) -> Result<(), DataError> {
        const MOST: usize = 1 << 20;
        let is_row = |line: &[u8]| !matches!(line.trim_ascii(), [] | [b'#', ..]);
        while Prelude::may_begin(&self.head) && self.head.len() < MOST {
            let whole = memchr::memrchr(b'\n', &self.head).map_or(0, |n| n + 1);
            if self.head[..whole].split(|b| *b == b'\n').any(is_row) {
                break;
            }
            let (before, more) = (self.head.len(), 2 * self.head.len());
            decompress::read_up_to(&mut self.rest, &mut self.head, more)
                .map_err(|e| DataError::io(&self.name, "cannot read", e))?;
            if self.head.len() == before {
                break;
            }
        }
        Ok(())
    }

    /// Reads on until the head holds the rows that decide the kinds of columns: how many bytes these are, and whether they
    /// are all.
    pub(crate) fn read_judged(&mut self) -> Result<(usize, bool), DataError> {
        loop {
            if let Some(judged) = delimited::judged_bytes(&self.head) {
                return Ok((judged, false));
            }
            let (before, more) = (self.head.len(), 2 * self.head.len());
            self.check_head(more)?;
            if let Err(e) = decompress::read_up_to(&mut self.rest, &mut self.head, more) {
                self.rest = Box::new(Broken(Some(e)));
                return Ok((self.head.len(), true));
            }
            if self.head.len() == before {
                return Ok((before, true));
            }
        }
    }

    /// Refuses to read more of the first rows than there is memory for: the bytes, and what they are cut into.
    fn check_head(&self, bytes: usize) -> Result<(), DataError> {
        const SMALL: usize = 1 << 20;
        const PER_BYTE: u64 = 16;
        if bytes <= SMALL {
            return Ok(());
        }
        memory::check(PER_BYTE.saturating_mul(bytes as u64)).map_err(|shortage| {
            let what = format!("reading the first {} of the table", memory::amount(bytes as u64));
            let ways = [
                Remedy::Advice("check that lines end where rows do".into()),
                Remedy::Pass(Setting::Kinds, Some("cell".into())),
            ];
            DataError::memory(&self.name, Message::shortage(&shortage, &what, &ways))
        })
    }
}

/// A stream that ends in an error.
struct Broken(Option<std::io::Error>);

impl Read for Broken {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Refuses at once what would otherwise fail hours later, and sums up sizes: `None` with stdin.
pub(crate) fn check_inputs(inputs: &[Input]) -> Result<Option<u64>, DataError> {
    if inputs.is_empty() {
        return Err(DataError::setting("no input was given"));
    }
    let mut total = Some(0);
    for input in inputs {
        let size = match input {
            Input::Path(path) => {
                let name = Arc::from(input.name());
                let about =
                    std::fs::metadata(path).map_err(|e| DataError::io(&name, "cannot open", e))?;
                if about.is_dir() {
                    return Err(DataError::directory(&name));
                }
                // A pipe has no size.
                about.is_file().then_some(about.len())
            }
            Input::Stdin => None,
            Input::Bytes { bytes, .. } => Some(bytes.len() as u64),
        };
        total = total.zip(size).map(|(a, b)| a + b);
    }
    Ok(total)
}

/// Refuses products of namespaces where there are none.
pub(crate) fn refuse_interactions(opened: &Opened, options: &Options) -> Result<(), DataError> {
    let named = options.reading.interactions.iter().flatten().find(|selector| !selector.is_empty());
    match named {
        Some(selector) if opened.format == Format::Svmlight && !options.ask.unfit_is_missing => {
            Err(DataError::setting(format!(
                "{} is svmlight, whose features have no namespaces: there is no {selector:?} to multiply",
                opened.name
            )))
        }
        _ => Ok(()),
    }
}

/// Refuses to choose among columns where there are none.
pub(crate) fn refuse_column_flags(
    opened: &Opened,
    options: &Options,
    is_table: bool,
) -> Result<(), DataError> {
    let (name, format) = (&opened.name, opened.format);
    let is_pattern = |column: &&String| column.contains(['*', '?']) || *column == "all";
    if format == Format::Jsonl
        && !is_table
        && let Some(pattern) = options.ask.carried.iter().find(is_pattern)
    {
        return Err(DataError::setting(format!(
            "the fields of JSON rows are kept by name; {pattern:?} is a pattern"
        )));
    }
    // Options of a model may have columns where its rows have none.
    let roles = match options.reading.kinds {
        Kinds::Found if options.reading.label_column.is_some() => Some(Setting::LabelColumn),
        Kinds::Found if options.reading.weight_column.is_some() => Some(Setting::WeightColumn),
        _ => options.ask.asked_column,
    };
    let categories = (!options.reading.categories.is_empty()).then_some(Setting::Categories);
    let setting = match format {
        Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow => None,
        Format::Jsonl if is_table => None,
        Format::Jsonl => options.reading.settings_of_kinds().or(categories),
        Format::Svmlight | Format::Vw | Format::Cache => {
            let ignore = (!options.reading.ignore.is_empty()).then_some(Setting::Ignore);
            let carried = (!options.ask.carried.is_empty()).then_some(Setting::Carried);
            options.reading.settings_of_kinds().or(categories).or(ignore).or(roles).or(carried)
        }
    };
    let Some(setting) = setting else { return Ok(()) };
    let fact = match format {
        Format::Jsonl => {
            format!("{name} is {format}, whose values have types, unlike those of tables")
        }
        _ => format!("{name} is {format} and has no columns"),
    };
    Err(DataError::setting(Message::new(fact).or(Remedy::LeaveOut(setting))))
}
