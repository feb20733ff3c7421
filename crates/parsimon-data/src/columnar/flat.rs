//! Structs and lists of measured numbers as columns: `user.age`, `embedding.0`, as in JSON rows.

use std::sync::Arc;

use arrow_buffer::NullBuffer;

use crate::TableSchema;
use crate::arrow::array::{Array, ArrayRef, AsArray, Float64Array, StructArray, make_array};
use crate::arrow::compute::cast;
use crate::arrow::datatypes::{DataType, Field, Float64Type, Schema, SchemaRef};
use crate::arrow::record_batch::{RecordBatch, RecordBatchOptions};

/// Conversion of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Plan {
    /// It stays as it is.
    Whole,
    /// Each field of a struct is planned by itself.
    Fields(Vec<Plan>),
    /// Each item of a list of this length is a column.
    Items(usize),
}

/// Makes batches of plain columns.
#[derive(Clone, Debug)]
pub(super) struct Flat {
    pub(super) schema: SchemaRef,
    plans: Vec<Plan>,
}

/// Whether a column is a list of numbers that are not all whole.
fn is_vector(kind: &DataType) -> bool {
    match kind {
        DataType::List(item) | DataType::LargeList(item) | DataType::FixedSizeList(item, _) => {
            item.data_type().is_floating()
        }
        _ => false,
    }
}

/// Whether the first rows have to show how long the lists of a table are.
pub(super) fn has_open_lists(schema: &Schema) -> bool {
    fn is_open(kind: &DataType) -> bool {
        match kind {
            DataType::Struct(fields) => fields.iter().any(|field| is_open(field.data_type())),
            DataType::FixedSizeList(..) => false,
            kind => is_vector(kind),
        }
    }
    schema.fields().iter().any(|field| is_open(field.data_type()))
}

impl Flat {
    /// A plan for a table of which the first rows are here, or whose columns are known; `None` where all columns are plain.
    pub(super) fn new(
        schema: &Schema,
        first: &[RecordBatch],
        known: Option<&TableSchema>,
    ) -> Option<Self> {
        let (mut fields, mut plans) = (Vec::new(), Vec::new());
        for (i, field) in schema.fields().iter().enumerate() {
            let arrays: Vec<ArrayRef> = first.iter().map(|batch| batch.column(i).clone()).collect();
            plans.push(planned(field.name(), field, &arrays, known, &mut fields));
        }
        let is_plain = plans.iter().all(|plan| *plan == Plan::Whole);
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        (!is_plain).then(|| Self { schema: Arc::new(schema), plans })
    }

    /// The plain columns of a batch; an error in words.
    pub(super) fn batch(&self, batch: &RecordBatch) -> Result<RecordBatch, String> {
        let mut columns = Vec::new();
        for (plan, array) in self.plans.iter().zip(batch.columns()) {
            push(plan, array, &mut columns)?;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
            .map_err(|e| e.to_string())
    }
}

/// Plans a column, and appends the columns that it becomes.
fn planned(
    name: &str,
    field: &Field,
    arrays: &[ArrayRef],
    known: Option<&TableSchema>,
    fields: &mut Vec<Field>,
) -> Plan {
    match field.data_type() {
        DataType::Struct(inner) => {
            let plan = |(k, field): (usize, &Arc<Field>)| {
                let of = |array: &ArrayRef| array.as_struct().column(k).clone();
                let arrays: Vec<ArrayRef> = arrays.iter().map(of).collect();
                planned(&format!("{name}.{}", field.name()), field, &arrays, known, fields)
            };
            Plan::Fields(inner.iter().enumerate().map(plan).collect())
        }
        kind if is_vector(kind) => {
            let width = match (kind, known) {
                (DataType::FixedSizeList(_, width), _) => usize::try_from(*width).unwrap_or(0),
                (_, Some(known)) => {
                    let is_known = |k: &usize| known.column(&format!("{name}.{k}")).is_some();
                    (0..known.columns.len()).take_while(is_known).count()
                }
                _ => arrays.iter().map(longest).max().unwrap_or(0),
            };
            let items = (0..width).map(|k| format!("{name}.{k}"));
            fields.extend(items.map(|name| Field::new(name, DataType::Float64, true)));
            Plan::Items(width)
        }
        _ => {
            fields.push(field.clone().with_name(name).with_nullable(true));
            Plan::Whole
        }
    }
}

/// The items of each row of a list: where they begin and end.
fn ranges(array: &ArrayRef) -> (ArrayRef, Vec<(usize, usize)>) {
    let pairs = |offsets: Vec<usize>| offsets.windows(2).map(|w| (w[0], w[1])).collect();
    match array.data_type() {
        DataType::List(_) => {
            let list = array.as_list::<i32>();
            let offsets = list.value_offsets().iter().map(|o| usize::try_from(*o).unwrap_or(0));
            (list.values().clone(), pairs(offsets.collect()))
        }
        DataType::LargeList(_) => {
            let list = array.as_list::<i64>();
            let offsets = list.value_offsets().iter().map(|o| usize::try_from(*o).unwrap_or(0));
            (list.values().clone(), pairs(offsets.collect()))
        }
        _ => {
            let list = array.as_fixed_size_list();
            let width = usize::try_from(list.value_length()).unwrap_or(0);
            (list.values().clone(), (0..list.len()).map(|i| (i * width, (i + 1) * width)).collect())
        }
    }
}

fn longest(array: &ArrayRef) -> usize {
    let (_, ranges) = ranges(array);
    let valid = ranges.iter().enumerate().filter(|(row, _)| array.is_valid(*row));
    valid.map(|(_, (start, end))| end - start).max().unwrap_or(0)
}

fn push(plan: &Plan, array: &ArrayRef, columns: &mut Vec<ArrayRef>) -> Result<(), String> {
    match plan {
        Plan::Whole => columns.push(array.clone()),
        Plan::Fields(plans) => {
            let all = array.as_struct();
            for (k, plan) in plans.iter().enumerate() {
                push(plan, &child(all, k)?, columns)?;
            }
        }
        Plan::Items(width) => {
            let (values, ranges) = ranges(array);
            let values = cast(&values, &DataType::Float64).map_err(|e| e.to_string())?;
            let values = values.as_primitive::<Float64Type>();
            let mut items = vec![Vec::with_capacity(array.len()); *width];
            for (row, &(start, end)) in ranges.iter().enumerate() {
                let len = if array.is_valid(row) { end - start } else { 0 };
                if len > *width {
                    return Err(format!("a list has {len} numbers, and those before have {width}"));
                }
                for (k, item) in items.iter_mut().enumerate() {
                    let at = start + k;
                    item.push((k < len && values.is_valid(at)).then(|| values.value(at)));
                }
            }
            columns.extend(items.into_iter().map(|item| Arc::new(Float64Array::from(item)) as _));
        }
    }
    Ok(())
}

/// A field of a struct, missing where the struct is.
fn child(all: &StructArray, k: usize) -> Result<ArrayRef, String> {
    let child = all.column(k);
    let has_nulls = all.null_count() > 0 && *child.data_type() != DataType::Null;
    if !has_nulls {
        return Ok(child.clone());
    }
    let nulls = NullBuffer::union(all.nulls(), child.nulls());
    let data = child.to_data().into_builder().nulls(nulls).build();
    Ok(make_array(data.map_err(|e| e.to_string())?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arrow::array::{Int64Array, ListArray};

    #[test]
    fn structs_and_lists_of_numbers_become_columns() {
        let lists = [Some(vec![Some(0.5), None]), None, Some(vec![Some(2.5)])];
        let lists = ListArray::from_iter_primitive::<Float64Type, _, _>(lists);
        let age: ArrayRef = Arc::new(Int64Array::from(vec![Some(3), Some(4), None]));
        let fields = vec![Field::new("age", DataType::Int64, true)];
        let user = StructArray::new(
            fields.into(),
            vec![age],
            Some(NullBuffer::from(vec![true, false, true])),
        );
        let columns: [(&str, ArrayRef); 2] =
            [("embedding", Arc::new(lists)), ("user", Arc::new(user))];
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.into_iter().map(|(name, column)| (name, column, true)),
        )
        .unwrap();
        assert!(has_open_lists(&batch.schema()));
        let flat = Flat::new(&batch.schema(), std::slice::from_ref(&batch), None).unwrap();
        let plain = flat.batch(&batch).unwrap();
        let schema = plain.schema();
        let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!(names, ["embedding.0", "embedding.1", "user.age"]);
        let first: Vec<_> = plain.column(0).as_primitive::<Float64Type>().iter().collect();
        assert_eq!(first, [Some(0.5), None, Some(2.5)]);
        assert_eq!(plain.column(1).null_count(), 3);
        let ages = plain.column(2);
        assert!(ages.is_valid(0) && ages.is_null(1) && ages.is_null(2));
        assert!(Flat::new(&schema, &[], None).is_none());
    }
}
