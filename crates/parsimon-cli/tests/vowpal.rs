//! Vowpal Wabbit's text and flags: interactions by wildcard, base values, labels of other tasks.

use crate::fixture::Dir;

const ROWS: &str = "1 |user anna |ad x:2 |city Rome\n-1 |user bert |ad y |city Oslo\n";

/// The products among the features of a model.
fn products(dir: &Dir, words: &str) -> Vec<String> {
    dir.run(&format!("train {words} -a ftrl --l1 0 --quiet -o m.psm")).ok();
    let weights = dir.run("inspect m.psm --weights tsv").ok();
    let names = weights.lines().filter_map(|line| line.split('\t').find(|word| word.contains('*')));
    let mut names: Vec<_> = names.map(str::to_owned).collect();
    names.sort();
    names
}

#[test]
fn wildcards_and_patterns_select_namespaces() {
    let dir = Dir::new();
    dir.write("d.vw", ROWS.repeat(10));
    let all = products(&dir, "d.vw -q ::");
    assert_eq!(all.len(), 12, "{all:?}");
    assert!(all.contains(&"user^anna*user^anna".to_owned()), "{all:?}");
    let of_ad = products(&dir, "d.vw -q a:");
    assert_eq!(of_ad.len(), 6, "{of_ad:?}");
    assert_eq!(
        products(&dir, "d.vw --interactions us*,c?ty"),
        ["user^anna*city^Rome", "user^bert*city^Oslo"]
    );
    let rows: String =
        (0..30).map(|i| format!("{},{},{},{}\n", i % 3, i % 4, i % 5, i % 2)).collect();
    dir.write("d.csv", format!("c1,c2,d1,label\n{rows}"));
    assert_eq!(products(&dir, "d.csv --interactions c*,d*"), ["c1*d1", "c2*d1"]);
    assert_eq!(products(&dir, "d.csv -q :: --ignore c2"), ["c1*c1", "c1*d1", "d1*d1"]);
}

#[test]
fn a_namespace_that_never_occurs_is_named_with_the_nearest() {
    let dir = Dir::new();
    dir.write("d.vw", ROWS.repeat(10));
    let row = |y: i32| {
        format!("{{\"label\": {y}, \"user\": {{\"age\": 3}}, \"city\": {{\"Rome\": 1}}}}\n")
    };
    dir.write("d.jsonl", (row(1) + &row(0)).repeat(10));
    dir.write("d.csv", "user,city,label\n".to_owned() + &"a,b,1\nc,d,0\n".repeat(10));
    for file in ["d.vw", "d.jsonl", "d.csv"] {
        for words in ["--interactions usr,city", "-q cz", "--interactions x*,city"] {
            let error = dir.run(&format!("train {file} {words} -a ftrl --quiet -o n.psm")).fails(1);
            assert!(error.contains("(in an interaction)"), "{file} {words}: {error}");
            assert_eq!(error.lines().count(), 1, "{error}");
            assert!(!dir.path("n.psm").exists());
            // A table of JSON has the columns user.age and city.Rome.
            if words.contains("usr") && file != "d.jsonl" {
                assert!(error.contains("did you mean \"user\"?"), "{error}");
            }
        }
    }
    // A model is judged on rows that may lack a namespace.
    dir.run("train d.vw --interactions user,city -a ftrl --quiet -o m.psm").ok();
    dir.write("few.vw", "1 |ad x\n-1 |user anna\n");
    dir.run("predict m.psm few.vw").ok();
    dir.run("evaluate m.psm few.vw").ok();
}

#[test]
fn base_values_are_learned_and_predicted_with() {
    let dir = Dir::new();
    // The base value says everything: nothing is left to learn.
    let known: String = (0..200).map(|i| format!("{} 1 {} |f a b\n", i % 7, i % 7)).collect();
    dir.write("known.vw", &known);
    for method in ["-a ftrl --l1 0", "-a sgd", "-a ftrl --normalize", ""] {
        dir.run(&format!("train known.vw {method} --loss squared --quiet -o m.psm")).ok();
        let margins = dir.run("predict m.psm known.vw --as margin").ok();
        for (i, line) in margins.lines().enumerate() {
            let margin: f64 = line.parse().unwrap();
            assert!((margin - (i % 7) as f64).abs() < 1e-6, "{method} row {i}: {line}");
        }
    }
    let shown = dir.run("evaluate m.psm known.vw --json -").json();
    assert!(shown.to_string().contains("mse"), "{shown}");
    let refused = dir.run("train known.vw -a rls --loss squared --quiet").fails(2);
    assert!(
        refused.contains("known.vw, row 2: a base value") && refused.contains("ftrl"),
        "{refused}"
    );
    let several: String = (0..30).map(|i| format!("{} 1 0.5 |f a\n", 1 + i % 3)).collect();
    dir.write("several.vw", several);
    let refused = dir.run("train several.vw -a ftrl --multiclass --quiet").fails(1);
    assert!(refused.contains("several.vw:1:5: base value \"0.5\""), "{refused}");
    let refused = dir.run("convert known.vw -o known.psc").fails(1);
    assert!(refused.contains("cannot hold base values"), "{refused}");
}

#[test]
fn labels_of_other_tasks_and_groups_are_refused() {
    let dir = Dir::new();
    for (name, text, task) in [
        ("cb.vw", "1:0.5:0.2 |f a\n", "contextual bandit"),
        ("cs.vw", "1:0.2 2:0.5 |f a\n", "cost-sensitive"),
        ("ml.vw", "1,2,3 |f a\n", "multilabel"),
        ("adf.vw", "shared |f a\n0:1:0.5 |g b\n", "shared line"),
        ("ccb.vw", "ccb shared |f a\nccb action |g b\n", "conditional contextual bandit"),
        ("slates.vw", "slates shared 0.8 |f a\n", "slates"),
        ("rank.svm", "1 qid:1 1:1\n0 qid:1 2:1\n", "ranking"),
    ] {
        dir.write(name, text.repeat(5));
        for command in ["train", "compare"] {
            let error = dir.run(&format!("{command} {name} --quiet")).fails(1);
            assert!(error.contains(&format!("{name}:1:")) && error.contains(task), "{error}");
            assert!(error.contains("not supported"), "{error}");
        }
    }
}
