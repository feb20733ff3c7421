//! The memory budget of the process: one limit for everything whose size comes from data, flags, specs or files.
//!
//! Whatever may grow large has a [`Claim`]. The claim is raised before the memory is allocated, and a claim beyond the budget is
//! a [`Shortage`]: a message instead of an abort. Buffers of a fixed size are not counted.
//!
//! Memory belongs to the process and not to one of its objects, so there is one budget. [`set_budget`] sets it; otherwise it is
//! three quarters of the machine's memory, of the limit of the control group or of the limit of the address space
//! (`ulimit -v`), whichever is least.
//!
//! ```
//! use parsimon_files::memory::{Claim, budget};
//!
//! let mut claim = Claim::default();
//! claim.set(1_000).unwrap();
//! let shortage = claim.set(u64::MAX / 2).unwrap_err();
//! assert_eq!(shortage.needed(), u64::MAX / 2);
//! assert_eq!(shortage.budget(), budget());
//! assert_eq!(claim.bytes(), 1_000); // as it was
//! ```

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::machine;

/// The budget that was set; 0 if none was.
static SET: AtomicU64 = AtomicU64::new(0);
static IN_USE: AtomicU64 = AtomicU64::new(0);

/// The budget in bytes.
pub fn budget() -> u64 {
    static OF_MACHINE: OnceLock<u64> = OnceLock::new();
    match SET.load(Ordering::Relaxed) {
        0 => *OF_MACHINE.get_or_init(machine::usual_budget),
        set => set,
    }
}

/// Sets the budget of the process, in bytes. Claims that were granted stay granted.
pub fn set_budget(bytes: u64) {
    SET.store(bytes.max(1), Ordering::Relaxed);
}

/// Bytes that are claimed now.
pub fn in_use() -> u64 {
    IN_USE.load(Ordering::Relaxed)
}

/// Bytes of the budget that are left.
pub fn left() -> u64 {
    budget().saturating_sub(in_use())
}

/// Refuses an amount that does not fit beside all claims. For amounts that are claimed, or given back, right afterwards.
pub fn check(bytes: u64) -> Result<(), Shortage> {
    Claim::default().set(bytes)
}

/// A part of the budget. It is given back when the claim is dropped.
#[derive(Debug, Default)]
pub struct Claim {
    bytes: u64,
}

impl Claim {
    /// Claims `bytes` bytes.
    pub fn of(bytes: u64) -> Result<Self, Shortage> {
        let mut claim = Self::default();
        claim.set(bytes).map(|()| claim)
    }

    /// The bytes that are claimed.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Changes the claim to `bytes` bytes. An error leaves it unchanged.
    pub fn set(&mut self, bytes: u64) -> Result<(), Shortage> {
        if bytes == self.bytes {
            return Ok(());
        }
        let (own, budget) = (self.bytes, budget());
        let change = |in_use: u64| {
            let after = in_use.saturating_sub(own).checked_add(bytes)?;
            // Less than before is always granted: a budget may be lowered.
            (after <= budget || bytes < own).then_some(after)
        };
        match IN_USE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, change) {
            Ok(_) => {
                self.bytes = bytes;
                Ok(())
            }
            Err(in_use) => {
                Err(Shortage { needed: bytes, others: in_use.saturating_sub(own), budget })
            }
        }
    }

    /// Raises the claim to `bytes` bytes unless it is already as large.
    pub fn raise(&mut self, bytes: u64) -> Result<(), Shortage> {
        if bytes > self.bytes { self.set(bytes) } else { Ok(()) }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Less is always granted.
        let _ = self.set(0);
    }
}

/// More memory is needed than the budget has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortage {
    needed: u64,
    others: u64,
    budget: u64,
}

impl Shortage {
    /// The bytes that are needed.
    pub fn needed(&self) -> u64 {
        self.needed
    }

    /// The budget in bytes.
    pub fn budget(&self) -> u64 {
        self.budget
    }

    /// A sufficient budget, such as `12GB`; `None` if no machine has as much.
    pub fn enough(&self) -> Option<String> {
        let bytes = self.needed.saturating_add(self.others);
        match bytes.div_ceil(1_000_000_000) {
            0 | 1 => Some(format!("{}MB", bytes.div_ceil(1_000_000))),
            gigabytes => (gigabytes < 1_000_000).then(|| format!("{gigabytes}GB")),
        }
    }
}

impl fmt::Display for Shortage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of memory", amount(self.needed))?;
        if self.others >= 1_000_000 {
            write!(f, " beside the {} in use", amount(self.others))?;
        }
        write!(f, ", and the budget is {}", amount(self.budget))
    }
}

impl std::error::Error for Shortage {}

/// An amount of memory in words: `137 GB`, `1.5 GB`, `20 MB`.
pub fn amount(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let mut value = bytes as f64 / 1e3;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1e3;
        unit += 1;
    }
    let digits = usize::from(value < 9.95);
    let text = format!("{value:.digits$}");
    format!("{} {}", text.strip_suffix(".0").unwrap_or(&text), UNITS[unit])
}

/// Reads an amount such as `4GB`, `512MiB`, `1.5 GB` or `1000000`.
pub fn parse_amount(text: &str) -> Result<u64, String> {
    let text = text.trim();
    let unit_at = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = (text[..unit_at].trim(), text[unit_at..].to_ascii_lowercase());
    let factor = match unit.as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        "tib" => 1_099_511_627_776.0,
        _ => {
            return Err(format!(
                "{unit:?} is not a unit; use kB, MB, GB, TB, KiB, MiB, GiB or TiB"
            ));
        }
    };
    let bytes = number.parse::<f64>().map_or(f64::NAN, |number| number * factor);
    if !(bytes >= LEAST as f64 && bytes <= 1e18) {
        return Err(format!(
            "an amount of memory from {} to 1 EB is needed, such as 4GB",
            amount(LEAST)
        ));
    }
    Ok(bytes as u64)
}

/// The smallest budget that can be asked for. Buffers of a fixed size, which are not counted, take about as much.
const LEAST: u64 = 16_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_read_and_written() {
        for (text, bytes, words) in [
            ("4GB", 4_000_000_000, "4 GB"),
            ("512MiB", 536_870_912, "537 MB"),
            ("1.5 gb", 1_500_000_000, "1.5 GB"),
            (" 20000000 ", 20_000_000, "20 MB"),
            ("0.5TiB", 549_755_813_888, "550 GB"),
        ] {
            assert_eq!(parse_amount(text), Ok(bytes));
            assert_eq!(amount(bytes), words);
        }
        for bad in ["", "GB", "-1GB", "1e400", "NaN", "inf", "4 apples", "1kB", "9999999999TB"] {
            assert!(parse_amount(bad).is_err(), "{bad}");
        }
        assert_eq!(amount(u64::MAX), "18 EB");
        assert_eq!(amount(999_999_999), "1 GB");
    }
}
