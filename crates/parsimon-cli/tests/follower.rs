//! Two processes, a leader and its follower: killed at random, promoted, upgraded.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parsimon_testing::{Proxy, SplitMix64};
use serde_json::Value;

use crate::serve::{Served, program, row, send};

const PATIENCE: Duration = Duration::from_secs(120);

/// A leader and a follower that know each other by proxies, so that either may start again at another port.
struct Pair {
    folder: PathBuf,
    to_leader: Proxy,
    to_follower: Proxy,
}

impl Pair {
    fn new(folder: &Path, seed: u64) -> Self {
        let [to_leader, to_follower] = [seed, 0].map(|seed| Proxy::new(0, seed));
        Self { folder: folder.to_owned(), to_leader, to_follower }
    }

    fn leader(&self, more: &[&str]) -> Served {
        let follower = format!("http://{}", self.to_follower.address);
        let more = [&["--follower", &follower], more].concat();
        let served = Served::start(&self.folder.join("leader"), &more);
        self.to_leader.lead_to(served.address.port());
        served
    }

    fn follower(&self) -> Served {
        let leader = format!("http://{}", self.to_leader.address);
        let served = Served::following(&self.folder.join("follower"), &leader);
        self.to_follower.lead_to(served.address.port());
        served
    }
}

fn about(served: &Served) -> Value {
    served.ok("GET", "/v1/models/m", "")
}

/// Waits until the follower has everything that the leader has.
fn level(leader: &Served, follower: &Served) {
    let begun = Instant::now();
    loop {
        let [one, other] = [leader, follower].map(about);
        if one["durable_seq"] == other["visible_seq"] && one["visible_seq"] == one["durable_seq"] {
            return;
        }
        assert!(begun.elapsed() < PATIENCE, "{one} {other}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_the_follower_acknowledged_is_in_the_promoted_log() {
    kill_either(20);
}

/// `cargo test -p parsimon-cli --test all follower:: -- --ignored`
#[test]
#[ignore = "takes several minutes"]
fn what_the_follower_acknowledged_is_in_the_promoted_log_after_200_kills() {
    kill_either(200);
}

#[expect(clippy::too_many_lines, reason = "one history of two processes")]
fn kill_either(rounds: u64) {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new(folder.path(), 7);
    let acks = ["--acks", "follower"];
    let (leader, follower) = (pair.leader(&acks), pair.follower());
    let first = leader.address.port();
    let (mut leader, mut follower) = (Some(leader), Some(follower));
    let mut random = SplitMix64::new(11);
    let acknowledged = Mutex::new(BTreeSet::new());
    let (next, port, is_over) =
        (AtomicU64::new(0), AtomicU64::new(first.into()), AtomicBool::new(false));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    let k = next.fetch_add(1, Ordering::Relaxed);
                    // A client that does not know whether it was heard sends the row again.
                    while !is_over.load(Ordering::Relaxed) {
                        let to = ([127, 0, 0, 1], port.load(Ordering::Relaxed) as u16).into();
                        match send(to, "POST", "/v1/models/m/learn", &row(k)) {
                            Some((200, _)) => {
                                acknowledged.lock().unwrap().insert(k);
                                break;
                            }
                            Some((503 | 429, _)) | None => {
                                std::thread::sleep(Duration::from_millis(5));
                            }
                            Some((status, answer)) => panic!("{status} {answer}"),
                        }
                    }
                }
            });
        }
        for round in 0..rounds {
            let wanted = acknowledged.lock().unwrap().len() + 3 + random.below(20) as usize;
            let begun = Instant::now();
            while acknowledged.lock().unwrap().len() < wanted {
                assert!(
                    begun.elapsed() < PATIENCE,
                    "round {round}: {}",
                    about(follower.as_ref().unwrap())
                );
                std::thread::sleep(Duration::from_millis(2));
            }
            if random.below(2) == 0 {
                leader.take().unwrap().kill();
                let again = pair.leader(&acks);
                port.store(again.address.port().into(), Ordering::Relaxed);
                leader = Some(again);
            } else {
                follower.take().unwrap().kill();
                follower = Some(pair.follower());
            }
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let (leader, follower) = (leader.unwrap(), follower.unwrap());
    level(&leader, &follower);
    assert_eq!(leader.digest(), follower.digest());
    // The machine of the leader is lost.
    leader.kill();
    let promoted = follower.ok("POST", "/v1/models/m/promote", "{\"to\":\"leader\"}");
    assert_eq!(promoted["version"]["epoch"], 2);
    let log = folder.path().join("follower").join("m");
    let log = log.to_str().unwrap();
    let (fine, rows, words) = program(&["log", "export", log]);
    assert!(fine, "{words}");
    let id = |line: &str| -> u64 {
        let row: Value = serde_json::from_str(line).unwrap();
        row["id"].as_str().unwrap()[1..].parse().unwrap()
    };
    let ids: Vec<u64> = rows.lines().map(id).collect();
    let unique: BTreeSet<u64> = ids.iter().copied().collect();
    assert_eq!(unique.len(), ids.len(), "a row was learned twice");
    let acknowledged = acknowledged.into_inner().unwrap();
    assert!(acknowledged.is_subset(&unique));
    // The old leader comes back, asks its follower, and learns nothing.
    let old = pair.leader(&acks);
    let begun = Instant::now();
    while about(&old)["accepting"] == true {
        assert!(begun.elapsed() < PATIENCE);
        std::thread::sleep(Duration::from_millis(10));
    }
    let (status, answer) = old.send("POST", "/v1/models/m/learn", &row(1 << 40)).unwrap();
    assert!(status == 503 && answer["error"].as_str().unwrap().contains("epoch 2"), "{answer}");
    old.kill();
    let digest = follower.digest();
    assert_eq!(follower.terminate(), 0);
    let (fine, _, words) = program(&["log", "replay", log]);
    assert!(fine && words.contains(digest.as_str().unwrap()), "{words}");
}

/// The procedure of docs/operate.md: no score is lost while one process takes the place of another.
#[test]
fn an_upgrade_loses_no_score() {
    let folder = tempfile::tempdir().unwrap();
    let pair = Pair::new(folder.path(), 0);
    let leader = pair.leader(&["--drain", "500ms"]);
    let body: String = (0..500).map(|k| row(k) + "\n").collect();
    leader.ok("POST", "/v1/models/m/learn?ack=visible", &body);
    let addresses = [pair.to_leader.address, pair.to_follower.address];
    let (is_over, scored, lost) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for part in 0..4u64 {
            let (is_over, scored, lost) = (&is_over, &scored, &lost);
            scope.spawn(move || {
                // 500 scores a second from four clients, each of which knows both addresses.
                let (begun, mut k) = (Instant::now(), 0u32);
                while !is_over.load(Ordering::Relaxed) {
                    k += 1;
                    let due = Duration::from_millis(8) * k;
                    std::thread::sleep(due.saturating_sub(begun.elapsed()));
                    let row = row(part * 1000 + u64::from(k)).replacen("\"id\"", "\"n\"", 1);
                    let ask = |address| send(address, "POST", "/v1/models/m/score", &row);
                    let is_scored = |answer: Option<(u16, Value)>| {
                        answer.is_some_and(|(status, answer)| {
                            status == 200 && answer["prediction"].is_number()
                        })
                    };
                    match addresses.iter().any(|address| is_scored(ask(*address))) {
                        true => scored.fetch_add(1, Ordering::Relaxed),
                        false => lost.fetch_add(1, Ordering::Relaxed),
                    };
                }
            });
        }
        // 1. The new program starts as a follower, and catches up.
        let follower = pair.follower();
        level(&leader, &follower);
        // 2. It is promoted. 3. The old one ends.
        follower.ok("POST", "/v1/models/m/promote", "{\"to\":\"leader\"}");
        assert_eq!(leader.terminate(), 0);
        pair.to_leader.lead_to(follower.address.port());
        let answer = follower.ok("POST", "/v1/models/m/learn", &row(9000));
        assert_eq!(answer["learned"], 1);
        let seen = scored.load(Ordering::Relaxed);
        while scored.load(Ordering::Relaxed) < seen + 200 {
            assert_eq!(lost.load(Ordering::Relaxed), 0);
            std::thread::sleep(Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        follower.kill();
    });
}
