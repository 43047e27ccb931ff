"""Forecasts as text for people. Pure."""

from arena.rules.english import duration
from tournaments.forecast.forecast import WANTED, Forecast, Trial
from tournaments.formats.registry import FORMATS


def forecast_text(forecast: Forecast) -> list[str]:
    """Write a forecast as lines for people."""
    trial = forecast.trial
    took = "longer than the calibration" if forecast.minutes is None else duration(forecast.minutes)
    form = FORMATS[forecast.format]
    about = "" if form.IS_STATIC else "about "
    size = form.describe_forecast(forecast.boards, forecast.most_boards, forecast.rounds)
    asked = "unknown" if forecast.questions is None else f"about {forecast.questions:,}"
    return [
        forecast.event,
        f"{forecast.entrants} bots, {forecast.seats} seats, {size}",
        f"Sittings   {about}{forecast.sittings:,}",
        f"Games      {about}{forecast.games:,}",
        f"Questions  {asked}",
        f"Time       {took} at --jobs {trial.jobs}",
        f"Ratings    ± {forecast.elo_half_width:.0f} Elo, and the difference of two "
        f"± {forecast.lead_half_width:.0f} Elo (95 %)",
        f"           ± {WANTED:.0f} Elo for a difference takes about "
        f"{forecast.boards_for_10_elo:,} boards{form.EACH}",
        f"Measured   {_measured(trial)}",
    ]


def _measured(trial: Trial) -> str:
    if trial.game_s is None or trial.sitting_s is None:
        return f"no game ended in {trial.seconds:.0f} s; measure for longer (--seconds)"
    save = (
        "too few boards to estimate the gain of replaying them"
        if trial.saved is None
        else f"replaying boards makes a game worth {trial.saved:.2f} games"
    )
    return (
        f"{trial.games} games in {trial.seconds:.1f} s; {1000 * trial.game_s:.0f} ms a game, "
        f"{1000 * trial.sitting_s:.0f} ms to start and end a sitting; {save}"
    )
