//! Results of earlier runs kept in the output folder, so that running one experiment keeps the others on the page.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{anchor, whole};
use crate::experiment::Experiment;
use crate::picture::Picture;
use crate::runner::Outcome;

/// A stored outcome: with its pictures and the text of its experiment.
#[derive(Debug, Serialize, Deserialize)]
struct KeptOutcome {
    /// The experiment's file.
    text: String,
    /// Results of every variant.
    pictures: Vec<Vec<Picture>>,
    outcome: Outcome,
}

/// Findings in a folder.
#[derive(Debug, Default)]
pub struct Kept {
    /// Outcomes of earlier runs that were not run again, in no order.
    pub outcomes: Vec<Outcome>,
    /// Ids of outcomes whose experiments have changed since, and which are left out.
    pub stale: Vec<String>,
}

/// Writes every outcome into a separate file below the folder.
pub(super) fn write(folder: &Path, outcomes: &[Outcome]) -> std::io::Result<()> {
    let folder = folder.join("outcomes");
    parsimon_files::create_folders(&folder)?;
    for outcome in outcomes {
        let Some(experiment) = &outcome.experiment else { continue };
        let kept = KeptOutcome {
            text: experiment.text.clone(),
            pictures: outcome.variants.iter().map(|v| v.pictures.clone()).collect(),
            outcome: outcome.clone(),
        };
        let path = folder.join(format!("{}.json", anchor(&outcome.id)));
        whole(&path, &serde_json::to_string(&kept)?)?;
    }
    Ok(())
}

/// Reads the outcomes of earlier runs in the folder. `known` are the experiments of the program: an outcome of another version of one is stale.
pub fn merged(folder: &Path, ran: &[Outcome], known: &[Experiment]) -> Kept {
    let mut found = Kept::default();
    let Ok(entries) = std::fs::read_dir(folder.join("outcomes")) else { return found };
    let mut paths: Vec<_> = entries.flatten().map(|e| e.path()).collect();
    paths.sort();
    for path in paths.iter().filter(|p| p.extension().is_some_and(|e| e == "json")) {
        let Some(kept) = read(path) else { continue };
        let id = kept.outcome.id.clone();
        if ran.iter().any(|o| o.id == id) {
            continue;
        }
        let is_own = kept.outcome.paper() == "own";
        let is_same = is_own || known.iter().any(|e| e.id == id && e.text == kept.text);
        match Experiment::parse(&id, &kept.text) {
            Ok(experiment) if is_same => found.outcomes.push(restored(kept, experiment)),
            _ => found.stale.push(id),
        }
    }
    found
}

/// A file that cannot be read counts as missing: the experiment is run again.
fn read(path: &Path) -> Option<KeptOutcome> {
    serde_json::from_slice(&parsimon_files::read_file(path).ok()?).ok()
}

fn restored(kept: KeptOutcome, experiment: Experiment) -> Outcome {
    let mut outcome = kept.outcome;
    for (variant, pictures) in outcome.variants.iter_mut().zip(kept.pictures) {
        variant.pictures = pictures;
    }
    outcome.experiment = Some(experiment);
    outcome
}
