//! The search finds what is false, from a cold start, and nothing that is proved.

use super::*;

fn statement(name: &str) -> &'static Statement {
    statements().find(|s| s.name == name).unwrap()
}

/// A search of the given size over all of its parts.
fn search(name: &str, constant: f64, configurations: usize) -> Searched {
    let statement = statement(name);
    let excess = |case: &Case| (statement.excess)(case, constant);
    find(&excess, 0, 11, configurations, name, statement.says)
}

#[test]
fn names_are_unique_and_say_their_paper() {
    let mut names: Vec<&str> = statements().map(|s| s.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
    for name in names {
        let paper = name.split('/').next().unwrap();
        assert!(crate::papers().iter().any(|p| p.name == paper), "{name}");
    }
}

#[test]
fn parts_of_the_grid_meet_every_value() {
    let cases: Vec<Case> = (0..72).map(|k| Case::of_grid(k, 1)).collect();
    for n in [1, 2, 5, 20] {
        assert!(cases.iter().any(|c| c.n() == n));
    }
    for length in [1.0, 100.0] {
        assert!(cases.iter().any(|c| c.length() == length));
    }
    for order in [Order::Drawn, Order::Sorted, Order::Alternating, Order::Greedy] {
        assert!(cases.iter().any(|c| c.order() == order));
    }
    let mut all: Vec<String> = (0..4320).map(|k| Case::of_grid(k, 1).to_string()).collect();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4320, "the stride reaches the whole grid");
}

#[test]
fn the_search_breaks_proposition_2_2_from_a_cold_start() {
    let found = search("csgd/proposition-2.2", 1.0, 60);
    assert!(found.broken > 0 && found.worst > 0.01, "{found:?}");
    assert!(!found.at.is_empty());
}

#[test]
fn what_the_papers_print_wrong_is_found() {
    for name in [
        "csgd/theorem-3.2",
        "csgd/theorem-4.1",
        "csgd/lemma-4.2",
        "pda-thesis/A.8",
        "pda-thesis/A.10",
        "lazy-thesis/proposition-2.1-l2-squared",
    ] {
        let found = search(name, 1.0, 150);
        assert!(found.broken > 0, "{name}: {found:?}");
    }
}

#[test]
fn what_is_proved_survives() {
    for name in [
        "csgd/theorem-2.1",
        "csgd/proposition-2.2-mended",
        "csgd/theorem-3.1",
        "csgd/theorem-3.2-projected",
        "csgd/theorem-3.3-sgd",
        "pda-thesis/A.17",
        "pda-thesis/lemma-1",
        "pda-thesis/A.8-mended",
        "pda-thesis/A.9",
        "pda-thesis/nonexpansive-projection",
        "pda-thesis/nonexpansive-gradient",
        "pda-thesis/2.9",
        "pda-thesis/3.7",
        "pda-thesis/figure-3.2",
        "lazy-thesis/proposition-2.1-l1",
        "lazy-thesis/proposition-2.1-l2",
        "lazy-thesis/proposition-2.1-linf",
        "lazy-thesis/theorem-3.1-gap",
        "rda-notes/theorem-4.1-root",
        "rda-notes/4.4",
        "rda-notes/theorem-4.1-constant-beta",
        "rda-notes/theorem-4.1-linear-beta",
        "rda-notes/theorem-4.1-ball",
        "rda-notes/4.6",
        "rda-notes/4.7",
        "rda-notes/4.8",
        "rda-notes/3.3.2",
    ] {
        let found = search(name, 1.0, 150);
        assert!(found.broken == 0, "{name}: {found:?}");
    }
}

/// A search that cannot tell a theorem from the same with half a constant would prove nothing.
#[test]
fn a_theorem_with_half_a_constant_is_refuted() {
    for name in [
        "csgd/proposition-2.2-mended",
        "csgd/theorem-3.1",
        "csgd/theorem-3.2-projected",
        "pda-thesis/lemma-1",
        "pda-thesis/A.8-mended",
        "pda-thesis/A.9",
        "pda-thesis/nonexpansive-projection",
        "pda-thesis/nonexpansive-gradient",
        "rda-notes/theorem-4.1-root",
        "rda-notes/theorem-4.1-constant-beta",
        "rda-notes/theorem-4.1-linear-beta",
    ] {
        let found = search(name, 0.5, 300);
        assert!(found.broken > 0, "{name} with half a constant: {found:?}");
    }
}
