#![doc = include_str!("../README.md")]
//!
//! # Methods as compositions
//!
//! Every method is one row of a table with three columns (McMahan's unified view):
//!
//! * **(A)** how a loss enters: its tangent, the loss itself, or the way to the set where it is zero
//!   ([`Learner::new`], [`Learner::implicit`], [`Learner::projecting`], [`Learner::normalizing`]), or through the margin alone ([`Learner::by_margin`]);
//! * **(B)** how the penalty accumulates: in force once, on every round, or linearized where it was paid
//!   ([`rule::leader::Accrual`], [`penalty`]);
//! * **(C)** where the stabilizing quadratic is centered and how heavy it is ([`rule::leader::Center`], [`metric`]).
//!
//! | method | (B) | (C) center | (C) metric | type |
//! | --- | --- | --- | --- | --- |
//! | SGD, FOBOS, COMID | linearized | iterate | schedule | [`rule::mirror::Scheduled`] |
//! | AdaGrad-FOBOS | linearized | iterate | AdaGrad | [`rule::mirror::Adaptive`] |
//! | RDA | every round | origin | schedule | [`rule::leader::Leader`]`<_, Origin, Global>` |
//! | AdaGrad-RDA | every round | origin | AdaGrad | [`rule::leader::Leader`]`<_, Origin, AdaGrad>` |
//! | FTRL-Proximal, deployed | once | iterate | AdaGrad | [`rule::leader::Leader`]`<_, Iterate, AdaGrad>` |
//! | FTRL-Proximal whose past fades | once | iterate | AdaGrad | [`rule::fading::Fading`] |
//! | FTRL-Proximal, analyzed | every round | iterate | AdaGrad | [`rule::leader::Leader`]`<_, Iterate, AdaGrad>` |
//! | FTRL-Proximal with a schedule | every round | iterate | schedule | [`rule::proximal::Proximal`] |
//! | AOGD | linearized | origin | either | [`rule::anchored::Anchored`] |
//! | PDA, identity metric | once | origin | constant | [`rule::leader::Leader`]`<_, Origin, Global>`, projecting |
//! | NLMS, APFBS, identity metric | linearized | iterate | constant | [`rule::mirror::Scheduled`], projecting |
//! | passive-aggressive | none | iterate | constant | [`rule::mirror::Scheduled`], by margin |
//! | AROW, soft confidence-weighted | none | iterate | variances | [`rule::gaussian::Gaussian`], by margin |
//!
//! A [`rule::Rule`] says how a coordinate is read and how it absorbs a gradient; [`Learner`] is the one loop
//! around it. The weight is a function of the state: no weight is stored beside its state, and
//! reading never writes.
//!
//! [`Normalized`], [`StandardizedTarget`] and [`StandardizedColumns`] go around a learner: they bring rows, labels and the
//! number columns of tables to a common scale, and weights and margins back to the user's units. [`FromModel`] goes around all of
//! them: the learner inside learns the change of a model.
//!
//! Methods that do not update one coordinate at a time are separate: [`Constrained`] (CSGD in `O(nnz)`) and
//! [`filter`] (projections in a metric, affine projections, RLS; sample by sample or row by row).
//! One is not linear: [`kernel::Multikernel`] learns a function over a dictionary of rows.

#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod filter;
pub mod implicit;
pub mod kernel;
pub mod margin;
pub mod merge;
pub mod metric;
pub mod penalty;
pub mod rule;
pub mod workspace;

mod chunk;
mod class_lanes;
mod columns;
mod constrained;
mod dictionary;
mod exponential;
mod fade;
mod float;
mod from_model;
mod geometric;
mod huge;
mod lanes;
mod learner;
mod loss;
mod model;
mod moments;
mod normalized;
mod one_vs_all;
mod online;
mod packed;
mod prefetch;
mod room;
mod row;
mod scattered;
mod schedule;
mod score;
mod share;
mod softmax;
mod standardized;
mod standardized_columns;
mod state;
mod sums;
mod table;
mod vector;
#[doc(hidden)]
pub mod wide;

pub use chunk::{Chunk, NumberColumn, Repeats, RowError};
pub use columns::{ColumnMoments, Columns};
pub use constrained::Constrained;
pub use fade::HalfLife;
pub use float::{Float, Precision, Reduce};
pub use from_model::FromModel;
pub use lanes::{Lane, Lanes};
pub use learner::Learner;
pub use loss::{BestConstant, LabelDomain, Link, Loss};
pub use model::{Frozen, Head, NumberScorer, Scorer};
pub use moments::{Moments, TargetMoments};
pub use normalized::Normalized;
pub use one_vs_all::OneVsAll;
pub use online::Online;
pub use packed::Packed;
pub use penalty::{Penalty, soft};
pub use row::Row;
pub use schedule::Schedule;
pub use score::{ArrayIndex, ArrayValue, SparseRows};
pub use standardized::StandardizedTarget;
pub use standardized_columns::StandardizedColumns;
pub use state::{State, StateError, StateErrorKind, StateWriter};
pub use table::Table;
