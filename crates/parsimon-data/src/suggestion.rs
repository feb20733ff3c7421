//! The nearest of several names.

/// ", did you mean ...?" when one name is near.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    nearest(given, known).map_or_else(String::new, |name| format!(", did you mean {name:?}?"))
}

/// The name that was meant: a slip of the finger away, or the only one that begins with what was given. `None` where no name or
/// more than one is near, because a wrong suggestion is worse than none.
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
    // Of equally near names, the one of equal length: letters get swapped more often than lost.
    let rank = |name: &str| {
        let name = name.to_lowercase();
        (distance(&given, &name), name.chars().count().abs_diff(letters))
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

/// How many letters must be put in, left out, replaced or swapped with their neighbor.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut d = vec![vec![0; b.len() + 1]; a.len() + 1];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            d[i][j] = if i == 0 || j == 0 {
                i + j
            } else {
                let replace = d[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
                replace.min(d[i - 1][j] + 1).min(d[i][j - 1] + 1)
            };
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d[i][j] = d[i][j].min(d[i - 2][j - 2] + 1);
            }
        }
    }
    d[a.len()][b.len()]
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

    #[test]
    fn slips_are_counted() {
        for (a, b, count) in [
            ("rate", "rate", 0),
            ("raet", "rate", 1),
            ("rte", "rate", 1),
            ("ratee", "rate", 1),
            ("rats", "rate", 1),
            ("threds", "threads", 1),
            ("", "abc", 3),
            ("oaa", "o", 2),
        ] {
            assert_eq!(distance(a, b), count, "{a} {b}");
        }
    }
}
