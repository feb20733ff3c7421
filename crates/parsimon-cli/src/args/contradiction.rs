//! Flags that contradict a file.

use std::path::Path;

use crate::fault::Fault;

/// A flag that contradicts what was learned with.
pub(crate) struct Contradiction {
    flag: String,
    given: String,
    stored: String,
}

impl Contradiction {
    pub(crate) fn new(flag: &str, given: impl ToString, stored: impl ToString) -> Self {
        Self { flag: flag.to_owned(), given: given.to_string(), stored: stored.to_string() }
    }

    /// The refusal, with the checkpoint's name.
    pub(crate) fn of(self, path: &Path) -> Fault {
        self.with("checkpoint", path, "--resume")
    }

    /// The refusal, with the name of the model that learning begins with.
    pub(crate) fn of_model(self, path: &Path) -> Fault {
        self.with("model", path, "--from")
    }

    fn with(self, what: &str, path: &Path, way: &str) -> Fault {
        let Self { flag, given, stored } = self;
        let given = if given.is_empty() { String::new() } else { format!(" {given}") };
        Fault::Usage(format!(
            "{flag}{given} contradicts the {what} {}, which was trained with {stored}; leave out {flag}, or train anew without {way}",
            path.display()
        ))
    }
}
