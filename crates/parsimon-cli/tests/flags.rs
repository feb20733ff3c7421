//! Flags as people type them: numbers, underscores, the names of other programs, slips.

use crate::fixture::{Dir, stream};

const VW: &str = "1 |u a b |s c\n-1 |u b |s d\n1 |u a |s c d\n-1 |u b c |s d\n";

/// A folder with data of several kinds.
fn folder() -> Dir {
    let dir = Dir::new();
    let classes: String =
        (0..90).map(|i| format!("{} {}:1 9:0.5\n", i % 3 + 1, i % 3 + 1)).collect();
    dir.write("d.svm", stream(300)).write("d.vw", VW.repeat(30)).write("c.svm", classes);
    dir.write("u.csv", "a,my_label,b_c\n".to_owned() + &"1,1,x\n2,0,y\n".repeat(20));
    dir
}

/// Both commands must train the same model, byte for byte.
fn same(theirs: &str, ours: &str) {
    let dir = folder();
    dir.run(&format!("{theirs} -o a.psm --quiet")).ok();
    dir.run(&format!("{ours} -o b.psm --quiet")).ok();
    assert!(dir.read("a.psm") == dir.read("b.psm"), "{theirs}\n{ours}");
}

/// The command must fail as a mistake of usage, in one line that has these words.
fn refused(words: &str, expected: &[&str]) {
    let dir = folder();
    let error = dir.run(words).fails(2);
    assert!(expected.iter().all(|e| error.contains(e)), "{words}: {error}");
    assert!(error.starts_with("error:"), "{error}");
}

#[test]
fn whole_numbers_have_many_spellings() {
    same("train d.svm --limit 1e2", "train d.svm --limit 100");
    same("train d.svm --skip 2.5e1 --passes 2e0", "train d.svm --skip 25 --passes 2");
    same("train d.svm --shuffle 1_00 --seed 1e3", "train d.svm --shuffle 100 --seed 1000");
    same("train d.vw --bits 1e1", "train d.vw --bits 10");
    same("train d.svm --limit=1_00 --skip-bad 1e3", "train d.svm --limit 100");
    same(
        "train d.svm -a truncated-gradient --period 1e1",
        "train d.svm -a truncated-gradient --period 10",
    );
    let dir = folder();
    dir.run("train d.svm --checkpoint c.psc --checkpoint-every 1e2 --limit 2_00 --quiet").ok();
    let reported = |text: &str| {
        let error = dir.run(&format!("train d.svm --passes 1 --progress {text}")).fails(0);
        let rows = error.lines().filter(|line| line.split_whitespace().count() == 9);
        let rows = rows.filter_map(|line| line.split_whitespace().nth(3));
        rows.filter(|rows| rows.parse::<u64>().is_ok()).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(reported("1e2"), ["100", "200", "300"]);
}

#[test]
fn what_is_no_whole_number_is_refused_with_the_reason() {
    refused("train d.svm --limit 1.5", &["--limit", "1.5", "not a fraction"]);
    refused("train d.svm --limit 1e-3", &["1e-3", "not a fraction"]);
    refused("train d.svm --limit 1,000", &["such as 1000000, 1e6 or 1_000_000"]);
    refused("train d.svm --skip many", &["--skip", "such as 1000000, 1e6 or 1_000_000"]);
    refused("train d.svm --passes 0", &["--passes", "1 or more"]);
    refused("train d.svm --bits 1e3", &["--bits", "too large"]);
    refused("train d.vw --bits 40", &["--bits must be 1 to 31, got 40"]);
    refused("train d.svm --limit 1e99", &["too large"]);
}

#[test]
fn underscores_are_dashes() {
    same("train d.svm --learning_rate 0.3 --skip_bad 3", "train d.svm --rate 0.3");
    same("train d.vw --no_names", "train d.vw --no-names");
    same("train d.svm --no_bias --skip_bad=2", "train d.svm --no-bias");
    // The value of a flag is a value, whatever it looks like.
    same("train u.csv --label_column my_label", "train u.csv --label-column=my_label");
}

#[test]
fn flags_of_vowpal_wabbit_that_mean_the_same() {
    for (theirs, ours) in [
        ("--bit_precision 12", "--bits 12"),
        ("-b12", "-b 12"),
        ("--learning_rate 0.3", "--rate 0.3"),
        ("-l 0.3", "--rate 0.3"),
        ("-l0.3", "--rate 0.3"),
        ("--loss_function logistic", "--loss logistic"),
        ("--loss_function=hinge", "--loss hinge"),
        ("--loss_function squared", "--loss squared"),
        ("--loss_function quantile --quantile_tau 0.3", "--loss quantile --quantile 0.3"),
        ("--quadratic us", "-q us"),
        ("--cubic uus", "-q uus"),
        ("--interactions us", "-q us"),
        ("-a ftrl --l1 0.1 --l2 0.2", "-a ftrl --l1 0.1 --l2 0.2"),
        ("--noconstant", "--no-bias"),
        ("--holdout_off", ""),
        ("--ftrl --ftrl_alpha 0.2 --ftrl_beta 0.5", "-a ftrl --rate 0.2 --beta 0.5"),
        ("-a fobos --power_t 0.5", "-a fobos --schedule sqrt"),
        ("-a fobos --power_t=1", "-a fobos --schedule inverse"),
        ("-P 10", "--progress 10"),
        ("--examples 30", "--limit 30"),
        ("--shuffle --random_seed 3", "--shuffle --seed 3"),
        ("--epochs 2", "--passes 2"),
        ("--eta0 0.3", "--rate 0.3"),
    ] {
        same(&format!("train d.vw {theirs}"), &format!("train d.vw {ours}"));
    }
    same("train c.svm --oaa 3", "train c.svm --multiclass");
    same("train --data d.vw", "train d.vw");
    same("train -d d.vw", "train d.vw");
}

#[test]
fn files_by_the_names_of_vowpal_wabbit() {
    let dir = folder();
    dir.run("train d.vw --final_regressor a.psm --checkpoint a.psc --quiet").ok();
    // With a checkpoint there is one pass.
    dir.run("train d.vw -f b.psm --passes 1 --quiet").ok();
    assert!(dir.read("a.psm") == dir.read("b.psm"));
    dir.run("train d.vw --initial_regressor a.psc --skip 0 -o a.psm --quiet").ok();
    dir.run("train d.vw -i a.psc --skip 0 -o b.psm --quiet").ok();
    assert!(dir.read("a.psm") == dir.read("b.psm"));
    dir.run("train d.vw -p before.txt --quiet").ok();
    dir.run("train d.vw --predictions p.txt --quiet").ok();
    assert!(dir.read("p.txt") == dir.read("before.txt"));
    dir.run("predict a.psm d.vw --predictions p.txt").ok();
    dir.run("predict a.psm d.vw -p q.txt --link logistic").ok();
    assert!(dir.read("p.txt") == dir.read("q.txt"));
    let margins = dir.run("predict a.psm d.vw --link=identity").ok();
    assert_eq!(margins, dir.run("predict a.psm d.vw --as margin").ok());
    assert_eq!(
        dir.run("predict a.psm d.vw --binary").ok(),
        dir.run("predict a.psm d.vw --as class").ok()
    );
}

#[test]
fn flags_of_vowpal_wabbit_that_mean_nothing_here_name_what_does() {
    for (flags, expected) in [
        ("--testonly", "parsimon predict MODEL DATA"),
        ("-t", "parsimon evaluate MODEL DATA"),
        ("--cache_file x", "parsimon convert DATA -o FILE.psc"),
        ("-c", "parsimon convert"),
        ("--initial_t 1", "--rate"),
        ("--power_t 0.3", "--schedule"),
        ("--hash all", "--no-hash"),
        ("--link logistic", "--as probability"),
        ("--loss_function classic", "--loss with logistic"),
        ("--bfgs", "--passes"),
        ("--invert_hash x", "parsimon inspect"),
    ] {
        let flag = flags.split(' ').next().unwrap().replace('_', "-");
        refused(&format!("train d.vw {flags}"), &[&format!("there is no {flag} here: "), expected]);
        let lines = folder().run(&format!("train d.vw {flags}")).fails(2);
        assert_eq!(lines.lines().count(), 1, "{lines}");
    }
    let error = folder().run("train d.vw --ignore u").fails(1);
    assert!(error.contains("d.vw is vw and has no columns; leave out --ignore"), "{error}");
    refused("predict -i a.psm d.vw", &["give the model as the first argument"]);
}

#[test]
fn switches_of_other_programs_keep_their_meaning() {
    for (theirs, ours) in [
        ("--fit_intercept=false", "--no-bias"),
        ("--fit-intercept False", "--no-bias"),
        ("--fit_intercept true", ""),
        ("--fit_intercept=1", ""),
        ("--intercept=0", "--no-bias"),
        ("--bias=false", "--no-bias"),
        ("--noconstant=false", ""),
        ("--noconstant", "--no-bias"),
        ("--no-constant true", "--no-bias"),
        ("--no-intercept=False", ""),
        ("--validation-fraction 0.2", "--holdout 0.2"),
        ("--test_size 0.2", "--holdout 0.2"),
        ("--num_round 2", "--passes 2"),
        ("--num_boost_round=2", "--passes 2"),
        ("--max_iter 2", "--passes 2"),
        ("--n_jobs 2", "--threads 2"),
        ("--objective binary:logistic", "--loss logistic"),
    ] {
        same(&format!("train d.svm {theirs}"), &format!("train d.svm {ours}"));
    }
    for (theirs, expected) in [
        ("--fit_intercept=perhaps", "--fit-intercept is true or false"),
        ("--ftrl=false", "cannot be false here"),
        ("--holdout_off=false", "cannot be false here"),
        ("--model x", "-o MODEL writes a model, --from MODEL starts from one"),
        ("--model-file x", "-o MODEL writes a model, --from MODEL starts from one"),
        ("--alpha 0.1", "set the step with --rate, the penalty with --l1"),
        ("--gamma 0.1", "set the step with --rate, the penalty with --l1"),
        ("-a sgd --alpha 0.1", "sgd has no setting \"alpha\""),
        ("--l1_ratio 0.1", "--l1 and --l2"),
        ("--C 10", "a larger penalty is a smaller C"),
        ("-C 10", "a larger penalty is a smaller C"),
        ("--solver saga", "--algorithm NAME"),
        ("-s 6", "--algorithm NAME"),
        ("-B 1", "--no-bias"),
        ("-e 0.01", "--passes N"),
        ("-w1 2", "--class-weight"),
        ("--scale_pos_weight 5", "--class-weight"),
        ("--tol 1e-3", "--early-stop"),
        ("--early_stopping", "--early-stop PASSES"),
        ("--warm_start", "--resume FILE"),
        ("--average", "-a asgd"),
        ("--booster gblinear", "--algorithm NAME"),
        ("--max_depth 3", "models are linear"),
        ("--eval_metric auc", "parsimon evaluate"),
        ("--subsample 0.5", "--sample-negatives"),
    ] {
        refused(&format!("train d.svm {theirs}"), &[expected]);
    }
    let dir = folder();
    let error = dir.run("train d.svm --model x").fails(2);
    assert!(!dir.has("x"), "{error}");
    let error = dir.run("predict --model x d.svm").fails(2);
    assert!(error.contains("take the model as the first argument"), "{error}");
}

#[test]
fn flags_that_would_do_nothing_are_refused() {
    refused("train d.svm --shuffle 0", &["--shuffle", "1 or more"]);
    refused("train d.svm --seed 3", &["--seed is the seed of --shuffle"]);
    refused("train d.svm --seed 3 --no-shuffle", &["--seed is the seed of --shuffle"]);
    refused("train --ignore a b_c u.csv", &["there is no file b_c", "--ignore a,b_c"]);
    refused("train u.csv --categories a b_c", &["--categories a,b_c"]);
}

#[test]
fn a_suggestion_is_a_slip_away_or_not_made() {
    for (flag, suggestion) in [
        ("--limt", Some("--limit")),
        ("--pases", Some("--passes")),
        ("--algoritm", Some("--algorithm")),
        ("--frobnicate", None),
        ("--keep-it", None),
        ("--oo", None),
    ] {
        let error = folder().run(&format!("train d.vw {flag} 3")).fails(2);
        assert!(error.contains(&format!("unexpected argument '{flag}' found")), "{error}");
        match suggestion {
            Some(flag) => assert!(error.contains(&format!("'{flag}'")), "{error}"),
            None => assert!(!error.contains("tip:") && !error.contains("train --"), "{error}"),
        }
    }
    // Tasks of Vowpal Wabbit that are none of ours.
    for flag in ["--cb-adf", "--nn", "--lrq"] {
        let error = folder().run(&format!("train d.vw {flag} 3")).fails(2);
        assert!(error.contains(&format!("there is no {flag} here: models are linear")), "{error}");
    }
}
