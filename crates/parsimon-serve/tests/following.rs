//! A follower copies a leader through any connection, scores what the leader scores, and takes its place.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use parsimon::Spec;
use parsimon_serve::following::{self, FollowerThread, Leader};
use parsimon_serve::{Access, Limits, Model, Policy, Source};
use parsimon_testing::Proxy;
use serde_json::{Value, json};

use crate::common::{Running, fresh, policy, row, rows};

const LEARN: &str = "/v1/models/m/learn";
const PATIENCE: Duration = Duration::from_secs(60);

/// A process with the model `m`, as leader or as follower.
struct Node {
    server: Option<Running>,
    model: Option<Arc<Model>>,
    thread: Option<FollowerThread>,
}

impl Node {
    fn leader(policy: &Policy, source: &Source) -> Self {
        let model = Arc::new(Model::learning("m", source, policy.clone()).unwrap());
        Self::serving(model, None)
    }

    fn follower(policy: &Policy, leader: SocketAddr) -> Self {
        let leader = Leader { url: format!("http://{leader}"), token: None, rate: None };
        let begun = Instant::now();
        let stop = || begun.elapsed() > PATIENCE;
        following::prepare(&leader, "m", policy, &stop).unwrap();
        following::first_record(&leader, "m", policy, &stop).unwrap();
        let model = Arc::new(Model::learning("m", &Source::Log, policy.clone()).unwrap());
        let thread = following::follow(&model, &leader).unwrap();
        Self::serving(model, thread)
    }

    fn serving(model: Arc<Model>, thread: Option<FollowerThread>) -> Self {
        let models = vec![model.clone()];
        let server = Running::of(models, Limits::default(), Access::default(), false);
        Self { server: Some(server), model: Some(model), thread }
    }

    fn server(&self) -> &Running {
        self.server.as_ref().unwrap()
    }

    fn about(&self) -> Value {
        self.server().get("/v1/models/m").ok()
    }

    fn digest(&self) -> Value {
        self.server().get("/v1/models/m?digest").ok()["digest"].clone()
    }

    fn last(&self) -> u64 {
        self.about()["durable_seq"].as_u64().unwrap()
    }

    /// Waits until scores include a record.
    fn wait_for(&self, seq: u64) {
        wait(|| self.about()["visible_seq"].as_u64().unwrap() >= seq, &|| self.about());
    }

    fn end(mut self) {
        self.thread = None;
        if let Some(server) = self.server.take() {
            server.end();
        }
        self.model = None;
    }
}

fn wait(mut is_done: impl FnMut() -> bool, about: &dyn Fn() -> Value) {
    let begun = Instant::now();
    while !is_done() {
        assert!(begun.elapsed() < PATIENCE, "{}", about());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn scores(node: &Node) -> Vec<Value> {
    let body: Vec<String> = (0..20).map(|k| row(k * 37).replacen("\"id\"", "\"n\"", 1)).collect();
    let answer = node.server().post("/v1/models/m/score", "application/x-ndjson", &body.join("\n"));
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn predictions(node: &Node) -> Vec<Value> {
    scores(node).iter().map(|row| row["prediction"].clone()).collect()
}

fn ftrl() -> Source {
    fresh(Spec::new("ftrl").set("l1", 0.1))
}

/// Directories of a leader and a follower.
fn places(folder: &Path) -> [PathBuf; 2] {
    ["leader", "follower"].map(|name| folder.join(name))
}

/// Requests of every kind, the same for every leader.
fn load(node: &Node, part: u64) {
    let (server, base) = (node.server(), part * 1000);
    server.post(LEARN, "application/x-ndjson", &rows(base..base + 60)).ok();
    server.post(LEARN, "text/csv", "label,age,city\n1,30,Rome\n0,4.5,\"Os\nlo\"\n").ok();
    server.post(LEARN, "text/x-vw", "1 |a b\n-1 |a c\n").ok();
    for k in base..base + 8 {
        server.json("/v1/models/m/score", &format!("{{\"id\":\"w{k}\",\"site\":\"s1\"}}")).ok();
    }
    let labels: Vec<String> =
        (base..base + 6).map(|k| format!("{{\"id\":\"w{k}\",\"label\":{}}}", k % 2)).collect();
    server.post("/v1/models/m/label", "application/x-ndjson", &labels.join("\n")).ok();
    server.json("/v1/models/m/pause", "{}").ok();
    server.post(LEARN, "application/x-ndjson", &rows(base + 60..base + 70)).ok();
    server.json("/v1/models/m/resume", "{\"backlog\":\"learn\"}").ok();
}

#[test]
fn a_follower_scores_what_its_leader_scores() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| policy(&place));
    let marking = Policy { mark_every: Duration::from_millis(1), ..at };
    let leader = Node::leader(&marking, &ftrl());
    load(&leader, 0);
    let address = leader.server().address;
    let follower = Node::follower(&by, address);
    load(&leader, 1);
    follower.wait_for(leader.last());
    // Marks may come behind the rows.
    leader.wait_for(leader.last());
    follower.wait_for(leader.last());
    assert_eq!(predictions(&follower), predictions(&leader));
    let first = &scores(&follower)[0];
    assert!(first["lag_records"].is_u64() && first["lag_seconds"].is_number(), "{first}");
    assert!(scores(&leader)[0]["lag_records"].is_null());
    // A follower takes no rows, and says who does.
    let refused = follower.server().json(LEARN, &row(5000));
    assert_eq!(refused.status, 409, "{}", refused.text());
    assert_eq!(refused.value()["leader"], format!("http://{address}"));
    let tracked = follower.server().json("/v1/models/m/score", "{\"id\":\"x\",\"site\":\"s1\"}");
    assert_eq!(tracked.ok()["tracked"], false);
    for path in ["pause", "snapshot"] {
        let status = follower.server().json(&format!("/v1/models/m/{path}"), "{}").status;
        assert_eq!(status, if path == "pause" { 409 } else { 200 });
    }
    let metrics = [&leader, &follower].map(|node| node.server().get("/metrics").text().to_owned());
    check_monitoring(&metrics.concat());
    // Digests are compared while both go on.
    let mut part = 2;
    let equal_at = || follower.about()["following"]["digest_equal_at"].as_u64().unwrap();
    wait(
        || {
            load(&leader, part);
            part += 1;
            equal_at() > 0
        },
        &|| follower.about(),
    );
    assert_eq!(follower.about()["following"]["digests_differ"], false);
    follower.end();
    leader.end();
}

/// Checks that the dashboard and the alert rules are JSON, and name metrics that leader and follower have.
fn check_monitoring(metrics: &str) {
    let known = |name: &str| {
        let name = ["_bucket", "_count", "_sum"]
            .iter()
            .find_map(|end| name.strip_suffix(end))
            .filter(|name| metrics.contains(&format!("# TYPE {name} histogram")))
            .unwrap_or(name);
        metrics.contains(&format!("# TYPE {name} "))
    };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    let read = |name: &str| -> Value {
        serde_json::from_str(&std::fs::read_to_string(folder.join(name)).unwrap()).unwrap()
    };
    let (dashboard, rules) = (read("grafana.json"), read("alerts.json"));
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let rules = rules["groups"][0]["rules"].as_array().unwrap();
    let expressions: Vec<&str> =
        targets.chain(rules).map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(expressions.len() > 30);
    for expression in expressions {
        let words = expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let names: Vec<&str> = words.filter(|word| word.starts_with("parsimon_")).collect();
        assert!(!names.is_empty(), "{expression}");
        for name in names {
            assert!(known(name), "{expression}: no metric {name}");
        }
    }
}

#[test]
fn a_follower_begins_with_a_snapshot_and_goes_on_after_restarts_of_both() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| policy(&place));
    let leader = Node::leader(&at, &ftrl());
    load(&leader, 0);
    leader.server().send("POST", "/v1/models/m/snapshot", &[], b"").ok();
    let proxy = Proxy::new(leader.server().address.port(), 0);
    load(&leader, 1);
    let follower = Node::follower(&by, proxy.address);
    follower.wait_for(leader.last());
    // The ids of the snapshot are known here, too.
    let digest = |node: &Node| node.digest()["digest"].clone();
    assert_eq!(digest(&follower), digest(&leader));
    // The leader starts again while the follower asks.
    leader.end();
    let leader = Node::leader(&at, &Source::Log);
    proxy.lead_to(leader.server().address.port());
    load(&leader, 2);
    follower.wait_for(leader.last());
    // The follower starts again while the leader learns.
    follower.end();
    load(&leader, 3);
    let follower = Node::follower(&by, proxy.address);
    follower.wait_for(leader.last());
    assert_eq!(digest(&follower), digest(&leader));
    // The leader goes back to a snapshot.
    let versions = leader.server().get("/v1/models/m/versions").ok();
    let oldest = versions["versions"].as_array().unwrap().last().unwrap().clone();
    let to = json!({"epoch": oldest["epoch"], "seq": oldest["seq"]}).to_string();
    leader.server().json("/v1/models/m/rollback", &to).ok();
    load(&leader, 4);
    follower.wait_for(leader.last());
    assert_eq!(follower.digest(), leader.digest());
    follower.end();
    leader.end();
}

#[test]
fn a_follower_catches_up_through_a_bad_connection() {
    for seed in [1, 2] {
        let folder = tempfile::tempdir().unwrap();
        let [at, by] = places(folder.path()).map(|place| policy(&place));
        let leader = Node::leader(&at, &ftrl());
        let proxy = Proxy::new(leader.server().address.port(), seed);
        load(&leader, 0);
        let follower = Node::follower(&by, proxy.address);
        for part in 1..4 {
            load(&leader, part);
        }
        // A partition, and its end.
        proxy.lead_to(0);
        load(&leader, 4);
        proxy.lead_to(leader.server().address.port());
        load(&leader, 5);
        follower.wait_for(leader.last());
        assert_eq!(follower.digest(), leader.digest());
        follower.end();
        leader.end();
    }
}

#[test]
fn a_log_that_contradicts_the_leader_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| policy(&place));
    let leader = Node::leader(&at, &ftrl());
    load(&leader, 0);
    let address = leader.server().address;
    let follower = Node::follower(&by, address);
    follower.wait_for(leader.last());
    // It learns a row of its own.
    follower.server().json("/v1/models/m/promote", "{\"to\":\"leader\"}").ok();
    follower.server().json(LEARN, &row(7000)).ok();
    follower.end();
    load(&leader, 1);
    let contradicted = Node::follower(&by, address);
    // It was promoted: it follows no one.
    assert!(contradicted.about()["following"].is_null());
    contradicted.end();
    // Another log under the same name.
    let other = Policy { data: folder.path().join("other"), ..by };
    let stranger = Node::leader(&other, &ftrl());
    load(&stranger, 0);
    stranger.end();
    let stranger = Node::follower(&other, address);
    wait(|| stranger.about()["following"]["trouble"].is_string(), &|| stranger.about());
    let trouble = stranger.about()["following"]["trouble"].as_str().unwrap().to_owned();
    assert!(trouble.contains("contradict") || trouble.contains("another log"), "{trouble}");
    stranger.end();
    leader.end();
}

#[test]
fn a_promoted_follower_goes_on_and_its_leader_is_fenced() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| policy(&place));
    let leader = Node::leader(&at, &ftrl());
    load(&leader, 0);
    let follower = Node::follower(&by, leader.server().address);
    follower.wait_for(leader.last());
    let url = format!("http://{}", follower.server().address);
    let models = vec![leader.model.clone().unwrap()];
    let watch = following::watch_follower(&models, &url, None).unwrap();
    leader.server().json(LEARN, &row(8000)).ok();
    follower.wait_for(leader.last());
    let promoted = follower.server().json("/v1/models/m/promote", "{\"to\":\"leader\"}").ok();
    assert_eq!(promoted["version"]["epoch"], 2);
    // A retry is a duplicate at the new leader, and new rows are learned.
    assert_eq!(follower.server().json(LEARN, &row(8000)).ok()["duplicate"], true);
    assert_eq!(follower.server().json(LEARN, &row(8001)).ok()["learned"], 1);
    // A row that was scored at the old leader gets its label here.
    let label = "{\"id\":\"w7\",\"label\":1}";
    assert_eq!(follower.server().json("/v1/models/m/label", label).ok()["learned"], 1);
    wait(|| leader.about()["accepting"] == false, &|| leader.about());
    let words = leader.server().json(LEARN, &row(8002)).refused(503);
    assert!(words.contains("epoch 2"), "{words}");
    assert_eq!(scores(&leader).len(), 20);
    drop(watch);
    drop(models);
    leader.end();
    // That holds after a restart, without a word from the follower.
    let leader = Node::leader(&at, &Source::Log);
    let words = leader.server().json(LEARN, &row(8003)).refused(503);
    assert!(words.contains("epoch 2"), "{words}");
    leader.end();
    // The promoted one follows no more, whatever its command line says.
    let address = follower.server().address;
    follower.end();
    let again = Node::follower(&by, address);
    assert_eq!(again.server().json(LEARN, &row(8004)).ok()["learned"], 1);
    again.end();
}

#[test]
fn an_acknowledgement_may_mean_that_the_follower_has_the_row() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| policy(&place));
    let at = Policy { acks_follower: true, ..at };
    let leader = Node::leader(&at, &ftrl());
    let headers = [("content-type", "application/json"), ("x-deadline-ms", "200")];
    let late = leader.server().send("POST", LEARN, &headers, row(1).as_bytes());
    assert_eq!(late.status, 504, "{}", late.text());
    let proxy = Proxy::new(leader.server().address.port(), 0);
    let follower = Node::follower(&by, proxy.address);
    // The row was in the log: with a follower its retry is acknowledged.
    assert_eq!(leader.server().json(LEARN, &row(1)).ok()["duplicate"], true);
    let mut acknowledged = Vec::new();
    for k in 2..40 {
        leader.server().json(LEARN, &row(k)).ok();
        acknowledged.push(k);
    }
    // Cut off: nothing is acknowledged any more.
    proxy.lead_to(0);
    let seq = leader.last();
    wait(
        || leader.server().send("POST", LEARN, &headers, row(seq + 100).as_bytes()).status == 504,
        &|| leader.about(),
    );
    follower.server().json("/v1/models/m/promote", "{\"to\":\"leader\"}").ok();
    for k in acknowledged {
        assert_eq!(follower.server().json(LEARN, &row(k)).ok()["duplicate"], true, "row {k}");
    }
    follower.end();
    leader.end();
}

#[test]
fn a_follower_collects_the_first_rows_with_its_leader() {
    let folder = tempfile::tempdir().unwrap();
    let [at, by] = places(folder.path()).map(|place| Policy {
        warm_rows: 50,
        warm_time: Duration::from_secs(1 << 30),
        ..policy(&place)
    });
    let source = match fresh(Spec::new("auto").set("loss", "logistic")) {
        Source::Fresh { settings, options, schema, .. } => {
            Source::Fresh { settings, options, schema, finds_kinds: true }
        }
        other => other,
    };
    let leader = Node::leader(&at, &source);
    leader.server().post(LEARN, "application/x-ndjson", &rows(0..30)).ok();
    let follower = Node::follower(&by, leader.server().address);
    wait(|| follower.last() == leader.last(), &|| follower.about());
    assert_eq!(follower.about()["warming"], true);
    leader
        .server()
        .post(&format!("{LEARN}?ack=visible"), "application/x-ndjson", &rows(30..60))
        .ok();
    follower.wait_for(leader.last());
    assert!(follower.about()["warming"].is_null());
    wait(|| follower.digest() == leader.digest(), &|| follower.about());
    assert_eq!(predictions(&follower), predictions(&leader));
    follower.end();
    leader.end();
}
