//! The papers whose experiments are reproduced.

use serde::Deserialize;

const LIST: &str = include_str!("../experiments/papers.toml");

/// A paper.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Paper {
    /// The name of its folder, the first part of its experiments' ids.
    pub name: String,
    /// Its title.
    pub title: String,
    /// Authors, place and year.
    pub from: String,
}

#[derive(Deserialize)]
struct PaperList {
    paper: Vec<Paper>,
}

/// All of them, in the order of the report.
pub fn papers() -> Vec<Paper> {
    toml::from_str::<PaperList>(LIST).map_or_else(|_| Vec::new(), |list| list.paper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_experiment_has_a_paper() {
        let list: PaperList = toml::from_str(LIST).unwrap();
        for experiment in crate::experiments().unwrap() {
            let known = list.paper.iter().any(|p| p.name == experiment.paper());
            assert!(known, "{}: experiments/papers.toml lacks its paper", experiment.id);
        }
    }
}
