//! The first rows of a table, by column.

use std::sync::Arc;

use parsimon_core::Chunk;
use rustc_hash::FxHashMap;

use crate::kinds::Missing;
use crate::{Ask, Carried, DataError, Kind, Kinds, Options, Reader, Run, TableSchema, hash};

/// Codes of a column's categories in the order of their first rows, and the code of each row.
type Codes = (FxHashMap<Vec<u8>, u32>, Vec<u32>);

/// The first rows of a table, by column: what knots, bins and pairs are chosen from.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sample {
    rows: usize,
    numbers: FxHashMap<String, Vec<f64>>,
    categories: FxHashMap<String, Vec<u32>>,
}

impl Sample {
    /// The number of rows that knots are chosen from, at most.
    pub const ROWS: usize = 10_000;

    /// Reads the first rows of a table whose columns have kinds, at most [`ROWS`](Self::ROWS), wherever chunks end. Malformed rows
    /// are left out here, and reported when rows are learned; behind as many of them the sample ends, so that a long table without
    /// a good row is not read to its end. `open` opens the table.
    pub fn read(
        table: &Arc<TableSchema>,
        options: &Options,
        has_categories: bool,
        open: &dyn Fn(&Options) -> Result<Reader, DataError>,
    ) -> Result<Self, DataError> {
        let mut options = options.clone();
        options.reading.kinds = Kinds::Known(Arc::new(table.without_curves()));
        options.reading.numbers_apart = true;
        options.reading.interactions.clear();
        options.bounds.skip_bad = Self::ROWS as u64;
        options.run = Run { threads: 1, ..options.run };
        let roles = [table.label.as_ref(), table.weight.as_ref()];
        let is_read = |kind: Kind| match kind {
            Kind::Number => true,
            Kind::Category | Kind::Boolean => has_categories,
            _ => false,
        };
        let columns: Vec<_> = table.columns.iter().filter(|c| is_read(c.kind)).collect();
        let categories: Vec<String> = columns
            .iter()
            .filter(|c| c.kind != Kind::Number && !roles.contains(&Some(&c.name)))
            .map(|c| c.name.clone())
            .collect();
        let ask = Ask { keep_names: false, carried: categories.clone(), ..Ask::default() };
        options.ask = ask;
        let mut reader = open(&options)?;
        let missing = Missing::of(Some(table));
        let mut sample = Self::default();
        let keys: Vec<(u64, &str)> = columns
            .iter()
            .filter(|c| c.kind == Kind::Number && !roles.contains(&Some(&c.name)))
            .map(|c| (hash::feature(0, c.name.as_bytes()), c.name.as_str()))
            .collect();
        let mut cells: Vec<Vec<f64>> = vec![Vec::new(); keys.len()];
        let mut codes: Vec<Codes> = vec![Codes::default(); categories.len()];
        let mut chunk = Chunk::new();
        while sample.rows < Self::ROWS {
            match reader.read(&mut chunk) {
                Ok(true) => {}
                Ok(false) => break,
                Err(error) if error.is_bad_row() => break,
                Err(error) => return Err(error),
            }
            let places: Vec<Option<usize>> = keys
                .iter()
                .map(|(key, _)| chunk.columns().iter().position(|column| column.key == *key))
                .collect();
            for i in 0..chunk.len().min(Self::ROWS - sample.rows) {
                sample.rows += 1;
                let numbers = chunk.numbers(i);
                for (cells, place) in cells.iter_mut().zip(&places) {
                    cells.push(place.map_or(f64::NAN, |place| numbers[place]));
                }
                for (cell, (known, codes)) in
                    Carried::new(chunk.tag(i)).skip(1).zip(codes.iter_mut())
                {
                    let cell = cell.filter(|cell| !missing.has(cell));
                    let code = cell.map_or(0, |cell| {
                        let next = known.len() as u32 + 1;
                        *known.entry(cell.to_ascii_lowercase()).or_insert(next)
                    });
                    codes.push(code);
                }
            }
        }
        sample.numbers = keys.iter().map(|(_, name)| (*name).to_owned()).zip(cells).collect();
        sample.categories =
            categories.into_iter().zip(codes.into_iter().map(|(_, codes)| codes)).collect();
        Ok(sample)
    }

    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The cells of a number column, NaN where one is missing; empty for other columns.
    pub fn numbers(&self, column: &str) -> &[f64] {
        self.numbers.get(column).map_or(&[], Vec::as_slice)
    }

    /// The cells of a category as numbers from 1, 0 where one is missing; empty for other columns.
    pub fn codes(&self, column: &str) -> &[u32] {
        self.categories.get(column).map_or(&[], Vec::as_slice)
    }
}
