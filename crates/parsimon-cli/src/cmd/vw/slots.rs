//! Slots of an example: its features after interactions, as places in the weights.

use super::example::{CONSTANT, Example, Feature, Space};
use super::hash::PAIR;
use super::options::Options;

/// The features of an example and of its interactions.
#[derive(Debug, Default)]
pub(super) struct Slots {
    pub(super) list: Vec<Feature>,
    /// Where names are printed, one for each.
    pub(super) names: Vec<String>,
    /// Features before interactions.
    pub(super) plain: usize,
}

impl Slots {
    /// Fills in the features of an example. Hashes are multiplied by `width`, the number of weights per feature.
    pub(super) fn fill(&mut self, example: &Example, options: &Options, width: u64) {
        self.list.clear();
        self.names.clear();
        let scaled = |f: &Feature| Feature { hash: f.hash.wrapping_mul(width), ..*f };
        for space in &example.order {
            if options.ignores_linear(*space) {
                continue;
            }
            let features = example.features(*space);
            self.list.extend(features.list.iter().map(scaled));
            self.names.extend(features.names.iter().cloned());
        }
        self.plain = example.order.iter().map(|s| example.features(*s).list.len()).sum();
        let with_wildcards = options.interactions.iter().any(|term| term.contains(&b':'));
        if with_wildcards {
            let mut terms = Vec::new();
            for term in &options.interactions {
                expand(term, example, &mut terms);
            }
            for term in options.distinct(terms) {
                self.cross(&term, example, options, width);
            }
        } else {
            for term in &options.interactions {
                self.cross(term, example, options, width);
            }
        }
    }

    /// Adds the products of the features of several namespaces.
    fn cross(&mut self, term: &[Space], example: &Example, options: &Options, width: u64) {
        if term.iter().any(|space| example.features(*space).list.is_empty()) {
            return;
        }
        let mut chosen = Vec::with_capacity(term.len());
        let root = Product { hash: 0, value: 1.0, first: 0 };
        self.product(term, 0, root, &mut chosen, &(example, options, width));
    }

    fn product(
        &mut self,
        term: &[Space],
        depth: usize,
        so_far: Product,
        chosen: &mut Vec<usize>,
        from: &(&Example, &Options, u64),
    ) {
        let (example, options, width) = *from;
        let features = example.features(term[depth]);
        let is_last = depth + 1 == term.len();
        // Of a namespace with itself each pair counts once.
        let repeats = depth > 0 && term[depth] == term[depth - 1] && !options.permutations;
        let start = if repeats { so_far.first } else { 0 };
        for (k, feature) in features.list.iter().enumerate().skip(start) {
            let hash = feature.hash.wrapping_mul(width) ^ so_far.hash;
            let value = so_far.value * feature.value;
            chosen.push(k);
            if is_last {
                self.list.push(Feature { hash, value });
                if !features.names.is_empty() {
                    let name =
                        |(depth, k): (usize, &usize)| &example.features(term[depth]).names[*k][..];
                    let names: Vec<_> = chosen.iter().enumerate().map(name).collect();
                    self.names.push(names.join("*"));
                }
            } else {
                let next = Product { hash: hash.wrapping_mul(PAIR), value, first: k };
                self.product(term, depth + 1, next, chosen, from);
            }
            chosen.pop();
        }
    }
}

/// The product of the features chosen so far.
#[derive(Clone, Copy)]
struct Product {
    hash: u64,
    value: f32,
    /// The place of the last feature in its namespace.
    first: usize,
}

/// Puts every namespace of the example in the place of a wildcard.
fn expand(term: &[Space], example: &Example, terms: &mut Vec<Vec<Space>>) {
    let mut seen: Vec<Space> = example.order.iter().copied().filter(|s| *s < CONSTANT).collect();
    seen.sort_unstable();
    let mut partial = vec![Vec::new()];
    for space in term {
        let choices = if *space == b':' { &seen[..] } else { std::slice::from_ref(space) };
        partial = partial
            .iter()
            .flat_map(|start| {
                choices.iter().map(move |choice| {
                    let mut longer: Vec<Space> = start.clone();
                    longer.push(*choice);
                    longer
                })
            })
            .collect();
    }
    terms.extend(partial);
}
