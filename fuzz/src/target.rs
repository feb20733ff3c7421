//! A reader under attack.

use std::path::PathBuf;

use crate::{Outcome, dictionary};

/// A reader or a file format, with inputs to begin from.
#[derive(Debug)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// What it reads.
    pub about: &'static str,
    /// Good inputs.
    pub(crate) seeds: fn() -> Vec<Vec<u8>>,
    /// Words of the format, in the syntax of libFuzzer's dictionaries.
    pub dictionary: &'static str,
    /// Reads an input; panics where a promise is broken.
    pub run: fn(&[u8]) -> Outcome,
    /// How many mutated inputs `cargo test` tries.
    pub inputs: u64,
    /// The least share of them that gets past the header.
    pub floor: f64,
    /// The most bytes that reading may take, beside 2,000 for each byte of the input.
    pub memory: u64,
}

impl Target {
    /// The good inputs, and the inputs that once broke something.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = (self.seeds)();
        seeds.extend(self.corpus().into_iter().map(|(_, bytes)| bytes));
        seeds
    }

    /// The inputs that once broke something, with the names of their files.
    pub fn corpus(&self) -> Vec<(String, Vec<u8>)> {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpus").join(self.name);
        let Ok(entries) = std::fs::read_dir(&folder) else { return Vec::new() };
        let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
        files.sort();
        let read = |path: PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            (name, std::fs::read(path).unwrap())
        };
        files.into_iter().map(read).collect()
    }

    /// The words of the dictionary.
    pub(crate) fn words(&self) -> Vec<Vec<u8>> {
        dictionary::words(self.dictionary)
    }
}
