//! The parts of the program that a build can leave out: features of `Cargo.toml`, all on by default.

/// A feature, whether this build has it, and the commands that it brings.
struct Feature {
    name: &'static str,
    is_in: bool,
    commands: &'static [&'static str],
}

const FEATURES: [Feature; 5] = [
    Feature { name: "audio", is_in: cfg!(feature = "audio"), commands: &["cancel"] },
    Feature { name: "columnar", is_in: cfg!(feature = "columnar"), commands: &[] },
    Feature { name: "lab", is_in: cfg!(feature = "lab"), commands: &["reproduce", "data"] },
    Feature {
        name: "serve",
        is_in: cfg!(feature = "serve"),
        commands: &["serve", "log", "client"],
    },
    Feature { name: "zstd", is_in: cfg!(feature = "zstd"), commands: &[] },
];

/// The version with the compiled features, as `parsimon --version` prints it.
pub(crate) fn version() -> String {
    let list = |is_in: bool| {
        let names = FEATURES.iter().filter(|f| f.is_in == is_in).map(|f| f.name);
        names.collect::<Vec<_>>().join(" ")
    };
    let mut text = concat!(env!("CARGO_PKG_VERSION"), "\nfeatures:").to_owned();
    match &list(true)[..] {
        "" => text.push_str(" none"),
        names => text.push_str(&format!(" {names}")),
    }
    match &list(false)[..] {
        "" => {}
        names => text.push_str(&format!("\nleft out: {names}")),
    }
    text
}

/// The feature that brings a command which this build does not have.
pub(crate) fn needed_by(command: &str) -> Option<&'static str> {
    let brings = |feature: &&Feature| !feature.is_in && feature.commands.contains(&command);
    FEATURES.iter().find(brings).map(|feature| feature.name)
}

/// Returns the error of an operation that needs `feature`.
pub(crate) fn left_out(lacks: &str, feature: &str) -> String {
    format!("this build {lacks}: build with `--features {feature}`")
}
