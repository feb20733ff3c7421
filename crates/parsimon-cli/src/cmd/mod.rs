//! The commands.

pub(crate) mod advice;
pub(crate) mod algorithms;
pub(crate) mod calibrate;
#[cfg(feature = "audio")]
pub(crate) mod cancel;
#[cfg(feature = "audio")]
mod cancel_page;
#[cfg(feature = "audio")]
mod cancel_raw;
#[cfg(feature = "serve")]
pub(crate) mod client;
mod columns;
pub(crate) mod compare;
pub(crate) mod comparison;
pub(crate) mod complete;
pub(crate) mod convert;
#[cfg(feature = "lab")]
pub(crate) mod data;
#[cfg(feature = "serve")]
mod demo;
pub(crate) mod evaluate;
pub(crate) mod identify;
pub(crate) mod inspect;
mod inspect_page;
#[cfg(feature = "serve")]
pub(crate) mod log;
pub(crate) mod merge;
pub(crate) mod predict;
pub(crate) mod quickstart;
pub(crate) mod reference;
#[cfg(feature = "lab")]
pub(crate) mod reproduce;
pub(crate) mod schema;
#[cfg(feature = "serve")]
pub(crate) mod serve;
pub(crate) mod train;
pub(crate) mod tune;
mod unknown;
pub(crate) mod vw;
