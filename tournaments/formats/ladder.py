"""The ladder: newcomers against the field of a round robin, which may be over. Pure."""

from typing import ClassVar

from tournaments.formats.gauntlet import ChallengeFormat


class Ladder(ChallengeFormat, frozen=True, tag="ladder"):
    """A round robin of the field, perhaps already finished, and each newcomer against the field."""

    USUAL_CHALLENGER: ClassVar[int] = -1
    FIELD_MEETS: ClassVar[bool] = True
