//! The nearest of several names.

pub use parsimon_data::did_you_mean;
