//! Input made to take all memory, under an allocator that fails beyond the budget.
//!
//! Every case runs with `--memory 64MB` and an allocator that fails beyond that and what the program takes without it
//! (`PARSIMON_FAULT_ALLOC`, see `src/allocation.rs`): a size that is not checked before it is allocated ends the process with a signal.
//! Cases that must be refused run once more with a budget that never refuses; the allocator must then end them, or the case
//! shows nothing.

#![cfg(all(debug_assertions, feature = "columnar"))]

use std::io::Write;
use std::sync::Arc;

use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use parsimon::data::arrow::array::{
    ArrayRef, Int64Array, NullArray, RecordBatch, RecordBatchOptions, StringArray,
};
use parsimon::data::arrow::datatypes::{DataType, Field, Schema};
use parsimon::data::arrow::ipc::writer::FileWriter;
use parsimon_files::container::{Container, Kind};
use serde_json::{Value, json};

use crate::fixture::{Dir, Ran, stream};

const BUDGET: usize = 64_000_000;
/// Buffers of a fixed size, stacks of parsers excluded; measured: below 20 MB.
const FIXED: usize = 40_000_000;
const FAR: &str = "1 4294967294:1\n-1 1:1\n";

fn run(dir: &Dir, words: &str, memory: &str) -> Ran {
    let mut command = dir.command(words);
    command.arg("--memory").arg(memory);
    command.env("PARSIMON_FAULT_ALLOC", (BUDGET + FIXED).to_string());
    command.output().unwrap().into()
}

/// The program ends with a result or a message, and not for want of memory.
fn survives(dir: &Dir, words: &str) -> Ran {
    let ran = run(dir, words, "64MB");
    assert!([0, 1, 2].contains(&ran.code), "{words}: {} {}", ran.code, ran.stderr);
    ran
}

/// The program refuses, with the amount and the way out.
fn is_refused(dir: &Dir, words: &str, parts: &[&str]) {
    let ran = survives(dir, words);
    assert!(ran.code > 0, "{words}: {}", ran.stderr);
    for part in parts.iter().chain(&["budget"]) {
        assert!(ran.stderr.contains(part), "{words}: {part:?} is not in {}", ran.stderr);
    }
}

/// Runs a command that would be ended by the allocator without the check.
fn refuses(dir: &Dir, words: &str, parts: &[&str]) {
    is_refused(dir, words, parts);
    let unchecked = run(dir, words, "1000000TB");
    // Some vectors grow by asking, and the failed allocation is an error.
    let is_error = ["out of memory", "memory allocation failed"].iter();
    let is_found = unchecked.code == -1 || is_error.clone().any(|e| unchecked.stderr.contains(e));
    assert!(is_found, "{words} would have fitted: {} {}", unchecked.code, unchecked.stderr);
}

fn algorithms(dir: &Dir) -> Vec<String> {
    let all: Value = serde_json::from_str(&dir.run("algorithms --json").ok()).unwrap();
    let names = all.as_array().unwrap().iter().map(|a| a["name"].as_str().unwrap().to_owned());
    names.collect()
}

#[test]
fn one_far_feature_with_every_method() {
    let dir = Dir::new();
    dir.write("far.svm", FAR);
    let mut names = algorithms(&dir);
    assert!(names.len() > 30, "{names:?}");
    names.extend(
        ["pda --alpha 1", "apa --order 2", "apfbs --alpha 1 --order 2", "fobos --penalty linf"]
            .map(str::to_owned),
    );
    for name in names {
        for flags in ["", "--precision f64 --no-bias", "--normalize", "--store index"] {
            let ran = survives(&dir, &format!("train far.svm -o m.psm -a {name} {flags}"));
            assert!(!ran.stderr.contains("panicked"), "{name} {flags}: {}", ran.stderr);
        }
    }
    for (flags, parts) in [
        ("papa", ["papa with 4294967294 features needs", "--bits"]),
        ("pnlms", ["pnlms with 4294967294 features needs", "--bits"]),
        ("pda --alpha 1", ["pda with 4294967294 features needs", "--bits"]),
        ("apa --order 2", ["apa with 4294967294 features needs", "--bits"]),
        ("rls", ["rls: the matrix", "csgd"]),
        ("dual-averaging --ball simplex-kl", ["4294967294 features needs", "--bits"]),
    ] {
        let words = format!("train far.svm -a {flags}");
        match flags {
            // Minutes without the check, or more than any budget has.
            "dual-averaging --ball simplex-kl" | "rls" => {
                let ran = survives(&dir, &words);
                assert!(parts.iter().all(|part| ran.stderr.contains(part)), "{}", ran.stderr);
            }
            _ => refuses(&dir, &words, &parts),
        }
    }
}

#[test]
fn sizes_by_flags() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    dir.write("d.vw", "1 | a b\n-1 | b c\n1 | a c\n-1 | c\n");
    dir.write("d.csv", "label,text\n1,a b c\n0,b c d\n1,a b\n0,c d\n");
    for words in [
        "train d.svm -a papa --dimension 18446744073709551615",
        "train d.vw --bits 63",
        "train d.vw --bits 32",
        "train d.svm -a apa --order 18446744073709551615",
        "train d.csv --texts text --ngrams 1000000",
        "train d.svm --shuffle 18446744073709551615",
        "tune d.svm --sweep l1=0..1:1000000000",
        "tune d.svm --sweep l1=0.1,0.2 --sweep rate=0.1,0.2",
        "identify --synthetic n=18446744073709551615",
        "train d.vw --interactions ::",
        "compare d.svm -a ftrl -a papa --dimension 4294967295",
        "compare d.vw --bits 31 -a ftrl -a sgd",
        "tune d.vw --bits 28 --sweep l1=0.1,0.2",
        "quickstart --rows 18446744073709551615 --limit 1",
        "train d.svm --checkpoint c.psc --checkpoint-every 18446744073709551615",
    ] {
        let ran = survives(&dir, words);
        assert!(!ran.stderr.contains("panicked"), "{words}: {}", ran.stderr);
    }
    refuses(&dir, "train d.svm -a papa --dimension 4294967295", &["papa with 4294967295 features"]);
    refuses(&dir, "train d.vw -a ftrl --bits 31", &["2^31 slots", "fewer --bits"]);
    refuses(&dir, "train d.vw --bits 28", &["2^28 slots", "fewer --bits"]);
    refuses(
        &dir,
        "identify --synthetic n=10,regressors=signal,samples=1000000000000",
        &["a signal of 1000000000000 samples"],
    );
    dir.write("spec.json", r#"{"algorithm": "papa", "dimension": 4294967295}"#);
    refuses(&dir, "train d.svm --spec spec.json", &["papa with 4294967295 features"]);
}

/// A table with two thousand million rows of nulls.
fn nulls(rows: usize) -> RecordBatch {
    let fields = ["label", "x"].map(|name| Field::new(name, DataType::Null, true));
    let columns = ["label", "x"].map(|_| Arc::new(NullArray::new(rows)) as ArrayRef);
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    let schema = Arc::new(Schema::new(fields.to_vec()));
    RecordBatch::try_new_with_options(schema, columns.to_vec(), &options).unwrap()
}

fn arrow_file(batch: &RecordBatch) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn tables_of_nulls() {
    let dir = Dir::new();
    let file = arrow_file(&nulls(1 << 31));
    assert!(file.len() < 2000, "{} bytes", file.len());
    dir.write("nulls.arrow", file);
    // The first rows show that there is no label.
    survives(&dir, "train nulls.arrow --limit 100000");
    survives(&dir, "schema nulls.arrow");
    survives(&dir, "train nulls.arrow --label-column label --kinds cell --limit 100000");
    dir.write("d.csv", "label,x\n1,2\n0,3\n1,4\n0,1\n1,3\n0,2\n");
    dir.run("train d.csv -o m.psm -a ftrl").ok();
    survives(&dir, "predict m.psm nulls.arrow -o p.txt --allow-unknown --limit 300000");
    let few = nulls(1 << 20);
    let mut writer = ArrowWriter::try_new(Vec::new(), few.schema(), None).unwrap();
    writer.write(&few).unwrap();
    dir.write("nulls.parquet", writer.into_inner().unwrap());
    survives(&dir, "predict m.psm nulls.parquet -o p.txt --allow-unknown");
}

#[test]
fn batches_are_sliced_and_rows_keep_their_numbers() {
    let dir = Dir::new();
    let rows = 10_000;
    let label: Vec<i64> = (0..rows).map(|i| i % 2).collect();
    let words: Vec<String> = (0..rows).map(|i| format!("w{}", i % 7)).collect();
    let table = RecordBatch::try_from_iter([
        ("label", Arc::new(Int64Array::from(label)) as ArrayRef),
        ("x", Arc::new(StringArray::from(words)) as ArrayRef),
    ])
    .unwrap();
    dir.write("t.arrow", arrow_file(&table));
    let json = dir.run("train t.arrow -a ftrl --json -").json();
    assert_eq!(json["rows"], rows);
}

fn gz(name: &str, dir: &Dir, write: impl Fn(&mut dyn Write)) {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    write(&mut encoder);
    dir.write(name, encoder.finish().unwrap());
}

#[test]
fn lines_without_end() {
    let dir = Dir::new();
    let block = vec![b'1'; 1 << 20];
    for (name, start) in [
        ("d.svm.gz", "1 1:1\n1 1:"),
        ("d.vw.gz", "1 | a\n-1 | b"),
        ("d.jsonl.gz", "{\"label\":1,\"a\":1}\n{\"label\":0,\"a\":"),
        ("d.csv.gz", "label,x\n1,2\n0,3\n1,4\n0,"),
        ("quoted.csv.gz", "label,x\n1,2\n0,3\n1,4\n0,\""),
        ("d.tsv.gz", "label\tx\n1\t2\n0\t3\n1\t4\n0\t"),
    ] {
        gz(name, &dir, |out| {
            out.write_all(start.as_bytes()).unwrap();
            (0..200).for_each(|_| out.write_all(&block).unwrap());
        });
        let mut flags = "";
        if ["csv", "tsv", "jsonl"].iter().any(|table| name.contains(table)) {
            refuses(&dir, &format!("train {name}"), &["reading the first", "--memory"]);
            flags = "--kinds cell";
        }
        refuses(
            &dir,
            &format!("train {name} -a ftrl {flags} --bits 18"),
            &["a line of more than", "--memory"],
        );
        survives(&dir, &format!("train {name} -a ftrl --threads 4"));
    }
    gz("header.csv.gz", &dir, |out| (0..200).for_each(|_| out.write_all(&block).unwrap()));
    survives(&dir, "train header.csv.gz");
    survives(&dir, "schema header.csv.gz");
}

#[test]
fn rows_of_millions_of_features() {
    let dir = Dir::new();
    for (name, start, part) in [("wide.vw.gz", "1 |", " a"), ("wide.svm.gz", "1", " 1:1")] {
        gz(name, &dir, |out| {
            out.write_all(start.as_bytes()).unwrap();
            let parts = part.repeat(1 << 16);
            (0..160).for_each(|_| out.write_all(parts.as_bytes()).unwrap());
            out.write_all(b"\n").unwrap();
        });
        refuses(
            &dir,
            &format!("train {name} -a ftrl --loss squared --bits 18"),
            &["a line of more than"],
        );
    }
    for rows in [1, 2] {
        gz("columns.csv.gz", &dir, |out| {
            for _ in 0..rows {
                out.write_all(b"1").unwrap();
                let cells = ",2".repeat(1 << 16);
                (0..4).for_each(|_| out.write_all(cells.as_bytes()).unwrap());
                out.write_all(b"\n").unwrap();
            }
        });
        is_refused(&dir, "train columns.csv.gz", &["a table of 262145 columns", "svmlight"]);
    }
    // Forty lines that fit one by one and not together.
    gz("long.vw.gz", &dir, |out| {
        for line in 0..40 {
            let words: String =
                (0..60_000).map(|k| format!(" w{}", (k * 7 + line) % 1000)).collect();
            writeln!(out, "{} |{words}", 2 * (line % 2) - 1).unwrap();
        }
    });
    for threads in [1, 4] {
        let ran =
            survives(&dir, &format!("train long.vw.gz -a ftrl --bits 18 --threads {threads}"));
        assert_eq!(ran.code, 0, "{}", ran.stderr);
    }
}

#[test]
fn names_and_features_that_never_repeat() {
    let dir = Dir::new();
    gz("names.vw.gz", &dir, |out| {
        for row in 0..1_200_000u32 {
            writeln!(out, "{} | word_number_{row} other_{row}", 2 * (row as i32 % 2) - 1).unwrap();
        }
    });
    refuses(
        &dir,
        "train names.vw.gz -a ftrl --bits 18",
        &["names of features needs", "--no-names"],
    );
    assert_eq!(survives(&dir, "train names.vw.gz -a ftrl --bits 18 --no-names").code, 0);
    gz("ids.svm.gz", &dir, |out| {
        for row in 0..700_000u32 {
            writeln!(out, "{} {}:1", 2 * (row as i32 % 2) - 1, 100_000_000 + row).unwrap();
        }
    });
    for method in ["ftrl", "auto", "csgd", "sgd --normalize"] {
        is_refused(
            &dir,
            &format!("train ids.svm.gz -a {method} -o m.psm"),
            &["more features needs", "--bits"],
        );
        assert!(!dir.has("m.psm"));
    }
    let words = "train ids.svm.gz -a ftrl --bits 18 --no-names --shuffle 18446744073709551615";
    is_refused(&dir, words, &["rows to be shuffled", "a smaller --shuffle"]);
    is_refused(
        &dir,
        "train ids.svm.gz -a ftrl --bits 18 --no-names --regret",
        &["a list of all rows", "--regret"],
    );
    dir.write("array.svm", "1 60000000:1\n-1 1:1\n");
    let parts = ["an array up to feature 60000000", "--store index"];
    refuses(&dir, "train array.svm -a ftrl --loss logistic", &parts);
    assert_eq!(survives(&dir, "train array.svm -a ftrl --store index").code, 0);
}

#[test]
fn what_was_learned_can_be_saved() {
    let dir = Dir::new();
    gz("full.vw.gz", &dir, |out| {
        for row in 0..120_000u32 {
            write!(out, "{} |", 2 * (row as i32 % 2) - 1).unwrap();
            (0..8).for_each(|k| write!(out, " f{}", row * 8 + k).unwrap());
            out.write_all(b"\n").unwrap();
        }
    });
    // Nearly all slots are in use, and the budget is just enough.
    for flags in ["-a ftrl --l1 0", "-a sgd --l1 0 --precision f64", "-a ftrl --l1 0 --normalize"] {
        let words = format!(
            "train full.vw.gz {flags} --bits 18 --no-names -o m.psm --checkpoint c.psc --checkpoint-every 20000"
        );
        let ran = survives(&dir, &words);
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        let ran = survives(&dir, "train full.vw.gz --resume c.psc --skip 0 --no-names -o n.psm");
        assert_eq!(ran.code, 0, "{words}: {}", ran.stderr);
        assert_eq!(survives(&dir, "predict m.psm full.vw.gz -o p.txt").code, 0);
    }
}

/// A file of ours with another value in its header, and the checksum repaired.
fn forged(file: &[u8], kind: Kind, path: &str, value: Value) -> Vec<u8> {
    let mut container = Container::from_bytes(file, kind).unwrap();
    let (parent, key) = path.rsplit_once('/').unwrap();
    if let Some(parent) = container.about.pointer_mut(parent) {
        parent[key] = value;
    }
    container.to_bytes(kind)
}

#[test]
fn files_that_promise_too_much() {
    let dir = Dir::new();
    dir.write("d.svm", stream(200));
    dir.write("d.vw", "1 | a b\n-1 | b c\n1 | a c\n-1 | c\n");
    dir.run("train d.svm -a papa --checkpoint c.psc -o m.psm").ok();
    dir.run("train d.vw -a ftrl --checkpoint h.psc -o h.psm").ok();
    let (dense, hashed) = (dir.read("c.psc"), dir.read("h.psc"));
    for huge in [json!(4_294_967_294u32), json!(u64::MAX), json!(1e300), json!(1_000_000_000)] {
        for (file, path) in [
            (&dense, "/settings/dimension"),
            (&dense, "/reading/found/dimension"),
            (&dense, "/reading/bits"),
            (&hashed, "/reading/bits"),
            (&hashed, "/reading/found/rows"),
        ] {
            dir.write("f.psc", forged(file, Kind::Checkpoint, path, huge.clone()));
            survives(&dir, "train d.svm --resume f.psc -o n.psm");
        }
        for path in ["/reading/bits", "/reading/found/dimension", "/settings/dimension"] {
            for model in ["m.psm", "h.psm"] {
                dir.write("f.psm", forged(&dir.read(model), Kind::Model, path, huge.clone()));
                survives(&dir, "predict f.psm d.svm -o p.txt");
                survives(&dir, "inspect f.psm");
            }
        }
    }
    // One feature far out asks for an array up to it.
    dir.write("near.svm", "1 3:1\n-1 1:1\n");
    dir.write("far.svm", "1 60000000:1\n-1 1:1\n");
    dir.run("train far.svm -a ftrl --loss logistic --l1 0 --checkpoint far.psc -o far.psm").ok();
    refuses(&dir, "train near.svm --resume far.psc --loss logistic", &["far.psc", "--memory"]);
    // A model's weights are then found through an index.
    assert_eq!(survives(&dir, "predict far.psm far.svm -o p.txt").code, 0);
    let bits31 = forged(&hashed, Kind::Checkpoint, "/reading/bits", json!(31));
    dir.write("f.psc", bits31);
    survives(&dir, "train d.vw --resume f.psc -o n.psm");
    // A file that is large and empty.
    std::fs::File::create(dir.path("hole.psm")).unwrap().set_len(1 << 40).unwrap();
    for words in ["predict hole.psm d.svm", "inspect hole.psm", "train d.svm --resume hole.psm"] {
        let ran = survives(&dir, words);
        assert!(ran.stderr.contains("reading the file needs 3.3 TB"), "{words}: {}", ran.stderr);
    }
    refuses(&dir, "train d.svm --spec hole.psm", &["reading the file needs"]);
}

#[test]
fn the_amount_is_read() {
    let dir = Dir::new();
    dir.write("d.svm", stream(50));
    assert_eq!(dir.run("train d.svm --memory 512MiB").code, 0);
    assert_eq!(dir.run("--memory 1.5GB train d.svm").code, 0);
    for bad in ["4", "4XB", "-1GB", "nan", "GB"] {
        let words = dir.run(&format!("train d.svm --memory={bad}")).fails(2);
        assert!(words.contains("--memory"), "{words}");
    }
}
