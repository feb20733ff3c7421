//! The service from outside: real sockets, real files.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

mod access;
mod common;
mod labels;
mod learning;
mod pausing;
mod reading;
mod restart;
mod scoring;
mod shadows;
mod skipping;
mod upkeep;
mod versions;
mod vw_port;
