//! The lab: experiments of the papers, run again, with a report that says what reproduces and what does not.

pub mod data;
