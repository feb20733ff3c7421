//! The commands of README.md and of the pages of docs/, typed as they stand there. A fence such as `sh,norun,network` marks a
//! block that needs more than a folder and this program, with the reason.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use parsimon_testing::markdown::blocks;

use crate::fixture::Dir;

/// Stands for cargo in the folder of a page: `cargo run --release -- ...` is the program under test, and what builds or tests
/// the workspace is the subject of CI itself.
const CARGO: &str = r#"#!/bin/bash
case "$*" in
  "run --release -- "*) shift 3; exec parsimon "$@" ;;
  "xtask test" | "install --path crates/parsimon-cli") exit 0 ;;
  *) echo "cargo $*: mark this block with norun, or add it to tests/documentation.rs" >&2; exit 1 ;;
esac
"#;

/// Stands for pip: the Python blocks are run by python/tests/test_documentation.py.
const PIP: &str = "#!/bin/bash\n[ \"$*\" = 'install .' ]\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// README.md and all pages below docs/, but those of algorithms: `cargo xtask codegen` runs their examples.
fn pages() -> Vec<PathBuf> {
    fn below(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && path.file_name().is_none_or(|name| name != "algorithms") {
                below(&path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found = vec![root().join("README.md")];
    below(&root().join("docs"), &mut found);
    found.sort();
    found
}

/// Why blocks are not run, with their number.
type NotRun = BTreeMap<String, usize>;

/// A script of all blocks of a page that can be run, how many there are, and those that are not run. A comment
/// `<!-- before: COMMAND -->` prepares what the commands of the page assume.
fn script(page: &str) -> (String, usize, NotRun) {
    let mut script = String::from("set -euo pipefail\n");
    for line in page.lines() {
        if let Some(command) =
            line.strip_prefix("<!-- before: ").and_then(|l| l.strip_suffix(" -->"))
        {
            script.push_str(command);
            script.push('\n');
        }
    }
    let (mut run, mut not_run) = (0, NotRun::new());
    for block in blocks(page) {
        if !block.is("sh") && !block.is("console") {
            continue;
        }
        if block.is("norun") {
            let reason = block
                .words
                .get(2)
                .unwrap_or_else(|| panic!("line {}: norun wants a reason", block.line));
            *not_run.entry((*reason).to_owned()).or_default() += 1;
            continue;
        }
        run += 1;
        script.push_str(&format!(": line {}\n", block.line));
        if block.is("sh") {
            script.push_str(block.text);
        } else {
            let answers = block.text.lines().skip(1).chain([""]);
            for (line, answer) in block.text.lines().zip(answers) {
                if let Some(command) = line.strip_prefix("$ ") {
                    // A command that is shown with an error must fail.
                    let command = command.to_owned();
                    let fails = format!("if {command}; then exit 9; fi");
                    script.push_str(if answer.starts_with("error:") { &fails } else { &command });
                    script.push('\n');
                }
            }
        }
    }
    (script, run, not_run)
}

fn run(page: &str) -> Result<(usize, NotRun), String> {
    let (script, run, not_run) = script(page);
    if run == 0 {
        return Ok((0, not_run));
    }
    let dir = Dir::new();
    let bin = dir.path(".bin");
    std::fs::create_dir(&bin).unwrap();
    for (name, text) in [("cargo", CARGO), ("pip", PIP)] {
        std::fs::write(bin.join(name), text).unwrap();
        executable(&bin.join(name));
    }
    let program = Path::new(env!("CARGO_BIN_EXE_parsimon")).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("bash")
        .args(["-xc", &script])
        .current_dir(dir.path(""))
        .env("PATH", format!("{}:{}:{path}", bin.display(), program.display()))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    if output.status.success() {
        return Ok((run, not_run));
    }
    let heard = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = heard.lines().rev().take(12).collect();
    Err(last.into_iter().rev().collect::<Vec<_>>().join("\n"))
}

#[cfg(unix)]
fn executable(file: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn executable(_: &Path) {}

#[test]
#[cfg_attr(not(unix), ignore = "the commands are those of a Unix shell")]
fn every_command_of_the_pages_runs() {
    let (mut run_blocks, mut not_run) = (0, NotRun::new());
    let mut failures = Vec::new();
    for page in pages() {
        let name = page.strip_prefix(root()).unwrap().display().to_string();
        match run(&std::fs::read_to_string(&page).unwrap()) {
            Ok((run, not)) => {
                run_blocks += run;
                if run > 0 || !not.is_empty() {
                    println!("{name}: {run} blocks run, not run: {not:?}");
                }
                not.into_iter().for_each(|(why, n)| *not_run.entry(why).or_default() += n);
            }
            Err(error) => failures.push(format!("{name}:\n{error}\n")),
        }
    }
    println!("{run_blocks} blocks run, not run: {not_run:?}");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(run_blocks > 20, "only {run_blocks} blocks were found");
}

#[test]
fn a_command_that_fails_is_seen() {
    let page = "```sh\nparsimon train absent.svm\n```\n";
    assert!(run(page).unwrap_err().contains("absent.svm"));
    let not_run = NotRun::from([("network".to_owned(), 1)]);
    assert_eq!(run("```sh,norun,network\nfalse\n```\n"), Ok((0, not_run)));
    assert!(run("<!-- before: false -->\n```sh\ntrue\n```\n").is_err());
    assert_eq!(run("```console\n$ true\nfalse\n```\n"), Ok((1, NotRun::new())));
    assert_eq!(run("```console\n$ false\nerror: no\n```\n"), Ok((1, NotRun::new())));
    assert!(run("```console\n$ true\nerror: no\n```\n").is_err());
}
