//! The interface as C sees it: `check.c` is compiled with the system's compiler, linked with the static library, and run.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]
#![allow(clippy::print_stderr, reason = "a test that is skipped says why")]

use std::path::{Path, PathBuf};
use std::process::Command;

// Links the library, so that cargo builds it.
use parsimon_cancel::Code;

#[test]
fn a_program_in_c_cancels_saves_and_is_refused() {
    assert_eq!(Code::Ok as i32, 0);
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    if Command::new(&compiler).arg("--version").output().is_err() {
        eprintln!("skipped: there is no C compiler ({compiler})");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let program = scratch.path().join("check");
    let compiled = Command::new(&compiler)
        .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-I"])
        .arg(folder.join("include"))
        .arg(folder.join("tests/check.c"))
        .arg("-o")
        .arg(&program)
        .arg(library())
        .args(["-lpthread", "-ldl", "-lm"])
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let ran = Command::new(&program).output().unwrap();
    let (said, complained) =
        (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{:?}: {said}{complained}", ran.status);
    assert!(said.ends_with("all checks passed\n"), "{said}");
}

#[test]
fn what_is_installed_is_found_by_pkg_config() {
    let is_here = |tool: &str| Command::new(tool).arg("--version").output().is_ok();
    if !["cc", "make", "pkg-config"].into_iter().all(is_here) {
        eprintln!("skipped: cc, make or pkg-config is missing");
        return;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let scratch = tempfile::tempdir().unwrap();
    let prefix = scratch.path().join("usr");
    let library = library();
    let installed = Command::new("make")
        .current_dir(folder)
        .arg("install")
        .arg(format!("PREFIX={}", prefix.display()))
        .arg(format!("TARGET={}", library.parent().unwrap().display()))
        .output()
        .unwrap();
    assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
    let flags = Command::new("pkg-config")
        .args(["--cflags", "--libs", "--static", "parsimon_cancel"])
        .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"))
        .output()
        .unwrap();
    assert!(flags.status.success(), "{}", String::from_utf8_lossy(&flags.stderr));
    let flags = String::from_utf8_lossy(&flags.stdout).into_owned();
    assert!(flags.contains("-lparsimon_cancel") && flags.contains("include"), "{flags}");
    let program = scratch.path().join("check");
    let compiled = Command::new("cc")
        .arg(folder.join("tests/check.c"))
        .arg("-o")
        .arg(&program)
        .args(flags.split_whitespace())
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

/// The static library beside this program.
fn library() -> PathBuf {
    let program = std::env::current_exe().unwrap();
    let folders = [program.parent().unwrap(), program.parent().unwrap().parent().unwrap()];
    let found = folders.iter().map(|f| f.join("libparsimon_cancel.a")).find(|p| p.exists());
    found.unwrap_or_else(|| panic!("libparsimon_cancel.a is in neither of {folders:?}"))
}
