//! Command lines of Vowpal Wabbit. Predictions and losses that are given are those of Vowpal Wabbit 9.11.9 for the same words.

#![allow(clippy::unreadable_literal, reason = "predictions stand as Vowpal Wabbit prints them")]

use crate::fixture::Dir;

const ROWS: &str = "1 2 'a|user anna |site news sport:2
-1 'b|user ben |site news
1 1 0.5 'c|user anna |site shop :3
-1 0.5|user carl |site shop sport:1.5

1 'e|user anna |site news
-1 'f|user ben |site sport:0.25 12:2
1|user dora |site shop
 'h|user anna |site shop
-1 3|user carl |site news
1 |user anna |site kiosk:0.1
";

const CLASSES: &str = "1 | one two
2 | two three
3 | three four
1 2 | one
2 | two
3 1 'last| four five
1 | one three
";

fn rows() -> Dir {
    let dir = Dir::new();
    dir.write("train.vw", ROWS).write("classes.vw", CLASSES);
    dir
}

/// The numbers at the beginning of the lines of a file of predictions.
fn predicted(dir: &Dir, words: &str) -> Vec<f64> {
    dir.run(&format!("vw {words} -p p.txt --quiet")).ok();
    let text = String::from_utf8(dir.read("p.txt")).unwrap();
    text.lines().map(|line| line.split(' ').next().unwrap().parse().unwrap()).collect()
}

fn summary(dir: &Dir, words: &str) -> String {
    let ran = dir.run(&format!("vw {words}"));
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    ran.stderr
}

#[track_caller]
fn near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 2e-3, "{found:?}, expected {expected:?}");
    }
}

#[test]
fn the_default_update_predicts_what_vw_predicts() {
    let dir = rows();
    near(
        &predicted(&dir, "-d train.vw"),
        &[
            0.0, 0.378442, 0.731938, 0.301660, 0.200482, -0.181265, -0.132375, 0.182156, -0.114848,
            0.200074,
        ],
    );
    near(
        &predicted(&dir, "-d train.vw --loss_function logistic --link logistic -q us"),
        &[
            0.5, 0.597643, 0.684509, 0.607297, 0.639605, 0.480126, 0.508636, 0.631774, 0.500917,
            0.575780,
        ],
    );
    near(
        &predicted(
            &dir,
            "-d train.vw --loss_function quantile --quantile_tau 0.3 --min_prediction -0.5 --max_prediction 0.6",
        ),
        &[0.0, 0.5, 0.6, 0.398230, 0.267087, -0.275401, -0.259981, 0.200944, -0.300420, 0.178783],
    );
    near(
        &predicted(&dir, "-d train.vw --loss_function hinge --keep s --hash all"),
        &[
            0.0, 0.666667, 0.656557, 0.612623, 0.246033, 0.240108, 0.019672, 0.019672, 0.408751,
            -0.016037,
        ],
    );
    near(
        &predicted(&dir, "train.vw --sgd -l 0.1"),
        &[
            0.0, 0.461880, 0.815692, 0.810542, 0.285584, -0.078743, -0.189076, 0.112354, -0.066804,
            0.181486,
        ],
    );
}

#[test]
fn features_are_those_of_vw() {
    let dir = rows();
    for (words, expected) in [
        ("--affix +1u,-2s", [0.362573, 0.758684, 0.321303]),
        ("--interactions uss --ignore_linear u", [0.274360, 0.514404, -0.098995]),
        ("--redefine x:=s -q ux", [0.274360, 0.663748, 0.142325]),
        ("--classweight 1:3 --hash_seed 7", [0.456831, 0.847203, 0.371048]),
        ("-q :: --permutations", [0.246593, 0.667168, 0.235980]),
        ("--spelling u", [0.317704, 0.857412, 0.181852]),
    ] {
        let all = predicted(&dir, &format!("-d train.vw {words}"));
        near(&[all[1], all[2], all[9]], &expected);
    }
}

#[test]
fn other_updates_have_the_defaults_of_vw() {
    let dir = rows();
    near(
        &predicted(&dir, "--ftrl -d train.vw"),
        &[0.0, 0.8, 1.0, 0.784599, 0.396562, -0.384821, -0.512285, 0.004252, -0.301731, 0.305620],
    );
    let loss = |words: &str| {
        let text = summary(&dir, &format!("-d train.vw {words}"));
        let line = text.lines().find_map(|line| line.strip_prefix("average loss = ")).unwrap();
        line.to_owned()
    };
    assert_eq!(loss("--coin"), "0.999502");
    assert_eq!(loss("--pistol"), "1.111111");
    // The lowest loss of the held-out examples of a pass.
    assert_eq!(loss("--passes 5 -k -c --holdout_period 3"), "0.155061 h");
}

#[test]
fn classes_are_numbered_and_named_as_in_vw() {
    let dir = rows();
    dir.run("vw -d classes.vw --oaa 3 -p p.txt --quiet").ok();
    assert_eq!(dir.read("p.txt"), b"1\n1\n2\n1\n1\n3 last\n1\n");
    dir.run("vw -d classes.vw --oaa 3 --probabilities --loss_function logistic -p p.txt --quiet")
        .ok();
    let text = String::from_utf8(dir.read("p.txt")).unwrap();
    assert!(text.starts_with("1:0.333333 2:0.333333 3:0.333333\n1:0.44461"), "{text}");
    dir.write(
        "named.vw",
        CLASSES.replace("1 ", "cat ").replace("2 |", "dog |").replace("3 ", "bird "),
    );
    let error = dir.run("vw -d named.vw --oaa 3 --named_labels cat,dog").fails(2);
    assert!(error.contains("2 names, and --oaa has 3 classes"), "{error}");
    dir.write("named.vw", "cat | one\ndog | two\ncat | one\n");
    dir.run("vw -d named.vw --oaa 2 --named_labels cat,dog -p p.txt --quiet").ok();
    assert_eq!(dir.read("p.txt"), b"cat\ncat\ncat\n");
    let error = dir.run("vw -d classes.vw --oaa 2 --named_labels cat,dog").fails(1);
    assert!(
        error.contains("classes.vw:1: the label \"1\" is not one of --named_labels"),
        "{error}"
    );
    let error = dir.run("vw -d classes.vw --oaa 2").fails(1);
    assert!(error.contains("classes.vw:3: the class 3 is not among 1 to 2"), "{error}");
    dir.write("odd.vw", "-1 | one\n1 | two\n");
    let error = dir.run("vw -d odd.vw --oaa 2").fails(1);
    assert!(error.contains("odd.vw:1: -1 is not the number of a class"), "{error}");
}

#[test]
fn a_model_has_its_flags_and_its_state() {
    let dir = rows();
    let (first, second) = ROWS.split_at(ROWS.find("\n\n").unwrap() + 2);
    dir.write("first.vw", first).write("second.vw", second);
    for flags in ["-q us --ngram 2", "--ftrl --l1 0.1", "--coin", "--loss_function logistic -b 8"] {
        dir.run(&format!("vw -d train.vw {flags} -f whole.model --quiet")).ok();
        dir.run(&format!("vw -d first.vw {flags} -f half.model --quiet")).ok();
        // The flags of the model need not be typed again.
        dir.run("vw -d second.vw -i half.model -f both.model --quiet").ok();
        let predict = |model: &str| predicted(&dir, &format!("-t -d train.vw -i {model}"));
        assert_eq!(predict("whole.model"), predict("both.model"), "{flags}");
        assert_ne!(predict("whole.model"), predict("half.model"), "{flags}");
    }
    dir.run("vw -d train.vw -f w.model --predict_only_model --quiet").ok();
    dir.run("vw -d train.vw -f s.model --quiet").ok();
    assert!(dir.read("w.model").len() < dir.read("s.model").len());
    near(
        &predicted(&dir, "-t -d train.vw -i w.model"),
        &predicted(&dir, "-t -d train.vw -i s.model"),
    );
    // Other commands say what the file is.
    let error = dir.run("predict s.model train.vw").fails(1);
    assert!(error.contains("is a model of parsimon vw, not a model"), "{error}");
    dir.write("foreign.model", b"\x07\0\0\x009.11.9\0m");
    let error = dir.run("vw -t -d train.vw -i foreign.model").fails(1);
    assert!(error.contains("model files of Vowpal Wabbit cannot be read"), "{error}");
    let mut damaged = dir.read("s.model");
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    dir.write("damaged.model", damaged);
    dir.run("vw -t -d train.vw -i damaged.model").fails(1);
}

#[test]
fn weights_are_written_by_slot_and_by_name() {
    let dir = rows();
    dir.run("vw -d train.vw -q us --invert_hash i.txt --readable_model r.txt --quiet").ok();
    let names = String::from_utf8(dir.read("i.txt")).unwrap();
    // The slot of the constant is the same in every model of 18 bits.
    assert!(names.contains("\nConstant:116060:"), "{names}");
    assert!(names.contains("user^anna*site^news:"), "{names}");
    let slots = String::from_utf8(dir.read("r.txt")).unwrap();
    assert!(slots.contains("\n116060:") && slots.contains("options: --quadratic us\n"), "{slots}");
    let lines = dir.run("vw -d train.vw --audit --quiet").ok();
    assert!(lines.starts_with("0 a\n\t"), "{lines}");
    assert!(lines.contains("\tsite^sport:"), "{lines}");
    // A value without a name has the slot of its namespace.
    assert!(lines.contains("\tsite^:"), "{lines}");
}

#[test]
fn csv_files_have_a_header_of_namespaces() {
    let dir = rows();
    dir.write("d.csv", "_label;_tag;user|name;site|sport\n1;a;anna;2\n-1;b;ben;\n1;c;anna;0.5\n");
    dir.write("d.vw", "1 'a|user name:anna |site sport:2\n-1 'b|user name:ben\n1 'c|user name:anna |site sport:0.5\n");
    dir.run("vw --csv --csv_separator ; -d d.csv -p csv.txt --quiet").ok();
    dir.run("vw -d d.vw -p vw.txt --quiet").ok();
    assert_eq!(dir.read("csv.txt"), dir.read("vw.txt"));
    dir.write("bad.csv", "_label,a\n1,2,3\n");
    let error = dir.run("vw --csv -d bad.csv").fails(1);
    assert!(error.contains("bad.csv:2: 3 cells, and the header has 2"), "{error}");
}

#[test]
fn flags_are_served_ignored_with_a_reason_or_refused_by_name() {
    let dir = rows();
    let plain = predicted(&dir, "-d train.vw");
    let ignored =
        "-k -c --cache_file x.cache --onethread --preserve_performance_counters --save_resume";
    assert_eq!(predicted(&dir, &format!("-d train.vw {ignored}")), plain);
    assert_eq!(predicted(&dir, "--adaptive --normalized --invariant -d train.vw"), plain);
    let help = dir.run("vw --help").ok();
    let (served, rest) = help.split_once("Flags that are accepted and do nothing:").unwrap();
    let (nothing, refused) = rest.split_once("Flags that are refused:").unwrap();
    assert!(served.contains("--power_t POWER") && nothing.contains("-c, --cache "), "{help}");
    assert!(refused.contains("--csoaa K"), "{help}");
    for (words, why) in [
        ("--csoaa 3", "--csoaa is not served: parsimon learns numbers and classes"),
        ("--bfgs", "--bfgs is not served"),
        ("--svrg", "--svrg is not served"),
        ("--no_such_flag", "there is no flag --no_such_flag"),
        ("-q abc", "--quadratic must be 2 letters of namespaces, got \"abc\""),
        ("-b 40", "--bit_precision must be 1 to 31, got 40"),
        ("--loss_function expectile", "needs --expectile_q"),
        ("--ftrl --coin", "exclude each other"),
        ("-p train.vw", "train.vw"),
    ] {
        let error = dir.run(&format!("vw -d train.vw {words}")).fails(2);
        assert!(error.contains(why), "{words}: {error}");
    }
    let error = dir.run("vw --ftrl").fails(2);
    assert!(error.contains("no data"), "{error}");
    let error = dir.run("vw -d missing.vw").fails(1);
    assert!(error.contains("missing.vw"), "{error}");
}

#[test]
fn lines_that_cannot_be_read_are_named() {
    let dir = rows();
    for (line, why) in [
        ("x | a", "bad.vw:2: \"x\" is not a number"),
        ("1 -2 | a", "bad.vw:2: the importance -2 is negative"),
        ("1 2 3 4 | a", "bad.vw:2: a label of 4 words"),
    ] {
        dir.write("bad.vw", format!("1 | a\n{line}\n"));
        let error = dir.run("vw -d bad.vw").fails(1);
        assert!(error.contains(why), "{error}");
    }
    dir.write("odd.vw", "1 | a b:x\n1 |n:y a\n");
    let ran = dir.run("vw -d odd.vw");
    assert_eq!(ran.code, 0);
    assert!(ran.stderr.contains("odd.vw:2: malformed example"), "{}", ran.stderr);
    let error = dir.run("vw -d odd.vw --strict_parse").fails(1);
    assert!(error.contains("odd.vw:2: malformed example"), "{error}");
    // Values whose products overflow are left out, and nothing becomes infinite.
    dir.write("huge.vw", "1 |a x:1e30\n-1 |a x:1e30 y\n");
    near(&predicted(&dir, "-d huge.vw -q aa --noconstant"), &[0.0, 1.0]);
}

#[test]
fn standard_input_is_read_once() {
    let dir = rows();
    let ran = dir.run_with("vw -d - -p - --quiet", ROWS.as_bytes()).ok();
    dir.run("vw -d train.vw -p p.txt --quiet").ok();
    assert_eq!(ran.as_bytes(), dir.read("p.txt"));
    let error = dir.run_with("vw -d - --passes 2", ROWS.as_bytes()).fails(2);
    assert!(error.contains("standard input can be read only once"), "{error}");
}

/// The method of the registry is the update of the command, on the same features.
#[test]
fn the_method_nag_is_the_default_update() {
    let dir = Dir::new();
    let mut state = 1u64;
    let mut svm = String::new();
    let mut vw = String::new();
    for _ in 0..300 {
        let mut next = || {
            state = state * 16807 % 2147483647;
            state
        };
        let (j, k) = (1 + next() % 5, 6 + next() % 5);
        let (a, b) = ((next() % 100) as f64 / 10.0 + 0.1, (next() % 7) as f64 + 1.0);
        let y = if next() % 10 < j + u64::from(k == 7) * 4 { 1 } else { -1 };
        svm.push_str(&format!("{y} {j}:{a} {k}:{b}\n"));
        vw.push_str(&format!("{y} | {j}:{a} {k}:{b}\n"));
    }
    dir.write("d.svm", svm).write("d.vw", vw);
    dir.run("train d.svm -a nag --loss logistic --predictions ours.txt --quiet --no-shuffle").ok();
    let theirs = predicted(&dir, "-d d.vw --loss_function logistic --link logistic");
    let text = String::from_utf8(dir.read("ours.txt")).unwrap();
    let ours: Vec<f64> = text.lines().map(|line| line.parse().unwrap()).collect();
    near(&ours, &theirs);
}
