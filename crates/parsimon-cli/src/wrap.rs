//! Text in lines of a width, for lists that a terminal of 100 columns shows without breaking them.

/// The words of a text in lines of at most `width` letters; a longer word has a line to itself. At least one line.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let last = lines.last_mut().filter(|line| {
            line.is_empty() || line.chars().count() + 1 + word.chars().count() <= width
        });
        match last {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) => line.push_str(&format!(" {word}")),
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::wrapped;

    #[test]
    fn lines_are_as_long_as_they_may_be() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("one two three", 6), ["one", "two", "three"]);
        assert_eq!(wrapped("seventeen 1 2", 4), ["seventeen", "1 2"]);
        assert_eq!(wrapped("", 4), [""]);
    }
}
