#![doc = include_str!("../README.md")]
//!
//! # Contents
//!
//! [`document`] is the frame of every page; [`table`], [`wide`] and [`SortableTable`] are tables; [`facts`] lists names and values;
//! [`figure`] shows a chart of [`chart`].

#![warn(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail by panicking"))]

pub mod chart;
mod document;
mod element;
mod sortable;

pub use document::document;
pub use element::{breakable, facts, figure, table, wide, with_code};
pub use sortable::{Cell, SortableTable};
