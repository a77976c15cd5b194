"""How much of the variance of the score each feature explains: `model.feature_importances()`.

If features vary independently, the variance of the score is the sum of the variances of all main effects and
interactions. A feature has that of its main effect, and half of each of its interactions: its Shapley effect (A. B.
Owen, Sobol' indices and Shapley value, 2014). With A_f the deviations β·(u − ū) of the cells of f, each times the root
of its weight, and G_f = A_fᵀ A_f, the interactions of f have Σ_{g≠f} |A_f A_gᵀ|² = ⟨G_f, Σ_g G_g − G_f⟩.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from binfm.reading._reference import Reference


def importances(reference: Reference) -> NDArray[np.float64]:
    """Return the share of each column in the variance of the scores; zeros if they do not vary."""
    variances = np.maximum(reference.variances, 0).sum(axis=0)
    for output in range(reference.parts.outputs):
        variances = variances + _of_pairs(reference, output) / 2
    total = variances.sum()
    shares: NDArray[np.float64] = variances / total if total > 0 else np.zeros_like(variances)
    return shares


def _of_pairs(reference: Reference, output: int) -> NDArray[np.float64]:
    """Return the variance of all interactions of each feature."""
    used = np.flatnonzero(reference.parts.sizes > 0)
    total: NDArray[np.float64] = sum((_gram(reference, f, output) for f in used.tolist()), np.zeros(()))
    found = np.zeros(reference.parts.features)
    for f in used.tolist():
        own = _gram(reference, f, output)
        found[f] = max(0.0, float(np.vdot(own, total - own)))
    return found


def _gram(reference: Reference, feature: int, output: int) -> NDArray[np.float64]:
    shares = np.append(reference.weights[reference.parts.of(feature)], reference.absent[feature])
    deviations = reference.deviations(feature)[output]
    gram: NDArray[np.float64] = deviations.T @ (np.maximum(shares, 0)[:, None] * deviations)
    return gram
