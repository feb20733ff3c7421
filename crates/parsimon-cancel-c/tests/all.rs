//! The integration tests of this crate, one program.

mod from_c;
