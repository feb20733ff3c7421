//! Files of others, where they are at hand: counts as their collector published them.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

mod common;

use std::path::PathBuf;

use common::{Rows, read_inputs};
use parsimon_data::{Format, Input, Labels, Options, Space, scan_labels};

fn shared(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    path.exists().then_some(path)
}

fn read(name: &str, options: &Options) -> Option<Rows> {
    let (all, error) = read_inputs(&[Input::Path(shared(name)?)], options);
    assert_eq!(error, None);
    let threaded = Options { threads: 2, ..options.clone() };
    assert!(read_inputs(&[Input::Path(shared(name)?)], &threaded).0 == all);
    Some(all)
}

fn nonzeros(all: &Rows) -> usize {
    all.rows.iter().map(Vec::len).sum()
}

#[test]
fn a9a_has_its_published_counts() {
    let Some(all) = read("libsvm/a9a.gz", &Options::default()) else { return };
    assert_eq!((all.rows.len(), nonzeros(&all), all.largest), (32_561, 451_592, 123));
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 7841);
    // Labels are 0 and 1 in the test file.
    let Some(all) = read("libsvm/a9a.t.gz", &Options::default()) else { return };
    assert_eq!((all.rows.len(), nonzeros(&all)), (16_281, 225_731));
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(-1.0)).count(), 12_435);
}

#[test]
fn news20_has_its_published_counts() {
    let Some(path) = shared("libsvm/news20.bz2") else { return };
    let scan = scan_labels(&[path.into()], &Options::default(), 100).unwrap();
    assert_eq!(scan.labels.len(), 20);
    assert!(scan.labels.iter().all(|&(_, n)| (780..=800).contains(&n)));
    let labels = Labels::Classes(scan.labels.into_iter().map(|(label, _)| label).collect());
    let all = read("libsvm/news20.bz2", &Options { labels, ..Options::default() }).unwrap();
    assert_eq!((all.rows.len(), nonzeros(&all)), (15_935, 1_272_569));
}

#[test]
fn rcv1_in_vowpal_wabbits_text_has_its_published_counts() {
    let Some(all) = read("libsvm/vw_rcv1_small.dat.gz", &Options::default()) else { return };
    assert_eq!(all.rows.len(), 1000);
    assert_eq!(all.names.len(), 9738);
    let ids = Options { space: Some(Space::Ids), ..Options::default() };
    let all = read("libsvm/vw_rcv1_small.dat.gz", &ids).unwrap();
    assert_eq!((nonzeros(&all), all.largest), (77_739, 47_117));
}

#[test]
fn tables_of_clicks_are_read() {
    // Hashes such as 957e303 look like numbers: the columns must be said to hold codes.
    let texts = |from: u32, to: u32| (from..=to).map(|i| i.to_string()).collect();
    let options = Options {
        ignored_columns: vec!["id".into()],
        text_columns: texts(3, 24),
        ..Options::default()
    };
    if let Some(all) = read("ctr/avazu_8087.csv.gz", &options) {
        assert_eq!(all.rows.len(), 8087);
        assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 1397);
    }
    let options = Options { text_columns: texts(15, 40), ..Options::default() };
    if let Some(all) = read("ctr/criteo_head_7200.tsv.gz", &options) {
        assert_eq!(all.rows.len(), 7200);
        assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 1549);
    }
    let options =
        Options { label_column: Some("10".into()), labels: Labels::Real, ..Options::default() };
    if let Some(all) = read("regression/uci_protein.csv.gz", &options) {
        assert_eq!((all.rows.len(), all.names.len()), (45_730, 9));
    }
    if let Some(all) = read("ctr/frappe_validation.libfm.gz", &Options::default()) {
        assert_eq!((all.rows.len(), nonzeros(&all)), (57_722, 577_220));
    }
    let options = Options {
        format: Some(Format::Tsv),
        label_column: Some("3".into()),
        labels: Labels::Real,
        ..Options::default()
    };
    if let Some(all) = read("libsvm/movielens_100k.tsv.gz", &options) {
        assert_eq!(all.labels.iter().filter(|&&y| y == Some(5.0)).count(), 21_201);
    }
}
