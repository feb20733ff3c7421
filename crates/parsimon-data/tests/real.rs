//! Files of others, where they are at hand: counts as their collector published them.

#![allow(clippy::unwrap_used)] // A test that cannot go on should say so.

mod common;
mod needs;

use common::{Rows, read_inputs};
use needs::{shared, with_data};
use parsimon_data::{Format, Input, Labels, Options, Reading, Run, Space, scan_labels};

fn main() {
    needs::run(vec![
        with_data("a9a", &["libsvm/a9a.gz", "libsvm/a9a.t.gz"], a9a_has_its_published_counts),
        with_data("news20", &["libsvm/news20.bz2"], news20_has_its_published_counts),
        with_data("rcv1", &["libsvm/vw_rcv1_small.dat.gz"], rcv1_has_its_published_counts),
        with_data("avazu", &["ctr/avazu_8087.csv.gz"], avazu_is_read),
        with_data("criteo", &["ctr/criteo_head_7200.tsv.gz"], criteo_is_read),
        with_data("protein", &["regression/uci_protein.csv.gz"], protein_is_read),
        with_data("frappe", &["ctr/frappe_validation.libfm.gz"], frappe_is_read),
        with_data("movielens", &["libsvm/movielens_100k.tsv.gz"], movielens_is_read),
    ]);
}

fn read(name: &str, options: &Options) -> Rows {
    let (all, error) = read_inputs(&[Input::Path(shared(name))], options);
    assert_eq!(error, None);
    let threaded = Options { run: Run { threads: 2, ..options.run.clone() }, ..options.clone() };
    assert!(read_inputs(&[Input::Path(shared(name))], &threaded).0 == all);
    all
}

fn nonzeros(all: &Rows) -> usize {
    all.rows.iter().map(Vec::len).sum()
}

fn a9a_has_its_published_counts() {
    let all = read("libsvm/a9a.gz", &Options::default());
    assert_eq!((all.rows.len(), nonzeros(&all), all.largest), (32_561, 451_592, 123));
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 7841);
    // Labels are 0 and 1 in the test file.
    let all = read("libsvm/a9a.t.gz", &Options::default());
    assert_eq!((all.rows.len(), nonzeros(&all)), (16_281, 225_731));
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(-1.0)).count(), 12_435);
}

fn news20_has_its_published_counts() {
    let path = shared("libsvm/news20.bz2");
    let scan = scan_labels(&[path.into()], &Options::default(), 100).unwrap();
    assert_eq!(scan.labels.len(), 20);
    assert!(scan.labels.iter().all(|&(_, n)| (780..=800).contains(&n)));
    let labels = Labels::Classes(scan.labels.into_iter().map(|(label, _)| label).collect());
    let all = read("libsvm/news20.bz2", &Options::from(Reading { labels, ..Reading::default() }));
    assert_eq!((all.rows.len(), nonzeros(&all)), (15_935, 1_272_569));
}

fn rcv1_has_its_published_counts() {
    let all = read("libsvm/vw_rcv1_small.dat.gz", &Options::default());
    assert_eq!(all.rows.len(), 1000);
    assert_eq!(all.names.len(), 9738);
    let ids = Options::from(Reading { space: Some(Space::Ids), ..Reading::default() });
    let all = read("libsvm/vw_rcv1_small.dat.gz", &ids);
    assert_eq!((nonzeros(&all), all.largest), (77_739, 47_117));
}

// Hashes such as 957e303 look like numbers: the columns must be said to hold codes.
fn texts(from: u32, to: u32) -> Vec<String> {
    (from..=to).map(|i| i.to_string()).collect()
}

fn avazu_is_read() {
    let options = Options::from(Reading {
        ignore: vec!["id".into()],
        categories: texts(3, 24),
        ..Reading::default()
    });
    let all = read("ctr/avazu_8087.csv.gz", &options);
    assert_eq!(all.rows.len(), 8087);
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 1397);
}

fn criteo_is_read() {
    let options = Options::from(Reading { categories: texts(15, 40), ..Reading::default() });
    let all = read("ctr/criteo_head_7200.tsv.gz", &options);
    assert_eq!(all.rows.len(), 7200);
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(1.0)).count(), 1549);
}

fn protein_is_read() {
    let options = Options::from(Reading {
        label_column: Some("10".into()),
        labels: Labels::Real,
        ..Reading::default()
    });
    let all = read("regression/uci_protein.csv.gz", &options);
    assert_eq!((all.rows.len(), all.names.len()), (45_730, 9));
}

fn frappe_is_read() {
    let all = read("ctr/frappe_validation.libfm.gz", &Options::default());
    assert_eq!((all.rows.len(), nonzeros(&all)), (57_722, 577_220));
}

fn movielens_is_read() {
    let options = Options::from(Reading {
        format: Some(Format::Tsv),
        label_column: Some("3".into()),
        labels: Labels::Real,
        ..Reading::default()
    });
    let all = read("libsvm/movielens_100k.tsv.gz", &options);
    assert_eq!(all.labels.iter().filter(|&&y| y == Some(5.0)).count(), 21_201);
}
