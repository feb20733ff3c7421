//! Selection of columns by name, number, range or pattern.

use crate::error::shown;
use crate::listing::listed;
use crate::suggestion::did_you_mean;

/// A column by name, else by its number from 1; `last` and -1 are the last.
pub(crate) fn find(names: &[String], asked: &str) -> Result<usize, String> {
    let by_number = || {
        let n = asked.parse::<usize>().ok()?;
        (1..=names.len()).contains(&n).then(|| n - 1)
    };
    let last = || matches!(asked, "last" | "-1").then(|| names.len().checked_sub(1)).flatten();
    let position = names.iter().position(|name| name == asked);
    // A quoted name may have blanks at its ends, and its user may not see them.
    let trimmed = || {
        let mut alike = (0..names.len()).filter(|&i| names[i].trim() == asked.trim());
        alike.next().filter(|_| alike.next().is_none())
    };
    position
        .or_else(trimmed)
        .or_else(by_number)
        .or_else(last)
        .ok_or_else(|| nearest(names, asked, "column"))
}

/// Returns the columns of a name, a number, a range (`15-40`, `c15..c40`), a pattern (`C*`) or `all`.
pub(crate) fn select(names: &[String], asked: &str) -> Result<Vec<usize>, String> {
    if let Ok(one) = find(names, asked) {
        return Ok(vec![one]);
    }
    if asked == "all" {
        return Ok((0..names.len()).collect());
    }
    let ends = asked.split_once("..").or_else(|| {
        let (from, to) = asked.split_once('-')?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        (is_number(from) && is_number(to)).then_some((from, to))
    });
    if let Some((from, to)) = ends {
        let (from, to) = (find(names, from)?, find(names, to)?);
        return match from <= to {
            true => Ok((from..=to).collect()),
            false => Err(format!("the range {asked} ends before it begins")),
        };
    }
    let found: Vec<_> = if asked.contains(['*', '?']) {
        (0..names.len()).filter(|&i| fits(asked.as_bytes(), names[i].as_bytes())).collect()
    } else {
        Vec::new()
    };
    if found.is_empty() { Err(nearest(names, asked, "column")) } else { Ok(found) }
}

/// Words about a column, or whatever `what` is, that is not there, with the nearest name and some that are.
pub(crate) fn nearest<N: AsRef<str>>(names: &[N], asked: &str, what: &str) -> String {
    let near = did_you_mean(asked, names.iter().map(AsRef::as_ref));
    let end = if near.is_empty() { "." } else { "" };
    format!(
        "has no {what} {}{near}{end} The {what}s are {}",
        shown(asked.as_bytes()),
        listed(names.iter(), 8)
    )
}

/// Whether a name fits a pattern in which * is any text and ? any byte.
pub(crate) fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern.first(), name.first()) {
        (None, None) => true,
        (Some(b'*'), _) => (0..=name.len()).any(|skipped| fits(&pattern[1..], &name[skipped..])),
        (Some(b'?'), Some(_)) => fits(&pattern[1..], &name[1..]),
        (Some(p), Some(b)) if p == b => fits(&pattern[1..], &name[1..]),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_as_people_name_them() {
        let names: Vec<String> =
            ["id", "C1", "C14", "city", "c-d", "y"].iter().map(|&n| n.to_owned()).collect();
        for (asked, expected) in [
            ("city", &[3][..]),
            ("2", &[1]),
            ("last", &[5]),
            ("-1", &[5]),
            ("2-4", &[1, 2, 3]),
            ("C1..city", &[1, 2, 3]),
            ("c-d", &[4]),
            ("C*", &[1, 2]),
            ("?1*", &[1, 2]),
            ("all", &[0, 1, 2, 3, 4, 5]),
        ] {
            assert_eq!(select(&names, asked).unwrap(), expected, "{asked}");
        }
        assert_eq!(
            select(&names, "citi").unwrap_err(),
            "has no column \"citi\", did you mean \"city\"? The columns are id, C1, C14, city, c-d, y"
        );
        let blank = ["a".to_owned(), " total ".to_owned()];
        for asked in ["total", " total ", "total "] {
            assert_eq!(select(&blank, asked), Ok(vec![1]), "{asked:?}");
        }
        assert!(select(&names, "X*").is_err() && select(&names, "9-10").is_err());
        assert!(select(&names, "4-2").is_err());
    }
}
