//! Inputs opened one after the other, and cut into pieces that can be parsed on their own.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cut::{CutError, Cutter, Ends};
use crate::decompress::{self, Counting, Stream};
use crate::error::DataError;
use crate::{Format, Input, Options, recognize};

/// A part of the input that can be parsed without the parts before it.
pub(crate) struct Piece {
    pub(crate) name: Arc<str>,
    pub(crate) body: Body,
    /// The first piece of its input.
    pub(crate) is_first: bool,
    /// The last piece of its input.
    pub(crate) is_last: bool,
    /// Lines of the input before its first piece: a header's.
    pub(crate) lines_before: u64,
    /// Bytes read of all inputs when this piece was cut.
    pub(crate) bytes: u64,
}

/// What is in a piece.
pub(crate) enum Body {
    /// Whole lines: `buffer[..len]`.
    Text { buffer: Vec<u8>, len: usize },
    /// Nothing: the end of an input.
    End,
    /// The input broke here.
    Failed(DataError),
}

/// One opened input: its first bytes and the rest, decompressed.
pub(crate) struct Opened {
    pub(crate) name: Arc<str>,
    pub(crate) head: Vec<u8>,
    pub(crate) rest: Stream,
    pub(crate) is_compressed: bool,
    pub(crate) format: Format,
}

/// Enough of a file to see what it is.
const HEAD: usize = 64 << 10;

/// Opens an input, decompresses it and finds out its format.
pub(crate) fn open(
    input: &Input,
    options: &Options,
    count: &Arc<AtomicU64>,
) -> Result<Opened, DataError> {
    let name: Arc<str> = Arc::from(input.name());
    let raw: Stream = match input {
        Input::Path(path) => {
            let file = File::open(path).map_err(|e| DataError::io(&name, "cannot open", e))?;
            Box::new(Counting::new(file, count.clone()))
        }
        Input::Stdin => Box::new(Counting::new(std::io::stdin(), count.clone())),
        Input::Bytes { bytes, .. } => {
            Box::new(Counting::new(Cursor::new(bytes.clone()), count.clone()))
        }
    };
    let cannot_read = |e| DataError::io(&name, "cannot read", e);
    let (mut rest, is_compressed) = decompress::open(raw).map_err(cannot_read)?;
    let mut head = Vec::new();
    if let Err(e) = decompress::read_up_to(&mut rest, &mut head, HEAD) {
        // What came before the error may be whole rows; the error follows them.
        rest = Box::new(Broken(Some(e)));
    }
    if head.is_empty() {
        // Nothing at all, or an error before anything.
        let mut byte = [0];
        rest.read(&mut byte).map_err(cannot_read)?;
        return Err(DataError::file(&name, "is empty: no rows"));
    }
    if head.starts_with(b"\xef\xbb\xbf") {
        head.drain(..3);
    }
    let format = match options.format.or_else(|| recognize::by_name(&name)) {
        Some(format) => format,
        None => recognize::by_bytes(&head).map_err(|words| DataError::file(&name, words))?,
    };
    Ok(Opened {
        name,
        head,
        rest,
        is_compressed,
        format,
    })
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
                    return Err(DataError::file(&name, "is a directory"));
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

/// All inputs, one after the other.
pub(crate) struct Source {
    waiting: VecDeque<Input>,
    options: Options,
    first_name: Arc<str>,
    format: Format,
    current: Option<Current>,
    count: Arc<AtomicU64>,
    is_done: bool,
}

struct Current {
    name: Arc<str>,
    pieces: Pieces,
    is_first: bool,
    lines_before: u64,
}

enum Pieces {
    Text(Cutter),
}

impl Source {
    /// Opens the first input; the others are opened when their turn comes.
    pub(crate) fn open(inputs: &[Input], options: &Options) -> Result<Self, DataError> {
        let count = Arc::new(AtomicU64::new(0));
        let Some((first, others)) = inputs.split_first() else {
            return Err(DataError::setting("no input was given"));
        };
        let opened = open(first, options, &count)?;
        let (first_name, format) = (opened.name.clone(), opened.format);
        Ok(Self {
            waiting: others.iter().cloned().collect(),
            options: options.clone(),
            first_name,
            format,
            current: Some(Current::new(opened)),
            count,
            is_done: false,
        })
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The next piece, in a buffer that may have been used before. After a failure there is none.
    pub(crate) fn next(&mut self, buffer: Vec<u8>) -> Option<Piece> {
        if self.is_done {
            return None;
        }
        if self.current.is_none() {
            let input = self.waiting.pop_front()?;
            match self.open_next(&input) {
                Ok(current) => self.current = Some(current),
                Err(e) => return Some(self.failed(e)),
            }
        }
        let current = self.current.as_mut()?;
        match current.next_body(buffer) {
            Ok(body) => {
                let is_last = matches!(body, Body::End);
                let piece = Piece {
                    name: current.name.clone(),
                    body,
                    is_first: current.is_first,
                    is_last,
                    lines_before: current.lines_before,
                    bytes: self.count.load(Ordering::Relaxed),
                };
                current.is_first = false;
                if is_last {
                    self.current = None;
                }
                Some(piece)
            }
            Err(e) => Some(self.failed(e)),
        }
    }

    fn open_next(&mut self, input: &Input) -> Result<Current, DataError> {
        let opened = open(input, &self.options, &self.count)?;
        if opened.format != self.format {
            let (this, first, name) = (opened.format, self.format, &self.first_name);
            return Err(DataError::file(
                &opened.name,
                format!("is {this}, but {name} is {first}: all inputs must be of one format"),
            ));
        }
        Ok(Current::new(opened))
    }

    fn failed(&mut self, error: DataError) -> Piece {
        self.is_done = true;
        Piece {
            name: Arc::from(error.name()),
            body: Body::Failed(error),
            is_first: false,
            is_last: false,
            lines_before: 0,
            bytes: self.count.load(Ordering::Relaxed),
        }
    }
}

impl Current {
    fn new(opened: Opened) -> Self {
        let ends = match opened.format {
            Format::Csv => Ends::Quoted { delimiter: b',' },
            _ => Ends::Newline,
        };
        let pieces = Pieces::Text(Cutter::new(opened.head, opened.rest, ends));
        Self {
            name: opened.name,
            pieces,
            is_first: true,
            lines_before: 0,
        }
    }

    fn next_body(&mut self, mut buffer: Vec<u8>) -> Result<Body, DataError> {
        match &mut self.pieces {
            Pieces::Text(cutter) => match cutter.next(&mut buffer) {
                Ok(Some(len)) => Ok(Body::Text { buffer, len }),
                Ok(None) => Ok(Body::End),
                Err(CutError::Io(e)) => Err(DataError::io(&self.name, "cannot read", e)),
                Err(CutError::TooLong { limit }) => {
                    let name = &self.name;
                    Err(DataError::file(
                        name,
                        format!("a line is longer than {limit} bytes"),
                    ))
                }
            },
        }
    }
}
