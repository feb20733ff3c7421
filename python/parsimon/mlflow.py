"""Models of parsimon in MLflow: a flavour with ``save_model``, ``log_model`` and ``load_model``, which is a ``python_function`` too.

>>> import mlflow, parsimon.mlflow                                        # doctest: +SKIP
>>> with mlflow.start_run():                                              # doctest: +SKIP
...     info = parsimon.mlflow.log_model(model, name="clicks")
>>> parsimon.mlflow.load_model(info.model_uri)                            # doctest: +SKIP
>>> mlflow.pyfunc.load_model(info.model_uri).predict(X)                   # doctest: +SKIP
"""

from __future__ import annotations

import os
from typing import Any

try:
    from mlflow import pyfunc
    from mlflow.models import Model
    from mlflow.models.model import MLMODEL_FILE_NAME
    from mlflow.models.utils import _save_example
    from mlflow.tracking.artifact_utils import _download_artifact_from_uri
except ImportError:
    raise ImportError("parsimon.mlflow needs MLflow: pip install mlflow") from None

import joblib

from . import __version__
from ._base import _Parsimon

FLAVOR_NAME = "parsimon"
_FILE = "model.joblib"

__all__ = ["FLAVOR_NAME", "get_default_pip_requirements", "load_model", "log_model", "save_model"]


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
    pip_requirements: list[str] | None = None,
    metadata: dict[str, Any] | None = None,
) -> None:
    """Writes a fitted estimator, or a pipeline that ends with one, to a folder in MLflow's format."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not isinstance(last, _Parsimon):
        raise TypeError(f"the model must be an estimator of parsimon or a pipeline that ends with one, got {type(last).__name__}")
    path = os.fspath(path)
    os.makedirs(path, exist_ok=True)
    if os.listdir(path):
        raise FileExistsError(f"the folder {path} is not empty")
    joblib.dump(model, os.path.join(path, _FILE))
    kept = Model() if mlflow_model is None else mlflow_model
    if signature is not None:
        kept.signature = signature
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
        method = (params or {}).get("predict_method", "predict")
        if method not in ("predict", "predict_proba", "predict_log_proba", "decision_function"):
            raise ValueError(f"predict_method must be predict, predict_proba, predict_log_proba or decision_function, got {method!r}")
        return getattr(self.model, method)(model_input)

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
