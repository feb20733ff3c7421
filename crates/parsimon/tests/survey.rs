//! Results of a survey of the data, and the number of times it opens the data.

use std::cell::Cell;

use parsimon::data::{DataError, Input, Labels, Options, Reader, Reading};
use parsimon::rows::Chunk;
use parsimon::survey::{self, Found, Source};
use parsimon::{InputSchema, LearnerOptions, Settings, Spec, Trainer};
use serde_json::{Value, json};

/// Inputs that count how often they are opened.
struct Counted {
    inputs: Vec<Input>,
    opens: Cell<usize>,
    is_pipe: bool,
}

impl Counted {
    fn new(name: &str, text: &str) -> Self {
        let input = Input::Bytes { name: name.into(), bytes: text.as_bytes().to_vec() };
        Self { inputs: vec![input], opens: Cell::new(0), is_pipe: false }
    }
}

impl Source for Counted {
    fn open(&self, options: &Options) -> Result<Reader, DataError> {
        self.opens.set(self.opens.get() + 1);
        self.inputs[..].open(options)
    }

    fn open_labels(&self, options: &Options) -> Result<Reader, DataError> {
        self.opens.set(self.opens.get() + 1);
        self.inputs[..].open_labels(options)
    }

    fn read_once(&self) -> Option<String> {
        self.is_pipe.then(|| "standard input".to_owned())
    }
}

fn settings(specs: &[Value]) -> Vec<Settings> {
    let settings = |spec: &Value| Spec::from_json(&spec.to_string())?.resolve();
    specs.iter().map(|spec| settings(spec).unwrap()).collect()
}

/// What is found, and how often the data was opened until the first row could be learned.
fn look(source: &Counted, specs: &[Value]) -> Result<(Found, usize), String> {
    let settings = settings(specs);
    let opened = survey::open(&settings, source, &Options::default()).map_err(|e| e.to_string())?;
    let opens = source.opens.get();
    let survey::Opened { schema, mut reader, .. } = opened;
    let found = schema.found.clone();
    // What was found is enough to build every learner and to learn every row.
    for settings in settings {
        let options = LearnerOptions { storage: schema.storage(), ..LearnerOptions::default() };
        let mut trainer = Trainer::new(settings, options, schema.clone()).unwrap();
        let mut chunk = Chunk::new();
        while reader.read(&mut chunk).unwrap() {
            trainer.learn(&chunk, &mut |_| {}).unwrap();
        }
    }
    Ok((found, opens))
}

fn found(classes: &[&str], dimension: Option<u32>, rows: Option<u64>) -> Found {
    let classes = classes.iter().map(ToString::to_string).collect();
    Found { classes, dimension, rows, ..Found::default() }
}

#[test]
fn everything_is_found_in_one_pass() {
    let ftrl = json!({"algorithm": "ftrl"});
    let classes = json!({"algorithm": "ftrl", "multiclass": true});
    let numbers = json!({"algorithm": "ftrl", "loss": "squared"});
    let rls = json!({"algorithm": "rls", "loss": "squared"});
    let nlms = json!({"algorithm": "nlms"});
    let csgd = json!({"algorithm": "csgd", "loss": "squared"});
    let simplex = json!({"algorithm": "dual-averaging", "ball": "simplex-kl", "multiclass": true});
    let phases = json!({"algorithm": "sgd", "schedule": "two-phase"});
    let (three, many) = ("3 1:1\n1 7:1\n2 2:1\n1 3:1\n", "0 1:1\n1 2:1\n".repeat(2000));
    let csv = "age,city,label\n30,Paris,yes\n40,Lyon,no\n50,Paris,no\n";
    let cases: [(&str, &str, Vec<Value>, Found, usize); 19] = [
        // Nothing to be found: the data is opened to be learned.
        ("d.svm", three, vec![numbers.clone()], found(&[], None, None), 1),
        ("d.svm", "0 1:1\n1 2:1\n", vec![ftrl.clone()], found(&["0", "1"], None, None), 2),
        ("d.svm", &many, vec![ftrl.clone()], found(&["0", "1"], None, None), 2),
        ("d.svm", "-1 1:1\n1 2:1\n", vec![ftrl.clone()], found(&[], None, None), 2),
        ("d.svm", "2 1:1\n1 2:1\n", vec![ftrl.clone()], found(&["1", "2"], None, None), 2),
        ("d.svm", three, vec![classes.clone()], found(&["1", "2", "3"], None, None), 2),
        ("d.csv", csv, vec![ftrl.clone()], found(&["no", "yes"], None, None), 2),
        ("d.vw", "1 | a b\n-1 | b c\n", vec![ftrl.clone()], found(&[], None, None), 2),
        (
            "d.jsonl",
            "{\"label\": \"x\", \"a\": 1}\n{\"label\": \"y\"}\n",
            vec![ftrl.clone()],
            found(&["x", "y"], None, None),
            2,
        ),
        ("d.svm", three, vec![rls.clone()], found(&[], Some(7), None), 2),
        // Ids from 0 are one more than the largest; of hashed features, those in use count.
        ("d.svm", "1 0:1 4:1\n2 2:1\n", vec![rls.clone()], found(&[], Some(5), None), 2),
        ("d.vw", "1 | a b\n-1 | b c\n", vec![rls.clone()], found(&[], Some(3), None), 2),
        ("d.svm", three, vec![simplex], found(&["1", "2", "3"], Some(7), None), 2),
        ("d.svm", &many, vec![phases], found(&["0", "1"], None, Some(4000)), 2),
        // Methods that learn numbers take two labels for classes, and more for numbers.
        ("d.svm", &many, vec![nlms.clone()], found(&["0", "1"], None, None), 2),
        ("d.csv", csv, vec![nlms.clone(), ftrl.clone()], found(&["no", "yes"], None, None), 2),
        ("d.svm", three, vec![nlms.clone()], found(&[], None, None), 2),
        ("d.svm", "2.5 1:1\n2.5 2:1\n", vec![nlms.clone()], found(&[], None, None), 2),
        ("d.svm", "-1 1:1\n1 2:1\n", vec![ftrl, nlms], found(&["-1", "1"], None, None), 2),
    ];
    for (name, text, specs, expected, opens) in cases {
        let looked = look(&Counted::new(name, text), &specs);
        assert_eq!(looked, Ok((expected, opens)), "{name} {specs:?}");
    }
    // For several learners at once.
    let source = Counted::new("d.svm", three);
    assert_eq!(look(&source, &[csgd, rls]), Ok((found(&[], Some(7), Some(4)), 2)));
}

#[test]
fn what_is_given_is_not_looked_for() {
    let declared = json!({"algorithm": "ftrl", "multiclass": true, "classes": ["3", "2", "1"]});
    let text = "3 1:1\n1 7:1\n2 2:1\n";
    let looked = look(&Counted::new("d.svm", text), &[declared]);
    assert_eq!(looked, Ok((found(&["3", "2", "1"], None, None), 1)));
    for given in [
        json!({"algorithm": "rls", "loss": "squared", "dimension": 9}),
        json!({"algorithm": "csgd", "loss": "squared", "switch": 2}),
    ] {
        assert_eq!(look(&Counted::new("d.svm", text), &[given]), Ok((Found::default(), 1)));
    }
}

#[test]
fn what_can_be_read_once_is_opened_once_or_refused() {
    let pipe = |text: &str| Counted { is_pipe: true, ..Counted::new("d.svm", text) };
    let two = "1 1:1\n-1 2:1\n";
    let ftrl = json!({"algorithm": "ftrl"});
    assert_eq!(look(&pipe(two), &[ftrl]), Ok((Found::default(), 1)));
    let declared = json!({"algorithm": "ftrl", "classes": ["b", "a"]});
    assert_eq!(look(&pipe("a 1:1\nb 2:1\n"), &[declared]), Ok((found(&["b", "a"], None, None), 1)));
    let refused = [
        (
            json!({"algorithm": "ftrl", "multiclass": true}),
            "standard input cannot be scanned for its labels; declare the classes with classes",
        ),
        (json!({"algorithm": "rls"}), "standard input cannot be scanned; pass dimension"),
        (
            json!({"algorithm": "csgd", "loss": "squared"}),
            "standard input cannot be scanned; pass switch",
        ),
    ];
    for (spec, expected) in refused {
        let source = pipe(two);
        assert_eq!(look(&source, &[spec]), Err(expected.to_owned()));
        assert_eq!(source.opens.get(), 0);
    }
}

#[test]
fn labels_that_no_learner_can_take_are_refused() {
    let ftrl = json!({"algorithm": "ftrl"});
    let ftrl = std::slice::from_ref(&ftrl);
    let three = look(&Counted::new("d.svm", "1 1:1\n2 1:1\n3 1:1\n"), ftrl);
    assert_eq!(
        three.unwrap_err(),
        "the loss logistic is for two classes and the data has 3 labels (1, 2, 3); pass multiclass, or \
         pass loss squared if the labels are numbers"
    );
    let one = look(&Counted::new("d.svm", "7 1:1\n7 2:1\n"), ftrl);
    assert_eq!(one.unwrap_err(), "all rows have the label \"7\"; nothing to learn");
}

/// Numbers and texts in one column have one order, whatever they look like.
#[test]
fn numbers_come_before_texts() {
    let classes = json!({"algorithm": "ftrl", "multiclass": true});
    let text = "5x 1:1\n10 2:1\n9 1:1\na 2:1\n";
    let looked = look(&Counted::new("d.svm", text), &[classes]);
    assert_eq!(looked, Ok((found(&["9", "10", "5x", "a"], None, None), 2)));
}

/// A value that was found in the data builds the learner that the same value among the settings builds.
#[test]
fn found_and_given_values_build_the_same_learner() {
    let options = Options::from(Reading { labels: Labels::Real, ..Reading::default() });
    let source = Counted::new("d.svm", "1 1:1 3:2\n2 2:1\n0.5 1:1\n");
    let (mut reader, mut rows) = (source.open(&options).unwrap(), Chunk::new());
    assert!(reader.read(&mut rows).unwrap());
    let learned = |spec: Value, found: Found| {
        let schema = InputSchema { found, ..InputSchema::default() };
        let settings = settings(&[spec]).remove(0);
        let mut trainer = Trainer::new(settings, LearnerOptions::default(), schema).unwrap();
        trainer.learn(&rows, &mut |_| {}).unwrap();
        trainer
    };
    let found = Found { dimension: Some(3), ..Found::default() };
    let now = learned(json!({"algorithm": "rls"}), found);
    let before = learned(json!({"algorithm": "rls", "dimension": 3}), Found::default());
    assert_eq!(now.model().heads(), before.model().heads());
    assert_eq!(now.settings().completed(&now.schema().found), *before.settings().to_json());
    assert!(now.settings().to_json().get("dimension").is_none());
    for trainer in [now, before] {
        let again = Trainer::from_checkpoint(&trainer.checkpoint()).unwrap();
        assert_eq!(again.checkpoint(), trainer.checkpoint());
        assert_eq!(again.schema().found, trainer.schema().found);
    }
}
