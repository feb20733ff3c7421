//! Every rule of the verdicts, on trials where it says yes and on trials where it says no.

use std::collections::BTreeMap;

use super::*;

/// An experiment with two methods; `figure` and `expect` are TOML.
fn experiment(figure: &str, expect: &str) -> Experiment {
    let text = format!(
        r#"
        title = "t"
        printed = "Table 1"
        claim = "A is below B"
        kind = "identification"
        axes = {{ loss = "loss, nats" }}
        trials = {{ quick = 1, standard = 10, full = 10 }}
        method = [{{ name = "A", spec = {{}} }}, {{ name = "B", spec = {{}} }}]
        figure = [{figure}]
        expect = [{expect}]
        "#
    );
    Experiment::parse("t/t", &text).unwrap()
}

const BELOW: &str =
    r#"{ says = "below", core = true, left = "A.loss@end", is = "below", right = "B.loss@end" }"#;

/// Ten trials: `a` and `b` by the number of the trial.
fn trials(n: usize, a: impl Fn(f64) -> f64, b: impl Fn(f64) -> f64) -> Vec<Trial> {
    let one = |k: usize| {
        let of = |v: f64| BTreeMap::from([("loss".to_owned(), vec![(1.0, v)])]);
        let curves = [("A".to_owned(), of(a(k as f64))), ("B".to_owned(), of(b(k as f64)))];
        Trial { curves: BTreeMap::from(curves), ..Trial::default() }
    };
    (0..n).map(one).collect()
}

fn judged(experiment: &Experiment, trials: &[Trial], decides: bool) -> Vec<Finding> {
    judge(experiment, &[(&experiment.variants[0], trials)], decides).remove(0)
}

fn status(expect: &str, trials: &[Trial]) -> Status {
    judged(&experiment("", expect), trials, true)[0].status
}

/// A number between -1 and 1 that jumps with the trial.
fn noise(k: f64) -> f64 {
    (12.9898 * (k + 1.0)).sin()
}

#[test]
fn what_the_interval_separates_is_decided_and_nothing_else() {
    let apart = |by: f64| trials(10, move |k| 1.0 + noise(k), move |k| 1.0 + noise(k + 50.0) + by);
    assert_eq!(status(BELOW, &apart(5.0)), Status::Holds);
    assert_eq!(status(BELOW, &apart(-5.0)), Status::Refuted);
    // The mean is on the side expected, and that is not enough.
    let close = apart(1.0);
    let finding = &judged(&experiment("", BELOW), &close, true)[0];
    assert_eq!((finding.leans, finding.status), (Some(true), Status::Undecided));
    let interval = finding.interval.unwrap();
    assert!(interval.low < 0.0 && interval.high > 0.0 && (interval.level - 0.99).abs() < 1e-12);
}

#[test]
fn trials_are_paired() {
    // The trials differ by far more than the methods do.
    let paired = trials(10, |k| 100.0 * k, |k| 100.0 * k + 1.0 + 0.1 * noise(k));
    assert_eq!(status(BELOW, &paired), Status::Holds);
    let shuffled = trials(10, |k| 100.0 * k, |k| 100.0 * (9.0 - k) + 1.0);
    assert_eq!(status(BELOW, &shuffled), Status::Undecided);
}

#[test]
fn equal_without_spread_is_undecided() {
    assert_eq!(status(BELOW, &trials(10, |_| 0.0, |_| 0.0)), Status::Undecided);
    assert_eq!(status(BELOW, &trials(10, |_| 0.0, |_| 1.0)), Status::Holds);
}

#[test]
fn few_trials_and_quick_runs_are_previews() {
    let clear = |n| trials(n, noise, |k| 9.0 + noise(k));
    let file = experiment("", BELOW);
    let of = |n, decides| Verdict::of(&judged(&file, &clear(n), decides), Basis::Data);
    assert_eq!(of(10, true), Verdict::Reproduces);
    assert_eq!(of(9, true), Verdict::Preview);
    assert_eq!(of(10, false), Verdict::Preview);
    assert_eq!(of(0, true), Verdict::NotRun);
}

#[test]
fn holm_asks_more_of_each_when_there_are_several() {
    // t is 4 with 9 degrees of freedom: a chance of 0.003, enough alone and too little among ten.
    let spread = |k: f64| if k % 2.0 == 0.0 { 1.0 } else { -1.0 };
    let error = (10.0 / 9.0f64).sqrt() / 10f64.sqrt();
    let close = trials(10, |_| 0.0, |k| 4.0 * error + spread(k));
    assert_eq!(status(BELOW, &close), Status::Holds);
    let ten = [BELOW; 10].join(", ");
    let findings = judged(&experiment("", &ten), &close, true);
    assert!(findings.iter().all(|f| f.status == Status::Undecided));
    // The clearest is judged at 0.01/2, the other at 0.01: one step earlier it would not have been enough.
    let with_clear =
        format!(r#"{BELOW}, {{ says = "clear", left = "A.loss@end", is = "below", bound = 1e9 }}"#);
    let error_of = |t: f64| trials(10, |_| 0.0, move |k| t * error + spread(k));
    let both = judged(&experiment("", &with_clear), &error_of(3.4), true);
    assert_eq!([both[0].status, both[1].status], [Status::Holds; 2]);
    assert!((both[0].interval.unwrap().level - 0.99).abs() < 1e-12);
    assert!((both[1].interval.unwrap().level - 0.995).abs() < 1e-12);
    // Variants count together.
    let mut file = experiment("", BELOW);
    file.variants = vec![Variant::default(); 10];
    let variants: Vec<_> = file.variants.iter().map(|v| (v, &close[..])).collect();
    let all = judge(&file, &variants, true);
    assert!(all.iter().flatten().all(|f| f.status == Status::Undecided));
}

#[test]
fn equal_means_the_interval_within_a_margin_stated_before() {
    let near = r#"{ says = "n", left = "A.loss@end", is = "near", paper = 3.0, within = 0.2, reason = "rounding" }"#;
    let at = |mean: f64, spread: f64| trials(10, move |k| mean + spread * noise(k), |_| 0.0);
    assert_eq!(status(near, &at(3.1, 0.1)), Status::Holds);
    assert_eq!(status(near, &at(4.0, 0.1)), Status::Refuted);
    assert_eq!(status(near, &at(3.1, 2.0)), Status::Undecided);
    let refused = |from: &str, to: &str, why: &str| {
        let file = format!("{SMALL}\nexpect = [{}]", near.replace(from, to));
        let error = Experiment::parse("t/t", &file).unwrap_err();
        assert!(error.contains(why), "{error}");
    };
    refused(", within = 0.2", "", "relative tolerance");
    refused("within = 0.2", "margin = 0.5", "relative tolerance");
    refused(", reason = \"rounding\"", "", "needs a reason");
    refused("paper = 3.0", "bound = 3.0", "a part of a number that the paper prints");
    refused("paper = 3.0, within = 0.2", "bound = 3.0", "margin");
}

#[test]
fn other_rows_give_no_verdict_on_the_paper() {
    let clear = trials(10, |_| 1.0, |k| 2.0 + 0.1 * noise(k));
    let findings = judged(&experiment("", BELOW), &clear, true);
    assert_eq!(Verdict::of(&findings, Basis::Data), Verdict::Reproduces);
    assert_eq!(Verdict::of(&findings, Basis::OtherData), Verdict::OtherData);
    let look = judged(&experiment("", BELOW), &clear, false);
    assert_eq!(Verdict::of(&look, Basis::OtherData), Verdict::Preview);
    assert_eq!(Verdict::of(&[], Basis::OtherData), Verdict::NotRun);
}

#[test]
fn a_theorem_holds_only_after_a_search_of_enough_configurations() {
    let found = |configurations: u64, broken: u64| Searched {
        statement: "s".into(),
        says: "left <= right".into(),
        core: true,
        configurations,
        broken,
        worst: if broken > 0 { 0.3 } else { -0.1 },
        at: "dimension 1".into(),
    };
    let of = |each: u64, broken: u64| {
        let trial = Trial { searched: vec![found(each, 0)], ..Trial::default() };
        let mut all = vec![trial; 10];
        all[7].searched = vec![found(each, broken)];
        searched(&all, true)
    };
    assert_eq!(of(FEWEST / 10, 0)[0].status, Status::Holds);
    assert_eq!(of(FEWEST / 10 - 1, 0)[0].status, Status::Undecided);
    let refuted = of(FEWEST / 10, 1);
    assert_eq!((refuted[0].status, refuted[0].measured), (Status::Refuted, Some((0.3, 0.0))));
    assert_eq!(Verdict::of(&of(FEWEST / 10, 0), Basis::Search), Verdict::Reproduces);
    assert_eq!(Verdict::of(&refuted, Basis::Search), Verdict::Refuted);
    let clear = trials(10, |_| 1.0, |k| 2.0 + 0.1 * noise(k));
    let unsearched = judged(&experiment("", BELOW), &clear, true);
    assert_eq!(Verdict::of(&unsearched, Basis::Search), Verdict::Undecided);
}

const SMALL: &str = r#"
    title = "t"
    printed = "Table 1"
    claim = "c"
    kind = "identification"
    axes = { loss = "loss" }
    trials = { quick = 1, standard = 10, full = 10 }
    method = [{ name = "A", spec = {} }]
"#;

#[test]
fn a_logarithmic_figure_is_judged_by_ratios() {
    // Ten times below in every trial, at sizes over six decades.
    let decades =
        trials(10, |k| 10f64.powf(0.6 * k), |k| 10f64.powf(0.6 * k + 1.0 + 0.1 * noise(k)));
    let of = |figure: &str| judged(&experiment(figure, BELOW), &decades, true).remove(0);
    assert_eq!(of("").status, Status::Undecided);
    let logarithmic = of(r#"{ y = "loss", log = "y" }"#);
    assert_eq!(logarithmic.status, Status::Holds);
    let interval = logarithmic.interval.unwrap();
    assert_eq!(interval.scale, Scale::Log);
    assert!((0.05..0.1).contains(&interval.low) && (0.1..0.2).contains(&interval.high));
    // What has no logarithm is compared unchanged.
    let negative = trials(10, |_| -1.0, |_| 1.0);
    let file = experiment(r#"{ y = "loss", log = "y" }"#, BELOW);
    assert_eq!(judged(&file, &negative, true)[0].interval.unwrap().scale, Scale::Linear);
}

#[test]
fn one_trial_refutes_a_claim_about_every_run() {
    let never = r#"{ says = "n", left = "A.loss@end", is = "near", bound = 0.0, every = true }"#;
    assert_eq!(status(never, &trials(10, |_| 0.0, |_| 0.0)), Status::Holds);
    let once = trials(100, |k| if k == 77.0 { 1.0 } else { 0.0 }, |_| 0.0);
    assert_eq!(status(never, &once), Status::Refuted);
}

#[test]
fn a_rival_that_never_learned_is_no_rival() {
    let guarded = BELOW.replace("is =", "rival_below = -1.0, is =");
    assert_eq!(status(&guarded, &trials(10, |_| -20.0, |_| 0.0)), Status::Empty);
    assert_eq!(status(&guarded, &trials(10, |_| -20.0, |_| -10.0)), Status::Holds);
    let file = experiment("", &guarded);
    let findings = judged(&file, &trials(10, |_| -20.0, |_| 0.0), true);
    assert_eq!(Verdict::of(&findings, Basis::Data), Verdict::Undecided);
}

#[test]
fn the_core_claim_decides() {
    let above = BELOW.replace("core = true, ", "").replace("\"below\", right", "\"above\", right");
    let clear = trials(10, noise, |k| 9.0 + noise(k));
    let of =
        |expect: &str| Verdict::of(&judged(&experiment("", expect), &clear, true), Basis::Data);
    // What is beside the core claim fails, and is shown.
    assert_eq!(of(&format!("{BELOW}, {above}")), Verdict::Reproduces);
    let core_fails = format!(
        "{}, {}",
        BELOW.replace("core = true, ", ""),
        above.replace("left", "core = true, left")
    );
    assert_eq!(of(&core_fails), Verdict::Refuted);
    // Without a mark all of them are the core claim.
    assert_eq!(of(&format!("{}, {above}", BELOW.replace("core = true, ", ""))), Verdict::Refuted);
    // A core claim of two parts needs both.
    let far = above.replace("left", "core = true, left");
    assert_eq!(of(&format!("{BELOW}, {far}")), Verdict::Refuted);
}

#[test]
fn what_was_measured_is_said_with_its_unit() {
    let finding = &judged(&experiment("", BELOW), &trials(10, noise, noise), true)[0];
    assert_eq!(finding.quantity, "A: loss, nats; at the end");
    assert_eq!(
        status(&BELOW.replace("A.loss@end", "A.loss@0"), &trials(10, noise, noise)),
        Status::NotMeasured
    );
}
