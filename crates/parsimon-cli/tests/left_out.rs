//! Builds without some features: what is left out is refused by name, and everything else works.
//!
//! `cargo xtask test` runs this file once without any feature.

use crate::fixture::{Dir, stream};

/// The features, as `Cargo.toml` has them.
const FEATURES: [(&str, bool); 5] = [
    ("audio", cfg!(feature = "audio")),
    ("columnar", cfg!(feature = "columnar")),
    ("lab", cfg!(feature = "lab")),
    ("serve", cfg!(feature = "serve")),
    ("zstd", cfg!(feature = "zstd")),
];

/// Expects a refusal that names what is missing, or anything else if the feature is in.
fn refused(dir: &Dir, words: &str, code: i32, lacks: &str, feature: &str) {
    let is_in = FEATURES.iter().any(|(name, is_in)| *name == feature && *is_in);
    let ran = dir.run(words);
    let is_named = ["with `--features ", "it with the feature "]
        .iter()
        .any(|how| ran.stderr.contains(&format!("this build {lacks}: build {how}{feature}")));
    assert_eq!(is_named, !is_in, "{words}: {}", ran.stderr);
    assert!(is_in || ran.code == code, "{words}: {}", ran.code);
}

#[test]
fn the_version_lists_the_features() {
    let dir = Dir::new();
    let text = dir.run("--version").ok();
    let lines: Vec<&str> = text.lines().collect();
    let listed = |start: &str| -> Vec<&str> {
        let line = lines.iter().find_map(|line| line.strip_prefix(start));
        line.map_or(Vec::new(), |names| names.split_whitespace().filter(|n| *n != "none").collect())
    };
    for (name, is_in) in FEATURES {
        assert_eq!(listed("features:").contains(&name), is_in, "{text}");
        assert_eq!(listed("left out:").contains(&name), !is_in, "{text}");
    }
    assert_eq!(listed("features:").len() + listed("left out:").len(), FEATURES.len(), "{text}");
    assert_eq!(dir.run("-V").ok().lines().count(), 1);
}

#[test]
fn commands_that_are_left_out_are_refused_by_name() {
    let dir = Dir::new();
    for (command, feature) in [
        ("cancel", "audio"),
        ("reproduce", "lab"),
        ("data", "lab"),
        ("serve", "serve"),
        ("log", "serve"),
        ("client", "serve"),
    ] {
        refused(
            &dir,
            &format!("{command} --help"),
            2,
            &format!("has no command {command}"),
            feature,
        );
    }
}

#[test]
fn files_that_are_left_out_are_refused_by_name() {
    let dir = Dir::new();
    dir.write("rows.svm", stream(200))
        .write("rows.parquet", "PAR1 and no more")
        .write("rows.arrow", "ARROW1");
    dir.write("rows.svm.zst", b"\x28\xb5\x2f\xfd and no more").write("signal.wav", "RIFF");
    dir.write("signal.csv", "1\n2\n3\n4\n");
    dir.run("train rows.svm -o model.psm --quiet").ok();
    refused(&dir, "train rows.parquet --quiet", 1, "reads no Parquet", "columnar");
    refused(&dir, "train rows.arrow --quiet", 1, "reads no Arrow", "columnar");
    refused(&dir, "predict model.psm rows.svm -o p.parquet", 1, "writes no Parquet", "columnar");
    refused(&dir, "train rows.svm.zst --quiet", 1, "reads no zstd", "zstd");
    let wav = "identify --reference signal.wav --observed signal.wav --taps 2";
    refused(&dir, wav, 2, "reads no WAV files", "audio");
    let wav = "identify --reference signal.csv --observed signal.csv --taps 2 -o path.wav";
    refused(&dir, wav, 2, "writes no WAV files", "audio");
    assert_eq!(dir.has("p.parquet"), cfg!(feature = "columnar"));
}

#[test]
fn what_is_always_there_works() {
    let dir = Dir::new();
    dir.write("rows.svm", stream(300)).write("signal.csv", "1\n2\n-1\n4\n0\n3\n");
    dir.run("train rows.svm -o model.psm --quiet").ok();
    assert_eq!(dir.run("predict model.psm rows.svm --quiet").ok().lines().count(), 300);
    dir.run("evaluate model.psm rows.svm").ok();
    dir.run("tune rows.svm -a ftrl -o best.psm --quiet").ok();
    dir.run("identify --reference signal.csv --observed signal.csv --taps 2 -o path.csv --quiet")
        .ok();
    dir.run("convert rows.svm -o rows.psc").ok();
    assert!(dir.has("best.psm") && dir.has("path.csv") && dir.has("rows.psc"));
}
