//! Selectors: the namespaces that a word of an interaction names.

use crate::kinds::fits;

/// A word of an interaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Selector {
    /// Every namespace: `:` in Vowpal Wabbit, or `*`.
    Any,
    /// Namespaces by their first letter.
    Letter(Vec<u8>),
    /// A namespace by name; nothing is the anonymous one.
    Name(Vec<u8>),
    /// Namespaces by a pattern in which * is any text and ? any byte.
    Pattern(Vec<u8>),
}

impl Selector {
    pub(crate) fn new(text: &str) -> Self {
        let bytes = text.as_bytes().to_vec();
        match text {
            ":" | "*" => Self::Any,
            // A blank is Vowpal Wabbit's way to write the anonymous namespace.
            "" | " " => Self::Name(Vec::new()),
            _ if text.chars().nth(1).is_none() => Self::Letter(bytes),
            _ if text.contains(['*', '?']) => Self::Pattern(bytes),
            _ => Self::Name(bytes),
        }
    }

    pub(crate) fn selects(&self, namespace: &[u8]) -> bool {
        match self {
            Self::Any => true,
            Self::Letter(letter) => namespace.starts_with(letter),
            Self::Name(name) => namespace == name,
            Self::Pattern(pattern) => fits(pattern, namespace),
        }
    }

    /// Whether there may be a namespace that both select.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(name), other) | (other, Self::Name(name)) => other.selects(name),
            (Self::Letter(a), Self::Letter(b)) => a == b,
            _ => true,
        }
    }

    /// Refuses words of interactions that select none of the names; `what` is what these are.
    pub(crate) fn check_all<'a, N: AsRef<str>>(
        interactions: impl IntoIterator<Item = &'a String>,
        names: &[N],
        what: &str,
    ) -> Result<(), String> {
        for text in interactions {
            let selector = Selector::new(text);
            let is_anonymous = selector == Self::Name(Vec::new());
            let is_there = names.iter().any(|name| selector.selects(name.as_ref().as_bytes()));
            if !is_there && !is_anonymous {
                let words = crate::kinds::nearest(names, text, what);
                return Err(format!("{words} (in an interaction)"));
            }
        }
        Ok(())
    }
}
