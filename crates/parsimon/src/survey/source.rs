//! Rows that can be opened.

use parsimon_data::{DataError, Input, Options, Reader};

/// Data that can be opened for reading: files, bytes, or a source of the caller.
pub trait Source {
    /// Opens the rows from the beginning.
    fn open(&self, options: &Options) -> Result<Reader, DataError>;

    /// Opens the source for a scan of the labels; features may be skipped.
    fn open_labels(&self, options: &Options) -> Result<Reader, DataError> {
        self.open(options)
    }

    /// The files and other inputs that the rows come from, if there are any.
    fn inputs(&self) -> &[Input] {
        &[]
    }

    /// A source that can be read only once, so that it cannot be scanned before learning.
    fn read_once(&self) -> Option<String> {
        None
    }
}

impl Source for [Input] {
    fn open(&self, options: &Options) -> Result<Reader, DataError> {
        Reader::open(self, options)
    }

    fn open_labels(&self, options: &Options) -> Result<Reader, DataError> {
        Reader::open_labels(self, options)
    }

    fn inputs(&self) -> &[Input] {
        self
    }

    fn read_once(&self) -> Option<String> {
        self.iter().find(|input| input.is_read_once()).map(|input| match input {
            Input::Stdin => "standard input".to_owned(),
            pipe => pipe.name(),
        })
    }
}

impl Source for Vec<Input> {
    fn open(&self, options: &Options) -> Result<Reader, DataError> {
        self[..].open(options)
    }

    fn open_labels(&self, options: &Options) -> Result<Reader, DataError> {
        self[..].open_labels(options)
    }

    fn inputs(&self) -> &[Input] {
        self
    }

    fn read_once(&self) -> Option<String> {
        self[..].read_once()
    }
}
