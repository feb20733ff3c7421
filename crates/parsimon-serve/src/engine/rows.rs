//! Iterators over the rows of chunks and the lines of texts.

use parsimon::rows::Chunk;

/// Returns every row of some chunks.
pub(crate) fn each(chunks: &[Chunk]) -> impl Iterator<Item = (&Chunk, usize)> {
    chunks.iter().flat_map(|chunk| (0..chunk.len()).map(move |i| (chunk, i)))
}

/// Returns the lines of a text that are rows.
pub(crate) fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty())
}
