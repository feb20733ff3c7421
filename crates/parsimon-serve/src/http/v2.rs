//! The Open Inference Protocol, version 2: health, metadata, inference.

use std::sync::Arc;

use axum::extract::{Path, Request, State};
use axum::response::Response;
use parsimon::rows::{Chunk, Repeats};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::Service;
use super::body::{self, Received, work};
use super::schema::{
    Liveness, ModelMetadata, ModelParameters, Readiness, ServerMetadata, TensorMetadata,
};
use super::tensor::{Tensor, tensors};
use crate::answer::Prediction;
use crate::content::{Content, syntax};
use crate::engine::{Model, Scored};
use crate::error::Refusal;
use crate::memory::Held;

pub(super) async fn server() -> Response {
    body::json(&ServerMetadata {
        name: "parsimon".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        extensions: vec!["binary_tensor_data".to_owned()],
    })
}

pub(super) async fn live() -> Response {
    body::json(&Liveness { live: true })
}

/// Ready means that scores are answered.
pub(super) async fn ready(State(service): State<Arc<Service>>) -> Result<Response, Refusal> {
    service.check_ready()?;
    Ok(body::json(&Readiness { name: None, ready: true }))
}

/// A model, and the version of it that is asked for, if any.
#[derive(Deserialize)]
pub(super) struct Asked {
    model: String,
    version: Option<String>,
}

impl Asked {
    /// The model. A version is an epoch, or an epoch and a record that the present state includes.
    fn find(self, service: &Service) -> Result<&Arc<Model>, Refusal> {
        let (model, present) = (service.model(&self.model)?, service.model(&self.model)?.version());
        let Some(asked) = self.version else { return Ok(model) };
        let (epoch, seq) = asked.split_once('.').unwrap_or((&asked, "0"));
        let is_past = seq.parse::<u64>().is_ok_and(|seq| seq <= present.seq);
        match epoch.parse() == Ok(present.epoch) && is_past {
            true => Ok(model),
            false => {
                let present = version(model);
                Err(Refusal::missing(format!(
                    "version {asked:?} is not served; the present one is {present:?}"
                )))
            }
        }
    }
}

pub(super) async fn model_ready(
    State(service): State<Arc<Service>>,
    Path(asked): Path<Asked>,
) -> Result<Response, Refusal> {
    let model = asked.find(&service)?;
    service.check_ready()?;
    Ok(body::json(&Readiness { name: Some(model.name().to_owned()), ready: true }))
}

pub(super) async fn model(
    State(service): State<Arc<Service>>,
    Path(asked): Path<Asked>,
) -> Result<Response, Refusal> {
    let model = asked.find(&service)?;
    let tensor =
        |name, datatype, shape: &[i64]| TensorMetadata { name, datatype, shape: shape.to_vec() };
    let mut outputs =
        vec![tensor("prediction", prediction_type(model), &[-1]), tensor("known", "INT64", &[-1])];
    let classes = model.task().classes().to_vec();
    if model.task().has_probabilities() {
        outputs.push(tensor("probabilities", "FP64", &[-1, classes.len() as i64]));
    }
    Ok(body::json(&ModelMetadata {
        name: model.name().to_owned(),
        versions: vec![version(model)],
        platform: "parsimon".to_owned(),
        inputs: vec![tensor("rows", "BYTES", &[-1])],
        outputs,
        parameters: ModelParameters { classes },
    }))
}

fn version(model: &Model) -> String {
    let version = model.version();
    format!("{}.{}", version.epoch, version.seq)
}

fn prediction_type(model: &Model) -> &'static str {
    if model.task().outputs() > 1 { "BYTES" } else { "FP64" }
}

/// The JSON part of an inference request.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Inference {
    #[serde(default)]
    id: Option<String>,
    #[schemars(with = "Vec<serde_json::Map<String, Value>>")]
    inputs: Vec<Value>,
    /// The requested outputs; empty requests all.
    #[serde(default)]
    outputs: Vec<Wanted>,
    #[serde(default)]
    #[schemars(with = "serde_json::Map<String, Value>")]
    parameters: Value,
}

/// A requested output.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "RequestedOutput")]
struct Wanted {
    name: String,
}

pub(super) async fn infer(
    State(service): State<Arc<Service>>,
    Path(asked): Path<Asked>,
    request: Request,
) -> Result<Response, Refusal> {
    let model = asked.find(&service)?;
    let received = Received::new(request, service.limits.body).await?;
    // With binary tensors the header says where the JSON part ends.
    let length = received.header("inference-header-content-length");
    let length = match length.map(str::parse::<usize>) {
        None => received.body.len(),
        Some(Ok(length)) if length <= received.body.len() => length,
        Some(_) => return Err(Refusal::bad("inference-header-content-length is not a length")),
    };
    let (head, binary) = received.body.split_at(length);
    work(received.body.len(), || {
        let _held = Held::to_read_json(head)?;
        let asked: Inference = serde_json::from_slice(head).map_err(|e| syntax(&e))?;
        let tensors = tensors(&asked.inputs, binary)?;
        let mut answer = Answer::default();
        match &tensors[..] {
            [(_, Tensor::Texts(rows))] => {
                let text = rows.join(&b'\n');
                let content_type = asked.parameters.get("content_type").and_then(Value::as_str);
                let content = Content::new(content_type.or(Some("")), &text)?.as_lines();
                model.score(&content, &service.limits, |row| answer.take(model, row))?;
            }
            [_, _, _] => {
                for chunk in csr(model, &tensors)? {
                    service.limits.check(std::slice::from_ref(&chunk))?;
                    model.score_rows(&chunk, |row| answer.take(model, row));
                }
            }
            _ => {
                return Err(Refusal::bad(
                    "inputs must be one BYTES tensor of rows, or the tensors indptr, indices and data",
                ));
            }
        }
        answer.finish(model, asked)
    })
}

/// The columns of an answer.
#[derive(Default)]
struct Answer {
    predictions: Vec<Value>,
    probabilities: Vec<f64>,
    known: Vec<usize>,
    version: Option<crate::engine::Version>,
}

impl Answer {
    fn take(&mut self, model: &Model, row: &Scored<'_>) {
        self.predictions.push(match model.task().prediction(row.margins) {
            Prediction::Number(x) => json!(x),
            Prediction::Class(class) => json!(class),
        });
        self.probabilities.extend(model.task().probabilities(row.margins).unwrap_or_default());
        self.known.push(row.known.unwrap_or(0));
        self.version = Some(row.version);
    }

    fn finish(self, model: &Model, asked: Inference) -> Result<Response, Refusal> {
        let rows = self.predictions.len();
        let output = |name: &str, datatype: &str, shape: Value, data: Value| json!({"name": name, "datatype": datatype, "shape": shape, "data": data});
        let mut outputs = vec![
            output("prediction", prediction_type(model), json!([rows]), self.predictions.into()),
            output("known", "INT64", json!([rows]), self.known.into()),
        ];
        if model.task().has_probabilities() {
            let shape = json!([rows, model.task().classes().len()]);
            outputs.push(output("probabilities", "FP64", shape, self.probabilities.into()));
        }
        let is_called = |output: &Value, wanted: &Wanted| output["name"] == wanted.name;
        if let Some(Wanted { name }) =
            asked.outputs.iter().find(|w| !outputs.iter().any(|output| is_called(output, w)))
        {
            return Err(Refusal::bad(format!("the model has no output {name:?}")));
        }
        outputs.retain(|output| {
            asked.outputs.is_empty() || asked.outputs.iter().any(|w| is_called(output, w))
        });
        let version = self.version.unwrap_or_default();
        let mut answer = json!({
            "model_name": model.name(),
            "model_version": format!("{}.{}", version.epoch, version.seq),
            "outputs": outputs,
            "parameters": {"epoch": version.epoch, "seq": version.seq},
        });
        if let Some(id) = asked.id {
            answer["id"] = id.into();
        }
        Ok(body::json(&answer))
    }
}

/// Rows from three tensors: where each row begins, the ids of features, their values.
fn csr(model: &Model, tensors: &[(String, Tensor<'_>)]) -> Result<Vec<Chunk>, Refusal> {
    if !model.has_ids() {
        return Err(Refusal::bad(
            "features of this model have names: send rows as one BYTES tensor",
        ));
    }
    let numbers = |name: &str| match tensors.iter().find(|(named, _)| named == name) {
        Some((_, Tensor::Numbers(numbers))) => Ok(numbers),
        _ => Err(Refusal::bad(format!("there is no tensor of numbers called {name:?}"))),
    };
    let (starts, indices, data) = (numbers("indptr")?, numbers("indices")?, numbers("data")?);
    if indices.len() != data.len() {
        let (i, d) = (indices.len(), data.len());
        return Err(Refusal::bad(format!("there are {i} indices but {d} values in data")));
    }
    let place = |x: &f64| Some(*x as usize).filter(|n| *n as f64 == *x && *n <= indices.len());
    let starts: Option<Vec<usize>> = starts.iter().map(place).collect();
    let starts = starts.filter(|s| s.first() == Some(&0) && s.is_sorted() && s.len() > 1);
    let starts = starts.filter(|s| s.last() == Some(&indices.len()));
    let starts = starts.ok_or_else(|| {
        Refusal::bad("indptr must rise from 0 to the number of indices, one more than rows")
    })?;
    let mut chunks = vec![Chunk::new()];
    for (row, range) in starts.windows(2).enumerate() {
        if chunks.last().is_some_and(|chunk| chunk.len() >= crate::engine::AT_ONCE) {
            chunks.push(Chunk::new());
        }
        let Some(chunk) = chunks.last_mut() else { break };
        for k in range[0]..range[1] {
            let id = indices[k] as u32;
            if f64::from(id) != indices[k] || id > parsimon::data::Space::LARGEST_ID {
                let words = format!("row {}: {} is not the id of a feature", row + 1, indices[k]);
                return Err(Refusal::bad(words).with("line", row + 1));
            }
            chunk.push_feature(id, data[k]);
        }
        chunk.finish_row(None, 1.0, Repeats::Add).map_err(|error| {
            Refusal::bad(format!("row {}: {error}", row + 1)).with("line", row + 1)
        })?;
    }
    Ok(chunks)
}
