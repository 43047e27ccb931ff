"""Files by which a bot would read more than its organiser named: each is refused by its name."""

import os
import sys
from pathlib import Path

import pytest

from arena.match.bot_process import CannotStartError, spawn
from arena.sandbox.command import OFF, Limits
from arena.sandbox.process import Sandbox
from protocol.errors import UserError
from tests.support.events import boneyard
from tournaments.formats.base import Entrant
from tournaments.plan.bots import prepare_entrant
from tournaments.plan.event import WrittenBot
from tournaments.play.cluster.orders import pack_bot


@pytest.fixture
def cup(tmp_path: Path) -> Path:
    """Return an organiser's folder with a submitted bot, beside files that nobody may read."""
    for name in ("alice", "private", "venv/bin", "venv/lib"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "private" / "id_rsa").write_text("the organiser's key")
    (tmp_path / "alice" / "bot.py").write_text("")
    return tmp_path


def alice(cup: Path, *words: str, reads: tuple[str, ...] = ()) -> Entrant:
    bot = WrittenBot("alice", (words or ("{python}", "bot.py")), folder="alice", reads=reads)
    return prepare_entrant(bot, cup, cup / "build")


def link_path(path: Path, target: Path | str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)
    return path


def assert_refused(link: Path, cup: Path, *words: str, reads: tuple[str, ...] = ()) -> None:
    with pytest.raises(UserError, match="Bot alice: a link leads out of its files") as error:
        alice(cup, *words, reads=reads)
    assert str(link) in str(error.value)


def test_a_link_to_the_organisers_key_is_refused_though_no_command_names_it(cup: Path) -> None:
    assert_refused(link_path(cup / "alice" / "key", cup / "private" / "id_rsa"), cup)


def test_a_link_to_the_organisers_key_that_a_command_names_is_refused(cup: Path) -> None:
    link = link_path(cup / "alice" / "weights", "../private/id_rsa")
    assert_refused(link, cup, "{python}", "bot.py", "weights")


def test_a_link_to_a_folder_does_not_open_what_lies_behind_it(cup: Path) -> None:
    link = link_path(cup / "alice" / "data", cup / "private")
    assert_refused(link, cup, "{python}", "bot.py", "data/id_rsa")
    assert_refused(link, cup, reads=("data",))
    assert_refused(link, cup, reads=("data/id_rsa",))


def test_a_submitted_folder_that_is_a_link_is_refused(cup: Path, tmp_path: Path) -> None:
    base = tmp_path / "elsewhere"
    base.mkdir()
    link = link_path(base / "alice", cup / "private")
    with pytest.raises(UserError, match="leads out") as error:
        prepare_entrant(WrittenBot("alice", ("cat",), folder="alice"), base, cup / "build")
    assert str(link) in str(error.value)


def test_a_program_that_is_a_link_does_not_open_the_folder_of_its_target(cup: Path) -> None:
    project = cup / "project"
    for part in ("bin", "lib"):
        (project / part).mkdir(parents=True)
    (project / "bin" / "tool").touch(0o755)
    assert_refused(link_path(cup / "alice" / "bot", project / "bin" / "tool"), cup, "./bot")
    (cup / "alice" / "bot").unlink()
    assert_refused(link_path(cup / "alice" / "bin", project / "bin"), cup, "bin/tool")


def test_a_script_does_not_open_the_folder_of_an_interpreter_that_it_names(cup: Path) -> None:
    project = cup / "project"
    for part in ("bin", "lib"):
        (project / part).mkdir(parents=True)
    (project / "bin" / "tool").touch(0o755)
    script = cup / "alice" / "bot"
    script.write_text(f"#!{project}/bin/tool\n")
    script.chmod(0o755)
    with pytest.raises(UserError, match="asks for a program outside its files") as error:
        alice(cup, "./bot")
    assert f"{project}/bin/tool" in str(error.value)
    alice(cup, "./bot", reads=(f"{project}/bin/tool",))
    script.write_text("#!/usr/bin/env sh\n")
    alice(cup, "./bot")
    script.write_text(f"#!{script}\n")
    alice(cup, "./bot")


def test_links_inside_a_folder_that_reads_names_must_stay_in_it(cup: Path) -> None:
    (cup / "shared" / "v1").mkdir(parents=True)
    link_path(cup / "shared" / "latest", "v1")
    link_path(cup / "current", "shared")
    alice(cup, reads=("../shared",))
    alice(cup, reads=("../current",))
    assert_refused(
        link_path(cup / "shared" / "key", "../private/id_rsa"), cup, reads=("../shared",)
    )


@pytest.mark.parametrize("target", ["../private/id_rsa", ".ssh/id_rsa"])
def test_without_an_own_folder_a_link_leads_only_beside_itself(cup: Path, target: str) -> None:
    (cup / "bots" / ".ssh").mkdir(parents=True)
    (cup / "bots" / ".ssh" / "id_rsa").touch()
    link = link_path(cup / "bots" / "carl.py", target)
    for word in ("bots/carl.py", str(link)):
        with pytest.raises(UserError, match=r"carl\.py leads to .*id_rsa"):
            prepare_entrant(WrittenBot("carl", ("{python}", word)), cup, cup / "build")


def test_another_events_secret_is_refused_by_whatever_way(cup: Path) -> None:
    friday = cup / "friday"
    boneyard("run", "first", "greedy", "--boards", "1", "--sandbox", "off", "--out", str(friday))
    for word in ("friday/private/secret.key", "carl.py"):
        (cup / "carl.py").unlink(missing_ok=True)
        link_path(cup / "carl.py", "friday/private/secret.key")
        (cup / "event.toml").write_text(
            f'bots = ["greedy", {{ name = "carl", run = ["cat", "{word}"] }}]\n'
        )
        output = boneyard("run", str(cup / "event.toml"), "--out", str(cup / "out"), code=2)
        assert f"belongs to the event in {friday}" in output


def test_a_file_that_became_a_link_after_the_check_is_not_opened(cup: Path) -> None:
    """An author who can still write to the folder must not swap it between two games."""
    (cup / "alice" / "data").mkdir()
    (cup / "alice" / "data" / "w").touch()
    command = alice(cup, "cat", "data/w").command
    (cup / "alice" / "data").rename(cup / "private" / "data")
    link_path(cup / "alice" / "data", cup / "private" / "data")
    with pytest.raises(CannotStartError, match="has become a link"):
        spawn(command, Sandbox(OFF, Limits()))


def test_a_cluster_is_not_sent_what_a_link_leads_to(cup: Path) -> None:
    link_path(cup / "alice" / "key", cup / "private" / "id_rsa")
    with pytest.raises(UserError, match="alice/key leads to"):
        pack_bot(WrittenBot("alice", ("{python}", "bot.py"), folder="alice"), cup)


def test_a_named_pipe_among_a_bots_files_is_refused(cup: Path) -> None:
    """Two bots that may read the folder could both write to it: no mount keeps them from that."""
    os.mkfifo(cup / "alice" / "pipe")
    with pytest.raises(UserError, match="alice/pipe"):
        alice(cup)


def test_a_bots_own_file_called_like_a_pyenv_shim_is_not_run_as_the_organiser(cup: Path) -> None:
    shim = cup / "alice" / "shims" / "python"
    shim.parent.mkdir()
    shim.write_text(f"#!/bin/sh\ntouch {cup}/ran\n")
    shim.chmod(0o755)
    alice(cup, "shims/python")
    assert not (cup / "ran").exists()


def test_of_a_virtual_environment_only_its_python_and_packages_are_opened(cup: Path) -> None:
    """It may lie right in a project's folder, with an event's secret."""
    link_path(cup / "venv" / "bin" / "python", os.path.realpath(sys.executable))
    (cup / "venv" / "pyvenv.cfg").touch()
    (cup / "venv" / "secret").touch()
    bot = WrittenBot("dora", (str(cup / "venv" / "bin" / "python"), "bot.py"), folder="alice")
    reads = prepare_entrant(bot, cup, cup / "build").command.reads
    names = {Path(path).name for path in reads if Path(path).is_relative_to(cup / "venv")}
    assert names == {"bin", "lib", "pyvenv.cfg"}


def test_a_copied_python_finds_the_installation_that_it_comes_from(cup: Path) -> None:
    """`python -m venv --copies` makes it. Its settings, anybody's perhaps, open no more."""
    for name in ("base/bin/python3", "base/lib/python3.11/os.py", "venv/bin/python"):
        (cup / name).parent.mkdir(parents=True, exist_ok=True)
        (cup / name).touch(0o755)
    bot = WrittenBot("dora", (str(cup / "venv" / "bin" / "python"), "bot.py"), folder="alice")
    for home, is_readable in (("base/bin", True), ("private", False)):
        (cup / "venv" / "pyvenv.cfg").write_text(f"home = {cup}/{home}\nversion = 3.11\n")
        reads = prepare_entrant(bot, cup, cup / "build").command.reads
        assert (str(cup / "base" / "lib") in reads) == is_readable
        assert not [path for path in reads if path.startswith(str(cup / "private"))]
