"""`boneyard new --sealed`: templates compiled to modules by what is here."""

from pathlib import Path

import pytest
import trio
from msgspec.structs import replace

from arena.sealed.module import JAVASCRIPT, TOOLCHAINS, Toolchain
from protocol.errors import UserError
from tests.support.tables import play, sample
from tournaments.plan.bots import load_bot_file, parse_bots, prepare_entrant
from tournaments.plan.scaffold import make_bot


def test_a_sealed_bot_is_built_as_a_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.sealed.module.Toolchain.is_here", lambda _: False)
    new_bot = make_bot("c", "vault", tmp_path, sealed=True)
    assert new_bot.missing == "It needs ziglang: pip install ziglang."
    file = load_bot_file(tmp_path / "vault" / "bot.toml")
    assert file.run == ("{build}/vault.wasm",)
    assert file.build[-1] == "bot.c"
    with pytest.raises(UserError, match="Unknown language of sealed bots 'perl'"):
        make_bot("perl", "other", tmp_path, sealed=True)


@pytest.mark.parametrize("tools", [tools for tools in TOOLCHAINS if tools.is_here()], ids=str)
def test_a_sealed_bot_of_each_toolchain_plays(tools: Toolchain, tmp_path: Path) -> None:
    """Each template as it is, compiled by what is here."""
    folder = make_bot(tools.language, "vault", tmp_path, sealed=True).files[0].parent
    (bot,) = parse_bots((f"{folder}",))
    build = tuple(word.replace("my-bot", "vault") for word in (*tools.build, bot.build[-1]))
    entrant = prepare_entrant(replace(bot, build=build), tmp_path, tmp_path / "built")
    assert entrant.command.argv[0].endswith("vault.wasm")
    results = trio.run(play, [entrant.command, sample()], tmp_path / "log")
    assert [result.why for result in results] == ["target"]


def test_sealed_javascript_needs_no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_bot("javascript", "mine", tmp_path, sealed=True)
    monkeypatch.setenv("PATH", "")
    monkeypatch.chdir(tmp_path)
    (bot,) = parse_bots(("mine@sealed",))
    assert prepare_entrant(bot, tmp_path, tmp_path).command.argv == (JAVASCRIPT.word, "bot.mjs")
    (bot,) = parse_bots(("mine",))
    with pytest.raises(UserError, match="needs node, which is not on the PATH"):
        prepare_entrant(bot, tmp_path, tmp_path)
