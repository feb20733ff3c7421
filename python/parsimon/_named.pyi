# Every method under a name of its own. Written by python/tools/named.py from the registry: do not edit.

from typing import Any, NamedTuple

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
    "NAGClassifier",
    "PAClassifier",
    "AROWClassifier",
    "SCWClassifier",
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
    "NAGRegressor",
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

class Keyword(NamedTuple):
    name: str
    default: Any
    type: str
    about: str

class Description(NamedTuple):
    name: str
    base: type
    algorithm: str | None
    about: list[str]
    keywords: list[Keyword]
    @property
    def frame(self) -> list[Keyword]: ...
    @property
    def doc(self) -> str: ...

def descriptions() -> list[Description]: ...

class ParsimonClassifier(Classifier):
    """Any method by its name, for classes."""

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
        half_lives: Any = None,
        metric: Any = None,
        schedule: Any = None,
        switch: Any = None,
        power: Any = None,
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
        penalty_factor: Any = None,
        beta: Any = None,
        prox: Any = None,
        a: Any = None,
        b: Any = None,
        mirror: Any = None,
        sigma: Any = None,
        dimension: Any = None,
        delta: Any = None,
        beta1: Any = None,
        beta2: Any = None,
        epsilon: Any = None,
        rho: Any = None,
        exponent: Any = None,
        start: Any = None,
        slack: Any = None,
        aggressiveness: Any = None,
        r: Any = None,
        phi: Any = None,
        forgetting: Any = None,
        order: Any = None,
        metric_alpha: Any = None,
        delta_p: Any = None,
        l1_metric: Any = None,
        growing_l1: Any = None,
        passes: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AutoClassifier(Classifier):
    """``auto``: FTRL-Proximal on normalized rows (Ross et al. 2013), rate and l1 by a race."""

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
        half_lives: bool = False,
        metric: str = "loss",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SGDClassifier(Classifier):
    """``sgd``: Zinkevich 2003."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class ASGDClassifier(Classifier):
    """``asgd``: Polyak and Juditsky 1992."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SubgradientL1Classifier(Classifier):
    """``subgradient-l1``: Langford, Li and Zhang 2009, section 3."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class TruncationClassifier(Classifier):
    """``truncation``: Langford, Li and Zhang 2009."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        period: int = 1,
        theta: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class TruncatedGradientClassifier(Classifier):
    """``truncated-gradient``: Langford, Li and Zhang 2009."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        theta: Any = "inf",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FOBOSClassifier(Classifier):
    """``fobos``: Duchi and Singer 2009; caught up exactly."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        half_step: str = "same",
        penalty: Any = None,
        groups: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        penalty_factor: dict[str, float] | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazyFOBOSClassifier(Classifier):
    """``lazy-fobos``: lazy thesis 2014, Algorithm 1."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        penalty: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazySplittingClassifier(Classifier):
    """``lazy-splitting``: lazy thesis 2014, Algorithm 2."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazySparseClassifier(Classifier):
    """``lazy-sparse``: lazy thesis 2014, Algorithm 3 as printed."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        l1: float | None = None,
        period: Any = "none",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class RDAClassifier(Classifier):
    """``rda``: Xiao 2010."""

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
        penalty_factor: dict[str, float] | None = None,
        beta: str = "sqrt",
        prox: str = "half",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class GeneralizedRDAClassifier(Classifier):
    """``generalized-rda``: Ushio 2018, eq. 3.1."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class DualAveragingClassifier(Classifier):
    """``dual-averaging``: Nesterov 2009."""

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
        mirror: bool = False,
        sigma: float | None = None,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaGradRDAClassifier(Classifier):
    """``adagrad-rda``: Duchi, Hazan and Singer 2011."""

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
        penalty_factor: dict[str, float] | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaGradFOBOSClassifier(Classifier):
    """``adagrad-fobos``: Duchi, Hazan and Singer 2011."""

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
        penalty_factor: dict[str, float] | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTRLClassifier(Classifier):
    """``ftrl``: McMahan et al. 2013 (FTRL-Proximal as deployed)."""

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
        penalty_factor: dict[str, float] | None = None,
        beta: float = 1,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class COMIDClassifier(Classifier):
    """``comid``: Duchi et al. 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTPRLClassifier(Classifier):
    """``ftprl``: McMahan and Streeter 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AOGDClassifier(Classifier):
    """``aogd``: Bartlett et al. 2007; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class UnifiedRDAClassifier(Classifier):
    """``unified-rda``: Xiao 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdamClassifier(Classifier):
    """``adam``: Kingma and Ba 2015."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaDeltaClassifier(Classifier):
    """``adadelta``: Zeiler 2012."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NAGClassifier(Classifier):
    """``nag``: Ross, Mineiro and Langford 2013; steps of Karampatziakis and Langford 2011."""

    def __init__(
        self,
        *,
        loss: str = "logistic",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        exponent: float = 0.5,
        start: float = 0,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PAClassifier(Classifier):
    """``pa``: Crammer et al. 2006."""

    def __init__(
        self,
        *,
        loss: str = "hinge",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        slack: str = "linear",
        aggressiveness: float = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AROWClassifier(Classifier):
    """``arow``: Crammer, Kulesza and Dredze 2009."""

    def __init__(
        self,
        *,
        loss: str = "hinge",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        r: float = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SCWClassifier(Classifier):
    """``scw``: Wang, Zhao and Hoi 2012."""

    def __init__(
        self,
        *,
        loss: str = "hinge",
        class_weight: str | dict[Any, float] | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        phi: float = 1,
        slack: str = "linear",
        aggressiveness: float = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTLClassifier(Classifier):
    """``ftl``: follow the leader, for study."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class CSGDClassifier(Classifier):
    """``csgd``: Mu et al. 2013; in O(nnz) by two vectors."""

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        schedule: str = "two-phase",
        switch: float | None = None,
        power: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NCSGDClassifier(Classifier):
    """``ncsgd``: Mu et al. 2013; in O(nnz) by two vectors."""

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class RLSClassifier(Classifier):
    """``rls``: recursive least squares; 2SGD of Mu et al. 2013."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdalineClassifier(Classifier):
    """``adaline``: Widrow and Hoff 1960."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class CAdalineClassifier(Classifier):
    """``c-adaline``: Mu et al. 2013."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LMSClassifier(Classifier):
    """``lms``: Widrow and Hoff 1960."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NLMSClassifier(Classifier):
    """``nlms``: Nagumo and Noda 1967."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class APAClassifier(Classifier):
    """``apa``: Ozeki and Umeda 1984."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PAPAClassifier(Classifier):
    """``papa``: Ushio 2018, eq. 3.5; Gansler et al. 2000."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PNLMSClassifier(Classifier):
    """``pnlms``: Duttweiler 2000."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class IPNLMSClassifier(Classifier):
    """``ipnlms``: Benesty and Gay 2002."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class APFBSClassifier(Classifier):
    """``apfbs``: Murakami et al. 2010; Ushio 2018, section 3.6.1 and eq. A.19."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PDAClassifier(Classifier):
    """``pda``: Ushio 2018, eq. 3.4."""

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
        l1_metric: str = "squared",
        growing_l1: bool = False,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class ParsimonRegressor(Regressor):
    """Any method by its name, for numbers."""

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
        half_lives: Any = None,
        metric: Any = None,
        schedule: Any = None,
        switch: Any = None,
        power: Any = None,
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
        penalty_factor: Any = None,
        beta: Any = None,
        prox: Any = None,
        a: Any = None,
        b: Any = None,
        mirror: Any = None,
        sigma: Any = None,
        dimension: Any = None,
        delta: Any = None,
        beta1: Any = None,
        beta2: Any = None,
        epsilon: Any = None,
        rho: Any = None,
        exponent: Any = None,
        start: Any = None,
        forgetting: Any = None,
        order: Any = None,
        metric_alpha: Any = None,
        delta_p: Any = None,
        l1_metric: Any = None,
        growing_l1: Any = None,
        kernel: Any = None,
        variances: Any = None,
        degrees: Any = None,
        dictionary_max: Any = None,
        dictionary_threshold: Any = None,
        passes: int | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AutoRegressor(Regressor):
    """``auto``: FTRL-Proximal on normalized rows (Ross et al. 2013), rate and l1 by a race."""

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
        half_lives: bool = False,
        metric: str = "loss",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SGDRegressor(Regressor):
    """``sgd``: Zinkevich 2003."""

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
        power: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class ASGDRegressor(Regressor):
    """``asgd``: Polyak and Juditsky 1992."""

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
        power: float | None = None,
        ball: str = "none",
        radius: float = 1,
        implicit: bool = False,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class SubgradientL1Regressor(Regressor):
    """``subgradient-l1``: Langford, Li and Zhang 2009, section 3."""

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
        power: float | None = None,
        l1: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class TruncationRegressor(Regressor):
    """``truncation``: Langford, Li and Zhang 2009."""

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
        power: float | None = None,
        period: int = 1,
        theta: float = 0.01,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class TruncatedGradientRegressor(Regressor):
    """``truncated-gradient``: Langford, Li and Zhang 2009."""

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
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        theta: Any = "inf",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FOBOSRegressor(Regressor):
    """``fobos``: Duchi and Singer 2009; caught up exactly."""

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
        power: float | None = None,
        l1: float | None = None,
        l2: float | None = None,
        half_step: str = "same",
        penalty: Any = None,
        groups: Any = None,
        lower: float | None = None,
        upper: float | None = None,
        penalty_factor: dict[str, float] | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazyFOBOSRegressor(Regressor):
    """``lazy-fobos``: lazy thesis 2014, Algorithm 1."""

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
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        penalty: Any = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazySplittingRegressor(Regressor):
    """``lazy-splitting``: lazy thesis 2014, Algorithm 2."""

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
        power: float | None = None,
        l1: float | None = None,
        period: int = 1,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LazySparseRegressor(Regressor):
    """``lazy-sparse``: lazy thesis 2014, Algorithm 3 as printed."""

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
        power: float | None = None,
        l1: float | None = None,
        period: Any = "none",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class RDARegressor(Regressor):
    """``rda``: Xiao 2010."""

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
        penalty_factor: dict[str, float] | None = None,
        beta: str = "sqrt",
        prox: str = "half",
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class GeneralizedRDARegressor(Regressor):
    """``generalized-rda``: Ushio 2018, eq. 3.1."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class DualAveragingRegressor(Regressor):
    """``dual-averaging``: Nesterov 2009."""

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
        mirror: bool = False,
        sigma: float | None = None,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaGradRDARegressor(Regressor):
    """``adagrad-rda``: Duchi, Hazan and Singer 2011."""

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
        penalty_factor: dict[str, float] | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaGradFOBOSRegressor(Regressor):
    """``adagrad-fobos``: Duchi, Hazan and Singer 2011."""

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
        penalty_factor: dict[str, float] | None = None,
        delta: float = 1e-05,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTRLRegressor(Regressor):
    """``ftrl``: McMahan et al. 2013 (FTRL-Proximal as deployed)."""

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
        penalty_factor: dict[str, float] | None = None,
        beta: float = 1,
        half_life: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class COMIDRegressor(Regressor):
    """``comid``: Duchi et al. 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTPRLRegressor(Regressor):
    """``ftprl``: McMahan and Streeter 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AOGDRegressor(Regressor):
    """``aogd``: Bartlett et al. 2007; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class UnifiedRDARegressor(Regressor):
    """``unified-rda``: Xiao 2010; McMahan 2011, table row."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdamRegressor(Regressor):
    """``adam``: Kingma and Ba 2015."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class AdaDeltaRegressor(Regressor):
    """``adadelta``: Zeiler 2012."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NAGRegressor(Regressor):
    """``nag``: Ross, Mineiro and Langford 2013; steps of Karampatziakis and Langford 2011."""

    def __init__(
        self,
        *,
        loss: str = "squared",
        huber_delta: float | None = None,
        quantile: float | None = None,
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        exponent: float = 0.5,
        start: float = 0,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class FTLRegressor(Regressor):
    """``ftl``: follow the leader, for study."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class CSGDRegressor(Regressor):
    """``csgd``: Mu et al. 2013; in O(nnz) by two vectors."""

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.1,
        schedule: str = "two-phase",
        switch: float | None = None,
        power: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NCSGDRegressor(Regressor):
    """``ncsgd``: Mu et al. 2013; in O(nnz) by two vectors."""

    def __init__(
        self,
        *,
        loss: str = "squared",
        normalize: bool = False,
        no_clip_predictions: bool = False,
        rate: float = 0.5,
        schedule: str = "sqrt",
        switch: float | None = None,
        power: float | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class RLSRegressor(Regressor):
    """``rls``: recursive least squares; 2SGD of Mu et al. 2013."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class LMSRegressor(Regressor):
    """``lms``: Widrow and Hoff 1960."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class NLMSRegressor(Regressor):
    """``nlms``: Nagumo and Noda 1967."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class APARegressor(Regressor):
    """``apa``: Ozeki and Umeda 1984."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PAPARegressor(Regressor):
    """``papa``: Ushio 2018, eq. 3.5; Gansler et al. 2000."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PNLMSRegressor(Regressor):
    """``pnlms``: Duttweiler 2000."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class IPNLMSRegressor(Regressor):
    """``ipnlms``: Benesty and Gay 2002."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class APFBSRegressor(Regressor):
    """``apfbs``: Murakami et al. 2010; Ushio 2018, section 3.6.1 and eq. A.19."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class PDARegressor(Regressor):
    """``pda``: Ushio 2018, eq. 3.4."""

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
        l1_metric: str = "squared",
        growing_l1: bool = False,
        order: int = 1,
        dimension: int | None = None,
        passes: int = 10,
        shuffle: bool = True,
        random_state: Any = None,
        fit_intercept: bool = True,
        precision: str = "f64",
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class MultiKernelPDARegressor(Regressor):
    """``multikernel-pda``: Ushio 2018, appendix A.3."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...

class MultiKernelAPFBSRegressor(Regressor):
    """``multikernel-apfbs``: Yukawa and Ishii 2013; Ushio 2018, appendix A.3."""

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
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None: ...
