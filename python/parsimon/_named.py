"""Every method under a name of its own. Written by python/tools/named.py from the registry: do not edit."""

from __future__ import annotations

from typing import Any

from ._classifier import Classifier
from ._regressor import Regressor

__all__ = [
    "ParsimonClassifier",
    "AutoClassifier",
    "SGDClassifier",
    "ASGDClassifier",
    "SubgradientL1Classifier",
    "TruncationClassifier",
    "TruncatedGradientClassifier",
    "FOBOSClassifier",
    "LazyFOBOSClassifier",
    "LazySplittingClassifier",
    "LazySparseClassifier",
    "RDAClassifier",
    "GeneralizedRDAClassifier",
    "DualAveragingClassifier",
    "AdaGradRDAClassifier",
    "AdaGradFOBOSClassifier",
    "FTRLClassifier",
    "COMIDClassifier",
    "FTPRLClassifier",
    "AOGDClassifier",
    "UnifiedRDAClassifier",
    "AdamClassifier",
    "AdaDeltaClassifier",
    "FTLClassifier",
    "CSGDClassifier",
    "NCSGDClassifier",
    "RLSClassifier",
    "AdalineClassifier",
    "CAdalineClassifier",
    "LMSClassifier",
    "NLMSClassifier",
    "APAClassifier",
    "PAPAClassifier",
    "PNLMSClassifier",
    "IPNLMSClassifier",
    "APFBSClassifier",
    "PDAClassifier",
    "ParsimonRegressor",
    "AutoRegressor",
    "SGDRegressor",
    "ASGDRegressor",
    "SubgradientL1Regressor",
    "TruncationRegressor",
    "TruncatedGradientRegressor",
    "FOBOSRegressor",
    "LazyFOBOSRegressor",
    "LazySplittingRegressor",
    "LazySparseRegressor",
    "RDARegressor",
    "GeneralizedRDARegressor",
    "DualAveragingRegressor",
    "AdaGradRDARegressor",
    "AdaGradFOBOSRegressor",
    "FTRLRegressor",
    "COMIDRegressor",
    "FTPRLRegressor",
    "AOGDRegressor",
    "UnifiedRDARegressor",
    "AdamRegressor",
    "AdaDeltaRegressor",
    "FTLRegressor",
    "CSGDRegressor",
    "NCSGDRegressor",
    "RLSRegressor",
    "LMSRegressor",
    "NLMSRegressor",
    "APARegressor",
    "PAPARegressor",
    "PNLMSRegressor",
    "IPNLMSRegressor",
    "APFBSRegressor",
    "PDARegressor",
    "MultiKernelPDARegressor",
    "MultiKernelAPFBSRegressor",
]


class ParsimonClassifier(Classifier):
    """Any method by its name, for classes.

    A setting the method does not have is refused.

    Parameters
    ----------
    algorithm
        one of auto, sgd, asgd, subgradient-l1, truncation, truncated-gradient, fobos, lazy-fobos, lazy-splitting, lazy-sparse, rda, generalized-rda, dual-averaging, adagrad-rda, adagrad-fobos, ftrl, comid, ftprl, aogd, unified-rda, adam, adadelta, ftl, csgd, ncsgd, rls, adaline, c-adaline, lms, nlms, apa, papa, pnlms, ipnlms, apfbs, pda
    loss
        the loss; or: the squared error; or: what a row allows: w.x = y (regression) or y w.x >= 1 (classification); or: a row allows w.x = y. None: the default of the method
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10. None: the default of the method
    normalize
        bring features, and numeric labels, to a common scale as they come. None: the default of the method
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned. None: the default of the method
    rate
        alpha; a race finds it if absent; or: eta, eta_0; or: eta = 1/gamma; or: alpha; or: eta; or: a factor on the step, 1 in the paper; or: eta, constant; or: eta_0; or: eta, the step (0.5 for signals). None: the default of the method
    l1
        strength of |w|; a race finds it if absent; or: strength of |w|. None: the default of the method
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade. None: the default of the method
    schedule
        how eta_t falls. None: the default of the method
    switch
        m of the two-phase schedule; half the rows if absent. None: the default of the method
    ball
        project on a ball after each step; or: the set; over the simplex the Kullback-Leibler divergence. None: the default of the method
    radius
        the ball's radius. None: the default of the method
    implicit
        take the loss itself, not its tangent. None: the default of the method
    period
        every how many rounds (k, K); or: K: apply the penalty to all weights every K rounds. None: the default of the method
    theta
        weights up to it are cut; or: weights beyond it are left alone. None: the default of the method
    l2
        strength of w^2/2. None: the default of the method
    half_step
        eta of the proximal half: eta_t or eta_{t+1}. None: the default of the method
    penalty
        the penalty; the norms' strength is l1; or: the penalty, of strength l1; or: the penalty of each weight; nonnegative and box also bound it. None: the default of the method
    groups
        the groups of the group penalty, lists of feature ids. None: the default of the method
    lower
        smallest weight allowed, at most 0 (penalty box only). None: the default of the method
    upper
        largest weight allowed, at least 0 (penalty box only). None: the default of the method
    beta
        beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t); or: beta; or: added to the root of the sum of g^2. None: the default of the method
    prox
        h = |w|^2/2, or the penalty itself over l2. None: the default of the method
    a
        exponent of the threshold; or: from -1 (NLMS) to 1 (proportional). None: the default of the method
    b
        exponent of the stabilizer. None: the default of the method
    dimension
        number of features; found by a scan of the data if absent. None: the default of the method
    delta
        added to the root of the sum of g^2; or: the ridge: P_0 = I/delta; or: added to the normalizer. None: the default of the method
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate. None: the default of the method
    beta1
        decay of the first moment. None: the default of the method
    beta2
        decay of the second moment. None: the default of the method
    epsilon
        added to the root; or: added under both roots; or: keeps the metric finite at zero weights; or: keeps the gains finite at the origin. None: the default of the method
    rho
        decay of both averages; or: the smallest gain over the largest. None: the default of the method
    forgetting
        lambda: what a row's weight keeps each round. None: the default of the method
    order
        r: how many rows are projected on at once. None: the default of the method
    metric_alpha
        the identity's share in the metric; or: the identity's share in the metric; absent: the identity. None: the default of the method
    delta_p
        stands for the largest weight at first. None: the default of the method
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import ParsimonClassifier
    >>> model = ParsimonClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "half_life", "schedule", "switch", "ball", "radius", "implicit", "period", "theta", "l2", "half_step", "penalty", "groups", "lower", "upper", "beta", "prox", "a", "b", "dimension", "delta", "metric", "beta1", "beta2", "epsilon", "rho", "forgetting", "order", "metric_alpha", "delta_p",)

    def __init__(
        self,
        algorithm: str = "auto",
        *,
        loss: Any = None,
        class_weight: Any = None,
        normalize: Any = None,
        no_clip_predictions: Any = None,
        rate: Any = None,
        l1: Any = None,
        half_life: Any = None,
        schedule: Any = None,
        switch: Any = None,
        ball: Any = None,
        radius: Any = None,
        implicit: Any = None,
        period: Any = None,
        theta: Any = None,
        l2: Any = None,
        half_step: Any = None,
        penalty: Any = None,
        groups: Any = None,
        lower: Any = None,
        upper: Any = None,
        beta: Any = None,
        prox: Any = None,
        a: Any = None,
        b: Any = None,
        dimension: Any = None,
        delta: Any = None,
        metric: Any = None,
        beta1: Any = None,
        beta2: Any = None,
        epsilon: Any = None,
        rho: Any = None,
        forgetting: Any = None,
        order: Any = None,
        metric_alpha: Any = None,
        delta_p: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.algorithm = algorithm
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.half_life = half_life
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.period = period
        self.theta = theta
        self.l2 = l2
        self.half_step = half_step
        self.penalty = penalty
        self.groups = groups
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.prox = prox
        self.a = a
        self.b = b
        self.dimension = dimension
        self.delta = delta
        self.metric = metric
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.rho = rho
        self.forgetting = forgetting
        self.order = order
        self.metric_alpha = metric_alpha
        self.delta_p = delta_p
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AutoClassifier(Classifier):
    """``auto``: FTRL-Proximal on normalized rows (Ross et al. 2013), rate and l1 by a race.

    Loss: tangent. Penalty: once.
    Center: iterate, AdaGrad. Cost: O(nnz), 16 times at first and once at the end.

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        alpha; a race finds it if absent; a finite number > 0
    l1
        strength of |w|; a race finds it if absent; a finite number >= 0
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade; a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AutoClassifier
    >>> model = AutoClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "auto"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "half_life",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float | None = None,
        l1: float | None = None,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.half_life = half_life
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class SGDClassifier(Classifier):
    """``sgd``: Zinkevich 2003.

    Loss: tangent or exact. Penalty: none; l1 or l2 ball.
    Center: iterate, schedule. Cost: O(nnz); l1 ball O(features).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    ball
        project on a ball after each step; one of none, l1, l2
    radius
        the ball's radius; a finite number > 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import SGDClassifier
    >>> model = SGDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "sgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "ball", "radius", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class ASGDClassifier(Classifier):
    """``asgd``: Polyak and Juditsky 1992.

    Loss: tangent or exact. Penalty: none; l1 or l2 ball.
    Center: iterate, schedule; the mean is read. Cost: O(nnz); with a ball O(features).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    ball
        project on a ball after each step; one of none, l1, l2
    radius
        the ball's radius; a finite number > 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import ASGDClassifier
    >>> model = ASGDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "asgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "ball", "radius", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class SubgradientL1Classifier(Classifier):
    """``subgradient-l1``: Langford, Li and Zhang 2009, section 3.

    Loss: tangent. Penalty: l1, its subgradient.
    Center: iterate, schedule. Cost: O(nnz) at a constant rate, else rounds missed are replayed.

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import SubgradientL1Classifier
    >>> model = SubgradientL1Classifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "subgradient-l1"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class TruncationClassifier(Classifier):
    """``truncation``: Langford, Li and Zhang 2009.

    Loss: tangent. Penalty: cut below theta, every k-th round.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    period
        every how many rounds (k, K); a whole number >= 1
    theta
        weights up to it are cut; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import TruncationClassifier
    >>> model = TruncationClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "truncation"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "period", "theta",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        period: int = 1,
        theta: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.period = period
        self.theta = theta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class TruncatedGradientClassifier(Classifier):
    """``truncated-gradient``: Langford, Li and Zhang 2009.

    Loss: tangent. Penalty: l1 below theta, every k-th round.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    theta
        weights beyond it are left alone; a number >= 0 or "inf"
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import TruncatedGradientClassifier
    >>> model = TruncatedGradientClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "truncated-gradient"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period", "theta",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        theta: Any = "inf",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.theta = theta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FOBOSClassifier(Classifier):
    """``fobos``: Duchi and Singer 2009; caught up exactly.

    Loss: tangent. Penalty: linearized: elastic net, bounds, l2 norm, linf, groups.
    Center: iterate, schedule. Cost: O(nnz); linf O(features).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    half_step
        eta of the proximal half: eta_t or eta_{t+1}; one of same, next
    penalty
        the penalty; the norms' strength is l1; one of elastic, nonnegative, box, l2-norm, linf, group. None: elastic
    groups
        the groups of the group penalty, lists of feature ids; a list of lists of feature ids
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FOBOSClassifier
    >>> model = FOBOSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "fobos"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "l2", "half_step", "penalty", "groups", "lower", "upper",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        half_step: str = "same",
        penalty: Any = None,
        groups: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.l2 = l2
        self.half_step = half_step
        self.penalty = penalty
        self.groups = groups
        self.lower = lower
        self.upper = upper
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazyFOBOSClassifier(Classifier):
    """``lazy-fobos``: lazy thesis 2014, Algorithm 1.

    Loss: tangent. Penalty: l1, l2 norm or linf at block ends.
    Center: iterate, schedule. Cost: O(nnz); linf O(features) per block.

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    penalty
        the penalty, of strength l1; one of l1, l2-norm, linf. None: l1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazyFOBOSClassifier
    >>> model = LazyFOBOSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "lazy-fobos"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period", "penalty",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        penalty: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.penalty = penalty
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazySplittingClassifier(Classifier):
    """``lazy-splitting``: lazy thesis 2014, Algorithm 2.

    Loss: tangent. Penalty: l1: own part at once, the rest at block ends.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazySplittingClassifier
    >>> model = LazySplittingClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "lazy-splitting"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazySparseClassifier(Classifier):
    """``lazy-sparse``: lazy thesis 2014, Algorithm 3 as printed.

    Loss: tangent at stale weights. Penalty: l1, paid when touched.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        K: apply the penalty to all weights every K rounds; a whole number >= 1 or "none"
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazySparseClassifier
    >>> model = LazySparseClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "lazy-sparse"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: Any = "none",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class RDAClassifier(Classifier):
    """``rda``: Xiao 2010.

    Loss: tangent. Penalty: every round.
    Center: origin, beta_t. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    beta
        beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t); one of sqrt, zero, constant, log
    prox
        h = |w|^2/2, or the penalty itself over l2; one of half, psi
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import RDAClassifier
    >>> model = RDAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "rda"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "beta", "prox",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        beta: str = "sqrt",
        prox: str = "half",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.prox = prox
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class GeneralizedRDAClassifier(Classifier):
    """``generalized-rda``: Ushio 2018, eq. 3.1.

    Loss: tangent. Penalty: t^(a+b) times.
    Center: origin, t^b. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    a
        exponent of the threshold; a finite number
    b
        exponent of the stabilizer; a finite number
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import GeneralizedRDAClassifier
    >>> model = GeneralizedRDAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "generalized-rda"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "a", "b",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        l1: float | None = None,
        a: float = 0.5,
        b: float = 0.5,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.a = a
        self.b = b
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class DualAveragingClassifier(Classifier):
    """``dual-averaging``: Nesterov 2009.

    Loss: tangent. Penalty: indicator of a ball or simplex.
    Center: origin, sqrt(t). Cost: O(nnz) in the l2 ball, else O(features).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    ball
        the set; over the simplex the Kullback-Leibler divergence; one of l1, l2, simplex-kl
    radius
        the ball's radius; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import DualAveragingClassifier
    >>> model = DualAveragingClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "dual-averaging"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "ball", "radius", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        ball: str = "l2",
        radius: float = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.ball = ball
        self.radius = radius
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaGradRDAClassifier(Classifier):
    """``adagrad-rda``: Duchi, Hazan and Singer 2011.

    Loss: tangent. Penalty: every round.
    Center: origin, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    delta
        added to the root of the sum of g^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaGradRDAClassifier
    >>> model = AdaGradRDAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "adagrad-rda"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "delta",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaGradFOBOSClassifier(Classifier):
    """``adagrad-fobos``: Duchi, Hazan and Singer 2011.

    Loss: tangent. Penalty: linearized.
    Center: iterate, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    delta
        added to the root of the sum of g^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaGradFOBOSClassifier
    >>> model = AdaGradFOBOSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "adagrad-fobos"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "delta",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTRLClassifier(Classifier):
    """``ftrl``: McMahan et al. 2013 (FTRL-Proximal as deployed).

    Loss: tangent. Penalty: once.
    Center: iterate, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        alpha; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 1 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    beta
        beta; a finite number >= 0
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade; a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTRLClassifier
    >>> model = FTRLClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "ftrl"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "beta", "half_life",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        beta: float = 1,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.half_life = half_life
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class COMIDClassifier(Classifier):
    """``comid``: Duchi et al. 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: linearized.
    Center: iterate. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import COMIDClassifier
    >>> model = COMIDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "comid"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTPRLClassifier(Classifier):
    """``ftprl``: McMahan and Streeter 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: every round.
    Center: iterate. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTPRLClassifier
    >>> model = FTPRLClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "ftprl"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AOGDClassifier(Classifier):
    """``aogd``: Bartlett et al. 2007; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: linearized.
    Center: origin. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AOGDClassifier
    >>> model = AOGDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "aogd"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class UnifiedRDAClassifier(Classifier):
    """``unified-rda``: Xiao 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: every round.
    Center: origin. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import UnifiedRDAClassifier
    >>> model = UnifiedRDAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "unified-rda"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdamClassifier(Classifier):
    """``adam``: Kingma and Ba 2015.

    Loss: tangent. Penalty: none.
    Center: moving averages. Cost: O(nnz); a visit replays the rounds missed while they matter.

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta; a finite number > 0
    beta1
        decay of the first moment; a number >= 0 and < 1
    beta2
        decay of the second moment; a number >= 0 and < 1
    epsilon
        added to the root; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdamClassifier
    >>> model = AdamClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "adam"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "beta1", "beta2", "epsilon",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaDeltaClassifier(Classifier):
    """``adadelta``: Zeiler 2012.

    Loss: tangent. Penalty: none.
    Center: moving averages. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        a factor on the step, 1 in the paper; a finite number > 0
    rho
        decay of both averages; a number >= 0 and < 1
    epsilon
        added under both roots; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaDeltaClassifier
    >>> model = AdaDeltaClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "adadelta"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "rho", "epsilon",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 1,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.rho = rho
        self.epsilon = epsilon
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTLClassifier(Classifier):
    """``ftl``: follow the leader, for study.

    Loss: tangent. Penalty: indicator of the l2 ball.
    Center: none. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of logistic, hinge, squared-hinge, squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    radius
        the ball's radius; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTLClassifier
    >>> model = FTLClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.nonzeros_ <= 2
    True
    """

    _algorithm = "ftl"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "radius",)

    def __init__(
        self,
        *,
        loss: str = "logistic",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        radius: float = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.radius = radius
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class CSGDClassifier(Classifier):
    """``csgd``: Mu et al. 2013; in O(nnz) by two vectors.

    Loss: tangent. Penalty: none; the plane of the mean row.
    Center: iterate, two-phase schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import CSGDClassifier
    >>> model = CSGDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "csgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        schedule: str = "two-phase",
        switch: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class NCSGDClassifier(Classifier):
    """``ncsgd``: Mu et al. 2013; in O(nnz) by two vectors.

    Loss: tangent. Penalty: none; the plane of the mean row.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import NCSGDClassifier
    >>> model = NCSGDClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "ncsgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class RLSClassifier(Classifier):
    """``rls``: recursive least squares; 2SGD of Mu et al. 2013.

    Loss: exact. Penalty: delta w^2/2.
    Center: origin, all rows' second moments. Cost: O(features^2).

    Parameters
    ----------
    loss
        the squared error; one of squared
    class_weight
        factor on the importance of a row by its class: balanced (rare classes count more), or no=1,yes=10; "balanced" or a finite number > 0 for each class
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    delta
        the ridge: P_0 = I/delta; a finite number > 0
    forgetting
        lambda: what a row's weight keeps each round; a number > 0 and <= 1
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import RLSClassifier
    >>> model = RLSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "rls"
    _settings = ("loss", "class_weight", "normalize", "no_clip_predictions", "delta", "forgetting", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        delta: float = 0.01,
        forgetting: float = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.class_weight = class_weight
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.delta = delta
        self.forgetting = forgetting
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdalineClassifier(Classifier):
    """``adaline``: Widrow and Hoff 1960.

    Loss: tangent, classes as numbers. Penalty: none.
    Center: iterate, constant. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, constant; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdalineClassifier
    >>> model = AdalineClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "adaline"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class CAdalineClassifier(Classifier):
    """``c-adaline``: Mu et al. 2013.

    Loss: tangent, classes as numbers. Penalty: none; the plane of the mean row, shared by the classes.
    Center: iterate, sqrt schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta_0; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import CAdalineClassifier
    >>> model = CAdalineClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "c-adaline"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.0625,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LMSClassifier(Classifier):
    """``lms``: Widrow and Hoff 1960.

    Loss: tangent. Penalty: none.
    Center: iterate, constant. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, constant; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LMSClassifier
    >>> model = LMSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "lms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class NLMSClassifier(Classifier):
    """``nlms``: Nagumo and Noda 1967.

    Loss: projection. Penalty: none.
    Center: iterate, constant. Cost: O(nnz).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of halfspace, projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import NLMSClassifier
    >>> model = NLMSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "nlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta",)

    def __init__(
        self,
        *,
        loss: str = "halfspace",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class APAClassifier(Classifier):
    """``apa``: Ozeki and Umeda 1984.

    Loss: projection on the last r rows. Penalty: none.
    Center: iterate, constant. Cost: O(nnz) for r = 1, else O(r features + r^3).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of halfspace, projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import APAClassifier
    >>> model = APAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "apa"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "halfspace",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PAPAClassifier(Classifier):
    """``papa``: Ushio 2018, eq. 3.5; Gansler et al. 2000.

    Loss: projection on the last r rows. Penalty: none.
    Center: iterate, metric of the weights. Cost: O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of halfspace, projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PAPAClassifier
    >>> model = PAPAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "papa"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "halfspace",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        alpha: float = 0.5,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PNLMSClassifier(Classifier):
    """``pnlms``: Duttweiler 2000.

    Loss: projection. Penalty: none.
    Center: iterate, gains of the weights. Cost: O(features).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    rho
        the smallest gain over the largest; a number from 0 to 1
    delta_p
        stands for the largest weight at first; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PNLMSClassifier
    >>> model = PNLMSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "pnlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "rho", "delta_p", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        rho: float = 0.01,
        delta_p: float = 0.01,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.rho = rho
        self.delta_p = delta_p
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class IPNLMSClassifier(Classifier):
    """``ipnlms``: Benesty and Gay 2002.

    Loss: projection. Penalty: none.
    Center: iterate, gains of the weights. Cost: O(features).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    a
        from -1 (NLMS) to 1 (proportional); a number from -1 to 1
    epsilon
        keeps the gains finite at the origin; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import IPNLMSClassifier
    >>> model = IPNLMSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "ipnlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "a", "epsilon", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        a: float = 0,
        epsilon: float = 1e-05,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.a = a
        self.epsilon = epsilon
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class APFBSClassifier(Classifier):
    """``apfbs``: Murakami et al. 2010; Ushio 2018, eq. 2.10.

    Loss: projection on the last r rows. Penalty: linearized, weighted by the metric.
    Center: iterate, identity or metric of the weights. Cost: O(nnz) with the identity and r = 1, else O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of halfspace, projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    l1
        strength of |w|; a finite number >= 0. None: 0.001 if no other penalty is passed, else 0
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; absent: the identity; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import APFBSClassifier
    >>> model = APFBSClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "apfbs"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "halfspace",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        delta: float = 1e-05,
        alpha: float | None = None,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PDAClassifier(Classifier):
    """``pda``: Ushio 2018, eq. 3.4.

    Loss: projection on the last r rows. Penalty: once, weighted by the metric.
    Center: origin, identity or metric of the weights. Cost: O(nnz) with the identity and r = 1, else O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of halfspace, projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    l1
        strength of |w|; a finite number >= 0. None: 0.1 if no other penalty is passed, else 0
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; absent: the identity; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PDAClassifier
    >>> model = PDAClassifier().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1, 0] * 50)
    >>> model.predict([[1.0, 0.0], [0.0, 1.0]]).tolist()
    [1, 0]
    """

    _algorithm = "pda"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "halfspace",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        delta: float = 1e-05,
        alpha: float | None = None,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class ParsimonRegressor(Regressor):
    """Any method by its name, for numbers.

    A setting the method does not have is refused.

    Parameters
    ----------
    algorithm
        one of auto, sgd, asgd, subgradient-l1, truncation, truncated-gradient, fobos, lazy-fobos, lazy-splitting, lazy-sparse, rda, generalized-rda, dual-averaging, adagrad-rda, adagrad-fobos, ftrl, comid, ftprl, aogd, unified-rda, adam, adadelta, ftl, csgd, ncsgd, rls, lms, nlms, apa, papa, pnlms, ipnlms, apfbs, pda, multikernel-pda, multikernel-apfbs
    loss
        the loss; or: the squared error; or: what a row allows: w.x = y (regression) or y w.x >= 1 (classification); or: a row allows w.x = y. None: the default of the method
    huber_delta
        where the Huber loss becomes a line (huber only; 1). None: the default of the method
    quantile
        which quantile (quantile only; 0.5). None: the default of the method
    normalize
        bring features, and numeric labels, to a common scale as they come. None: the default of the method
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned. None: the default of the method
    rate
        alpha; a race finds it if absent; or: eta, eta_0; or: eta = 1/gamma; or: alpha; or: eta; or: a factor on the step, 1 in the paper; or: eta, constant; or: eta, the step (0.5 for signals); or: eta, the step. None: the default of the method
    l1
        strength of |w|; a race finds it if absent; or: strength of |w|; or: strength of the columns' norms. None: the default of the method
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade. None: the default of the method
    schedule
        how eta_t falls. None: the default of the method
    switch
        m of the two-phase schedule; half the rows if absent. None: the default of the method
    ball
        project on a ball after each step; or: the set; over the simplex the Kullback-Leibler divergence. None: the default of the method
    radius
        the ball's radius. None: the default of the method
    implicit
        take the loss itself, not its tangent. None: the default of the method
    period
        every how many rounds (k, K); or: K: apply the penalty to all weights every K rounds. None: the default of the method
    theta
        weights up to it are cut; or: weights beyond it are left alone. None: the default of the method
    l2
        strength of w^2/2. None: the default of the method
    half_step
        eta of the proximal half: eta_t or eta_{t+1}. None: the default of the method
    penalty
        the penalty; the norms' strength is l1; or: the penalty, of strength l1; or: the penalty of each weight; nonnegative and box also bound it. None: the default of the method
    groups
        the groups of the group penalty, lists of feature ids. None: the default of the method
    lower
        smallest weight allowed, at most 0 (penalty box only). None: the default of the method
    upper
        largest weight allowed, at least 0 (penalty box only). None: the default of the method
    beta
        beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t); or: beta; or: added to the root of the sum of g^2. None: the default of the method
    prox
        h = |w|^2/2, or the penalty itself over l2. None: the default of the method
    a
        exponent of the threshold; or: from -1 (NLMS) to 1 (proportional). None: the default of the method
    b
        exponent of the stabilizer. None: the default of the method
    dimension
        number of features; found by a scan of the data if absent. None: the default of the method
    delta
        added to the root of the sum of g^2; or: the ridge: P_0 = I/delta; or: added to the normalizer; or: added to |K|^2. None: the default of the method
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate. None: the default of the method
    beta1
        decay of the first moment. None: the default of the method
    beta2
        decay of the second moment. None: the default of the method
    epsilon
        added to the root; or: added under both roots; or: keeps the metric finite at zero weights; or: keeps the gains finite at the origin. None: the default of the method
    rho
        decay of both averages; or: the smallest gain over the largest. None: the default of the method
    forgetting
        lambda: what a row's weight keeps each round. None: the default of the method
    order
        r: how many rows are projected on at once. None: the default of the method
    metric_alpha
        the identity's share in the metric; or: the identity's share in the metric; absent: the identity. None: the default of the method
    delta_p
        stands for the largest weight at first. None: the default of the method
    kernel
        the kernels, one or more. None: the default of the method
    variances
        of the Gaussians (gaussian only; 0.01, 0.1, 1, 10). None: the default of the method
    degrees
        of the polynomials (polynomial only; 2). None: the default of the method
    dictionary_max
        r_max: from this size on the dictionary is refined; no upper limit. None: the default of the method
    dictionary_threshold
        refining drops the rows whose coefficients have a norm below it. None: the default of the method
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import ParsimonRegressor
    >>> model = ParsimonRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "half_life", "schedule", "switch", "ball", "radius", "implicit", "period", "theta", "l2", "half_step", "penalty", "groups", "lower", "upper", "beta", "prox", "a", "b", "dimension", "delta", "metric", "beta1", "beta2", "epsilon", "rho", "forgetting", "order", "metric_alpha", "delta_p", "kernel", "variances", "degrees", "dictionary_max", "dictionary_threshold",)

    def __init__(
        self,
        algorithm: str = "auto",
        *,
        loss: Any = None,
        huber_delta: Any = None,
        quantile: Any = None,
        normalize: Any = None,
        no_clip_predictions: Any = None,
        rate: Any = None,
        l1: Any = None,
        half_life: Any = None,
        schedule: Any = None,
        switch: Any = None,
        ball: Any = None,
        radius: Any = None,
        implicit: Any = None,
        period: Any = None,
        theta: Any = None,
        l2: Any = None,
        half_step: Any = None,
        penalty: Any = None,
        groups: Any = None,
        lower: Any = None,
        upper: Any = None,
        beta: Any = None,
        prox: Any = None,
        a: Any = None,
        b: Any = None,
        dimension: Any = None,
        delta: Any = None,
        metric: Any = None,
        beta1: Any = None,
        beta2: Any = None,
        epsilon: Any = None,
        rho: Any = None,
        forgetting: Any = None,
        order: Any = None,
        metric_alpha: Any = None,
        delta_p: Any = None,
        kernel: Any = None,
        variances: Any = None,
        degrees: Any = None,
        dictionary_max: Any = None,
        dictionary_threshold: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.algorithm = algorithm
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.half_life = half_life
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.period = period
        self.theta = theta
        self.l2 = l2
        self.half_step = half_step
        self.penalty = penalty
        self.groups = groups
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.prox = prox
        self.a = a
        self.b = b
        self.dimension = dimension
        self.delta = delta
        self.metric = metric
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.rho = rho
        self.forgetting = forgetting
        self.order = order
        self.metric_alpha = metric_alpha
        self.delta_p = delta_p
        self.kernel = kernel
        self.variances = variances
        self.degrees = degrees
        self.dictionary_max = dictionary_max
        self.dictionary_threshold = dictionary_threshold
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AutoRegressor(Regressor):
    """``auto``: FTRL-Proximal on normalized rows (Ross et al. 2013), rate and l1 by a race.

    Loss: tangent. Penalty: once.
    Center: iterate, AdaGrad. Cost: O(nnz), 16 times at first and once at the end.

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        alpha; a race finds it if absent; a finite number > 0
    l1
        strength of |w|; a race finds it if absent; a finite number >= 0
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade; a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AutoRegressor
    >>> model = AutoRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "auto"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "half_life",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float | None = None,
        l1: float | None = None,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.half_life = half_life
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class SGDRegressor(Regressor):
    """``sgd``: Zinkevich 2003.

    Loss: tangent or exact. Penalty: none; l1 or l2 ball.
    Center: iterate, schedule. Cost: O(nnz); l1 ball O(features).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    ball
        project on a ball after each step; one of none, l1, l2
    radius
        the ball's radius; a finite number > 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import SGDRegressor
    >>> model = SGDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "sgd"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "ball", "radius", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class ASGDRegressor(Regressor):
    """``asgd``: Polyak and Juditsky 1992.

    Loss: tangent or exact. Penalty: none; l1 or l2 ball.
    Center: iterate, schedule; the mean is read. Cost: O(nnz); with a ball O(features).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    ball
        project on a ball after each step; one of none, l1, l2
    radius
        the ball's radius; a finite number > 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import ASGDRegressor
    >>> model = ASGDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "asgd"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "ball", "radius", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.ball = ball
        self.radius = radius
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class SubgradientL1Regressor(Regressor):
    """``subgradient-l1``: Langford, Li and Zhang 2009, section 3.

    Loss: tangent. Penalty: l1, its subgradient.
    Center: iterate, schedule. Cost: O(nnz) at a constant rate, else rounds missed are replayed.

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import SubgradientL1Regressor
    >>> model = SubgradientL1Regressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "subgradient-l1"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class TruncationRegressor(Regressor):
    """``truncation``: Langford, Li and Zhang 2009.

    Loss: tangent. Penalty: cut below theta, every k-th round.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    period
        every how many rounds (k, K); a whole number >= 1
    theta
        weights up to it are cut; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import TruncationRegressor
    >>> model = TruncationRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "truncation"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "period", "theta",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        period: int = 1,
        theta: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.period = period
        self.theta = theta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class TruncatedGradientRegressor(Regressor):
    """``truncated-gradient``: Langford, Li and Zhang 2009.

    Loss: tangent. Penalty: l1 below theta, every k-th round.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    theta
        weights beyond it are left alone; a number >= 0 or "inf"
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import TruncatedGradientRegressor
    >>> model = TruncatedGradientRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "truncated-gradient"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period", "theta",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        theta: Any = "inf",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.theta = theta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FOBOSRegressor(Regressor):
    """``fobos``: Duchi and Singer 2009; caught up exactly.

    Loss: tangent. Penalty: linearized: elastic net, bounds, l2 norm, linf, groups.
    Center: iterate, schedule. Cost: O(nnz); linf O(features).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    half_step
        eta of the proximal half: eta_t or eta_{t+1}; one of same, next
    penalty
        the penalty; the norms' strength is l1; one of elastic, nonnegative, box, l2-norm, linf, group. None: elastic
    groups
        the groups of the group penalty, lists of feature ids; a list of lists of feature ids
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FOBOSRegressor
    >>> model = FOBOSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "fobos"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "l2", "half_step", "penalty", "groups", "lower", "upper",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        half_step: str = "same",
        penalty: Any = None,
        groups: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.l2 = l2
        self.half_step = half_step
        self.penalty = penalty
        self.groups = groups
        self.lower = lower
        self.upper = upper
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazyFOBOSRegressor(Regressor):
    """``lazy-fobos``: lazy thesis 2014, Algorithm 1.

    Loss: tangent. Penalty: l1, l2 norm or linf at block ends.
    Center: iterate, schedule. Cost: O(nnz); linf O(features) per block.

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    penalty
        the penalty, of strength l1; one of l1, l2-norm, linf. None: l1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazyFOBOSRegressor
    >>> model = LazyFOBOSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "lazy-fobos"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period", "penalty",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        penalty: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.penalty = penalty
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazySplittingRegressor(Regressor):
    """``lazy-splitting``: lazy thesis 2014, Algorithm 2.

    Loss: tangent. Penalty: l1: own part at once, the rest at block ends.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        every how many rounds (k, K); a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazySplittingRegressor
    >>> model = LazySplittingRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "lazy-splitting"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: int = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LazySparseRegressor(Regressor):
    """``lazy-sparse``: lazy thesis 2014, Algorithm 3 as printed.

    Loss: tangent at stale weights. Penalty: l1, paid when touched.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    period
        K: apply the penalty to all weights every K rounds; a whole number >= 1 or "none"
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LazySparseRegressor
    >>> model = LazySparseRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "lazy-sparse"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "schedule", "switch", "l1", "period",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        l1: float | None = None,
        period: Any = "none",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.l1 = l1
        self.period = period
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class RDARegressor(Regressor):
    """``rda``: Xiao 2010.

    Loss: tangent. Penalty: every round.
    Center: origin, beta_t. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    beta
        beta_t: sqrt(t)/rate; with l2 > 0 also 0, l2, l2 (1 + ln t); one of sqrt, zero, constant, log
    prox
        h = |w|^2/2, or the penalty itself over l2; one of half, psi
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import RDARegressor
    >>> model = RDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "rda"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "beta", "prox",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        beta: str = "sqrt",
        prox: str = "half",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.prox = prox
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class GeneralizedRDARegressor(Regressor):
    """``generalized-rda``: Ushio 2018, eq. 3.1.

    Loss: tangent. Penalty: t^(a+b) times.
    Center: origin, t^b. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    a
        exponent of the threshold; a finite number
    b
        exponent of the stabilizer; a finite number
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import GeneralizedRDARegressor
    >>> model = GeneralizedRDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "generalized-rda"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "a", "b",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        l1: float | None = None,
        a: float = 0.5,
        b: float = 0.5,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.a = a
        self.b = b
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class DualAveragingRegressor(Regressor):
    """``dual-averaging``: Nesterov 2009.

    Loss: tangent. Penalty: indicator of a ball or simplex.
    Center: origin, sqrt(t). Cost: O(nnz) in the l2 ball, else O(features).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    ball
        the set; over the simplex the Kullback-Leibler divergence; one of l1, l2, simplex-kl
    radius
        the ball's radius; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import DualAveragingRegressor
    >>> model = DualAveragingRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "dual-averaging"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "ball", "radius", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        ball: str = "l2",
        radius: float = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.ball = ball
        self.radius = radius
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaGradRDARegressor(Regressor):
    """``adagrad-rda``: Duchi, Hazan and Singer 2011.

    Loss: tangent. Penalty: every round.
    Center: origin, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    delta
        added to the root of the sum of g^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaGradRDARegressor
    >>> model = AdaGradRDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "adagrad-rda"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "delta",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaGradFOBOSRegressor(Regressor):
    """``adagrad-fobos``: Duchi, Hazan and Singer 2011.

    Loss: tangent. Penalty: linearized.
    Center: iterate, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    delta
        added to the root of the sum of g^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaGradFOBOSRegressor
    >>> model = AdaGradFOBOSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "adagrad-fobos"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "delta",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTRLRegressor(Regressor):
    """``ftrl``: McMahan et al. 2013 (FTRL-Proximal as deployed).

    Loss: tangent. Penalty: once.
    Center: iterate, AdaGrad. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        alpha; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 1 if no other penalty is passed, else 0
    l2
        strength of w^2/2; a finite number >= 0. None: 0
    penalty
        the penalty of each weight; nonnegative and box also bound it; one of elastic, nonnegative, box. None: elastic
    lower
        smallest weight allowed, at most 0 (penalty box only); a finite number <= 0
    upper
        largest weight allowed, at least 0 (penalty box only); a finite number >= 0
    beta
        beta; a finite number >= 0
    half_life
        learned rows after which a row counts half, for streams that drift; without it rows never fade; a whole number >= 1
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTRLRegressor
    >>> model = FTRLRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "ftrl"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "l2", "penalty", "lower", "upper", "beta", "half_life",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        l2: float | None = None,
        penalty: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        beta: float = 1,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.l2 = l2
        self.penalty = penalty
        self.lower = lower
        self.upper = upper
        self.beta = beta
        self.half_life = half_life
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class COMIDRegressor(Regressor):
    """``comid``: Duchi et al. 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: linearized.
    Center: iterate. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import COMIDRegressor
    >>> model = COMIDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "comid"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTPRLRegressor(Regressor):
    """``ftprl``: McMahan and Streeter 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: every round.
    Center: iterate. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTPRLRegressor
    >>> model = FTPRLRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "ftprl"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AOGDRegressor(Regressor):
    """``aogd``: Bartlett et al. 2007; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: linearized.
    Center: origin. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AOGDRegressor
    >>> model = AOGDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "aogd"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class UnifiedRDARegressor(Regressor):
    """``unified-rda``: Xiao 2010; McMahan 2011, table row.

    Loss: tangent or exact. Penalty: every round.
    Center: origin. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta = 1/gamma; a finite number > 0
    l1
        strength of |w|; a finite number >= 0. None: 0.0001 if no other penalty is passed, else 0
    metric
        h = sqrt(t)/rate or (beta + sqrt(sum g^2))/rate; one of sqrt, adagrad
    beta
        added to the root of the sum of g^2; a finite number >= 0
    implicit
        take the loss itself, not its tangent; true or false
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import UnifiedRDARegressor
    >>> model = UnifiedRDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "unified-rda"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "l1", "metric", "beta", "implicit",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        metric: str = "adagrad",
        beta: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.metric = metric
        self.beta = beta
        self.implicit = implicit
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdamRegressor(Regressor):
    """``adam``: Kingma and Ba 2015.

    Loss: tangent. Penalty: none.
    Center: moving averages. Cost: O(nnz); a visit replays the rounds missed while they matter.

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta; a finite number > 0
    beta1
        decay of the first moment; a number >= 0 and < 1
    beta2
        decay of the second moment; a number >= 0 and < 1
    epsilon
        added to the root; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdamRegressor
    >>> model = AdamRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "adam"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "beta1", "beta2", "epsilon",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        epsilon: float = 1e-08,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.beta1 = beta1
        self.beta2 = beta2
        self.epsilon = epsilon
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class AdaDeltaRegressor(Regressor):
    """``adadelta``: Zeiler 2012.

    Loss: tangent. Penalty: none.
    Center: moving averages. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        a factor on the step, 1 in the paper; a finite number > 0
    rho
        decay of both averages; a number >= 0 and < 1
    epsilon
        added under both roots; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import AdaDeltaRegressor
    >>> model = AdaDeltaRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "adadelta"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "rate", "rho", "epsilon",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 1,
        rho: float = 0.95,
        epsilon: float = 1e-06,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.rho = rho
        self.epsilon = epsilon
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class FTLRegressor(Regressor):
    """``ftl``: follow the leader, for study.

    Loss: tangent. Penalty: indicator of the l2 ball.
    Center: none. Cost: O(nnz).

    Parameters
    ----------
    loss
        the loss; one of squared, huber, quantile, poisson
    huber_delta
        where the Huber loss becomes a line (huber only; 1); a finite number > 0
    quantile
        which quantile (quantile only; 0.5); a number between 0 and 1
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    radius
        the ball's radius; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import FTLRegressor
    >>> model = FTLRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.nonzeros_ <= 2
    True
    """

    _algorithm = "ftl"
    _settings = ("loss", "huber_delta", "quantile", "normalize", "no_clip_predictions", "radius",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        radius: float = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.huber_delta = huber_delta
        self.quantile = quantile
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.radius = radius
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class CSGDRegressor(Regressor):
    """``csgd``: Mu et al. 2013; in O(nnz) by two vectors.

    Loss: tangent. Penalty: none; the plane of the mean row.
    Center: iterate, two-phase schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import CSGDRegressor
    >>> model = CSGDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "csgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        schedule: str = "two-phase",
        switch: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class NCSGDRegressor(Regressor):
    """``ncsgd``: Mu et al. 2013; in O(nnz) by two vectors.

    Loss: tangent. Penalty: none; the plane of the mean row.
    Center: iterate, schedule. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, eta_0; a finite number > 0
    schedule
        how eta_t falls; one of constant, sqrt, inverse, two-phase
    switch
        m of the two-phase schedule; half the rows if absent; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import NCSGDRegressor
    >>> model = NCSGDRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "ncsgd"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "schedule", "switch",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.schedule = schedule
        self.switch = switch
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class RLSRegressor(Regressor):
    """``rls``: recursive least squares; 2SGD of Mu et al. 2013.

    Loss: exact. Penalty: delta w^2/2.
    Center: origin, all rows' second moments. Cost: O(features^2).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    delta
        the ridge: P_0 = I/delta; a finite number > 0
    forgetting
        lambda: what a row's weight keeps each round; a number > 0 and <= 1
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import RLSRegressor
    >>> model = RLSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "rls"
    _settings = ("loss", "normalize", "no_clip_predictions", "delta", "forgetting", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        delta: float = 0.01,
        forgetting: float = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.delta = delta
        self.forgetting = forgetting
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class LMSRegressor(Regressor):
    """``lms``: Widrow and Hoff 1960.

    Loss: tangent. Penalty: none.
    Center: iterate, constant. Cost: O(nnz).

    Parameters
    ----------
    loss
        the squared error; one of squared
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, constant; a finite number > 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import LMSRegressor
    >>> model = LMSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "lms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate",)

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class NLMSRegressor(Regressor):
    """``nlms``: Nagumo and Noda 1967.

    Loss: projection. Penalty: none.
    Center: iterate, constant. Cost: O(nnz).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import NLMSRegressor
    >>> model = NLMSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "nlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class APARegressor(Regressor):
    """``apa``: Ozeki and Umeda 1984.

    Loss: projection on the last r rows. Penalty: none.
    Center: iterate, constant. Cost: O(nnz) for r = 1, else O(r features + r^3).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import APARegressor
    >>> model = APARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "apa"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PAPARegressor(Regressor):
    """``papa``: Ushio 2018, eq. 3.5; Gansler et al. 2000.

    Loss: projection on the last r rows. Penalty: none.
    Center: iterate, metric of the weights. Cost: O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PAPARegressor
    >>> model = PAPARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "papa"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        alpha: float = 0.5,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PNLMSRegressor(Regressor):
    """``pnlms``: Duttweiler 2000.

    Loss: projection. Penalty: none.
    Center: iterate, gains of the weights. Cost: O(features).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    rho
        the smallest gain over the largest; a number from 0 to 1
    delta_p
        stands for the largest weight at first; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PNLMSRegressor
    >>> model = PNLMSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "pnlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "rho", "delta_p", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        rho: float = 0.01,
        delta_p: float = 0.01,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.rho = rho
        self.delta_p = delta_p
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class IPNLMSRegressor(Regressor):
    """``ipnlms``: Benesty and Gay 2002.

    Loss: projection. Penalty: none.
    Center: iterate, gains of the weights. Cost: O(features).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    delta
        added to the normalizer; a finite number >= 0
    a
        from -1 (NLMS) to 1 (proportional); a number from -1 to 1
    epsilon
        keeps the gains finite at the origin; a finite number > 0
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import IPNLMSRegressor
    >>> model = IPNLMSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "ipnlms"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "delta", "a", "epsilon", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        delta: float = 1e-05,
        a: float = 0,
        epsilon: float = 1e-05,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.delta = delta
        self.a = a
        self.epsilon = epsilon
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class APFBSRegressor(Regressor):
    """``apfbs``: Murakami et al. 2010; Ushio 2018, eq. 2.10.

    Loss: projection on the last r rows. Penalty: linearized, weighted by the metric.
    Center: iterate, identity or metric of the weights. Cost: O(nnz) with the identity and r = 1, else O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    l1
        strength of |w|; a finite number >= 0. None: 0.001 if no other penalty is passed, else 0
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; absent: the identity; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import APFBSRegressor
    >>> model = APFBSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "apfbs"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        delta: float = 1e-05,
        alpha: float | None = None,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class PDARegressor(Regressor):
    """``pda``: Ushio 2018, eq. 3.4.

    Loss: projection on the last r rows. Penalty: once, weighted by the metric.
    Center: origin, identity or metric of the weights. Cost: O(nnz) with the identity and r = 1, else O(r^2 features).

    Parameters
    ----------
    loss
        what a row allows: w.x = y (regression) or y w.x >= 1 (classification); one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step (0.5 for signals); a number > 0 and < 2
    l1
        strength of |w|; a finite number >= 0. None: 0.1 if no other penalty is passed, else 0
    delta
        added to the normalizer; a finite number >= 0
    alpha
        the identity's share in the metric; absent: the identity; a number from 0 to 1
    epsilon
        keeps the metric finite at zero weights; a finite number > 0
    order
        r: how many rows are projected on at once; a whole number from 1 to 64
    dimension
        number of features; found by a scan of the data if absent; a whole number from 1 to 4294967295
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    fit_intercept
        whether there is a bias, which is never penalized
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import PDARegressor
    >>> model = PDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "pda"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "delta", "alpha", "epsilon", "order", "dimension",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        l1: float | None = None,
        delta: float = 1e-05,
        alpha: float | None = None,
        epsilon: float = 1e-05,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.delta = delta
        self.alpha = alpha
        self.epsilon = epsilon
        self.order = order
        self.dimension = dimension
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.fit_intercept = fit_intercept
        self.precision = precision


class MultiKernelPDARegressor(Regressor):
    """``multikernel-pda``: Ushio 2018, appendix A.3.

    Loss: projection. Penalty: norms of the dictionary's columns, once.
    Center: origin, constant. Cost: O(dictionary (nnz + kernels)).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step; a number > 0 and < 2
    l1
        strength of the columns' norms; a finite number >= 0. None: 0.001 if no other penalty is passed, else 0
    kernel
        the kernels, one or more; one or a list of gaussian, linear, polynomial
    variances
        of the Gaussians (gaussian only; 0.01, 0.1, 1, 10); a list of finite numbers > 0
    degrees
        of the polynomials (polynomial only; 2); a list of whole numbers >= 1
    dictionary_max
        r_max: from this size on the dictionary is refined; no upper limit; a whole number >= 1
    dictionary_threshold
        refining drops the rows whose coefficients have a norm below it; a finite number >= 0
    delta
        added to |K|^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import MultiKernelPDARegressor
    >>> model = MultiKernelPDARegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "multikernel-pda"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "kernel", "variances", "degrees", "dictionary_max", "dictionary_threshold", "delta",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.3,
        l1: float | None = None,
        kernel: str = "gaussian",
        variances: float | None = None,
        degrees: int | None = None,
        dictionary_max: int = 100,
        dictionary_threshold: float = 0.001,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.kernel = kernel
        self.variances = variances
        self.degrees = degrees
        self.dictionary_max = dictionary_max
        self.dictionary_threshold = dictionary_threshold
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.precision = precision


class MultiKernelAPFBSRegressor(Regressor):
    """``multikernel-apfbs``: Yukawa and Ishii 2013; Ushio 2018, appendix A.3.

    Loss: projection. Penalty: norms of the dictionary's columns, linearized.
    Center: iterate, constant. Cost: O(dictionary (nnz + kernels)).

    Parameters
    ----------
    loss
        a row allows w.x = y; one of projection
    normalize
        bring features, and numeric labels, to a common scale as they come; true or false
    no_clip_predictions
        with normalize: do not clip predicted numbers to the range of the labels learned; true or false
    rate
        eta, the step; a number > 0 and < 2
    l1
        strength of the columns' norms; a finite number >= 0. None: 1e-05 if no other penalty is passed, else 0
    kernel
        the kernels, one or more; one or a list of gaussian, linear, polynomial
    variances
        of the Gaussians (gaussian only; 0.01, 0.1, 1, 10); a list of finite numbers > 0
    degrees
        of the polynomials (polynomial only; 2); a list of whole numbers >= 1
    dictionary_max
        r_max: from this size on the dictionary is refined; no upper limit; a whole number >= 1
    dictionary_threshold
        refining drops the rows whose coefficients have a norm below it; a finite number >= 0
    delta
        added to |K|^2; a finite number >= 0
    passes
        how often ``fit`` goes over the rows
    shuffle
        whether ``fit`` takes the rows in an order of its own, or as they stand
    random_state
        the seed of that order; None is 0
    precision
        f64 or f32

    Examples
    --------
    >>> from parsimon import MultiKernelAPFBSRegressor
    >>> model = MultiKernelAPFBSRegressor().fit([[1.0, 0.0], [0.0, 1.0]] * 50, [1.0, 0.0] * 50)
    >>> model.predict([[1.0, 0.0]]) > model.predict([[0.0, 1.0]])
    array([ True])
    """

    _algorithm = "multikernel-apfbs"
    _settings = ("loss", "normalize", "no_clip_predictions", "rate", "l1", "kernel", "variances", "degrees", "dictionary_max", "dictionary_threshold", "delta",)

    def __init__(
        self,
        *,
        loss: str = "projection",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.3,
        l1: float | None = None,
        kernel: str = "gaussian",
        variances: float | None = None,
        degrees: int | None = None,
        dictionary_max: int = 100,
        dictionary_threshold: float = 0.001,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        precision: str = "f64",
    ) -> None:
        self.loss = loss
        self.normalize = normalize
        self.no_clip_predictions = no_clip_predictions
        self.rate = rate
        self.l1 = l1
        self.kernel = kernel
        self.variances = variances
        self.degrees = degrees
        self.dictionary_max = dictionary_max
        self.dictionary_threshold = dictionary_threshold
        self.delta = delta
        self.passes = passes
        self.shuffle = shuffle
        self.random_state = random_state
        self.precision = precision
