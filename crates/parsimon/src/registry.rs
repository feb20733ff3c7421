//! The table of algorithms: the CLI's list, the documentation, the JSON and every front end are printed from it.

use crate::kernels::KERNELS;
use crate::parameter::{Default as D, Kind, Parameter};

/// One algorithm: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct Algorithm {
    /// Its name everywhere.
    pub name: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// (A) How a loss enters.
    pub losses: &'static str,
    /// (B) How the penalty accumulates.
    pub penalties: &'static str,
    /// (C) Where the quadratic is centered, and its metric.
    pub center: &'static str,
    /// What an example costs.
    pub cost: &'static str,
    /// Its settings beside those of [`COMMON`].
    pub parameters: &'static [Parameter],
}

impl Algorithm {
    /// Every setting, the common ones first; where the algorithm has its own reading of one, that one.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        let own = self.parameters;
        let has_own = move |name: &str| own.iter().any(|p| p.name == name);
        // Whoever has its own losses has no use for the settings of the common ones.
        let of_losses = ["huber_delta", "quantile"];
        let useless = move |name: &str| has_own("loss") && of_losses.contains(&name);
        let common = COMMON.iter().filter(move |c| !has_own(c.name) && !useless(c.name));
        common.chain(own)
    }

    /// Whether it has a setting of that name.
    pub fn has(&self, name: &str) -> bool {
        self.all_parameters().any(|p| p.name == name)
    }

    /// Whether it can filter a signal sample by sample.
    pub fn is_filter(&self) -> bool {
        FILTERS.contains(&self.name)
    }
}

/// The algorithm of that name.
pub fn find(name: &str) -> Option<&'static Algorithm> {
    ALGORITHMS.iter().find(|a| a.name == name)
}

/// The losses' names.
pub const LOSSES: &[&str] =
    &["logistic", "squared", "hinge", "squared-hinge", "huber", "quantile", "poisson"];

const fn p(name: &'static str, kind: Kind, default: Option<D>, about: &'static str) -> Parameter {
    Parameter { name, kind, default, about }
}

const SCHEDULES: Kind = Kind::Choice(&["constant", "sqrt", "inverse", "two-phase"]);

/// The settings every algorithm has.
pub const COMMON: &[Parameter] = &[
    p("loss", Kind::Choice(LOSSES), Some(D::Word("logistic")), "the loss"),
    p("huber_delta", Kind::Positive, None, "where the Huber loss becomes a line (huber only; 1)"),
    p("quantile", Kind::Fraction, None, "which quantile (quantile only; 0.5)"),
    p("multiclass", Kind::Flag, Some(D::Flag(false)), "one learner per class, one-vs-all"),
    p("classes", Kind::Texts, None, "the labels, when they are not to be found by a scan"),
];

/// The algorithms that can filter a signal sample by sample.
pub const FILTERS: &[&str] =
    &["lms", "nlms", "apa", "papa", "pnlms", "ipnlms", "apfbs", "pda", "rls"];

const SQUARED: Parameter =
    p("loss", Kind::Choice(&["squared"]), Some(D::Word("squared")), "the squared error");
const SET: Parameter = p(
    "loss",
    Kind::Choice(&["projection", "halfspace"]),
    Some(D::Word("projection")),
    "what a row allows: w.x = y (regression) or y w.x >= 1 (classification)",
);
const PROJECTION: Parameter =
    p("loss", Kind::Choice(&["projection"]), Some(D::Word("projection")), "a row allows w.x = y");
const STEP: Parameter = p("rate", Kind::Step, Some(D::Number(0.5)), "eta, the step");
const ALPHA: Parameter =
    p("alpha", Kind::Unit, None, "the identity's share in the metric; absent: the identity");
const EPSILON: Parameter =
    p("epsilon", Kind::Positive, Some(D::Number(1e-5)), "keeps the metric finite at zero weights");
const NORMALIZER: Parameter =
    p("delta", Kind::NonNegative, Some(D::Number(1e-5)), "added to the normalizer");
const ORDER: Parameter =
    p("order", Kind::Order, Some(D::Number(1.0)), "r: how many rows are projected on at once");
const DIMENSION: Parameter = p(
    "dimension",
    Kind::Natural,
    None,
    "number of features; found by a scan of the data if absent",
);

const RATE: Parameter = p("rate", Kind::Positive, Some(D::Number(0.1)), "eta, eta_0");
const GAMMA: Parameter = p("rate", Kind::Positive, Some(D::Number(0.1)), "eta = 1/gamma");
const L1: Parameter = p("l1", Kind::NonNegative, Some(D::Number(0.0)), "strength of |w|");
const L2: Parameter = p("l2", Kind::NonNegative, Some(D::Number(0.0)), "strength of w^2/2");
const SCHEDULE: Parameter = p("schedule", SCHEDULES, Some(D::Word("sqrt")), "how eta_t falls");
const SWITCH: Parameter = p("switch", Kind::Positive, None, "m of the two-phase schedule");
const PERIOD: Parameter =
    p("period", Kind::Natural, Some(D::Number(1.0)), "every how many rounds (k, K)");
const IMPLICIT: Parameter =
    p("implicit", Kind::Flag, Some(D::Flag(false)), "take the loss itself, not its tangent");
const RADIUS: Parameter = p("radius", Kind::Positive, Some(D::Number(1.0)), "the ball's radius");
const DELTA: Parameter =
    p("delta", Kind::NonNegative, Some(D::Number(1e-5)), "added to the root of the sum of g^2");
const HALF_STEP: Parameter = p(
    "half_step",
    Kind::Choice(&["same", "next"]),
    Some(D::Word("same")),
    "eta of the proximal half: eta_t or eta_{t+1}",
);
const GROUPS: Parameter =
    p("groups", Kind::Groups, None, "the groups of the group penalty, lists of feature ids");
const METRIC: Parameter = p(
    "metric",
    Kind::Choice(&["sqrt", "adagrad"]),
    Some(D::Word("adagrad")),
    "h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate",
);
const ROOT_BETA: Parameter =
    p("beta", Kind::NonNegative, Some(D::Number(1.0)), "added to the root of the sum of g^2");
const BALL: Parameter = p(
    "ball",
    Kind::Choice(&["none", "l1", "l2"]),
    Some(D::Word("none")),
    "project on a ball after each step",
);

const SGD: &[Parameter] = &[RATE, SCHEDULE, SWITCH, BALL, RADIUS, IMPLICIT];
const UNIFIED: &[Parameter] = &[GAMMA, L1, METRIC, ROOT_BETA, IMPLICIT];

const MULTIKERNEL: &[Parameter] = &[
    PROJECTION,
    p("rate", Kind::Step, Some(D::Number(0.3)), "eta, the step"),
    p("l1", Kind::NonNegative, Some(D::Number(0.0)), "strength of the columns' norms"),
    p("kernel", Kind::Words(KERNELS), Some(D::Word("gaussian")), "the kernels, one or more"),
    p("variances", Kind::Positives, None, "of the Gaussians (gaussian only; 0.01, 0.1, 1, 10)"),
    p("degrees", Kind::Naturals, None, "of the polynomials (polynomial only; 2)"),
    p(
        "dictionary_max",
        Kind::Natural,
        Some(D::Number(100.0)),
        "r_max: from this size on the dictionary is refined; no upper limit",
    ),
    p(
        "dictionary_threshold",
        Kind::NonNegative,
        Some(D::Number(1e-3)),
        "refining drops the rows whose coefficients have a norm below it",
    ),
    p("delta", Kind::NonNegative, Some(D::Number(1e-5)), "added to |K|^2"),
];

/// Every algorithm.
pub const ALGORITHMS: &[Algorithm] = &[
    Algorithm {
        name: "sgd",
        paper: "Zinkevich 2003",
        losses: "tangent or exact",
        penalties: "none; l1 or l2 ball",
        center: "iterate, schedule",
        cost: "O(nnz); l1 ball O(features)",
        parameters: SGD,
    },
    Algorithm {
        name: "asgd",
        paper: "Polyak and Juditsky 1992",
        losses: "tangent or exact",
        penalties: "none; l1 or l2 ball",
        center: "iterate, schedule; the mean is read",
        cost: "O(nnz); with a ball O(features)",
        parameters: SGD,
    },
    Algorithm {
        name: "subgradient-l1",
        paper: "Langford, Li and Zhang 2009, section 3",
        losses: "tangent",
        penalties: "l1, its subgradient",
        center: "iterate, schedule",
        cost: "O(nnz) at a constant rate, else rounds missed are replayed",
        parameters: &[RATE, L1, SCHEDULE, SWITCH],
    },
    Algorithm {
        name: "truncation",
        paper: "Langford, Li and Zhang 2009",
        losses: "tangent",
        penalties: "cut below theta, every k-th round",
        center: "iterate, schedule",
        cost: "O(nnz)",
        parameters: &[
            RATE,
            SCHEDULE,
            SWITCH,
            PERIOD,
            p("theta", Kind::NonNegative, Some(D::Number(0.01)), "weights up to it are cut"),
        ],
    },
    Algorithm {
        name: "truncated-gradient",
        paper: "Langford, Li and Zhang 2009",
        losses: "tangent",
        penalties: "l1 below theta, every k-th round",
        center: "iterate, schedule",
        cost: "O(nnz)",
        parameters: &[
            RATE,
            L1,
            SCHEDULE,
            SWITCH,
            PERIOD,
            p("theta", Kind::Threshold, Some(D::Word("inf")), "weights beyond it are left alone"),
        ],
    },
    Algorithm {
        name: "fobos",
        paper: "Duchi and Singer 2009; caught up exactly",
        losses: "tangent",
        penalties: "linearized: elastic net, l2 norm, linf, groups",
        center: "iterate, schedule",
        cost: "O(nnz); linf O(features)",
        parameters: &[
            RATE,
            L1,
            L2,
            SCHEDULE,
            SWITCH,
            HALF_STEP,
            p(
                "penalty",
                Kind::Choice(&["elastic", "l2-norm", "linf", "group"]),
                Some(D::Word("elastic")),
                "the penalty; the norms' strength is l1",
            ),
            GROUPS,
        ],
    },
    Algorithm {
        name: "lazy-fobos",
        paper: "lazy thesis 2014, Algorithm 1",
        losses: "tangent",
        penalties: "l1, l2 norm or linf at block ends",
        center: "iterate, schedule",
        cost: "O(nnz); linf O(features) per block",
        parameters: &[
            RATE,
            L1,
            SCHEDULE,
            SWITCH,
            PERIOD,
            p(
                "penalty",
                Kind::Choice(&["l1", "l2-norm", "linf"]),
                Some(D::Word("l1")),
                "the penalty, of strength l1",
            ),
        ],
    },
    Algorithm {
        name: "lazy-splitting",
        paper: "lazy thesis 2014, Algorithm 2",
        losses: "tangent",
        penalties: "l1: own part at once, the rest at block ends",
        center: "iterate, schedule",
        cost: "O(nnz)",
        parameters: &[RATE, L1, SCHEDULE, SWITCH, PERIOD],
    },
    Algorithm {
        name: "lazy-sparse",
        paper: "lazy thesis 2014, Algorithm 3 as printed",
        losses: "tangent at stale weights",
        penalties: "l1, paid when touched",
        center: "iterate, schedule",
        cost: "O(nnz)",
        parameters: &[
            RATE,
            L1,
            SCHEDULE,
            SWITCH,
            p(
                "period",
                Kind::NaturalOrNone,
                Some(D::Word("none")),
                "K: everybody pays every K rounds",
            ),
        ],
    },
    Algorithm {
        name: "rda",
        paper: "Xiao 2010",
        losses: "tangent",
        penalties: "every round",
        center: "origin, beta_t",
        cost: "O(nnz)",
        parameters: &[
            GAMMA,
            L1,
            L2,
            p(
                "beta",
                Kind::Choice(&["sqrt", "zero", "constant", "log"]),
                Some(D::Word("sqrt")),
                "beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t)",
            ),
            p(
                "prox",
                Kind::Choice(&["half", "psi"]),
                Some(D::Word("half")),
                "h = |w|^2/2, or the penalty itself over l2",
            ),
        ],
    },
    Algorithm {
        name: "generalized-rda",
        paper: "Ushio 2018, eq. 3.1",
        losses: "tangent",
        penalties: "t^(a+b) times",
        center: "origin, t^b",
        cost: "O(nnz)",
        parameters: &[
            GAMMA,
            L1,
            p("a", Kind::Number, Some(D::Number(0.5)), "exponent of the threshold"),
            p("b", Kind::Number, Some(D::Number(0.5)), "exponent of the stabilizer"),
        ],
    },
    Algorithm {
        name: "dual-averaging",
        paper: "Nesterov 2009",
        losses: "tangent",
        penalties: "indicator of a ball or simplex",
        center: "origin, sqrt(t)",
        cost: "O(nnz) in the l2 ball, else O(features)",
        parameters: &[
            GAMMA,
            p(
                "ball",
                Kind::Choice(&["l1", "l2", "simplex-kl"]),
                Some(D::Word("l2")),
                "the set; over the simplex the Kullback-Leibler divergence",
            ),
            RADIUS,
            DIMENSION,
        ],
    },
    Algorithm {
        name: "adagrad-rda",
        paper: "Duchi, Hazan and Singer 2011",
        losses: "tangent",
        penalties: "every round",
        center: "origin, AdaGrad",
        cost: "O(nnz)",
        parameters: &[RATE, L1, L2, DELTA],
    },
    Algorithm {
        name: "adagrad-fobos",
        paper: "Duchi, Hazan and Singer 2011",
        losses: "tangent",
        penalties: "linearized",
        center: "iterate, AdaGrad",
        cost: "O(nnz)",
        parameters: &[RATE, L1, L2, DELTA],
    },
    Algorithm {
        name: "ftrl",
        paper: "McMahan et al. 2013 (FTRL-Proximal as deployed)",
        losses: "tangent",
        penalties: "once",
        center: "iterate, AdaGrad",
        cost: "O(nnz)",
        parameters: &[
            p("rate", Kind::Positive, Some(D::Number(0.1)), "alpha"),
            L1,
            L2,
            p("beta", Kind::NonNegative, Some(D::Number(1.0)), "beta"),
        ],
    },
    Algorithm {
        name: "comid",
        paper: "Duchi et al. 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "linearized",
        center: "iterate",
        cost: "O(nnz)",
        parameters: UNIFIED,
    },
    Algorithm {
        name: "ftprl",
        paper: "McMahan and Streeter 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "every round",
        center: "iterate",
        cost: "O(nnz)",
        parameters: UNIFIED,
    },
    Algorithm {
        name: "aogd",
        paper: "Bartlett et al. 2007; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "linearized",
        center: "origin",
        cost: "O(nnz)",
        parameters: UNIFIED,
    },
    Algorithm {
        name: "unified-rda",
        paper: "Xiao 2010; McMahan 2011, table row",
        losses: "tangent or exact",
        penalties: "every round",
        center: "origin",
        cost: "O(nnz)",
        parameters: UNIFIED,
    },
    Algorithm {
        name: "adam",
        paper: "Kingma and Ba 2015",
        losses: "tangent",
        penalties: "none",
        center: "moving averages",
        cost: "O(nnz); a visit replays the rounds missed while they matter",
        parameters: &[
            p("rate", Kind::Positive, Some(D::Number(0.001)), "eta"),
            p("beta1", Kind::Decay, Some(D::Number(0.9)), "decay of the first moment"),
            p("beta2", Kind::Decay, Some(D::Number(0.999)), "decay of the second moment"),
            p("epsilon", Kind::Positive, Some(D::Number(1e-8)), "added to the root"),
        ],
    },
    Algorithm {
        name: "adadelta",
        paper: "Zeiler 2012",
        losses: "tangent",
        penalties: "none",
        center: "moving averages",
        cost: "O(nnz)",
        parameters: &[
            p("rate", Kind::Positive, Some(D::Number(1.0)), "a factor on the step, 1 in the paper"),
            p("rho", Kind::Decay, Some(D::Number(0.95)), "decay of both averages"),
            p("epsilon", Kind::Positive, Some(D::Number(1e-6)), "added under both roots"),
        ],
    },
    Algorithm {
        name: "ftl",
        paper: "follow the leader, for study",
        losses: "tangent",
        penalties: "indicator of the l2 ball",
        center: "none",
        cost: "O(nnz)",
        parameters: &[RADIUS],
    },
    Algorithm {
        name: "csgd",
        paper: "Mu et al. 2013; in O(nnz) by two vectors",
        losses: "tangent",
        penalties: "none; the plane of the mean row",
        center: "iterate, two-phase schedule",
        cost: "O(nnz)",
        parameters: &[
            SQUARED,
            RATE,
            p("schedule", SCHEDULES, Some(D::Word("two-phase")), "how eta_t falls"),
            p(
                "switch",
                Kind::Positive,
                None,
                "m of the two-phase schedule; half the rows if absent",
            ),
        ],
    },
    Algorithm {
        name: "ncsgd",
        paper: "Mu et al. 2013; in O(nnz) by two vectors",
        losses: "tangent",
        penalties: "none; the plane of the mean row",
        center: "iterate, schedule",
        cost: "O(nnz)",
        parameters: &[SQUARED, RATE, SCHEDULE, SWITCH],
    },
    Algorithm {
        name: "rls",
        paper: "recursive least squares; 2SGD of Mu et al. 2013",
        losses: "exact",
        penalties: "delta w^2/2",
        center: "origin, all rows' second moments",
        cost: "O(features^2)",
        parameters: &[
            SQUARED,
            p("delta", Kind::Positive, Some(D::Number(0.01)), "the ridge: P_0 = I/delta"),
            p(
                "forgetting",
                Kind::Share,
                Some(D::Number(1.0)),
                "lambda: what a row's weight keeps each round",
            ),
            DIMENSION,
        ],
    },
    Algorithm {
        name: "adaline",
        paper: "Widrow and Hoff 1960",
        losses: "tangent, classes as numbers",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
        parameters: &[SQUARED, p("rate", Kind::Positive, Some(D::Number(0.01)), "eta, constant")],
    },
    Algorithm {
        name: "c-adaline",
        paper: "Mu et al. 2013",
        losses: "tangent, classes as numbers",
        penalties: "none; the plane of the mean row, shared by the classes",
        center: "iterate, sqrt schedule",
        cost: "O(nnz)",
        parameters: &[SQUARED, p("rate", Kind::Positive, Some(D::Number(0.0625)), "eta_0")],
    },
    Algorithm {
        name: "lms",
        paper: "Widrow and Hoff 1960",
        losses: "tangent",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
        parameters: &[SQUARED, p("rate", Kind::Positive, Some(D::Number(0.01)), "eta, constant")],
    },
    Algorithm {
        name: "nlms",
        paper: "Nagumo and Noda 1967",
        losses: "projection",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz)",
        parameters: &[SET, STEP, NORMALIZER, ALPHA, EPSILON, ORDER, DIMENSION],
    },
    Algorithm {
        name: "apa",
        paper: "Ozeki and Umeda 1984",
        losses: "projection on the last r rows",
        penalties: "none",
        center: "iterate, constant",
        cost: "O(nnz) for r = 1, else O(r features + r^3)",
        parameters: &[SET, STEP, NORMALIZER, ALPHA, EPSILON, ORDER, DIMENSION],
    },
    Algorithm {
        name: "papa",
        paper: "Ushio 2018, eq. 3.5; Gansler et al. 2000",
        losses: "projection on the last r rows",
        penalties: "none",
        center: "iterate, metric of the weights",
        cost: "O(r^2 features)",
        parameters: &[
            SET,
            STEP,
            NORMALIZER,
            p("alpha", Kind::Unit, Some(D::Number(0.5)), "the identity's share in the metric"),
            EPSILON,
            ORDER,
            DIMENSION,
        ],
    },
    Algorithm {
        name: "pnlms",
        paper: "Duttweiler 2000",
        losses: "projection",
        penalties: "none",
        center: "iterate, gains of the weights",
        cost: "O(features)",
        parameters: &[
            PROJECTION,
            STEP,
            NORMALIZER,
            p("rho", Kind::Unit, Some(D::Number(0.01)), "the smallest gain over the largest"),
            p(
                "delta_p",
                Kind::Positive,
                Some(D::Number(0.01)),
                "stands for the largest weight at first",
            ),
            DIMENSION,
        ],
    },
    Algorithm {
        name: "ipnlms",
        paper: "Benesty and Gay 2002",
        losses: "projection",
        penalties: "none",
        center: "iterate, gains of the weights",
        cost: "O(features)",
        parameters: &[
            PROJECTION,
            STEP,
            NORMALIZER,
            p("a", Kind::Signed, Some(D::Number(0.0)), "from -1 (NLMS) to 1 (proportional)"),
            p(
                "epsilon",
                Kind::Positive,
                Some(D::Number(1e-5)),
                "keeps the gains finite at the origin",
            ),
            DIMENSION,
        ],
    },
    Algorithm {
        name: "apfbs",
        paper: "Murakami et al. 2010; Ushio 2018, eq. 2.10",
        losses: "projection on the last r rows",
        penalties: "linearized, weighted by the metric",
        center: "iterate, identity or metric of the weights",
        cost: "O(nnz) with the identity and r = 1, else O(r^2 features)",
        parameters: &[SET, STEP, L1, NORMALIZER, ALPHA, EPSILON, ORDER, DIMENSION],
    },
    Algorithm {
        name: "pda",
        paper: "Ushio 2018, eq. 3.4",
        losses: "projection on the last r rows",
        penalties: "once, weighted by the metric",
        center: "origin, identity or metric of the weights",
        cost: "O(nnz) with the identity and r = 1, else O(r^2 features)",
        parameters: &[SET, STEP, L1, NORMALIZER, ALPHA, EPSILON, ORDER, DIMENSION],
    },
    Algorithm {
        name: "multikernel-pda",
        paper: "Ushio 2018, appendix A.3",
        losses: "projection",
        penalties: "norms of the dictionary's columns, once",
        center: "origin, constant",
        cost: "O(dictionary (nnz + kernels))",
        parameters: MULTIKERNEL,
    },
    Algorithm {
        name: "multikernel-apfbs",
        paper: "Yukawa and Ishii 2013; Ushio 2018, appendix A.3",
        losses: "projection",
        penalties: "norms of the dictionary's columns, linearized",
        center: "iterate, constant",
        cost: "O(dictionary (nnz + kernels))",
        parameters: MULTIKERNEL,
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_default_is_acceptable_and_every_name_unique() {
        let mut names: Vec<_> = ALGORITHMS.iter().map(|a| a.name).collect();
        for algorithm in ALGORITHMS {
            for parameter in algorithm.all_parameters() {
                if let Some(default) = parameter.default {
                    parameter.check(&default.value()).unwrap();
                }
            }
        }
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALGORITHMS.len());
    }
}
