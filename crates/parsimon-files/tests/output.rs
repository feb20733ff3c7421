//! The promises of file output, one test for each.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use parsimon_files::{ErrorKind, OutputFile, check_target, write_file};
use tempfile::TempDir;

/// A folder, and that it holds exactly these files.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn holds(&self, expected: &[&str]) {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, expected);
    }
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_old_file_stays_until_the_new_one_is_whole() {
    let folder = Folder::new();
    let path = folder.path("file");
    std::fs::write(&path, "old").unwrap();
    let mut file = OutputFile::create(&path).unwrap();
    file.write_all(b"new bytes").unwrap();
    file.flush().unwrap();
    assert_eq!(read(&path), "old");
    file.commit().unwrap();
    assert_eq!(read(&path), "new bytes");
    folder.holds(&["file"]);
}

#[test]
fn nothing_is_left_after_a_drop_an_error_or_a_panic() {
    let folder = Folder::new();
    let path = folder.path("file");
    let begin = || {
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        file
    };
    drop(begin());
    folder.holds(&[]);
    let panicked = std::panic::catch_unwind(|| {
        let _file = begin();
        panic!("on purpose");
    });
    assert!(panicked.is_err());
    folder.holds(&[]);
    // The target became a folder meanwhile: renaming fails.
    let file = begin();
    std::fs::create_dir(&path).unwrap();
    let error = file.commit().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Directory, "{error}");
    folder.holds(&["file"]);
}

#[test]
fn a_new_file_replaces_nothing() {
    let folder = Folder::new();
    let path = folder.path("file");
    let mut file = OutputFile::create_new(&path).unwrap();
    file.put(b"new").unwrap();
    std::fs::write(&path, "someone else's").unwrap();
    assert_eq!(file.commit().unwrap_err().kind(), ErrorKind::Exists);
    assert_eq!(read(&path), "someone else's");
    folder.holds(&["file"]);
}

#[test]
fn directories_and_missing_folders_are_refused_and_named() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inner")).unwrap();
    let shown = |name: &str| folder.path(name).display().to_string();
    for (name, kind, words) in [
        ("inner", ErrorKind::Directory, "cannot be written: it is a directory"),
        ("inner/..", ErrorKind::Directory, "cannot be written: it is a directory"),
        ("inner/", ErrorKind::Directory, "a name that ends with a slash is a directory"),
        ("new/", ErrorKind::Directory, "a name that ends with a slash is a directory"),
        ("missing/file", ErrorKind::NotFound, "cannot be written: its folder does not exist"),
    ] {
        let errors = [write_file(&folder.path(name), b""), check_target(&folder.path(name))];
        for error in errors.map(Result::unwrap_err) {
            assert_eq!(error.kind(), kind, "{error}");
            let text = error.to_string();
            assert!(text.starts_with(&shown(name)) && text.contains(words), "{text}");
        }
    }
    let missing = write_file(&folder.path("missing/file"), b"").unwrap_err();
    let error = std::io::Error::from(missing);
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
    assert!(error.to_string().contains("its folder does not exist"), "{error}");
}

#[test]
fn checking_writes_nothing() {
    let folder = Folder::new();
    check_target(&folder.path("file")).unwrap();
    folder.holds(&[]);
}

#[cfg(unix)]
mod unix {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn permissions_are_those_of_the_replaced_file() {
        let folder = Folder::new();
        let path = folder.path("file");
        for wanted in [0o600, 0o640, 0o666, 0o755, 0o200] {
            std::fs::write(&path, "old").unwrap();
            std::fs::set_permissions(&path, Permissions::from_mode(wanted)).unwrap();
            write_file(&path, b"new").unwrap();
            assert_eq!(mode(&path), wanted, "{wanted:o}");
            std::fs::remove_file(&path).unwrap();
        }
    }

    #[test]
    fn a_new_file_gets_what_the_umask_gives() {
        let folder = Folder::new();
        let (ordinary, ours) = (folder.path("ordinary"), folder.path("ours"));
        std::fs::write(&ordinary, "").unwrap();
        write_file(&ours, b"").unwrap();
        assert_eq!(mode(&ours), mode(&ordinary));
        let mut new = OutputFile::create_new(&folder.path("new")).unwrap();
        new.put(b"x").unwrap();
        new.commit().unwrap();
        assert_eq!(mode(&folder.path("new")), mode(&ordinary));
        folder.holds(&["new", "ordinary", "ours"]);
    }

    /// The administrator too: this test may well run as root.
    #[test]
    fn a_read_only_file_is_refused() {
        let folder = Folder::new();
        let path = folder.path("file");
        std::fs::write(&path, "old").unwrap();
        for mode in [0o444, 0o400, 0o466] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            for error in [write_file(&path, b"new"), check_target(&path)].map(Result::unwrap_err) {
                assert_eq!(error.kind(), ErrorKind::Permission);
                assert!(error.to_string().contains("the file is read-only"), "{error}");
            }
        }
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut late = OutputFile::create(&path).unwrap();
        late.put(b"new").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o444)).unwrap();
        assert_eq!(late.commit().unwrap_err().kind(), ErrorKind::Permission);
        assert_eq!(read(&path), "old");
        folder.holds(&["file"]);
    }

    #[test]
    fn a_link_stays_and_what_it_leads_to_is_replaced() {
        let folder = Folder::new();
        std::fs::create_dir(folder.path("far")).unwrap();
        let real = folder.path("far/real");
        std::fs::write(&real, "old").unwrap();
        std::fs::set_permissions(&real, Permissions::from_mode(0o600)).unwrap();
        // A relative link to a link.
        symlink("far/real", folder.path("one")).unwrap();
        symlink("one", folder.path("two")).unwrap();
        write_file(&folder.path("two"), b"new").unwrap();
        assert_eq!((read(&real).as_str(), mode(&real)), ("new", 0o600));
        // To a file that does not exist yet.
        symlink("far/later", folder.path("three")).unwrap();
        write_file(&folder.path("three"), b"made").unwrap();
        assert_eq!(read(&folder.path("far/later")), "made");
        for link in ["one", "two", "three"] {
            assert!(folder.path(link).symlink_metadata().unwrap().is_symlink());
        }
        symlink("round", folder.path("round")).unwrap();
        let error = write_file(&folder.path("round"), b"").unwrap_err().to_string();
        assert!(error.contains("too many levels of symbolic links"), "{error}");
    }

    #[test]
    fn devices_are_written_directly() {
        write_file(Path::new("/dev/null"), b"gone").unwrap();
        check_target(Path::new("/dev/null")).unwrap();
        assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_has_a_kind_and_a_name() {
        let full = Path::new("/dev/full");
        let error = write_file(full, b"x").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NoSpace);
        assert!(error.to_string().starts_with("/dev/full: cannot be written: "), "{error}");
        let mut file = OutputFile::create(full).unwrap();
        let error = file.write_all(&vec![0; 1 << 17]).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull);
        assert!(error.to_string().starts_with("/dev/full: cannot be written: "), "{error}");
    }

    #[test]
    fn a_pipe_is_written_directly_and_stays_a_pipe() {
        let folder = Folder::new();
        let path = folder.path("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        // The pipe has no reader yet: checking must not wait.
        check_target(&path).unwrap();
        let reader = std::thread::spawn({
            let path = path.clone();
            move || {
                let mut text = String::new();
                std::fs::File::open(path).unwrap().read_to_string(&mut text).unwrap();
                text
            }
        });
        write_file(&path, b"through").unwrap();
        assert_eq!(reader.join().unwrap(), "through");
        assert!(!std::fs::metadata(&path).unwrap().is_file());
        folder.holds(&["pipe"]);
    }

    #[test]
    fn a_socket_stays_a_socket() {
        let folder = Folder::new();
        let path = folder.path("socket");
        let _socket = std::os::unix::net::UnixListener::bind(&path).unwrap();
        // The system does not open sockets by name; the error says so, and the socket is not replaced.
        let error = write_file(&path, b"x").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(_)), "{error:?}");
        folder.holds(&["socket"]);
    }
}
