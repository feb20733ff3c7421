//! HTML pages that open offline, and charts as SVG.
//!
//! Pages are written with the templates of [`maud`]: a template is Rust code that the compiler checks, tags cannot be left
//! open, and every value is escaped unless its type says that it is markup. [`document`] is the frame of every page, [`table`],
//! [`wide`] and [`SortableTable`] are its tables, [`facts`] lists names and values, [`figure`] shows a chart of [`chart`].
//!
//! ```
//! use maud::html;
//! use parsimon_page::chart::{Figure, Panel, Series};
//! use parsimon_page::{document, figure, table};
//!
//! let loss = Panel::new("rows", "loss").series(Series::line("ftrl", [(1.0, 0.69), (2.0, 0.51)]));
//! let page = document(
//!     "Click & buy",
//!     html! {
//!         h1 { "Click & buy" }
//!         (table(None, &["method", "loss"], [html! { tr { td { "ftrl" } td { "0.51" } } }]))
//!         (figure(&Figure::new("Loss").panel(loss), None))
//!     },
//! );
//! assert!(page.starts_with("<!doctype html>") && page.contains("<title>Click &amp; buy</title>"));
//! ```

#![warn(clippy::print_stdout, clippy::print_stderr)]
#![cfg_attr(test, allow(clippy::unwrap_used, reason = "a test may fail by panicking"))]

pub mod chart;
mod document;
mod element;
mod sortable;

pub use document::document;
pub use element::{breakable, facts, figure, table, wide, with_code};
pub use sortable::{Cell, SortableTable};
