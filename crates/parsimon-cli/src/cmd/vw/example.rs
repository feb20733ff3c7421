//! Examples in the text format of Vowpal Wabbit.

use super::hash;
use super::options::Options;

/// The first letter of a namespace, or one of the namespaces that the program adds.
pub(super) type Space = u8;

/// The namespace of the constant feature.
pub(super) const CONSTANT: Space = 128;
/// The namespace of affixes.
const AFFIXES: Space = 132;
/// The namespace of spellings.
const SPELLINGS: Space = 133;

/// A feature before the slots are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Feature {
    pub(super) hash: u64,
    pub(super) value: f32,
}

/// The features of a namespace, with their names where names are printed.
#[derive(Clone, Debug, Default)]
pub(super) struct Features {
    pub(super) list: Vec<Feature>,
    pub(super) names: Vec<String>,
}

/// One example.
#[derive(Debug)]
pub(super) struct Example {
    /// The words before the first bar, without the tag.
    pub(super) label: Vec<String>,
    pub(super) tag: String,
    /// Namespaces with features, in the order of the line.
    pub(super) order: Vec<Space>,
    spaces: Vec<Features>,
    /// An empty line, which separates examples.
    pub(super) is_blank: bool,
    /// Reason why the line is malformed.
    pub(super) warnings: Vec<String>,
}

impl Default for Example {
    fn default() -> Self {
        Self {
            label: Vec::new(),
            tag: String::new(),
            order: Vec::new(),
            spaces: vec![Features::default(); 256],
            is_blank: false,
            warnings: Vec::new(),
        }
    }
}

impl Example {
    pub(super) fn features(&self, space: Space) -> &Features {
        &self.spaces[usize::from(space)]
    }

    pub(super) fn clear(&mut self) {
        for space in self.order.drain(..) {
            let features = &mut self.spaces[usize::from(space)];
            features.list.clear();
            features.names.clear();
        }
        self.label.clear();
        self.tag.clear();
        self.warnings.clear();
        self.is_blank = false;
    }

    /// Adds a feature to a namespace.
    pub(super) fn push(&mut self, space: Space, feature: Feature, name: Option<String>) {
        let features = &mut self.spaces[usize::from(space)];
        if features.list.is_empty() {
            self.order.push(space);
        }
        features.list.push(feature);
        features.names.extend(name);
    }

    /// Reads a line without its end.
    pub(super) fn read(&mut self, line: &[u8], options: &Options) {
        self.clear();
        self.is_blank = line.is_empty();
        let bar = line.iter().position(|byte| *byte == b'|').unwrap_or(line.len());
        self.read_label(&line[..bar]);
        let mut parser = Parser { line, at: bar, options, example: self };
        parser.groups();
        self.finish(options);
    }

    /// Reads the words before the first bar. The last one is a tag if it touches the bar or begins with an apostrophe.
    fn read_label(&mut self, text: &[u8]) {
        let text = text.iter().position(|b| *b == b'\t').map_or(text, |tab| &text[tab + 1..]);
        let text = String::from_utf8_lossy(text);
        self.label.extend(text.split(' ').filter(|word| !word.is_empty()).map(String::from));
        let touches = !text.ends_with(' ');
        if self.label.last().is_some_and(|last| touches || last.starts_with('\'')) {
            let tag = self.label.pop().unwrap_or_default();
            tag.strip_prefix('\'').unwrap_or(&tag).clone_into(&mut self.tag);
        }
    }

    /// Drops and adds the features that options ask for.
    pub(super) fn finish(&mut self, options: &Options) {
        let dropped: Vec<Space> =
            self.order.iter().copied().filter(|space| options.drops(*space)).collect();
        for space in dropped {
            let features = &mut self.spaces[usize::from(space)];
            features.list.clear();
            features.names.clear();
            self.order.retain(|other| *other != space);
        }
        for k in 0..self.order.len() {
            let space = self.order[k];
            let (most, skips) = options.grams(space);
            let features = &mut self.spaces[usize::from(space)];
            let length = features.list.len();
            for n in 1..most {
                grams(features, n, skips, length, &mut vec![0], 0);
            }
        }
        if !options.no_constant {
            let name = options.names().then(|| "Constant".to_owned());
            self.push(CONSTANT, Feature { hash: hash::CONSTANT, value: 1.0 }, name);
        }
    }
}

/// Appends the n-grams of the first `length` features; `offsets` are the places of the features of a gram after its first.
fn grams(
    features: &mut Features,
    n: usize,
    skips: usize,
    length: usize,
    offsets: &mut Vec<usize>,
    skipped: usize,
) {
    let last = offsets.last().copied().unwrap_or(0);
    if n == 0 && last < length {
        for first in 0..length - last {
            let mut hash = features.list[first].hash;
            for offset in &offsets[1..] {
                let next = features.list[first + offset].hash;
                hash = hash.wrapping_mul(hash::GRAM).wrapping_add(next);
            }
            features.list.push(Feature { hash, value: 1.0 });
            if !features.names.is_empty() {
                let words = offsets.iter().enumerate().map(|(k, offset)| {
                    let name = &features.names[first + offset];
                    if k == 0 { &name[..] } else { name.rsplit('^').next().unwrap_or(name) }
                });
                let name = words.collect::<Vec<_>>().join("^");
                features.names.push(name);
            }
        }
    }
    if n > 0 {
        offsets.push(last + 1 + skipped);
        grams(features, n - 1, skips, length, offsets, 0);
        offsets.pop();
    }
    if skips > 0 && n > 0 {
        grams(features, n, skips - 1, length, offsets, skipped + 1);
    }
}

struct Parser<'a> {
    line: &'a [u8],
    at: usize,
    options: &'a Options,
    example: &'a mut Example,
}

/// A namespace that is being read.
struct Group {
    space: Space,
    hash: u64,
    name: String,
    factor: f32,
    /// Features without a name that came before.
    unnamed: u64,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Option<u8> {
        self.line.get(self.at).copied()
    }

    /// Whether a word ends here.
    fn ends(&self) -> bool {
        matches!(self.peek(), None | Some(b' ' | b'\t' | b'|' | b'\r'))
    }

    fn warn(&mut self, what: &str) {
        let read = String::from_utf8_lossy(&self.line[..self.at]);
        let tail: String = read.chars().rev().take(30).collect();
        let tail: String = tail.chars().rev().collect();
        self.example.warnings.push(format!("{what} after {tail:?}"));
    }

    fn groups(&mut self) {
        while self.peek() == Some(b'|') {
            self.at += 1;
            let group = self.group();
            if let Some(mut group) = group {
                while matches!(self.peek(), Some(b' ' | b'\t')) {
                    self.at += 1;
                    self.feature(&mut group);
                }
            }
            if !matches!(self.peek(), None | Some(b'|' | b'\r')) {
                self.warn("a bar, a blank or the end of the line was expected");
                return;
            }
        }
    }

    /// Reads the name of a namespace and its factor.
    fn group(&mut self) -> Option<Group> {
        let seed = self.options.hash_seed;
        if self.ends() {
            let hash = if seed == 0 { 0 } else { hash::murmur(b"", seed) };
            return Some(Group { space: b' ', hash, name: " ".into(), factor: 1.0, unnamed: 0 });
        }
        if self.peek() == Some(b':') {
            self.warn("a namespace without a name");
            return None;
        }
        let name = self.word();
        let space = self.options.redefined(name[0]);
        let hash = hash::name(name, seed, self.options.hash_all);
        let name = String::from_utf8_lossy(name).into_owned();
        let mut group = Group { space, hash, name, factor: 1.0, unnamed: 0 };
        if self.peek() == Some(b':') {
            self.at += 1;
            let (value, length) = number(&self.line[self.at..]);
            if length == 0 || value.is_nan() {
                self.warn("a number was expected as the factor of a namespace");
            } else {
                group.factor = value;
            }
            self.at += length;
        }
        Some(group)
    }

    /// Reads up to a blank, a colon or a bar.
    fn word(&mut self) -> &'a [u8] {
        let rest = &self.line[self.at..];
        let ends = |byte: &u8| matches!(byte, b' ' | b':' | b'\t' | b'|' | b'\r');
        let word = &rest[..rest.iter().position(ends).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    /// Reads a value of text, up to a blank.
    fn text_value(&mut self) -> &'a [u8] {
        let rest = &self.line[self.at..];
        let ends = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\r');
        let start = rest.iter().position(|byte| !ends(byte)).unwrap_or(0);
        let text = &rest[start..];
        let text = &text[..text.iter().position(ends).unwrap_or(text.len())];
        self.at += start + text.len();
        text
    }

    /// Reads a feature: `name`, `name:value`, `name:text` or `:value`.
    fn feature(&mut self, group: &mut Group) {
        if self.ends() {
            return;
        }
        let name = self.word();
        let (mut value, mut text) = (1.0, &b""[..]);
        if self.peek() == Some(b':') {
            self.at += 1;
            let (number, length) = number(&self.line[self.at..]);
            if length == 0 {
                text = self.text_value();
            } else if number.is_nan() {
                self.warn("a value is not a number and counts as 0,");
                value = 0.0;
            } else {
                value = number;
            }
            self.at += length;
        }
        let value = if text.is_empty() { value * group.factor } else { 1.0 };
        let all = self.options.hash_all;
        let hash = if !text.is_empty() {
            hash::name(text, hash::name(name, group.hash, all), all) & self.options.mask()
        } else if name.is_empty() {
            group.unnamed += 1;
            group.hash.wrapping_add(group.unnamed - 1)
        } else {
            hash::name(name, group.hash, all) & self.options.mask()
        };
        if value == 0.0 {
            return;
        }
        let shown = self.options.names().then(|| {
            let name = String::from_utf8_lossy(name);
            let text = String::from_utf8_lossy(text);
            let space = if group.name == " " { String::new() } else { format!("{}^", group.name) };
            let text = if text.is_empty() { String::new() } else { format!("^{text}") };
            format!("{space}{name}{text}")
        });
        self.example.push(group.space, Feature { hash, value }, shown);
        if !name.is_empty() {
            self.affixes(group, name, value);
        }
        if self.options.spells(group.space) {
            self.spelling(group, name, value);
        }
    }

    /// Adds the first and last letters of a name that options ask for.
    fn affixes(&mut self, group: &Group, name: &[u8], value: f32) {
        let all = self.options.hash_all;
        for affix in self.options.affixes(group.space) {
            let length = affix.length.min(name.len());
            let part = if affix.is_prefix { &name[..length] } else { &name[name.len() - length..] };
            let code = (affix.length as u64) << 1 | u64::from(affix.is_prefix);
            let factor = hash::AFFIX.wrapping_add(code.wrapping_mul(hash::GRAM));
            let hash = hash::name(part, group.hash, all).wrapping_mul(factor);
            let shown = self.options.names().then(|| {
                let space = if group.space == b' ' {
                    String::new()
                } else {
                    char::from(group.space).into()
                };
                let side = if affix.is_prefix { '+' } else { '-' };
                let part = String::from_utf8_lossy(part);
                format!("affix^{space}{side}{}={part}", affix.length)
            });
            self.example.push(AFFIXES, Feature { hash, value }, shown);
        }
    }

    /// Adds the shape of a name: its letters become `a`, `A`, `0` and `#`.
    fn spelling(&mut self, group: &Group, name: &[u8], value: f32) {
        let shape: Vec<u8> = name
            .iter()
            .map(|byte| match byte {
                b'0'..=b'9' => b'0',
                b'a'..=b'z' => b'a',
                b'A'..=b'Z' => b'A',
                b'.' => b'.',
                _ => b'#',
            })
            .collect();
        let hash = hash::name(&shape, group.hash, false);
        let shown =
            self.options.names().then(|| format!("spelling^{}", String::from_utf8_lossy(&shape)));
        self.example.push(SPELLINGS, Feature { hash, value }, shown);
    }
}

/// Reads the longest number that the bytes begin with, and its length; blanks before it count.
pub(super) fn number(bytes: &[u8]) -> (f32, usize) {
    let blanks = bytes.iter().take_while(|byte| **byte == b' ').count();
    let rest = &bytes[blanks..];
    let digits = |from: usize| {
        rest[from.min(rest.len())..].iter().take_while(|b| b.is_ascii_digit()).count()
    };
    let mut end = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    let whole = digits(end);
    end += whole;
    let mut fraction = 0;
    if rest.get(end) == Some(&b'.') {
        fraction = digits(end + 1);
        end += 1 + fraction;
    }
    if whole + fraction == 0 {
        return special(rest).map_or((0.0, 0), |(value, length)| (value, blanks + length));
    }
    if matches!(rest.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(end + 1), Some(b'+' | b'-')));
        let power = digits(end + 1 + sign);
        if power > 0 {
            end += 1 + sign + power;
        }
    }
    let text = std::str::from_utf8(&rest[..end]).unwrap_or("");
    (text.parse().unwrap_or(0.0), blanks + end)
}

/// Reads infinity and NaN.
fn special(bytes: &[u8]) -> Option<(f32, usize)> {
    let sign = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let word = bytes.get(sign..sign + 3)?;
    if bytes.get(sign + 3).is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let value = match word.to_ascii_lowercase().as_slice() {
        b"nan" => f32::NAN,
        b"inf" => f32::INFINITY,
        _ => return None,
    };
    Some((if bytes[0] == b'-' { -value } else { value }, sign + 3))
}
