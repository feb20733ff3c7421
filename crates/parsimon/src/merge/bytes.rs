//! Deltas as bytes: the layout of all files with its checksum; every field is checked.

use std::collections::BTreeSet;

use parsimon_core::merge::{Step, Tally};
use parsimon_core::workspace::MomentsDelta;
use parsimon_core::{ColumnMoments, State, StateWriter, TargetMoments};
use serde_json::json;

use super::moments::is_plausible;
use super::{Combine, Counts, Delta, MOST_SLICES, slice_of};
use crate::container::{Container, Kind, bytes_of, numbers_of};
use crate::error::{Error, FormatError, Refusal};
use crate::model::{FeatureNames, encode_names, push_names};

impl Delta {
    /// The bytes of a delta.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut container = Container::new(json!({
            "base": format!("{:016x}", self.base),
            "combine": self.combine.name(),
            "slice": self.slice,
            "slices": self.slices,
            "width": self.width,
            "heads": self.tallies.len(),
            "learners": self.counts.learners,
            "rows": self.counts.rows,
            "inputs": self.inputs,
            "version": env!("CARGO_PKG_VERSION"),
        }));
        let Counts { weight, loss, rounds, .. } = &self.counts;
        let counts: Vec<f64> = [*weight, *loss].iter().chain(rounds).copied().collect();
        container.push("counts", bytes_of(&counts, f64::to_le_bytes));
        for (head, tally) in self.tallies.iter().enumerate() {
            container.push(&format!("ids.{head}"), bytes_of(&tally.ids, u32::to_le_bytes));
            container.push(&format!("parts.{head}"), bytes_of(&tally.parts, f64::to_le_bytes));
        }
        if let Some(moments) = &self.counts.moments {
            push_moments(&mut container, moments, &self.scales);
        }
        let names = encode_names(self.names.iter().map(|(slot, name)| (*slot, name.as_str())));
        push_names(&mut container, &names);
        container.to_bytes(Kind::Delta)
    }

    /// A delta from its bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let bad = |refusal: Refusal| Error::Format(FormatError::new("the delta", refusal));
        Self::read(&Container::from_bytes(bytes, Kind::Delta).map_err(|e| bad(e.into()))?)
            .ok_or_else(|| bad("has fields that do not belong together".to_owned().into()))
    }

    fn read(container: &Container) -> Option<Self> {
        let about = &container.about;
        let natural = |name: &str| about[name].as_u64();
        let heads = usize::try_from(natural("heads")?).ok()?;
        let width = usize::try_from(natural("width")?).ok()?;
        let slice = u32::try_from(natural("slice")?).ok()?;
        let slices = u32::try_from(natural("slices")?).ok()?;
        let counts = numbers_of(container.section("counts"), f64::from_le_bytes)?;
        let sizes_fit = (1..=Step::WIDTH).contains(&width)
            && (1..=MOST_SLICES).contains(&slices)
            && slice < slices
            && Some(counts.len()) == heads.checked_add(2)
            && counts.iter().all(|c| c.is_finite());
        let [weight, loss, rounds @ ..] = &counts[..] else { return None };
        if !sizes_fit {
            return None;
        }
        let (moments, scales) = read_moments(container, slice, slices)?;
        let tally = |head: usize| read_tally(container, head, width, slice, slices);
        let owned = |(slot, name): (u32, &str)| (slot, name.to_owned());
        Some(Self {
            base: u64::from_str_radix(about["base"].as_str()?, 16).ok()?,
            combine: about["combine"].as_str()?.parse::<Combine>().ok()?,
            slice,
            slices,
            width,
            counts: Counts {
                learners: natural("learners")?,
                rows: natural("rows")?,
                weight: *weight,
                loss: *loss,
                rounds: rounds.to_vec(),
                moments,
            },
            scales,
            tallies: (0..heads).map(tally).collect::<Option<_>>()?,
            names: FeatureNames::read(container).ok()?.iter().map(owned).collect(),
            inputs: serde_json::from_value(about["inputs"].clone()).ok()?,
        })
    }
}

/// The coordinates of one head: ids ascending and in their slice, numbers finite.
fn read_tally(
    container: &Container,
    head: usize,
    width: usize,
    slice: u32,
    slices: u32,
) -> Option<Tally> {
    let ids = numbers_of(container.section(&format!("ids.{head}")), u32::from_le_bytes)?;
    let parts = numbers_of(container.section(&format!("parts.{head}")), f64::from_le_bytes)?;
    let good = ids.is_sorted_by(|a, b| a < b)
        && ids.iter().all(|&id| slice_of(id, slices) == slice)
        && Some(parts.len()) == ids.len().checked_mul(width)
        && parts.iter().all(|p| p.is_finite());
    good.then_some(Tally { ids, parts })
}

/// The moments that all slices share, and the scales of the features in one slice.
fn push_moments(container: &mut Container, shared: &MomentsDelta, scales: &MomentsDelta) {
    let MomentsDelta { weight, energy, target, .. } = shared;
    let TargetMoments { weight: labels, mean, squares, low, high } = target;
    let sums = [*weight, *energy, *labels, *mean, *squares, *low, *high];
    let ids: Vec<u32> = scales.features.iter().map(|(id, _)| *id).collect();
    let samples: Vec<f64> = scales.features.iter().flat_map(|(_, sample)| *sample).collect();
    container.about["scales"] = ids.len().into();
    container.push("moments", bytes_of(&sums, f64::to_le_bytes));
    container.push("scale_ids", bytes_of(&ids, u32::to_le_bytes));
    container.push("scales", bytes_of(&samples, f64::to_le_bytes));
    let mut columns = StateWriter::new();
    scales.columns.write(&mut columns);
    container.push("columns", columns.into_bytes());
}

/// Reads the moments of a delta from a container. Deltas of learners that keep no moments have no field `scales`.
fn read_moments(
    container: &Container,
    slice: u32,
    slices: u32,
) -> Option<(Option<MomentsDelta>, MomentsDelta)> {
    let (count, none) = (&container.about["scales"], MomentsDelta::default());
    if count.is_null() {
        return Some((None, none));
    }
    let sums = numbers_of(container.section("moments"), f64::from_le_bytes)?;
    let [weight, energy, labels, mean, squares, low, high] = sums[..] else { return None };
    let target = TargetMoments { weight: labels, mean, squares, low, high };
    let shared = MomentsDelta { weight, energy, target, ..none.clone() };
    let ids = numbers_of(container.section("scale_ids"), u32::from_le_bytes)?;
    let samples = numbers_of(container.section("scales"), f64::from_le_bytes)?;
    let samples = samples.as_chunks::<3>();
    let sizes_fit = count.as_u64() == Some(ids.len() as u64)
        && samples.0.len() == ids.len()
        && samples.1.is_empty();
    let ids_fit = ids.is_sorted_by(|a, b| a < b)
        && ids.iter().all(|&id| id < Tally::BIAS && slice_of(id, slices) == slice);
    let columns = read_columns(container.section("columns"), slice)?;
    let features = ids.into_iter().zip(samples.0.iter().copied()).collect();
    let scales = MomentsDelta { features, columns, ..none };
    let good = sizes_fit && ids_fit && is_plausible(&shared) && is_plausible(&scales);
    good.then_some((Some(shared), scales))
}

/// Columns of the first slice, each once.
fn read_columns(mut bytes: &[u8], slice: u32) -> Option<Vec<ColumnMoments>> {
    let columns = Vec::<ColumnMoments>::read(&mut bytes).ok()?;
    let keys: BTreeSet<u64> = columns.iter().map(|column| column.key).collect();
    let fits = bytes.is_empty() && keys.len() == columns.len() && (slice == 0 || keys.is_empty());
    fits.then_some(columns)
}
