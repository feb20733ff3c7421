//! The service from outside: real sockets, real files.

mod common;
mod labels;
mod learning;
mod restart;
mod scoring;
