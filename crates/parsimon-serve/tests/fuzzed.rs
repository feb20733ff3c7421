//! Whatever a body holds, the answer is an error with words, and the state stays as it was.

use parsimon_serve::Limits;
use parsimon_testing::SplitMix64;

use crate::common::{Running, learning, rows};

const TYPES: [&str; 6] = [
    "application/json",
    "application/x-ndjson",
    "text/x-vw",
    "text/x-svmlight",
    "text/csv",
    "application/x-www-form-urlencoded",
];

const SEEDS: [&str; 6] = [
    "[{\"id\":\"q\",\"label\":1,\"a\":\"b\"},{\"label\":0,\"n\":{\"x\":[1,\"t\"]}}]",
    "{\"label\":1,\"features\":{\"indices\":[1],\"values\":[2]}}\n{\"label\":0}\n",
    "1 2 'tag|a:2 b:1 c|d e\n-1 |a b\n",
    "1 3:0.5 9:1 # c\n-1 4:1\n",
    "label,a,\"b\"\"c\"\n1,2,x\n0,,\"y\nz\"\n",
    "{\"inputs\":[{\"name\":\"rows\",\"datatype\":\"BYTES\",\"shape\":[1],\"data\":[\"1 |a b\"]}]}",
];

#[test]
fn damaged_bodies_are_refused_and_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { body: 4096, ..Limits::default() };
    let server = Running::with(vec![learning(folder.path())], limits);
    server.post("/v1/models/m/learn?ack=visible", "application/x-ndjson", &rows(0..50)).ok();
    let mut random = SplitMix64::new(7);
    let mut below = |n: usize| random.below(n as u64) as usize;
    let (mut refused, mut taken) = (0, 0);
    for round in 0..600 {
        let mut body = SEEDS[below(SEEDS.len())].as_bytes().to_vec();
        for _ in 0..=below(4) {
            let at = below(body.len().max(1));
            match below(5) {
                0 => body.truncate(at),
                1 if !body.is_empty() => body[at] = below(256) as u8,
                2 => body.insert(at.min(body.len()), b"{}[]\",:|\n 0e9\\"[below(14)]),
                3 => body.extend_from_within(..at.min(body.len())),
                _ if !body.is_empty() => body[at] ^= 1 << below(8),
                _ => {}
            }
        }
        let paths = ["learn", "score", "label", "rollback", "score?explain", "learn?partial"];
        let path = match below(9) {
            k if k < 6 => format!("/v1/models/m/{}", paths[k]),
            6 => "/v2/models/m/infer".to_owned(),
            7 => "/invocations".to_owned(),
            _ => "/v1/models/m/learn".to_owned(),
        };
        let rows = |server: &Running| server.get("/v1/models/m").ok()["rows"].as_u64().unwrap();
        let before = server.get("/v1/models/m?digest").ok()["digest"].clone();
        let count = rows(&server);
        let headers = [("content-type", TYPES[below(TYPES.len())])];
        let answer = server.send("POST", &path, &headers, &body);
        let text = String::from_utf8_lossy(&body);
        match answer.status {
            200 => taken += 1,
            400 | 404 | 409 | 413 | 415 => {
                refused += 1;
                assert!(answer.value().is_object(), "{path} {text:?}");
                assert_eq!(
                    server.get("/v1/models/m?digest").ok()["digest"],
                    before,
                    "{path} {text:?}"
                );
                assert_eq!(rows(&server), count, "round {round}");
            }
            status => panic!("{status} for {path} {text:?}: {}", answer.text()),
        }
    }
    assert!(refused > 200 && taken > 20, "{refused} {taken}");
}
