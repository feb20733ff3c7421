//! `identify` and `cancel`, as a user meets them.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::fixture;

use std::path::Path;

use fixture::Dir;
use parsimon_audio::wav::{self, SampleFormat};
use parsimon_testing::Lcg64;
use serde_json::Value;

/// Noise and its echo, some lags late.
fn echo(len: usize) -> (Vec<f32>, Vec<f32>) {
    let far = Lcg64::noise(1, len);
    let at = |t: usize, lag: usize| if t < lag { 0.0 } else { far[t - lag] };
    let near = (0..len).map(|t| 0.5 * at(t, 20) - 0.2 * at(t, 31)).collect();
    (far, near)
}

fn write(dir: &Dir, name: &str, samples: &[f32], rate: u32, format: SampleFormat) {
    wav::write(&dir.path(name), samples, rate, format).unwrap();
}

fn pair(rate: u32, format: SampleFormat) -> Dir {
    let dir = Dir::new();
    let (far, near) = echo(2 * rate as usize);
    write(&dir, "far.wav", &far, rate, format);
    write(&dir, "near.wav", &near, rate, format);
    dir
}

#[test]
fn echo_is_canceled_at_every_rate_and_depth() {
    for (rate, format) in [
        (8_000, SampleFormat::Int16),
        (16_000, SampleFormat::Int24),
        (16_000, SampleFormat::Float32),
        (48_000, SampleFormat::Int16),
    ] {
        let dir = pair(rate, format);
        let words = "cancel --reference far.wav --microphone near.wav --taps 512 -o clean.wav --json - --quiet";
        let report = dir.run(words).json();
        assert_eq!(report["delay"]["samples"], 20, "{rate} {format:?}");
        let erle = report["erle"]["second_half"].as_f64().unwrap();
        assert!(erle > 25.0, "{erle} dB at {rate} {format:?}");
        let clean = wav::read(&dir.path("clean.wav"), None).unwrap();
        assert_eq!(
            (clean.rate, clean.format, clean.samples.len()),
            (rate, format, 2 * rate as usize)
        );
    }
}

#[test]
fn every_filter_cancels() {
    let dir = pair(8_000, SampleFormat::Int16);
    for name in [
        "kalman",
        "fdnlms",
        "lms --rate 0.05",
        "nlms",
        "apa --order 2",
        "papa",
        "pnlms",
        "ipnlms",
        "apfbs --alpha 0.5 --l1 1e-6",
        "pda --alpha 0.5 --l1 1e-4",
    ] {
        let words = format!(
            "cancel --reference far.wav --microphone near.wav --taps 64 --json - --quiet -a {name}"
        );
        let report = dir.run(&words).json();
        let erle = report["erle"]["second_half"].as_f64().unwrap();
        assert!(erle > 15.0, "{name}: {erle} dB");
        assert_eq!(report["algorithm"], *name.split(' ').next().unwrap());
    }
}

#[test]
fn pictures_and_paths_are_written() {
    let dir = pair(8_000, SampleFormat::Int16);
    let words = "cancel --reference far.wav --microphone near.wav -o c.wav --plot p.svg --spectrogram s.svg \
                 --echo-path h.csv --json r.json";
    dir.run(words).ok();
    for name in ["p.svg", "s.svg"] {
        assert!(dir.read(name).starts_with(b"<svg"), "{name}");
    }
    let path = dir.read("h.csv");
    assert!(path.starts_with(b"lag,coefficient\n0,"));
    let report: Value = serde_json::from_slice(&dir.read("r.json")).unwrap();
    assert!(report["time_per_second"].as_f64().unwrap() > 0.0);
    assert!(report["erle"]["over_time"].as_array().unwrap().len() >= 2);
}

#[test]
fn signals_that_do_not_fit_are_refused_in_words() {
    let dir = pair(8_000, SampleFormat::Int16);
    let (far, near) = echo(16_000);
    write(&dir, "fast.wav", &far, 16_000, SampleFormat::Int16);
    write(&dir, "short.wav", &far[..9_000], 8_000, SampleFormat::Int16);
    write(&dir, "tiny.wav", &near[..100], 8_000, SampleFormat::Int16);
    write(&dir, "silent.wav", &vec![0.0; 16_000], 8_000, SampleFormat::Int16);
    let mut clipped = near.clone();
    clipped[100..110].fill(1.0);
    write(&dir, "clipped.wav", &clipped, 8_000, SampleFormat::Int16);
    let whole = std::fs::read(dir.path("far.wav")).unwrap();
    dir.write("cut.wav", &whole[..5_000]).write("empty.wav", b"");
    let run = |words: &str| dir.run(&format!("cancel --microphone near.wav -o out.wav {words}"));

    let rates = run("--reference fast.wav").fails(1);
    assert!(rates.contains("16000 samples per second") && rates.contains("has 8000"), "{rates}");
    assert!(run("--reference empty.wav").fails(1).contains("no WAV file"));
    assert!(run("--reference none.wav").fails(1).contains("none.wav"));
    assert!(run("--reference far.wav --reference-channel 2").fails(1).contains("no channel 2"));
    assert!(run("--reference far.wav --taps 0").fails(2).contains("taps"));
    assert!(run("--reference far.wav --taps 20000").fails(2).contains("smaller --taps"));
    assert!(run("--reference far.wav -a nlms --rate 2").fails(2).contains("> 0 and < 2"));
    assert!(run("--reference far.wav -a nlsm").fails(2).contains("did you mean \"nlms\"?"));
    assert!(run("--reference far.wav -a ftrl").fails(2).contains("does not cancel echo"));
    assert!(
        run("--reference far.wav --rate 0.5").fails(2).contains("kalman has no setting \"rate\"")
    );
    assert!(run("--reference far.wav --memory-seconds -1").fails(2).contains("memory"));
    assert!(run("--reference far.wav --max-delay -1").fails(2).contains("delay"));
    assert!(!dir.path("out.wav").exists(), "a refused run writes nothing");

    let warned = |words: &str| {
        let ran = run(words);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    assert!(warned("--reference cut.wav").contains("cut short"));
    let lengths = warned("--reference short.wav");
    assert!(lengths.contains("9,000 samples") && lengths.contains("16,000"), "{lengths}");
    assert!(warned("--reference silent.wav --no-high-pass").contains("silent.wav is silent"));
    let out = wav::read(&dir.path("out.wav"), None).unwrap();
    let near = wav::read(&dir.path("near.wav"), None).unwrap();
    assert_eq!(out.samples, near.samples, "with a silent reference the microphone passes");
    assert!(warned("--reference clipped.wav").contains("clipped at 10 samples"));
    let words = "cancel --reference far.wav --microphone tiny.wav --taps 16 -o out.wav";
    dir.run(words).ok();
}

#[test]
fn nan_samples_are_refused_with_their_place() {
    let dir = pair(8_000, SampleFormat::Float32);
    let mut bytes = std::fs::read(dir.path("far.wav")).unwrap();
    let at = bytes.len() - 4 * 1_000;
    bytes[at..at + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    dir.write("nan.wav", &bytes);
    let refused = dir.run("cancel --reference nan.wav --microphone near.wav").fails(1);
    assert!(refused.contains("sample 15000 (1.875 s) is NaN"), "{refused}");
}

/// Channels sample by sample, 16 bits each.
fn interleaved(channels: &[&[f32]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for i in 0..channels[0].len() {
        channels.iter().for_each(|c| _ = SampleFormat::Int16.encode(&c[i..=i], &mut bytes));
    }
    bytes
}

/// The samples of a WAV file of one channel and 16 bits, as bytes.
fn samples_of(dir: &Dir, name: &str) -> Vec<u8> {
    interleaved(&[&wav::read(&dir.path(name), None).unwrap().samples])
}

#[test]
fn a_pipe_of_samples_gives_what_the_files_give() {
    let dir = pair(8_000, SampleFormat::Int16);
    let (far, near) = echo(16_000);
    let both = interleaved(&[&far, &near]);
    dir.write("far.raw", interleaved(&[&far])).write("near.raw", interleaved(&[&near]));
    for flags in ["", "--suppress", "--delay 7", "-a nlms --taps 64"] {
        let delay = if flags.contains("--delay") { "" } else { "--delay 0" };
        // Of a file the drift is followed in both directions, which needs what has not come yet.
        let words =
            "cancel --reference far.wav --microphone near.wav -o clean.wav --quiet --no-drift";
        dir.run(&format!("{words} {delay} {flags}")).ok();
        let expected = samples_of(&dir, "clean.wav");

        let words = format!("cancel --raw s16le --sample-rate 8000 --quiet --no-drift {flags}");
        let ran = dir.run_with(&format!("{words} -o both.raw"), &both);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{flags}");
        assert_eq!(dir.read("both.raw"), expected, "{flags}");

        let words = format!("{words} --reference far.raw --microphone - -o -");
        let out = dir.run_with(&format!("{words} --echo-path h.csv"), &interleaved(&[&near]));
        assert_eq!(out.code, 0, "{}", out.stderr);
        assert!(dir.read("h.csv").starts_with(b"lag,"));
        let ran = dir
            .command(&format!(
                "cancel --raw S16_LE --sample-rate 8000 --quiet --reference far.raw --microphone near.raw {flags}"
            ))
            .output()
            .unwrap();
        assert_eq!(ran.stdout, expected, "{flags}");
    }
}

#[test]
fn pipes_are_answered_before_they_end() {
    use std::io::{Read, Write};
    let dir = Dir::new();
    let mut child = dir
        .command("cancel --raw f32le --sample-rate 16000 --quiet")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    // 100 ms in; 90 ms must come out while the input stays open.
    to.write_all(&[0; 1600 * 2 * 4]).unwrap();
    to.flush().unwrap();
    from.read_exact(&mut [0; 1440 * 4]).unwrap();
    drop(to);
    let mut rest = Vec::new();
    from.read_to_end(&mut rest).unwrap();
    assert_eq!(rest.len(), 160 * 4, "the output is as long as the microphone");
    assert!(child.wait().unwrap().success());
}

#[test]
fn pipes_that_do_not_fit_are_refused_in_words() {
    let dir = Dir::new();
    let raw = "cancel --raw s16le --sample-rate 16000 -o out.raw";
    let refused = |words: &str| dir.run(&format!("{raw} {words}")).fails(2);
    assert!(dir.run("cancel --raw s16le -o out.raw").fails(2).contains("--sample-rate"));
    assert!(dir.run("cancel -o out.wav").fails(2).contains("--reference"));
    assert!(dir.run("cancel --raw mp3 --sample-rate 8000").fails(2).contains("s16le"));
    assert!(refused("--channels 1").contains("at least 2 channels"));
    assert!(refused("--channels 0").contains("1 or more"));
    assert!(refused("--channels 3 --microphone-channel 4").contains("has 3 channels"));
    assert!(refused("--reference-channel 2").contains("both channel 2"));
    assert!(refused("--reference - --microphone -").contains("cannot both be standard input"));
    assert!(refused("--reference a --microphone b --channels 2").contains("--reference-channel"));
    assert!(refused("--delay -5").contains("between 0 and 60 seconds"));
    assert!(refused("--max-delay 99").contains("--max-delay must be above 0"));
    assert!(refused("--plot p.svg").contains("cannot be used with"));
    assert!(dir.run(&format!("{raw} --microphone none")).fails(1).contains("none: "));
    assert!(!dir.has("out.raw"), "a refused run writes nothing");
    let low = dir.run("cancel --raw s16le --sample-rate 2000 --suppress -o out.raw").fails(2);
    assert!(low.contains("at least 4000"), "{low}");

    let warned = |words: &str, bytes: &[u8]| {
        let ran = dir.run_with(&format!("cancel --sample-rate 16000 -o out.raw {words}"), bytes);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.stderr
    };
    assert!(warned("--raw s16le", &[0; 403]).contains("the last 3 bytes were left out"));
    assert_eq!(dir.read("out.raw").len(), 200);
    assert!(warned("--raw s16le", &[]).contains("0 samples"));
    assert!(warned("--raw f32le", &[0xff; 80]).contains("20 samples were not finite"));
    dir.write("short.raw", [0; 100]);
    let short = warned("--raw u8 --reference short.raw", &[128; 300]);
    assert!(short.contains("ended 200 samples before"), "{short}");
    assert!(short.contains("delay is searched for while the stream runs"), "{short}");
}

#[test]
fn a_response_is_identified_from_wav_and_csv() {
    let dir = pair(8_000, SampleFormat::Float32);
    let (far, near) = echo(8_000);
    let rows = far.iter().zip(&near).map(|(x, y)| format!("{x},{y}\n"));
    dir.write("both.csv", format!("far,near\n{}", rows.collect::<String>()));
    let truth: String = (0..32)
        .map(|lag| match lag {
            20 => "0.5\n",
            31 => "-0.2\n",
            _ => "0\n",
        })
        .collect();
    dir.write("truth.csv", truth);
    for signals in [
        "--reference far.wav --observed near.wav",
        "--reference both.csv:far --observed both.csv:2",
    ] {
        for name in ["nlms", "ipnlms", "papa --order 2", "pda --alpha 0.5 --l1 1e-4", "rls"] {
            let words = format!(
                "identify {signals} --taps 64 --truth truth.csv --json - -o h.csv --plot h.svg \
                                 --curve c.svg --quiet -a {name}"
            );
            let report = dir.run(&words).json();
            let mismatch = report["mismatch_db"].as_f64().unwrap();
            assert!(mismatch < -25.0, "{name}: {mismatch} dB");
            assert_eq!(report["taps"].as_array().unwrap().len(), 64);
        }
    }
    assert!(dir.read("h.svg").starts_with(b"<svg") && dir.read("c.svg").starts_with(b"<svg"));
    dir.run("identify --reference far.wav --observed near.wav --taps 64 -o h.wav").ok();
    let response = wav::read(&dir.path("h.wav"), None).unwrap();
    assert!((response.samples[20] - 0.5).abs() < 0.01);
}

/// Methods of tables get a rate for the length of the vectors, so that none runs away with its defaults.
#[test]
fn methods_of_tables_identify_vectors_with_their_defaults() {
    let dir = Dir::new();
    for name in [
        "rda",
        "adagrad-rda",
        "csgd",
        "ncsgd",
        "sgd",
        "asgd",
        "fobos",
        "generalized-rda",
        "lazy-sparse",
    ] {
        let words = format!("identify --synthetic n=300,samples=6000 --json - --quiet -a {name}");
        let mismatch = dir.run(&words).json()["mismatch_db"].as_f64().unwrap();
        assert!(mismatch < -3.0, "{name}: {mismatch} dB");
    }
    let listed = dir.run("algorithms").ok();
    assert!(listed.contains("such as rda, adagrad-rda and csgd"), "{listed}");
}

#[test]
fn synthetic_systems_are_those_of_the_thesis() {
    let dir = Dir::new();
    let report =
        |words: &str| dir.run(&format!("identify --json - --quiet --synthetic {words}")).json();
    let pda = report("n=100,zeros=0.9,samples=4000 -a pda --rate 0.13 --alpha 0.8 --l1 3");
    assert!(pda["mismatch_db"].as_f64().unwrap() < -20.0);
    assert!(pda["zeros"].as_f64().unwrap() > 0.8);
    let truth = pda["truth"].as_array().unwrap();
    assert_eq!(truth.iter().filter(|w| w.as_f64() == Some(0.0)).count(), 90);
    let rda =
        report("n=100,zeros=0.9,samples=4000 -a adagrad-rda --loss squared --rate 0.2 --l1 1e-3");
    assert!(rda["mismatch_db"].as_f64().unwrap() < -10.0);
    let signal = report("n=64,samples=4000,regressors=signal -a nlms");
    assert!(signal["mismatch_db"].as_f64().unwrap() < -20.0);
    let [one, other] = [report("n=50,samples=500,seed=3"), report("n=50,samples=500,seed=3")];
    assert_eq!(one["taps"], other["taps"], "the same seed is the same system");
}

#[test]
fn identify_refuses_in_words() {
    let dir = pair(8_000, SampleFormat::Int16);
    dir.write("text.csv", "x\n1\ntwo\n").write("two.csv", "a,b\n1,2\n");
    write(&dir, "silent.wav", &vec![0.0; 16_000], 8_000, SampleFormat::Int16);
    let run = |words: &str| dir.run(&format!("identify {words}"));
    assert!(run("").fails(2).contains("--reference"));
    assert!(run("--synthetic zeroes=1").fails(2).contains("did you mean \"zeros\"?"));
    assert!(run("--synthetic zeros=2").fails(2).contains("zeros must be a share from 0 to 1"));
    assert!(run("--synthetic n=10 -a ftlr").fails(2).contains("did you mean"));
    for name in ["arow", "adaline"] {
        let text = run(&format!("--synthetic n=10 -a {name}")).fails(2);
        assert!(
            text.contains(&format!("{name} learns classes")) && text.contains("nlms"),
            "{text}"
        );
    }
    let text = run("--reference text.csv --observed near.wav").fails(1);
    assert!(text.contains("text.csv:3: a finite number was expected, got \"two\""), "{text}");
    assert!(run("--reference two.csv --observed near.wav").fails(1).contains("2 columns"));
    assert!(run("--reference two.csv:c --observed near.wav").fails(1).contains("no column \"c\""));
    assert!(run("--reference silent.wav --observed near.wav").fails(1).contains("silent"));
    assert!(
        run("--reference far.wav --observed near.wav --taps 99999")
            .fails(2)
            .contains("smaller --taps")
    );
    assert!(
        run("--reference far.wav --observed near.wav -a ftrl")
            .fails(2)
            .contains("does not filter signals")
    );
    assert!(
        run("--reference far.wav --observed near.wav -o h.xyz").fails(2).contains(".wav or .csv")
    );
    assert!(
        run("--reference far.wav --observed near.wav -o far.wav").fails(2).contains("overwritten")
    );
    assert!(Path::new(&dir.path("far.wav")).exists());
}

#[test]
fn one_recording_of_both_is_canceled_and_shown_on_a_page() {
    let dir = Dir::new();
    let (far, near) = echo(16_000);
    wav::write_channels(&dir.path("call.wav"), &[&far, &near], 8_000, SampleFormat::MuLaw).unwrap();
    let words = "cancel --stereo call.wav --taps 64 -o clean.wav --page call.html --json - --quiet";
    let report = dir.run(words).json();
    assert!(report["erle"]["second_half"].as_f64().unwrap() > 20.0);
    let clean = wav::read(&dir.path("clean.wav"), None).unwrap();
    assert_eq!((clean.samples.len(), clean.format), (16_000, SampleFormat::MuLaw));
    let page = std::fs::read_to_string(dir.path("call.html")).unwrap();
    assert_eq!(page.matches("<audio").count(), 2);
    assert!(page.matches("<svg").count() >= 2 && page.contains("data:audio/wav;base64,UklGR"));
    let both = dir.run("cancel --stereo call.wav --reference call.wav --quiet");
    assert!(both.fails(2).contains("--reference"));
}

#[test]
fn every_channel_of_a_microphone_is_cleaned() {
    let dir = Dir::new();
    let (far, near) = echo(16_000);
    let other: Vec<f32> = near.iter().map(|v| -0.5 * v).collect();
    write(&dir, "far.wav", &far, 8_000, SampleFormat::Float32);
    let path = dir.path("near.wav");
    wav::write_channels(&path, &[&near, &other], 8_000, SampleFormat::Float64).unwrap();
    let words = "cancel --reference far.wav --microphone near.wav --taps 64";
    dir.run(&format!("{words} -o both.wav --quiet")).ok();
    dir.run(&format!("{words} -o one.wav --microphone-channel 2 --quiet")).ok();
    let second = wav::read(&dir.path("both.wav"), Some(2)).unwrap();
    assert_eq!((second.channels, second.format), (2, SampleFormat::Float64));
    assert_eq!(second.samples, wav::read(&dir.path("one.wav"), None).unwrap().samples);
    let report = dir.run(&format!("{words} --json r.json --quiet"));
    assert!(report.fails(2).contains("--microphone-channel"));
}

#[test]
fn samples_behind_a_damaged_length_are_read() {
    let dir = pair(8_000, SampleFormat::Int16);
    let path = dir.path("near.wav");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[40..44].copy_from_slice(&0u32.to_le_bytes());
    std::fs::write(&path, bytes).unwrap();
    let ran = dir.run("cancel --reference far.wav --microphone near.wav --taps 64 -o clean.wav");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.stderr.contains("promises no samples"), "{}", ran.stderr);
    assert_eq!(wav::read(&dir.path("clean.wav"), None).unwrap().samples.len(), 16_000);
}

#[test]
fn identify_finds_the_zeros_by_itself_and_filters_in_blocks() {
    let dir = Dir::new();
    let run =
        |words: &str| dir.run(&format!("identify --json - --quiet --synthetic {words}")).json();
    let system = "n=300,zeros=0.9,samples=8000,seed=3";
    let (plain, ours) = (run(&format!("{system} -a nlms")), run(system));
    let number = |report: &Value, name: &str| report[name].as_f64().unwrap();
    assert!(number(&ours, "mismatch_db") <= number(&plain, "mismatch_db"));
    assert!((0.87..0.93).contains(&number(&ours, "zeros")), "{}", ours["zeros"]);
    assert_eq!(number(&plain, "zeros"), 0.0);
    for name in ["kalman", "fdnlms", "fdnlms --rate 0.3"] {
        let report = run(&format!("n=300,samples=20000,regressors=signal -a {name}"));
        assert!(number(&report, "mismatch_db") < -25.0, "{name}: {}", report["mismatch_db"]);
        assert_eq!(report["taps"].as_array().unwrap().len(), 300);
    }
    let vectors = dir.run("identify --synthetic n=30 -a kalman");
    assert!(vectors.fails(2).contains("regressors=signal"));
    let setting = dir.run("identify --synthetic n=30,regressors=signal -a kalman --rate 0.5");
    assert!(setting.fails(2).contains("finds its steps"));
}
