//! MNIST and Fashion-MNIST as chunks.
//!
//! A row is an image: the pixel at row `r` and column `c` is feature `1 + 28 r + c` with its brightness over 255, zeros are left out, and
//! the label is the class, `0` to `9`.

use std::path::Path;

use parsimon::rows::{Chunk, Repeats};

use super::idx::Idx;
use super::{ReadError, find, open_plain};

const SIDE: usize = 28;
const CLASSES: u8 = 10;
const ROWS_PER_CHUNK: usize = 1024;

/// The training and the test images of MNIST, in the order of the files, from a data folder.
pub fn load(dir: &Path) -> Result<(Vec<Chunk>, Vec<Chunk>), ReadError> {
    load_set("mnist", dir)
}

/// Reads the training and the test images of Fashion-MNIST.
pub fn load_fashion(dir: &Path) -> Result<(Vec<Chunk>, Vec<Chunk>), ReadError> {
    load_set("fashion-mnist", dir)
}

fn load_set(name: &str, dir: &Path) -> Result<(Vec<Chunk>, Vec<Chunk>), ReadError> {
    let files = find(name).expect("the list has it, and a test says so").locate(dir)?;
    let [train_images, train_labels, test_images, test_labels] = files.as_slice() else {
        unreachable!("the list has four files for it, and a test says so")
    };
    Ok((read(train_images, train_labels)?, read(test_images, test_labels)?))
}

/// The images of one file with the labels of another, each plain or compressed with gzip.
pub fn read(images: &Path, labels: &Path) -> Result<Vec<Chunk>, ReadError> {
    let pixels = open(images)?;
    let &[count, SIDE, SIDE] = pixels.dimensions() else {
        let what =
            format!("its dimensions are {:?}, expected images of 28 x 28", pixels.dimensions());
        return Err(ReadError::content(images, what));
    };
    let classes = open(labels)?;
    if classes.dimensions() != [count] {
        let found = classes.dimensions();
        let what = format!("its dimensions are {found:?}, and there are {count} images");
        return Err(ReadError::content(labels, what));
    }
    if let Some((i, class)) = classes.bytes().iter().enumerate().find(|(_, c)| **c >= CLASSES) {
        let what = format!("label {} is {class}, expected 0 to 9", i + 1);
        return Err(ReadError::content(labels, what));
    }
    let images = pixels.bytes().chunks_exact(SIDE * SIDE).zip(classes.bytes());
    let mut chunks: Vec<Chunk> = Vec::new();
    for (i, (image, &class)) in images.enumerate() {
        if i % ROWS_PER_CHUNK == 0 {
            chunks.push(Chunk::new());
        }
        let chunk = chunks.last_mut().expect("one was just pushed");
        for (feature, &pixel) in (1..).zip(image).filter(|(_, pixel)| **pixel > 0) {
            chunk.push_feature(feature, f64::from(pixel) / 255.0);
        }
        let finished = chunk.finish_row(Some(f64::from(class)), 1.0, Repeats::Refuse);
        finished.expect("features are sorted, finite and not zero");
    }
    Ok(chunks)
}

fn open(path: &Path) -> Result<Idx, ReadError> {
    let stream = open_plain(path).map_err(|e| ReadError::io(path, e))?;
    Idx::read(stream).map_err(|e| ReadError::content(path, e))
}
