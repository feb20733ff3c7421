//! The nearest of several names.

/// ", did you mean ...?" when a name is near.
pub fn did_you_mean<'a>(given: &str, known: impl Iterator<Item = &'a str>) -> String {
    // Of equally near names, the one of equal length: letters get swapped more often than lost.
    let near =
        known.map(|name| (distance(given, name), name.len().abs_diff(given.len()), name)).min();
    match near {
        Some((d, _, name)) if d <= 2.max(given.len() / 3) && d < given.chars().count() => {
            format!(", did you mean {name:?}?")
        }
        _ => String::new(),
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
