//! Lists `experiments/<paper>/<name>.toml`, so that adding an experiment is adding a file, and sums up the sources a trial
//! depends on, so that a trial kept by another program is not taken for one of this.

use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hasher as _};
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("experiments");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut found = Vec::new();
    for paper in sorted(&root)?.into_iter().filter(|p| p.is_dir()) {
        println!("cargo::rerun-if-changed={}", paper.display());
        found.extend(
            sorted(&paper)?.into_iter().filter(|p| p.extension().is_some_and(|e| e == "toml")),
        );
    }
    let mut list = String::from("&[\n");
    for path in found {
        let name =
            |p: Option<&std::ffi::OsStr>| p.unwrap_or_default().to_string_lossy().into_owned();
        let id =
            format!("{}/{}", name(path.parent().and_then(Path::file_name)), name(path.file_stem()));
        let path = path.canonicalize()?;
        writeln!(list, "    ({id:?}, include_str!({:?})),", path.display().to_string())
            .map_err(io::Error::other)?;
    }
    list.push(']');
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default()).join("experiments.rs");
    fs::write(out, list)?;
    println!("cargo::rustc-env=PARSIMON_SOURCES={:016x}", sources()?);
    Ok(())
}

/// A hash of all sources that compute: the library, and the loops and readers of the lab, without its page. It need not be the
/// same for another compiler: then the trials run again.
fn sources() -> io::Result<u64> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let crates = ["parsimon-core", "parsimon-data", "parsimon-audio", "parsimon"];
    let mut left: Vec<PathBuf> =
        crates.iter().map(|name| here.join("..").join(name).join("src")).collect();
    left.extend([here.join("src/kind"), here.join("src/data")]);
    let mut hash = DefaultHasher::new();
    while let Some(path) = left.pop() {
        // A published crate has its dependencies elsewhere; its version tells it apart.
        if !path.exists() {
            continue;
        }
        println!("cargo::rerun-if-changed={}", path.display());
        if path.is_dir() {
            left.extend(sorted(&path)?);
            continue;
        }
        hash.write(&fs::read(&path)?);
    }
    Ok(hash.finish())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
