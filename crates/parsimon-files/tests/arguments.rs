//! An output that is an input, or another output, is refused whatever it is called.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use parsimon_files::{Arguments, ErrorKind, FileId};

#[test]
fn inputs_are_recognized_by_every_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("data"), "1 1:1\n").unwrap();
    std::fs::create_dir(path("inner")).unwrap();
    let mut names = vec!["data", "inner/../data", "./data"];
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("data", path("link")).unwrap();
        std::os::unix::fs::symlink("link", path("link-to-link")).unwrap();
        std::fs::hard_link(path("data"), path("hard-link")).unwrap();
        names.extend(["link", "link-to-link", "hard-link"]);
    }
    for name in names {
        let mut arguments = Arguments::new();
        arguments.input("DATA", &path("data"));
        let error = arguments.output("-o", &path(name)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SameFile, "{name}");
        let text = error.to_string();
        let words = format!(
            "{}: cannot be written: -o is the same file as DATA {}, which would be overwritten; \
             choose another file for -o",
            path(name).display(),
            path("data").display()
        );
        assert_eq!(text, words);
    }
    // A second file with equal bytes is a different file.
    std::fs::write(path("copy"), "1 1:1\n").unwrap();
    let mut arguments = Arguments::new();
    arguments.input("DATA", &path("data"));
    arguments.output("-o", &path("copy")).unwrap();
}

#[test]
fn two_outputs_are_two_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    std::fs::create_dir(path("inner")).unwrap();
    let mut arguments = Arguments::new();
    // Neither exists yet.
    arguments.output("-o", &path("model")).unwrap();
    arguments.output("--json", &path("report")).unwrap();
    let error = arguments.output("--plot", &path("inner/../model")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::SameFile);
    assert!(error.to_string().contains("--plot is the same file as -o "), "{error}");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("model", path("link")).unwrap();
        let error = arguments.output("--html", &path("link")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SameFile);
    }
}

#[cfg(unix)]
#[test]
fn devices_are_no_files() {
    let null = std::path::Path::new("/dev/null");
    assert_eq!(FileId::of(null), None);
    let mut arguments = Arguments::new();
    arguments.input("DATA", null);
    arguments.output("-o", null).unwrap();
    arguments.output("--json", null).unwrap();
}

#[test]
fn a_missing_input_is_left_to_its_reader() {
    let folder = tempfile::tempdir().unwrap();
    let mut arguments = Arguments::new();
    arguments.input("DATA", &folder.path().join("missing"));
    let error = arguments.output("-o", &folder.path().join("no/file")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
}
