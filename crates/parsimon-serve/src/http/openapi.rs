//! `GET /openapi.json`: the description of the service, generated from the table of addresses and the types of bodies.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::Service;
use super::body;
use super::routes::{Place, ROUTES, Route};
use super::schema::{BodyType, Refused};

pub(super) async fn openapi(State(service): State<Arc<Service>>) -> Response {
    let names: Vec<&str> = service.models().keys().map(String::as_str).collect();
    body::json(&describe(&names, service.access.has_tokens()))
}

/// Returns the OpenAPI document for these models. Without tokens the document has no security requirements.
pub(super) fn describe(models: &[&str], has_tokens: bool) -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    let mut generator = settings.into_generator();
    let mut paths = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        let method = route.method.as_str().to_lowercase();
        path[method] = operation(route, models, has_tokens, &mut generator);
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "parsimon serve",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Models that score and learn over HTTP and log every row they acknowledge.",
        },
        "paths": paths,
        "components": {
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "schemas": schemas,
        },
    })
}

fn operation(
    route: &Route,
    models: &[&str],
    has_tokens: bool,
    generator: &mut SchemaGenerator,
) -> Value {
    let role = match route.role {
        Some(role) => format!("Needs the role {} if the service has tokens.", role.name()),
        None => "Needs no token.".to_owned(),
    };
    let mut operation = json!({
        "operationId": route.operation,
        "summary": route.summary,
        "description": role,
        "x-role": route.role.map(crate::access::Role::name),
        "parameters": parameters(route, models),
        "responses": responses(route, generator),
    });
    if route.request.is_some() {
        let content = content(&route.request, generator);
        operation["requestBody"] =
            json!({"required": route.request.is_required, "content": content});
    }
    if has_tokens && route.role.is_some() {
        operation["security"] = json!([{"token": []}]);
    }
    operation
}

/// Describes the variables of the path, the listed parameters, and the deadline of requests with a body.
fn parameters(route: &Route, models: &[&str]) -> Vec<Value> {
    let variable = |name: &str, schema: Value| json!({"name": name, "in": "path", "required": true, "schema": schema});
    let mut parameters = Vec::new();
    if route.path.contains("{model}") {
        parameters.push(variable("model", json!({"type": "string", "enum": models})));
    }
    if route.path.contains("{version}") {
        parameters.push(variable("version", json!({"type": "string"})));
    }
    for parameter in route.parameters {
        parameters.push(json!({
            "name": parameter.name,
            "in": match parameter.place { Place::Query => "query", Place::Header => "header" },
            "required": false,
            "schema": (parameter.schema)(),
            "description": parameter.meaning,
        }));
    }
    if route.request.is_some() {
        parameters.push(json!({
            "name": "x-deadline-ms",
            "in": "header",
            "required": false,
            "schema": {"type": "integer", "minimum": 0, "maximum": body::LONGEST_DEADLINE},
            "description": "Answer 504 and compute nothing if the body is complete later than this.",
        }));
    }
    parameters
}

/// Describes the success and every error that the route can answer with.
fn responses(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let mut responses = Map::new();
    let mut success = json!({"description": "Success."});
    if route.answer.is_some() {
        success["content"] = content(&route.answer, generator);
    }
    responses.insert("200".into(), success);
    let refused = content(&BodyType::json::<Refused>(), generator);
    for status in errors(route) {
        let description = match status {
            400 => "The request is malformed, or a row is bad.",
            401 => "The token is missing or unknown.",
            403 => "The token lacks the role, or the request comes from another site.",
            404 => "The model or version does not exist.",
            408 => "The body did not arrive in time.",
            409 => "The request contradicts the state of the model.",
            413 => "The body is too large.",
            415 => "The media type is unknown.",
            429 => "Too many rows wait to be learned; retry later.",
            503 => "The service cannot do this now; retry later.",
            _ => "The deadline has passed.",
        };
        let answer = json!({"description": description, "content": refused});
        responses.insert(status.to_string(), answer);
    }
    Value::Object(responses)
}

/// Returns the statuses of errors, in ascending order: those that follow from the row, and those that the row lists.
fn errors(route: &Route) -> Vec<u16> {
    // A malformed deadline is 400 and a foreign origin 403 at every address.
    let mut errors = vec![400, 403];
    if route.role.is_some() {
        errors.push(401);
    }
    if route.path.contains("{model}") {
        errors.push(404);
    }
    if route.request.is_some() {
        errors.extend([408, 413, 504]);
    }
    if !route.request.text.is_empty() {
        errors.push(415);
    }
    errors.extend(route.errors);
    errors.sort_unstable();
    errors.dedup();
    errors
}

fn content(content: &BodyType, generator: &mut SchemaGenerator) -> Value {
    let mut media = Map::new();
    if let Some(schema) = content.json {
        media.insert("application/json".into(), json!({"schema": schema(generator)}));
    }
    for text in content.text {
        media.insert((*text).into(), json!({"schema": {}}));
    }
    Value::Object(media)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns every `$ref` of a document.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| match value {
                Value::String(to) if name == "$ref" => found.push(to.clone()),
                value => references(value, found),
            }),
            Value::Array(values) => values.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_address_is_described_with_bodies_and_role_and_errors() {
        let document = describe(&["m"], true);
        for route in ROUTES {
            let name = route.operation;
            let operation = &document["paths"][route.path][route.method.as_str().to_lowercase()];
            assert_eq!(operation["operationId"], name);
            assert!(!route.summary.is_empty(), "{name}");
            assert_eq!(operation["x-role"].as_str(), route.role.map(crate::access::Role::name));
            assert_eq!(operation["security"].is_array(), route.role.is_some(), "{name}");
            let answers = operation["responses"].as_object().unwrap();
            assert!(answers["200"]["content"].as_object().is_some_and(|c| !c.is_empty()), "{name}");
            for (status, answer) in answers.iter().filter(|(status, _)| *status != "200") {
                let schema = &answer["content"]["application/json"]["schema"];
                assert_eq!(schema["$ref"], "#/components/schemas/Refused", "{name} {status}");
            }
            assert_eq!(answers.contains_key("401"), route.role.is_some() || name == "sign_in");
            let has_body = route.method == axum::http::Method::POST && name != "snapshot";
            assert_eq!(operation["requestBody"]["content"].is_object(), has_body, "{name}");
        }
        let described: usize = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .map(|p| p.as_object().unwrap().len())
            .sum();
        assert_eq!(described, ROUTES.len());
    }

    #[test]
    fn references_lead_to_components() {
        let document = describe(&["m"], false);
        let mut found = Vec::new();
        references(&document, &mut found);
        assert!(found.len() > 30);
        for to in found {
            let pointer = to.strip_prefix('#').unwrap();
            assert!(document.pointer(pointer).is_some_and(Value::is_object), "{to}");
        }
    }
}
