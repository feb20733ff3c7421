//! The door from words to types: what is refused and in which words, what the layers and the two notations mean,
//! and that everything on the list can be built.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use crate::common;

use common::{PRECISIONS, family, implicit_family, ones, settings, trainer};
use parsimon::algorithm::ALGORITHMS;
use parsimon::algorithm::typed::Rda;
use parsimon::survey::Found;
use parsimon::workspace::{DefaultValue, PENALTIES};
use parsimon::{InputSchema, LearnerOptions, Spec, Trainer};
use serde_json::{Value, json};

#[track_caller]
fn assert_refused(spec: Value, parameter: &str, message: &str) {
    let error = match Spec::from_json(&spec.to_string()).unwrap().resolve() {
        Err(error) => error,
        Ok(settings) => panic!("{spec} was accepted as {:?}", settings.to_json()),
    };
    assert_eq!((error.to_string().as_str(), error.parameter()), (message, parameter), "{spec}");
}

#[test]
fn algorithms_that_are_not() {
    assert_refused(json!({"l1": 1}), "algorithm", "the spec names no algorithm");
    assert_refused(json!({"algorithm": 3}), "algorithm", "algorithm must be a name, got 3");
    assert_refused(
        json!({"algorithm": "fobo"}),
        "algorithm",
        "there is no algorithm \"fobo\", did you mean \"fobos\"? `parsimon algorithms` lists them",
    );
    assert_refused(
        json!({"algorithm": "random-forest"}),
        "algorithm",
        "there is no algorithm \"random-forest\"; `parsimon algorithms` lists them",
    );
    // Names are as written in the list, no more and no less.
    assert_refused(
        json!({"algorithm": "FTRL"}),
        "algorithm",
        "there is no algorithm \"FTRL\", did you mean \"ftrl\"? `parsimon algorithms` lists them",
    );
}

#[test]
fn settings_that_are_not() {
    assert_refused(
        json!({"algorithm": "ftrl", "l11": 1}),
        "l11",
        "ftrl has no setting \"l11\", did you mean \"l1\"? it has loss, huber_delta, quantile, multiclass, \
         classes, class_weight, normalize, no_clip_predictions, rate, l1, l2, penalty, lower, upper, penalty_factor, beta, half_life",
    );
    assert_refused(
        json!({"algorithm": "ftrl", "dictionary": 1}),
        "dictionary",
        "ftrl has no setting \"dictionary\"; it has loss, huber_delta, quantile, multiclass, classes, class_weight, normalize, no_clip_predictions, rate, l1, \
         l2, penalty, lower, upper, penalty_factor, beta, half_life",
    );
    // A penalty on a method without one is a mistake, not a wish to be overheard; none at all is what it has.
    assert_refused(
        json!({"algorithm": "adam", "l1": 0.5}),
        "l1",
        "adam has no setting \"l1\", a setting of auto, subgradient-l1, truncated-gradient, fobos, ...; it has loss, huber_delta, quantile, multiclass, classes, class_weight, normalize, no_clip_predictions, rate, beta1, beta2, \
         epsilon",
    );
    assert!(
        settings(&json!({"algorithm": "adam", "l1": 0, "l2": 0.0})).to_json().get("l1").is_none()
    );
    assert_refused(
        json!({"algorithm": "rda", "schedule": "sqrt"}),
        "schedule",
        "rda has no setting \"schedule\", a setting of sgd, asgd, subgradient-l1, truncation, ...; it has loss, huber_delta, quantile, multiclass, classes, class_weight, normalize, no_clip_predictions, rate, l1, l2, \
         penalty, lower, upper, penalty_factor, beta, prox",
    );
}

#[test]
fn values_that_cannot_be() {
    let refused = |name: &str, value: Value, message: &str| {
        let algorithm = match name {
            "period" | "theta" => "truncated-gradient",
            "groups" | "penalty" | "schedule" => "fobos",
            "beta1" => "adam",
            "implicit" => "sgd",
            "a" => "generalized-rda",
            _ => "ftrl",
        };
        assert_refused(json!({"algorithm": algorithm, name: value}), name, message);
    };
    refused("l1", json!(-0.5), "l1 must be a finite number >= 0, got -0.5");
    refused("l1", json!("much"), "l1 must be a finite number >= 0, got \"much\"");
    refused("l1", json!("0.1"), "l1 must be a finite number >= 0, got \"0.1\"");
    refused("l1", json!(true), "l1 must be a finite number >= 0, got true");
    refused("l1", json!([0.1]), "l1 must be a finite number >= 0, got [0.1]");
    refused("rate", json!(0), "rate must be a finite number > 0, got 0");
    refused("rate", json!(-1), "rate must be a finite number > 0, got -1");
    refused("a", json!("half"), "a must be a finite number, got \"half\"");
    refused("beta1", json!(1), "beta1 must be a number >= 0 and < 1, got 1");
    refused("quantile", json!(1.0), "quantile must be a number between 0 and 1, got 1.0");
    refused("theta", json!(-1), "theta must be a number >= 0 or \"inf\", got -1");
    refused("theta", json!("infinite"), "theta must be a number >= 0 or \"inf\", got \"infinite\"");
    refused("period", json!(0), "period must be a whole number >= 1, got 0");
    refused("period", json!(2.5), "period must be a whole number >= 1, got 2.5");
    refused("period", json!(-3), "period must be a whole number >= 1, got -3");
    refused("implicit", json!("yes"), "implicit must be true or false, got \"yes\"");
    refused("multiclass", json!(1), "multiclass must be true or false, got 1");
    refused(
        "loss",
        json!("log"),
        "loss must be one of logistic, softmax, squared, hinge, squared-hinge, huber, quantile, poisson, got \"log\"",
    );
    refused(
        "schedule",
        json!("cosine"),
        "schedule must be one of constant, sqrt, inverse, power, two-phase, got \"cosine\"",
    );
    refused("groups", json!([1, 2]), "groups must be a list of lists of feature ids, got [1,2]");
    refused("groups", json!([[]]), "groups must be a list of lists of feature ids, got [[]]");
    refused("groups", json!([[-1]]), "groups must be a list of lists of feature ids, got [[-1]]");
    refused(
        "classes",
        json!(["a"]),
        "classes must be a list of at least two different texts, got [\"a\"]",
    );
    refused(
        "classes",
        json!(["a", "a"]),
        "classes must be a list of at least two different texts, got [\"a\",\"a\"]",
    );
}

#[test]
fn combinations_that_cannot_be() {
    assert_refused(
        json!({"algorithm": "fobos", "penalty": "group"}),
        "groups",
        "the group penalty needs groups, lists of feature ids",
    );
    assert_refused(
        json!({"algorithm": "fobos", "penalty": "group", "groups": [[1, 2], [2, 3]]}),
        "groups",
        "a feature id may be in one group only",
    );
    for beta in ["zero", "constant", "log"] {
        assert_refused(
            json!({"algorithm": "rda", "beta": beta}),
            "beta",
            "beta zero, constant and log need l2 > 0: they rest on the penalty's strong convexity",
        );
    }
    assert_refused(
        json!({"algorithm": "rda", "prox": "psi"}),
        "prox",
        "prox psi needs l2 > 0: the penalty is its own stabilizer",
    );
    for penalty in ["l2-norm", "linf"] {
        assert_refused(
            json!({"algorithm": "fobos", "penalty": penalty, "l2": 0.1}),
            "l2",
            "l2 goes with the elastic penalty; the norms' strength is l1",
        );
    }
    for loss in ["squared-hinge", "huber", "quantile", "poisson"] {
        assert_refused(
            json!({"algorithm": "comid", "implicit": true, "loss": loss}),
            "implicit",
            "implicit updates are for the losses squared, logistic and hinge",
        );
    }
    for (spec, name, message) in [
        (
            json!({"penalty": "elastic", "lower": -1}),
            "lower",
            "lower is a setting of the penalty box; pass penalty box, too",
        ),
        (json!({"penalty": "box"}), "lower", "the penalty box needs lower, upper or both"),
        (
            json!({"penalty": "box", "lower": 0.5}),
            "lower",
            "lower must be a finite number <= 0, got 0.5",
        ),
        (
            json!({"penalty": "box", "upper": -1}),
            "upper",
            "upper must be a finite number >= 0, got -1",
        ),
    ] {
        for algorithm in ["ftrl", "rda", "fobos", "adagrad-rda", "adagrad-fobos"] {
            let mut spec = spec.clone();
            spec["algorithm"] = algorithm.into();
            assert_refused(spec, name, message);
        }
    }
    assert_refused(
        json!({"algorithm": "ftrl", "huber_delta": 2}),
        "huber_delta",
        "huber_delta is a setting of the loss huber",
    );
    assert_refused(
        json!({"algorithm": "ftrl", "loss": "huber", "quantile": 0.9}),
        "quantile",
        "quantile is a setting of the loss quantile",
    );
    assert_refused(
        json!({"algorithm": "ftrl", "loss": "poisson", "multiclass": true}),
        "loss",
        "multiclass needs a loss for classes or the squared loss",
    );
}

#[test]
fn what_the_data_must_tell() {
    let build =
        |spec: Value| match settings(&spec).build(LearnerOptions::default(), &Found::default()) {
            Err(error) => (error.to_string(), error.parameter().to_owned()),
            Ok(_) => panic!("{spec} was built"),
        };
    let (message, parameter) = build(json!({"algorithm": "ftrl", "multiclass": true}));
    assert_eq!(message, "multiclass needs classes, the list of labels");
    assert_eq!(parameter, "classes");
    let (message, parameter) = build(json!({"algorithm": "dual-averaging", "ball": "simplex-kl"}));
    assert_eq!(
        message,
        "ball simplex-kl needs dimension, the number of features (ids are counted from 1)"
    );
    assert_eq!(parameter, "dimension");
    // A trainer takes the classes from the reading, and is as strict when there are none there.
    let spec = json!({"algorithm": "ftrl", "multiclass": true});
    let error =
        Trainer::new(settings(&spec), LearnerOptions::default(), InputSchema::default()).err();
    assert_eq!(error.unwrap().to_string(), "multiclass needs classes, the list of labels");
    let found = Found { classes: vec!["a".into(), "b".into()], ..Found::default() };
    let reading = InputSchema { found, ..InputSchema::default() };
    let trainer = Trainer::new(settings(&spec), LearnerOptions::default(), reading).unwrap();
    assert_eq!(trainer.online().heads(), 2);
    assert!(trainer.settings().classes().is_none());
}

#[test]
fn texts_that_are_no_specs() {
    let json = |text: &str| Spec::from_json(text).unwrap_err().to_string();
    assert!(json("[1]").starts_with("the spec is not a JSON object: "));
    assert!(
        json("{\"l1\": 1e999}").starts_with("the spec is not a JSON object: number out of range")
    );
    let toml = Spec::from_toml("l1 = = 2").unwrap_err().to_string();
    assert!(toml.starts_with("the spec is not TOML: "), "{toml}");
}

#[test]
fn toml_says_what_json_says() {
    let pairs = [
        (
            "algorithm = \"fobos\"\nrate = 0.25\nl1 = 0.05\nl2 = 1\nloss = \"hinge\"",
            r#"{"algorithm": "fobos", "rate": 0.25, "l1": 0.05, "l2": 1, "loss": "hinge"}"#,
        ),
        (
            "algorithm = \"truncated-gradient\"\nperiod = 3\ntheta = \"inf\"",
            r#"{"algorithm": "truncated-gradient", "period": 3, "theta": "inf"}"#,
        ),
        // TOML has a number for it.
        (
            "algorithm = \"truncated-gradient\"\ntheta = inf",
            r#"{"algorithm": "truncated-gradient", "theta": "inf"}"#,
        ),
        (
            "algorithm = \"fobos\"\npenalty = \"group\"\ngroups = [[1, 2], [3]]\nmulticlass = true\n\
             classes = [\"a\", \"b\"]",
            r#"{"algorithm": "fobos", "penalty": "group", "groups": [[1, 2], [3]], "multiclass": true,
                "classes": ["a", "b"]}"#,
        ),
    ];
    for (toml, json) in pairs {
        let toml = Spec::from_toml(toml).unwrap().resolve().unwrap();
        let json = Spec::from_json(json).unwrap().resolve().unwrap();
        assert_eq!(toml.to_json(), json.to_json());
    }
}

#[test]
fn numbers_that_are_none_are_not_overheard() {
    for (value, shown) in [("inf", "inf"), ("-inf", "-inf"), ("nan", "nan")] {
        let error = Spec::from_toml(&format!("algorithm = \"ftrl\"\nl1 = {value}")).unwrap();
        let error = error.resolve().unwrap_err().to_string();
        assert_eq!(error, format!("l1 must be a finite number >= 0, got \"{shown}\""));
    }
}

#[test]
fn the_last_layer_wins_and_null_is_unset() {
    let defaults = Spec::new("ftrl").set("l1", 1.0);
    let file = Spec::from_toml("algorithm = \"rda\"\nl1 = 0.5\nrate = 0.2").unwrap();
    let flags = Spec::default().set("l1", 0.25).set("rate", Value::Null);
    let settings = defaults.overwrite(file).overwrite(flags).resolve().unwrap();
    assert_eq!(settings.algorithm().name, "rda");
    let rda = settings.typed::<Rda>().unwrap();
    assert_eq!((rda.penalized.l1, rda.rate), (0.25, 0.5));
}

#[test]
fn every_algorithm_learns_with_its_defaults() {
    let rows = ones(3, 400, 12);
    for algorithm in ALGORITHMS.iter() {
        for precision in PRECISIONS {
            // What the program finds out by a look at the data.
            let found = json!({"algorithm": algorithm.name,
                "dimension": algorithm.has("dimension").then_some(12),
                "switch": (algorithm.name == "csgd").then_some(200)});
            let mut trainer = trainer(&found, precision);
            trainer.learn(&rows, &mut |_| {}).unwrap();
            assert!(trainer.model().nonzeros() > 0, "{} learned nothing", algorithm.name);
            let loss = trainer.progressive().average().unwrap();
            // A projection goes half way to every row, the noisy ones too: it follows, and does not average.
            let follows = algorithm.is_filter() && !["rls", "lms"].contains(&algorithm.name);
            let naive = trainer.settings().loss().value(0.0, 1.0) * if follows { 1.5 } else { 1.0 };
            assert!(
                loss < naive,
                "{} {precision}: {loss} is no better than guessing",
                algorithm.name
            );
        }
    }
}

#[test]
fn what_only_the_data_tells_is_asked_for() {
    let refusal = |spec: Value| {
        let refused = settings(&spec).build(parsimon::LearnerOptions::default(), &Found::default());
        refused.err().unwrap().to_string()
    };
    assert_eq!(
        refusal(json!({"algorithm": "sgd", "schedule": "two-phase"})),
        "the two-phase schedule needs switch, the round m of the change"
    );
    for algorithm in ["rls", "papa", "pnlms", "ipnlms"] {
        assert_eq!(
            refusal(json!({"algorithm": algorithm})),
            format!("{algorithm} needs dimension, the number of features (ids are counted from 1)")
        );
    }
    let refused = refusal(json!({"algorithm": "rls", "dimension": 40_000_000}));
    assert!(
        refused.starts_with(
            "rls: the matrix over all pairs of 40000000 features needs 6.4 PB of memory"
        ),
        "{refused}"
    );
}

#[test]
fn more_features_than_declared_are_refused() {
    let spec = json!({"algorithm": "papa", "dimension": 3});
    let refused = trainer(&spec, PRECISIONS[0]).learn(&ones(3, 400, 12), &mut |_| {}).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("exceeds dimension 3"), "{text}");
}

#[test]
fn settings_of_one_choice_are_refused_with_another() {
    let refused = |spec: Value, name: &str, words: &str| assert_refused(spec, name, words);
    refused(
        json!({"algorithm": "sgd", "power": 0.7}),
        "power",
        "power is a setting of the schedule power",
    );
    refused(
        json!({"algorithm": "sgd", "schedule": "power", "power": 1.5}),
        "power",
        "power must be a number > 0 and <= 1, got 1.5",
    );
    for (name, value) in [("mirror", json!(true)), ("sigma", json!(0.5))] {
        let mut spec = json!({"algorithm": "dual-averaging", "ball": "l2"});
        spec[name] = value;
        refused(spec, name, &format!("{name} is a setting of the ball simplex-kl"));
    }
    refused(
        json!({"algorithm": "dual-averaging", "ball": "simplex-kl", "mirror": true, "sigma": 1}),
        "mirror",
        "mirror and sigma exclude each other: with sigma there are no steps",
    );
    refused(
        json!({"algorithm": "arow", "loss": "logistic"}),
        "loss",
        "loss must be one of hinge, got \"logistic\"",
    );
}

#[test]
fn filters_refuse_what_is_not_theirs() {
    let refused = |spec: Value, name: &str, words: &str| assert_refused(spec, name, words);
    for rate in [0.0, 2.0, -1.0] {
        let words = format!("rate must be a number > 0 and < 2, got {rate:?}");
        refused(json!({"algorithm": "nlms", "rate": rate}), "rate", &words);
    }
    refused(
        json!({"algorithm": "nlms", "order": 2}),
        "order",
        "nlms has no setting \"order\", a setting of apa, papa, apfbs, pda; it has loss, multiclass, classes, class_weight, normalize, no_clip_predictions, rate, delta",
    );
    refused(
        json!({"algorithm": "apa", "alpha": 0.5}),
        "alpha",
        "apa has no setting \"alpha\", a setting of papa, apfbs, pda; it has loss, multiclass, classes, class_weight, normalize, no_clip_predictions, rate, delta, order, dimension",
    );
    refused(
        json!({"algorithm": "pda", "loss": "halfspace", "order": 2}),
        "order",
        "half-spaces are projected on one by one: order must be 1",
    );
    refused(
        json!({"algorithm": "pda", "loss": "logistic"}),
        "loss",
        "loss must be one of projection, halfspace, got \"logistic\"",
    );
    refused(
        json!({"algorithm": "rls", "forgetting": 1.5}),
        "forgetting",
        "forgetting must be a number > 0 and <= 1, got 1.5",
    );
}

#[test]
fn resolved_settings_resolve_to_themselves() {
    let defaults = ALGORITHMS.iter().map(|a| json!({"algorithm": a.name}));
    let odd = [
        json!({"algorithm": "ftrl", "loss": "huber", "huber_delta": 0.3}),
        json!({"algorithm": "ftrl", "loss": "quantile", "quantile": 0.9, "classes": null}),
        json!({"algorithm": "adam", "l1": 0}),
        json!({"algorithm": "rda", "multiclass": true, "classes": ["x", "y", "z"]}),
        json!({"algorithm": "ftrl", "rate": 0.1, "l1": 1e-300}),
    ];
    for spec in family().into_iter().chain(implicit_family()).chain(defaults).chain(odd) {
        let once = settings(&spec);
        let again = once.to_spec().resolve().unwrap();
        assert_eq!(once.to_json(), again.to_json());
        // Through the text that files carry, every number to the last bit.
        let text = serde_json::to_string(once.to_json()).unwrap();
        assert_eq!(once.to_json(), Spec::from_json(&text).unwrap().resolve().unwrap().to_json());
        // Everything given is there, and everything else is a default of the table.
        for (name, value) in spec.as_object().unwrap() {
            let kept = once.to_json().get(name).or_else(|| (name == "l1").then_some(&Value::Null));
            assert!(kept == Some(value) || kept.is_none_or(Value::is_null), "{name} of {spec}");
        }
        for parameter in once.algorithm().parameters() {
            let given = spec.get(parameter.name).filter(|v| !v.is_null()).cloned();
            let has_penalty = PENALTIES.iter().any(|name| spec.get(name).is_some());
            let default = match parameter.name {
                "l1" if has_penalty => parameter.default.map(|_| json!(0)),
                _ => parameter.default.map(DefaultValue::value),
            };
            let expected = given.or(default);
            // The numbers of a kernel are there if and only if it is named; the default is a Gaussian.
            let expected = match parameter.name {
                "variances" => expected.or(Some(json!([0.01, 0.1, 1, 10]))),
                _ => expected,
            };
            assert_eq!(
                once.to_json().get(parameter.name),
                expected.as_ref(),
                "{} of {spec}",
                parameter.name
            );
        }
    }
}

#[test]
fn a_penalty_that_is_set_stands_alone() {
    let l1 = |spec: Value| settings(&spec).to_json()["l1"].as_f64().unwrap();
    for algorithm in ALGORITHMS.iter().filter(|a| a.has("l1") && a.name != "auto") {
        let name = algorithm.name;
        let own = l1(json!({"algorithm": name}));
        assert!(own > 0.0, "{name} has a default l1");
        assert_eq!(l1(json!({"algorithm": name, "l1": 0})), 0.0);
        assert_eq!(l1(json!({"algorithm": name, "rate": 0.2, "l2": null})), own);
        if algorithm.has("l2") {
            assert_eq!(l1(json!({"algorithm": name, "l2": 0.5})), 0.0);
            assert_eq!(l1(json!({"algorithm": name, "lambda2": 0.5})), 0.0);
            assert_eq!(l1(json!({"algorithm": name, "penalty": "nonnegative"})), 0.0);
        }
        let spec = Spec::new(name).without_default_penalty().resolve().unwrap();
        assert_eq!(spec.to_json()["l1"], 0);
        // Settings that were resolved keep their penalty, and so do files.
        assert_eq!(
            settings(&json!({"algorithm": name})).to_spec().resolve().unwrap().to_json()["l1"],
            own
        );
    }
    // Methods without a penalty are as they were.
    assert_eq!(Spec::new("adam").without_default_penalty(), Spec::new("adam"));
}

#[test]
fn signals_have_defaults_of_their_own() {
    let resolved = |spec: Spec| spec.for_signals().resolve().unwrap().to_json().clone();
    for name in ["nlms", "apa", "papa", "pnlms", "ipnlms", "apfbs", "pda"] {
        assert_eq!(resolved(Spec::new(name))["rate"], 0.5, "{name}");
        assert_eq!(resolved(Spec::new(name).set("eta", 0.25))["rate"], 0.25, "{name}");
    }
    assert_eq!(resolved(Spec::new("lms"))["rate"], 0.01);
}

#[test]
fn a_period_may_be_none_and_classes_may_be_numbers() {
    let resolve = |spec: Value| Spec::from_json(&spec.to_string()).unwrap().resolve().unwrap();
    let spelled = resolve(json!({"algorithm": "lazy-sparse", "l1": 0.1, "period": "none"}));
    let absent = resolve(json!({"algorithm": "lazy-sparse", "l1": 0.1}));
    assert_eq!(spelled.to_json(), absent.to_json());
    let numbers = resolve(json!({"algorithm": "ftrl", "multiclass": true, "classes": [0, 1, 2]}));
    assert_eq!(numbers.classes().unwrap(), ["0", "1", "2"]);
    assert_refused(
        json!({"algorithm": "ftrl", "multiclass": true, "classes": [1, "1"]}),
        "classes",
        "classes must be a list of at least two different texts, got [1,\"1\"]",
    );
}

#[test]
fn settings_that_are_found_are_written_like_settings_that_are_given() {
    let found = Found {
        classes: ["a", "b", "c"].map(str::to_owned).to_vec(),
        dimension: Some(9),
        rows: Some(100),
        ..Found::default()
    };
    for algorithm in ALGORITHMS.iter() {
        let open = ["multiclass", "normalize"].into_iter().fold(
            Spec::new(algorithm.name),
            |spec, name| {
                let on = spec.clone().set(name, true);
                if on.resolve().is_ok() { on } else { spec }
            },
        );
        let Ok(settings) = open.resolve() else { continue };
        let completed = settings.completed(&found);
        let given = Spec::from_json(&serde_json::to_string(&completed).unwrap())
            .unwrap()
            .resolve()
            .unwrap();
        let text = |values: &serde_json::Map<String, Value>| serde_json::to_string(values).unwrap();
        assert_eq!(text(&completed), text(given.to_json()), "{}", algorithm.name);
    }
}
