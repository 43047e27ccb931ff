"""Values of the options of one question, for those who ask what else could have been played."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from arena.analysis.answer_text import OptionValue
from arena.analysis.timeline import AskedQuestion
from arena.valuation.decision_loss import TriedOptions, standard_error, try_options

Z = NormalDist().inv_cdf(0.975)
"""Standard errors in half of a 95 % interval."""


def option_values(question: AskedQuestion, compared: int, many: int) -> tuple[OptionValue, ...]:
    """Return the value of every option of a question, in order, against the `compared` option.

    `many`: other deals to try, at least 2. The same question always gets the same deals.
    """
    (tried,) = try_options([question], many, slow=many)
    return tuple(
        OptionValue(
            lead=float(own.mean()),
            half_width=_half_width(tried, own),
            beyond=float(beyond.mean()),
            beyond_half_width=_half_width(tried, beyond),
            exact=tried.exact,
        )
        for own, beyond in zip(tried.leads, tried.leads - tried.leads[compared], strict=True)
    )


def _half_width(tried: TriedOptions, found: NDArray[np.floating]) -> float:
    return 0.0 if tried.certain else Z * standard_error(found)
