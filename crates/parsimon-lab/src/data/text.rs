//! Mails and newsgroup posts, read straight from their archives.

use std::ffi::OsStr;
use std::io::Read;
use std::path::Path;

use super::unpack::Bounded;
use super::{ReadError, find, open_plain};

/// A mail or a post.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The folder it was in: its class.
    pub group: String,
    /// The name of its file.
    pub name: String,
    /// Its bytes, including headers; they may not be UTF-8.
    pub bytes: Vec<u8>,
}

/// The mails of the SpamAssassin corpus, sorted by group and name. Groups are `easy-ham-1`, `easy-ham-2`, `hard-ham-1`, `spam-1` and `spam-2`.
pub fn spam_assassin(dir: &Path) -> Result<Vec<Text>, ReadError> {
    let file = only_file("spam-assassin", dir)?;
    let mut mails = read(&file, "package/data/")?;
    // Each is there twice, as text and as JSON.
    mails.retain(|mail| Path::new(&mail.name).extension() == Some(OsStr::new("txt")));
    Ok(mails)
}

/// The training and the test posts of 20 Newsgroups, each sorted by group and name.
pub fn newsgroups(dir: &Path) -> Result<(Vec<Text>, Vec<Text>), ReadError> {
    let file = only_file("20news", dir)?;
    let part = |part: &str| read(&file, &format!("data/20ng/20news-bydate-{part}/"));
    Ok((part("train")?, part("test")?))
}

fn only_file(name: &str, dir: &Path) -> Result<std::path::PathBuf, ReadError> {
    let files = find(name).expect("the list has it, and a test says so").locate(dir)?;
    Ok(files.into_iter().next().expect("the list has a file for it, and a test says so"))
}

/// The files `UNDER/group/name` of a tar archive, plain or compressed with gzip, sorted by group and name.
pub fn read(archive: &Path, under: &str) -> Result<Vec<Text>, ReadError> {
    let stream = open_plain(archive).map_err(|e| ReadError::io(archive, e))?;
    let mut archive_of = tar::Archive::new(Bounded::new(stream));
    let torn =
        |e: std::io::Error| ReadError::content(archive, format!("the archive cannot be read: {e}"));
    let mut texts = Vec::new();
    for entry in archive_of.entries().map_err(torn)? {
        let mut entry = entry.map_err(torn)?;
        let path = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let path = path.strip_prefix("./").unwrap_or(&path);
        let inner = path.strip_prefix(under).and_then(|inner| inner.split_once('/'));
        let Some((group, name)) = inner else { continue };
        if !entry.header().entry_type().is_file() || name.contains('/') {
            continue;
        }
        let mut bytes = Vec::new();
        entry.read_to_end(&mut bytes).map_err(torn)?;
        texts.push(Text { group: group.to_owned(), name: name.to_owned(), bytes });
    }
    texts.sort_by(|a, b| (&a.group, &a.name).cmp(&(&b.group, &b.name)));
    Ok(texts)
}
