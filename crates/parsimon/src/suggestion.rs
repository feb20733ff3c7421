//! The nearest of several names.

pub(crate) use parsimon_data::did_you_mean;
