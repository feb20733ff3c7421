//! All that the next block depends on, as bytes.

use super::{Kalman, LANES};
use crate::AudioError;
use crate::state::{Reader, Writer, state};

impl Kalman {
    pub(super) fn write(&self, to: &mut Writer) {
        for taps in [&self.filter, &self.shadow, &self.earlier, &self.kept, &self.before, &self.x] {
            to.numbers(taps.re.as_flattened());
            to.numbers(taps.im.as_flattened());
        }
        for v in [&self.doubt, &self.near_end, &self.echo_power, &self.weight] {
            to.numbers(v.as_flattened());
        }
        to.numbers(&self.last);
        for v in [
            self.long_term,
            self.filter_energy,
            self.shadow_energy,
            self.microphone_energy,
            self.heard,
            self.left,
        ] {
            to.number(v);
        }
        for v in [self.partitions, self.head, self.turn, self.rotation].map(|v| v as u64) {
            to.count(v);
        }
        for v in [self.learned, self.takeovers, self.loud.into()] {
            to.count(v);
        }
        self.mismatch.save(to);
        self.evidence.save(to);
    }

    pub(super) fn read(&mut self, from: &mut Reader<'_>) -> Result<(), AudioError> {
        for taps in [
            &mut self.filter,
            &mut self.shadow,
            &mut self.earlier,
            &mut self.kept,
            &mut self.before,
            &mut self.x,
        ] {
            from.numbers(taps.re.as_flattened_mut())?;
            from.numbers(taps.im.as_flattened_mut())?;
        }
        for v in [&mut self.doubt, &mut self.near_end, &mut self.echo_power, &mut self.weight] {
            from.numbers(v.as_flattened_mut())?;
        }
        from.numbers(&mut self.last)?;
        for v in [
            &mut self.long_term,
            &mut self.filter_energy,
            &mut self.shadow_energy,
            &mut self.microphone_energy,
            &mut self.heard,
            &mut self.left,
        ] {
            *v = from.number()?;
        }
        let partitions = from.count()?;
        if partitions < self.first as u64 || partitions > self.most as u64 {
            return Err(state("the length of the filter is outside of its bounds"));
        }
        self.reach(partitions as usize);
        let (head, turn, rotation) = (from.count()?, from.count()?, from.count()?);
        if head >= self.most as u64
            || turn >= self.partitions as u64
            || rotation >= self.partitions.div_ceil(LANES) as u64
        {
            return Err(state("a position is outside of the filter"));
        }
        (self.head, self.turn, self.rotation) = (head as usize, turn as usize, rotation as usize);
        (self.learned, self.takeovers) = (from.count()?, from.count()?);
        self.loud = from.count()? != 0;
        self.mismatch.restore(from)?;
        self.evidence.restore(from)?;
        Ok(())
    }
}
