//! Parsing of Markdown pages for tests and chores: code blocks, links, anchors, and prose.

/// A fenced code block.
#[derive(Debug, PartialEq, Eq)]
pub struct Block<'a> {
    /// The words behind the fence, without commas: `["sh", "norun"]`.
    pub words: Vec<&'a str>,
    /// The line of the opening fence, from 1.
    pub line: usize,
    /// Text between the fences.
    pub text: &'a str,
}

impl Block<'_> {
    /// Whether the fence has this word, such as a language or `norun`.
    pub fn is(&self, word: &str) -> bool {
        self.words.contains(&word)
    }
}

/// The fenced code blocks of a page, in order.
pub fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut found = Vec::new();
    let mut open: Option<(Vec<&str>, usize, usize)> = None;
    let mut at = 0;
    for (number, line) in page.split_inclusive('\n').enumerate() {
        if let Some(info) = line.trim_end().strip_prefix("```") {
            match open.take() {
                Some((words, line, start)) => {
                    found.push(Block { words, line, text: &page[start..at] });
                }
                None => {
                    let words = info.split([',', ' ']).filter(|word| !word.is_empty()).collect();
                    open = Some((words, number + 1, at + line.len()));
                }
            }
        }
        at += line.len();
    }
    found
}

/// The page with code blocks, quoted code and lines that are comments replaced by spaces: every other byte keeps its place.
pub fn prose(page: &str) -> String {
    let mut bytes = page.as_bytes().to_vec();
    let mut blank = |range: std::ops::Range<usize>| {
        bytes[range].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
    };
    let mut at = 0;
    let mut is_code = false;
    // Paragraphs: quoted code does not reach beyond one.
    let mut paragraph = 0..0;
    for line in page.split_inclusive('\n') {
        let range = at..at + line.len();
        at = range.end;
        let is_fence = line.starts_with("```");
        let is_comment = line.starts_with("<!--") && !is_code;
        if is_fence || is_code || is_comment || line.trim().is_empty() {
            quotes(page, paragraph).into_iter().for_each(&mut blank);
            paragraph = at..at;
            if is_fence || is_code || is_comment {
                blank(range);
            }
            is_code ^= is_fence;
        } else {
            paragraph.end = at;
        }
    }
    quotes(page, paragraph).into_iter().for_each(&mut blank);
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The places of quoted code in a paragraph: between runs of as many backticks.
fn quotes(page: &str, paragraph: std::ops::Range<usize>) -> Vec<std::ops::Range<usize>> {
    let runs: Vec<(usize, usize)> = {
        let bytes = page.as_bytes();
        let mut runs = Vec::new();
        let mut at = paragraph.start;
        while at < paragraph.end {
            let length = bytes[at..paragraph.end].iter().take_while(|byte| **byte == b'`').count();
            if length > 0 {
                runs.push((at, length));
            }
            at += length.max(1);
        }
        runs
    };
    let mut found = Vec::new();
    let mut next = 0;
    while next < runs.len() {
        let (start, length) = runs[next];
        if let Some(further) = runs[next + 1..].iter().position(|run| run.1 == length) {
            next += 1 + further;
            found.push(start..runs[next].0 + length);
        }
        next += 1;
    }
    found
}

/// A link of a page: the place of `](target)` without the bracket before, and the target.
#[derive(Debug, PartialEq, Eq)]
pub struct Link {
    /// Byte position of the opening bracket.
    pub start: usize,
    /// Byte position behind the link.
    pub end: usize,
    /// Target as written.
    pub target: String,
}

/// The inline links and images of a page, in order.
pub fn links(page: &str) -> Vec<Link> {
    let prose = prose(page);
    let mut found = Vec::new();
    for (middle, _) in prose.match_indices("](") {
        let Some(length) = prose[middle..].find(')') else { continue };
        let target = prose[middle + 2..middle + length].trim().to_owned();
        // Brackets nest where an image is the text of a link.
        let mut depth = 0_usize;
        let start = prose[..middle].bytes().enumerate().rev().find(|(_, byte)| match byte {
            b']' => {
                depth += 1;
                false
            }
            b'[' if depth == 0 => true,
            b'[' => {
                depth -= 1;
                false
            }
            _ => false,
        });
        if let Some((start, _)) = start {
            found.push(Link { start, end: middle + length + 1, target });
        }
    }
    found
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
pub fn anchors(page: &str) -> Vec<String> {
    let outside = prose(page);
    let mut found: Vec<String> = Vec::new();
    for (line, visible) in page.lines().zip(outside.lines()) {
        // Quoted code in a heading belongs to its anchor, a line of a code block is none.
        if !visible.starts_with('#') {
            continue;
        }
        let title = line.trim_start_matches('#').trim();
        let slug: String = title
            .chars()
            .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
            .map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() })
            .collect();
        let same = found.iter().filter(|other| **other == slug).count();
        found.push(if same == 0 { slug } else { format!("{slug}-{same}") });
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "# A `b` c, d\n\nSee [x](y.md#z) and `[no](link)`.\n\n```sh,norun\n# no heading [no](n)\n```\n\n## Next\n\n![p](q.svg)\n";

    #[test]
    fn blocks_have_their_words_and_lines() {
        let found = blocks(PAGE);
        assert_eq!(found.len(), 1);
        assert!(found[0].is("sh") && found[0].is("norun") && !found[0].is("python"));
        assert_eq!((found[0].line, found[0].text), (5, "# no heading [no](n)\n"));
    }

    #[test]
    fn code_has_no_links_and_no_headings() {
        let targets: Vec<String> = links(PAGE).into_iter().map(|link| link.target).collect();
        assert_eq!(targets, ["y.md#z", "q.svg"]);
        assert_eq!(anchors(PAGE), ["a-b-c-d", "next"]);
        let link = &links(PAGE)[0];
        assert_eq!(&PAGE[link.start..link.end], "[x](y.md#z)");
    }

    #[test]
    fn prose_keeps_places() {
        assert_eq!(prose("a `b\nc` ``d`e`` f"), "a   \n           f");
        assert_eq!(prose("<!-- $x -->\na"), "           \na");
        assert_eq!(prose(PAGE).len(), PAGE.len());
    }
}
