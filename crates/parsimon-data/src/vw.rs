//! Vowpal Wabbit's text: `[label [importance [base]]] ['tag]|namespace[:scale] feature[:value] ...`.
//!
//! As there, a word that touches the first bar is the row's tag, and a row without a label can be
//! predicted but not learned from. A third number, the base value, is added to the margin of the row, with which the row is
//! learned and predicted. A feature is called `namespace^feature` in reports, or `feature` alone after a bare bar. Features that occur
//! twice add up.
//!
//! In the id space features must be integers and namespaces are ignored. Slots are not Vowpal
//! Wabbit's: see [`hash`](crate::hash).

use crate::builder::Builder;
use crate::error::{Bad, shown};
use crate::hash::Seed;
use crate::label::Found;
use crate::seen::Recent;
use crate::separators::Lines;
use crate::{DataErrorKind, hash, number, svmlight};

/// Parses a block of whole lines.
pub(crate) fn parse(builder: &mut Builder, text: &[u8]) {
    match builder.is_ids() {
        true => parse_block::<true>(builder, text),
        false => parse_block::<false>(builder, text),
    }
}

fn parse_block<const IDS: bool>(builder: &mut Builder, text: &[u8]) {
    let mut separators = std::mem::take(&mut builder.separators);
    let batch = &mut Batch::new(builder);
    batch.swap_recent::<IDS>(builder);
    let (mut at, mut line) = (0, 0);
    'block: while at < text.len() {
        let mut lines = separators.look(text, at);
        while !lines.is_done() {
            line += 1;
            match parse_row::<IDS>(builder, lines, batch) {
                Ok(after) => lines = after,
                Err(bad) => {
                    batch.report_names(builder, &lines);
                    if !builder.refuse(line, bad) {
                        break 'block;
                    }
                    lines.skip_line();
                }
            }
        }
        batch.report_names(builder, &lines);
        at += lines.text.len();
    }
    batch.swap_recent::<IDS>(builder);
    builder.separators = separators;
    builder.out.lines += line;
}

/// Meaning of a byte.
const BLANK: u8 = 1;
const COLON: u8 = 2;
const BAR: u8 = 4;
const END: u8 = 8;

// PERF: one load per byte instead of five compares.
const MEANING: [u8; 256] = {
    let mut table = [0; 256];
    table[b' ' as usize] = BLANK;
    table[b'\t' as usize] = BLANK;
    table[b'\r' as usize] = BLANK;
    table[b':' as usize] = COLON;
    table[b'|' as usize] = BAR;
    table[b'\n' as usize] = END;
    table
};

/// The separators of a row, one after the other.
struct Cursor<'a> {
    lines: Lines<'a>,
    /// The place of the last separator, and what it means.
    at: usize,
    meaning: u8,
}

impl Cursor<'_> {
    /// Goes to the next separator; control characters are none.
    #[inline(always)]
    fn step(&mut self) {
        loop {
            let (place, byte) = self.lines.separator(self.lines.next);
            (self.at, self.meaning) = (place, MEANING[byte as usize]);
            self.lines.next += 1;
            if self.meaning != 0 {
                return;
            }
        }
    }

    /// Goes to the next separator that ends a number.
    #[inline(always)]
    fn step_over_number(&mut self) {
        self.step();
        while self.meaning == COLON {
            self.step();
        }
    }
}

/// Parses the current row and goes to the next.
fn parse_row<'a, const IDS: bool>(
    builder: &mut Builder,
    lines: Lines<'a>,
    batch: &mut Batch,
) -> Result<Lines<'a>, Bad> {
    let from = lines.at;
    let mut cursor = Cursor { lines, at: from, meaning: BLANK };
    while cursor.meaning & (BAR | END) == 0 {
        cursor.step();
    }
    let head = &lines.text[from..cursor.at];
    if cursor.meaning == END {
        if !head.iter().all(|&b| MEANING[b as usize] == BLANK) {
            let words = format!("there is no bar (|) in {}", shown(head));
            return Err(Bad::new(DataErrorKind::Malformed, 1, words));
        }
    } else {
        let before = Before::parse(builder, head)?;
        if !builder.spec.labels_only && !common_features::<IDS>(builder, &mut cursor, batch) {
            batch.swap_recent::<IDS>(builder);
            let parsed = parse_features::<IDS>(builder, from, &mut cursor);
            batch.swap_recent::<IDS>(builder);
            parsed?;
        }
        builder.finish_adding(before.label, before.importance, before.tag)?;
        while cursor.meaning != END {
            cursor.step();
        }
    }
    Ok(Lines { at: cursor.at + 1, ..cursor.lines })
}

/// Fields before the first bar.
struct Before<'a> {
    label: Option<f64>,
    importance: f64,
    tag: &'a [u8],
}

impl<'a> Before<'a> {
    #[inline]
    fn parse(builder: &mut Builder, text: &'a [u8]) -> Result<Self, Bad> {
        let mut words = [(0, &b""[..]); 4];
        let mut len = 0;
        let mut at = 0;
        loop {
            while at < text.len() && MEANING[text[at] as usize] == BLANK {
                at += 1;
            }
            if at == text.len() {
                break;
            }
            let rest = &text[at..];
            let blank = rest.iter().position(|&b| MEANING[b as usize] == BLANK);
            let end = at + blank.unwrap_or(rest.len());
            if len == 0 && end - at > 2 {
                refuse_other_labels(&text[at..end], at + 1)?;
            }
            if len == words.len() {
                return Err(one_too_many(&text[at..end], at + 1));
            }
            words[len] = (at, &text[at..end]);
            len += 1;
            at = end;
        }
        let mut words = &words[..len];
        let mut tag = &b""[..];
        if let Some((&(start, word), others)) = words.split_last()
            && (word[0] == b'\'' || start + word.len() == text.len())
        {
            tag = word.strip_prefix(b"'").unwrap_or(word);
            words = others;
        }
        let label = match words.first() {
            Some(&(start, word)) => builder.label(Found::Text(word), start + 1)?,
            None => None,
        };
        let importance = match words.get(1) {
            Some(&(start, word)) => builder.importance(word, start + 1)?,
            None => 1.0,
        };
        if let Some(&(start, word)) = words.get(2) {
            builder.set_base(word, start + 1)?;
        }
        if let Some(&(start, word)) = words.get(3) {
            return Err(one_too_many(word, start + 1));
        }
        Ok(Self { label, importance, tag })
    }
}

/// Hashes the features of a row with nothing out of the ordinary, the cursor at its first bar, and leaves it at the row's end;
/// false, and nothing has happened, where there is something, and [`parse_features`] is to say what.
fn common_features<const IDS: bool>(
    builder: &mut Builder,
    cursor: &mut Cursor<'_>,
    batch: &mut Batch,
) -> bool {
    if !Batch::is_fast::<IDS>(builder) {
        return false;
    }
    let lines = &cursor.lines;
    let found = match batch.keeps_names {
        true => batch.read::<true>(builder, lines),
        false => batch.read::<false>(builder, lines),
    };
    match found {
        Some((at, next)) => {
            batch.hand_over(builder, lines, true);
            (cursor.at, cursor.meaning, cursor.lines.next) = (at, END, next);
        }
        None => {
            // The names before the one out of the ordinary would be reported next in any case.
            batch.report_names(builder, &cursor.lines);
            batch.len = 0;
            builder.abandon_features();
        }
    }
    found.is_some()
}

/// Parses the features of the row that begins at `from`, the cursor at its first bar; leaves it at the row's end.
fn parse_features<const IDS: bool>(
    builder: &mut Builder,
    from: usize,
    cursor: &mut Cursor<'_>,
) -> Result<(), Bad> {
    let (text, max) = (cursor.lines.text, builder.spec.max_value);
    // INVARIANT: at the head of this loop the cursor is at a bar.
    while cursor.meaning == BAR {
        let start = cursor.at + 1;
        cursor.step();
        let namespace = &text[start..cursor.at];
        let mut scale = 1.0;
        if cursor.meaning == COLON {
            let start = cursor.at + 1;
            cursor.step_over_number();
            scale = number::bounded(&text[start..cursor.at], start - from + 1, max)?;
        }
        let seed = if IDS { 0 } else { builder.seed(namespace) };
        builder.enter(namespace);
        while cursor.meaning == BLANK {
            let start = cursor.at + 1;
            cursor.step();
            let end = cursor.at;
            let mut value = scale;
            if cursor.meaning == COLON {
                let at = cursor.at + 1;
                cursor.step_over_number();
                value = parse_value(&text[at..cursor.at], at - from + 1, max)? * scale;
                if end == start || value.abs() > max {
                    return Err(refuse_value(&text[start..cursor.at], start - from + 1, max));
                }
            } else if end == start {
                continue;
            }
            let name = &text[start..end];
            if IDS {
                let id = svmlight::parse_id(name, start - from + 1).map_err(say_why_ids)?;
                builder.push_id(id, value);
            } else {
                builder.push_named(seed, namespace, name, value);
            }
        }
    }
    Ok(())
}

/// Refuses labels of Vowpal Wabbit's other tasks by the name of the task.
fn refuse_other_labels(word: &[u8], column: usize) -> Result<(), Bad> {
    let has = |byte: u8| word.contains(&byte);
    if !(has(b':') || has(b',') || word[0].is_ascii_lowercase()) {
        return Ok(());
    }
    let count = |byte: u8, are_whole: bool| {
        let is_number = |part: &[u8]| match are_whole {
            true => part.iter().all(u8::is_ascii_digit),
            false => number::whole(part).is_some(),
        };
        let parts: Vec<_> = word.split(|&b| b == byte).collect();
        if parts.iter().all(|part| is_number(part)) { parts.len() } else { 0 }
    };
    let task = match word {
        b"shared" => "a shared line of a multi-line example",
        b"ccb" => "a conditional contextual bandit label",
        b"slates" => "a slates label",
        _ if has(b':') => match count(b':', false) {
            2 => "a cost-sensitive label",
            3 => "a contextual bandit label",
            _ => return Ok(()),
        },
        _ if has(b',') && count(b',', true) > 1 => "a multilabel",
        _ => return Ok(()),
    };
    let words = format!(
        "{} is {task}, which is not supported: a label is one number or one class, as in \"1 |f x\"",
        shown(word)
    );
    Err(Bad::new(DataErrorKind::Label, column, words).found(word))
}

#[cold]
fn one_too_many(word: &[u8], column: usize) -> Bad {
    let words = format!("{} is one word too many before the bar", shown(word));
    Bad::new(DataErrorKind::Malformed, column, words).found(word)
}

#[cold]
fn refuse_value(token: &[u8], column: usize, max: f64) -> Bad {
    match token.first() {
        Some(b':') => {
            let words = format!("feature {} has no name", shown(token));
            Bad::new(DataErrorKind::Malformed, column, words).found(token)
        }
        _ => number::too_large(token, column, max),
    }
}

/// Features taken over at a time.
const BATCH: usize = 128;

/// Names that wait to be reported, at most.
const MOST_UNSURE: usize = 4 * BATCH;

/// Number of names by which slots of the table of names are prefetched.
const AHEAD: usize = 8;

/// Buffers of hashed features and of possibly new names.
///
/// PERF: whether a name is new stands in a table larger than the near caches. Most names were met lately and need not be looked
/// for there; the others are looked for together, so that their places are on their way at the same time.
struct Batch {
    keeps_names: bool,
    len: usize,
    slots: [u32; BATCH],
    values: [f64; BATCH],
    /// Names of these features, if names are kept.
    names: [Name; BATCH],
    recent: Recent,
    /// Names that were not met lately.
    unsure: [Name; MOST_UNSURE],
    unsure_len: usize,
}

/// A name: its hash, and which separators end its namespace and itself.
#[derive(Clone, Copy, Default)]
struct Name {
    hash: u64,
    namespace: u32,
    name: u32,
}

impl Batch {
    #[inline(always)]
    fn new(builder: &Builder) -> Self {
        Self {
            keeps_names: builder.keeps_names(),
            len: 0,
            slots: [0; BATCH],
            values: [0.0; BATCH],
            names: [Name::default(); BATCH],
            recent: Recent::default(),
            unsure: [Name::default(); MOST_UNSURE],
            unsure_len: 0,
        }
    }

    /// Whether rows are read here if nothing in them is out of the ordinary.
    fn is_fast<const IDS: bool>(builder: &Builder) -> bool {
        !IDS && !builder.is_crossing()
    }

    /// Takes the names met lately from the builder, or gives them back.
    fn swap_recent<const IDS: bool>(&mut self, builder: &mut Builder) {
        if Self::is_fast::<IDS>(builder) {
            std::mem::swap(&mut builder.recent, &mut self.recent);
        }
    }

    /// Reads features with single blanks between and short numbers behind their colons, from the bar before the separator `next` on; where the
    /// row ends, and the separator after it. `None` where something is out of the ordinary.
    ///
    /// PERF: most rows of most files. What may go wrong is left to others, so that this loop stays in registers.
    #[inline(never)]
    fn read<const NAMES: bool>(
        &mut self,
        builder: &mut Builder,
        lines: &Lines<'_>,
    ) -> Option<(usize, usize)> {
        let (text, places, bits) = (lines.text, lines.places, builder.bits());
        let place = |k: usize| places.get(k).map(|&place| place as usize);
        let letters = builder.letters;
        let mut other_seed;
        // Index and position of the bar before a namespace.
        let mut at = lines.next - 1;
        let mut bar = place(at)?;
        loop {
            // The separator before a feature, and which one ends it.
            let (space, mut start, mut k) = (at + 1, place(at + 1)?, at + 2);
            if *text.get(start)? != b' ' {
                return None;
            }
            // PERF: most are called by one letter.
            let seed = if start == bar + 2 {
                &letters[text[bar + 1] as usize].1
            } else {
                other_seed = Seed::new(hash::namespace(text.get(bar + 1..start)?));
                &other_seed
            };
            loop {
                let (end, name_end) = (place(k)?, k);
                let mut after = end;
                let mut last = *text.get(end)?;
                let mut value = 1.0;
                k += 1;
                if last == b':' {
                    after = place(k)?;
                    last = *text.get(after)?;
                    k += 1;
                    value = match number::short(text, end + 1, after) {
                        Some(value) => value,
                        None => other_number(text, end + 1, after, builder.spec.max_value)?,
                    };
                }
                let word = start + 1;
                if word < end {
                    let h = hash::word(seed, text, word, end)?;
                    if self.len >= BATCH {
                        self.hand_over(builder, lines, false);
                    }
                    let len = self.len % BATCH;
                    (self.slots[len], self.values[len]) = (hash::slot(h, bits), value);
                    if NAMES {
                        let (namespace, name) = (space as u32, name_end as u32);
                        self.names[len] = Name { hash: h, namespace, name };
                    }
                    self.len = len + 1;
                } else if after != end {
                    return None;
                }
                match last {
                    b' ' => {
                        start = after;
                        // PERF: a bar behind a blank, as between any two namespaces.
                        if text.get(after + 1) == Some(&b'|') {
                            (at, bar) = (k, after + 1);
                            break;
                        }
                    }
                    b'|' => {
                        (at, bar) = (k - 1, after);
                        break;
                    }
                    b'\n' => return Some((after, k)),
                    _ => return None,
                }
            }
        }
    }

    #[inline(never)]
    fn hand_over(&mut self, builder: &mut Builder, lines: &Lines<'_>, are_last: bool) {
        let len = self.len.min(BATCH);
        builder.push_slots(&self.slots[..len], &self.values[..len], are_last);
        self.len = 0;
        if !self.keeps_names {
            return;
        }
        // PERF: no branch, which would be guessed wrong. There is room for a batch.
        let mut unsure = self.unsure_len;
        for name in &self.names[..len] {
            self.unsure[unsure % MOST_UNSURE] = *name;
            unsure += usize::from(!self.recent.has(name.hash));
        }
        self.unsure_len = unsure;
        if self.unsure_len > MOST_UNSURE - BATCH {
            self.report_names(builder, lines);
        }
    }

    /// Reports those of the names that wait which are new, in the order they were met.
    #[inline(never)]
    fn report_names(&mut self, builder: &mut Builder, lines: &Lines<'_>) {
        let token = |separator: u32| {
            let end = separator as usize;
            let (start, end) = (lines.places[end - 1] as usize + 1, lines.places[end] as usize);
            &lines.text[start..end]
        };
        let unsure = &self.unsure[..self.unsure_len];
        unsure.iter().take(AHEAD).for_each(|name| builder.prefetch_name(name.hash));
        for (k, name) in unsure.iter().enumerate() {
            if let Some(later) = unsure.get(k + AHEAD) {
                builder.prefetch_name(later.hash);
            }
            self.recent.put(name.hash);
            builder.report_name(name.hash, || (token(name.namespace), token(name.name)));
        }
        self.unsure_len = 0;
    }
}

/// A number between two places of a text that is not a short one, if it is at most `max`.
///
/// PERF: not cut at its end, so that it can be read eight bytes at once.
fn other_number(text: &[u8], start: usize, end: usize, max: f64) -> Option<f64> {
    let (value, len) = number::leading(text.get(start..)?)?;
    (start + len == end && value.abs() <= max).then_some(value)
}

/// A number of magnitude at most `max`.
fn parse_value(token: &[u8], column: usize, max: f64) -> Result<f64, Bad> {
    match number::leading(token) {
        Some((value, len)) if len == token.len() && value.abs() <= max => Ok(value),
        _ => number::bounded(token, column, max),
    }
}

#[cold]
fn say_why_ids(mut bad: Bad) -> Bad {
    bad.message.push_str(": without hashing, features are integers");
    bad
}

#[cfg(test)]
mod tests;
