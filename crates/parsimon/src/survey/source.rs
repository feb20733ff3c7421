//! Rows that can be opened.

use parsimon_data::{DataError, Input, Options, Reader};

/// Data that can be opened for reading: files, bytes, or a source of the caller.
pub trait Source {
    /// Opens the rows from the beginning.
    fn open(&self, options: &Options) -> Result<Reader, DataError>;

    /// The same for a look at the labels; features may be passed over.
    fn open_labels(&self, options: &Options) -> Result<Reader, DataError> {
        self.open(options)
    }

    /// What can be read once only and therefore not be scanned before learning.
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

    fn read_once(&self) -> Option<String> {
        self.iter().find(|input| input.is_read_once()).map(|input| match input {
            Input::Stdin => "standard input".to_owned(),
            pipe => pipe.name(),
        })
    }
}
