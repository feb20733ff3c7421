//! Messages of a build that lacks a feature.

/// The refusal of something that `feature` brings.
pub(crate) fn words(cannot: &str, feature: &str) -> String {
    format!("this build {cannot}: build it with the feature {feature}")
}
