//! The table of algorithms: the CLI's list, the documentation, the JSON and every front end are printed from it.

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
    /// Every setting, the common ones first.
    pub fn all_parameters(&self) -> impl Iterator<Item = &'static Parameter> + use<> {
        COMMON.iter().chain(self.parameters)
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
            p("dimension", Kind::Natural, None, "number of features, ids from 1 (simplex-kl)"),
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
