//! Names of the data in a line of text.

/// The first `most` names in a list, and whether there are more. A name may be any bytes of a file: what would break the line is
/// escaped, and a long one is cut.
pub fn listed<N: AsRef<str>>(names: impl ExactSizeIterator<Item = N>, most: usize) -> String {
    let more = if names.len() > most { ", ..." } else { "" };
    let names: Vec<_> = names.take(most).map(|name| in_a_line(name.as_ref())).collect();
    format!("{}{more}", names.join(", "))
}

/// A text without what breaks a line, cut where a line cannot bear it.
pub(crate) fn in_a_line(text: &str) -> String {
    const MOST: usize = 40;
    let mut line = String::new();
    for letter in text.chars().take(MOST) {
        match letter {
            '\u{2028}' | '\u{2029}' => line.extend(letter.escape_unicode()),
            letter if letter.is_control() => line.extend(letter.escape_debug()),
            letter => line.push(letter),
        }
    }
    if text.chars().nth(MOST).is_some() {
        line.push_str("...");
    }
    line
}

#[cfg(test)]
mod tests {
    use super::listed;

    #[test]
    fn names_stay_in_one_line() {
        let names = ["a", "b\nc", "d\u{2028}é", "e"];
        assert_eq!(listed(names.iter(), 3), "a, b\\nc, d\\u{2028}é, ...");
        assert_eq!(listed(["x".repeat(41)].iter(), 1), format!("{}...", "x".repeat(40)));
    }
}
