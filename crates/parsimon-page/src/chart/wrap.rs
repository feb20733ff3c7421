//! Breaking text into lines.

use crate::chart::svg::text_width;

/// Breaks a text at spaces into lines of at most `room` pixels. A word that is longer is broken after punctuation, or anywhere.
pub(crate) fn wrapped(text: &str, size: f64, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        for (k, piece) in pieces(word, size, room).into_iter().enumerate() {
            let gap = if k == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if text_width(&format!("{line}{gap}{piece}"), size) <= room => {
                    line.push_str(gap);
                    line.push_str(&piece);
                }
                _ => lines.push(piece),
            }
        }
    }
    lines
}

/// A word, in parts that fit.
fn pieces(word: &str, size: f64, room: f64) -> Vec<String> {
    if text_width(word, size) <= room {
        return vec![word.to_owned()];
    }
    let mut pieces: Vec<String> = Vec::new();
    for part in word.split_inclusive([',', ':', ';', '=', '/', '-', '_']) {
        if text_width(part, size) <= room {
            pieces.push(part.to_owned());
        } else {
            pieces.extend(part.chars().map(String::from));
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_titles_are_broken_at_spaces() {
        assert_eq!(wrapped("one two three", 10.0, 60.0), ["one two", "three"]);
        assert!(wrapped("", 10.0, 60.0).is_empty());
    }

    #[test]
    fn a_word_that_does_not_fit_is_broken() {
        assert_eq!(wrapped("ftrl:rate=0.1,l1=0.5", 10.0, 60.0), ["ftrl:rate=", "0.1,l1=0.5"]);
        let lines = wrapped("incomprehensibilities", 10.0, 60.0);
        assert_eq!(lines.concat(), "incomprehensibilities");
        assert!(lines.len() > 1 && lines.iter().all(|line| text_width(line, 10.0) <= 60.0));
    }
}
