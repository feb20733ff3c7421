//! Names that flags mention and the first rows of JSON do not have.

use std::sync::atomic::{AtomicBool, Ordering};

use memchr::memmem::Finder;

/// Names to look for in later rows.
#[derive(Debug)]
pub(crate) struct Unmet(Vec<Name>);

#[derive(Debug)]
struct Name {
    words: String,
    finder: Finder<'static>,
    is_met: AtomicBool,
}

impl Unmet {
    /// Pairs of a name and its text.
    pub(crate) fn new(names: Vec<(String, String)>) -> Self {
        let name = |(words, text): (String, String)| Name {
            words,
            finder: Finder::new(text.as_bytes()).into_owned(),
            is_met: AtomicBool::new(false),
        };
        Self(names.into_iter().map(name).collect())
    }

    /// Searches further rows for the names.
    pub(crate) fn look(&self, rows: &[u8]) {
        for name in self.0.iter().filter(|name| !name.is_met.load(Ordering::Relaxed)) {
            if name.finder.find(rows).is_some() {
                name.is_met.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Those that no row had.
    pub(crate) fn names(&self) -> Vec<&str> {
        let left = self.0.iter().filter(|name| !name.is_met.load(Ordering::Relaxed));
        left.map(|name| name.words.as_str()).collect()
    }
}
