//! Suggestions for mistyped names.

/// Returns `, did you mean "NAME"?` if one of the known names is near, else an empty text.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(given, known).map_or_else(String::new, |name| format!(", did you mean {name:?}?"))
}

/// Returns the known name that was probably meant: the nearest by edit distance, or the only one that begins with `given`.
/// Returns `None` if no name or more than one is near, because a wrong suggestion is worse than none.
pub fn nearest<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let given = given.to_lowercase();
    let letters = given.chars().count();
    let allowed = match letters {
        0..=2 => 0,
        3..=5 => 1,
        6..=11 => 2,
        _ => 3,
    };
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    known.dedup();
    // Among equally near names, prefer the one of equal length: letters are swapped more often than lost.
    let rank = |name: &str| {
        let name = name.to_lowercase();
        (strsim::osa_distance(&given, &name), name.chars().count().abs_diff(letters))
    };
    let mut near: Vec<_> = known.iter().map(|name| (rank(name), *name)).collect();
    near.retain(|((slips, _), _)| *slips <= allowed);
    near.sort_unstable();
    match near[..] {
        [(best, _), (second, _), ..] if best == second => None,
        [(_, name), ..] => Some(name),
        [] => {
            let mut begun =
                known.into_iter().filter(|name| name.to_lowercase().starts_with(&given));
            let only = begun.next().filter(|_| letters >= 3);
            if begun.next().is_some() { None } else { only }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suggestion_is_right_or_not_made() {
        let flags = ["algorithm", "limit", "passes", "beta", "beta1", "rate", "l1", "l2", "Age"];
        for (given, expected) in [
            ("limt", Some("limit")),
            ("raet", Some("rate")),
            ("pases", Some("passes")),
            ("algo", Some("algorithm")),
            ("age", Some("Age")),
            ("betta", Some("beta")),
            ("theta", None),
            ("l3", None),
            ("be", None),
            ("frobnicate", None),
            ("oaa", None),
            ("", None),
        ] {
            assert_eq!(nearest(given, flags.into_iter()), expected, "{given}");
        }
        assert_eq!(nearest("tran", ["man", "train"].into_iter()), Some("train"));
        assert_eq!(nearest("siz", ["size", "side"].into_iter()), Some("size"));
        assert_eq!(nearest("mab", ["map", "man"].into_iter()), None);
    }
}
