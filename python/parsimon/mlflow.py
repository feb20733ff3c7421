"""Models of parsimon in MLflow: a flavour with ``save_model``, ``log_model`` and ``load_model``, which is a ``python_function`` too.

>>> import mlflow, parsimon.mlflow                                        # doctest: +SKIP
>>> with mlflow.start_run():                                              # doctest: +SKIP
...     info = parsimon.mlflow.log_model(model, name="clicks")
>>> parsimon.mlflow.load_model(info.model_uri)                            # doctest: +SKIP
>>> mlflow.pyfunc.load_model(info.model_uri).predict(X)                   # doctest: +SKIP

:func:`autolog` logs parameters and metrics of every ``fit``. MLflow's own flavour ``mlflow.sklearn`` works, too: it writes models by skops, which takes the types
that :func:`skops_trusted_types` lists.
"""

from __future__ import annotations

import os
from typing import Any

try:
    import mlflow
    from mlflow import pyfunc
    from mlflow.models import Model, ModelSignature, infer_signature
    from mlflow.models.model import MLMODEL_FILE_NAME
    from mlflow.models.utils import _save_example
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri
    from mlflow.types import DataType, ParamSchema, ParamSpec
    from mlflow.utils.autologging_utils import autologging_integration, get_autologging_config, safe_patch
except ImportError:
    raise ImportError("parsimon.mlflow needs MLflow: pip install mlflow") from None

import joblib

from . import __version__
from ._base import _Parsimon
from ._classifier import Classifier
from ._regressor import Regressor

FLAVOR_NAME = "parsimon"
_FILE = "model.joblib"
_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")

__all__ = ["FLAVOR_NAME", "autolog", "get_default_pip_requirements", "load_model", "log_model", "save_model", "skops_trusted_types"]


def get_default_pip_requirements() -> list[str]:
    """What a server of the model installs."""
    import sklearn

    return [f"parsimon=={__version__}", f"scikit-learn=={sklearn.__version__}"]


def save_model(
    model: Any,
    path: str | os.PathLike[str],
    *,
    mlflow_model: Model | None = None,
    signature: Any = None,
    input_example: Any = None,
    predict_method: str = "predict",
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Writes a fitted estimator, or a pipeline that ends with one, to a folder in MLflow's format.

    ``predict_method`` is what the ``python_function`` calls: ``predict``, ``predict_proba``, ``predict_log_proba`` or ``decision_function``. The signature has
    it as a parameter, so that a caller may ask for another: ``predict(X, params={"predict_method": "predict_proba"})``. Where no
    signature is given, it is inferred from ``input_example``.
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, _Parsimon):
        raise TypeError(f"the model must be an estimator of parsimon or a pipeline that ends with one, got {type(last).__name__}")
    method = _method_of(model, predict_method)
    path = os.fspath(path)
    os.makedirs(path, exist_ok=True)
    if os.listdir(path):
        raise FileExistsError(f"the folder {path} is not empty")
    joblib.dump(model, os.path.join(path, _FILE))
    kept = Model() if mlflow_model is None else mlflow_model
    kept.signature = _with_method(signature, model, input_example, method)
    if metadata is not None:
        kept.metadata = metadata
    if input_example is not None:
        _save_example(kept, input_example, path)
    requirements = pip_requirements if pip_requirements is not None else get_default_pip_requirements()
    with open(os.path.join(path, "requirements.txt"), "w", encoding="utf-8") as file:
        file.write("\n".join(requirements) + "\n")
    with open(os.path.join(path, "conda.yaml"), "w", encoding="utf-8") as file:
        file.write(_conda(requirements))
    with open(os.path.join(path, "python_env.yaml"), "w", encoding="utf-8") as file:
        file.write(_python_env())
    environment = {"virtualenv": "python_env.yaml", "conda": "conda.yaml"}
    pyfunc.add_to_model(kept, loader_module="parsimon.mlflow", data=_FILE, env=environment)
    kept.add_flavor(FLAVOR_NAME, parsimon_version=__version__, data=_FILE)
    kept.save(os.path.join(path, MLMODEL_FILE_NAME))


def _method_of(model: Any, name: str) -> str:
    if name not in _METHODS:
        raise ValueError(f"predict_method must be {', '.join(_METHODS[:-1])} or {_METHODS[-1]}, got {name!r}")
    if not hasattr(model, name):
        raise ValueError(f"the model has no {name}")
    return name


def _with_method(signature: Any, model: Any, example: Any, method: str) -> Any:
    """A signature with the parameter ``predict_method``: MLflow drops parameters that a signature does not have."""
    if signature is None and example is not None:
        rows = example[0] if isinstance(example, tuple) else example
        signature = infer_signature(rows, getattr(model, method)(rows))
    params = [] if signature is None or signature.params is None else list(signature.params.params)
    if all(param.name != "predict_method" for param in params):
        params.append(ParamSpec("predict_method", DataType.string, method))
    inputs, outputs = (None, None) if signature is None else (signature.inputs, signature.outputs)
    return ModelSignature(inputs=inputs, outputs=outputs, params=ParamSchema(params))


def skops_trusted_types(model: Any) -> list[str]:
    """The types of a model that skops does not know, for ``mlflow.sklearn.log_model(model, skops_trusted_types=...)`` and ``skops.io.load(path, trusted=...)``.

    They are classes of parsimon. Any other type is an error.
    """
    import skops.io

    unknown = skops.io.get_untrusted_types(data=skops.io.dumps(model))
    odd = [name for name in unknown if not name.startswith("parsimon.")]
    if odd:
        raise ValueError(f"the model has types that are not of parsimon: {', '.join(odd)}")
    return list(unknown)


@autologging_integration(FLAVOR_NAME)
def autolog(log_models: bool = True, disable: bool = False, silent: bool = False) -> None:
    """Logs every ``fit`` of an estimator from now on: its parameters, and as metrics ``training_score``, ``progressive_loss``, ``nonzeros``, ``rows`` and ``passes``.

    A ``fit`` goes to the active run; where this has the parameters of another ``fit``, to a nested run; where none is active, to a new one. With ``log_models``
    the model is logged, too.
    """
    for base in (Classifier, Regressor):
        safe_patch(FLAVOR_NAME, base, "fit", _logged_fit, manage_run=True)


def _logged_fit(original: Any, self: Any, X: Any, y: Any, *args: Any, **options: Any) -> Any:
    fitted = original(self, X, y, *args, **options)
    params = {name: str(value)[:500] for name, value in fitted.get_params(deep=False).items()}
    run = mlflow.active_run()
    known = {} if run is None else mlflow.get_run(run.info.run_id).data.params
    if known.keys() & params.keys():
        with mlflow.start_run(nested=True):
            _log_fit(fitted, params, X, y)
    else:
        _log_fit(fitted, params, X, y)
    return fitted


def _log_fit(fitted: Any, params: dict[str, str], X: Any, y: Any) -> None:
    mlflow.set_tags({"estimator_name": type(fitted).__name__, "estimator_class": f"{type(fitted).__module__}.{type(fitted).__name__}"})
    mlflow.log_params(params)
    metrics = {"training_score": fitted.score(X, y), "nonzeros": fitted.nonzeros_, "rows": fitted.n_rows_, "passes": fitted.n_iter_}
    if fitted.progressive_loss_ is not None:
        metrics["progressive_loss"] = fitted.progressive_loss_
    mlflow.log_metrics({name: float(value) for name, value in metrics.items()})
    if get_autologging_config(FLAVOR_NAME, "log_models", True):
        log_model(fitted, name="model")


def log_model(model: Any, name: str = "model", **options: Any) -> Any:
    """Logs a model to the active run; ``options`` are those of :func:`save_model`, and ``registered_model_name``."""
    import parsimon.mlflow as flavor

    return Model.log(artifact_path=None, name=name, flavor=flavor, model=model, **options)


def load_model(model_uri: str, dst_path: str | None = None) -> Any:
    """The estimator of a logged or saved model; it can go on learning."""
    folder = _download_artifact_from_uri(artifact_uri=model_uri, output_path=dst_path)
    flavors = Model.load(os.path.join(folder, MLMODEL_FILE_NAME)).flavors
    if FLAVOR_NAME not in flavors:
        raise ValueError(f"{model_uri} is no model of parsimon; it has the flavours {', '.join(flavors)}")
    return joblib.load(os.path.join(folder, flavors[FLAVOR_NAME]["data"]))


class _Predictor:
    """The ``python_function``: rows in, predictions out; ``params={"predict_method": "predict_proba"}`` asks for probabilities."""

    def __init__(self, model: Any):
        self.model = model

    def predict(self, model_input: Any, params: dict[str, Any] | None = None) -> Any:
        return getattr(self.model, _method_of(self.model, (params or {}).get("predict_method", "predict")))(model_input)

    def get_raw_model(self) -> Any:
        return self.model


def _load_pyfunc(path: str) -> _Predictor:
    """What MLflow calls to load the ``python_function``."""
    return _Predictor(joblib.load(path))


def _conda(requirements: list[str]) -> str:
    lines = ["channels:", "- conda-forge", "dependencies:", f"- python={_version()}", "- pip", "- pip:"]
    return "\n".join([*lines, *(f"  - {one}" for one in requirements), "name: mlflow-env", ""])


def _python_env() -> str:
    return f"python: {_version()}\nbuild_dependencies:\n- pip\ndependencies:\n- -r requirements.txt\n"


def _version() -> str:
    import platform

    return platform.python_version()
