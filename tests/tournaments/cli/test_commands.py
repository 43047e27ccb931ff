"""Every command explains itself, answers at once, and does what its user guesses."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from arena.analysis.timeline import AnswerRecord
from arena.sandbox.command import Command
from tests.support.events import boneyard, copied, run
from tournaments.cli.main import FIRST_COMMANDS, MODULES, main
from tournaments.cli.run import BY_SEED
from tournaments.report.page import events_page

NAMES = sorted(MODULES)
HEAVY = {"msgspec", "rich", "trio", "numpy", "jinja2"}


def command_of(name: str) -> click.Command:
    command = main.get_command(click.Context(main), name)
    assert command, name
    return command


# --- help ---


def test_the_first_screen_has_the_commands_of_a_newcomer_and_the_names_of_the_others() -> None:
    lines = CliRunner().invoke(main, ["--help"], terminal_width=80).output.splitlines()
    assert len(lines) <= 24
    assert len(NAMES) <= 18
    for name, summary in FIRST_COMMANDS.items():
        (line,) = [line for line in lines if line.startswith(f"  {name} ")]
        assert line.endswith(summary), "In one line."
        assert (command_of(name).help or "").splitlines()[0] == summary
    rest = " ".join(lines).partition("More:")[2]
    assert all(name in rest for name in MODULES.keys() - FIRST_COMMANDS.keys())


def test_run_shows_the_options_that_people_use_and_the_rest_if_asked() -> None:
    usual, all_options = (re.findall(r"^  (--[\w-]+)", boneyard("run", word), re.MULTILINE)
                    for word in ("--help", "--help-all"))  # fmt: skip
    assert 10 <= len(usual) <= 14
    assert set(usual) < set(all_options)
    assert "--deals-from" in all_options


@pytest.mark.parametrize("name", NAMES)
def test_help_says_the_same_as_the_option_and_has_an_example(name: str) -> None:
    text = boneyard(name, "--help")
    assert not re.search(r"Options:\n +[A-Z[]", text), "Arguments are in the usage."
    assert boneyard("help", name).strip() == text.strip()
    assert f"boneyard {name}" in text.partition("Example")[2]


def test_help_alone_lists_the_commands_and_an_unknown_one_is_answered_with_the_nearest() -> None:
    assert boneyard("help").strip() == boneyard("--help").strip()
    assert "did you mean replay" in boneyard("help", "reply", code=2)


@pytest.mark.parametrize(
    ("words", "suggestion"),
    [
        (("create",), "Unknown command 'create': did you mean new?"),
        (("help", "create"), "Unknown command 'create': did you mean new?"),
        (("stats",), "did you mean report or show?"),
        (("tune", "mine.toml"), "did you mean run FILE, with [tune] in the file?"),
        (("plan", "friday"), "did you mean run --plan or show --separate?"),
        (("help", "review"), "did you mean explain --review?"),
        (("rnu",), "did you mean run?"),
        (("version",), "did you mean --version?"),
        (("foo",), "Unknown command 'foo': there are demo, new, check, "),
        (("run", "--workers", "2"), "Unknown option '--workers': did you mean --jobs?"),
        (("run", "--bords", "2"), "Unknown option '--bords': did you mean --boards?"),
        (("demo", "--rounds", "2"), "Unknown option '--rounds': did you mean --boards?"),
        (("explain", "--review", "--worlds", "9"), "did you mean --deals?"),
        (("check", "--step", "2"), "Unknown option '--step': did you mean --only?"),
        (("show", "--workers", "2"), "Unknown option '--workers': there are --prior, "),
    ],
)
def test_names_of_other_programs_get_a_suggestion(words: tuple[str, ...], suggestion: str) -> None:
    assert suggestion in boneyard(*words, code=2)


def test_a_wrong_guess_at_a_command_gets_one_sentence(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    name = copied(event, tmp_path / "friday").name
    (tmp_path / "cup.toml").touch()
    boneyard("new", "python", "mine")
    for words, sentence in {
        ("run", name, "--plan"): "is an event's folder, not a bot: `boneyard show friday`",
        ("show", "fridai"): "did you mean friday?",
        ("explain", "mine"): "mine is a bot. The latest event here is friday.",
        ("show", "cup.toml"): "`boneyard run cup.toml` plays it",
        ("show", name, "greedy", "--separate"): "an event's folder and two bots",
        ("show", name, name, "--watch"): "--watch shows one event",
        ("explain", name, "--deals", "9"): "--deals goes with --review",
    }.items():
        output = boneyard(*words, code=2)
        assert sentence in output
        assert output.count("\n") == 1


@pytest.mark.parametrize("name", NAMES)
def test_every_option_is_explained(name: str) -> None:
    for parameter in command_of(name).params:
        assert not isinstance(parameter, click.Option) or parameter.help, parameter.name


PAGES = sorted((*Path().glob("*.md"), *(path for room in ("arena", "protocol", "sample_bots",
    "tournaments") for path in Path(room).rglob("*.md"))))  # fmt: skip


@pytest.mark.parametrize("page", PAGES, ids=str)
def test_every_command_of_a_page_exists_with_its_options(page: Path) -> None:
    text = page.read_text()
    blocks = re.findall(r"^boneyard (.*?)(?: +#.*)?$", text, re.MULTILINE)
    for line in (*blocks, *re.findall(r"`boneyard\s([^`]*)`", text)):
        name, *words = line.split(" -- ")[0].replace("|", " ").split() or [""]
        if not re.fullmatch("[a-z]+", name) or re.search(r"\w\|", line):
            continue
        assert name in NAMES, line
        command = command_of(name)
        options = {option for param in command.params for option in (*param.opts, "--help")}
        rest = re.sub(r'"[^"]*"', "", " ".join(words))
        assert options.issuperset(re.findall(r"(?<!\S)--[a-z][\w-]*", rest)), line


def test_the_program_answers_at_once_for_it_imports_only_click() -> None:
    code = f"import sys, tournaments.cli.main; print(*({HEAVY} & sys.modules.keys()))"
    done = subprocess.run((sys.executable, "-c", code), capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


# --- what one would guess ---


def test_commands_take_the_event_of_the_working_folder(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = copied(event, tmp_path / "home" / "event")
    monkeypatch.chdir(mine.parent)
    assert "1.first.greedy" in boneyard("replay")
    boneyard("publish", str(mine), str(tmp_path / "site"))
    (tmp_path / "event").symlink_to(mine)
    monkeypatch.chdir(tmp_path)
    assert "Event: event" in boneyard("verify"), "A published copy is no run."
    monkeypatch.chdir(mine.parent)
    assert "OK: " in boneyard("verify")
    assert "12 of 12 games" in boneyard("show")
    assert boneyard("report", "--help")
    monkeypatch.chdir(Path("/"))
    assert "no event's folder here" in boneyard("replay", code=2)


def test_show_lists_the_other_events_here(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("runs/old", "runs/begun", "runs/new"):
        copied(event, tmp_path / name)
        os.utime(tmp_path / name / "event.json", (0, 1e9 + len(name)))
    (tmp_path / "runs" / "begun" / "results.json").unlink()
    os.utime(tmp_path / "runs" / "new" / "event.json")
    monkeypatch.chdir(tmp_path)
    text = boneyard("show")
    *_, unfinished, old = text.splitlines()
    assert unfinished.split()[:2] == ["runs/begun", "2001-09-09"]
    assert "12 of 12" in old
    assert old.endswith("3 are level")
    assert "runs/new" not in text.partition("other event here")[2]
    assert "other event here" not in boneyard("show", "new")
    assert "other event here" not in boneyard("show", "--json")
    page = events_page(Path("runs"))
    assert [*re.findall(r'href="([^"]+)/report.html"', page)] == ["new", "old"]
    assert page.count("<tr>") == 1 + 3


def test_an_unambiguous_part_of_a_games_name_names_it(event: Path) -> None:
    folder = str(event)
    assert "Game 1.first.greedy, board 1" in boneyard("replay", folder, "1.first.g")
    listing = boneyard("replay", folder, "1.")
    assert len(listing.splitlines()) == 6
    assert all(line.startswith("1.") for line in listing.splitlines())
    games = [line.split()[0] for line in boneyard("replay", folder, "first.greedy").splitlines()]
    assert games == ["1.first.greedy", "2.first.greedy"]
    assert "did you mean 1.first.greedy" in boneyard("replay", folder, "1.frist.greedy", code=2)
    assert "Name one of the 6 games" in boneyard("explain", folder, "1.", code=2)


def test_programs_read_games_bots_and_reports_as_json(event: Path, tmp_path: Path) -> None:
    copy = copied(event, tmp_path)
    words = ("replay", str(event), "1.first.greedy", "--json")
    frames = [json.loads(line) for line in boneyard(*words).splitlines()]
    assert frames[0]["round"] == 1
    assert [*map(len, frames[0]["hands"])] == [7, 7]
    seat_frames = [json.loads(line) for line in boneyard(*words, "--seat", "1").splitlines()]
    assert seat_frames[0]["hands"] == [7, frames[0]["hands"][1]]
    assert len(json.loads(boneyard("replay", str(event), "--json"))) == 12
    first, *_ = json.loads(boneyard("help", "bots", "--json"))
    assert (first["name"], first["available"], first["lacks"]) == ("first", True, "")
    paths = json.loads(boneyard("report", str(copy), "--json"))["written"]
    assert str(copy / "results.json") in paths
    verified = json.loads(boneyard("verify", str(event), "--json"))
    assert (verified["problems"], verified["games"], verified["waiting"]) == ([], 12, 0)


def test_a_question_asks_the_entrant_that_sat_there(event: Path) -> None:
    question = ("explain", str(event), "1.first.greedy", "2", "--seat", "greedy", "--ask")
    words = (*question, "--sandbox", "off")
    output = boneyard(*words)
    assert "Asked again, sandbox off:" in output
    assert "as in the log" in output
    record = json.loads(boneyard(*words, "--json", "--times", "2"))
    assert [answer["choice"] for answer in record["answers"]] == [record["logged"]["choice"]] * 2
    assert (record["number"], record["seat"], record["sandbox"]) == (2, 1, "off")


def test_a_question_opens_nothing_that_a_strangers_plan_names(
    event: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    event, commands = copied(event, tmp_path / "event"), list[Command]()
    plan = json.loads((event / "event.json").read_bytes())
    reads = [bot["command"]["reads"] for bot in plan["entrants"] if bot["name"] == "greedy"]
    for entrant in plan["entrants"]:
        access = {"environment": ["SECRET_KEY"], "network": ["example.com:443"]}
        entrant["command"] |= {**access, "reads": [*entrant["command"]["reads"], f"{tmp_path}"]}
    (event / "event.json").write_text(json.dumps(plan))

    async def ask(command: Command, *_: object) -> list[AnswerRecord]:
        commands.append(command)
        return []

    monkeypatch.setattr("arena.analysis.reask.repeat_question", ask)
    boneyard("explain", str(event), "1.first.greedy", "2", "--seat", "greedy", "--ask")
    (command,) = commands
    assert (command.network, command.environment, [[*command.reads]]) == ((), (), reads)


def test_no_question_starts_a_strangers_program(event: Path, tmp_path: Path) -> None:
    event = copied(event, tmp_path / "event")
    plan = json.loads((event / "event.json").read_bytes())
    for entrant in plan["entrants"]:
        entrant["command"]["argv"] = ["/bin/sh", "-c", f"touch {tmp_path}/was-here"]
    (event / "event.json").write_text(json.dumps(plan))
    # Whoever makes an archive can put a key into it, too: it does not show whose folder this is.
    assert (event / "private" / "secret.key").exists()
    words = ("explain", str(event), "1.first.greedy", "2", "--seat", "greedy")
    output = boneyard(*words)
    assert "--ask starts the command that event.json names, a stranger's program" in output
    assert json.loads(boneyard(*words, "--json"))["answers"] == []
    assert not (tmp_path / "was-here").exists()


def test_a_question_takes_bots_as_run_does(event: Path, tmp_path: Path) -> None:
    question = ("explain", str(event), "1.first.greedy", "2", "--seat", "1")
    words = (*question, "--sandbox", "off", "--")
    assert "It chooses" in boneyard(*words, "first")
    bot = tmp_path / "mine.py"
    bot.write_bytes((Path("sample_bots") / "first.py").read_bytes())
    assert "It chooses" in boneyard(*words, str(bot))
    assert "It chooses" in boneyard(*words, sys.executable, str(bot))
    assert "It chooses" in boneyard(*words, f"{sys.executable} {bot}")
    assert "did you mean first" in boneyard(*words, "frist", code=2)
    bot.write_text("print('no')")
    assert "It fouls: no_hello" in boneyard(*words, str(bot), code=1)


def test_a_question_tries_every_option_under_other_deals(event: Path) -> None:
    words = ("explain", str(event), "1.first.greedy", "1", "--seat", "1")
    record = json.loads(boneyard(*words, "--deals", "5", "--json"))
    assert len(record["outlooks"]) == len(record["question"]["options"])
    assert record["outlooks"][record["logged"]["choice"]]["beyond"] == 0.0
    text = boneyard(*words, "--deals", "5")
    assert text.count(" played ") == 1
    assert text == boneyard(*words, "--deals", "5")
    # Without a word it shows the values over the usual deals; a bot that is asked replaces them.
    assert boneyard(*words) == boneyard(*words, "--deals", "64")
    assert " played " not in boneyard(*words, "--ask", "--sandbox", "off")


def test_a_game_names_what_each_side_lost_by_its_choices(event: Path) -> None:
    for seat, opponent in (("first", "greedy"), ("greedy", "first")):
        text = boneyard("explain", str(event), "1.first.greedy", "--seat", seat)
        assert re.search(rf"^- {opponent} lost \d+ points? to weaker", text, re.MULTILINE)


def test_a_question_is_a_number_and_a_log_alone_needs_a_bot(event: Path, tmp_path: Path) -> None:
    output = boneyard("explain", str(event), "1.first.greedy", "x", code=2)
    assert "A question is a number, not x." in output
    log = tmp_path / "alone.jsonl"
    log.write_bytes((event / "games" / "from-1.first.greedy.jsonl").read_bytes())
    words = ("explain", str(log), "1.first.greedy", "1", "--seat", "0")
    assert "To ask a bot this question, name it after `--`." in boneyard(*words)
    assert "The log is not in its event's folder" in boneyard(*words, "--ask", code=2)
    assert "It chooses" in boneyard(*words, "--sandbox", "off", "--", "first")


# --- completion ---


@pytest.fixture(scope="module")
def home(event: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an event and a bot."""
    home = tmp_path_factory.mktemp("home")
    copied(event, home / "friday")
    (home / "mine.py").touch()
    return home


OFFERED: dict[tuple[str, ...], tuple[str, ...]] = {
    ("expl",): ("explain",),
    ("run", "gree"): ("greedy",),
    ("run", "mi"): ("mine.py",),
    ("run", "--rules", "double-d"): ("double-draw",),
    ("run", "first", "--set", "draw_l"): ("draw_limit=",),
    ("run", "--format", "sw"): ("swiss",),
    ("show", "fr"): ("friday",),
    ("replay", "friday", "1.first.g"): ("1.first.greedy",),
    ("explain", "friday", "1.first.greedy", "--seat", "g"): ("greedy",),
    ("explain", "friday", "1.first.greedy", "1", "--", "count"): ("counting",),
    ("explain", "friday", "--bot", "gr"): ("greedy",),
    ("export", "fr"): ("friday",),
    ("export", "friday", "--bot", "gr"): ("greedy",),
    ("export", "--bot", "gr"): ("greedy",),
    ("export", "--format", "par"): ("parquet",),
    ("run", "greedy", "--challenger", "gre"): ("greedy",),
    ("show", "friday", "--separate", "ran"): ("random",),
    ("help", "schema", "re"): ("results", "review"),
    ("help", "completion", "z"): ("zsh",),
    ("help", "ver"): ("verify",),
}


def complete(*words: str) -> list[str]:
    """Return what the program offers a shell after these words."""
    variables = {"COMP_WORDS": " ".join(("boneyard", *words)), "COMP_CWORD": f"{len(words)}"}
    environment = {**variables, "_BONEYARD_COMPLETE": "bash_complete"}
    lines = CliRunner().invoke(main, [], env=environment, prog_name="boneyard").output.splitlines()
    return [line.partition(",")[2] for line in lines]


@pytest.mark.parametrize("words", OFFERED, ids=" ".join)
def test_words_are_completed(
    home: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(home)
    completions = complete(*words)
    assert set(OFFERED[words]) <= set(completions)
    assert all(completion.startswith(words[-1]) for completion in completions)


def test_an_unknown_shell_is_the_users_error(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "did you mean bash" in boneyard("help", "completion", "bsh", code=2)
    monkeypatch.setenv("SHELL", "/bin/tcsh")
    assert "Name a shell: bash, zsh, fish." in boneyard("help", "completion", code=2)


# --- demo ---


def test_the_demo_names_no_option(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tournaments.cli.run.DEMO_LADDER", ("first", "greedy"))
    monkeypatch.setattr("tournaments.cli.run.DEMO_OTHERS", ("random-sh",))
    output = boneyard("demo", "--boards", "1", "--sandbox", "off", "--out", str(tmp_path / "demo"))
    assert "The demo's deals are always the same.\n" in output
    assert "--seed" not in output
    assert "command line" not in (tmp_path / "demo" / "report.md").read_text()
    assert BY_SEED in run(tmp_path / "run", "first", "greedy", "--boards", "1", "--set", "target=1")
