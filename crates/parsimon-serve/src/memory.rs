//! Memory of requests: bodies, parsed rows, and rows that wait to be learned.
//!
//! Like the budget of [`parsimon::memory`], the share of requests belongs to the process. What is taken counts in both.

use std::sync::atomic::{AtomicU64, Ordering};

use parsimon::data::Format;
use parsimon::memory::budget;
use parsimon::workspace::{Claim, amount};

use crate::content::Content;
use crate::error::Refusal;

/// The most bytes that requests may hold; 0 if it was not set.
static MOST: AtomicU64 = AtomicU64::new(0);
static HELD: AtomicU64 = AtomicU64::new(0);

/// Requests below this size are not counted: connections are limited in number.
const SMALL: usize = 16 << 10;

/// The bytes that a feature takes while a request is parsed: index and value, in a buffer and in a chunk, whose vectors double.
const FEATURE: u64 = 36;

/// The bytes that a value of JSON takes, with the map or the list that it is in.
const JSON_VALUE: u64 = 160;

/// The memory that is taken for each byte of a body as it comes, so that the requests that were let in can be parsed.
const RESERVE: u64 = 6;

/// Sets the most bytes that requests may hold together: a quarter of the budget if it was not set.
pub fn set_request_memory(bytes: u64) {
    MOST.store(bytes.max(1), Ordering::Relaxed);
}

/// Returns the most bytes that requests may hold together.
pub(crate) fn most() -> u64 {
    match MOST.load(Ordering::Relaxed) {
        0 => budget() / 4,
        set => set,
    }
}

/// Returns the bytes that requests hold now.
pub(crate) fn held() -> u64 {
    HELD.load(Ordering::Relaxed)
}

/// Memory of a request, until it is dropped.
#[derive(Debug, Default)]
pub(crate) struct Held(Claim);

impl Held {
    /// Takes memory; a refusal if there is not enough for this request, or beside the others.
    pub(crate) fn of(bytes: u64) -> Result<Self, Refusal> {
        let mut held = Self::default();
        held.raise(bytes).map(|()| held)
    }

    /// Counts memory of rows that were let in.
    pub(crate) fn counted(bytes: u64) -> Self {
        if bytes <= SMALL as u64 {
            return Self::default();
        }
        // Where the budget has no more, the rows are as little counted as small ones.
        let held = Self(Claim::of(bytes).unwrap_or_default());
        HELD.fetch_add(held.0.bytes(), Ordering::Relaxed);
        held
    }

    /// Takes what a body needs beside what was taken for it when it was read.
    fn beyond_reserve(body: usize, bytes: u64) -> Result<Self, Refusal> {
        Self::of(bytes.saturating_sub((RESERVE - 1) * body as u64))
    }

    /// Takes the memory for reading a body of this size, and for parsing most bodies.
    pub(crate) fn reserve(&mut self, body: usize) -> Result<(), Refusal> {
        if body <= SMALL { Ok(()) } else { self.raise(RESERVE * body as u64) }
    }

    /// Takes the memory that rows of a text need while they are parsed. It is estimated by the separators, of which a feature has one.
    pub(crate) fn to_parse(content: &Content<'_>) -> Result<Self, Refusal> {
        let text = &content.text[..];
        if text.len() <= SMALL {
            return Ok(Self::default());
        }
        let is_json = content.format == Format::Jsonl;
        // PERF: one comparison per byte each, which the compiler does for many bytes at a time.
        let separators: u64 = text
            .chunks(1 << 12)
            .map(|part| {
                let is_one = |b: u8| {
                    (b == b' ')
                        | (b == b',')
                        | (b == b'\n')
                        | (!is_json & ((b == b'\t') | (b == b';')))
                };
                part.iter().map(|b| u32::from(is_one(*b))).sum::<u32>()
            })
            .map(u64::from)
            .sum();
        Self::beyond_reserve(text.len(), text.len() as u64 + separators * FEATURE)
    }

    /// Takes the memory that a JSON text needs when it becomes a value.
    pub(crate) fn to_read_json(text: &[u8]) -> Result<Self, Refusal> {
        if text.len() <= SMALL {
            return Ok(Self::default());
        }
        let of_part =
            |part: &[u8]| part.iter().map(|b| u32::from((*b == b',') | (*b == b':'))).sum();
        let values: u64 = text.chunks(1 << 12).map(of_part).map(|n: u32| u64::from(n)).sum();
        Self::beyond_reserve(text.len(), text.len() as u64 + values * JSON_VALUE)
    }

    /// Raises what is taken.
    pub(crate) fn raise(&mut self, bytes: u64) -> Result<(), Refusal> {
        let own = self.0.bytes();
        if bytes <= SMALL as u64 || bytes <= own {
            return Ok(());
        }
        let most = most();
        if bytes > most {
            let words = format!(
                "the request needs about {} of memory, and all requests together have {}; send fewer rows",
                amount(bytes),
                amount(most)
            );
            return Err(Refusal::new(axum::http::StatusCode::PAYLOAD_TOO_LARGE, words));
        }
        let busy = || Refusal::busy("other requests use the memory; try again later");
        let more = bytes - own;
        let take = |held: u64| held.checked_add(more).filter(|after| *after <= most);
        HELD.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).map_err(|_| busy())?;
        self.0.set(bytes).map_err(|_| {
            HELD.fetch_sub(more, Ordering::Relaxed);
            busy()
        })
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        HELD.fetch_sub(self.0.bytes(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::Shape;

    #[test]
    fn requests_share_their_memory_and_give_it_back() {
        let large = most() / 2 + 1;
        let first = Held::of(large).unwrap();
        let refused = Held::of(large).unwrap_err();
        assert_eq!(refused.status(), 429);
        assert_eq!(Held::of(most() + 1).unwrap_err().status(), 413);
        // Small requests go on.
        assert!(Held::of(SMALL as u64).is_ok());
        drop(first);
        assert!(Held::of(large).is_ok());
    }

    #[test]
    fn features_are_counted_by_their_separators() {
        let content = |format, text: &str| {
            let text = text.repeat(10_000).into_bytes().into();
            Content { format, text, shape: Shape::Lines }
        };
        let vw = Held::to_parse(&content(Format::Vw, "1 |a b c\n")).unwrap();
        assert_eq!(vw.0.bytes(), 90_000 + 40_000 * FEATURE - 5 * 90_000);
        let json = Held::to_parse(&content(Format::Jsonl, "{\"a\":1,\"b\":2}\n")).unwrap();
        assert_eq!(json.0.bytes(), 140_000 + 20_000 * FEATURE - 5 * 140_000);
    }
}
