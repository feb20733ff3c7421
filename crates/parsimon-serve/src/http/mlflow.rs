//! The two addresses of MLflow's scoring servers: `/invocations` and `/ping`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Map, Value, json};

use super::Service;
use super::body::{self, Received, work};
use super::schema::Predictions;
use crate::answer::Prediction;
use crate::content::{Content, Shape, syntax};
use crate::error::Refusal;
use crate::memory::Held;

pub(super) async fn ping() -> &'static str {
    "\n"
}

pub(super) async fn invocations(
    State(service): State<Arc<Service>>,
    request: Request,
) -> Result<Response, Refusal> {
    let received = Received::new(request, service.limits.body).await?;
    let model = service.model_or_only(received.parameter("model"))?;
    let predictions = work(received.body.len(), || {
        let is_json = received.content_type().is_none_or(|t| t.starts_with("application/json"));
        let mut predictions = Vec::new();
        let lines;
        let content = match is_json {
            true => {
                let _held = Held::to_read_json(&received.body)?;
                lines = json_lines(&received.body)?;
                let text = lines.as_bytes().into();
                Content { format: parsimon::data::Format::Jsonl, text, shape: Shape::List }
            }
            false => Content::new(received.content_type(), &received.body)?,
        };
        model.score(&content, &service.limits, |row| {
            predictions.push(match model.task().prediction(row.margins) {
                Prediction::Number(x) => json!(x),
                Prediction::Class(class) => json!(class),
            });
        })?;
        Ok::<_, Refusal>(predictions)
    })?;
    Ok(body::json(&Predictions { predictions }))
}

/// Returns the rows of columns, which have equal lengths: `{"site": ["a", "b"]}` has two rows.
fn rows_of(columns: &Map<String, Value>) -> Result<Vec<Value>, Refusal> {
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    for (k, (name, cells)) in columns.iter().enumerate() {
        let cells = cells.as_array().ok_or_else(|| {
            Refusal::bad(format!("inputs: the column {name:?} is {cells} instead of a list"))
        })?;
        if k == 0 {
            rows.resize_with(cells.len(), Map::new);
        }
        if cells.len() != rows.len() {
            let (found, expected) = (cells.len(), rows.len());
            let words =
                format!("inputs: the column {name:?} has {found} cells instead of {expected}");
            return Err(Refusal::bad(words).with("field", name.as_str()));
        }
        for (row, cell) in rows.iter_mut().zip(cells) {
            row.insert(name.clone(), cell.clone());
        }
    }
    Ok(rows.into_iter().map(Value::Object).collect())
}

/// Returns rows as lines of JSON, from any of MLflow's layouts.
fn json_lines(body: &[u8]) -> Result<String, Refusal> {
    let value: Value = serde_json::from_slice(body).map_err(|e| syntax(&e))?;
    let layouts = ["dataframe_split", "dataframe_records", "instances", "inputs"];
    let found = layouts.iter().find_map(|name| Some((*name, value.get(*name)?)));
    let Some((layout, rows)) = found else {
        return Err(Refusal::bad(format!("the body has none of {}", layouts.join(", "))));
    };
    let mut lines = String::new();
    let mut push = |row: &Value| match row {
        Value::Object(_) => {
            lines.push_str(&row.to_string());
            lines.push('\n');
            Ok(())
        }
        other => Err(Refusal::bad(format!("{layout}: a row is {other} instead of an object"))),
    };
    match (layout, rows) {
        ("dataframe_split", split) => {
            let list = |name: &str| {
                let list = split.get(name).and_then(Value::as_array);
                list.ok_or_else(|| Refusal::bad(format!("{layout} has no list {name:?}")))
            };
            let columns: Vec<&str> = list("columns")?.iter().filter_map(Value::as_str).collect();
            for (row, line) in list("data")?.iter().zip(1..) {
                let cells = row.as_array().filter(|cells| cells.len() == columns.len());
                let cells = cells.ok_or_else(|| {
                    let words = format!("{layout}: row {line} has not {} cells", columns.len());
                    Refusal::bad(words).with("line", line)
                })?;
                let named = columns.iter().zip(cells).map(|(c, x)| ((*c).to_owned(), x.clone()));
                push(&Value::Object(named.collect::<Map<_, _>>()))?;
            }
        }
        ("inputs", Value::Object(columns)) if columns.values().any(Value::is_array) => {
            rows_of(columns)?.iter().try_for_each(push)?;
        }
        (_, Value::Array(rows)) => rows.iter().try_for_each(push)?,
        (_, one) => push(one)?,
    }
    Ok(lines)
}
