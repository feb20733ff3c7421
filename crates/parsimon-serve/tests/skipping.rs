//! A record that would make weights that are no numbers is skipped, in every replay alike.

use parsimon::Spec;
use parsimon_serve::Model;
use serde_json::{Value, json};

use crate::common::{Running, fresh, policy, rows};

const LEARN: &str = "/v1/models/m/learn?ack=visible";

fn digest(server: &Running) -> Value {
    server.get("/v1/models/m?digest").ok()["digest"].clone()
}

#[test]
fn records_that_diverge_are_skipped_in_every_replay() {
    let folder = tempfile::tempdir().unwrap();
    let spec = Spec::new("sgd").set("loss", "squared").set("rate", 0.5);
    let open = || Model::learning("m", &fresh(spec.clone()), policy(folder.path())).unwrap();
    let server = Running::new(vec![open()]);
    let send = |text: &str| server.post(LEARN, "text/x-vw", text).ok()["seq"].as_u64().unwrap();
    let predict = |text: &str| {
        server.post("/v1/models/m/score", "text/x-vw", text).ok()["prediction"].clone()
    };
    send("1 |a b c\n2 |a c\n");
    let before = digest(&server);
    // The weight of x overflows by the first row; the second would show it.
    let bad = send("1 |a x:1e90\n1e90 |a x:1e90\n");
    let about = server.get("/v1/models/m").ok();
    assert_eq!(about["skipped"], json!({"records": 1, "last": bad}));
    assert_eq!(about["accepting"], json!(true));
    assert!(predict("|a b x:1").as_f64().is_some_and(f64::is_finite));
    // The weights are those from before; the count of skipped records is a part of the digest.
    assert_ne!(digest(&server), before);
    let good = send("1 |a b\n3 |a d\n");
    let last = send("1 |a z:3e90\n1 |a z:3e90\n");
    send("2 |a b d\n");
    server.post(LEARN, "application/x-ndjson", &rows(0..50)).ok();
    assert!(good < last);
    let skipped = server.get("/v1/models/m").ok()["skipped"].clone();
    let live = digest(&server);
    let scored = predict("|a b c d");
    server.end();
    let directory = folder.path().join("m");
    let replayed =
        parsimon_serve::archive::replay(&directory, &parsimon_serve::Without::default()).unwrap();
    assert_eq!(live["digest"], format!("{:016x}", replayed.digest));
    for entry in std::fs::read_dir(&directory).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with("snap-") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let server = Running::new(vec![open()]);
    assert_eq!(digest(&server), live);
    assert_eq!(server.get("/v1/models/m").ok()["skipped"], skipped);
    let again =
        server.post("/v1/models/m/score", "text/x-vw", "|a b c d").ok()["prediction"].clone();
    assert_eq!(again, scored);
}
