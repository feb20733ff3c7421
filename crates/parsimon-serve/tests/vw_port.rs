//! The protocol of VW's daemon.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;

use parsimon_serve::{Access, Limits};
use serde_json::json;

use crate::common::{Running, learning};

#[test]
fn lines_are_learned_and_predicted_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let model = learning(folder.path());
    let server = Running::start(vec![model], Limits::default(), Access::default(), true);
    let mut stream = TcpStream::connect(server.vw.unwrap()).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    // One at a time: a label is learned before the next line is predicted.
    stream.write_all(b"|a b c\n").unwrap();
    assert_eq!(answers.next().unwrap(), "0.500000");
    for k in 0..5 {
        stream.write_all(b"1 'first|a b c\n").unwrap();
        let (p, tag) = answers
            .next()
            .unwrap()
            .split_once(' ')
            .map(|(p, t)| (p.to_owned(), t.to_owned()))
            .unwrap();
        assert_eq!(tag, "first");
        assert_eq!(p == "0.500000", k == 0, "{p}");
    }
    stream.write_all(b"|a b c\n").unwrap();
    let after: f64 = answers.next().unwrap().parse().unwrap();
    assert!(after > 0.5);
    // Pipelined, with bad lines and an attempt to write a file.
    let mut text = String::new();
    for k in 0..200 {
        text += &format!("{} |a f{}\n", if k % 3 == 0 { 1 } else { -1 }, k % 7);
    }
    text += "7 |a b\nsave_/tmp/x\n|a b:x\n\n-1 |a q\n|a f1\n";
    stream.write_all(text.as_bytes()).unwrap();
    for _ in 0..200 {
        let p: f64 = answers.next().unwrap().parse().unwrap();
        assert!((0.0..=1.0).contains(&p));
    }
    assert!(answers.next().unwrap().starts_with("error: body:1:1: label \"7\""));
    assert!(answers.next().unwrap().starts_with("error: save_ is refused"));
    assert!(answers.next().unwrap().starts_with("error: body:1:6"));
    assert!(answers.next().unwrap().parse::<f64>().is_ok());
    let last: f64 = answers.next().unwrap().parse().unwrap();
    assert!(last < 0.5, "{last}");
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(answers.next(), None);
    assert_eq!(server.get("/v1/models/m").ok()["rows"], json!(206));
}

#[test]
fn bad_lines_among_good_ones_cost_no_sync_each() {
    let folder = tempfile::tempdir().unwrap();
    let model = learning(folder.path());
    let server = Running::start(vec![model], Limits::default(), Access::default(), true);
    let line = |k: usize| match k % 100 {
        7 => format!("7 |a f{k}\n"),
        _ => format!("{} |a f{}\n", if k.is_multiple_of(3) { 1 } else { -1 }, k % 7),
    };
    let text: String = (0..5000).map(line).collect();
    let stream = TcpStream::connect(server.vw.unwrap()).unwrap();
    let mut answers = BufReader::new(stream.try_clone().unwrap()).lines().map(Result::unwrap);
    std::thread::scope(|scope| {
        scope.spawn(|| (&stream).write_all(text.as_bytes()).unwrap());
        for k in 0..5000 {
            let answer = answers.next().unwrap();
            assert_eq!(answer.starts_with("error: body:"), k % 100 == 7, "{k}: {answer}");
        }
    });
    let about = server.get("/v1/models/m").ok();
    assert_eq!(about["rows"], json!(4950));
    // Line by line there would be a record for each row of a part.
    assert!(about["durable_seq"].as_u64().unwrap() < 200, "{about}");
}
