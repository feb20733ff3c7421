//! Bodies of requests and answers as types, from which their JSON schemas are generated.
//!
//! Handlers of small answers serialize these types. Scores, acknowledgements and inference results are written field by field for
//! speed; tests compare their fields with the types here.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Serialize;
use serde_json::{Map, Value};

use crate::engine::{Backlog, Version};

/// Adds the schema of a type to a description and returns a reference to it.
pub(super) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

fn schema_of<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

/// The media types of a body, with the schema of its JSON form.
pub(super) struct BodyType {
    pub(super) json: Option<SchemaOf>,
    /// Media types whose bodies are text or bytes without a schema.
    pub(super) text: &'static [&'static str],
    pub(super) is_required: bool,
}

impl BodyType {
    /// No body.
    pub(super) const NONE: Self = Self { json: None, text: &[], is_required: false };

    /// A JSON body.
    pub(super) const fn json<T: JsonSchema>() -> Self {
        Self { json: Some(schema_of::<T>), text: &[], is_required: true }
    }

    /// A body of one of these media types.
    pub(super) const fn text(text: &'static [&'static str]) -> Self {
        Self { json: None, text, is_required: true }
    }

    /// Permits further media types.
    pub(super) const fn or(self, text: &'static [&'static str]) -> Self {
        Self { text, ..self }
    }

    /// Permits an empty body.
    pub(super) const fn optional(self) -> Self {
        Self { is_required: false, ..self }
    }

    /// Returns whether there is a body.
    pub(super) const fn is_some(&self) -> bool {
        self.json.is_some() || !self.text.is_empty()
    }
}

/// A row: fields are features; `id` identifies the row; `label` and `weight` as in JSON lines.
#[derive(JsonSchema, Serialize)]
pub(super) struct Row(Map<String, Value>);

/// One value or a list of values.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
#[schemars(inline)]
#[allow(dead_code, reason = "describes bodies that handlers read and write field by field")]
pub(super) enum OneOrMany<T> {
    One(T),
    Many(Vec<T>),
}

/// The label of a row that was scored with an id.
#[derive(JsonSchema, Serialize)]
#[schemars(deny_unknown_fields)]
pub(super) struct Label {
    id: Id,
    label: LabelValue,
    #[schemars(default, range(min = 0))]
    weight: f64,
}

/// The id of a row.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
#[schemars(inline)]
#[allow(dead_code, reason = "describes bodies that handlers read field by field")]
enum Id {
    Text(String),
    Number(i64),
}

/// A number, the name of a class, or a boolean.
#[derive(JsonSchema, Serialize)]
#[serde(untagged)]
#[schemars(inline)]
#[allow(dead_code, reason = "describes bodies that handlers read field by field")]
enum LabelValue {
    Text(String),
    Number(f64),
    Boolean(bool),
}

/// The score of a row.
#[derive(JsonSchema, Serialize)]
pub(super) struct Score {
    id: Option<String>,
    /// A number, or the name of the class of a model with several classes; null if the number is not finite.
    prediction: Value,
    /// The likelier of two classes.
    class: Option<String>,
    probabilities: Option<BTreeMap<String, Option<f64>>>,
    /// The number of the row's features that have a nonzero weight.
    known: Option<u64>,
    version: Version,
    /// Whether the row waits for its label.
    tracked: Option<bool>,
    /// With `explain`: the part of each feature in the score.
    contributions: Option<Vec<Map<String, Value>>>,
    /// With `explain`: further parts of the score.
    #[schemars(flatten)]
    more: Map<String, Value>,
}

/// The acknowledgement of rows or labels.
#[derive(JsonSchema, Serialize)]
pub(super) struct Learned {
    /// The record of the log that holds the rows.
    seq: Option<u64>,
    /// The number of rows that this request adds.
    learned: u64,
    /// Whether all rows had been learned before.
    duplicate: Option<bool>,
    duplicates: Option<Vec<Map<String, Value>>>,
    /// Labels of rows that cannot be learned; see `/set-aside`.
    set_aside: Option<Vec<Map<String, Value>>>,
    /// With `partial`: the rows that were refused, with the reasons.
    refused: Option<Vec<Map<String, Value>>>,
    /// The requested acknowledgement.
    ack: Option<String>,
    /// Set if learning is paused.
    paused: Option<bool>,
}

/// The answer to a refused request.
#[derive(JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = true))]
pub(super) struct Refused {
    error: String,
    /// The line of a bad row.
    line: Option<u64>,
    /// The position in the line.
    column: Option<u64>,
    /// Name of the invalid field.
    field: Option<String>,
    /// The text that could not be read.
    token: Option<String>,
}

/// The models of the service.
#[derive(JsonSchema, Serialize)]
pub(super) struct ModelList {
    pub(super) models: Vec<ModelSummary>,
}

/// A line of the list of models.
#[derive(JsonSchema, Serialize)]
pub(super) struct ModelSummary {
    pub(super) name: String,
    pub(super) learns: bool,
    pub(super) version: Version,
}

/// A model: its settings, and the state of a model that learns.
#[derive(JsonSchema, Serialize)]
#[schemars(extend("additionalProperties" = true))]
pub(super) struct ModelStatus {
    name: String,
    learns: bool,
    accepting: bool,
    loss: String,
    classes: Vec<String>,
    version: Version,
    model: Map<String, Value>,
}

/// Every role, and whether a token holds it.
#[derive(JsonSchema, Serialize)]
pub(super) struct HeldRoles(pub(super) BTreeMap<&'static str, bool>);

/// An empty object.
#[derive(JsonSchema, Serialize)]
pub(super) struct Empty {}

/// State with which a new follower begins.
#[derive(JsonSchema, Serialize)]
pub(super) struct LogOrigin {
    /// The number of the log.
    log: String,
    /// The number of the arithmetic of learning.
    arithmetic: u32,
    /// The newest snapshot.
    snapshot: Option<Version>,
    /// The first record that the log holds.
    first: u64,
}

/// The version that a snapshot holds.
#[derive(JsonSchema, Serialize)]
pub(super) struct Snapshotted {
    pub(super) version: Version,
}

/// The snapshots that are kept, newest first.
#[derive(JsonSchema, Serialize)]
pub(super) struct VersionList {
    pub(super) present: Version,
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) versions: Vec<Value>,
}

/// The rows that could not be learned: how many, and the latest of them with the reasons, newest first.
#[derive(JsonSchema, Serialize)]
pub(super) struct AsideList {
    count: u64,
    rows: Vec<Map<String, Value>>,
}

/// The shadows that learn beside the model.
#[derive(JsonSchema, Serialize)]
pub(super) struct ShadowList {
    #[schemars(with = "Vec<Map<String, Value>>")]
    pub(super) shadows: Vec<Value>,
}

/// The version from which learning continues after a rollback or a promotion.
#[derive(JsonSchema, Serialize)]
pub(super) struct Switched {
    pub(super) version: Version,
    /// The snapshot that was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<Version>,
    /// The shadow that was promoted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shadow: Option<String>,
}

/// The record since which rows wait, and the reason.
#[derive(JsonSchema, Serialize)]
pub(super) struct PauseBegun {
    pub(super) version: Version,
    pub(super) paused: String,
}

/// The record from which rows are learned again.
#[derive(JsonSchema, Serialize)]
pub(super) struct PauseEnded {
    pub(super) version: Version,
    pub(super) backlog: Backlog,
}

/// Metadata of the server (Open Inference Protocol).
#[derive(JsonSchema, Serialize)]
pub(super) struct ServerMetadata {
    pub(super) name: String,
    pub(super) version: String,
    pub(super) extensions: Vec<String>,
}

/// Whether the process answers.
#[derive(JsonSchema, Serialize)]
pub(super) struct Liveness {
    pub(super) live: bool,
}

/// Whether scores are answered.
#[derive(JsonSchema, Serialize)]
pub(super) struct Readiness {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    pub(super) ready: bool,
}

/// Metadata of a model (Open Inference Protocol).
#[derive(JsonSchema, Serialize)]
pub(super) struct ModelMetadata {
    pub(super) name: String,
    pub(super) versions: Vec<String>,
    pub(super) platform: String,
    pub(super) inputs: Vec<TensorMetadata>,
    pub(super) outputs: Vec<TensorMetadata>,
    pub(super) parameters: ModelParameters,
}

/// The shape of a tensor; -1 is the number of rows.
#[derive(JsonSchema, Serialize)]
pub(super) struct TensorMetadata {
    pub(super) name: &'static str,
    pub(super) datatype: &'static str,
    pub(super) shape: Vec<i64>,
}

/// The classes of a model, in the order of its probabilities.
#[derive(JsonSchema, Serialize)]
pub(super) struct ModelParameters {
    pub(super) classes: Vec<String>,
}

/// The tensors of an inference (Open Inference Protocol).
#[derive(JsonSchema, Serialize)]
pub(super) struct InferenceResult {
    id: Option<String>,
    model_name: String,
    model_version: String,
    outputs: Vec<Map<String, Value>>,
    parameters: Version,
}

/// The layouts of MLflow's scoring protocol.
#[derive(JsonSchema, Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(dead_code, reason = "describes bodies that handlers read field by field")]
pub(super) enum Invocation {
    DataframeSplit(DataframeSplit),
    DataframeRecords(OneOrMany<Row>),
    Instances(OneOrMany<Row>),
    Inputs(OneOrMany<Row>),
}

/// A table as names of columns and lists of cells.
#[derive(JsonSchema, Serialize)]
pub(super) struct DataframeSplit {
    columns: Vec<String>,
    data: Vec<Vec<Value>>,
}

/// Predictions, one per row.
#[derive(JsonSchema, Serialize)]
pub(super) struct Predictions {
    pub(super) predictions: Vec<Value>,
}
