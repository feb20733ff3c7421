//! The kinds of columns, from their types and first rows.

use std::sync::Arc;

use crate::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use crate::arrow::datatypes::{DataType, Schema};

use super::cells::{is_text_list, texts};
use super::pandas::Frame;
use crate::delimited::{asked, check_interactions};
use crate::kinds::{
    Candidate, Declared, Judge, Missing, ROWS, TypeNote, Verdict, choose, typed_verdict,
};
use crate::remedy::Message;
use crate::{Kind, Options, TableSchema};

fn declared(kind: &DataType) -> Declared {
    match kind {
        DataType::Dictionary(..) => Declared::Kind(Kind::Category),
        DataType::Boolean => Declared::Kind(Kind::Boolean),
        DataType::Null => Declared::Kind(Kind::Empty),
        DataType::Duration(_) => Declared::Kind(Kind::Number),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            Declared::Time("2000-12-31")
        }
        DataType::Time32(_) | DataType::Time64(_) => Declared::Time("23:59"),
        // Databases without integers write them so.
        DataType::Decimal32(_, scale)
        | DataType::Decimal64(_, scale)
        | DataType::Decimal128(_, scale)
        | DataType::Decimal256(_, scale)
            if *scale <= 0 =>
        {
            Declared::Integers
        }
        kind if kind.is_integer() => Declared::Integers,
        kind if kind.is_numeric() => Declared::Reals,
        _ => Declared::Texts,
    }
}

/// The schema of a table from its first rows; `is_whole` if the table has no others.
pub(super) fn found(
    schema: &Schema,
    batches: &[RecordBatch],
    is_whole: bool,
    options: &Options,
) -> Result<TableSchema, Message> {
    let names: Vec<String> = schema.fields().iter().map(|f| f.name().clone()).collect();
    let frame = Frame::new(schema);
    let (mut verdicts, mut notes) = (Vec::new(), Vec::new());
    let missing = Missing::beside_usual(&options.reading.missing);
    for (i, field) in schema.fields().iter().enumerate() {
        let mut judge = Judge::default();
        let mut left = ROWS;
        for batch in batches {
            let cells = batch.column(i).slice(0, left.min(batch.num_rows()));
            take(&mut judge, &cells, &missing, ROWS - left);
            left -= cells.len();
        }
        let (name, kind) = (field.name(), field.data_type());
        let mut verdict = if is_text_list(kind) {
            let is_empty = judge.values() == 0;
            let found = if is_empty { Kind::Empty } else { Kind::Category };
            notes.push(TypeNote::List(name.clone()));
            Verdict {
                kind: found,
                form: None,
                kept: Kind::Category,
                odd: None,
                few: Vec::new(),
                is_code: false,
            }
        } else {
            let declared = match frame.is_category(name) {
                true => Declared::Kind(Kind::Category),
                false => declared(kind),
            };
            let (verdict, are_digits) = typed_verdict(&judge, name, declared, is_whole);
            if are_digits {
                notes.push(TypeNote::Digits(name.clone()));
            } else if is_single(kind) && verdict.kind == Kind::Number {
                notes.push(TypeNote::Single(name.clone()));
            }
            verdict
        };
        if frame.is_index(name) {
            verdict = Verdict { kind: Kind::Index, form: None, ..verdict };
        }
        verdicts.push((verdict, judge.has_two_classes()));
    }
    check_interactions(&names, options)?;
    let candidate = Candidate { names: &names, has_header: true, verdicts };
    let mut found = choose(&candidate, &asked(options))?;
    found.notes.take(notes);
    Ok(found)
}

/// Whether numbers are of 32 bits or fewer.
fn is_single(kind: &DataType) -> bool {
    matches!(kind, DataType::Float32 | DataType::Float16)
}

fn take(judge: &mut Judge, cells: &ArrayRef, missing: &Missing, rows_before: usize) {
    let items = match cells.data_type() {
        kind if !is_text_list(kind) => cells.clone(),
        DataType::List(_) => cells.as_list::<i32>().values().clone(),
        DataType::LargeList(_) => cells.as_list::<i64>().values().clone(),
        _ => cells.as_fixed_size_list().values().clone(),
    };
    // PERF: floats are numbers by their type. Few cells show what else there is to know, and texts of thousands take long to write.
    let step = if items.data_type().is_floating() { 64 } else { items.len().max(1) };
    for start in (0..items.len()).step_by(step) {
        if items.data_type().is_floating() && judge.is_settled() {
            return;
        }
        // What has no text, such as a struct, is refused when it is read.
        let Ok(texts) = texts(&items.slice(start, step.min(items.len() - start))) else { return };
        for row in 0..texts.len() {
            let cell = if texts.is_null(row) { "" } else { texts.value(row).trim_ascii() };
            match missing.has(cell.as_bytes()) {
                true => judge.take_missing(),
                false => judge.take_value_at(cell.as_bytes(), rows_before + start + row + 1),
            }
        }
    }
}

/// The schema that the options know, or that the first rows show.
pub(super) fn schema_of(
    schema: &Schema,
    batches: &[RecordBatch],
    is_whole: bool,
    options: &Options,
) -> Result<Option<Arc<TableSchema>>, Message> {
    match &options.reading.kinds {
        crate::Kinds::ByCell => Ok(None),
        crate::Kinds::Known(known) => Ok(Some(known.clone())),
        crate::Kinds::Found => {
            found(schema, batches, is_whole, options).map(|found| Some(Arc::new(found)))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::arrow::array::{
        ArrayRef, BooleanArray, DictionaryArray, Float64Array, Int64Array, RecordBatch,
        StringArray, TimestampSecondArray,
    };
    use crate::arrow::datatypes::Int32Type;
    use parsimon_core::Chunk;

    use crate::{Kind, Kinds, Options, Reader, Reading};

    /// Columns of many types.
    fn batch_of_many_types() -> RecordBatch {
        let rows = 0..150_i64;
        let codes: DictionaryArray<Int32Type> =
            rows.clone().map(|i| ["1", "2", "3"][i as usize % 3]).collect();
        let columns: [(&str, ArrayRef); 9] = [
            ("id", Arc::new(Int64Array::from_iter_values(rows.clone()))),
            (
                "long",
                Arc::new(Int64Array::from_iter_values(rows.clone().map(|i| i % 5 + (1 << 60)))),
            ),
            (
                "x",
                Arc::new(
                    rows.clone().map(|i| (i % 7 > 0).then_some(i as f64)).collect::<Float64Array>(),
                ),
            ),
            ("code", Arc::new(codes)),
            ("flag", Arc::new(rows.clone().map(|i| Some(i % 3 == 0)).collect::<BooleanArray>())),
            (
                "at",
                Arc::new(TimestampSecondArray::from_iter_values(rows.clone().map(|i| 3600 * i))),
            ),
            (
                "zip",
                Arc::new(StringArray::from_iter_values(rows.clone().map(|i| (i % 9).to_string()))),
            ),
            (
                "note",
                Arc::new(StringArray::from_iter_values(
                    rows.clone().map(|i| format!("so it is {i}")),
                )),
            ),
            ("label", Arc::new(Int64Array::from_iter_values(rows.map(|i| i % 2)))),
        ];
        RecordBatch::try_from_iter(columns).unwrap()
    }

    #[test]
    fn types_and_first_rows_decide() {
        let batch = batch_of_many_types();
        let options = Options::from(Reading { kinds: Kinds::Found, ..Reading::default() });
        let open = |batches: Vec<RecordBatch>, options: &Options| {
            let (schema, batches) = (batch.schema(), batches.into_iter().map(Ok));
            Reader::over_batches("t", &schema, Box::new(batches), options).unwrap()
        };
        let read = |mut reader: Reader| {
            let (mut chunk, mut rows) = (Chunk::new(), Vec::new());
            while reader.read(&mut chunk).unwrap() {
                rows.extend((0..chunk.len()).map(|i| format!("{:?}", chunk.row(i))));
            }
            let names: Vec<_> = reader.names().iter().map(|(_, name)| name.to_owned()).collect();
            (rows, names)
        };
        let whole = open(vec![batch.clone()], &options);
        let table = whole.table().unwrap().clone();
        let kinds: Vec<_> = table.columns.iter().map(|c| c.kind).collect();
        assert_eq!(
            kinds,
            [
                Kind::Identifier,
                Kind::Category,
                Kind::Number,
                Kind::Category,
                Kind::Boolean,
                Kind::Time,
                Kind::Category,
                Kind::Text,
                Kind::Number
            ]
        );
        let (rows, names) = read(whole);
        assert_eq!(rows.len(), 150);
        for name in [
            "long=1152921504606846976",
            "x",
            "code=2",
            "flag=true",
            "at^hour=5",
            "at^day=Thu",
            "zip=8",
            "note^so",
        ] {
            assert!(names.iter().any(|n| n == name), "{name}: {names:?}");
        }
        let cut = (0..15).map(|i| batch.slice(10 * i, 10)).collect::<Vec<_>>();
        assert_eq!(read(open(cut.clone(), &options)).0, rows);
        let known = Options::from(Reading { kinds: Kinds::Known(table), ..Reading::default() });
        assert_eq!(read(open(cut, &known)).0, rows);
    }
}
