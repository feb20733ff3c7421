//! Learners and the memory budget.

use parsimon_core::workspace::Coming;
use parsimon_data::{Message, Remedy, Setting};
use parsimon_files::memory::Shortage;

use crate::options::Storage;

/// Reason why a learner cannot be built.
pub(crate) fn to_build(
    shortage: Shortage,
    name: &str,
    storage: Storage,
    dimension: Option<u32>,
    heads: usize,
) -> Message {
    let of = |classes: usize| match classes {
        1 => String::new(),
        _ => format!(" of each of {classes} classes"),
    };
    let (sized_by, ways) = match (dimension, storage) {
        (Some(features), _) => (
            format!("{features} features{}", of(heads)),
            vec![
                Remedy::Hash(18),
                Remedy::Advice(
                    "use an algorithm that keeps only the features it has seen, such as ftrl"
                        .into(),
                ),
            ],
        ),
        (None, Storage::Slots(slots)) => {
            (format!("2^{} slots{}", slots.ilog2(), of(heads)), vec![Remedy::FewerBits])
        }
        (None, _) => (format!("{heads} classes"), vec![Remedy::Advice("use fewer classes".into())]),
    };
    Message::shortage(&shortage, &format!("{name} with {sized_by}"), &ways)
}

/// Reason why rows cannot be learned.
pub(crate) fn to_learn(
    shortage: Shortage,
    name: &str,
    coming: Coming,
    storage: Storage,
) -> Message {
    let more = format!("{name} with more features");
    let largest = coming.end.saturating_sub(1);
    match storage {
        Storage::Growing if coming.far == 0 => {
            let what = format!("{name} with an array up to feature {largest}");
            let index = Remedy::Pass(Setting::Store, Some("index".into()));
            Message::shortage(&shortage, &what, &[index, Remedy::Hash(20)])
        }
        Storage::Growing | Storage::Index => {
            Message::shortage(&shortage, &more, &[Remedy::Hash(20)])
        }
        Storage::Slots(_) | Storage::GrowingSlots(_) => {
            Message::shortage(&shortage, &more, &[Remedy::FewerBits])
        }
    }
}
