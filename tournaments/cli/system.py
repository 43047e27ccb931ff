"""`boneyard doctor`: what this machine can promise about bots."""

from pathlib import Path

import click

from arena.ui.console import plain_console
from tournaments.cli.options import print_json


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Every attempt at every level, for programs.")
def doctor(as_json: bool) -> None:
    """Try what this machine can promise about bots.

    It takes some seconds. Each level is tried with all probes: small programs that do what a
    cheating bot would, against stand-ins for the referee and for another bot. Nothing of it is
    left behind.

    \b
    Examples:
      boneyard doctor
      boneyard doctor --json
    """
    import msgspec

    from arena.sandbox import report as doctor
    from arena.sandbox.limits import LEVELS
    from arena.sandbox.select import examine_level

    # Events lie below the working folder as a rule.
    findings = [examine_level(level, Path.cwd()) for level in LEVELS]
    if as_json:
        print_json(msgspec.to_builtins(findings))
        return
    console = plain_console()
    console.print(doctor.guarantee_lines(findings), "", sep="\n")
    for sentence in doctor.verdict(findings):
        console.print(sentence, soft_wrap=not console.is_terminal)
