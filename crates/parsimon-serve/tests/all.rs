//! The service from outside: real sockets, real files.

mod access;
mod common;
mod fuzzed;
mod labels;
mod learning;
mod restart;
mod scoring;
mod versions;
mod vw_port;
