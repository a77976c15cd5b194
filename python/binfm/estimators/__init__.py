"""scikit-learn estimators: `binfm.BinFMClassifier` and `binfm.BinFMRegressor`."""

try:
    from sklearn.utils.validation import validate_data as _since_1_6  # noqa: F401
except ImportError:
    raise ImportError("binfm's estimators need scikit-learn 1.6 or newer: pip install 'binfm[sklearn]'") from None

from binfm.estimators.classifier import BinFMClassifier
from binfm.estimators.regressor import BinFMRegressor

__all__ = ["BinFMClassifier", "BinFMRegressor"]
