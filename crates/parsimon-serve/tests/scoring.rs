//! Scores of a model file, in all protocols.

use parsimon::data::{Format, Options};
use parsimon::rows::Chunk;
use parsimon::serve::RowParser;
use parsimon_serve::{Limits, Model};
use serde_json::json;

use crate::common::{Running, trained};

fn serve(limits: Limits) -> (Running, parsimon::Model) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.psm");
    let model = trained().model();
    model.save(&path).unwrap();
    (Running::with(vec![Model::read_only("m", &path).unwrap()], limits), model)
}

/// What the model predicts for svmlight rows.
fn expected(model: &parsimon::Model, text: &str) -> Vec<f64> {
    let options = model.options(&Options::default(), parsimon::workspace::Expect::Nothing);
    let mut parser = RowParser::new("x", Format::Svmlight, &options).unwrap();
    let (mut chunks, mut margins) = (Vec::new(), Vec::new());
    parser.parse(text.as_bytes(), &mut chunks).unwrap();
    chunks.iter().for_each(|chunk: &Chunk| model.scorer().margins(chunk, &mut margins));
    margins.into_iter().map(|p| model.settings().loss().predict(p)).collect()
}

#[test]
fn every_format_gives_the_score_of_the_model() {
    let (server, model) = serve(Limits::default());
    let (url, p) = ("/v1/models/m/score", expected(&model, "1 1:1 3:0.5\n2:1\n"));
    let lines = server.post(url, "text/x-svmlight", "1 1:1 3:0.5\n2:1\n");
    assert_eq!(lines.status, 200);
    assert!(lines.head.contains("application/x-ndjson"), "{}", lines.head);
    let lines: Vec<serde_json::Value> =
        lines.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines[0]["prediction"], json!(p[0]));
    assert_eq!(lines[1]["prediction"], json!(p[1]));
    assert_eq!(lines[0]["probabilities"], json!({"-1": 1.0 - p[0], "1": p[0]}));
    assert_eq!((&lines[0]["known"], &lines[0]["class"]), (&json!(2), &json!("1")));
    let one = server.json(url, r#"{"id":"a","features":{"1":1,"3":0.5}}"#).ok();
    assert_eq!((&one["prediction"], &one["id"]), (&json!(p[0]), &json!("a")));
    assert_eq!(one["version"], json!({"epoch": 0, "seq": 0}));
    let list =
        server.json(url, "[{\"features\":{\"1\":1,\n\"3\":0.5}},{\"features\":{\"2\":1}}]").ok();
    assert_eq!((&list[0]["prediction"], &list[1]["prediction"]), (&json!(p[0]), &json!(p[1])));
    assert_eq!(server.post(url, "text/x-vw", "|x 1:1 3:0.5\n").ok()["prediction"], json!(p[0]));
    let explained = server.json(&format!("{url}?explain"), r#"{"features":{"1":2,"99":7}}"#).ok();
    let parts = explained["contributions"].as_array().unwrap();
    assert_eq!((parts.len(), &parts[0]["feature"]), (1, &json!("1")));
    let product = parts[0]["value"].as_f64().unwrap() * parts[0]["weight"].as_f64().unwrap();
    assert_eq!(parts[0]["contribution"], json!(product));
    let unknown = server.json(url, r#"{"features":{"77":1}}"#).ok();
    let prior = model.settings().loss().predict(model.heads()[0].bias());
    assert_eq!((&unknown["known"], &unknown["prediction"]), (&json!(0), &json!(prior)));
}

#[test]
fn the_inference_protocol_answers_texts_and_sparse_tensors() {
    let (server, model) = serve(Limits::default());
    let p = expected(&model, "1:1\n2:1 3:0.5\n");
    let texts = json!({"id": "7", "inputs": [
        {"name": "rows", "shape": [2], "datatype": "BYTES", "data": ["1:1", "2:1 3:0.5"]}]});
    let answer = server.json("/v2/models/m/infer", &texts.to_string()).ok();
    assert_eq!((&answer["id"], &answer["model_name"]), (&json!("7"), &json!("m")));
    assert_eq!(answer["outputs"][0]["data"], json!(p));
    let tensor = |name: &str, datatype: &str, data: serde_json::Value| json!({"name": name, "shape": [3], "datatype": datatype, "data": data});
    let csr = json!({"inputs": [
        tensor("indptr", "INT32", json!([0, 1, 3])), tensor("indices", "INT32", json!([1, 2, 3])),
        tensor("data", "FP64", json!([1, 1, 0.5]))]});
    let answer = server.json("/v2/models/m/infer", &csr.to_string()).ok();
    assert_eq!(answer["outputs"][0]["data"], json!(p));
    // Binary tensors stand behind the JSON part.
    let head = json!({"inputs": [{"name": "rows", "shape": [2], "datatype": "BYTES",
        "parameters": {"binary_data_size": 20}}]})
    .to_string();
    let mut body = head.clone().into_bytes();
    for text in ["1:1", "2:1 3:0.5"] {
        body.extend((text.len() as u32).to_le_bytes());
        body.extend(text.as_bytes());
    }
    let length = head.len().to_string();
    let headers = [("inference-header-content-length", length.as_str())];
    let answer = server.send("POST", "/v2/models/m/infer", &headers, &body).ok();
    assert_eq!(answer["outputs"][0]["data"], json!(p));
    for bad in [
        json!({"inputs": []}),
        json!({"inputs": [tensor("a", "BYTES", json!([1]))]}),
        json!({"inputs": [tensor("indptr", "INT32", json!([0, 9])),
            tensor("indices", "INT32", json!([1])), tensor("data", "FP64", json!([1]))]}),
        json!({"inputs": [tensor("indptr", "INT32", json!([0, 1])),
            tensor("indices", "INT32", json!([-1])), tensor("data", "FP64", json!([1]))]}),
    ] {
        assert_eq!(server.json("/v2/models/m/infer", &bad.to_string()).status, 400, "{bad}");
    }
    for path in ["/v2", "/v2/health/live", "/v2/health/ready", "/v2/models/m", "/ping"] {
        assert_eq!(server.get(path).status, 200, "{path}");
    }
    // The outputs that are asked for, and the version: epoch 0 of a model that does not learn.
    let mut asked = json!({"inputs": [tensor("rows", "BYTES", json!(["1:1"]))], "outputs": [{"name": "known"}]});
    let answer = server.json("/v2/models/m/versions/0/infer", &asked.to_string()).ok();
    assert_eq!(answer["outputs"].as_array().unwrap().len(), 1);
    assert_eq!(answer["outputs"][0]["name"], "known");
    asked["outputs"] = json!([{"name": "margin"}]);
    let refused = server.json("/v2/models/m/infer", &asked.to_string()).refused(400);
    assert!(refused.contains("no output \"margin\""), "{refused}");
    assert_eq!(server.get("/v2/models/m/versions/0.0/ready").status, 200);
    for version in ["1", "0.9", "x", "0.x"] {
        assert_eq!(
            server.get(&format!("/v2/models/m/versions/{version}")).status,
            404,
            "{version}"
        );
    }
}

#[test]
fn every_address_of_the_description_is_there() {
    let (server, _) = serve(Limits::default());
    let paths = server.get("/openapi.json").ok()["paths"].clone();
    assert!(paths.as_object().unwrap().len() > 15);
    for (path, methods) in paths.as_object().unwrap() {
        let address = path.replace("{model}", "m").replace("{version}", "0");
        for method in methods.as_object().unwrap().keys() {
            let answer = server.send(&method.to_uppercase(), &address, &[], b"");
            assert!(answer.status != 405, "{path}");
            assert!(answer.status != 404 || !answer.text().contains("nothing at"), "{path}");
            let described = methods[method]["responses"].get(answer.status.to_string());
            assert!(described.is_some(), "{method} {path}: {}", answer.status);
        }
    }
}

#[test]
fn mlflow_and_metrics() {
    let (server, model) = serve(Limits::default());
    let p = expected(&model, "1:2\n");
    for body in [
        r#"{"dataframe_records": [{"features": {"1": 2}}]}"#,
        r#"{"instances": [{"features": {"1": 2}}]}"#,
        r#"{"dataframe_split": {"columns": ["1"], "data": [[2]]}}"#,
    ] {
        assert_eq!(server.json("/invocations", body).ok()["predictions"], json!(p), "{body}");
    }
    assert_eq!(
        server
            .json("/invocations", r#"{"dataframe_split": {"columns": ["1"], "data": [[]]}}"#)
            .status,
        400
    );
    let metrics = server.get("/metrics");
    let line = r#"parsimon_request_duration_seconds_count{op="invocations",model="",code="200"} 3"#;
    assert!(metrics.text().lines().any(|l| l == line), "{}", metrics.text());
}

#[test]
fn bad_requests_are_refused_with_a_place() {
    let limits = Limits { body: 2000, rows: 3, features: 4, ..Limits::default() };
    let (server, _) = serve(limits);
    let url = "/v1/models/m/score";
    let answer = server.post(url, "text/x-svmlight", "1:1\n2:x\n");
    assert_eq!(answer.refused(400), "body:2:3: \"x\" is not a number");
    let value = answer.value();
    assert_eq!(
        (&value["line"], &value["column"], &value["token"]),
        (&json!(2), &json!(3), &json!("x"))
    );
    assert_eq!(server.json("/v1/models/q/score", "{}").refused(404), "there is no model \"q\": m");
    assert_eq!(server.json(url, "{").status, 400);
    assert_eq!(server.json(url, "").status, 400);
    assert_eq!(server.post(url, "text/xml", "<a/>").status, 415);
    assert_eq!(server.post(url, "text/x-svmlight", &"1:1\n".repeat(4)).status, 413);
    assert_eq!(server.post(url, "text/x-svmlight", "1:1 2:1 3:1 4:1 5:1\n").status, 413);
    assert_eq!(server.post(url, "text/x-svmlight", &"1:1 ".repeat(600)).status, 413);
    assert_eq!(server.send("DELETE", url, &[], b"").status, 405);
    assert!(server.get("/nothing").refused(404).contains("/nothing"));
    assert!(
        server.json("/v1/models/m/learn", "{\"label\":1}").refused(409).contains("cannot learn")
    );
    let late = server.send("POST", url, &[("x-deadline-ms", "0")], b"1:1");
    assert!(late.refused(504).contains("deadline of 0 ms"));
    assert_eq!(server.send("POST", url, &[("x-deadline-ms", "soon")], b"1:1").status, 400);
    let named = server.send("POST", url, &[("x-request-id", "abc")], b"1:1");
    assert!(named.head.contains("x-request-id: abc"), "{}", named.head);
}

#[test]
fn a_model_can_be_fetched() {
    let (server, model) = serve(Limits::default());
    assert_eq!(server.get("/v1/models/m/download").body, model.to_bytes());
    assert_eq!(server.get("/v1/models").ok()["models"][0]["learns"], json!(false));
    assert_eq!(server.get("/v1/models/m").ok()["accepting"], json!(false));
}
