//! Rows of every set with two classes, independently of its files.
//!
//! Classes are -1 and 1, and features are numbered from 1 without gaps, in the order of their ids or slots. Words, names
//! and the values of text columns are hashed into 2^22 slots first. [`meaning`] has the meaning of the two classes of a set.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use parsimon::data::{Ask, Format, Input, Labels, Options, Reader, Reading, Space};
use parsimon::rows::{Chunk, Repeats};
use parsimon::workspace::{Header, hash};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::text::Text;
use super::{ReadError, find, mnist, open_plain, text};

/// Rows to learn, and rows to judge by where the set has some.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Rows to learn.
    pub train: Chunk,
    /// The set's own rows to judge by.
    pub test: Option<Chunk>,
    /// Number of features, in both.
    pub features: u32,
}

/// Documents with topics. A document may have several or none.
#[derive(Clone, Debug, Default)]
pub struct Documents {
    /// Counts of the words; there are no labels.
    pub rows: Chunk,
    /// Topics of a document, in the order of the names.
    pub topics: Vec<Vec<bool>>,
    /// Number of different words.
    pub features: u32,
}

/// The sets [`rows`] knows, with what makes a row positive.
const MEANINGS: &[(&str, &str)] = &[
    ("a1a", "income above 50,000"),
    ("a9a", "income above 50,000"),
    ("w8a", "the page is of the category"),
    ("mushrooms", "label 2"),
    (
        "news20",
        "classes 2 to 7 and 12 to 15: sci.*, comp.* and misc.forsale if they are in the order of the alphabet",
    ),
    ("20news", "groups sci.*, comp.* and misc.forsale"),
    ("rcv1-small", "label 1"),
    ("rcv1-text", "topic CCAT"),
    ("spam-assassin", "spam"),
    ("books", "a good review"),
    ("dvd", "a good review"),
    ("electronics", "a good review"),
    ("kitchen", "a good review"),
    ("books-ids", "a good review"),
    ("books-5000", "a good review"),
    ("dvd-5000", "a good review"),
    ("electronics-5000", "a good review"),
    ("kitchen-5000", "a good review"),
    ("avazu", "a click"),
    ("criteo", "a click"),
    ("amazon-access", "access was granted"),
    ("frappe", "the app was used"),
    ("mnist-3-8", "an 8; the others are 3"),
    ("mnist-odd", "an odd digit"),
];

/// Returns the condition for a positive row; `None` for a set that [`rows`] does not know.
///
/// ```
/// assert_eq!(parsimon_lab::data::rows::meaning("avazu"), Some("a click"));
/// ```
pub fn meaning(name: &str) -> Option<&'static str> {
    MEANINGS.iter().find(|(known, _)| *known == name).map(|(_, meaning)| *meaning)
}

/// The names of all sets [`rows`] knows.
pub fn names() -> impl Iterator<Item = &'static str> {
    MEANINGS.iter().map(|(name, _)| *name)
}

/// The rows of a set, from a data folder.
pub fn rows(name: &str, dir: &Path) -> Result<Rows, ReadError> {
    let of = |name: &str, options: &Options| read(&files(name, dir)?, options);
    let plain = Options::default();
    let (train, test) = match name {
        "a9a" => (of(name, &plain)?, Some(of("a9a-test", &plain)?)),
        "rcv1-small" => (of(name, &plain)?, Some(of("rcv1-small-test", &plain)?)),
        "frappe" => (of(name, &plain)?, Some(of("frappe-test", &plain)?)),
        "a1a" | "w8a" | "books-ids" => (of(name, &plain)?, None),
        "mushrooms" => (of(name, &two("1", "2"))?, None),
        "news20" => (news20(of(name, &numbers())?), None),
        "books-5000" | "dvd-5000" | "electronics-5000" | "kitchen-5000" => {
            let files = files(name, dir)?;
            (read(&files[..1], &plain)?, Some(read(&files[1..], &plain)?))
        }
        "books" | "dvd" | "electronics" | "kitchen" => (reviews(&files(name, dir)?)?, None),
        "avazu" => (of(name, &table("click", "id", AVAZU))?, None),
        "amazon-access" => (of(name, &table("ACTION", "", ACCESS))?, None),
        "criteo" => (of(name, &criteo())?, None),
        "20news" => {
            let (train, test) = text::newsgroups(dir)?;
            let about = |text: &Text| {
                text.group.starts_with("comp.")
                    || text.group.starts_with("sci.")
                    || text.group == "misc.forsale"
            };
            (mails(&train, about), Some(mails(&test, about)))
        }
        "spam-assassin" => {
            (mails(&text::spam_assassin(dir)?, |mail| mail.group.starts_with("spam")), None)
        }
        "rcv1-text" => {
            let stories = stories(dir)?;
            let labels = stories.iter().map(|story| story.has("CCAT"));
            let mut chunk = Chunk::new();
            for (story, positive) in stories.iter().zip(labels) {
                bag(&mut chunk, story.words(), sign(positive), Count::Unit);
            }
            (chunk, None)
        }
        "mnist-3-8" => digits(dir, |digit| match digit {
            3 => Some(false),
            8 => Some(true),
            _ => None,
        })?,
        "mnist-odd" => digits(dir, |digit| Some(digit % 2 == 1))?,
        _ => return Err(ReadError::Unknown(name.to_owned())),
    };
    Ok(numbered(train, test))
}

/// The stories of `rcv1-text` and which of these topics each has.
pub fn stories_about(topics: &[&str], dir: &Path) -> Result<Documents, ReadError> {
    let mut documents = Documents::default();
    let mut chunk = Chunk::new();
    for story in stories(dir)? {
        bag(&mut chunk, story.words(), 1.0, Count::Raw);
        documents.topics.push(topics.iter().map(|topic| story.has(topic)).collect());
    }
    let rows = numbered(chunk, None);
    Ok(Documents { rows: rows.train, features: rows.features, ..documents })
}

/// The training posts of `20news`, each with its group as the only topic, and the groups' names.
pub fn posts(dir: &Path) -> Result<(Documents, Vec<String>), ReadError> {
    let (posts, _) = text::newsgroups(dir)?;
    let mut groups: Vec<String> = posts.iter().map(|post| post.group.clone()).collect();
    groups.dedup();
    let mut chunk = Chunk::new();
    let mut topics = Vec::new();
    for post in &posts {
        bag(&mut chunk, words(&subject_and_body(&post.bytes)), 1.0, Count::Raw);
        topics.push(groups.iter().map(|group| *group == post.group).collect());
    }
    let rows = numbered(chunk, None);
    Ok((Documents { rows: rows.train, topics, features: rows.features }, groups))
}

/// Shuffles the rows in an order drawn from the seed.
pub fn shuffled(rows: &Chunk, seed: u64) -> Chunk {
    pick(rows, order(rows.len(), seed))
}

/// Rows by their places.
pub fn pick(rows: &Chunk, places: impl IntoIterator<Item = usize>) -> Chunk {
    let mut chunk = Chunk::new();
    places.into_iter().for_each(|i| chunk.copy_row(rows, i));
    chunk
}

/// Returns the indices `0..len` in an order drawn from the seed.
pub fn order(len: usize, seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.shuffle(&mut Xoshiro256PlusPlus::seed_from_u64(seed));
    order
}

impl Rows {
    /// Rows to learn and rows to judge by, shuffled: the set's own, or a share of its only ones.
    pub fn split(self, share: f64, seed: u64) -> (Chunk, Chunk) {
        let places = order(self.train.len(), seed);
        if let Some(test) = self.test {
            return (pick(&self.train, places), test);
        }
        let held = (share.clamp(0.0, 1.0) * places.len() as f64) as usize;
        let (held, rest) = places.split_at(held);
        (pick(&self.train, rest.iter().copied()), pick(&self.train, held.iter().copied()))
    }
}

const BITS: u8 = Space::DEFAULT_BITS;

const AVAZU: &[&str] = &[
    "hour",
    "C1",
    "banner_pos",
    "site_id",
    "site_domain",
    "site_category",
    "app_id",
    "app_domain",
    "app_category",
    "device_id",
    "device_ip",
    "device_model",
    "device_type",
    "device_conn_type",
    "C14",
    "C15",
    "C16",
    "C17",
    "C18",
    "C19",
    "C20",
    "C21",
];

const ACCESS: &[&str] = &[
    "RESOURCE",
    "MGR_ID",
    "ROLE_ROLLUP_1",
    "ROLE_ROLLUP_2",
    "ROLE_DEPTNAME",
    "ROLE_TITLE",
    "ROLE_FAMILY_DESC",
    "ROLE_FAMILY",
    "ROLE_CODE",
];

fn files(name: &str, dir: &Path) -> Result<Vec<PathBuf>, ReadError> {
    let set = find(name).ok_or_else(|| ReadError::Unknown(name.to_owned()))?;
    Ok(set.locate(dir)?)
}

fn read(files: &[PathBuf], options: &Options) -> Result<Chunk, ReadError> {
    let inputs: Vec<Input> = files.iter().map(|path| Input::Path(path.clone())).collect();
    let options =
        Options { ask: Ask { keep_names: false, ..options.ask.clone() }, ..options.clone() };
    let mut reader = Reader::open(&inputs, &options)?;
    let (mut all, mut chunk) = (Chunk::new(), Chunk::new());
    while reader.read(&mut chunk)? {
        (0..chunk.len()).for_each(|i| all.copy_row(&chunk, i));
    }
    Ok(all)
}

fn two(negative: &str, positive: &str) -> Options {
    let labels = Labels::Binary { negative: negative.into(), positive: positive.into() };
    Options::from(Reading { labels, ..Reading::default() })
}

fn numbers() -> Options {
    Options::from(Reading { labels: Labels::Real, ..Reading::default() })
}

/// A table whose every column is a category.
fn table(label: &str, ignored: &str, columns: &[&str]) -> Options {
    Options::from(Reading {
        format: Some(Format::Csv),
        label_column: Some(label.into()),
        ignore: (!ignored.is_empty()).then(|| ignored.into()).into_iter().collect(),
        categories: columns.iter().map(|c| (*c).into()).collect(),
        ..Reading::default()
    })
}

/// No header; the counts are categories too: as numbers they are too large for rows of ones beside them.
fn criteo() -> Options {
    Options::from(Reading {
        format: Some(Format::Tsv),
        header: Header::Absent,
        label_column: Some("1".into()),
        categories: (2..=40).map(|c| format!("c{c}")).collect(),
        ..Reading::default()
    })
}

fn news20(rows: Chunk) -> Chunk {
    relabeled(&rows, |class| Some((2.0..=7.0).contains(&class) || (12.0..=15.0).contains(&class)))
}

fn digits(
    dir: &Path,
    is: impl Fn(u8) -> Option<bool>,
) -> Result<(Chunk, Option<Chunk>), ReadError> {
    let (train, test) = mnist::load(dir)?;
    let whole = |chunks: Vec<Chunk>| {
        let mut all = Chunk::new();
        for chunk in &chunks {
            let chosen = relabeled(chunk, |digit| is(digit as u8));
            (0..chosen.len()).for_each(|i| all.copy_row(&chosen, i));
        }
        all
    };
    Ok((whole(train), Some(whole(test))))
}

/// The rows whose label is yes or no, labelled 1 or -1.
fn relabeled(rows: &Chunk, is: impl Fn(f64) -> Option<bool>) -> Chunk {
    let mut chunk = Chunk::new();
    for i in 0..rows.len() {
        let Some(positive) = rows.label(i).and_then(&is) else { continue };
        chunk.push_features(rows.row(i).indices(), rows.row(i).values());
        let finished = chunk.finish_row(Some(sign(positive)), rows.weight(i), Repeats::Refuse);
        finished.expect("it was a row before");
    }
    chunk
}

/// Lines of `token:count ... #label#:positive`.
fn reviews(files: &[PathBuf]) -> Result<Chunk, ReadError> {
    let mut chunk = Chunk::new();
    for path in files {
        let stream = open_plain(path).map_err(|e| ReadError::io(path, e))?;
        for (line, text) in (1..).zip(std::io::BufReader::new(stream).lines()) {
            let text = text.map_err(|e| ReadError::io(path, e))?;
            let odd = |token: &str| {
                ReadError::content(
                    path,
                    format!("line {line}: expected token:count, got {token:?}"),
                )
            };
            let mut label = None;
            for pair in text.split_ascii_whitespace() {
                let (token, count) = pair.rsplit_once(':').ok_or_else(|| odd(pair))?;
                if token == "#label#" {
                    label = Some(sign(count == "positive"));
                } else {
                    chunk.push_feature(slot(token), count.parse().map_err(|_| odd(pair))?);
                }
            }
            let finished = chunk.finish_row(label, 1.0, Repeats::Add);
            finished.map_err(|e| ReadError::content(path, format!("line {line}: {e}")))?;
        }
    }
    Ok(chunk)
}

fn mails(texts: &[Text], is: impl Fn(&Text) -> bool) -> Chunk {
    let mut chunk = Chunk::new();
    for text in texts {
        bag(&mut chunk, words(&subject_and_body(&text.bytes)), sign(is(text)), Count::Unit);
    }
    chunk
}

/// A mail without its headers except for the subject: the others tell who collected it, not what it is.
fn subject_and_body(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    let Some((headers, body)) = text.split_once("\n\n") else { return text };
    let subject = headers.lines().find_map(|line| line.strip_prefix("Subject:"));
    format!("{}\n{body}", subject.unwrap_or_default())
}

/// The slots of runs of letters and digits, in lower case.
fn words(text: &str) -> Vec<u32> {
    let (mut slots, mut word) = (Vec::new(), String::new());
    for c in text.chars().chain([' ']) {
        if c.is_ascii_alphanumeric() {
            word.push(c.to_ascii_lowercase());
        } else if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        } else if !word.is_empty() {
            slots.push(slot(&word));
            word.clear();
        }
    }
    slots
}

/// Value of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Count {
    /// Number of its occurrences.
    Raw,
    /// One feature per distinct word, with the row scaled to length 1.
    Unit,
}

fn bag(chunk: &mut Chunk, mut words: Vec<u32>, label: f64, count: Count) {
    words.sort_unstable();
    let different = words.chunk_by(|a, b| a == b);
    let unit = 1.0 / (different.clone().count().max(1) as f64).sqrt();
    for same in different {
        chunk.push_feature(same[0], if count == Count::Raw { same.len() as f64 } else { unit });
    }
    let finished = chunk.finish_row(Some(label), 1.0, Repeats::Refuse);
    finished.expect("features are sorted, finite and not zero");
}

/// One story of the Reuters corpus.
#[derive(serde::Deserialize)]
struct Story {
    doc_label: Vec<String>,
    doc_token: Vec<String>,
}

impl Story {
    fn has(&self, topic: &str) -> bool {
        self.doc_label.iter().any(|label| label == topic)
    }

    fn words(&self) -> Vec<u32> {
        self.doc_token.iter().map(|token| slot(&token.to_lowercase())).collect()
    }
}

fn stories(dir: &Path) -> Result<Vec<Story>, ReadError> {
    let mut stories = Vec::new();
    for path in files("rcv1-text", dir)? {
        let stream = open_plain(&path).map_err(|e| ReadError::io(&path, e))?;
        for (line, text) in (1..).zip(std::io::BufReader::new(stream).lines()) {
            let text = text.map_err(|e| ReadError::io(&path, e))?;
            let odd = |e| ReadError::content(&path, format!("line {line}: {e}"));
            stories.push(serde_json::from_str(&text).map_err(odd)?);
        }
    }
    Ok(stories)
}

fn slot(word: &str) -> u32 {
    hash::slot(hash::feature(0, word.as_bytes()), BITS)
}

fn sign(positive: bool) -> f64 {
    if positive { 1.0 } else { -1.0 }
}

/// Features get numbers from 1 without gaps, so that an array of weights is as short as possible.
fn numbered(train: Chunk, test: Option<Chunk>) -> Rows {
    let indices = |chunk: &Chunk| -> Vec<u32> {
        (0..chunk.len()).flat_map(|i| chunk.row(i).indices().to_vec()).collect()
    };
    let mut known = indices(&train);
    known.extend(test.iter().flat_map(indices));
    known.sort_unstable();
    known.dedup();
    let again = |chunk: &Chunk| {
        let mut out = Chunk::new();
        for i in 0..chunk.len() {
            let row = chunk.row(i);
            for (index, value) in row.indices().iter().zip(row.values()) {
                out.push_feature(1 + known.partition_point(|k| k < index) as u32, *value);
            }
            let finished = out.finish_row(chunk.label(i), chunk.weight(i), Repeats::Refuse);
            finished.expect("it was a row before");
        }
        out
    };
    Rows { train: again(&train), test: test.as_ref().map(again), features: known.len() as u32 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_lower_case_runs() {
        let all = words("Re: Buy NOW, 50% OFF\u{c9}!");
        assert_eq!(all, ["re", "buy", "now", "50", "off\u{e9}"].map(slot));
    }

    #[test]
    fn headers_are_left_out_but_for_the_subject() {
        let mail = b"From: a@b\r\nSubject: hello\r\nX: y\r\n\r\nthe body\r\n\r\nmore";
        assert_eq!(subject_and_body(mail), " hello\nthe body\n\nmore");
        assert_eq!(subject_and_body(b"no headers"), "no headers");
    }

    #[test]
    fn bags_are_counts_or_of_length_one() {
        let mut chunk = Chunk::new();
        bag(&mut chunk, words("a b a"), 1.0, Count::Raw);
        bag(&mut chunk, words("a b a"), -1.0, Count::Unit);
        assert_eq!(chunk.row(0).values().iter().sum::<f64>(), 3.0);
        let length: f64 = chunk.row(1).values().iter().map(|x| x * x).sum();
        assert!((length - 1.0).abs() < 1e-12 && chunk.row(1).values().len() == 2);
    }

    #[test]
    fn numbers_have_no_gaps_and_splits_lose_no_row() {
        let mut chunk = Chunk::new();
        for i in 0..10_u32 {
            chunk.push_feature(100 * (i % 3), 1.0);
            chunk.finish_row(Some(f64::from(i)), 1.0, Repeats::Refuse).unwrap();
        }
        let rows = numbered(chunk, None);
        assert_eq!(rows.features, 3);
        assert_eq!(rows.train.row(5).indices(), [3]);
        let (train, test) = rows.split(0.2, 7);
        assert_eq!((train.len(), test.len()), (8, 2));
        let labels = |c: &Chunk| (0..c.len()).map(|i| c.label(i).unwrap()).collect::<Vec<_>>();
        let mut all = [labels(&train), labels(&test)].concat();
        all.sort_by(f64::total_cmp);
        assert_eq!(all, (0..10).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn a_set_that_is_not_there_says_how_to_get_it() {
        let empty = tempfile::tempdir().unwrap();
        for name in names() {
            let error = rows(name, empty.path()).unwrap_err().to_string();
            assert!(error.contains("is not in"), "{name}: {error}");
        }
        let error = rows("unknown", empty.path()).unwrap_err().to_string();
        assert_eq!(error, "there is no set of rows \"unknown\"");
    }
}
