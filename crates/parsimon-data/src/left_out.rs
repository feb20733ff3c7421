//! What a build without all features says where one is needed.

/// The refusal of something that `feature` brings.
pub(crate) fn words(cannot: &str, feature: &str) -> String {
    format!("this build {cannot}: build with `--features {feature}`")
}
