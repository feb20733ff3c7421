//! A table's schema as files have it.

use parsimon_data::{ColumnKind, OddText, Points, TableSchema, TypeNotes};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::json;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    name: String,
    kind: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    form: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    missing: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    knots: Vec<f64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    cuts: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    label: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    missing: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ngrams: Option<u8>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<[String; 2]>,
    columns: Vec<Column>,
}

impl From<&TableSchema> for Table {
    fn from(schema: &TableSchema) -> Self {
        let column = |column: &ColumnKind| Column {
            name: column.name.clone(),
            kind: column.kind.to_string(),
            form: column.form.clone(),
            missing: column.missing.iter().map(|odd| odd.text.clone()).collect(),
            knots: column.knots.values().to_vec(),
            cuts: column.cuts.values().to_vec(),
        };
        Self {
            label: schema.label.clone(),
            weight: schema.weight.clone(),
            missing: schema.missing.clone(),
            ngrams: schema.ngrams,
            pairs: schema.pairs.clone(),
            columns: schema.columns.iter().map(column).collect(),
        }
    }
}

impl TryFrom<Table> for TableSchema {
    type Error = String;

    fn try_from(table: Table) -> Result<Self, String> {
        let column = |Column { name, kind, form, missing, knots, cuts }: Column| {
            let kind = kind.parse().map_err(|e| format!("column {name:?}: {e}"))?;
            let missing = missing.into_iter().map(|text| OddText { text, line: None }).collect();
            let points = |points| Points::new(points).map_err(|e| format!("column {name:?}: {e}"));
            let (knots, cuts) = (points(knots)?, points(cuts)?);
            Ok(ColumnKind { name, kind, form, missing, knots, cuts })
        };
        let columns = table.columns.into_iter().map(column).collect::<Result<_, String>>()?;
        let Table { label, weight, missing, ngrams, pairs, .. } = table;
        let notes = TypeNotes::default();
        let schema = Self { columns, label, weight, missing, ngrams, pairs, notes };
        schema.check().map_err(|message| message.fact().to_owned())?;
        Ok(schema)
    }
}

#[expect(clippy::ref_option, reason = "the signature is serde's")]
pub(super) fn serialize<S: Serializer>(
    schema: &Option<TableSchema>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    schema.as_ref().map(Table::from).serialize(serializer)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<TableSchema>, D::Error> {
    let table = Option::<Table>::deserialize(deserializer)?;
    table.map(TableSchema::try_from).transpose().map_err(serde::de::Error::custom)
}

/// The schema as JSON that a person can edit, a column on each line.
pub fn schema_to_json(schema: &TableSchema) -> String {
    let Table { label, weight, missing, ngrams, pairs, columns } = Table::from(schema);
    let mut lines = vec![format!("  \"label\": {}", json!(label))];
    if weight.is_some() {
        lines.push(format!("  \"weight\": {}", json!(weight)));
    }
    if missing.is_some() {
        lines.push(format!("  \"missing\": {}", json!(missing)));
    }
    if ngrams.is_some() {
        lines.push(format!("  \"ngrams\": {}", json!(ngrams)));
    }
    if !pairs.is_empty() {
        lines.push(format!("  \"pairs\": {}", json!(pairs)));
    }
    let columns: Vec<_> = columns.iter().map(|column| format!("    {}", json!(column))).collect();
    lines.push(format!("  \"columns\": [\n{}\n  ]", columns.join(",\n")));
    format!("{{\n{}\n}}\n", lines.join(",\n"))
}

/// The schema of JSON that a person may have edited.
pub fn schema_from_json(text: &str) -> Result<TableSchema, String> {
    serde_json::from_str::<Table>(text).map_err(|e| e.to_string())?.try_into()
}
