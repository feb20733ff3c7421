//! Batches to rows: columns of all types become a few, and their cells features.

use std::borrow::Cow;
use std::sync::Arc;

use crate::arrow::array::{
    AnyDictionaryArray, Array, ArrayRef, AsArray, BooleanArray, Float64Array, GenericStringArray,
    LargeListArray, LargeStringArray, OffsetSizeTrait,
};
use crate::arrow::compute::cast;
use crate::arrow::datatypes::{
    DataType, Field, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimeUnit,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use crate::arrow::record_batch::RecordBatch;
use parsimon_core::Repeats;

use super::{Layout, first_line};
use crate::DataErrorKind;
use crate::builder::Builder;
use crate::columns::{Column, Columns, Role};
use crate::delimited::{self, Scratch};
use crate::error::{Bad, shown};
use crate::label::Found;
use crate::number_rows::NumberRows;
use crate::remedy::{Message, Remedy};

/// A column in one of the few types that rows are built from.
enum Cells {
    Numbers(Float64Array),
    /// A label that is true or false.
    Truths(BooleanArray),
    Texts(LargeStringArray),
    TextLists(LargeListArray),
    Indices(LargeListArray),
    Values(LargeListArray),
    Nothing,
}

pub(super) struct Converted {
    cells: Vec<Cells>,
    /// The columns whose cells travel with the row, as texts.
    carried: Vec<(u32, LargeStringArray)>,
}

impl Converted {
    pub(super) fn new(batch: &RecordBatch, layout: &Layout) -> Result<Self, Message> {
        let (columns, lists) = match layout {
            Layout::Wide(columns) => (columns, None),
            Layout::Lists { columns, indices, values } => (columns, Some((*indices, *values))),
        };
        let cells = columns.columns.iter().zip(batch.columns()).enumerate();
        let cells = cells.map(|(i, (column, array))| {
            let cells = match (lists, column.role) {
                (Some((indices, _)), _) if i == indices => {
                    list(array, DataType::Int64).map(Cells::Indices)
                }
                (Some((_, Some(values))), _) if i == values => {
                    list(array, DataType::Float64).map(Cells::Values)
                }
                (_, Role::Ignored) | (Some(_), Role::Feature { .. }) => Ok(Cells::Nothing),
                (_, Role::Category | Role::Words | Role::Empty)
                    if is_text_list(array.data_type()) =>
                {
                    list(array, DataType::LargeUtf8).map(Cells::TextLists)
                }
                (_, Role::Feature { is_text: true, .. } | Role::Category | Role::Words) => {
                    categories(array).map(Cells::Texts)
                }
                (_, Role::Boolean | Role::Time { .. } | Role::Empty) => {
                    texts(array).map(Cells::Texts)
                }
                (_, Role::Label) if *array.data_type() == DataType::Boolean => {
                    Ok(Cells::Truths(array.as_boolean().clone()))
                }
                _ => plain(array),
            };
            cells.map_err(|why| {
                let (name, kind) = (shown(column.name.as_bytes()), array.data_type());
                let why = if why.is_empty() { why } else { format!(" ({})", first_line(&why)) };
                let fact = format!("column {name} is of type {kind}, neither number nor text{why}");
                Message::new(fact).or(Remedy::Ignore(column.name.clone()))
            })
        });
        let carried = columns.columns.iter().zip(batch.columns());
        let carried = carried.filter_map(|(column, array)| Some((column, column.carried?, array)));
        let carried = carried.map(|(column, k, array)| match texts(array) {
            Ok(texts) => Ok((k, texts)),
            Err(_) => {
                let (name, kind) = (shown(column.name.as_bytes()), array.data_type());
                Err(Message::new(format!(
                    "column {name} is of type {kind}, which has no text to keep"
                )))
            }
        });
        let carried = carried.collect::<Result<_, _>>()?;
        Ok(Self { cells: cells.collect::<Result<_, _>>()?, carried })
    }

    /// Builds all rows if their features are numbers and nothing is wrong with any cell; otherwise does nothing and
    /// returns `false`.
    ///
    /// PERF: column by column, without asking of each cell what it is. Measured in `record/python.md`.
    pub(super) fn parse_numbers(
        &self,
        builder: &mut Builder,
        columns: &Columns,
        rows: usize,
    ) -> bool {
        if !self.carried.is_empty() {
            return false;
        }
        let (mut labels, mut numbers) = (Vec::new(), Vec::new());
        if !columns.has_label {
            if builder.no_label(0).is_err() {
                return false;
            }
            labels.resize(rows, f64::NAN);
        }
        let max = builder.spec.max_cell;
        let mut names = Vec::new();
        for (column, cells) in columns.columns.iter().zip(&self.cells) {
            if let Role::Number { k, .. } = column.role {
                names.push((k as usize, column.name.as_str()));
            }
            match (column.role, cells) {
                (Role::Ignored, _) | (Role::Number { .. }, Cells::Nothing) => {}
                (Role::Number { k, .. }, Cells::Numbers(cells)) => {
                    let cells = with_nan(cells);
                    // NaN is a missing cell.
                    if cells.iter().fold(false, |any, x| any | (x.abs() > max)) {
                        return false;
                    }
                    numbers.push((k as usize, cells));
                }
                (Role::Label, Cells::Numbers(cells)) if cells.null_count() == 0 => {
                    for &value in cells.values() {
                        match builder.label(Found::Number(value), 0) {
                            Ok(label) => labels.push(label.unwrap_or(f64::NAN)),
                            Err(_) => return false,
                        }
                    }
                }
                _ => return false,
            }
        }
        let Some(mut rows) = NumberRows::new(builder, names.into_iter()) else { return false };
        let numbers: Vec<_> = numbers.iter().map(|(k, cells)| (*k, &**cells)).collect();
        rows.push_columns(builder, &labels, &numbers).is_ok()
    }

    pub(super) fn parse_row(
        &self,
        builder: &mut Builder,
        layout: &Layout,
        row: usize,
        text: &mut Scratch,
    ) -> Result<(), Bad> {
        let (Layout::Wide(columns) | Layout::Lists { columns, .. }) = layout;
        let mut label = None;
        let mut weight = 1.0;
        for (k, texts) in &self.carried {
            if texts.is_valid(row) {
                builder.carry(*k, texts.value(row).as_bytes());
            }
        }
        for (column, cells) in columns.columns.iter().zip(&self.cells) {
            let named = |bad: Bad| bad.in_field(&column.name);
            let found = match cells {
                Cells::Truths(truths) if truths.is_valid(row) => {
                    label = builder.truth_label(truths.value(row), 0).map_err(named)?;
                    continue;
                }
                Cells::Texts(texts)
                    if column.role == Role::Label
                        && texts.is_valid(row)
                        && builder
                            .spec
                            .missing
                            .has_label(texts.value(row).trim_ascii().as_bytes()) =>
                {
                    builder.no_label(0).map_err(named)?;
                    continue;
                }
                Cells::Texts(texts)
                    if column.role == Role::Weight
                        && texts.is_valid(row)
                        && texts.value(row).trim_ascii().is_empty() =>
                {
                    continue;
                }
                Cells::Numbers(numbers) if numbers.is_valid(row) => {
                    Found::Number(numbers.value(row))
                }
                Cells::Texts(texts) if texts.is_valid(row) => {
                    Found::Text(texts.value(row).as_bytes())
                }
                Cells::TextLists(lists) if lists.is_valid(row) => {
                    push_items(builder, column, &lists.value(row), text).map_err(named)?;
                    continue;
                }
                _ => {
                    if column.role == Role::Label {
                        builder.no_label(0).map_err(named)?;
                    }
                    continue;
                }
            };
            match column.role {
                Role::Label => label = builder.label(found, 0).map_err(named)?,
                Role::Weight => weight = importance(builder, found).map_err(named)?,
                Role::Feature { .. } if matches!(found, Found::Number(v) if !v.is_finite()) => {
                    let name = shown(column.name.as_bytes());
                    let words = format!("column {name} is not a finite number");
                    return Err(named(Bad::new(DataErrorKind::Number, 0, words)));
                }
                Role::Feature { id, .. } => {
                    delimited::push(builder, &column.name, id, found, 0, &mut text.name)
                        .map_err(named)?;
                }
                role => delimited::push_kind(builder, &column.name, role, found, 0, text)
                    .map_err(named)?,
            }
        }
        if !columns.has_label {
            builder.no_label(0)?;
        }
        if let Layout::Lists { indices, values, .. } = layout {
            self.push_list(builder, row, *indices, *values)?;
            let repeats = if builder.is_ids() { Repeats::Refuse } else { Repeats::Add };
            return builder.finish(label, weight, repeats, |e| {
                Bad::new(DataErrorKind::Index, 0, e.to_string())
            });
        }
        builder.finish_adding(label, weight, b"")
    }

    fn push_list(
        &self,
        builder: &mut Builder,
        row: usize,
        indices: usize,
        values: Option<usize>,
    ) -> Result<(), Bad> {
        let Some(Cells::Indices(lists)) = self.cells.get(indices) else { return Ok(()) };
        if lists.is_null(row) {
            return Ok(());
        }
        let ids = lists.value(row);
        let ids = ids.as_primitive::<Int64Type>();
        let numbers = match values.and_then(|v| self.cells.get(v)) {
            Some(Cells::Values(lists)) if lists.is_valid(row) => Some(lists.value(row)),
            Some(_) if !ids.is_empty() => {
                return Err(Bad::new(DataErrorKind::Malformed, 0, "the values are missing"));
            }
            _ => None,
        };
        let numbers = numbers.as_ref().map(AsArray::as_primitive::<Float64Type>);
        if let Some(numbers) = numbers
            && numbers.len() != ids.len()
        {
            let (i, v) = (ids.len(), numbers.len());
            let words = format!("there are {i} indices but {v} values");
            return Err(Bad::new(DataErrorKind::Malformed, 0, words));
        }
        let max = builder.spec.max_value;
        for k in 0..ids.len() {
            let id = if ids.is_null(k) { "null".to_owned() } else { ids.value(k).to_string() };
            let id_number = crate::svmlight::parse_id(id.as_bytes(), 0)?;
            let value = match numbers {
                None => 1.0,
                Some(numbers) if numbers.is_null(k) => continue,
                Some(numbers) => numbers.value(k),
            };
            if !value.is_finite() {
                let words = format!("the value of feature {id} is not a finite number");
                return Err(Bad::new(DataErrorKind::Number, 0, words));
            }
            if value.abs() > max {
                return Err(crate::number::too_large(format!("{value:e}").as_bytes(), 0, max));
            }
            if builder.is_ids() {
                builder.push_id(id_number, value);
            } else {
                builder.push_named(0, b"", id.as_bytes(), value);
            }
        }
        Ok(())
    }
}

/// Numbers with NaN where one is missing.
fn with_nan(numbers: &Float64Array) -> Cow<'_, [f64]> {
    match numbers.null_count() {
        0 => Cow::Borrowed(numbers.values()),
        _ => numbers.iter().map(|value| value.unwrap_or(f64::NAN)).collect(),
    }
}

/// A plain column as numbers or texts, or why it is neither.
fn plain(array: &ArrayRef) -> Result<Cells, String> {
    let array = &unpacked(array)?;
    match array.data_type() {
        DataType::Null => Ok(Cells::Nothing),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => texts(array).map(Cells::Texts),
        DataType::Duration(unit) => seconds(array, *unit).map(Cells::Numbers),
        kind if kind.is_numeric() || *kind == DataType::Boolean => {
            floats(array).map(Cells::Numbers)
        }
        _ => Err(String::new()),
    }
}

/// The values of a dictionary, one for each row.
fn unpacked(array: &ArrayRef) -> Result<ArrayRef, String> {
    let mut array = array.clone();
    while let DataType::Dictionary(_, values) = array.data_type().clone() {
        array = match unpacked_texts(&array) {
            Some(texts) => Arc::new(texts),
            None => cast(&array, &values).map_err(|e| e.to_string())?,
        };
    }
    Ok(array)
}

/// The texts of a dictionary of texts, without the library's cast, which is not optimized.
fn unpacked_texts(array: &ArrayRef) -> Option<LargeStringArray> {
    fn of<O: OffsetSizeTrait>(
        dictionary: &dyn AnyDictionaryArray,
        texts: &GenericStringArray<O>,
    ) -> LargeStringArray {
        let keys = dictionary.normalized_keys();
        let has_key = |row: usize| dictionary.keys().is_valid(row);
        let text = |(row, &key): (usize, &usize)| {
            (has_key(row) && texts.is_valid(key)).then(|| texts.value(key))
        };
        keys.iter().enumerate().map(text).collect()
    }
    let dictionary = array.as_any_dictionary_opt().filter(|array| !array.values().is_empty())?;
    match dictionary.values().data_type() {
        DataType::Utf8 => Some(of(dictionary, dictionary.values().as_string::<i32>())),
        DataType::LargeUtf8 => Some(of(dictionary, dictionary.values().as_string::<i64>())),
        _ => None,
    }
}

/// Durations in seconds.
fn seconds(array: &ArrayRef, unit: TimeUnit) -> Result<Float64Array, String> {
    let per_second = match unit {
        TimeUnit::Second => 1.0,
        TimeUnit::Millisecond => 1e3,
        TimeUnit::Microsecond => 1e6,
        TimeUnit::Nanosecond => 1e9,
    };
    let counts = cast(array, &DataType::Int64).map_err(|e| e.to_string())?;
    Ok(counts.as_primitive::<Int64Type>().unary(|n| n as f64 / per_second))
}

/// The weight of a row.
fn importance(builder: &Builder, found: Found<'_>) -> Result<f64, Bad> {
    match found {
        Found::Number(v) => builder.importance(format!("{v:e}").as_bytes(), 0),
        Found::Text(word) => builder.importance(word, 0),
    }
}

/// Adds a feature for each item of a list of texts.
fn push_items(
    builder: &mut Builder,
    column: &Column,
    items: &ArrayRef,
    text: &mut Scratch,
) -> Result<(), Bad> {
    for item in items.as_string::<i64>().iter().flatten() {
        let item = Found::Text(item.as_bytes());
        delimited::push_kind(builder, &column.name, column.role, item, 0, text)?;
    }
    Ok(())
}

/// The texts of a category. A whole number has one text, as an integer and as a float.
fn categories(array: &ArrayRef) -> Result<LargeStringArray, String> {
    let array = unpacked(array)?;
    if !array.data_type().is_floating() {
        return texts(&array);
    }
    let text = |v: f64| match v.fract() == 0.0 && v.abs() < 1e15 {
        true => Some(format!("{}", v as i64)),
        false if v.is_nan() => None,
        false => Some(format!("{v}")),
    };
    Ok(floats(&array)?.iter().map(|v| v.and_then(text)).collect())
}

/// Numbers as `f64`.
fn floats(array: &ArrayRef) -> Result<Float64Array, String> {
    /// The library's casts are not optimized, see the release profile. These are the types that tables are full of.
    macro_rules! widened {
        ($($type:ident => $array:ident, $widen:expr;)*) => {
            match array.data_type() {
                DataType::Float64 => array.as_primitive::<Float64Type>().clone(),
                $(DataType::$type => array.as_primitive::<$array>().unary($widen),)*
                _ => {
                    let cast = cast(array, &DataType::Float64).map_err(|e| e.to_string())?;
                    cast.as_primitive::<Float64Type>().clone()
                }
            }
        };
    }
    Ok(widened! {
        Float32 => Float32Type, f64::from;
        Int64 => Int64Type, |v| v as f64;
        Int32 => Int32Type, f64::from;
        Int16 => Int16Type, f64::from;
        Int8 => Int8Type, f64::from;
        UInt64 => UInt64Type, |v| v as f64;
        UInt32 => UInt32Type, f64::from;
        UInt16 => UInt16Type, f64::from;
        UInt8 => UInt8Type, f64::from;
    })
}

/// A column as texts, as a CSV file has them.
pub(super) fn texts(array: &ArrayRef) -> Result<LargeStringArray, String> {
    let mut array = unpacked(array)?;
    // The library would write lists and structs as texts.
    if array.data_type().is_nested() {
        return Err(String::new());
    }
    let plainer = match array.data_type() {
        DataType::Date64 => Some(DataType::Date32),
        // Without a zone it is read as it is stored: in UTC. Fixed offsets are those of the place.
        DataType::Timestamp(unit, Some(zone)) if !zone.starts_with(['+', '-']) => {
            Some(DataType::Timestamp(*unit, None))
        }
        _ => None,
    };
    if let Some(plainer) = plainer {
        array = cast(&array, &plainer).map_err(|e| e.to_string())?;
    }
    let cast = cast(&array, &DataType::LargeUtf8).map_err(|_| String::new())?;
    Ok(cast.as_string::<i64>().clone())
}

/// Whether cells are lists of texts or of codes.
pub(super) fn is_text_list(kind: &DataType) -> bool {
    let (DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _)) =
        kind
    else {
        return false;
    };
    let mut item = item.data_type();
    while let DataType::Dictionary(_, values) = item {
        item = values;
    }
    let is_text = matches!(item, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    is_text || item.is_integer() || *item == DataType::Boolean
}

fn list(array: &ArrayRef, kind: DataType) -> Result<LargeListArray, String> {
    let field = Arc::new(Field::new_list_field(kind, true));
    let cast = cast(array, &DataType::LargeList(field)).map_err(|e| e.to_string())?;
    Ok(cast.as_list::<i64>().clone())
}
