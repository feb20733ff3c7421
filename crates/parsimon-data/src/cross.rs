//! Interactions: products of features of two or three namespaces.
//!
//! As in Vowpal Wabbit, features and not namespaces are combined: each unordered pair or triple once, squares included, whatever
//! the order of the namespaces and however many interactions select it.

use rustc_hash::FxHashSet;

use crate::hash;
use crate::selector::Selector;

/// Namespaces that are remembered, for words about one that is not there.
const MOST_NAMESPACES: usize = 10_000;

/// The interactions of a run, and the features of the current row that take part.
#[derive(Debug)]
pub(crate) struct Cross {
    selectors: Vec<Selector>,
    sets: Vec<Set>,
    /// The namespaces met so far.
    met: FxHashSet<Vec<u8>>,
    /// The selectors that match the current namespace.
    current: Vec<usize>,
    /// The features of the row, per selector.
    chosen: Vec<Vec<usize>>,
    features: Vec<Feature>,
    text: Vec<u8>,
}

/// One interaction.
#[derive(Debug)]
struct Set {
    /// Positions in `selectors`.
    of: Vec<usize>,
    /// Whether two different selectors of it may select the same namespace.
    overlaps: bool,
    /// Earlier interactions that may have made the same products.
    earlier: Vec<usize>,
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
        let mut selectors: Vec<Selector> = Vec::new();
        let mut position = |text: &str| {
            let selector = Selector::new(text);
            selectors.iter().position(|s| *s == selector).unwrap_or_else(|| {
                selectors.push(selector);
                selectors.len() - 1
            })
        };
        let mut all: Vec<Vec<usize>> = Vec::new();
        for set in interactions {
            let of: Vec<usize> = set.iter().map(|s| position(s)).collect();
            // An interaction does not depend on the order of its namespaces.
            if !all.iter().any(|known| sorted(known) == sorted(&of)) {
                all.push(of);
            }
        }
        let may_meet = |a: usize, b: usize| selectors[a].may_meet(&selectors[b]);
        let set = |(k, of): (usize, &Vec<usize>)| Set {
            of: of.clone(),
            overlaps: of.iter().any(|&a| of.iter().any(|&b| a != b && may_meet(a, b))),
            earlier: (0..k).filter(|&e| pairs_up(&all[e], of, may_meet)).collect(),
        };
        let sets: Vec<Set> = all.iter().enumerate().map(set).collect();
        let chosen = vec![Vec::new(); selectors.len()];
        let mut cross = Self {
            selectors,
            sets,
            met: FxHashSet::default(),
            current: Vec::new(),
            chosen,
            features: Vec::new(),
            text: Vec::new(),
        };
        cross.select(b"");
        Some(cross)
    }

    /// The following features belong to this namespace. Whether it is new.
    pub(crate) fn enter(&mut self, namespace: &[u8]) -> bool {
        self.select(namespace);
        let is_new = !self.met.contains(namespace) && self.met.len() < MOST_NAMESPACES;
        if is_new {
            self.met.insert(namespace.to_vec());
        }
        is_new
    }

    fn select(&mut self, namespace: &[u8]) {
        let selectors = &self.selectors;
        self.current.clear();
        self.current.extend((0..selectors.len()).filter(|&i| selectors[i].selects(namespace)));
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

    /// Largest number of products of the row.
    pub(crate) fn count(&self) -> u64 {
        let product = |set: &Set| {
            set.of.iter().fold(1, |n: u64, &s| n.saturating_mul(self.chosen[s].len() as u64))
        };
        self.sets.iter().fold(0, |n, set| n.saturating_add(product(set)))
    }

    /// Calls `push(hash, value, factors)` for each product of the row, then forgets the row.
    ///
    /// Where an interaction names a selector twice, its features are taken in order (`i <= j`): each
    /// unordered pair once, squares included.
    pub(crate) fn generate(&mut self, mut push: impl FnMut(u64, f64, Factors<'_>)) {
        for set in &self.sets {
            let &[first, second, ref last @ ..] = &set.of[..] else { continue };
            let is_plain = !set.overlaps && set.earlier.is_empty();
            for (i, &at) in self.chosen[first].iter().enumerate() {
                let a = self.features[at];
                let from = if second == first { i } else { 0 };
                for (j, &bt) in self.chosen[second].iter().enumerate().skip(from) {
                    let b = self.features[bt];
                    let (h, value) = (hash::cross(a.hash, b.hash), a.value * b.value);
                    let Some(&third) = last.first() else {
                        if is_plain || self.is_first(set, &[at, bt]) {
                            push(h, value, Factors { text: &self.text, of: &[a, b] });
                        }
                        continue;
                    };
                    let from = match third {
                        t if t == second => j,
                        t if t == first => i,
                        _ => 0,
                    };
                    for &ct in &self.chosen[third][from..] {
                        if is_plain || self.is_first(set, &[at, bt, ct]) {
                            let c = self.features[ct];
                            let factors = Factors { text: &self.text, of: &[a, b, c] };
                            push(hash::cross(h, c.hash), value * c.value, factors);
                        }
                    }
                }
            }
        }
        self.clear();
    }

    /// Whether the interaction meets these features in this order first, and no earlier interaction has met them.
    fn is_first(&self, set: &Set, features: &[usize]) -> bool {
        let orders: &[&[usize]] = match features.len() {
            2 => &[&[0, 1], &[1, 0]],
            _ => &[&[0, 1, 2], &[0, 2, 1], &[1, 0, 2], &[1, 2, 0], &[2, 0, 1], &[2, 1, 0]],
        };
        let fits = |set: &Set, order: &[usize]| {
            set.of.iter().zip(order).all(|(&s, &k)| self.is_chosen(s, features[k]))
        };
        let is_sooner =
            |order: &[usize]| order.iter().map(|&k| features[k]).lt(features.iter().copied());
        let is_repeated = set.overlaps && orders.iter().any(|o| is_sooner(o) && fits(set, o));
        let is_known = |&e: &usize| orders.iter().any(|order| fits(&self.sets[e], order));
        !is_repeated && !set.earlier.iter().any(is_known)
    }

    fn is_chosen(&self, selector: usize, feature: usize) -> bool {
        self.chosen[selector].binary_search(&feature).is_ok()
    }

    pub(crate) fn clear(&mut self) {
        self.features.clear();
        self.text.clear();
        self.chosen.iter_mut().for_each(Vec::clear);
        self.select(b"");
    }
}

fn sorted(set: &[usize]) -> Vec<usize> {
    let mut set = set.to_vec();
    set.sort_unstable();
    set
}

/// Whether two interactions may select the same features: their selectors meet one by one, in some order.
fn pairs_up(a: &[usize], b: &[usize], meet: impl Fn(usize, usize) -> bool + Copy) -> bool {
    let Some((&first, rest)) = a.split_first() else { return b.is_empty() };
    (0..b.len()).any(|k| {
        let mut left = b.to_vec();
        (first == b[k] || meet(first, b[k])) && {
            left.remove(k);
            pairs_up(rest, &left, meet)
        }
    })
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

    fn sorted_products(sets: &[&[&str]], row: &[(&str, &str, f64)]) -> Vec<String> {
        let name = |(name, _): (String, f64)| {
            let mut factors: Vec<_> = name.split('*').map(str::to_owned).collect();
            factors.sort();
            factors.join("*")
        };
        let mut all: Vec<_> = products(sets, row).into_iter().map(name).collect();
        all.sort();
        all
    }

    /// Expected: what `vw --audit --noconstant` (9.11) prints for `1 |a x y |b z |cc u | t`.
    #[test]
    fn wildcards_combine_as_vowpal_wabbit_does() {
        let row =
            [("a", "x", 1.0), ("a", "y", 1.0), ("b", "z", 1.0), ("cc", "u", 1.0), ("", "t", 1.0)];
        let pairs = "a^x*a^x a^x*a^y a^x*b^z a^x*cc^u a^x*t a^y*a^y a^y*b^z a^y*cc^u a^y*t b^z*b^z \
                     b^z*cc^u b^z*t cc^u*cc^u cc^u*t t*t";
        let pairs: Vec<_> = pairs.split_whitespace().collect();
        let with_a: Vec<_> = pairs.iter().copied().filter(|p| p.contains("a^")).collect();
        let any: &[&str] = &[":", ":"];
        assert_eq!(sorted_products(&[any], &row), pairs);
        assert_eq!(sorted_products(&[&["*", "*"]], &row), pairs);
        assert_eq!(sorted_products(&[&["a", ":"]], &row), with_a);
        assert_eq!(sorted_products(&[&[":", "a"]], &row), with_a);
        assert_eq!(sorted_products(&[&["a", ":"], any], &row), pairs);
        assert_eq!(sorted_products(&[any, &[":", "a"]], &row), pairs);
        assert_eq!(sorted_products(&[&["a", "b"], &["b", "a"]], &row), ["a^x*b^z", "a^y*b^z"]);
        assert_eq!(sorted_products(&[&[":", ":", "a"]], &row).len(), 25);
        assert_eq!(sorted_products(&[&[":", ":", ":"]], &row).len(), 35);
    }

    #[test]
    fn globs_select_namespaces_by_name() {
        let row = [("c1", "x", 2.0), ("c2", "y", 3.0), ("d", "z", 5.0)];
        let expected = named(&[("c1^x*c1^x", 4.0), ("c1^x*c2^y", 6.0), ("c2^y*c2^y", 9.0)]);
        assert_eq!(products(&[&["c*", "c*"]], &row), expected);
        assert_eq!(
            products(&[&["c?", "d"]], &row),
            named(&[("c1^x*d^z", 10.0), ("c2^y*d^z", 15.0)])
        );
        // A name and a pattern that has it: once.
        assert_eq!(
            products(&[&["c1", "c*"]], &row),
            named(&[("c1^x*c1^x", 4.0), ("c1^x*c2^y", 6.0)])
        );
    }
}
