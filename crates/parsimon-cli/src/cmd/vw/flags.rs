//! The flags of Vowpal Wabbit: which are served, which change nothing here, and which are refused.

use crate::wrap::wrapped;

/// Effect of a flag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Effect {
    /// It means what it means in Vowpal Wabbit. Those that belong to the model are kept in its file.
    Served { kept: bool },
    /// It is accepted and changes nothing, for this reason.
    Nothing(&'static str),
    /// It is refused, for this reason.
    Refused(&'static str),
}

/// A flag.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) name: &'static str,
    pub(super) letter: Option<char>,
    /// The name of its value; empty for a switch.
    pub(super) value: &'static str,
    pub(super) effect: Effect,
    /// The text of the help.
    pub(super) help: &'static str,
}

const fn run(
    name: &'static str,
    letter: Option<char>,
    value: &'static str,
    help: &'static str,
) -> Flag {
    Flag { name, letter, value, effect: Effect::Served { kept: false }, help }
}

const fn kept(
    name: &'static str,
    letter: Option<char>,
    value: &'static str,
    help: &'static str,
) -> Flag {
    Flag { name, letter, value, effect: Effect::Served { kept: true }, help }
}

const fn nothing(
    name: &'static str,
    letter: Option<char>,
    value: &'static str,
    why: &'static str,
) -> Flag {
    Flag { name, letter, value, effect: Effect::Nothing(why), help: "" }
}

const fn refused(name: &'static str, value: &'static str, why: &'static str) -> Flag {
    Flag { name, letter: None, value, effect: Effect::Refused(why), help: "" }
}

const TASK: &str = "parsimon learns numbers and classes; it has no bandits, cost-sensitive classes, structured search, topics, networks or factors";
const EXPLORING: &str = "parsimon has no active learning, bootstrap or boosting";
const CACHED: &str = "files are read again in every pass";
const THREADS: &str = "one thread learns, and the result does not depend on threads";
const SERVICE: &str =
    "to score and learn over the network, run parsimon serve MODEL --vw-port PORT";
const FORMAT: &str =
    "only VW's text format and --csv are read here; parsimon train reads JSON lines and tables";
const ONLINE: &str =
    "the update is another one; leave the flag out, or use --ftrl, --coin, --pistol or --sgd";
const MODELS: &str = "models of this command are files of parsimon";

#[rustfmt::skip]
pub(super) const FLAGS: &[Flag] = &[
    run("data", Some('d'), "FILE", "file to read, also gzip, zstd and bzip2; - for standard input"),
    run("final_regressor", Some('f'), "FILE", "write the model to this file"),
    run("initial_regressor", Some('i'), "FILE", "start from the model in this file, with its flags and its state"),
    run("testonly", Some('t'), "", "predict only, without learning"),
    run("predictions", Some('p'), "FILE", "write one prediction per line; stdout or /dev/stdout for standard output"),
    run("raw_predictions", Some('r'), "FILE", "write one margin per line, before the link and the range of the labels"),
    run("readable_model", None, "FILE", "write the slots and their weights as text"),
    run("invert_hash", None, "FILE", "write the names of features, their slots and their weights as text"),
    run("audit", Some('a'), "", "print the features of every example with their slots, values and weights"),
    run("quiet", None, "", "print no progress and no summary"),
    run("progress", Some('P'), "N", "print progress every N examples, or by the factor N if it has a decimal point [2.0]"),
    run("examples", None, "N", "read at most N examples in each pass"),
    run("passes", None, "N", "passes over the data [1]"),
    run("holdout_off", None, "", "learn all examples: without this flag every tenth is held out if there are several passes"),
    run("holdout_period", None, "N", "hold out every Nth example [10]"),
    run("holdout_after", None, "N", "hold out the examples after the Nth"),
    run("early_terminate", None, "N", "stop after N passes without a lower holdout loss [3]"),
    run("predict_only_model", None, "", "write weights without the state of learning"),
    run("save_per_pass", None, "", "also write the model after every pass, to FILE.0, FILE.1, ..."),
    kept("learning_rate", Some('l'), "RATE", "factor of every step [0.5; 10 where the update is not both adaptive and normalized]"),
    kept("power_t", None, "POWER", "how fast steps shrink [0.5]"),
    kept("initial_t", None, "T", "number of examples before the first, for the size of steps [0; 1 with --sgd]"),
    run("decay_learning_rate", None, "FACTOR", "factor of the learning rate after each pass [1]"),
    kept("adaptive", None, "", "a rate for every weight, from its gradients (part of the default update)"),
    kept("normalized", None, "", "features are normalized by their largest values (part of the default update)"),
    kept("invariant", None, "", "steps that respect importance weights (part of the default update)"),
    kept("sgd", None, "", "plain gradient steps"),
    kept("ftrl", None, "", "FTRL-Proximal"),
    kept("coin", None, "", "coin betting, which has no rate"),
    kept("pistol", None, "", "PiSTOL, which has no rate"),
    kept("ftrl_alpha", None, "ALPHA", "rate of --ftrl [0.5], scale of --coin [4] and --pistol [1]"),
    kept("ftrl_beta", None, "BETA", "start of --ftrl and --coin [1] and of --pistol [0.5]"),
    kept("l1", None, "L1", "l1 penalty"),
    kept("l2", None, "L2", "l2 penalty"),
    kept("bit_precision", Some('b'), "BITS", "number of slots as a power of two [18]"),
    kept("hash", None, "HOW", "all hashes every name; strings keeps whole numbers as they are [strings]"),
    kept("hash_seed", None, "SEED", "seed of the hash of namespaces [0]"),
    kept("noconstant", None, "", "no constant feature"),
    kept("constant", Some('C'), "VALUE", "start weight of the constant feature [0]"),
    run("initial_weight", None, "WEIGHT", "start of every weight [0]"),
    run("random_weights", None, "", "start weights drawn from -0.5 to 0.5"),
    run("random_positive_weights", None, "", "start weights drawn from 0 to 0.1"),
    run("normal_weights", None, "", "start weights drawn from a normal distribution"),
    run("truncated_normal_weights", None, "", "start weights drawn from a normal distribution, folded at two standard deviations"),
    run("random_seed", None, "SEED", "seed of random start weights [0]"),
    kept("quadratic", Some('q'), "AB", "products of the features of two namespaces; a colon stands for any namespace"),
    kept("cubic", None, "ABC", "products of the features of three namespaces"),
    kept("interactions", None, "ABCD", "products of the features of any number of namespaces"),
    kept("permutations", None, "", "products of a namespace with itself in both orders"),
    kept("leave_duplicate_interactions", None, "", "keep products that are named twice"),
    kept("ngram", None, "N", "runs of up to N features, of one namespace with its letter before N"),
    kept("skips", None, "N", "n-grams may leave out up to N features"),
    kept("affix", None, "LIST", "first and last letters of names, such as +2a,-3b"),
    kept("spelling", None, "A", "shapes of the names of a namespace; _ for the one without a name"),
    kept("ignore", None, "A", "drop namespaces that begin with these letters"),
    kept("ignore_linear", None, "A", "keep namespaces that begin with these letters for products only"),
    kept("keep", None, "A", "drop all other namespaces"),
    kept("redefine", None, "B:=A", "read the namespaces A as the namespace B; a colon stands for any namespace"),
    kept("loss_function", None, "LOSS", "squared, classic, logistic, hinge, quantile, expectile or poisson [squared]"),
    kept("quantile_tau", None, "TAU", "quantile of the quantile loss [0.5]"),
    kept("expectile_q", None, "Q", "factor of errors above the label in the expectile loss, which needs it"),
    kept("logistic_min", None, "LABEL", "label of probability 0 of the logistic loss [-1]"),
    kept("logistic_max", None, "LABEL", "label of probability 1 of the logistic loss [1]"),
    kept("link", None, "LINK", "identity, logistic, glf1 or poisson: from margins to predictions [identity]"),
    run("min_prediction", None, "VALUE", "smallest prediction [the smallest label]"),
    run("max_prediction", None, "VALUE", "largest prediction [the largest label]"),
    kept("binary", None, "", "predict -1 or 1 and report the share of errors"),
    kept("oaa", None, "K", "K classes, each against all others"),
    kept("named_labels", None, "LIST", "names of the classes of --oaa, between commas"),
    kept("indexing", None, "0|1", "number of the first class of --oaa [found in the data]"),
    run("probabilities", None, "", "predict the probability of every class"),
    run("scores", None, "", "predict the margin of every class"),
    run("classweight", None, "LIST", "factors of the importance by label, such as 1:2,-1:0.5"),
    run("csv", None, "", "the data is CSV with a header; the columns _label and _tag are label and tag"),
    run("csv_separator", None, "C", "separator of --csv [,]"),
    run("csv_header", None, "NAMES", "header of a CSV file without one"),
    run("csv_no_file_header", None, "", "the CSV file has no header"),
    run("csv_ns_value", None, "LIST", "factors of namespaces of --csv, such as a:0.5"),
    run("strict_parse", None, "", "stop at a malformed example instead of a warning"),
    run("help", Some('h'), "", "print this help"),
    nothing("cache", Some('c'), "", CACHED),
    nothing("cache_file", None, "FILE", CACHED),
    nothing("kill_cache", Some('k'), "", CACHED),
    nothing("compressed", None, "", "compressed files are recognized"),
    nothing("onethread", None, "", THREADS),
    nothing("thread_count", None, "N", THREADS),
    nothing("ring_size", None, "N", THREADS),
    nothing("example_queue_limit", None, "N", THREADS),
    nothing("save_resume", None, "", "a model has the state of learning unless --predict_only_model is set"),
    nothing("preserve_performance_counters", None, "", "losses are of the examples of this run"),
    nothing("no_stdin", None, "", "standard input is read only with -d -"),
    nothing("print", None, "", "the examples are not printed back"),
    nothing("holdout_test", None, "", "holdout follows from the number of passes"),
    nothing("confidence_after_training", None, "", "no confidence is printed without --confidence"),
    nothing("log_level", None, "LEVEL", "warnings are always printed"),
    nothing("log_output", None, "WHERE", "messages go to standard error"),
    nothing("driver_output", None, "WHERE", "messages go to standard error"),
    nothing("driver_output_off", None, "", "use --quiet"),
    nothing("limit_output", None, "N", "repeated warnings are counted"),
    nothing("dry_run", None, "", "VW ends before reading; here the run is done"),
    nothing("id", None, "ID", "models have no identifiers"),
    nothing("chain_hash", None, "", "name:text is always hashed as a chain"),
    nothing("sparse_weights", None, "", "weights are allocated in pages, as far as they are used"),
    nothing("testing_only_reset", None, "", "no state is reset"),
    refused("feature_mask", "FILE", "weights cannot be limited to those of another model; --ignore and --keep choose namespaces"),
    refused("feature_limit", "LIST", "features of a namespace cannot be counted off"),
    refused("sparse_l2", "L2", ONLINE),
    refused("l1_state", "X", "the state of penalties is part of the model"),
    refused("l2_state", "X", "the state of penalties is part of the model"),
    refused("adax", "", ONLINE),
    refused("svrg", "", ONLINE),
    refused("stage_size", "N", ONLINE),
    refused("freegrad", "", ONLINE),
    refused("bfgs", "", ONLINE),
    refused("conjugate_gradient", "", ONLINE),
    refused("hessian_on", "", ONLINE),
    refused("OjaNewton", "", ONLINE),
    refused("ksvm", "", ONLINE),
    refused("stochastic", "", ONLINE),
    refused("oaa_subsample", "N", "all other classes are learned in every example; leave the flag out"),
    refused("multilabel_oaa", "K", TASK),
    refused("confidence", "", "predictions have no confidence"),
    refused("radius", "R", TASK),
    refused("cbzo", "", TASK),
    refused("bootstrap", "N", EXPLORING),
    refused("boosting", "N", EXPLORING),
    refused("active", "", EXPLORING),
    refused("active_cover", "", EXPLORING),
    refused("simulation", "", EXPLORING),
    refused("audit_regressor", "FILE", "use --invert_hash, or --audit"),
    refused("experimental_full_name_interactions", "A|B", "namespaces are named by their first letters"),
    refused("dictionary", "FILE", "features of a dictionary cannot be added"),
    refused("autolink", "N", TASK),
    refused("marginal", "A", TASK),
    refused("lrq", "AB4", TASK),
    refused("lrqfa", "AB4", TASK),
    refused("nn", "N", TASK),
    refused("rank", "N", TASK),
    refused("lda", "K", TASK),
    refused("new_mf", "K", TASK),
    refused("stagewise_poly", "", TASK),
    refused("csoaa", "K", TASK),
    refused("csoaa_ldf", "HOW", TASK),
    refused("wap_ldf", "HOW", TASK),
    refused("wap", "K", TASK),
    refused("ect", "K", TASK),
    refused("log_multi", "K", TASK),
    refused("recall_tree", "K", TASK),
    refused("plt", "K", TASK),
    refused("top_k", "K", TASK),
    refused("search", "K", TASK),
    refused("search_task", "TASK", TASK),
    refused("cb", "K", TASK),
    refused("cb_type", "TYPE", TASK),
    refused("cb_adf", "", TASK),
    refused("cb_explore", "K", TASK),
    refused("cb_explore_adf", "", TASK),
    refused("cb_dro", "", TASK),
    refused("cbify", "K", TASK),
    refused("warm_cb", "K", TASK),
    refused("cats", "K", TASK),
    refused("cats_pdf", "K", TASK),
    refused("ccb_explore_adf", "", TASK),
    refused("slates", "", TASK),
    refused("explore_eval", "", TASK),
    refused("multiworld_test", "LIST", TASK),
    refused("memory_tree", "N", TASK),
    refused("interact", "AB", TASK),
    refused("baseline", "", TASK),
    refused("print_ignored", "", TASK),
    refused("json", "", FORMAT),
    refused("dsjson", "", FORMAT),
    refused("flatbuffer", "", FORMAT),
    refused("daemon", "", SERVICE),
    refused("port", "PORT", SERVICE),
    refused("span_server", "HOST", SERVICE),
    refused("sendto", "HOST", SERVICE),
    refused("output_feature_regularizer_binary", "FILE", MODELS),
    refused("output_feature_regularizer_text", "FILE", MODELS),
];

/// The flag of a name, with underscores or dashes, or the only one that begins with it.
pub(super) fn long(name: &str) -> Option<&'static Flag> {
    let name = name.replace('-', "_");
    FLAGS.iter().find(|flag| flag.name.eq_ignore_ascii_case(&name))
}

pub(super) fn short(letter: char) -> Option<&'static Flag> {
    FLAGS.iter().find(|flag| flag.letter == Some(letter))
}

impl Flag {
    /// The flag as it is typed.
    pub(super) fn shown(&self) -> String {
        let letter = self.letter.map_or(String::new(), |letter| format!("-{letter}, "));
        let value = if self.value.is_empty() { String::new() } else { format!(" {}", self.value) };
        format!("{letter}--{}{value}", self.name)
    }
}

/// The width of the help, and of its first column.
const WIDTH: usize = 100;
const FIRST: usize = 37;

/// The help: all flags by what becomes of them.
pub(super) fn help() -> String {
    let mut text = String::from(
        "Run a command line of Vowpal Wabbit: parsimon vw -d train.vw -f model --passes 3 -c -q ab\n\n\
         Without --ftrl, --coin, --pistol or --sgd it runs VW's default update, which parsimon train has\n\
         as -a nag. Hashes are those of VW; model files are those of parsimon.\n\n\
         Usage: parsimon vw [FLAGS OF VOWPAL WABBIT]\n\nFlags that mean what they mean in VW:\n",
    );
    let served = |flag: &&Flag| matches!(flag.effect, Effect::Served { .. });
    for flag in FLAGS.iter().filter(served) {
        entry(&mut text, flag, flag.help);
    }
    text.push_str("\nFlags that are accepted and do nothing:\n");
    for flag in FLAGS {
        if let Effect::Nothing(why) = flag.effect {
            entry(&mut text, flag, why);
        }
    }
    text.push_str("\nFlags that are refused:\n");
    for flag in FLAGS {
        if let Effect::Refused(why) = flag.effect {
            entry(&mut text, flag, why);
        }
    }
    text
}

/// Appends a flag and its explanation, in lines of the width.
fn entry(text: &mut String, flag: &Flag, words: &str) {
    let mut first = format!("  {}", flag.shown());
    if first.len() >= FIRST {
        text.push_str(&format!("{first}\n"));
        first.clear();
    }
    for line in wrapped(words, WIDTH - FIRST) {
        text.push_str(&format!("{first:FIRST$}{line}\n"));
        first.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_letters_are_unique() {
        for (k, flag) in FLAGS.iter().enumerate() {
            assert!(FLAGS[..k].iter().all(|other| other.name != flag.name), "{}", flag.name);
            let same = |other: &&Flag| other.letter.is_some() && other.letter == flag.letter;
            assert_eq!(FLAGS[..k].iter().find(same).map(|other| other.name), None, "{}", flag.name);
        }
    }

    #[test]
    fn every_flag_is_explained() {
        let help = help();
        for flag in FLAGS {
            assert!(help.contains(&format!("--{}", flag.name)), "{}", flag.name);
            let words = match flag.effect {
                Effect::Served { .. } => flag.help,
                Effect::Nothing(why) | Effect::Refused(why) => why,
            };
            assert!(!words.is_empty(), "{}", flag.name);
        }
    }
}
