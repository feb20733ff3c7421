"""Types that the estimators share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

#: Margins, probabilities, weights.
Floats: TypeAlias = NDArray[np.float64]
#: Classes of any type.
Labels: TypeAlias = NDArray[Any]

if TYPE_CHECKING:
    _Method = TypeVar("_Method", bound=Callable[..., Any])

    def available_if(check: Callable[[Any], bool]) -> Callable[[_Method], _Method]:
        """Keeps the method's type, which scikit-learn's decorator does not."""
        raise NotImplementedError

else:
    from sklearn.utils.metaestimators import available_if

__all__ = ["Floats", "Labels", "available_if"]
