//! The rate of false alarms, and the delay of true ones.

use std::ops::Range;

use parsimon_serve::alarm::PERIODS;

use crate::streams::{Kind, kinds, mean, rare_kinds};

/// Seeds that were not looked at while the sizes of bets were chosen.
const HELD_OUT: Range<u64> = 1_000_000..1_000_100;

/// Delays beside those of a CUSUM that knows the change: kind, minutes, minutes of the CUSUM, alarms before the change.
fn delays(
    kinds: &[Kind],
    minutes_before: u64,
    seeds: Range<u64>,
) -> Vec<(&'static str, f64, f64, usize)> {
    kinds
        .iter()
        .map(|kind| {
            let found: Vec<_> =
                seeds.clone().map(|seed| kind.delay(seed, minutes_before)).collect();
            let early = found.iter().filter(|delay| delay.is_none()).count();
            let delays: Vec<f64> = found.iter().flatten().map(|(d, _)| *d as f64).collect();
            (kind.name, mean(&delays), kind.cusum(PERIODS), early)
        })
        .collect()
}

/// A part of the test below: two kinds, less history, fewer repeats.
#[test]
fn stable_streams_raise_no_alarm_and_changes_do_soon() {
    for kind in kinds()
        .iter()
        .filter(|kind| ["loss minus constant", "label rate, 10% to 7%"].contains(&kind.name))
    {
        let alarms: u64 = (0..4).map(|seed| kind.false_alarms(seed, 5000)).sum();
        assert_eq!(alarms, 0, "{}", kind.name);
        let found: Vec<_> = (0..20).filter_map(|seed| kind.delay(seed, 1440)).collect();
        assert!(found.len() >= 19, "{}", kind.name);
        assert!(
            found
                .iter()
                .all(|(_, noticed)| noticed.is_rise == (kind.name != "label rate, 10% to 7%"))
        );
        let delay = mean(&found.iter().map(|(minutes, _)| *minutes as f64).collect::<Vec<_>>());
        let cusum = kind.cusum(PERIODS);
        assert!(delay <= 2.0 * cusum, "{}: {delay} minutes, CUSUM {cusum}", kind.name);
    }
}

/// 1,000 streams of 30 days take a few minutes: `cargo test --release -p parsimon-serve --test all alarms -- --ignored --nocapture`.
#[test]
#[ignore = "takes minutes; its output is in record/"]
fn alarms_of_a_thousand_streams() {
    let rare: Vec<&str> = rare_kinds().iter().map(|kind| kind.name).collect();
    let all: Vec<Kind> = kinds().into_iter().chain(rare_kinds()).collect();
    let mut is_soon = true;
    for minutes_before in [1440, 10_080] {
        println!("delay of a change after {minutes_before} minutes:");
        for (name, delay, cusum, early) in delays(&all, minutes_before, HELD_OUT) {
            println!(
                "{name:<36} {delay:>7.1} minutes, CUSUM {cusum:>6.1}, ratio {:.2}, {early} alarms before",
                delay / cusum
            );
            // After a day the mean before the change is not known well enough for all of them; rare ones are slow in any case.
            let is_exempt = minutes_before == 1440 || rare.contains(&name);
            is_soon &= delay <= 2.0 * cusum || is_exempt;
        }
    }
    let kinds = kinds();
    let mut total = 0;
    println!("false alarms, streams of 43,200 minutes:");
    for (k, kind) in kinds.iter().enumerate() {
        let (first, count) = (k as u64, kinds.len() as u64);
        let streams = (0..1000).filter(|seed| seed % count == first);
        let (n, alarms) =
            streams.fold((0, 0), |(n, sum), seed| (n + 1, sum + kind.false_alarms(seed, 43_200)));
        println!("{:<36} {n:>4} streams {alarms:>4} alarms", kind.name);
        total += alarms;
    }
    let between = 1000.0 * 43_200.0 / f64::from(u32::try_from(total.max(1)).unwrap());
    println!("mean time between false alarms: {between:.0} minutes ({total} alarms)");
    assert!(between >= PERIODS && is_soon);
}
