//! Rust source as a flat list of tokens, without comments, literals and items that are compiled for tests only.

/// A word (an identifier or a keyword), `::`, or a single character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    Word(String),
    PathSeparator,
    Mark(char),
}

impl Token {
    pub(crate) fn is(&self, mark: char) -> bool {
        *self == Token::Mark(mark)
    }

    pub(crate) fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub(crate) fn word(&self) -> Option<&str> {
        match self {
            Token::Word(word) => Some(word),
            _ => None,
        }
    }
}

/// The tokens of a file, without the items under `#[cfg(test)]`.
pub(crate) fn tokens(source: &str) -> Vec<Token> {
    without_tests(&all_tokens(source))
}

fn all_tokens(source: &str) -> Vec<Token> {
    let text: Vec<char> = source.chars().collect();
    let (mut found, mut i) = (Vec::new(), 0);
    while i < text.len() {
        let rest = &text[i..];
        let starts = |with: &str| rest.iter().copied().take(with.len()).eq(with.chars());
        if starts("//") {
            i += rest.iter().position(|&c| c == '\n').unwrap_or(rest.len());
        } else if starts("/*") {
            i += comment(rest);
        } else if let Some(length) = raw_string(rest) {
            i += length;
        } else if rest[0] == '"' {
            i += quoted(rest, '"');
        } else if rest[0] == '\'' {
            i += character_or_lifetime(rest);
        } else if is_word_character(rest[0]) {
            // `r#type` is the word `type`.
            let skipped = if starts("r#") { 2 } else { 0 };
            let word: String =
                rest[skipped..].iter().take_while(|&&c| is_word_character(c)).collect();
            i += skipped + word.chars().count();
            found.push(Token::Word(word));
        } else if starts("::") {
            found.push(Token::PathSeparator);
            i += 2;
        } else {
            if !rest[0].is_whitespace() {
                found.push(Token::Mark(rest[0]));
            }
            i += 1;
        }
    }
    found
}

/// The string literals of a file, up to its tests.
pub(crate) fn strings(source: &str) -> Vec<String> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    let text: Vec<char> = source.chars().collect();
    let (mut found, mut i) = (Vec::new(), 0);
    while i < text.len() {
        let rest = &text[i..];
        let starts = |with: &str| rest.iter().copied().take(with.len()).eq(with.chars());
        let literal = match rest[0] {
            '"' => Some(quoted(rest, '"')),
            _ => raw_string(rest),
        };
        i += match literal {
            Some(length) => {
                found.push(rest[..length].iter().collect());
                length
            }
            None if starts("//") => rest.iter().position(|&c| c == '\n').unwrap_or(rest.len()),
            None if starts("/*") => comment(rest),
            None if rest[0] == '\'' => character_or_lifetime(rest),
            None if is_word_character(rest[0]) => {
                rest.iter().take_while(|&&c| is_word_character(c)).count()
            }
            None => 1,
        };
    }
    found
}

fn is_word_character(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The length of a block comment; block comments nest.
fn comment(text: &[char]) -> usize {
    let (mut depth, mut i) = (0, 0);
    while i < text.len() {
        match (text[i], text.get(i + 1)) {
            ('/', Some('*')) => (depth, i) = (depth + 1, i + 2),
            ('*', Some('/')) => (depth, i) = (depth - 1, i + 2),
            _ => i += 1,
        }
        if depth == 0 {
            break;
        }
    }
    i
}

/// The length of `r"..."`, `r#"..."#`, `br"..."`; `None` for anything else.
fn raw_string(text: &[char]) -> Option<usize> {
    let start = usize::from(text[0] == 'b' || text[0] == 'c');
    if text.get(start) != Some(&'r') {
        return None;
    }
    let hashes = text[start + 1..].iter().take_while(|&&c| c == '#').count();
    let open = start + 1 + hashes;
    if text.get(open) != Some(&'"') {
        return None;
    }
    let closes = |i: &usize| {
        text[*i] == '"'
            && text[i + 1..].iter().take(hashes).filter(|&&c| c == '#').count() == hashes
    };
    let end = (open + 1..text.len()).find(closes)?;
    Some(end + 1 + hashes)
}

/// The length of a literal between two of these marks.
fn quoted(text: &[char], mark: char) -> usize {
    let mut i = 1;
    while i < text.len() && text[i] != mark {
        i += if text[i] == '\\' { 2 } else { 1 };
    }
    i + 1
}

fn character_or_lifetime(text: &[char]) -> usize {
    let is_character = text.get(1) == Some(&'\\') || text.get(2) == Some(&'\'');
    if is_character { quoted(text, '\'') } else { 1 }
}

/// Removes every item under `#[cfg(test)]`, up to its semicolon or the end of its block.
fn without_tests(tokens: &[Token]) -> Vec<Token> {
    let (mut kept, mut i) = (Vec::new(), 0);
    while i < tokens.len() {
        let attribute = attribute(&tokens[i..]);
        if attribute > 0 && is_of_tests(&tokens[i..i + attribute]) {
            i += attribute;
            i += item(&tokens[i..]);
        } else {
            kept.push(tokens[i].clone());
            i += 1;
        }
    }
    kept
}

/// The length of `#[...]`; zero for anything else.
fn attribute(tokens: &[Token]) -> usize {
    match tokens {
        [hash, open, ..] if hash.is('#') && open.is('[') => 1 + group(&tokens[1..]),
        _ => 0,
    }
}

fn is_of_tests(attribute: &[Token]) -> bool {
    let words: Vec<&str> = attribute.iter().filter_map(Token::word).collect();
    words.first() == Some(&"cfg") && words.contains(&"test") && !words.contains(&"not")
}

/// The length of a bracketed group, brackets included.
fn group(tokens: &[Token]) -> usize {
    let mut depth = 0;
    for (i, token) in tokens.iter().enumerate() {
        match token {
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return i + 1;
        }
    }
    tokens.len()
}

fn item(tokens: &[Token]) -> usize {
    let mut i = 0;
    while i < tokens.len() {
        match tokens[i] {
            Token::Mark(';') => return i + 1,
            Token::Mark('{') => {
                let end = i + group(&tokens[i..]);
                // `use a::{b, c};` goes on after its braces.
                let is_use = tokens[..i].iter().any(|token| token.is_word("use"));
                return end + usize::from(is_use && tokens.get(end).is_some_and(|t| t.is(';')));
            }
            Token::Mark('(' | '[') => i += group(&tokens[i..]),
            _ => i += 1,
        }
    }
    i
}

#[test]
fn words_in_comments_and_literals_are_no_words() {
    let source = r##"
        // one
        /* two /* three */ */
        let s = "four \" five"; let r = r#"six " seven"#; let c = 'x'; let q = '\'';
        fn f<'a>(b: &'a u8) -> r#type { b"eight" }
    "##;
    let words: Vec<String> =
        tokens(source).iter().filter_map(Token::word).map(str::to_owned).collect();
    let expected = "let s let r let c let q fn f a b a u8 type b";
    assert_eq!(words.join(" "), expected);
}

#[test]
fn items_compiled_for_tests_only_are_left_out() {
    let source = "
        use one; #[cfg(test)] use two::{three, four}; #[cfg(test)] mod five { fn six() {} }
        #[cfg(not(test))] fn seven() {} #[cfg(test)] #[allow(eight)] fn nine(a: [u8; 2]) { {} } ten";
    let kept = tokens(source);
    let words: Vec<&str> = kept.iter().filter_map(Token::word).collect();
    assert_eq!(words, ["use", "one", "cfg", "not", "test", "fn", "seven", "ten"]);
}
