//! Other settings learn the same log beside a model, and take its place.

use std::time::Duration;

use parsimon::Spec;
use parsimon_serve::{Model, Source};
use serde_json::{Value, json};

use crate::common::{Running, fresh, policy, row, rows};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"]["digest"].clone()
}

fn with_shadow(model: Model, spec: &Spec) -> Model {
    model.learner().unwrap().add_shadow("s", spec.clone().resolve().unwrap()).unwrap();
    model
}

/// The shadow when it has learned so many rows.
fn shadow_at(server: &Running, rows: u64) -> Value {
    for _ in 0..2000 {
        let shadow = server.get("/v1/models/m/shadows").ok()["shadows"][0].clone();
        if shadow["rows"] == rows {
            return shadow;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("the shadow does not come to {rows} rows");
}

/// What a model with these settings alone comes to.
fn alone(spec: &Spec, usage: impl Fn(&Running)) -> (Value, Value) {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::learning("m", &fresh(spec.clone()), policy(folder.path())).unwrap();
    let server = Running::new(vec![model]);
    usage(&server);
    (digest(&server), server.get("/v1/models/m").ok()["progressive_loss"].clone())
}

#[test]
fn a_shadow_is_what_a_model_with_its_settings_would_be_and_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let (own, other) = (Spec::new("ftrl").set("l1", 0.1), Spec::new("rda").set("rate", 0.3));
    let learn = |server: &Running, range| {
        server.post(LEARN, "application/x-ndjson", &rows(range)).ok();
    };
    let usage = |server: &Running| {
        learn(server, 0..200);
        server.json("/v1/models/m/pause", "").ok();
        server.post("/v1/models/m/learn", "application/x-ndjson", &rows(200..250)).ok();
        server.json("/v1/models/m/resume", r#"{"backlog": "learn"}"#).ok();
        learn(server, 250..300);
    };
    let (expected, loss) = alone(&other, usage);
    let model = Model::learning("m", &fresh(own), policy(folder.path())).unwrap();
    let server = Running::new(vec![with_shadow(model, &other)]);
    usage(&server);
    assert_ne!(digest(&server), expected);
    let shadow = shadow_at(&server, 300);
    assert_eq!(shadow["progressive_loss"], loss);
    assert_eq!(shadow["model"]["rows"], 300);
    assert_eq!(server.json("/v1/models/m/promote", r#"{"shadow": "t"}"#).status, 404);
    let promoted = server.json("/v1/models/m/promote", r#"{"shadow": "s"}"#).ok();
    assert_eq!(promoted["shadow"], "s");
    assert_eq!(digest(&server), expected);
    let about = server.get("/v1/models/m").ok();
    assert_eq!(about["model"]["settings"]["algorithm"], "rda");
    // The ids are those of the model.
    assert_eq!(server.json(LEARN, &row(7)).ok()["duplicate"], true);
    learn(&server, 300..400);
    let (expected, _) = alone(&other, |server| {
        usage(server);
        learn(server, 300..400);
    });
    assert_eq!(digest(&server), expected);
    server.end();
    // From the snapshot, from the log alone, and by a replay.
    let open = || {
        let model = Model::learning("m", &Source::Log, policy(folder.path())).unwrap();
        let server = Running::new(vec![model]);
        digest(&server)
    };
    assert_eq!(open(), expected);
    let directory = folder.path().join("m");
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("snap-") {
            std::fs::remove_file(path).unwrap();
        }
    }
    assert_eq!(open(), expected);
    let without = parsimon_serve::Without::default();
    let replayed = parsimon_serve::archive::replay(&directory, &without).unwrap();
    assert_eq!(expected, format!("{:016x}", replayed.digest));
}

#[test]
fn a_shadow_goes_back_with_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let other = Spec::new("ftrl").set("l1", 3);
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy(folder.path())).unwrap();
    let server = Running::new(vec![with_shadow(model, &other)]);
    server.post(LEARN, "application/x-ndjson", &rows(0..100)).ok();
    let version = server.send("POST", "/v1/models/m/snapshot", &[], b"").ok()["version"].clone();
    server.post(LEARN, "application/x-ndjson", &rows(100..150)).ok();
    shadow_at(&server, 150);
    server.json("/v1/models/m/rollback", &version.to_string()).ok();
    server.post(LEARN, "application/x-ndjson", &rows(500..530)).ok();
    let (_, loss) = alone(&other, |server| {
        server.post(LEARN, "application/x-ndjson", &rows(0..100)).ok();
        server.post(LEARN, "application/x-ndjson", &rows(500..530)).ok();
    });
    assert_eq!(shadow_at(&server, 130)["progressive_loss"], loss);
}

#[test]
fn shadows_that_cannot_be_compared_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let model = Model::learning("m", &fresh(Spec::new("ftrl")), policy(folder.path())).unwrap();
    let add = |name: &str, spec: Spec| {
        let added = model.learner().unwrap().add_shadow(name, spec.resolve().unwrap());
        added.err().map(|error| error.to_string()).unwrap_or_default()
    };
    assert!(add("s", Spec::new("ftrl").set("loss", "hinge")).contains("its loss is hinge"));
    assert!(add("../s", Spec::new("ftrl")).contains("name of a model"));
    assert_eq!(add("s", Spec::new("ftrl")), "");
    assert!(add("s", Spec::new("ftrl")).contains("twice"));
    assert_eq!(model.learner().unwrap().shadows()[0]["name"], json!("s"));
}
