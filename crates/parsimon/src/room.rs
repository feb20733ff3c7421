//! Learners and the memory budget.

use parsimon_core::workspace::Coming;
use parsimon_files::memory::Shortage;

use crate::options::Storage;

/// Why a learner cannot be built.
pub(crate) fn to_build(
    shortage: Shortage,
    name: &str,
    storage: Storage,
    dimension: Option<u32>,
    heads: usize,
) -> String {
    let of = |classes: usize| match classes {
        1 => String::new(),
        _ => format!(" of each of {classes} classes"),
    };
    let (sized_by, way_out) = match (dimension, storage) {
        (Some(features), _) => (
            format!("{features} features{}", of(heads)),
            "hash the features with --bits 18, or use an algorithm that keeps only the features it has seen, such as ftrl",
        ),
        (None, Storage::Slots(slots)) => {
            (format!("{slots} slots{} (--bits {})", of(heads), slots.ilog2()), "use fewer --bits")
        }
        (None, _) => (format!("{heads} classes"), "use fewer classes"),
    };
    shortage.of(&format!("{name} with {sized_by}"), way_out)
}

/// Why rows cannot be learned.
pub(crate) fn to_learn(shortage: Shortage, name: &str, coming: Coming, storage: Storage) -> String {
    let largest = coming.end.saturating_sub(1);
    match storage {
        Storage::Growing if coming.far == 0 => shortage.of(
            &format!("{name} with an array up to feature {largest}"),
            "keep only the features that were seen with --store index, hash them with --bits 20",
        ),
        Storage::Growing | Storage::Index => {
            shortage.of(&format!("{name} with more features"), "hash the features with --bits 20")
        }
        Storage::Slots(_) | Storage::GrowingSlots(_) => {
            shortage.of(&format!("{name} with more features"), "use fewer --bits")
        }
    }
}
