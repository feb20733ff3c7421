//! Lists `experiments/<paper>/<name>.toml`, so that adding an experiment is adding a file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments");
    println!("cargo::rerun-if-changed={}", root.display());
    let mut found = Vec::new();
    for paper in sorted(&root)? {
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
    fs::write(out, list)
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths =
        fs::read_dir(folder)?.map(|e| e.map(|e| e.path())).collect::<io::Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}
