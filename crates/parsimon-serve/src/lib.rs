#![doc = include_str!("../README.md")]
//!
//! A [`Model`] is read by any number of requests while one thread changes it. A [`Service`] is a set of models with limits and
//! access rules, and a [`Server`] is its socket. [`archive`] works on the log of a model without the service.

mod access;
pub mod alarm;
mod answer;
mod connections;
mod content;
mod engine;
mod error;
mod fencing;
mod follower;
mod http;
mod logging;
mod memory;
mod metrics;
mod server;
mod vw_port;
mod wait;

pub use access::{Access, Role};
pub use answer::{Prediction, Task};
pub use content::{Content, Shape};
pub use engine::{
    ARITHMETIC, Ack, Backlog, Breaker, Labelled, Labels, Learning, Limits, Model, OpenError,
    Policy, Reached, Report, Request, Scored, Source, Taken, Version, Without, check_name,
};
/// The log of a model on disk, without the service.
pub mod archive {
    pub use crate::engine::{
        Replayed, Upgraded, backup, damage, duplicate, export, export_set_aside, formats, inspect,
        repair, replay, upgrade, verify,
    };
}
pub use error::Refusal;
/// A process that follows another one, and may take its place.
pub mod following {
    pub use crate::engine::Lag;
    pub use crate::fencing::{Watch, watch_follower};
    pub use crate::follower::{FollowerThread, Leader, first_record, follow, models_of, prepare};
}
pub use http::{Service, router};
pub use logging::{Verbosity, log_to_stderr};
pub use memory::set_request_memory;
pub use server::{Server, until};
