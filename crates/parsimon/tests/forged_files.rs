//! Files with good checksums and bad contents: refused with the file and the field, or harmless. Nothing panics, and no number that
//! is not finite gets into a learner.

use crate::common;

use common::{bounded_family, family, implicit_family, ones, projecting_family, trainer};
use parsimon::error::FormatErrorKind;
use parsimon::rows::{Chunk, Repeats};
use parsimon::settings::Precision;
use parsimon::workspace::StateWriter;
use parsimon::{LearnerOptions, Model, Spec, Trainer};
use parsimon_files::container::{Container, Kind};
use serde_json::{Value, json};

/// A checkpoint of each method, with the rows it can learn from.
fn checkpoints() -> Vec<(Value, Vec<u8>)> {
    let chunk = ones(5, 12, 6);
    let more = [
        json!({"algorithm": "multikernel-pda", "kernel": "gaussian", "variances": [1]}),
        json!({"algorithm": "auto"}),
        json!({"algorithm": "sgd", "normalize": true}),
        json!({"algorithm": "ftrl", "loss": "squared", "normalize": true}),
        json!({"algorithm": "ftrl", "class_weight": "balanced"}),
    ];
    let all = [family(), bounded_family(), implicit_family(), projecting_family(), more.to_vec()];
    let mut checkpoints = Vec::new();
    for spec in all.concat() {
        let precision = [Precision::F32, Precision::F64][checkpoints.len() % 2];
        let mut trainer = trainer(&spec, precision);
        trainer.learn(&chunk, &mut |_| {}).unwrap();
        checkpoints.push((spec, trainer.checkpoint()));
    }
    checkpoints
}

/// Looks at what a forged checkpoint became: an error that names a field, or a learner that goes on.
fn check(bytes: &[u8], field: Option<&str>, about: &dyn Fn() -> String) -> bool {
    match Trainer::from_checkpoint(bytes) {
        Err(e) => {
            let words = e.to_string();
            assert!(words.starts_with("the checkpoint: cannot be used: "), "{words}; {}", about());
            if let Some(field) = field {
                assert!(words.contains(&format!("{field}: ")), "{words}; {}", about());
            }
            true
        }
        Ok(mut trainer) => {
            let mut out = StateWriter::new();
            trainer.online().save(&mut out);
            assert!(out.is_finite(), "{}", about());
            // Whatever it learns, it learns without a panic.
            let _ = trainer.learn(&ones(6, 5, 12), &mut |_| {});
            let _ = trainer.model();
            false
        }
    }
}

#[test]
fn every_number_of_a_state() {
    let bad: [&[u8]; 4] = [
        &f64::NAN.to_le_bytes(),
        &f64::NEG_INFINITY.to_le_bytes(),
        &f32::INFINITY.to_le_bytes(),
        &[0xFF; 4],
    ];
    for (spec, good) in checkpoints() {
        let container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
        let state = container.section("state").to_vec();
        let mut refused = 0;
        for at in (0..state.len()).step_by(4) {
            for number in bad {
                let Some(place) = at.checked_add(number.len()).filter(|end| *end <= state.len())
                else {
                    continue;
                };
                let mut forged = state.clone();
                forged[at..place].copy_from_slice(number);
                let mut container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
                container.replace("state", forged);
                let bytes = container.to_bytes(Kind::Checkpoint);
                let about = || format!("{spec} byte {at} {number:?}");
                refused += usize::from(check(&bytes, Some("state"), &about));
            }
        }
        assert!(refused > 0, "{spec}");
        for bytes in [&state[..state.len() - 1], &[&state[..], &[0]].concat()] {
            let mut container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
            container.replace("state", bytes.to_vec());
            let bytes = container.to_bytes(Kind::Checkpoint);
            assert!(check(&bytes, Some("state"), &|| spec.to_string()), "{spec}");
        }
    }
}

/// Every leaf of a JSON value, by its path.
fn leaves(value: &Value, path: String, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            map.iter().for_each(|(k, v)| leaves(v, format!("{path}/{k}"), out));
        }
        Value::Array(all) => {
            all.iter().enumerate().for_each(|(k, v)| leaves(v, format!("{path}/{k}"), out));
        }
        _ => out.push(path),
    }
}

fn strange() -> [Value; 8] {
    let huge = json!(u64::MAX);
    [json!(null), json!(-1), json!(1e300), huge, json!(u32::MAX), json!("x"), json!([]), json!({})]
}

#[test]
fn every_field_of_a_header() {
    for (spec, good) in checkpoints().into_iter().step_by(20) {
        let container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
        let mut paths = Vec::new();
        leaves(&container.about, String::new(), &mut paths);
        for path in paths {
            for value in strange() {
                let mut container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
                *container.about.pointer_mut(&path).unwrap() = value.clone();
                let bytes = container.to_bytes(Kind::Checkpoint);
                check(&bytes, None, &|| format!("{spec} {path} {value}"));
            }
        }
    }
}

fn model() -> Model {
    let mut chunk = Chunk::new();
    for i in 0..40u32 {
        chunk.push_feature(1 + i % 5, 1.0);
        chunk.finish_row(Some(f64::from(i % 2) * 2.0 - 1.0), 1.0, Repeats::Refuse).unwrap();
    }
    let mut trainer = trainer(&json!({"algorithm": "sgd"}), Precision::F64);
    trainer.note_names([(1, "one"), (2, "two")].into_iter().collect());
    trainer.learn(&chunk, &mut |_| {}).unwrap();
    trainer.model()
}

#[test]
fn every_section_of_a_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("forged.psm");
    let good = model().to_bytes();
    let whole =
        |name: &str| Container::from_bytes(&good, Kind::Model).unwrap().section(name).to_vec();
    let mut forged: Vec<(&str, Vec<u8>)> = Vec::new();
    for name in ["indices.0", "weights.0", "names.slots", "names.ends", "names.text"] {
        let bytes = whole(name);
        assert!(!bytes.is_empty(), "{name}");
        forged.push((name, bytes[..bytes.len() - 1].to_vec()));
        forged.push((name, [&bytes[..], &[0]].concat()));
        forged.push((name, [&[0xFF; 8], &bytes[8.min(bytes.len())..]].concat()));
    }
    for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let bytes = whole("weights.0");
        forged.push(("weights.0", [&number.to_le_bytes(), &bytes[8..]].concat()));
    }
    let ids = whole("indices.0");
    forged.push(("indices.0", [&ids[4..8], &ids[..4], &ids[8..]].concat()));
    for (name, bytes) in forged {
        let mut container = Container::from_bytes(&good, Kind::Model).unwrap();
        container.replace(name, bytes.clone());
        std::fs::write(&path, container.to_bytes(Kind::Model)).unwrap();
        let error = Model::load(&path).unwrap_err();
        assert_eq!(error.kind(), FormatErrorKind::Contents);
        let words = error.to_string();
        let part = name.split('.').next().unwrap();
        assert!(words.contains("forged.psm: cannot be used: "), "{words}");
        let known = [part, "weights", "names"].iter().any(|part| words.contains(part));
        assert!(known, "{name} {bytes:?}: {words}");
    }
    for (path, value) in [
        ("/heads/0/bias", json!(null)),
        ("/heads", json!([])),
        ("/provenance/constant", json!([1.0, 2.0, 3.0])),
        ("/reading/bits", json!(60)),
        ("/precision", json!("f8")),
    ] {
        let mut container = Container::from_bytes(&good, Kind::Model).unwrap();
        *container.about.pointer_mut(path).unwrap() = value;
        let words = Model::from_bytes(&container.to_bytes(Kind::Model)).unwrap_err().to_string();
        let field = path.split('/').nth(1).unwrap();
        assert!(words.contains(&format!("cannot be used: {field}: ")), "{path}: {words}");
    }
}

#[test]
fn a_stated_size_allocates_nothing() {
    for (field, spec) in [
        (
            "dimension",
            json!({"algorithm": "apa", "dimension": 12, "order": 2, "loss": "projection"}),
        ),
        ("dimension", json!({"algorithm": "rls", "dimension": 12, "loss": "squared"})),
    ] {
        let mut trainer = trainer(&spec, Precision::F32);
        trainer.learn(&ones(5, 30, 12), &mut |_| {}).unwrap();
        let good = trainer.checkpoint();
        for size in [20_000, u32::MAX] {
            let mut container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
            container.about["settings"][field] = size.into();
            let bytes = container.to_bytes(Kind::Checkpoint);
            let words = Trainer::from_checkpoint(&bytes).err().unwrap().to_string();
            assert!(words.contains("state: dimension"), "{words}");
        }
    }
    // The slots of a hashed space are made when they are seen.
    let mut trainer = trainer(&json!({"algorithm": "ftrl"}), Precision::F32);
    trainer.learn(&ones(5, 30, 12), &mut |_| {}).unwrap();
    let good = trainer.checkpoint();
    for bits in [31, 32, 255] {
        let mut container = Container::from_bytes(&good, Kind::Checkpoint).unwrap();
        container.about["reading"]["bits"] = bits.into();
        let read = Trainer::from_checkpoint(&container.to_bytes(Kind::Checkpoint));
        match bits {
            31 => assert!(read.is_ok()),
            _ => assert!(read.err().unwrap().to_string().contains("reading: "), "{bits}"),
        }
    }
}

#[test]
fn what_could_not_be_read_is_not_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state.ckpt");
    let settings = Spec::new("sgd").set("loss", "squared").set("rate", 1e300).resolve().unwrap();
    let mut trainer =
        Trainer::new(settings, LearnerOptions::default(), parsimon::InputSchema::default())
            .unwrap();
    trainer.save_checkpoint(&path).unwrap();
    let before = std::fs::read(&path).unwrap();
    let mut chunk = Chunk::new();
    chunk.push_feature(1, 1e300);
    chunk.finish_row(Some(1e10), 1.0, Repeats::Refuse).unwrap();
    trainer.learn(&chunk, &mut |_| {}).unwrap();
    let words = trainer.save_checkpoint(&path).unwrap_err().to_string();
    assert!(words.contains("state.ckpt: was not written: "), "{words}");
    let words = trainer.model().save(&path).unwrap_err().to_string();
    assert!(words.contains("state.ckpt: was not written: "), "{words}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
