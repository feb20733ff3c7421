//! Provenance of a page: date and command.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::console::note;

/// The command of this process, to be pasted into a shell.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(&word.to_string_lossy()));
    std::iter::once("parsimon".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A word that a shell reads unchanged, or in quotes.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./,=:+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

/// The date and time, in UTC. `SOURCE_DATE_EPOCH` (seconds since 1970) takes the place of the clock where pages must come out
/// the same, as in reproducible builds.
pub(crate) fn date() -> String {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let fixed = std::env::var_os("SOURCE_DATE_EPOCH").and_then(|text| {
        let seconds = text.to_str().and_then(|text| text.trim().parse().ok());
        // Years beyond 9999 have no date in this form.
        let seconds = seconds.filter(|seconds: &u64| *seconds < 253_402_300_800);
        if seconds.is_none() {
            note(&format!(
                "warning: SOURCE_DATE_EPOCH is \"{}\", which is no number of seconds since 1970; the page has the time of the clock",
                text.display()
            ));
        }
        seconds
    });
    utc(fixed.unwrap_or_else(now))
}

fn utc(seconds: u64) -> String {
    let (days, minutes) = (seconds / 86_400, seconds % 86_400 / 60);
    let (year, month, day) = civil(days);
    format!("{year}-{month:02}-{day:02} {:02}:{:02} UTC", minutes / 60, minutes % 60)
}

/// Year, month and day of a number of days since 1970, by the proleptic Gregorian calendar: 400 years have 146,097 days, and a
/// year that begins in March has the leap day at its end.
fn civil(days: u64) -> (u64, u64, u64) {
    let from_year_0 = days + 719_468;
    let (era, day) = (from_year_0 / 146_097, from_year_0 % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    match month {
        0..10 => (400 * era + year, month + 3, day),
        _ => (400 * era + year + 1, month - 9, day),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_every_word_as_one() {
        assert_eq!(quoted("d.svm"), "d.svm");
        assert_eq!(quoted("my data.svm"), "'my data.svm'");
        assert_eq!(quoted("it's;rm"), r"'it'\''s;rm'");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0), "1970-01-01 00:00 UTC");
        assert_eq!(utc(951_827_696), "2000-02-29 12:34 UTC");
        assert_eq!(utc(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(utc(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
