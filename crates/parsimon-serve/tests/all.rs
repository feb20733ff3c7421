//! The service from outside: real sockets, real files.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod access;
mod alarms;
mod common;
mod doors;
mod following;
mod labels;
mod learning;
mod limits;
mod pausing;
mod reading;
mod restart;
mod scoring;
mod shadows;
mod skipping;
mod streams;
mod upkeep;
mod versions;
mod vw_port;
mod warming;
mod watching;
