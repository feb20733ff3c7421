//! The words of a command line as options.

use std::collections::BTreeMap;

use super::LossWord;
use super::example::{Space, number};
use super::flags::{self, Effect, Flag};
use super::loss::VwLoss;

/// How weights are updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    Gradient,
    Ftrl,
    Coin,
    Pistol,
}

/// From margins to predictions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LinkWord {
    Identity,
    Logistic,
    Glf1,
    Poisson,
}

/// Form of the predictions of several classes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    Class,
    Scores,
    Probabilities,
}

/// Where weights start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Start {
    Weight(f32),
    Random(u64),
    RandomPositive(u64),
    /// Whether numbers beyond two standard deviations are folded back.
    Normal(bool),
}

/// Letters at an end of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Affix {
    pub(super) is_prefix: bool,
    pub(super) length: usize,
}

/// CSV files.
#[derive(Clone, Debug)]
pub(super) struct CsvOptions {
    pub(super) separator: u8,
    pub(super) header: Option<String>,
    pub(super) has_header: bool,
    pub(super) factors: BTreeMap<String, f32>,
}

/// Everything that was typed, and what the model had.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag")]
pub(super) struct Options {
    pub(super) data: Vec<String>,
    pub(super) output: Option<String>,
    pub(super) predictions: Option<String>,
    pub(super) raw: Option<String>,
    pub(super) readable: Option<String>,
    pub(super) inverted: Option<String>,
    pub(super) audit: bool,
    pub(super) quiet: bool,
    pub(super) help: bool,
    pub(super) test: bool,
    pub(super) strict: bool,
    pub(super) weights_only: bool,
    pub(super) save_per_pass: bool,
    /// The next row of the progress table: after this many examples, or by this factor.
    pub(super) progress: (f64, bool),
    pub(super) examples: u64,
    pub(super) passes: u64,
    pub(super) holdout: Option<Holdout>,
    pub(super) early_terminate: u64,
    pub(super) method: Method,
    pub(super) rate: f64,
    pub(super) power: f64,
    pub(super) start: f64,
    pub(super) decay: f64,
    pub(super) adaptive: bool,
    pub(super) normalized: bool,
    pub(super) invariant: bool,
    pub(super) alpha: f32,
    pub(super) beta: f32,
    pub(super) l1: f64,
    pub(super) l2: f64,
    pub(super) bits: u32,
    pub(super) hash_all: bool,
    pub(super) hash_seed: u64,
    pub(super) no_constant: bool,
    pub(super) constant: f32,
    pub(super) weights: Start,
    pub(super) interactions: Vec<Vec<Space>>,
    pub(super) permutations: bool,
    pub(super) duplicates: bool,
    ngrams: Vec<(Option<Space>, usize)>,
    skips: Vec<(Option<Space>, usize)>,
    affixes: BTreeMap<Space, Vec<Affix>>,
    spelled: Vec<Space>,
    ignored: Vec<Space>,
    ignored_linear: Vec<Space>,
    kept: Option<Vec<Space>>,
    redefined: BTreeMap<Space, Space>,
    pub(super) loss: VwLoss,
    pub(super) link: LinkWord,
    pub(super) low: Option<f32>,
    pub(super) high: Option<f32>,
    pub(super) binary: bool,
    pub(super) classes: Option<u32>,
    pub(super) names_of_classes: Vec<String>,
    pub(super) indexing: Option<u32>,
    pub(super) shown: Shown,
    pub(super) class_weights: BTreeMap<i64, f32>,
    pub(super) csv: Option<CsvOptions>,
    /// The flags of the model file.
    pub(super) words: Vec<(String, String)>,
}

/// Which examples are held out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holdout {
    Every(u64),
    After(u64),
}

/// The flags in their order, with their values.
pub(super) struct Words(Vec<(&'static Flag, String)>);

/// Splits a command line into flags and values. Words without a flag are data.
pub(super) fn split(words: &[String]) -> Result<Words, String> {
    let mut out = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (flag, attached) = if let Some(name) = word.strip_prefix("--") {
            let (name, value) = name.split_once('=').map_or((name, None), |(n, v)| (n, Some(v)));
            let flag = flags::long(name).ok_or_else(|| {
                format!("there is no flag --{name}; parsimon vw --help lists them")
            })?;
            (flag, value.map(String::from))
        } else if let Some(letter) = word.strip_prefix('-').and_then(|rest| rest.chars().next()) {
            let flag = flags::short(letter).ok_or_else(|| {
                format!("there is no flag -{letter}; parsimon vw --help lists them")
            })?;
            let rest = word[1 + letter.len_utf8()..].trim_start_matches('=');
            (flag, Some(rest.to_owned()).filter(|rest| !rest.is_empty()))
        } else {
            let flag = flags::short('d').ok_or("there is no data flag")?;
            out.push((flag, word.clone()));
            continue;
        };
        if let Effect::Refused(why) = flag.effect {
            return Err(format!("--{} is not served: {why}", flag.name));
        }
        let value = match (flag.value.is_empty(), attached) {
            (true, None) => String::new(),
            (true, Some(value)) => {
                return Err(format!("--{} takes no value, got {value:?}", flag.name));
            }
            (false, Some(value)) => value,
            (false, None) => {
                words.next().cloned().ok_or_else(|| format!("--{} needs a value", flag.name))?
            }
        };
        out.push((flag, value));
    }
    Ok(Words(out))
}

impl Words {
    /// The flags of a model file come first, so that those that were typed replace them.
    pub(super) fn after(self, kept: &[(String, String)]) -> Result<Self, String> {
        let mut all = Vec::new();
        for (name, value) in kept {
            let flag = flags::long(name).ok_or_else(|| format!("there is no flag --{name}"))?;
            // A list that is typed again must not be there twice.
            if !self.0.iter().any(|(own, typed)| own.name == flag.name && typed == value) {
                all.push((flag, value.clone()));
            }
        }
        all.extend(self.0);
        Ok(Words(all))
    }

    /// The model to start from.
    pub(super) fn model(&self) -> Option<&str> {
        self.last("initial_regressor")
    }

    fn last(&self, name: &str) -> Option<&str> {
        self.all(name).last()
    }

    fn all<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let name = name.to_owned();
        self.0.iter().filter(move |(flag, _)| flag.name == name).map(|(_, value)| &value[..])
    }

    fn has(&self, name: &str) -> bool {
        self.last(name).is_some()
    }

    fn own(&self, name: &str) -> Option<String> {
        self.last(name).map(String::from)
    }

    fn real(&self, name: &str) -> Result<Option<f64>, String> {
        let Some(text) = self.last(name) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(x) if x.is_finite() => Ok(Some(x)),
            _ => Err(format!("--{name} must be a number, got {text:?}")),
        }
    }

    fn not_negative(&self, name: &str) -> Result<Option<f64>, String> {
        match self.real(name)? {
            Some(x) if x < 0.0 => Err(format!("--{name} must not be negative, got {x}")),
            x => Ok(x),
        }
    }

    fn whole(&self, name: &str) -> Result<Option<u64>, String> {
        let Some(text) = self.last(name) else { return Ok(None) };
        let number = text
            .parse::<u64>()
            .map_err(|_| format!("--{name} must be a whole number, got {text:?}"))?;
        Ok(Some(number))
    }

    fn word<T: Copy>(&self, name: &str, words: &[(&str, T)], default: T) -> Result<T, String> {
        let Some(text) = self.last(name) else { return Ok(default) };
        words.iter().find(|(word, _)| *word == text).map(|(_, value)| *value).ok_or_else(|| {
            let words: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            format!("--{name} must be one of {}, got {text:?}", words.join(", "))
        })
    }

    /// Letters of namespaces in all values of a flag.
    fn letters(&self, name: &str) -> Vec<Space> {
        self.all(name).flat_map(str::bytes).collect()
    }

    pub(super) fn options(&self) -> Result<Options, String> {
        let mut options = self.plain()?;
        self.update(&mut options)?;
        self.features(&mut options)?;
        self.labels(&mut options)?;
        Ok(options)
    }

    /// Files, passes and what is printed; everything else at its default.
    fn plain(&self) -> Result<Options, String> {
        let passes = self.whole("passes")?.unwrap_or(1).max(1);
        let after = self.whole("holdout_after")?.filter(|n| *n > 0);
        let period = self.whole("holdout_period")?.unwrap_or(10);
        if period == 0 {
            return Err("--holdout_period must be at least 1".into());
        }
        let holdout = match after {
            _ if self.has("holdout_off") => None,
            Some(n) => Some(Holdout::After(n)),
            None => (passes > 1).then_some(Holdout::Every(period)),
        };
        let progress = self.last("progress").unwrap_or("2.0");
        let step = progress.parse::<f64>().ok().filter(|x| *x > 0.0);
        let step =
            step.ok_or_else(|| format!("--progress must be a number > 0, got {progress:?}"))?;
        let kept = self.0.iter().filter(|(flag, _)| flag.effect == Effect::Served { kept: true });
        Ok(Options {
            data: self.all("data").map(String::from).collect(),
            output: self.own("final_regressor"),
            predictions: self.own("predictions"),
            raw: self.own("raw_predictions"),
            readable: self.own("readable_model"),
            inverted: self.own("invert_hash"),
            audit: self.has("audit"),
            quiet: self.has("quiet"),
            help: self.has("help"),
            test: self.has("testonly"),
            strict: self.has("strict_parse"),
            weights_only: self.has("predict_only_model"),
            save_per_pass: self.has("save_per_pass"),
            progress: (step, progress.contains('.')),
            examples: self.whole("examples")?.unwrap_or(u64::MAX),
            passes,
            holdout,
            early_terminate: self.whole("early_terminate")?.unwrap_or(3),
            method: Method::Gradient,
            rate: 0.5,
            power: 0.5,
            start: 0.0,
            decay: 1.0,
            adaptive: true,
            normalized: true,
            invariant: true,
            alpha: 0.0,
            beta: 0.0,
            l1: 0.0,
            l2: 0.0,
            bits: 18,
            hash_all: false,
            hash_seed: 0,
            no_constant: false,
            constant: 0.0,
            weights: Start::Weight(0.0),
            interactions: Vec::new(),
            permutations: false,
            duplicates: false,
            ngrams: Vec::new(),
            skips: Vec::new(),
            affixes: BTreeMap::new(),
            spelled: Vec::new(),
            ignored: Vec::new(),
            ignored_linear: Vec::new(),
            kept: None,
            redefined: BTreeMap::new(),
            loss: VwLoss { word: LossWord::Squared, tau: 0.5, q: 0.5, ends: (-1.0, 1.0) },
            link: LinkWord::Identity,
            low: None,
            high: None,
            binary: false,
            classes: None,
            names_of_classes: Vec::new(),
            indexing: None,
            shown: Shown::Class,
            class_weights: BTreeMap::new(),
            csv: None,
            words: kept.map(|(flag, value)| (flag.name.to_owned(), value.clone())).collect(),
        })
    }

    /// The update and its settings.
    fn update(&self, options: &mut Options) -> Result<(), String> {
        let methods = [
            ("ftrl", Method::Ftrl, 0.5, 1.0),
            ("coin", Method::Coin, 4.0, 1.0),
            ("pistol", Method::Pistol, 1.0, 0.5),
        ];
        let chosen: Vec<_> = methods.iter().filter(|(name, ..)| self.has(name)).collect();
        if chosen.len() > 1 {
            return Err("--ftrl, --coin and --pistol exclude each other".into());
        }
        let named =
            ["sgd", "adaptive", "normalized", "invariant"].iter().any(|name| self.has(name));
        if named {
            options.adaptive = self.has("adaptive");
            options.normalized = self.has("normalized");
            options.invariant = self.has("invariant");
        }
        let is_default = options.adaptive && options.normalized;
        options.rate =
            self.not_negative("learning_rate")?.unwrap_or(if is_default { 0.5 } else { 10.0 });
        options.power = self.not_negative("power_t")?.unwrap_or(0.5);
        let is_plain = !options.adaptive && !options.normalized;
        options.start = self.not_negative("initial_t")?.unwrap_or(if is_plain { 1.0 } else { 0.0 });
        options.decay = self.not_negative("decay_learning_rate")?.unwrap_or(1.0);
        if let Some((_, method, alpha, beta)) = chosen.first() {
            options.method = *method;
            options.alpha = self.not_negative("ftrl_alpha")?.unwrap_or(*alpha) as f32;
            options.beta = self.not_negative("ftrl_beta")?.unwrap_or(*beta) as f32;
            if options.alpha == 0.0 {
                return Err("--ftrl_alpha must be > 0".into());
            }
        }
        options.l1 = self.not_negative("l1")?.unwrap_or(0.0);
        options.l2 = self.not_negative("l2")?.unwrap_or(0.0);
        let seed = self.whole("random_seed")?.unwrap_or(0);
        options.weights = if self.has("normal_weights") || self.has("truncated_normal_weights") {
            Start::Normal(self.has("truncated_normal_weights"))
        } else if self.has("random_weights") {
            Start::Random(seed)
        } else if self.has("random_positive_weights") {
            Start::RandomPositive(seed)
        } else {
            Start::Weight(self.real("initial_weight")?.unwrap_or(0.0) as f32)
        };
        Ok(())
    }

    /// How lines become features.
    fn features(&self, options: &mut Options) -> Result<(), String> {
        let bits = self.whole("bit_precision")?.unwrap_or(18);
        if !(1..=31).contains(&bits) {
            return Err(format!("--bit_precision must be 1 to 31, got {bits}"));
        }
        options.bits = bits as u32;
        options.hash_all = self.word("hash", &[("strings", false), ("all", true)], false)?;
        options.hash_seed = self.whole("hash_seed")?.unwrap_or(0);
        options.no_constant = self.has("noconstant");
        options.constant = self.real("constant")?.unwrap_or(0.0) as f32;
        options.permutations = self.has("permutations");
        options.duplicates = self.has("leave_duplicate_interactions");
        let mut terms = Vec::new();
        for (name, order) in [("quadratic", Some(2)), ("cubic", Some(3)), ("interactions", None)] {
            for value in self.all(name) {
                if order.is_some_and(|n| n != value.len()) || value.len() < 2 {
                    return Err(format!(
                        "--{name} must be {} letters of namespaces, got {value:?}",
                        order.map_or("two or more".into(), |n: usize| n.to_string())
                    ));
                }
                terms.push(value.bytes().collect());
            }
        }
        let has_wildcard = terms.iter().any(|term: &Vec<Space>| term.contains(&b':'));
        options.interactions = if has_wildcard { terms } else { options.distinct(terms) };
        options.ngrams = counts("ngram", self.all("ngram"))?;
        options.skips = counts("skips", self.all("skips"))?;
        for list in self.all("affix") {
            affixes(list, &mut options.affixes)?;
        }
        options.spelled = self.letters("spelling");
        for space in &mut options.spelled {
            if *space == b'_' {
                *space = b' ';
            }
        }
        options.ignored = self.letters("ignore");
        options.ignored_linear = self.letters("ignore_linear");
        options.kept = self.has("keep").then(|| self.letters("keep"));
        for value in self.all("redefine") {
            let (to, from) = value
                .split_once(":=")
                .ok_or_else(|| format!("--redefine must have the form B:=A, got {value:?}"))?;
            let to = to.bytes().next().unwrap_or(b' ');
            let from: Vec<Space> = match from {
                "" => vec![b' '],
                ":" => (0..=255).collect(),
                from => from.bytes().collect(),
            };
            options.redefined.extend(from.into_iter().map(|space| (space, to)));
        }
        Ok(())
    }

    /// Labels, losses and predictions.
    fn labels(&self, options: &mut Options) -> Result<(), String> {
        let words = [
            ("squared", LossWord::Squared),
            ("classic", LossWord::Classic),
            ("logistic", LossWord::Logistic),
            ("hinge", LossWord::Hinge),
            ("quantile", LossWord::Quantile),
            ("expectile", LossWord::Expectile),
            ("poisson", LossWord::Poisson),
        ];
        let word = self.word("loss_function", &words, LossWord::Squared)?;
        let share = |name: &str, default: f64| match self.real(name)? {
            Some(x) if !(0.0..=1.0).contains(&x) => {
                Err(format!("--{name} must be 0 to 1, got {x}"))
            }
            x => Ok(x.unwrap_or(default)),
        };
        if word == LossWord::Expectile && !self.has("expectile_q") {
            return Err("the expectile loss needs --expectile_q".into());
        }
        let ends =
            (self.real("logistic_min")?.unwrap_or(-1.0), self.real("logistic_max")?.unwrap_or(1.0));
        if ends.0 >= ends.1 {
            return Err(format!(
                "--logistic_min must be less than --logistic_max, got {} and {}",
                ends.0, ends.1
            ));
        }
        options.loss =
            VwLoss { word, tau: share("quantile_tau", 0.5)?, q: share("expectile_q", 0.5)?, ends };
        let links = [
            ("identity", LinkWord::Identity),
            ("logistic", LinkWord::Logistic),
            ("glf1", LinkWord::Glf1),
            ("poisson", LinkWord::Poisson),
        ];
        options.link = self.word("link", &links, LinkWord::Identity)?;
        options.low = self.real("min_prediction")?.map(|x| x as f32);
        options.high = self.real("max_prediction")?.map(|x| x as f32);
        options.binary = self.has("binary");
        self.classes(options)?;
        for item in self.all("classweight").flat_map(|list| list.split(',')) {
            let parsed = item.split_once(':').and_then(|(label, factor)| {
                Some((label.trim().parse::<i64>().ok()?, factor.trim().parse::<f32>().ok()?))
            });
            let (label, factor) =
                parsed.filter(|(_, factor)| factor.is_finite() && *factor >= 0.0).ok_or_else(
                    || format!("--classweight must be a list such as 1:2,-1:0.5, got {item:?}"),
                )?;
            options.class_weights.insert(label, factor);
        }
        if self.has("csv") {
            options.csv = Some(self.csv()?);
        }
        Ok(())
    }

    fn classes(&self, options: &mut Options) -> Result<(), String> {
        options.shown = if self.has("probabilities") {
            Shown::Probabilities
        } else if self.has("scores") {
            Shown::Scores
        } else {
            Shown::Class
        };
        if let Some(names) = self.last("named_labels") {
            options.names_of_classes = names.split(',').map(String::from).collect();
        }
        let Some(classes) = self.whole("oaa")? else {
            let needs = ["probabilities", "scores", "named_labels", "indexing"];
            return match needs.iter().find(|name| self.has(name)) {
                Some(name) => Err(format!("--{name} is for classes: it needs --oaa K")),
                None => Ok(()),
            };
        };
        if !(1..=65_536).contains(&classes) {
            return Err(format!("--oaa must be 1 to 65536 classes, got {classes}"));
        }
        let named = options.names_of_classes.len();
        if named > 0 && named as u64 != classes {
            return Err(format!(
                "--named_labels has {named} names, and --oaa has {classes} classes"
            ));
        }
        if options.binary {
            return Err("--binary and --oaa exclude each other".into());
        }
        options.classes = Some(classes as u32);
        options.indexing = match self.last("indexing") {
            None => None,
            Some("0") => Some(0),
            Some("1") => Some(1),
            Some(other) => return Err(format!("--indexing must be 0 or 1, got {other:?}")),
        };
        Ok(())
    }

    fn csv(&self) -> Result<CsvOptions, String> {
        let separator = match self.last("csv_separator") {
            None => b',',
            Some("\\t") => b'\t',
            Some(text) if text.len() == 1 && !"\"|:".contains(text) => text.as_bytes()[0],
            Some(text) => {
                return Err(format!("--csv_separator must be one character, got {text:?}"));
            }
        };
        let mut factors = BTreeMap::new();
        for item in self.all("csv_ns_value").flat_map(|list| list.split(',')) {
            let parsed = item.rsplit_once(':').and_then(|(name, x)| Some((name, x.parse().ok()?)));
            let (name, factor): (&str, f32) =
                parsed.filter(|(_, x): &(&str, f32)| x.is_finite()).ok_or_else(|| {
                    format!("--csv_ns_value must be a list such as a:0.5,b:2, got {item:?}")
                })?;
            factors.insert(name.to_owned(), factor);
        }
        Ok(CsvOptions {
            separator,
            header: self.own("csv_header"),
            has_header: !self.has("csv_no_file_header"),
            factors,
        })
    }
}

/// `3` for all namespaces, `a3` for one.
fn counts<'a>(
    name: &str,
    values: impl Iterator<Item = &'a str>,
) -> Result<Vec<(Option<Space>, usize)>, String> {
    let parse = |value: &str| {
        let is_plain = value.as_bytes().first().is_some_and(u8::is_ascii_digit);
        let space = value.bytes().next().filter(|_| !is_plain);
        let count = if is_plain { value } else { value.get(1..)? };
        count.parse::<usize>().ok().filter(|n| *n <= 16).map(|n| (space, n))
    };
    values
        .map(|value| {
            parse(value).ok_or_else(|| {
                format!("--{name} must be such as 3 or a3, at most 16, got {value:?}")
            })
        })
        .collect()
}

/// `+2a,-3b`: the first two letters of names in `a`, the last three of names in `b`.
fn affixes(list: &str, out: &mut BTreeMap<Space, Vec<Affix>>) -> Result<(), String> {
    for item in list.split(',') {
        let (is_prefix, rest) = match item.strip_prefix('-') {
            Some(rest) => (false, rest),
            None => (true, item.strip_prefix('+').unwrap_or(item)),
        };
        let bytes = rest.as_bytes();
        let length =
            bytes.first().filter(|b| (b'1'..=b'7').contains(b)).map(|b| usize::from(b - b'0'));
        let length = length
            .filter(|_| bytes.len() <= 2)
            .ok_or_else(|| format!("--affix must be a list such as +2a,-3b, got {item:?}"))?;
        let space = bytes.get(1).copied().unwrap_or(b' ');
        out.entry(space).or_default().insert(0, Affix { is_prefix, length });
    }
    Ok(())
}

impl Options {
    pub(super) fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Whether names of features are printed.
    pub(super) fn names(&self) -> bool {
        self.audit || self.inverted.is_some()
    }

    pub(super) fn drops(&self, space: Space) -> bool {
        self.ignored.contains(&space)
            || self.kept.as_ref().is_some_and(|kept| !kept.contains(&space))
    }

    pub(super) fn ignores_linear(&self, space: Space) -> bool {
        self.ignored_linear.contains(&space)
    }

    /// The longest n-gram of a namespace, and how many features it may leave out.
    pub(super) fn grams(&self, space: Space) -> (usize, usize) {
        let of = |list: &[(Option<Space>, usize)]| {
            let meant = list.iter().rev().find(|(own, _)| own.is_none_or(|own| own == space));
            meant.map_or(0, |(_, n)| *n)
        };
        (of(&self.ngrams), of(&self.skips))
    }

    pub(super) fn affixes(&self, space: Space) -> &[Affix] {
        self.affixes.get(&space).map_or(&[], Vec::as_slice)
    }

    pub(super) fn spells(&self, space: Space) -> bool {
        self.spelled.contains(&space)
    }

    pub(super) fn redefined(&self, space: Space) -> Space {
        self.redefined.get(&space).copied().unwrap_or(space)
    }

    /// Drops interactions of the same namespaces in another order, and puts a namespace that occurs twice side by side.
    pub(super) fn distinct(&self, terms: Vec<Vec<Space>>) -> Vec<Vec<Space>> {
        let mut seen = Vec::new();
        let mut out = Vec::new();
        for term in terms {
            let mut sorted = term.clone();
            sorted.sort_unstable();
            if !self.duplicates && seen.contains(&sorted) {
                continue;
            }
            let repeats = sorted.windows(2).any(|pair| pair[0] == pair[1]);
            out.push(if repeats { sorted.clone() } else { term });
            seen.push(sorted);
        }
        out
    }

    /// Reads a label of an example.
    pub(super) fn number(text: &str) -> Option<f32> {
        let (value, length) = number(text.as_bytes());
        (length > 0 && value.is_finite()).then_some(value)
    }
}
