//! The canceller behind two callbacks.

use crate::common;

use common::{convolve, gain, room, speech};
use parsimon_audio::{Canceller, Config, Duplex, Warning};

fn config() -> Config {
    Config { search: 0.5, ..Config::at(16_000) }
}

#[test]
fn pieces_of_any_size_give_the_bits_of_the_canceller() {
    let far = speech(64_000, 16_000, 3);
    let near = convolve(&far, &room(600, 20, 5));
    let expected =
        Canceller::new(config()).expect("the settings are right").push(&far, &near).to_vec();
    let mut duplex = Duplex::new(config()).expect("the settings are right");
    let (mut out, mut played) = (Vec::new(), 0);
    for (i, piece) in near.chunks(331).enumerate() {
        let wanted = (out.len() + 331 + 97 * (i % 5)).min(far.len()).max(played);
        duplex.play(&far[played..wanted]);
        played = wanted;
        out.extend_from_slice(duplex.record(piece));
    }
    assert_eq!(duplex.missing(), 0);
    assert!(out.iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits()));
    assert!(gain(&near[48_000..], &out[48_000..]) > 15.0);
}

#[test]
fn minutes_of_one_side_alone_are_bounded_counted_and_finite() {
    let mut duplex = Duplex::new(config()).expect("the settings are right");
    let minute = speech(16_000, 16_000, 3);
    for _ in 0..120 {
        duplex.play(&minute);
    }
    assert_eq!((duplex.waiting(), duplex.dropped()), (32_000, 118 * 16_000));
    duplex.play(&vec![0.1; 100_000]);
    assert_eq!(duplex.waiting(), 32_000);
    duplex.play(&[f32::NAN, f32::INFINITY]);
    for _ in 0..10 {
        assert!(duplex.record(&minute).iter().all(|v| v.is_finite()));
    }
    assert_eq!((duplex.waiting(), duplex.missing()), (0, 8 * 16_000));
    assert_eq!(duplex.canceller().status().not_finite, 2);
    assert!(duplex.record(&[]).is_empty());
    duplex.reset().expect("the settings were right");
    assert_eq!(
        (duplex.missing(), duplex.dropped(), duplex.canceller().status().samples),
        (0, 0, 0)
    );
}

#[test]
fn the_linear_output_lies_beside_the_suppressed_one() {
    let far = speech(64_000, 16_000, 3);
    let near = convolve(&far, &room(600, 20, 5));
    let plain = Config { search: 0.0, ..config() };
    let mut linear = Canceller::new(plain).expect("the settings are right");
    let suppress = Config { suppress: true, ..plain };
    let mut duplex = Duplex::new(suppress).expect("the settings are right");
    let late = duplex.canceller().latency() - linear.latency();
    let expected = linear.push(&far, &near).to_vec();
    assert!(linear.linear() == expected);
    let mut found = Vec::new();
    for (far, near) in far.chunks(700).zip(near.chunks(700)) {
        duplex.play(far);
        assert_eq!(duplex.record(near).len(), near.len());
        found.extend_from_slice(duplex.linear());
    }
    assert!(late > 0 && found[..late].iter().all(|v| *v == 0.0));
    let same = found[late..].iter().zip(&expected).all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same, "the suppressor changes the linear output");
    let saved = duplex.canceller().save();
    let mut again = Canceller::restore(&saved).expect("the state is the canceller's own");
    again.push(&far[..1000], &near[..1000]);
    duplex.play(&far[..1000]);
    duplex.record(&near[..1000]);
    assert!(again.linear() == duplex.linear());
}

#[test]
fn the_status_names_what_is_wrong() {
    let far = speech(20 * 16_000, 16_000, 3);
    let echo = convolve(&far, &room(600, 20, 5));
    let voice = speech(20 * 16_000, 16_000, 8);
    let mut clipped = echo.clone();
    let most = clipped.iter().fold(0.0f32, |m, v| m.max(v.abs())) / 4.0;
    clipped.iter_mut().for_each(|v| *v = v.clamp(-most, most));
    let late = [&vec![0.0; 9_600][..], &far[..far.len() - 9_600]].concat();
    let zero = vec![0.0; far.len()];
    let mut broken = echo.clone();
    broken[15 * 16_000] = f32::NAN;
    for (name, far, near, expected) in [
        ("fine", &far, &echo, None),
        ("unrelated", &far, &voice, Some(Warning::NoEcho)),
        ("clipped", &far, &clipped, Some(Warning::ClippedMicrophone)),
        ("silent microphone", &far, &zero, Some(Warning::SilentMicrophone)),
        ("silent reference", &zero, &voice, Some(Warning::SilentReference)),
        ("not finite", &far, &broken, Some(Warning::NotFinite)),
    ] {
        let mut duplex = Duplex::new(config()).expect("the settings are right");
        for (far, near) in far.chunks(320).zip(near.chunks(320)) {
            duplex.play(far);
            duplex.record(near);
        }
        assert_eq!(duplex.warning(), expected, "{name}");
    }
    let mut duplex =
        Duplex::new(Config { search: 1.0, ..config() }).expect("the settings are right");
    let mut warned = None;
    for (far, near) in late.chunks(320).zip(echo.chunks(320)) {
        duplex.play(far);
        duplex.record(near);
        warned = warned.or(duplex.warning().filter(|w| matches!(w, Warning::LateReference { .. })));
    }
    let Some(Warning::LateReference { seconds }) = warned else {
        panic!("an echo that precedes the reference is not recognized")
    };
    assert!((seconds - 0.58).abs() < 0.03, "{seconds}");
}

#[test]
fn calls_of_one_side_alone_are_named() {
    let second = speech(16_000, 16_000, 3);
    let mut duplex = Duplex::new(config()).expect("the settings are right");
    (0..4).for_each(|_| duplex.play(&second));
    assert_eq!(duplex.warning(), Some(Warning::NothingRecorded));
    (0..6).for_each(|_| {
        duplex.record(&second);
    });
    assert_eq!(duplex.warning(), Some(Warning::NothingPlayed));
    duplex.play(&second);
    duplex.record(&second);
    assert_ne!(duplex.warning(), Some(Warning::NothingPlayed));
}

#[test]
fn what_was_saved_continues_with_the_samples_that_wait() {
    let far = speech(32_000, 16_000, 3);
    let near = convolve(&far, &room(600, 20, 5));
    for (speakers, microphones) in [(1, 1), (2, 2)] {
        let config = Config { suppress: true, ..config() };
        let mut one = Duplex::with_channels(config, speakers, microphones).expect("right settings");
        one.play(&far[..20_000]);
        one.record(&near[..15_002]);
        let mut other = Duplex::restore(&one.save()).expect("the state is its own");
        for duplex in [&mut one, &mut other] {
            duplex.play(&far[20_000..30_000]);
        }
        let expected = one.record(&near[15_002..31_000]).to_vec();
        assert!(other.record(&near[15_002..31_000]) == expected);
        assert_eq!((one.missing(), one.waiting()), (other.missing(), other.waiting()));
        let mut bytes = one.save();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        assert!(Duplex::restore(&bytes).is_err());
    }
}

#[test]
fn the_echoes_of_two_loudspeakers_are_removed_from_two_microphones() {
    let n = 20 * 16_000;
    // Two voices, one of them mostly on the left and one mostly on the right.
    let (a, b) = (speech(n, 16_000, 3), speech(n, 16_000, 8));
    let left: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + 0.3 * b).collect();
    let right: Vec<f32> = a.iter().zip(&b).map(|(a, b)| 0.2 * a + b).collect();
    let played: Vec<f32> = left.iter().zip(&right).flat_map(|(l, r)| [*l, *r]).collect();
    let echo = |seed: u32| -> Vec<f32> {
        let one = convolve(&left, &room(600, 20, seed));
        let other = convolve(&right, &room(600, 25, seed + 1));
        one.iter().zip(&other).map(|(a, b)| a + b).collect()
    };
    let (first, second) = (echo(5), echo(11));
    let heard: Vec<f32> = first.iter().zip(&second).flat_map(|(a, b)| [*a, *b]).collect();
    let mut stereo = Duplex::with_channels(config(), 2, 2).expect("the settings are right");
    let mut clean = Vec::new();
    for (far, near) in played.chunks(640).zip(heard.chunks(640)) {
        stereo.play(far);
        clean.extend_from_slice(stereo.record(near));
    }
    assert_eq!(stereo.latency(), 128);
    let mut mono = Duplex::new(config()).expect("the settings are right");
    let mean: Vec<f32> = left.iter().zip(&right).map(|(l, r)| 0.5 * (l + r)).collect();
    mono.play(&mean[..16_000]);
    let mut mixed = Vec::new();
    for (far, near) in mean[16_000..].chunks(320).zip(first.chunks(320)) {
        mixed.extend_from_slice(mono.record(near));
        mono.play(far);
    }
    for (channel, echo) in [&first, &second].into_iter().enumerate() {
        let out: Vec<f32> = clean.iter().skip(channel).step_by(2).copied().collect();
        let found = gain(&echo[n / 2..], &out[n / 2..]);
        assert!(found > 15.0, "microphone {channel}: {found} dB");
        let one = gain(&first[n / 2..mixed.len()], &mixed[n / 2..]);
        assert!(found > one + 5.0, "{found} dB, with the mean of the loudspeakers alone {one} dB");
    }
    assert!(Duplex::with_channels(config(), 0, 1).is_err());
    assert!(Duplex::with_channels(config(), 1, 65).is_err());
}
