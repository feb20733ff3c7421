//! Parts of a Parquet file, read where the file says they are.

use std::io::{BufReader, Read, Seek, SeekFrom};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};
use parsimon_files::InputFile;

/// A file, for the library that reads Parquet.
pub(super) struct Parts(pub(super) InputFile);

impl Length for Parts {
    fn len(&self) -> u64 {
        self.0.metadata().map_or(0, |m| m.len())
    }
}

impl Parts {
    fn at(&self, start: u64) -> Result<InputFile> {
        let mut file = self.0.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl ChunkReader for Parts {
    type T = BufReader<InputFile>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start)?))
    }

    /// INVARIANT: nothing is allocated beyond the size of the file.
    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.len()) {
            let words = format!("a part of {length} bytes at {start} reaches beyond the file");
            return Err(ParquetError::EOF(words));
        }
        let mut bytes = vec![0; length];
        self.at(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}
