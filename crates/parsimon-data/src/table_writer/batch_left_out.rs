//! Stands in for the writer of Parquet and Arrow in builds without the feature `columnar`: such tables are refused by name.

use std::convert::Infallible;
use std::io::{self, Write};
use std::marker::PhantomData;

use super::{Cell, ColumnType};
use crate::left_out;

pub(super) struct BatchTable<W> {
    never: Infallible,
    out: PhantomData<W>,
}

impl<W: Write + Send> BatchTable<W> {
    pub(super) fn new(_: W, is_parquet: bool, _: &[(String, ColumnType)]) -> io::Result<Self> {
        let format = if is_parquet { "Parquet" } else { "Arrow" };
        let words = left_out::words(&format!("writes no {format}"), "columnar");
        Err(io::Error::new(io::ErrorKind::Unsupported, words))
    }

    pub(super) fn push(&mut self, _: &[Cell<'_>]) -> io::Result<()> {
        match self.never {}
    }

    pub(super) fn finish(self) -> io::Result<W> {
        match self.never {}
    }
}
