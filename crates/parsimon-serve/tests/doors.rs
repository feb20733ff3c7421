//! The rows of twelve tables as bodies of the service: the model and the scores that a file of them gives.

use parsimon::data::{Format, Input, Kinds, Options, Reading};
use parsimon::settings::Precision;
use parsimon::{InputSchema, LearnerOptions, Plan, Settings, Spec, Trainer, run, survey};
use parsimon_serve::{Model, Source};
use parsimon_testing::doors::{Table, tables};
use serde_json::Value;

use crate::common::{Running, policy};

fn file(table: &Table) -> Input {
    Input::Bytes { name: "rows.csv".into(), bytes: table.csv().into_bytes() }
}

/// How a file with these rows is read and learned.
fn read(table: &Table) -> (Settings, InputSchema) {
    let column = |name: &str| table.columns.iter().any(|(other, _)| *other == name);
    // Labels alone decide the loss: no look at the rows meets the text that makes sizes categories.
    let categories = ["plan", "size"].into_iter().filter(|name| column(name));
    let reading = Reading {
        format: Some(Format::Csv),
        kinds: Kinds::Found,
        label_column: Some(table.columns.last().unwrap().0.to_owned()),
        categories: categories.map(str::to_owned).collect(),
        ..Reading::default()
    };
    let spec = Spec::new("ftrl").set("l1", 0).set("normalize", true);
    let guessed = survey::open_guessing(&spec, &[file(table)][..], &reading.into()).unwrap();
    (guessed.settings, guessed.opened.schema)
}

/// The weights of a model, by feature, in all heads.
fn weights(model: &parsimon::Model) -> Vec<(String, Vec<u64>)> {
    let heads = model.heads();
    let all = heads.iter().flat_map(|head| head.indices().iter().copied());
    let mut all: Vec<u32> = all.collect();
    all.sort_unstable();
    all.dedup();
    let bits = |j: u32| heads.iter().map(|head| head.weight(j).to_bits()).collect();
    all.into_iter().map(|j| (model.name(j).into_owned(), bits(j))).collect()
}

#[test]
fn bodies_of_all_formats_give_the_model_of_a_file() {
    for table in tables() {
        let name = table.name;
        // Rows without a label are refused, with all of their request.
        let table = table.labelled();
        let (settings, schema) = read(&table);
        let table = table.slice(table.rows().saturating_sub(500)..table.rows());
        let options = LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() };
        let mut trainer = Trainer::new(settings.clone(), options, schema.clone()).unwrap();
        let reading = schema.options(&settings, Precision::F64, &Options::default());
        run(&mut trainer, &Plan::new(vec![file(&table)], reading), &mut ()).unwrap();
        let expected = weights(&trainer.model());
        assert!(!expected.is_empty(), "{name}");
        let mut scores: Option<Vec<Value>> = None;
        for (format, body) in [
            ("text/csv", table.csv()),
            ("text/tab-separated-values", table.tsv()),
            ("application/x-ndjson", table.json_lines()),
            ("application/json", table.json_array()),
        ] {
            let folder = tempfile::tempdir().unwrap();
            let source = Source::Fresh {
                settings: Box::new(settings.clone()),
                options,
                schema: Box::new(schema.clone()),
                finds_kinds: false,
            };
            let model = Model::learning("m", &source, policy(folder.path())).unwrap();
            let server = Running::new(vec![model]);
            let learned = server.post("/v1/models/m/learn?ack=visible", format, &body).ok();
            assert_eq!(learned["learned"], table.rows(), "{name}: {format}");
            let download = server.get("/v1/models/m/download").body;
            let model = parsimon::Model::from_bytes(&download).unwrap();
            assert!(weights(&model) == expected, "{name}: {format}");
            let answer = server.post("/v1/models/m/score", format, &body);
            assert_eq!(answer.status, 200, "{name}: {format}: {}", answer.text());
            let found: Vec<Value> = match answer.text().trim_start().starts_with('[') {
                true => serde_json::from_str(answer.text()).unwrap(),
                false => answer.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect(),
            };
            let of = |row: &Value| [row["prediction"].clone(), row["probabilities"].clone()];
            let found = found.iter().flat_map(of).collect();
            assert_eq!(
                scores.get_or_insert_with(|| Clone::clone(&found)),
                &found,
                "{name}: {format}"
            );
        }
    }
}
