//! The state after a restart is the state before it, bit for bit.

use parsimon::Spec;
use parsimon_serve::{Model, Source};
use serde_json::{Value, json};

use crate::common::{Running, fresh, learning, policy, row, rows, trained};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"].clone()
}

/// Mixed requests, the same for every server.
fn load(server: &Running, part: u64) {
    let base = 1000 * part;
    server.post(LEARN, "application/x-ndjson", &rows(base..base + 300)).ok();
    for k in base + 290..base + 330 {
        server.json(LEARN, &row(k)).ok();
    }
    server.post(LEARN, "text/x-vw", "1 2.5 |a b c:0.25\n-1 |b x y\n").ok();
    server.post(LEARN, "text/csv", "label,age,city\n1,30,Rome\n0,4.5,\"Os\nlo\"\n").ok();
    server.send(
        "POST",
        LEARN,
        &[("idempotency-key", "k"), ("content-type", "text/x-vw")],
        b"1 |z z\n",
    );
}

fn specs() -> Vec<Spec> {
    let auto = || Spec::new("auto").set("loss", "logistic");
    vec![
        Spec::new("ftrl").set("l1", 0.3),
        auto(),
        auto().set("half_life", 500),
        Spec::new("rda").set("rate", 0.3).set("l1", 0.01),
        Spec::new("ftrl").set("multiclass", true).set("classes", json!(["0", "1", "2"])),
    ]
}

#[test]
fn live_replayed_and_from_a_snapshot_are_equal() {
    for spec in specs() {
        let folder = tempfile::tempdir().unwrap();
        let is_multiclass = spec.get("multiclass").is_some();
        let open = || Model::learning("m", &fresh(spec.clone()), policy(folder.path())).unwrap();
        let server = Running::new(vec![open()]);
        let send = |server: &Running, part| match is_multiclass {
            true => {
                let text = rows(1000 * part..1000 * part + 300);
                server.post(LEARN, "application/x-ndjson", &text).ok();
            }
            false => load(server, part),
        };
        send(&server, 0);
        server.send("POST", "/v1/models/m/snapshot", &[], b"").ok();
        send(&server, 1);
        let live = digest(&server);
        server.end();
        // The end writes a snapshot; without it the tail of the log is replayed, and without any the whole log.
        let snapshots = || {
            let names = std::fs::read_dir(folder.path().join("m")).unwrap();
            let mut names: Vec<_> = names.map(|entry| entry.unwrap().path()).collect();
            names.retain(|path| path.file_name().unwrap().to_string_lossy().starts_with("snap-"));
            names.sort();
            names
        };
        assert_eq!(snapshots().len(), 2);
        let model = open();
        assert_eq!(model.report().unwrap().replayed, 0);
        let server = Running::new(vec![model]);
        assert_eq!(digest(&server), live);
        server.end();
        std::fs::remove_file(snapshots().pop().unwrap()).unwrap();
        let model = open();
        let tail = model.report().unwrap().replayed;
        assert!(tail > 0);
        drop(model);
        std::fs::remove_file(snapshots().pop().unwrap()).unwrap();
        snapshots().iter().for_each(|path| std::fs::remove_file(path).unwrap());
        let model = open();
        assert!(model.report().unwrap().replayed > tail);
        let server = Running::new(vec![model]);
        assert_eq!(digest(&server), live, "{spec:?}");
        // What was learned before is known, and a model in use is refused.
        let repeat = server.json(LEARN, &row(5)).ok();
        assert_eq!(repeat["duplicate"], json!(true));
        let error = Model::learning("m", &Source::Log, policy(folder.path())).err().unwrap();
        assert!(error.to_string().contains("in use"), "{error}");
        assert_eq!(digest(&server), live);
    }
}

#[test]
fn names_and_keys_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let server = Running::new(vec![learning(folder.path())]);
    load(&server, 0);
    let before = server.get("/v1/models/m/download").body;
    server.end();
    let server = Running::new(vec![learning(folder.path())]);
    let after = server.get("/v1/models/m/download").body;
    let [before, after] = [before, after].map(|bytes| parsimon::Model::from_bytes(&bytes).unwrap());
    assert_eq!(before.heads(), after.heads());
    let names = |model: &parsimon::Model| {
        let indices = model.heads()[0].indices().to_vec();
        indices.into_iter().map(|j| model.name(j).into_owned()).collect::<Vec<_>>()
    };
    assert_eq!(names(&before), names(&after));
    let headers = [("idempotency-key", "k"), ("content-type", "text/x-vw")];
    let repeat = server.send("POST", LEARN, &headers, b"1 |z z\n").ok();
    assert_eq!(repeat["duplicate"], json!(true));
    assert_eq!(server.send("POST", LEARN, &headers, b"1 |z q\n").status, 409);
}

#[test]
fn a_checkpoint_goes_on_as_train_would() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("c.psk");
    let mut trainer = trained();
    trainer.save_checkpoint(&path).unwrap();
    let source = Source::Checkpoint(path.clone());
    let server = Running::new(vec![Model::learning("m", &source, policy(folder.path())).unwrap()]);
    let text = "1 1:1 5:0.25\n-1 2:1\n";
    server.post(LEARN, "text/x-svmlight", text).ok();
    let options = trainer.schema().options(
        trainer.settings(),
        trainer.options().precision,
        &parsimon::data::Options::default(),
    );
    let mut parser =
        parsimon::serve::RowParser::new("x", parsimon::data::Format::Svmlight, &options).unwrap();
    let mut chunks = Vec::new();
    parser.parse(text.as_bytes(), &mut chunks).unwrap();
    trainer.learn(&chunks[0], &mut |_| {}).unwrap();
    let served = parsimon::Model::from_bytes(&server.get("/v1/models/m/download").body).unwrap();
    assert_eq!(served.heads(), trainer.model().heads());
    let live = digest(&server);
    server.end();
    let server = Running::new(vec![Model::learning("m", &source, policy(folder.path())).unwrap()]);
    assert_eq!(digest(&server), live);
    server.end();
    // Another checkpoint, or settings, contradict the log.
    trainer.save_checkpoint(&path).unwrap();
    let error = Model::learning("m", &source, policy(folder.path())).err().unwrap().to_string();
    assert!(error.contains("did not begin with"), "{error}");
    let other = fresh(Spec::new("ftrl").set("l1", 7));
    let error = Model::learning("m", &other, policy(folder.path())).err().unwrap().to_string();
    assert!(error.contains("began with"), "{error}");
    let nothing = tempfile::tempdir().unwrap();
    let error = Model::learning("m", &Source::Log, policy(nothing.path())).err().unwrap();
    assert!(error.to_string().contains("no model yet"), "{error}");
}

/// Digests of states that this arithmetic leads to. If one of them changes, raise `ARITHMETIC` in `engine/open.rs`: states that were
/// learned before cannot be rebuilt from their logs any more.
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
const DIGESTS: (u32, [&str; 4]) =
    (4, ["f563653043dfb6e8", "faaa9f8942510694", "a63155a4f42f238d", "c8865d1647fdf477"]);

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn the_arithmetic_has_a_number_of_its_own() {
    let digests: Vec<String> = specs()[..4]
        .iter()
        .map(|spec| {
            let folder = tempfile::tempdir().unwrap();
            let model = Model::learning("m", &fresh(spec.clone()), policy(folder.path())).unwrap();
            let server = Running::new(vec![model]);
            load(&server, 0);
            digest(&server)["digest"].as_str().unwrap().to_owned()
        })
        .collect();
    let found = (parsimon_serve::ARITHMETIC, digests);
    assert_eq!(found, (DIGESTS.0, DIGESTS.1.map(String::from).to_vec()));
}
