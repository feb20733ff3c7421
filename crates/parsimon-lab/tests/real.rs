//! Real data, where it is at hand.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

#[path = "../../parsimon-data/tests/needs.rs"]
mod needs;

use std::collections::HashSet;

use needs::{shared, with_data};
use parsimon_lab::data::{Depth, ReadError, State, find, g168, mnist, rows, sets, text};

/// What the whole collection has, and a part of it may lack.
const ALL: &[&str] = &["README.md"];

fn main() {
    needs::run(vec![
        with_data("data_is_as_listed", ALL, the_data_at_hand_is_the_data_of_the_list),
        with_data("mnist", ALL, mnist_has_its_published_counts),
        with_data("echo_paths_and_posts", ALL, echo_paths_and_posts_have_their_published_counts),
        with_data("rows", ALL, rows_of_every_set_at_hand),
    ]);
}

fn the_data_at_hand_is_the_data_of_the_list() {
    let dir = shared("");
    for set in
        sets().iter().filter(|set| set.name != "fashion-mnist" && set.name != "spam-assassin")
    {
        assert_eq!(set.state(&dir, Depth::Checksum), State::Verified, "{}", set.name);
        assert_eq!(set.locate(&dir).unwrap().len(), set.files.len());
    }
}

fn mnist_has_its_published_counts() {
    let dir = shared("");
    let (train, test) = mnist::load(&dir).unwrap();
    let counts = |chunks: &[parsimon::rows::Chunk]| {
        let mut classes = [0; 10];
        for chunk in chunks {
            (0..chunk.len()).for_each(|i| classes[chunk.label(i).unwrap() as usize] += 1);
        }
        (chunks.iter().map(parsimon::rows::Chunk::nonzeros).sum::<usize>(), classes)
    };
    let digits = [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949];
    assert_eq!(counts(&train), (8_994_156, digits));
    let digits = [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009];
    assert_eq!(counts(&test), (1_511_219, digits));
}

fn echo_paths_and_posts_have_their_published_counts() {
    let dir = shared("");
    let file = find("g168").unwrap().locate(&dir).unwrap();
    let paths = g168::paths(&file[0]).unwrap();
    let names: Vec<&str> = paths.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9"]);
    let taps: Vec<usize> = paths.iter().map(|(_, h)| h.len()).collect();
    assert_eq!(taps, [64, 96, 96, 128, 96, 120, 96, 99]);
    assert_eq!(paths[0].1[0], -436.0 * 1.39e-5);

    let (train, test) = text::newsgroups(&dir).unwrap();
    assert_eq!((train.len(), test.len()), (11_314, 7_532));
    let groups: HashSet<&str> = train.iter().chain(&test).map(|post| post.group.as_str()).collect();
    assert_eq!(groups.len(), 20);
}

/// Rows to learn, rows to judge by, features, positive rows to learn; as counted by other means in the list of sets where it says so.
fn rows_of_every_set_at_hand() {
    let dir = shared("");
    for name in rows::names() {
        let read = match rows::rows(name, &dir) {
            Ok(read) => read,
            Err(ReadError::Missing(_)) => continue,
            Err(e) => panic!("{name}: {e}"),
        };
        let labels: Vec<f64> = (0..read.train.len()).filter_map(|i| read.train.label(i)).collect();
        let positive = labels.iter().filter(|y| **y == 1.0).count();
        assert_eq!(labels.len(), read.train.len(), "{name}");
        assert!(labels.iter().all(|y| y.abs() == 1.0), "{name}");
        let found = (read.train.len(), read.test.map_or(0, |t| t.len()), read.features, positive);
        println!("{name} {found:?}");
        let known = match name {
            "a1a" => (1_605, 0, 113, 395),
            "a9a" => (32_561, 16_281, 123, 7_841),
            "w8a" => (49_749, 0, 300, 1_479),
            "mushrooms" => (8_124, 0, 112, 4_208),
            "books-ids" => (2_000, 0, 195_887, 1_000),
            // 14 of the 9,565 pairs share a slot with another.
            "avazu" => (8_087, 0, 9_551, 1_397),
            _ => continue,
        };
        assert_eq!(found, known, "{name}");
    }
}
