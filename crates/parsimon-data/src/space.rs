//! Feature spaces.

use std::fmt;

use crate::DataError;

/// Feature spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Integer ids, not hashed: 0 to [`Space::LARGEST_ID`].
    Ids,
    /// Names hashed into `2^bits` slots; `bits` is 1 to 31.
    Hashed {
        /// The logarithm of the number of slots.
        bits: u8,
    },
}

impl Space {
    /// The largest id.
    pub const LARGEST_ID: u32 = u32::MAX - 1;

    /// Default number of bits of hashed features.
    pub const DEFAULT_BITS: u8 = 22;

    /// Refuses an invalid number of bits.
    pub fn check(self) -> Result<(), DataError> {
        match self {
            Space::Hashed { bits } if !(1..=31).contains(&bits) => {
                Err(DataError::setting(format!("hash bits must be 1 to 31, got {bits}")))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Space::Ids => f.write_str("ids"),
            Space::Hashed { bits } => write!(f, "hashed into 2^{bits} slots"),
        }
    }
}
