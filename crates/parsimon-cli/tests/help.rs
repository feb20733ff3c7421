//! Help, manual pages, completions and suggestions as people meet them.

use std::process::Command;

use crate::fixture::Dir;

const TABLE: &str = "site,device,click\n";

fn folder() -> Dir {
    let dir = Dir::new();
    let rows: String =
        (0..60).map(|i| format!("s{},{},{}\n", i % 7, ["ios", "web"][i % 2], i % 3 % 2)).collect();
    dir.write("clicks.csv", TABLE.to_owned() + &rows);
    dir
}

/// The commands, from the help of the program.
fn commands(dir: &Dir) -> Vec<String> {
    let help = dir.run("--help").ok();
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| !line.starts_with("   "));
    names.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

#[test]
fn every_help_fits() {
    let dir = Dir::new();
    let commands = commands(&dir);
    assert!(commands.len() >= 14 && commands.contains(&"train".into()), "{commands:?}");
    for command in &commands {
        // All flags of Vowpal Wabbit are listed, as it does itself.
        let (short, long) = if command == "vw" { (340, 340) } else { (46, 155) };
        for (flag, most) in [("-h", short), ("--help", long)] {
            let help = dir.run(&format!("{command} {flag}")).ok();
            assert!(help.lines().count() <= most, "{command} {flag}: {}", help.lines().count());
            assert!(help.lines().all(|line| line.chars().count() <= 100), "{help}");
            assert!(help.contains(&format!("Usage: parsimon {command}")), "{help}");
        }
        let long = dir.run(&format!("help {command}")).ok();
        assert_eq!(long, dir.run(&format!("{command} --help")).ok());
    }
}

#[test]
fn an_algorithm_has_its_settings() {
    let dir = Dir::new();
    for words in ["train -a ftrl --help", "train --help --algorithm ftrl", "train --ftrl -h"] {
        let help = dir.run(words).ok();
        assert!(help.contains("Settings of ftrl") && help.contains("--beta"), "{help}");
        assert!(!help.contains("--theta"), "{help}");
    }
    let one = dir.run("algorithms ftrl").ok();
    assert!(one.contains("--rate") && one.contains("[default: 0.1]"), "{one}");
    let error = dir.run("train -a frtl --help").fails(2);
    assert!(error.contains("did you mean \"ftrl\"?"), "{error}");
    for words in ["algorithms", "algorithms ftrl", "algorithms multikernel-pda"] {
        let list = dir.run(words).ok();
        assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
    }
}

#[cfg(feature = "lab")]
#[test]
fn experiments_fit_100_columns() {
    let list = Dir::new().run("reproduce --list").ok();
    assert!(list.lines().all(|line| line.chars().count() <= 100), "{list}");
}

#[test]
fn a_page_of_the_manual_for_every_command() {
    let dir = Dir::new();
    dir.run("man --out pages").ok();
    for command in commands(&dir) {
        let page = String::from_utf8(dir.read(&format!("pages/parsimon-{command}.1"))).unwrap();
        assert!(page.contains(&format!(".TH parsimon-{command}")), "{page}");
        assert_eq!(page, dir.run(&format!("man {command}")).ok());
    }
    assert!(dir.has("pages/parsimon.1") && !dir.has("pages/parsimon-complete.1"));
    assert!(dir.run("man").ok().contains(".TH parsimon"));
    assert!(dir.run("man trian").fails(2).contains("did you mean \"train\"?"));
}

#[test]
fn completions_know_the_file_at_hand() {
    let dir = folder();
    let complete = |words: &str| {
        let list = dir.run(&format!("complete -- {words}")).ok();
        list.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(complete("train clicks.csv --label-column cl"), ["click"]);
    assert_eq!(complete("train clicks.csv --ignore site,d"), ["site,device"]);
    assert_eq!(complete("train -a ftr"), ["ftrl"]);
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(dir.run(&format!("completions {shell}")).ok().contains("parsimon"));
    }
}

/// The script in a real shell, as the Tab key runs it.
#[test]
fn bash_completes() {
    let dir = folder();
    if Command::new("bash").arg("--version").output().is_err() {
        println!("skipped: there is no bash");
        return;
    }
    dir.write("parsimon.bash", dir.run("completions bash").ok());
    let complete = |line: &str| {
        let script = format!(
            "source ./parsimon.bash; COMP_LINE='parsimon {line}'; COMP_POINT=${{#COMP_LINE}}; \
             COMP_WORDS=('{}'); _parsimon; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
            env!("CARGO_BIN_EXE_parsimon")
        );
        let ran = Command::new("bash").args(["-c", &script]).current_dir(dir.path("")).output();
        String::from_utf8(ran.unwrap().stdout).unwrap().trim_end().to_owned()
    };
    assert_eq!(complete("trai"), "train");
    assert_eq!(complete("train clicks.csv --label-column "), "site\ndevice\nclick");
    assert_eq!(complete("train --algorithm=ftr"), "ftrl");
    assert_eq!(complete("compare clicks.csv -m ftrl:loss=hin"), "hinge");
    assert_eq!(complete("train cli"), "");
}

#[test]
fn suggestions_are_right_or_not_made() {
    let dir = folder();
    for (words, code, expected) in [
        ("train clicks.csv --lable-column click", 2, "did you mean '--label-column'?"),
        ("train clciks.csv", 1, "did you mean clicks.csv?"),
        ("predict clicks.cvs clicks.csv", 1, "did you mean clicks.csv?"),
        ("train clicks.csv --label-column clikc", 1, "did you mean \"click\"?"),
        ("trian clicks.csv", 2, "did you mean 'train'?"),
        ("tran clicks.csv", 2, "did you mean 'train'?"),
        ("fit clicks.csv", 2, "did you mean 'train'?"),
        ("frobnicate", 2, "the commands are train, predict"),
        ("train clicks.csv -a frtl", 2, "did you mean \"ftrl\"?"),
        ("train clicks.csv -a ftrl --theta 1", 2, "\"theta\", a setting of truncation"),
        ("predict m.psm clicks.csv --as proba", 2, "did you mean 'probability'?"),
        ("predict m.psm clicks.csv --passes 2", 2, "it is an option of train, not of"),
        ("train clicks.csv --sep x", 2, "it must be one sign such as ; or |, or tab"),
        ("train clicks.csv --batch-size 32", 2, "rows are learned one by one"),
        ("train", 2, "<DATA>... must be given"),
    ] {
        let error = dir.run(words).fails(code);
        assert!(error.contains(expected), "{words}: {error}");
        assert!(!error.contains("os error"), "{error}");
    }
    for words in [
        "train nothing.csv",
        "train clicks.csv --label-column nothing",
        "inspect m.psm --weights csv",
        "completions csh",
        "algorithms xyz",
        "train clicks.csv --frobnicate",
    ] {
        let ran = dir.run(words);
        assert!(ran.code != 0 && !ran.stderr.contains("did you mean"), "{words}: {}", ran.stderr);
    }
    dir.run("train clicks.csv --algo ftrl --lr 0.1 --quiet").ok();
}
