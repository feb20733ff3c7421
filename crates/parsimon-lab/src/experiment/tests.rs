//! Tests of reading and checking experiments.

use super::*;
use crate::kind;

#[test]
fn every_experiment_can_be_read_and_every_method_built() {
    assert!(!FILES.is_empty());
    for (id, text) in FILES {
        let experiment = Experiment::parse(id, text).unwrap();
        for variant in &experiment.variants {
            let names = experiment.names_of(&variant.name);
            let needs_methods = experiment.kind != Kind::Search;
            assert_eq!(!names.is_empty(), needs_methods, "{id}: {}", variant.name);
            let methods = experiment.methods_of(variant).iter();
            for method in methods.filter(|_| experiment.kind.has_learners()) {
                kind::complete(method)
                    .resolve()
                    .unwrap_or_else(|e| panic!("{id}: {}: {e}", method.name));
            }
        }
    }
}

/// What the loop or a method does not know is refused before anything runs, with its line.
#[test]
fn unknown_settings_are_refused_with_their_line() {
    let text = r#"title = "Small"
printed = "Table 1"
claim = "c"
kind = "identification"
axes = { zeros = "zeros, %" }
trials = { quick = 1, standard = 10, full = 10 }
settings = { n = 50, zeros = 0.9, m = 3, samples = { quick = 2, standard = 2, full = 2 } }
[[method]]
name = "PDA"
spec = { algorithm = "pda" }
[[expect]]
says = "zeros"
left = "PDA.zeros@end"
is = "above"
bound = 50.0
"#;
    let error = |text: &str| Experiment::parse("t", text).unwrap().check_settings().unwrap_err();
    let found = error(text);
    assert!(found.starts_with("t: line 7: settings: unknown field `m`"), "{found}");
    let good = text.replace("m = 3, ", "");
    Experiment::parse("t", &good).unwrap().check_settings().unwrap();
    let found = error(&good.replace("\"pda\"", "\"pda\", raet = 0.1"));
    assert!(found.starts_with("t: line 9: PDA: pda has no setting \"raet\""), "{found}");
}

#[test]
fn verdicts_rest_on_ten_trials_and_a_core_claim() {
    for (id, text) in FILES {
        let experiment = Experiment::parse(id, text).unwrap();
        let trials = experiment.trials;
        let fewest = crate::verdict::FEWEST_TRIALS as u64;
        assert!(trials.standard >= fewest && trials.full >= fewest, "{id}: {trials:?}");
        let is_core = experiment.expectations.iter().any(|e| e.core)
            || experiment.searches.iter().any(|s| s.core);
        assert!(is_core, "{id} has no core claim");
        let is_searched = experiment.searches.iter().any(|s| s.core);
        let is_theorem = experiment.category == Category::Theorem;
        assert_eq!(is_searched, is_theorem, "{id}: a theorem needs a search");
        let is_own = experiment.paper() == "ours";
        assert_eq!(experiment.category == Category::Own, is_own, "{id}");
    }
}

#[test]
fn the_horizon_is_said_where_efforts_differ() {
    let text = SMALL.replace("kind =", "settings = { n = 5, rounds = { quick = 1, standard = 20, full = 30 }, rows = { quick = 2, standard = 2, full = 2 } }\nkind =");
    let experiment = Experiment::parse("t", &text).unwrap();
    let at = |effort| experiment.horizon(&experiment.variants[0], effort);
    assert_eq!(at(Effort::Standard).as_deref(), Some("rounds 20"));
    let longer = "rounds = { quick = 7, standard = 8, full = 9 }".parse().unwrap();
    let variant = Variant { settings: longer, ..Variant::default() };
    assert_eq!(experiment.horizon(&variant, Effort::Full).as_deref(), Some("rounds 9"));
    let same =
        text.replace("quick = 1, standard = 20, full = 30", "quick = 9, standard = 9, full = 9");
    let same = Experiment::parse("t", &same).unwrap();
    assert_eq!(same.horizon(&same.variants[0], Effort::Quick), None);
}

const SMALL: &str = r#"
    title = "t"
    printed = "Table 1"
    claim = "A beats B; by far"
    kind = "identification"
    axes = { loss = "loss" }
    trials = { quick = 1, standard = 1, full = 1 }
    method = [{ name = "A", spec = {} }]
    expect = [{ says = "s", left = "A.loss@end", is = "below", bound = 1.0 }]
"#;

#[test]
fn what_a_file_gets_wrong_is_said() {
    assert!(Experiment::parse("t", SMALL).is_ok());
    let refused = |from: &str, to: &str| {
        assert!(SMALL.contains(from));
        Experiment::parse("x/y", &SMALL.replace(from, to)).unwrap_err()
    };
    for (from, to, why) in [
        ("A.loss@end", "B.loss@end", "not every variant has a method \"B\""),
        ("A.loss@end", "A.gain@end", "axes has no measure \"gain\""),
        ("A.loss@end", "A.loss", "a place reads method.measure@round"),
        ("bound = 1.0", "bound = 1.0, paper = 1.0", "one of right, paper and bound"),
        ("bound = 1.0", "bound = 1.0, must = \"x\"", "there is no variant \"x\""),
        ("bound = 1.0", "bound = 1.0, most = 1", "most"),
        ("kind =", "lines = 3\n        kind =", "lines"),
        ("\"below\"", "\"near\"", "near needs a margin"),
        ("identification", "magic", "magic"),
    ] {
        let error = refused(from, to);
        assert!(error.starts_with("x/y: ") && error.contains(why), "{error}");
        let is_placed = error.contains("line ") || error.contains(" | ");
        assert!(is_placed, "the line is missing: {error}");
    }
    let text = SMALL.replace("Table 1", "-").replace("bound = 1.0", "paper = 1.0");
    let error = Experiment::parse("x/y", &text).unwrap_err();
    assert!(error.contains("line ") && error.contains("needs its place in the paper"), "{error}");
}
