//! Dictionaries in the syntax of libFuzzer: a text in quotes on each line, with `\\`, `\"` and `\xAB`.

/// The words of a dictionary.
pub(crate) fn words(text: &str) -> Vec<Vec<u8>> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| word(line).unwrap_or_else(|| panic!("not a line of a dictionary: {line}")))
        .collect()
}

fn word(line: &str) -> Option<Vec<u8>> {
    let mut rest = line.split_once('"')?.1.strip_suffix('"')?.bytes();
    let mut word = Vec::new();
    while let Some(byte) = rest.next() {
        word.push(match byte {
            b'\\' => match rest.next()? {
                b'x' => {
                    let digits = [rest.next()?, rest.next()?];
                    u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
                }
                escaped => escaped,
            },
            byte => byte,
        });
    }
    Some(word)
}

#[cfg(test)]
mod tests {
    #[test]
    fn escapes_are_bytes() {
        let words = super::words("# a comment\n\nx=\"a\\x00\\\"\\\\\"\n\"b\"\n");
        assert_eq!(words, [&b"a\0\"\\"[..], b"b"]);
    }
}
