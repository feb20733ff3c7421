//! Interactions: products of features of two or three namespaces.

use crate::hash;

/// The interactions of a run, and the features of the current row that take part.
#[derive(Debug)]
pub(crate) struct Cross {
    selectors: Vec<Vec<u8>>,
    /// Each interaction as positions in `selectors`.
    sets: Vec<Vec<usize>>,
    /// The selectors that match the current namespace.
    current: Vec<usize>,
    /// The features of the row, per selector.
    chosen: Vec<Vec<usize>>,
    features: Vec<Feature>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Feature {
    hash: u64,
    value: f64,
    start: usize,
    end: usize,
}

/// The features behind one product.
pub(crate) struct Factors<'a> {
    text: &'a [u8],
    of: &'a [Feature],
}

impl Factors<'_> {
    /// Appends `a^x*b^y`.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        for (i, feature) in self.of.iter().enumerate() {
            if i > 0 {
                out.push(b'*');
            }
            out.extend_from_slice(&self.text[feature.start..feature.end]);
        }
    }
}

impl Cross {
    pub(crate) fn new(interactions: &[Vec<String>]) -> Option<Self> {
        if interactions.is_empty() {
            return None;
        }
        let mut selectors: Vec<Vec<u8>> = Vec::new();
        let mut position = |text: &str| {
            // A blank is Vowpal Wabbit's way to write the anonymous namespace.
            let text = if text == " " { "" } else { text };
            selectors.iter().position(|s| s == text.as_bytes()).unwrap_or_else(|| {
                selectors.push(text.as_bytes().to_vec());
                selectors.len() - 1
            })
        };
        let sets: Vec<Vec<usize>> =
            interactions.iter().map(|set| set.iter().map(|s| position(s)).collect()).collect();
        let chosen = vec![Vec::new(); selectors.len()];
        let mut cross = Self {
            selectors,
            sets,
            current: Vec::new(),
            chosen,
            features: Vec::new(),
            text: Vec::new(),
        };
        cross.enter(b"");
        Some(cross)
    }

    /// The following features belong to this namespace.
    pub(crate) fn enter(&mut self, namespace: &[u8]) {
        let selectors = &self.selectors;
        self.current.clear();
        self.current.extend((0..selectors.len()).filter(|&i| selects(&selectors[i], namespace)));
    }

    pub(crate) fn add(&mut self, hash: u64, namespace: &[u8], text: &[u8], value: f64) {
        if self.current.is_empty() {
            return;
        }
        let start = self.text.len();
        if !namespace.is_empty() {
            self.text.extend_from_slice(namespace);
            self.text.push(b'^');
        }
        self.text.extend_from_slice(text);
        for &s in &self.current {
            self.chosen[s].push(self.features.len());
        }
        self.features.push(Feature { hash, value, start, end: self.text.len() });
    }

    /// How many products the row has, at most.
    pub(crate) fn count(&self) -> u64 {
        let product = |set: &Vec<usize>| {
            set.iter().fold(1, |n: u64, &s| n.saturating_mul(self.chosen[s].len() as u64))
        };
        self.sets.iter().fold(0, |n, set| n.saturating_add(product(set)))
    }

    /// Calls `push(hash, value, factors)` for each product of the row, then forgets the row.
    ///
    /// Where an interaction names a selector twice, its features are taken in order (`i <= j`): each
    /// unordered pair once, squares included.
    pub(crate) fn generate(&mut self, mut push: impl FnMut(u64, f64, Factors<'_>)) {
        for set in &self.sets {
            let Some((&first, rest)) = set.split_first() else {
                continue;
            };
            for (i, &a) in self.chosen[first].iter().enumerate() {
                let a = self.features[a];
                let Some((&second, last)) = rest.split_first() else {
                    continue;
                };
                let from = if second == first { i } else { 0 };
                for (j, &b) in self.chosen[second].iter().enumerate().skip(from) {
                    let b = self.features[b];
                    let (h, value) = (hash::cross(a.hash, b.hash), a.value * b.value);
                    let Some(&third) = last.first() else {
                        push(h, value, Factors { text: &self.text, of: &[a, b] });
                        continue;
                    };
                    let from = match third {
                        t if t == second => j,
                        t if t == first => i,
                        _ => 0,
                    };
                    for &c in &self.chosen[third][from..] {
                        let c = self.features[c];
                        let factors = Factors { text: &self.text, of: &[a, b, c] };
                        push(hash::cross(h, c.hash), value * c.value, factors);
                    }
                }
            }
        }
        self.clear();
    }

    pub(crate) fn clear(&mut self) {
        self.features.clear();
        self.text.clear();
        self.chosen.iter_mut().for_each(Vec::clear);
        self.enter(b"");
    }
}

fn selects(selector: &[u8], namespace: &[u8]) -> bool {
    match std::str::from_utf8(selector).map(|s| s.chars().count()) {
        Ok(1) => namespace.starts_with(selector),
        _ => selector == namespace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn products(sets: &[&[&str]], row: &[(&str, &str, f64)]) -> Vec<(String, f64)> {
        let sets: Vec<Vec<String>> =
            sets.iter().map(|s| s.iter().map(|&t| t.to_owned()).collect()).collect();
        let mut cross = Cross::new(&sets).unwrap();
        for &(namespace, text, value) in row {
            cross.enter(namespace.as_bytes());
            let h = hash::feature(hash::namespace(namespace.as_bytes()), text.as_bytes());
            cross.add(h, namespace.as_bytes(), text.as_bytes(), value);
        }
        let mut all = Vec::new();
        cross.generate(|_, value, factors| {
            let mut name = Vec::new();
            factors.write(&mut name);
            all.push((String::from_utf8(name).unwrap(), value));
        });
        cross.generate(|_, _, _| panic!("the row was forgotten"));
        all
    }

    fn named(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
        pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect()
    }

    const ROW: [(&str, &str, f64); 4] =
        [("ad", "x", 2.0), ("user", "y", 3.0), ("user", "z", 5.0), ("", "t", 7.0)];

    #[test]
    fn a_pair_multiplies_two_namespaces() {
        let expected = named(&[("ad^x*user^y", 6.0), ("ad^x*user^z", 10.0)]);
        assert_eq!(products(&[&["a", "u"]], &ROW), expected);
        assert_eq!(products(&[&["ad", "user"]], &ROW), expected);
        assert_eq!(products(&[&["ad", ""]], &ROW), named(&[("ad^x*t", 14.0)]));
        assert_eq!(products(&[&["ad", "us"]], &ROW), []);
    }

    #[test]
    fn a_namespace_with_itself_gives_each_unordered_pair_once() {
        let expected =
            named(&[("user^y*user^y", 9.0), ("user^y*user^z", 15.0), ("user^z*user^z", 25.0)]);
        assert_eq!(products(&[&["u", "u"]], &ROW), expected);
        assert_eq!(products(&[&["u", "u", "u"]], &ROW).len(), 4);
        assert_eq!(products(&[&["u", "a", "u"]], &ROW).len(), 3);
    }
}
