//! Stands in for the reader of Parquet and Arrow in builds without the feature `columnar`: such tables are refused by name.
//!
//! The types have no values, so that the code around them is the same in every build.

#![allow(dead_code, reason = "nothing can be constructed here")]

use std::sync::Arc;

use crate::builder::Builder;
use crate::columns::Columns;
use crate::error::DataError;
use crate::stored::Stored;
use crate::{Format, Options, Space, TableSchema, left_out};

pub(crate) enum Batch {}

pub(crate) enum Layout {}

impl Layout {
    pub(crate) fn columns(&self) -> &Columns {
        match *self {}
    }

    pub(crate) fn default_space(&self) -> Space {
        match *self {}
    }
}

pub(crate) struct Batches {
    pub(crate) layout: Arc<Layout>,
    pub(crate) table: Option<Arc<TableSchema>>,
}

impl Batches {
    pub(crate) fn open(
        name: &Arc<str>,
        format: Format,
        _: Stored,
        _: &Options,
    ) -> Result<Self, DataError> {
        let format = if format == Format::Parquet { "Parquet" } else { "Arrow" };
        Err(DataError::format(name, left_out::words(&format!("reads no {format}"), "columnar")))
    }

    pub(crate) fn next(&mut self) -> Result<Option<Batch>, DataError> {
        match *self.layout {}
    }

    pub(crate) fn fraction(&self) -> f64 {
        match *self.layout {}
    }
}

pub(crate) fn parse(
    _: &mut Builder,
    batch: &Batch,
    _: &Layout,
    _: &Arc<str>,
) -> Result<(), DataError> {
    match *batch {}
}
