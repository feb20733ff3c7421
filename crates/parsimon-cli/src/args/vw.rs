//! Flags as people type them: with underscores, or by the names that Vowpal Wabbit and others give them.
//!
//! The words of the command are rewritten before they are parsed. A flag that the command has is never touched, except that its
//! underscores become dashes; values of flags are never touched.

use std::ffi::OsString;
use std::iter::Peekable;

use clap::{Arg, Command};

/// A flag of another program.
struct Foreign {
    /// Its long name, with dashes; may be empty.
    name: &'static str,
    letter: Option<char>,
    meaning: Meaning,
    /// Advice if the command has no flag with this meaning.
    instead: &'static str,
}

/// Meanings of flags of other programs.
enum Meaning {
    /// Equivalent to this flag, with the value unchanged.
    Flag(&'static str),
    /// Equivalent to this flag with this value; takes no value itself.
    Set(&'static str, &'static str),
    /// Equivalent to this switch, unless the value is false.
    Switch(&'static str),
    /// The default behavior; with the value false equivalent to this switch.
    Unless(&'static str),
    /// Equivalent to this switch. The value, a number, is ignored: it is determined from the data.
    Counted(&'static str),
    /// Equivalent to this flag, with another word for the value.
    Words(&'static str, &'static [(&'static str, &'static str)]),
    /// The default behavior. The value false is refused.
    Default,
    /// No file.
    None,
}

const fn foreign(
    name: &'static str,
    letter: Option<char>,
    meaning: Meaning,
    instead: &'static str,
) -> Foreign {
    Foreign { name, letter, meaning, instead }
}

use Meaning::{Counted, Default, Flag, None as Nothing, Set, Switch, Unless, Words};

/// Losses that Vowpal Wabbit has: its name and ours, as `Loss::vw_name` has them.
const LOSSES: &[(&str, &str)] = &[
    ("logistic", "logistic"),
    ("squared", "squared"),
    ("hinge", "hinge"),
    ("quantile", "quantile"),
    ("poisson", "poisson"),
];
const SCHEDULES: &[(&str, &str)] = &[
    ("0", "constant"),
    ("0.0", "constant"),
    ("0.5", "sqrt"),
    ("1", "inverse"),
    ("1.0", "inverse"),
];
const OBJECTIVES: &[(&str, &str)] = &[
    ("binary:logistic", "logistic"),
    ("binary", "logistic"),
    ("reg:squarederror", "squared"),
    ("regression", "squared"),
    ("count:poisson", "poisson"),
];
const LINKS: &[(&str, &str)] = &[("logistic", "probability"), ("identity", "margin")];

const PREDICT: &str = "to predict, run parsimon predict MODEL DATA";
const CACHE: &str = "write a cache with parsimon convert DATA -o FILE.psc, and give it as the data";
const METHOD: &str =
    "choose the method with --algorithm NAME; parsimon algorithms lists the methods";
const NO_TASK: &str = "models are linear, for classes and numbers; parsimon has no bandits, cost-sensitive classes, topics, networks or factors";
const RANGE: &str = "predicted numbers stay within the range of the labels; --no-clip-predictions lets them leave it";
const MODEL: &str = "-o MODEL writes a model, --from MODEL starts from one, --resume CHECKPOINT goes on with a checkpoint; predict, evaluate and inspect take the model as the first argument";
const WEIGHTS: &str = "to print the weights, run parsimon inspect MODEL --weights tsv";

/// Names of Vowpal Wabbit, then of scikit-learn and others.
#[rustfmt::skip]
const FOREIGN: &[Foreign] = &[
    foreign("bit-precision", None, Flag("bits"), ""),
    foreign("learning-rate", Some('l'), Flag("rate"), ""),
    foreign("loss-function", None, Words("loss", LOSSES),
        "use --loss with logistic, squared, hinge, squared-hinge, huber, quantile or poisson"),
    foreign("quantile-tau", None, Flag("quantile"), ""),
    foreign("quadratic", None, Flag("q"), ""),
    foreign("cubic", None, Flag("q"), ""),
    foreign("final-regressor", Some('f'), Flag("output"), ""),
    foreign("initial-regressor", Some('i'), Flag("resume"), "give the model as the first argument"),
    foreign("testonly", Some('t'), Nothing,
        "to predict, run parsimon predict MODEL DATA; to judge a model, parsimon evaluate MODEL DATA"),
    foreign("predictions", Some('p'), Flag("predictions"), PREDICT),
    foreign("raw-predictions", Some('r'), Nothing, "to write margins, run parsimon predict MODEL DATA --as margin"),
    foreign("audit", None, Nothing, "to see every contribution, run parsimon predict MODEL DATA --audit"),
    foreign("link", None, Words("as", LINKS), "run parsimon predict MODEL DATA --as probability, margin or class"),
    foreign("binary", None, Set("as", "class"), "to print classes, run parsimon predict MODEL DATA --as class"),
    foreign("cache-file", None, Nothing, CACHE),
    foreign("cache", Some('c'), Nothing, CACHE),
    foreign("kill-cache", Some('k'), Nothing, CACHE),
    foreign("power-t", None, Words("schedule", SCHEDULES),
        "the step falls with --schedule: constant (0), sqrt (0.5) or inverse (1)"),
    foreign("initial-t", None, Nothing, "the schedule starts at round 1; set the first step with --rate"),
    foreign("decay-learning-rate", None, Nothing, "passes do not change the step; set it with --rate and --schedule"),
    foreign("holdout-off", None, Default, ""),
    foreign("holdout-period", None, Nothing, "hold out a share of the rows with --holdout SHARE"),
    foreign("early-terminate", None, Flag("early-stop"), ""),
    foreign("noconstant", None, Switch("no-bias"), ""),
    foreign("hash", None, Nothing, "names are hashed; --no-hash keeps integer ids as they are"),
    foreign("oaa", None, Counted("multiclass"), ""),
    foreign("progress", Some('P'), Flag("progress"), ""),
    foreign("ftrl", None, Set("algorithm", "ftrl"), ""),
    foreign("ftrl-alpha", None, Flag("rate"), ""),
    foreign("ftrl-beta", None, Flag("beta"), ""),
    foreign("sgd", None, Nothing, METHOD),
    foreign("adaptive", None, Nothing, METHOD),
    foreign("normalized", None, Nothing, METHOD),
    foreign("invariant", None, Nothing, METHOD),
    foreign("coin", None, Nothing, METHOD),
    foreign("pistol", None, Nothing, METHOD),
    foreign("bfgs", None, Nothing, "all methods are online; --passes N reads the data several times"),
    foreign("examples", None, Flag("limit"), ""),
    foreign("random-seed", None, Flag("seed"), ""),
    foreign("save-resume", None, Nothing, "save a checkpoint with --checkpoint FILE and go on from it with --resume FILE"),
    foreign("daemon", None, Nothing, "to score and learn over the network, run parsimon serve MODEL --vw-port PORT"),
    foreign("port", None, Nothing, "to score and learn over the network, run parsimon serve MODEL --vw-port PORT"),
    foreign("constant", None, Nothing, "the bias starts at 0; a start value for each row is a base value in the data"),
    foreign("min-prediction", None, Nothing, RANGE),
    foreign("max-prediction", None, Nothing, RANGE),
    foreign("skips", None, Nothing, "n-grams are runs of neighbouring words (--ngrams N); words that skip others are not paired"),
    foreign("ngram", None, Flag("ngrams"), ""),
    foreign("csoaa", None, Nothing, NO_TASK),
    foreign("wap", None, Nothing, NO_TASK),
    foreign("cb", None, Nothing, NO_TASK),
    foreign("cb-explore", None, Nothing, NO_TASK),
    foreign("cb-adf", None, Nothing, NO_TASK),
    foreign("cb-explore-adf", None, Nothing, NO_TASK),
    foreign("lda", None, Nothing, NO_TASK),
    foreign("nn", None, Nothing, NO_TASK),
    foreign("lrq", None, Nothing, NO_TASK),
    foreign("rank", None, Nothing, NO_TASK),
    foreign("bootstrap", None, Nothing, NO_TASK),
    foreign("readable-model", None, Nothing, WEIGHTS),
    foreign("invert-hash", None, Nothing, WEIGHTS),
    foreign("eta0", None, Flag("rate"), ""),
    foreign("epochs", None, Flag("passes"), ""),
    foreign("max-iter", None, Flag("passes"), ""),
    foreign("random-state", None, Flag("seed"), ""),
    foreign("algo", None, Flag("algorithm"), ""),
    foreign("lr", None, Flag("rate"), ""),
    foreign("num-epochs", None, Flag("passes"), ""),
    foreign("n-epochs", None, Flag("passes"), ""),
    foreign("iterations", None, Flag("passes"), ""),
    foreign("n-jobs", None, Flag("threads"), ""),
    foreign("num-threads", None, Flag("threads"), ""),
    foreign("target-column", None, Flag("label-column"), ""),
    foreign("fit-intercept", None, Unless("no-bias"), ""),
    foreign("intercept", None, Unless("no-bias"), ""),
    foreign("bias", None, Unless("no-bias"), ""),
    foreign("no-intercept", None, Switch("no-bias"), ""),
    foreign("silent", None, Switch("quiet"), ""),
    foreign("no-constant", None, Switch("no-bias"), ""),
    foreign("l1-ratio", None, Nothing, "set the penalties apart with --l1 and --l2, as in -a ftrl --l1 0.1 --l2 0.1"),
    foreign("tol", None, Nothing, "learning ends after --passes N passes, or with --holdout --early-stop when the holdout loss rises"),
    foreign("n-iter-no-change", None, Flag("early-stop"), ""),
    foreign("patience", None, Flag("early-stop"), ""),
    foreign("early-stopping", None, Nothing, "stop early with --holdout SHARE --early-stop PASSES"),
    foreign("early-stopping-rounds", None, Nothing, "stop early with --holdout SHARE --early-stop PASSES"),
    foreign("validation-fraction", None, Flag("holdout"), ""),
    foreign("test-size", None, Flag("holdout"), ""),
    foreign("warm-start", None, Nothing, "go on from a checkpoint with --resume FILE, or start from a model with --from MODEL"),
    foreign("average", None, Nothing, "-a asgd averages the weights; parsimon algorithms lists the methods"),
    foreign("solver", Some('s'), Nothing, METHOD),
    foreign("optimizer", None, Nothing, METHOD),
    foreign("booster", None, Nothing, METHOD),
    foreign("cost", Some('C'), Nothing, "set the penalties with --l1 and --l2; a larger penalty is a smaller C"),
    foreign("", Some('B'), Nothing, "a bias is learned unless --no-bias is passed"),
    foreign("", Some('e'), Nothing, "learning ends after --passes N passes, or with --holdout --early-stop when the holdout loss rises"),
    foreign("", Some('w'), Nothing, "weight classes with --class-weight A=1,B=10, or balanced"),
    foreign("scale-pos-weight", None, Nothing, "weight classes with --class-weight A=1,B=10, or balanced"),
    foreign("sample-weight", None, Flag("weight-column"), ""),
    foreign("num-round", None, Flag("passes"), ""),
    foreign("num-boost-round", None, Flag("passes"), ""),
    foreign("n-estimators", None, Nothing, NO_TASK),
    foreign("max-depth", None, Nothing, NO_TASK),
    foreign("eval-metric", None, Nothing, "parsimon evaluate MODEL DATA prints all metrics"),
    foreign("standardize", None, Switch("normalize"), ""),
    foreign("subsample", None, Nothing, "learn a share of the negative rows with --sample-negatives SHARE, or the first rows with --limit ROWS"),
    foreign("batch-size", None, Nothing, "rows are learned one by one, in order"),
    foreign("regularization", None, Nothing, "set the penalties with --l1 and --l2"),
    foreign("reg-lambda", None, Nothing, "set the penalties with --l1 and --l2"),
    foreign("reg-alpha", None, Nothing, "set the penalties with --l1 and --l2"),
    foreign("C", None, Nothing, "set the penalties with --l1 and --l2; a larger penalty is a smaller C"),
    foreign("verbose", Some('v'), Nothing, "how often progress is printed is set with --progress; --quiet prints errors only"),
    foreign("validation", None, Flag("test"), "give the data to parsimon evaluate MODEL DATA"),
    foreign("valid", None, Flag("test"), "give the data to parsimon evaluate MODEL DATA"),
    foreign("input", None, Flag("data"), ""),
    foreign("train", None, Flag("data"), ""),
    foreign("save", None, Flag("output"), ""),
    foreign("model", None, Nothing, MODEL),
    foreign("model-file", None, Nothing, MODEL),
    foreign("objective", None, Words("loss", OBJECTIVES),
        "use --loss with logistic, squared, hinge, squared-hinge, huber, quantile or poisson"),
];

/// Replaces other names of flags in a command line by the flags of `root`. Returns an error if one cannot be replaced.
pub(super) fn translate(
    root: &Command,
    words: impl IntoIterator<Item = OsString>,
) -> Result<Vec<OsString>, String> {
    let mut words = words.into_iter().peekable();
    let mut out: Vec<OsString> = words.next().into_iter().collect();
    let mut command = root;
    while let Some(word) = words.next() {
        let Some(text) = word.to_str() else {
            out.push(word);
            continue;
        };
        if text == "--" {
            out.push(word);
            out.extend(words);
            break;
        }
        let Some(typed) = Typed::new(text) else {
            // The name of a command, a file, a number, or - for standard input.
            command = command.find_subcommand(text).unwrap_or(command);
            out.push(word);
            continue;
        };
        let (mut flag, known) = match typed.find(command) {
            Some(arg) => (typed.known(text), Some(arg)),
            None => match typed.foreign() {
                Some(foreign) => foreign.translate(command, &typed, &mut words)?,
                None => (vec![word.clone()], None),
            },
        };
        out.append(&mut flag);
        if known.is_some_and(wants_value) && typed.value.is_none() {
            out.extend(words.next());
        }
    }
    Ok(out)
}

/// A flag as it was typed: its name, and the value that hangs on it.
pub(crate) struct Typed<'a> {
    /// With dashes; of a short flag, its letter.
    pub(super) name: String,
    pub(super) is_short: bool,
    pub(crate) value: Option<&'a str>,
}

impl<'a> Typed<'a> {
    pub(crate) fn new(text: &'a str) -> Option<Self> {
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(n, v)| (n, Some(v)));
            return Some(Self { name: name.replace('_', "-"), is_short: false, value });
        }
        let short = text.strip_prefix('-')?;
        let letter = short.chars().next().filter(char::is_ascii_alphabetic)?;
        let value = Some(&short[1..]).filter(|value| !value.is_empty());
        Some(Self { name: letter.to_string(), is_short: true, value })
    }

    /// The flag of the command by this name.
    pub(crate) fn find<'c>(&self, command: &'c Command) -> Option<&'c Arg> {
        command.get_arguments().find(|arg| match self.is_short {
            true => {
                let letter = self.name.chars().next();
                arg.get_short() == letter
                    || arg
                        .get_all_short_aliases()
                        .is_some_and(|all| all.into_iter().any(|c| Some(c) == letter))
            }
            false => {
                arg.get_long() == Some(&*self.name)
                    || arg.get_all_aliases().is_some_and(|all| all.contains(&&*self.name))
            }
        })
    }

    /// A flag of ours, with dashes.
    fn known(&self, text: &str) -> Vec<OsString> {
        match (self.is_short, self.value) {
            (true, _) => vec![text.into()],
            (false, None) => vec![format!("--{}", self.name).into()],
            (false, Some(value)) => vec![format!("--{}={value}", self.name).into()],
        }
    }

    fn foreign(&self) -> Option<&'static Foreign> {
        FOREIGN.iter().find(|foreign| match self.is_short {
            true => foreign.letter.is_some_and(|letter| self.name == letter.to_string()),
            false => foreign.name == self.name,
        })
    }

    fn shown(&self) -> String {
        format!("{}{}", if self.is_short { "-" } else { "--" }, self.name)
    }
}

/// Whether the next word is the flag's value.
pub(crate) fn wants_value(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|count| count.min_values() > 0)
}

/// Whether a switch is on: its value, behind an equals sign or as the next word, may be true or false.
fn is_on(
    typed: &Typed<'_>,
    words: &mut Peekable<impl Iterator<Item = OsString>>,
) -> Result<bool, String> {
    let boolean = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    if let Some(value) = typed.value {
        let number = ["0", "1"].iter().position(|digit| *digit == value).map(|digit| digit == 1);
        return boolean(value)
            .or(number)
            .ok_or_else(|| format!("{} is true or false, got {value:?}", typed.shown()));
    }
    // A file may be called 0 or 1, and hardly false.
    let next = words.peek().and_then(|word| word.to_str()).and_then(boolean);
    if next.is_some() {
        words.next();
    }
    Ok(next.unwrap_or(true))
}

/// Words that replace a flag, and the flag of ours whose value is still to come.
type Replaced<'c> = (Vec<OsString>, Option<&'c Arg>);

impl Foreign {
    fn translate<'c>(
        &self,
        command: &'c Command,
        typed: &Typed<'_>,
        words: &mut Peekable<impl Iterator<Item = OsString>>,
    ) -> Result<Replaced<'c>, String> {
        let is_off = match self.meaning {
            Set(..) | Switch(_) | Unless(_) | Default => !is_on(typed, words)?,
            _ => false,
        };
        let flag = |name: &str| {
            let name = Typed { name: name.into(), is_short: name.len() == 1, value: None };
            name.find(command).map(|arg| (OsString::from(name.shown()), arg))
        };
        let replaced = match self.meaning {
            Flag(ours) => flag(ours).map(|(ours, arg)| match typed.value {
                Some(value) => (vec![ours, value.into()], None),
                None => (vec![ours], Some(arg)),
            }),
            Set(..) | Default if is_off => {
                return Err(format!("{} cannot be false here; leave it out", typed.shown()));
            }
            Switch(_) if is_off => Some((Vec::new(), None)),
            Unless(ours) if is_off => flag(ours).map(|(ours, _)| (vec![ours], None)),
            Set(ours, value) => flag(ours).map(|(ours, _)| (vec![ours, value.into()], None)),
            Switch(ours) => flag(ours).map(|(ours, _)| (vec![ours], None)),
            Counted(ours) => flag(ours).map(|(ours, _)| {
                if typed.value.is_none() {
                    words.next();
                }
                (vec![ours], None)
            }),
            Words(ours, table) => flag(ours).and_then(|(ours, _)| {
                let value = typed.value.map(OsString::from).or_else(|| words.next())?;
                let (_, value) = table.iter().find(|(theirs, _)| value == *theirs)?;
                Some((vec![ours, value.into()], None))
            }),
            Default | Unless(_) => Some((Vec::new(), None)),
            Nothing => None,
        };
        match replaced {
            Some(replaced) => Ok(replaced),
            // The parser of the command says that there is no such flag.
            None if self.instead.is_empty() => Ok((vec![typed.shown().into()], None)),
            None => Err(format!("there is no {} here: {}", typed.shown(), self.instead)),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::args::Cli;

    /// The table of losses in `parsimon-core` is the truth.
    #[test]
    fn losses_have_the_names_of_their_table() {
        let known = parsimon::settings::Loss::ALL;
        let named = known.iter().filter_map(|loss| Some((loss.vw_name()?, loss.word())));
        assert_eq!(LOSSES, named.collect::<Vec<_>>());
    }

    fn root() -> Command {
        let mut root = Cli::command();
        root.build();
        root
    }

    fn read(line: &str) -> Result<String, String> {
        let words = line.split(' ').map(OsString::from);
        let words = translate(&root(), words)?;
        Ok(words.iter().map(|w| w.to_str().unwrap()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn what_we_have_stays_as_it_is() {
        for line in [
            "parsimon train a_b.vw -o m_1.psm -b18 -q ab -qcd -d x -i c -f m --l1 1e-4 --bits 3",
            "parsimon train --label-column my_label --ignore-columns=a_b,--c_d - -- --learning_rate",
            "parsimon train --label-column --learning_rate x",
            "parsimon identify --a -0.5 --reference x_y.csv:c_d",
            "parsimon data list --data my_data",
            "parsimon --help",
        ] {
            assert_eq!(read(line).unwrap(), line);
        }
    }

    #[test]
    fn underscores_are_dashes() {
        assert_eq!(
            read("parsimon train x --learning_rate 1 --no_names --skip_bad=3 --checkpoint_every 5")
                .unwrap(),
            "parsimon train x --learning-rate 1 --no-names --skip-bad=3 --checkpoint-every 5"
        );
        assert_eq!(
            read("parsimon data list --json --mark_down").unwrap(),
            "parsimon data list --json --mark_down"
        );
    }

    #[test]
    fn every_foreign_name_leads_somewhere() {
        let train = root();
        let commands: Vec<_> = train.get_subcommands().collect();
        for foreign in FOREIGN {
            let ours = match foreign.meaning {
                Flag(ours)
                | Counted(ours)
                | Set(ours, _)
                | Words(ours, _)
                | Switch(ours)
                | Unless(ours) => ours,
                Default => continue,
                Nothing => {
                    assert!(!foreign.instead.is_empty(), "{}", foreign.name);
                    continue;
                }
            };
            let flag = Typed { name: ours.into(), is_short: ours.len() == 1, value: None };
            assert!(commands.iter().any(|c| flag.find(c).is_some()), "{}", foreign.name);
        }
    }
}
