"""Simulated boards of known strength, many tests at once, for the sequential test."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tournaments.rating.likelihood_ratio import NELO
from tournaments.rating.sprt import Sprt

Floats = NDArray[np.float64]

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(61)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
ELO = 400 / np.log(10)


class Luck(NamedTuple):
    """What the deal gives seat 0."""

    spread: float
    """Its standard deviation, in Elo (in points for the margin)."""


def simulated(
    settings: Sprt, luck: Luck, rng: np.random.Generator, *, better: bool, shape: tuple[int, int]
) -> Floats:
    """Outcomes of boards of two games whose lead is exactly h1, or h0."""
    lead = settings.h1 if better else settings.h0
    deal = luck.spread * rng.standard_normal(shape)
    if settings.measure == "points":
        # What is left of a hand's luck when the other has it: not all of it, and with heavy tails.
        noise = rng.standard_t(5, (2, *shape))
        return np.asarray(np.round(2 * (lead + 40 * noise.mean(axis=0) + 0.2 * deal)) / 2)
    strength = _strength(settings, lead, luck)
    first, second = (
        rng.random(shape) < 1 / (1 + np.exp(-(strength + sign * deal) / ELO)) for sign in (1, -1)
    )
    return np.asarray((first.astype(np.float64) + second) / 2)


def _strength(settings: Sprt, lead: float, luck: Luck) -> float:
    """Elo of the lead in one game without luck, so that over all deals it comes to `lead`."""
    low, high = -3000.0, 3000.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _lead(settings, middle, luck) < lead else (low, middle)
    return low


def _lead(settings: Sprt, strength: float, luck: Luck) -> float:
    """Return the lead over all deals, by quadrature, in the unit of the hypotheses."""
    p, q = (1 / (1 + np.exp(-(strength + sign * luck.spread * NODES) / ELO)) for sign in (1, -1))
    mean = float(WEIGHTS @ (p + q)) / 2
    if settings.measure == "elo":
        return float(ELO * np.log(mean / (1 - mean)))
    square = float(WEIGHTS @ ((p * (1 - p) + q * (1 - q)) / 4 + (p + q) ** 2 / 4))
    return float(NELO * (mean - 0.5) / np.sqrt(2 * (square - mean**2)))
