//! The program as files to install it from: a static program in an archive with completions and man pages, a Debian package, and checksums.
//!
//! The archive is reproducible: the order, times, owners and modes of its files follow from the commit. The program is linked by zig
//! against musl, so that it runs on any Linux.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{output, run, target, works};
use crate::python::{Environment, obstacle};
use crate::table::Table;
use crate::wheels::add_platform;

/// The release files that are not for Python.
pub(crate) fn folder() -> PathBuf {
    Path::new(&target()).join("release-files")
}

const SHELLS: [(&str, &str); 3] =
    [("bash", "parsimon.bash"), ("zsh", "_parsimon"), ("fish", "parsimon.fish")];
const TEXTS: [&str; 5] =
    ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE", "CITATION.cff"];

/// Builds the static program, its archive, the Debian package and checksums. Returns the program.
pub(crate) fn steps(table: &mut Table) -> Option<PathBuf> {
    let machine = std::env::consts::ARCH;
    let (program, archive) = (format!("static program, {machine}"), format!("archive, {machine}"));
    let names = [program.as_str(), archive.as_str(), "Debian package", "checksums"];
    let ready = tools(table);
    let tools = match ready {
        Ok(tools) => tools,
        Err(why) => {
            names.iter().for_each(|name| table.not_run(name, &why));
            return None;
        }
    };
    let Some(built) = table.step(names[0], || build(&tools, machine)) else {
        names[1..].iter().for_each(|name| table.not_run(name, "there is no program"));
        return None;
    };
    table.step(names[1], || pack(&built, machine));
    if works("dpkg-deb", "--version") {
        table.step(names[2], || debian(&built, machine));
    } else {
        table.not_run(names[2], "dpkg-deb is not installed");
    }
    table.step(names[3], || checksums(&folder()));
    Some(built)
}

fn tools(table: &mut Table) -> Result<Environment, String> {
    if let Some(why) = obstacle() {
        return Err(why.to_owned());
    }
    table.preparation("cargo-zigbuild and zig from PyPI", || {
        let tools = Environment::create(Path::new("target/python/tools"))?;
        tools.install(&["cargo-zigbuild", "ziglang"])?;
        Ok(tools)
    })
}

/// The version of the program.
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// The time of the commit in seconds, which all files of an archive have.
fn commit_time() -> Result<String> {
    if let Ok(time) = std::env::var("SOURCE_DATE_EPOCH") {
        return Ok(time);
    }
    let mut git = Command::new("git");
    git.args(["log", "-1", "--format=%ct"]);
    Ok(output(git)?.trim().to_owned())
}

fn build(tools: &Environment, machine: &str) -> Result<PathBuf> {
    let platform = format!("{machine}-unknown-linux-musl");
    add_platform(&platform)?;
    let mut build = tools.command("cargo-zigbuild");
    build.args(["zigbuild", "--release", "--locked", "--package", "parsimon-cli"]);
    build.args(["--target", &platform]);
    // The folder of this machine is no part of the program.
    let here = std::env::current_dir()?;
    let flags = format!("--remap-path-prefix={}=. -C strip=symbols", here.display());
    build.env("RUSTFLAGS", flags);
    run(build)?;
    let program = Path::new(&target()).join(platform).join("release/parsimon");
    let mut linked = Command::new("ldd");
    linked.arg(&program).env("LC_ALL", "C");
    let linked = linked.output().map(|o| [o.stdout, o.stderr].concat()).unwrap_or_default();
    let linked = String::from_utf8_lossy(&linked).into_owned();
    if linked.contains("=>") {
        bail!("the program is not static: {}", linked.trim());
    }
    Ok(std::path::absolute(program)?)
}

/// Writes completions for each shell and man pages below a folder.
fn write_reference(program: &Path, completions: &Path, manual: &Path) -> Result<()> {
    fs::create_dir_all(completions)?;
    for (shell, file) in SHELLS {
        let mut print = Command::new(program);
        print.args(["completions", shell]);
        fs::write(completions.join(file), output(print)?)?;
    }
    fs::create_dir_all(manual)?;
    let mut pages = Command::new(program);
    pages.args(["man", "--out"]).arg(manual);
    run(pages)
}

/// Returns an empty folder.
fn emptied(folder: PathBuf) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| folder.display().to_string())?;
    }
    fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
    Ok(folder)
}

/// Packs the archive twice, compares the bytes, and runs the program that comes out of it.
fn pack(program: &Path, machine: &str) -> Result<()> {
    let name = format!("parsimon-{}-{machine}-unknown-linux-musl", version());
    let stage = emptied(folder().join("stage"))?;
    let root = stage.join(&name);
    fs::create_dir_all(&root)?;
    fs::copy(program, root.join("parsimon"))?;
    for text in TEXTS {
        fs::copy(text, root.join(text)).with_context(|| text.to_owned())?;
    }
    write_reference(program, &root.join("completions"), &root.join("man"))?;
    let archive = folder().join(format!("{name}.tar.gz"));
    let again = stage.join("again.tar.gz");
    for file in [&archive, &again] {
        let mut tar = Command::new("tar");
        tar.args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=gnu"]);
        tar.arg(format!("--mtime=@{}", commit_time()?)).arg("--mode=u=rwX,go=rX");
        // gzip without the name and the time of the file.
        tar.args(["--use-compress-program", "gzip -9 -n", "--create", "--file"]).arg(file);
        tar.arg("--directory").arg(&stage).arg(&name);
        run(tar)?;
    }
    if fs::read(&archive)? != fs::read(&again)? {
        bail!("packing twice gives two archives");
    }
    let out = emptied(stage.join("out"))?;
    let mut unpack = Command::new("tar");
    unpack.arg("--extract").arg("--file").arg(&archive).arg("--directory").arg(&out);
    run(unpack)?;
    println!("{}: {}", archive.display(), said_version(&out.join(&name).join("parsimon"))?);
    Ok(fs::remove_dir_all(stage)?)
}

fn said_version(program: &Path) -> Result<String> {
    let mut ask = Command::new(program);
    ask.arg("--version");
    // The second line has the features.
    let said = output(ask)?.lines().next().unwrap_or_default().to_owned();
    if !said.contains(version()) {
        bail!("{} is {said}, not {}", program.display(), version());
    }
    Ok(said)
}

/// The name of a machine in Debian.
fn debian_name(machine: &str) -> &str {
    match machine {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    }
}

/// Builds a Debian package and runs the program that comes out of it.
fn debian(program: &Path, machine: &str) -> Result<()> {
    let architecture = debian_name(machine);
    let root = emptied(folder().join("debian"))?;
    let binaries = root.join("usr/bin");
    fs::create_dir_all(&binaries)?;
    fs::copy(program, binaries.join("parsimon"))?;
    let manual = root.join("usr/share/man/man1");
    let scripts = emptied(folder().join("scripts"))?;
    write_reference(program, &scripts, &manual)?;
    let places = [
        ("parsimon.bash", "usr/share/bash-completion/completions/parsimon"),
        ("_parsimon", "usr/share/zsh/vendor-completions/_parsimon"),
        ("parsimon.fish", "usr/share/fish/vendor_completions.d/parsimon.fish"),
    ];
    for (script, place) in places {
        install(&scripts.join(script), &root.join(place))?;
    }
    fs::remove_dir_all(scripts)?;
    let documents = root.join("usr/share/doc/parsimon");
    install(Path::new("packaging/debian/copyright"), &documents.join("copyright"))?;
    install(Path::new("CHANGELOG.md"), &documents.join("changelog"))?;
    for example in ["parsimon.service", "serve.toml"] {
        let source = Path::new("packaging").join(example);
        install(&source, &documents.join("examples").join(example))?;
    }
    let mut compress = Command::new("gzip");
    compress.args(["-9", "-n", "--recursive"]).arg(&manual).arg(documents.join("changelog"));
    run(compress)?;
    let control = fs::read_to_string("packaging/debian/control")?;
    let control = control.replace("@version@", version()).replace("@architecture@", architecture);
    fs::create_dir_all(root.join("DEBIAN"))?;
    fs::write(root.join("DEBIAN/control"), control)?;
    let package = folder().join(format!("parsimon_{}_{architecture}.deb", version()));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "-Zxz", "--build"]).arg(&root).arg(&package);
    build.env("SOURCE_DATE_EPOCH", commit_time()?);
    run(build)?;
    let out = emptied(folder().join("debian-out"))?;
    let mut extract = Command::new("dpkg-deb");
    extract.arg("--extract").arg(&package).arg(&out);
    run(extract)?;
    println!("{}: {}", package.display(), said_version(&out.join("usr/bin/parsimon"))?);
    fs::remove_dir_all(out)?;
    Ok(fs::remove_dir_all(root)?)
}

fn install(source: &Path, place: &Path) -> Result<()> {
    fs::create_dir_all(place.parent().context("a place has a folder")?)?;
    fs::copy(source, place).with_context(|| source.display().to_string())?;
    Ok(())
}

/// Writes the checksums of all files of a folder.
pub(crate) fn checksums(folder: &Path) -> Result<()> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name != "SHA256SUMS" && name != "release.md" {
            names.push(name);
        }
    }
    names.sort();
    if names.is_empty() {
        bail!("{} has no files", folder.display());
    }
    let mut sum = Command::new("sha256sum");
    sum.args(&names).current_dir(folder);
    fs::write(folder.join("SHA256SUMS"), output(sum)?)?;
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder);
    run(check)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_and_templates_of_the_packages_are_there() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        for text in TEXTS {
            assert!(root.join(text).is_file(), "{text}");
        }
        let control = fs::read_to_string(root.join("packaging/debian/control")).unwrap();
        assert!(control.contains("Version: @version@\n"));
        assert!(control.contains("Architecture: @architecture@\n"));
        let citation = fs::read_to_string(root.join("CITATION.cff")).unwrap();
        assert!(citation.contains(&format!("\nversion: {}\n", version())), "{citation}");
    }

    #[test]
    fn checksums_cover_each_file_and_are_checked() {
        let folder = std::env::temp_dir().join(format!("parsimon-sums-{}", std::process::id()));
        let folder = emptied(folder).unwrap();
        assert!(checksums(&folder).is_err());
        fs::write(folder.join("a"), "1").unwrap();
        fs::write(folder.join("b"), "2").unwrap();
        checksums(&folder).unwrap();
        let sums = fs::read_to_string(folder.join("SHA256SUMS")).unwrap();
        assert_eq!(sums.lines().count(), 2);
        assert!(sums.contains("  a\n") && sums.contains("  b\n"), "{sums}");
        fs::remove_dir_all(folder).unwrap();
    }
}
