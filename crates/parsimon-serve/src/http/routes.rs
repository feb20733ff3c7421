//! The table of all addresses: method, path, role, operation, handler, parameters, and the types of request and answer.
//!
//! The router, the access check, the labels of metrics and the description of the service are made from [`ROUTES`].

use std::sync::Arc;

use axum::Router;
use axum::http::{Method, StatusCode, Uri};
use axum::routing::{MethodFilter, MethodRouter, on};
use serde_json::{Value, json};

use super::schema::{
    AsideList, BodyType, Empty, HeldRoles, InferenceResult, Invocation, Label, Learned, Liveness,
    LogOrigin, ModelList, ModelMetadata, ModelStatus, OneOrMany, PauseBegun, PauseEnded,
    Predictions, Readiness, Row, Score, ServerMetadata, ShadowList, Snapshotted, Switched,
    VersionList,
};
use super::{
    Service, copying, events, gate, learn, metrics, mlflow, models, openapi, page, score, v2,
    versions,
};
use crate::access::Role;
use crate::error::Refusal;

/// An address of the service. No field has a default, so that a row without a role does not compile.
pub(super) struct Route {
    pub(super) method: Method,
    /// The path as axum matches it, with `{model}` and `{version}`.
    pub(super) path: &'static str,
    /// The role that a client needs; `None` admits every client. Health checks are open, and so is the page, which asks for a token.
    pub(super) role: Option<Role>,
    /// The unique name of the operation: the label `op` of metrics and the `operationId` of the description.
    pub(super) operation: &'static str,
    handler: fn(MethodFilter) -> MethodRouter<Arc<Service>>,
    /// A line about the operation.
    pub(super) summary: &'static str,
    /// Parameters of the query and headers.
    pub(super) parameters: &'static [Parameter],
    pub(super) request: BodyType,
    pub(super) answer: BodyType,
    /// Statuses of errors beside those that follow from the other fields.
    pub(super) errors: &'static [u16],
}

impl Route {
    /// Returns the names of the parameters of the query.
    pub(super) fn query_parameters(&self) -> impl Iterator<Item = &'static str> {
        let in_query = self.parameters.iter().filter(|p| matches!(p.place, Place::Query));
        in_query.map(|parameter| parameter.name)
    }
}

/// An optional parameter of a request.
pub(super) struct Parameter {
    pub(super) name: &'static str,
    pub(super) place: Place,
    pub(super) schema: fn() -> Value,
    pub(super) meaning: &'static str,
}

/// The part of a request that has a parameter.
pub(super) enum Place {
    Query,
    Header,
}

const fn flag(name: &'static str, meaning: &'static str) -> Parameter {
    Parameter { name, place: Place::Query, schema: || json!({"type": "boolean"}), meaning }
}

const DIGEST: Parameter =
    flag("digest", "Add a digest of the state: equal rows in equal order give equal digests.");
const EXPLAIN: Parameter = flag("explain", "Add the contribution of each feature.");
const PARTIAL: Parameter = flag("partial", "Learn the good rows if others are refused.");
const ACK: Parameter = Parameter {
    name: "ack",
    place: Place::Query,
    schema: || json!({"type": "string", "enum": ["durable", "logged", "visible"], "default": "durable"}),
    meaning: "The state of the rows to wait for before answering.",
};
const MODEL: Parameter = Parameter {
    name: "model",
    place: Place::Query,
    schema: || json!({"type": "string"}),
    meaning: "The name of the model; needed if the service has several models.",
};
const fn number(name: &'static str, meaning: &'static str) -> Parameter {
    let schema = || json!({"type": "integer", "minimum": 0, "default": 0});
    Parameter { name, place: Place::Query, schema, meaning }
}

const AFTER: Parameter = number("after", "The last record that the follower has, durable.");
const SUM: Parameter = number("sum", "The checksum of that record; 0 if a snapshot stands for it.");
const FOLLOWER_EPOCH: Parameter = number("epoch", "The epoch of the follower.");
const WAIT: Parameter = number("wait", "Milliseconds to wait for a record.");
const EPOCH: Parameter = number("epoch", "The epoch of the snapshot.");
const SEQ: Parameter = number("seq", "The record of the snapshot.");
const FROM: Parameter = number("from", "The first byte of the part.");
const KEY: Parameter = Parameter {
    name: "idempotency-key",
    place: Place::Header,
    schema: || json!({"type": "string"}),
    meaning: "Identifies the request: a repeat is not learned again.",
};

/// Text formats of rows.
const TEXTS: &[&str] = &[
    "application/x-ndjson",
    "text/x-vw",
    "text/x-svmlight",
    "text/csv",
    "text/tab-separated-values",
];
const ROWS: BodyType = BodyType::json::<OneOrMany<Row>>().or(TEXTS);
const LABELS: BodyType = BodyType::json::<OneOrMany<Label>>().or(&["application/x-ndjson"]);
const SCORES: BodyType = BodyType::json::<OneOrMany<Score>>().or(&["application/x-ndjson"]);
/// Errors of operations that need a model that learns.
const LEARNING: &[u16] = &[409, 503];
/// Errors of operations that append to the log.
const APPENDING: &[u16] = &[409, 429, 503];

/// Makes rows of [`ROUTES`] from entries `METHOD "path" ROLE, "operation" => handler, "summary", [parameters], request => answer,
/// errors;`.
macro_rules! routes {
    ($($method:ident $path:literal $role:expr, $operation:literal => $handler:path,
        $summary:literal, [$($parameter:expr),*], $request:expr => $answer:expr, $errors:expr;)*) => {
        &[$(Route {
            method: Method::$method,
            path: $path,
            role: $role,
            operation: $operation,
            handler: |method| on(method, $handler),
            summary: $summary,
            parameters: &[$($parameter),*],
            request: $request,
            answer: $answer,
            errors: $errors,
        }),*]
    };
}

const OPEN: Option<Role> = None;
const SCORE: Option<Role> = Some(Role::Score);
const LEARN: Option<Role> = Some(Role::Learn);
const DOWNLOAD: Option<Role> = Some(Role::Download);
const ADMIN: Option<Role> = Some(Role::Admin);

/// Every address of the service.
#[rustfmt::skip]
pub(super) const ROUTES: &[Route] = routes! {
    GET "/" OPEN, "page" => page::page,
        "Show the page", [], BodyType::NONE => BodyType::text(&["text/html"]), &[];
    GET "/page.css" OPEN, "page.css" => page::style,
        "Style of the page", [], BodyType::NONE => BodyType::text(&["text/css"]), &[];
    GET "/page.js" OPEN, "page.js" => page::script,
        "Script of the page", [], BodyType::NONE => BodyType::text(&["text/javascript"]), &[];
    POST "/v1/session" OPEN, "sign_in" => page::sign_in,
        "Store a token in a cookie of the browser", [], BodyType::json::<page::Token>() => BodyType::json::<HeldRoles>(), &[401];
    DELETE "/v1/session" OPEN, "sign_out" => page::sign_out,
        "Delete the cookie", [], BodyType::NONE => BodyType::json::<Empty>(), &[];
    GET "/v1/models" SCORE, "models" => models::list,
        "List the models", [], BodyType::NONE => BodyType::json::<ModelList>(), &[];
    GET "/v1/models/{model}" SCORE, "model" => models::about,
        "Describe a model", [DIGEST], BodyType::NONE => BodyType::json::<ModelStatus>(), LEARNING;
    GET "/v1/models/{model}/events" SCORE, "events" => events::events,
        "Statistics as server-sent events; the stream does not end", [], BodyType::NONE => BodyType::text(&["text/event-stream"]), LEARNING;
    GET "/v1/models/{model}/download" DOWNLOAD, "download" => models::download,
        "Download the model file of the present state", [], BodyType::NONE => BodyType::text(&["application/octet-stream"]), &[503];
    POST "/v1/models/{model}/score" SCORE, "score" => score::score,
        "Score rows", [EXPLAIN], ROWS => SCORES, &[];
    POST "/v1/models/{model}/learn" LEARN, "learn" => learn::learn,
        "Learn labelled rows", [ACK, PARTIAL, KEY], ROWS => BodyType::json::<Learned>(), APPENDING;
    POST "/v1/models/{model}/label" LEARN, "label" => learn::label,
        "Label rows that were scored with ids", [ACK], LABELS => BodyType::json::<Learned>(), APPENDING;
    GET "/v1/models/{model}/set-aside" ADMIN, "set_aside" => learn::set_aside,
        "List the latest rows that could not be learned, with the reasons", [], BodyType::NONE => BodyType::json::<AsideList>(), LEARNING;
    GET "/v1/models/{model}/log" ADMIN, "log" => copying::records,
        "Send a follower the records after those that it has", [AFTER, SUM, FOLLOWER_EPOCH, WAIT], BodyType::NONE => BodyType::text(&["application/octet-stream"]), LEARNING;
    GET "/v1/models/{model}/log/origin" ADMIN, "log_origin" => copying::origin,
        "Describe where a new follower begins", [], BodyType::NONE => BodyType::json::<LogOrigin>(), LEARNING;
    GET "/v1/models/{model}/log/snapshot" ADMIN, "log_snapshot" => copying::snapshot,
        "Send a follower a part of a snapshot", [EPOCH, SEQ, FROM], BodyType::NONE => BodyType::text(&["application/octet-stream"]), LEARNING;
    POST "/v1/models/{model}/snapshot" ADMIN, "snapshot" => versions::snapshot,
        "Write a snapshot", [], BodyType::NONE => BodyType::json::<Snapshotted>(), LEARNING;
    GET "/v1/models/{model}/versions" SCORE, "versions" => versions::list,
        "List the snapshots that are kept", [], BodyType::NONE => BodyType::json::<VersionList>(), LEARNING;
    GET "/v1/models/{model}/shadows" SCORE, "shadows" => versions::shadows,
        "List the shadows of the model, with the losses of both", [], BodyType::NONE => BodyType::json::<ShadowList>(), LEARNING;
    POST "/v1/models/{model}/promote" ADMIN, "promote" => versions::promote,
        "Continue from a kept snapshot or from a shadow, or let a follower take the place of its leader", [], BodyType::json::<versions::Promotion>() => BodyType::json::<Switched>(), APPENDING;
    POST "/v1/models/{model}/rollback" ADMIN, "rollback" => versions::roll_back,
        "Continue from a kept snapshot", [], BodyType::json::<versions::SnapshotId>() => BodyType::json::<Switched>(), APPENDING;
    POST "/v1/models/{model}/pause" ADMIN, "pause" => versions::pause,
        "Log rows without learning them", [], BodyType::json::<versions::PauseRequest>().optional() => BodyType::json::<PauseBegun>(), APPENDING;
    POST "/v1/models/{model}/resume" ADMIN, "resume" => versions::resume,
        "Resume learning; the rows of the pause are learned or skipped", [], BodyType::json::<versions::ResumeRequest>() => BodyType::json::<PauseEnded>(), APPENDING;
    GET "/v2" SCORE, "v2" => v2::server,
        "Describe the server (Open Inference Protocol)", [], BodyType::NONE => BodyType::json::<ServerMetadata>(), &[];
    GET "/v2/health/live" OPEN, "live" => v2::live,
        "Whether the process answers", [], BodyType::NONE => BodyType::json::<Liveness>(), &[];
    GET "/v2/health/ready" OPEN, "ready" => v2::ready,
        "Whether scores are answered", [], BodyType::NONE => BodyType::json::<Readiness>(), &[503];
    GET "/v2/models/{model}" SCORE, "v2_model" => v2::model,
        "Describe a model (Open Inference Protocol)", [], BodyType::NONE => BodyType::json::<ModelMetadata>(), &[];
    GET "/v2/models/{model}/ready" OPEN, "v2_model_ready" => v2::model_ready,
        "Whether a model answers", [], BodyType::NONE => BodyType::json::<Readiness>(), &[];
    POST "/v2/models/{model}/infer" SCORE, "infer" => v2::infer,
        "Infer (Open Inference Protocol): one BYTES tensor of rows, or indptr, indices and data", [], BodyType::json::<v2::Inference>() => BodyType::json::<InferenceResult>(), &[415];
    GET "/v2/models/{model}/versions/{version}" SCORE, "v2_version" => v2::model,
        "Describe a version of a model (Open Inference Protocol)", [], BodyType::NONE => BodyType::json::<ModelMetadata>(), &[];
    GET "/v2/models/{model}/versions/{version}/ready" OPEN, "v2_version_ready" => v2::model_ready,
        "Whether a version of a model answers", [], BodyType::NONE => BodyType::json::<Readiness>(), &[];
    POST "/v2/models/{model}/versions/{version}/infer" SCORE, "infer_version" => v2::infer,
        "Infer with a version of a model (Open Inference Protocol)", [], BodyType::json::<v2::Inference>() => BodyType::json::<InferenceResult>(), &[415];
    POST "/invocations" SCORE, "invocations" => mlflow::invocations,
        "Score rows in MLflow's layouts", [MODEL], BodyType::json::<Invocation>().or(&["text/csv"]) => BodyType::json::<Predictions>(), &[404];
    GET "/ping" OPEN, "ping" => mlflow::ping,
        "Whether the process answers (MLflow)", [], BodyType::NONE => BodyType::text(&["text/plain"]), &[];
    GET "/metrics" SCORE, "metrics" => metrics::metrics,
        "Metrics for Prometheus", [], BodyType::NONE => BodyType::text(&["text/plain"]), &[];
    GET "/openapi.json" SCORE, "openapi" => openapi::openapi,
        "This description", [], BodyType::NONE => BodyType::text(&["application/json"]), &[];
};

/// Returns the route of a request: its method and the path that the router matched.
pub(super) fn find(method: &Method, path: &str) -> Option<&'static Route> {
    // The router answers HEAD with the handler of GET.
    let method = if *method == Method::HEAD { &Method::GET } else { method };
    ROUTES.iter().find(|route| route.path == path && route.method == *method)
}

/// Returns a router for all addresses, with the access check before every handler.
pub fn router(service: Arc<Service>) -> Router {
    let mut router = Router::new();
    for route in ROUTES {
        let method = MethodFilter::try_from(route.method.clone());
        let method = method.expect("the table has methods that axum routes");
        router = router.route(route.path, (route.handler)(method));
    }
    router
        .fallback(no_address)
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(service.clone(), gate::gate))
        .with_state(service)
}

async fn no_address(uri: Uri) -> Refusal {
    Refusal::missing(format!("there is nothing at {:?}; see /openapi.json", uri.path()))
}

async fn wrong_method(method: Method, uri: Uri) -> Refusal {
    let message = format!("{method} is not possible at {:?}; see /openapi.json", uri.path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Request;
    use sha2::{Digest as _, Sha256};
    use tower::ServiceExt as _;

    use super::*;
    use crate::access::Access;
    use crate::engine::Limits;

    /// The addresses that each role opens beyond those of `score`. Changing who may call an address means changing this list.
    const EXPECTED: &str = "\
        open: page page.css page.js sign_in sign_out live ready v2_model_ready v2_version_ready ping\n\
        score: models model events score versions shadows v2 v2_model infer v2_version infer_version invocations metrics openapi\n\
        learn: learn label\n\
        download: download\n\
        admin: set_aside log log_origin log_snapshot snapshot promote rollback pause resume\n";

    #[test]
    fn every_address_has_the_role_that_was_decided_for_it() {
        let mut found = String::new();
        for role in std::iter::once(None).chain(Role::ALL.map(Some)) {
            found += role.map_or("open", Role::name);
            found += ":";
            for route in ROUTES.iter().filter(|route| route.role == role) {
                found += &format!(" {}", route.operation);
            }
            found += "\n";
        }
        assert_eq!(found, EXPECTED);
    }

    #[test]
    fn methods_and_paths_and_operations_are_unique() {
        for (k, a) in ROUTES.iter().enumerate() {
            for b in &ROUTES[..k] {
                assert_ne!(a.operation, b.operation);
                assert_ne!((&a.method, a.path), (&b.method, b.path));
            }
        }
    }

    /// A service with a token for each role, which is the role's name.
    fn guarded() -> Router {
        let line = |role: Role| {
            let hash = Sha256::digest(role.name());
            let digits: String = hash.iter().map(|b| format!("{b:02x}")).collect();
            format!("{} sha256:{digits}\n", role.name())
        };
        let access = Access::from_text(&Role::ALL.map(line).concat()).unwrap();
        router(Arc::new(Service::new(Vec::new(), Limits::default(), access)))
    }

    /// Returns the status and body of an answer.
    async fn send(router: &Router, method: &Method, path: &str, token: &str) -> (u16, String) {
        let mut request = Request::builder().method(method).uri(path).header("host", "a.example");
        if !token.is_empty() {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        let request = request.body(Body::empty()).unwrap();
        let answer = router.clone().oneshot(request).await.unwrap();
        let status = answer.status().as_u16();
        let body = axum::body::to_bytes(answer.into_body(), 1 << 20).await.unwrap();
        (status, String::from_utf8_lossy(&body).into_owned())
    }

    #[test]
    fn every_address_admits_exactly_the_clients_with_its_role() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let router = guarded();
            for route in ROUTES {
                let path = route.path.replace("{model}", "m").replace("{version}", "1");
                let mut methods = vec![route.method.clone()];
                if route.method == Method::GET {
                    methods.push(Method::HEAD);
                }
                for method in &methods {
                    // An unknown address would be refused alike: the answer must come from a handler.
                    let (status, body) = send(&router, method, &path, "admin").await;
                    assert!(status != 405 && !body.contains("nothing at"), "{method} {path}");
                    for token in ["", "unknown"] {
                        let (status, body) = send(&router, method, &path, token).await;
                        // Signing in answers 401 itself: the body holds no token.
                        let refused = status == 401 && route.operation != "sign_in";
                        assert_eq!(
                            refused,
                            route.role.is_some(),
                            "{method} {path} {token:?} {body}"
                        );
                    }
                    for role in Role::ALL {
                        let (status, body) = send(&router, method, &path, role.name()).await;
                        let may = route.role.is_none_or(|needed| role.includes(needed));
                        let case = format!("{method} {path} {} {body}", role.name());
                        assert_eq!(status == 403, !may, "{case}");
                        if !may && *method != Method::HEAD {
                            let needed = route.role.map_or("", Role::name);
                            assert!(body.contains(&format!("the role {needed}")), "{case}");
                        }
                    }
                }
            }
        });
    }

    #[test]
    fn addresses_and_methods_that_are_not_in_the_table_need_a_token() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let router = guarded();
            for (method, path, status) in [
                (Method::GET, "/v1/models/m/learn", 405),
                (Method::PUT, "/metrics", 405),
                (Method::GET, "/v1/models/m/download/", 404),
                (Method::GET, "/nothing/ping", 404),
            ] {
                assert_eq!(send(&router, &method, path, "").await.0, 401, "{method} {path}");
                assert_eq!(
                    send(&router, &method, path, "score").await.0,
                    status,
                    "{method} {path}"
                );
            }
        });
    }
}
