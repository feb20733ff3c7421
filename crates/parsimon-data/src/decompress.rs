//! Decompression of gzip (any number of members), zstd and bzip2, recognized by their first bytes.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parsimon_files::InputFile;

/// Bytes from somewhere.
pub(crate) type Stream = Box<dyn Read + Send>;

const BUFFER: usize = 1 << 17;

/// Counts the bytes that pass, for progress.
#[derive(Debug)]
pub(crate) struct Counting<R> {
    inner: R,
    count: Arc<AtomicU64>,
}

impl<R> Counting<R> {
    pub(crate) fn new(inner: R, count: Arc<AtomicU64>) -> Self {
        Self { inner, count }
    }
}

impl<R: Read> Read for Counting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.count.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

/// The decompressed stream, and whether it was compressed at all.
pub(crate) fn open(mut raw: Stream) -> io::Result<(Stream, bool)> {
    let mut magic = Vec::with_capacity(4);
    read_up_to(&mut raw, &mut magic, 4)?;
    let kind = [&[0x1f, 0x8b][..], &[0x28, 0xb5, 0x2f, 0xfd], b"BZh"]
        .iter()
        .position(|start| magic.starts_with(start));
    let whole = Cursor::new(magic).chain(raw);
    Ok(match kind {
        Some(0) => {
            let buffered = BufReader::with_capacity(BUFFER, whole);
            (Box::new(flate2::bufread::MultiGzDecoder::new(buffered)), true)
        }
        Some(1) => {
            let buffered = BufReader::with_capacity(BUFFER, whole);
            (zstd(buffered)?, true)
        }
        Some(_) => {
            let buffered = BufReader::with_capacity(BUFFER, whole);
            (Box::new(bzip2::bufread::MultiBzDecoder::new(buffered)), true)
        }
        None => (Box::new(whole), false),
    })
}

/// Opens a file, decompressed where it is compressed with gzip, zstd or bzip2, and returns whether it is.
pub fn decompressed(path: &Path) -> io::Result<(Box<dyn Read + Send>, bool)> {
    open(Box::new(InputFile::open(path)?))
}

#[cfg(feature = "zstd")]
fn zstd(packed: impl BufRead + Send + 'static) -> io::Result<Stream> {
    Ok(Box::new(zstd::stream::read::Decoder::with_buffer(packed)?))
}

#[cfg(not(feature = "zstd"))]
fn zstd(_: impl BufRead) -> io::Result<Stream> {
    let words = crate::left_out::words("reads no zstd", "zstd");
    Err(io::Error::new(io::ErrorKind::Unsupported, words))
}

/// Reads until `most` bytes are there or the stream ends.
pub(crate) fn read_up_to(stream: &mut Stream, into: &mut Vec<u8>, most: usize) -> io::Result<()> {
    let missing = most.saturating_sub(into.len()) as u64;
    stream.take(missing).read_to_end(into).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn bzip2(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = ::bzip2::write::BzEncoder::new(Vec::new(), ::bzip2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    fn all(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
        let (mut stream, _) = open(Box::new(Cursor::new(bytes)))?;
        let mut out = Vec::new();
        stream.read_to_end(&mut out)?;
        Ok(out)
    }

    fn noise(len: u32) -> Vec<u8> {
        (0..len).map(|i| (i.wrapping_mul(2_654_435_761) >> 13) as u8).collect()
    }

    #[test]
    fn every_compression_gives_the_bytes_back() {
        let bytes = noise(300_000);
        for packed in [gzip(&bytes), zstd::encode_all(&bytes[..], 1).unwrap(), bzip2(&bytes)] {
            assert!(all(packed.clone()).unwrap() == bytes);
            // Two streams one after the other are one.
            let twice = [packed.clone(), packed].concat();
            assert!(all(twice).unwrap() == [bytes.clone(), bytes.clone()].concat());
        }
        assert!(all(bytes.clone()).unwrap() == bytes);
        assert_eq!(all(Vec::new()).unwrap(), b"");
        assert_eq!(all(vec![0x1f]).unwrap(), [0x1f]);
    }

    #[test]
    fn a_stream_cut_short_is_an_error() {
        let bytes = noise(300_000);
        for packed in [gzip(&bytes), zstd::encode_all(&bytes[..], 1).unwrap(), bzip2(&bytes)] {
            for cut in [5, packed.len() / 2, packed.len() - 1] {
                assert!(all(packed[..cut].to_vec()).is_err(), "{cut} of {}", packed.len());
            }
        }
    }
}
