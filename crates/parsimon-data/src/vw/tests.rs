//! Rows of Vowpal Wabbit's text, read and refused.

use crate::hash::{cross, feature, namespace, slot};
use crate::testing::{Rows, error, rows};
use crate::{Ask, Format, Labels, Options, Reading, Run, Space};

fn vw() -> Options {
    Options::from(Reading { format: Some(Format::Vw), ..Reading::default() })
}

fn read(text: &str) -> Rows {
    rows(text.as_bytes(), &vw()).unwrap()
}

fn named(all: &Rows, row: usize) -> Vec<(String, f64)> {
    let name = |j: u32| all.names.iter().find(|(k, _)| *k == j).unwrap().1.clone();
    let mut row: Vec<_> = all.rows[row].iter().map(|&(j, v)| (name(j), v)).collect();
    row.sort_by(|a, b| a.0.cmp(&b.0));
    row
}

fn list(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs.iter().map(|&(n, v)| (n.to_owned(), v)).collect()
}

#[test]
fn labels_weights_and_tags_stand_before_the_bar() {
    let all = read(concat!(
        "1 2.5 0.1 'first|a x\n",
        "-1 third| x\n",
        "| x\n",
        "\n",
        "  1\t0.5 |a x\r\n",
        "'only |a x\n",
        "0 |\n",
        "1|a x\n",
    ));
    let labels = [Some(1.0), Some(-1.0), None, Some(1.0), None, Some(-1.0), None];
    assert_eq!(all.labels, labels);
    assert_eq!(all.weights, [2.5, 1.0, 1.0, 0.5, 1.0, 1.0, 1.0]);
    let tags: [&[u8]; 7] = [b"first", b"third", b"", b"", b"only", b"", b"1"];
    assert_eq!(all.tags, tags);
}

/// Rows shorter and longer than what is taken over at a time, of words of all lengths, with and without numbers.
#[test]
fn long_rows_have_all_their_features_and_names() {
    let word = |k: usize| format!("{k}{}", &"abcdefghijkl"[..k % 13]);
    for len in [1, 127, 128, 129, 300, 1000] {
        let mut text = String::from("1");
        for k in 0..len {
            let bar = if k % 7 == 3 { "" } else { [" |a", " |long"][k % 2] };
            let number = if k % 3 == 0 { format!(":0.{}", k + 1) } else { String::new() };
            text += &format!("{bar} {}{number}", word(k));
        }
        let all = read(&format!("{text}\n"));
        let mut expected = Vec::new();
        let mut space = "";
        for k in 0..len {
            space = if k % 7 == 3 { space } else { ["a", "long"][k % 2] };
            let value = if k % 3 == 0 { format!("0.{}", k + 1).parse().unwrap() } else { 1.0 };
            expected.push((format!("{space}^{}", word(k)), value));
        }
        expected.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(named(&all, 0), expected, "{len}");
        assert_eq!(all.names.len(), len);
    }
}

#[test]
fn features_have_namespaces_scales_and_values() {
    let all = read("1 |user:2 age:0.5 city=Paris|ad x:1e-1 x:2 | plain z:0\n");
    assert_eq!(
        named(&all, 0),
        list(&[("ad^x", 2.1), ("plain", 1.0), ("user^age", 1.0), ("user^city=Paris", 2.0)])
    );
    let age = slot(feature(namespace(b"user"), b"age"), 22);
    assert!(all.rows[0].contains(&(age, 1.0)));
}

#[test]
fn ids_are_kept_without_hashing() {
    let options = Options { reading: Reading { space: Some(Space::Ids), ..vw().reading }, ..vw() };
    let all = rows(b"1 |f 3:2 1 3:1\n", &options).unwrap();
    assert_eq!(all.rows[0], [(1, 1.0), (3, 3.0)]);
    assert!(all.names.is_empty());
    assert_eq!(
        error(b"1 |f 3:2 word:1", &options),
        "x:1:10: feature index \"word\" is not an integer >= 0: without hashing, features are integers"
    );
}

#[test]
fn what_is_wrong_is_said_with_its_place() {
    for (text, expected) in [
        ("1 a b\n", "x:1:1: there is no bar (|) in \"1 a b\""),
        ("| a\n2 |a x\n", "x:2:1: label \"2\" is neither \"-1\" nor \"1\""),
        ("1 x |a x\n", "x:1:3: \"x\" is not a number"),
        ("1 -2 |a x\n", "x:1:3: importance weight \"-2\" is negative"),
        ("1 nan |a x\n", "x:1:3: \"nan\" is not a finite number"),
        ("1 1 y |a x\n", "x:1:5: \"y\" is not a number"),
        ("1 1 0 0 |a x\n", "x:1:7: \"0\" is one word too many before the bar"),
        ("1 1 0 0 0 |a x\n", "x:1:9: \"0\" is one word too many before the bar"),
        ("1 |a x:nan\n", "x:1:8: \"nan\" is not a finite number"),
        ("1 |a x:\n", "x:1:8: the number is missing"),
        ("1 |a x:1:2\n", "x:1:8: \"1:2\" is not a number"),
        ("1 |a :1\n", "x:1:6: feature \":1\" has no name"),
        ("1 |a:y x\n", "x:1:6: \"y\" is not a number"),
        ("1 |a:1e60 x:1e60\n", "x:1:11: \"x:1e60\" is beyond the largest magnitude, 1e100"),
    ] {
        assert_eq!(error(text.as_bytes(), &vw()), expected, "{text:?}");
    }
}

#[test]
fn interactions_are_products_with_names() {
    let interactions = vec![vec!["a".into(), "user".into()]];
    let all = rows(
        b"1 |user y:3 |ad x:2\n",
        &Options { reading: Reading { interactions, ..vw().reading }, ..vw() },
    )
    .unwrap();
    let both = list(&[("ad^x", 2.0), ("ad^x*user^y", 6.0), ("user^y", 3.0)]);
    assert_eq!(named(&all, 0), both);
    let (x, y) = (feature(namespace(b"ad"), b"x"), feature(namespace(b"user"), b"y"));
    assert!(all.rows[0].contains(&(slot(cross(x, y), 22), 6.0)));
    let interactions = vec![vec!["a".into(), "b".into()]];
    let ids = Options {
        reading: Reading { interactions, space: Some(Space::Ids), ..vw().reading },
        ..vw()
    };
    assert_eq!(
        error(b"1 |a 1\n", &ids),
        "interactions need hashed features: ids leave no room for products"
    );
}

#[test]
fn colliding_names_are_counted() {
    let options = Options {
        reading: Reading { space: Some(Space::Hashed { bits: 1 }), ..vw().reading },
        ..vw()
    };
    let all = rows(b"1 | a b c d a b\n", &options).unwrap();
    assert_eq!(all.names.len(), 4);
    assert!(all.rows[0].len() <= 2);
}

#[test]
fn labels_of_other_tasks_are_refused_by_name() {
    for (line, task) in [
        ("1:0.5:0.2 |a x", "a contextual bandit label"),
        ("1:2:0.5 3:0:0.5 |a x", "a contextual bandit label"),
        ("1:0.2 2:0.5 3:1 4:1 5:2 |a x", "a cost-sensitive label"),
        ("1,2,3 |a x", "a multilabel"),
        ("shared |a x", "a shared line of a multi-line example"),
        ("shared|a x", "a shared line of a multi-line example"),
        ("ccb slot 0:0.8:1.0 |a x", "a conditional contextual bandit label"),
        ("slates shared 0.8 |a x", "a slates label"),
    ] {
        for labels in [Labels::binary(), Labels::Any, Labels::Optional(Box::new(Labels::Real))] {
            let text = format!("1 |a x\n{line}\n");
            let words = error(
                text.as_bytes(),
                &Options { reading: Reading { labels, ..vw().reading }, ..vw() },
            );
            assert!(words.starts_with("x:2:1: \""), "{words}");
            assert!(words.contains(&format!("is {task}, which is not supported")), "{words}");
        }
    }
    let labels = Labels::Classes(vec!["a:b".into(), "c,d".into()]);
    let all = rows(
        b"a:b | x\nc,d | x\n",
        &Options { reading: Reading { labels, ..vw().reading }, ..vw() },
    )
    .unwrap();
    assert_eq!(all.labels, [Some(0.0), Some(1.0)]);
}

#[test]
fn an_interaction_of_a_namespace_that_never_occurs_is_an_error() {
    let text = b"1 |user y:3 |ad x:2\n-1 |ad z |city Rome\n";
    let read = |of: [&str; 2]| {
        let interactions = vec![of.map(str::to_owned).to_vec()];
        let options = Options {
            reading: Reading { interactions, ..vw().reading },
            ask: Ask { needs_namespaces: true, ..vw().ask },
            run: Run { threads: 3, ..vw().run },
            ..vw()
        };
        rows(text, &options)
    };
    for fine in [["user", "ad"], [":", "u"], ["c*", "a?"], ["a", ""]] {
        assert!(read(fine).is_ok(), "{fine:?}");
    }
    assert_eq!(
        read(["usr", "ad"]).unwrap_err(),
        "x: has no namespace \"usr\", did you mean \"user\"? The namespaces are user, ad, city (in an interaction)"
    );
    assert!(read(["x*", "ad"]).unwrap_err().contains("has no namespace \"x*\""));
}

#[test]
fn classes_may_be_words() {
    let labels = Labels::Classes(vec!["cat".into(), "dog".into()]);
    let all = rows(
        b"dog | a\ncat | b\n",
        &Options { reading: Reading { labels, ..vw().reading }, ..vw() },
    )
    .unwrap();
    assert_eq!(all.labels, [Some(1.0), Some(0.0)]);
}
