//! What is worth a warning when all rows have been read.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use crate::encoding::Strays;

/// Remarks about inputs, in the order the inputs were opened. Shared by the thread that opens inputs and the reader.
#[derive(Debug, Default)]
pub(crate) struct Remarks(Mutex<Vec<Remark>>);

#[derive(Debug)]
enum Remark {
    Words(String),
    /// Bytes of an input that are not UTF-8; how many there are is known at its end.
    Strays(Arc<str>, Arc<Strays>),
}

impl Remarks {
    pub(crate) fn add(&self, name: &str, words: &str) {
        self.push(Remark::Words(format!("{name}: {words}")));
    }

    pub(crate) fn watch(&self, name: &Arc<str>, strays: &Arc<Strays>) {
        self.push(Remark::Strays(name.clone(), strays.clone()));
    }

    fn push(&self, remark: Remark) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(remark);
    }

    /// All of them, as sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        let remarks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        remarks.iter().filter_map(Remark::sentence).collect()
    }
}

impl Remark {
    fn sentence(&self) -> Option<String> {
        match self {
            Remark::Words(words) => Some(words.clone()),
            Remark::Strays(name, strays) => {
                let (line, byte) = strays.first.get()?;
                let bytes = strays.bytes.load(Ordering::Relaxed);
                let (s, were) = if bytes == 1 { ("", "was") } else { ("s", "were") };
                Some(format!(
                    "{name}:{line}:{byte}: the text is not UTF-8 here; {bytes} byte{s} {were} read as Windows-1252"
                ))
            }
        }
    }
}

/// Names in a list, not too many.
pub(crate) fn listed(names: &[String]) -> String {
    const MOST: usize = 8;
    let some: Vec<_> = names.iter().take(MOST).map(String::as_str).collect();
    let more = if names.len() > MOST { ", ..." } else { "" };
    format!("{}{more}", some.join(", "))
}
