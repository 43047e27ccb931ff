"""Sealed bots at a table: their answers, their chance, their work and what ends them."""

import ctypes
import os
import platform
import re
import struct
import subprocess
from pathlib import Path

import pytest
import trio

from arena.logs.gamelog import LoggedGame
from arena.match.bot_process import compile_once
from arena.sandbox.command import BOUNDED, LOCKED, Command, Confinement, Limits
from arena.sandbox.select import examine
from arena.sealed.module import HOST_FILE, host_argv
from protocol.records import FoulRecord, SentRecord
from tests.support.bots import (
    NOTE_CHANCE,
    NOTE_COUNT,
    NOTE_TIME,
    TEXT,
    sealed,
    sealed_command,
    spin,
)
from tests.support.fast_run import slow_except
from tests.support.tables import LIMITS, answers, play_sealed


def fingerprints(game: LoggedGame) -> list[SentRecord]:
    """Return the fingerprints of all that the bots of a game were sent."""
    return [record for record in game.records if isinstance(record, SentRecord)]


async def foul(folder: Path, bot: Command, limits: Limits = LIMITS) -> FoulRecord:
    """Return the only foul of a game against an honest sealed bot."""
    (game,) = await play_sealed(folder, [bot, sealed(folder, "honest")], limits=limits)
    (record,) = (record for record in game.records if isinstance(record, FoulRecord))
    assert record.seat == 0
    assert record.given_back_ms == 0
    return record


async def test_the_same_game_takes_the_same_work_and_gets_the_same_answers(tmp_path: Path) -> None:
    """The game has the same chance, clock and instructions, to the last instruction."""
    bots = [sealed(tmp_path, "one", ask=NOTE_CHANCE), sealed(tmp_path, "two", ask=NOTE_TIME)]
    first_run, second_run = [await play_sealed(tmp_path, bots) for _ in range(2)]
    assert answers(first_run[0]) == answers(second_run[0])
    assert fingerprints(first_run[0]) == fingerprints(second_run[0])
    for bot in (0, 1):
        notes = [note for seat, _, note, _ in answers(first_run[0]) if seat == bot]
        assert len({*notes}) == len(notes) > 3


async def test_chance_differs_by_board_and_by_seat(tmp_path: Path) -> None:
    bots = [sealed(tmp_path, "one", ask=NOTE_CHANCE)] * 2
    games = await play_sealed(tmp_path, bots, games=2)
    notes = [note for game in games for _, _, note, _ in answers(game)]
    assert len({*notes}) == len(notes)


async def test_no_game_knows_of_an_earlier_one(tmp_path: Path) -> None:
    bots = [sealed(tmp_path, "one", ask=NOTE_COUNT), sealed(tmp_path, "two")]
    for game in await play_sealed(tmp_path, bots, games=2):
        notes = [note for seat, _, note, _ in answers(game) if seat == 0]
        assert [note[0] for note in notes[:3]] == ["b", "c", "d"]


async def test_work_is_charged_to_the_question_that_it_delays(tmp_path: Path) -> None:
    """A bot that thinks after its answers, or about what others did, pays at its next question."""
    bots = [sealed(tmp_path, "one", ask=spin(3)), sealed(tmp_path, "two", after=spin(3))]
    (game,) = await play_sealed(tmp_path, bots)
    first, *later_times = [ms for seat, _, _, ms in answers(game) if seat == 0]
    assert all(3 < ms < 3.4 for ms in (first, *later_times))
    first, *later_times = [ms for seat, _, _, ms in answers(game) if seat == 1]
    assert first < 0.3
    assert all(3 < ms < 3.4 for ms in later_times)


async def test_the_bank_is_used_up_and_then_the_bot_is_late(tmp_path: Path) -> None:
    """21.5 million of 20: the bank of 5 lasts for two questions, as whole millions of it count."""
    bots = [sealed(tmp_path, "slow", ask=spin(21.5)), sealed(tmp_path, "honest")]
    (game,) = await play_sealed(tmp_path, bots)
    assert [round(ms) for seat, _, _, ms in answers(game) if seat == 0] == [22, 22]
    (foul_record,) = (record for record in game.records if isinstance(record, FoulRecord))
    assert (foul_record.foul, foul_record.ms, foul_record.limit_ms) == ("late", 21.0, 0)
    assert foul_record.detail == "It used up the 21 million instructions."


READ = "(drop (call $read (i32.const 0) (i32.const 0) (i32.const 1) (i32.const 8)))"
POLL = '(import "wasi_snapshot_preview1" "poll_oneoff" ' + (
    "(func $poll (param i32 i32 i32 i32) (result i32)))"
)


ENDS: list[tuple[dict[str, str], tuple[str, str]]] = [
    ({"ask": "(loop $ever (br $ever))"}, ("late", "It used up the 25 million instructions.")),
    ({"ask": "unreachable"}, ("gone", "It crashed: unreachable.")),
    ({"ask": "(call $exit (i32.const 3))"}, ("gone", "It exited with status 3.")),
    ({"ask": "return"}, ("gone", "It exited with status 0.")),
    ({"more": "(func $deep (call $deep))", "ask": "(call $deep)"},
     ("gone", "It crashed: stack overflow.")),
    ({"ask": "(call $say (i32.const 1) (i32.const -8) (i32.const 64))"},
     ("gone", "It gave the host an address outside its memory.")),
    (
        {"ask": "(loop $ever (call $say (i32.const 1) (i32.const 0) (i32.const 65536))"
         " (br $ever))"},
        ("malformed", "Byte 8 of the line is not UTF-8."),
    ),
    (
        {"ask": "(loop $ever (call $say (i32.const 2) (i32.const 0) (i32.const 65536))"
         " (br $ever))"},
        ("flooding", "More than 1048576 bytes of stderr in one game."),
    ),
    (
        {"ask": "(drop (memory.grow (i32.const 1000)))"
         "(if (i32.ne (memory.grow (i32.const 60000)) (i32.const -1)) (then unreachable))"
         "(call $exit (i32.const 7))"},
        ("gone", "It exited with status 7."),
    ),
    ({"ask": READ}, ("late", "It reads on before it has answered.")),
    ({"after": "(call $say (i32.const 1) (i32.const 256) (i32.sub (i32.add (local.get $to)"
      " (i32.const 3)) (i32.const 256)))"}, ("flooding", "More than 0 answers to questions")),
    ({"ask": "(drop (call $random (i32.const 0) (i32.const -1)))"}, ("gone", "outside its")),
    ({"ask": "(drop (call $read (i32.const 0) (i32.const -8) (i32.const 2) (i32.const 8)))"},
     ("gone", "outside its")),
    ({"imports": POLL, "ask": "(i64.store (i32.const 70024) (i64.const -1))"
      "(drop (call $poll (i32.const 70000) (i32.const 71000) (i32.const 1) (i32.const 8)))"},
     ("late", "25 million")),
    ({"start": "(loop $ever (br $ever))"}, ("late", "1,000 million")),
    (
        {"more": "(func $before (loop $ever (br $ever))) (start $before)"},
        ("late", "1,000 million"),
    ),
    (
        {"imports": '(import "wasi_snapshot_preview1" "sock_send" (func))'
         '(import "env" "steal" (func))'},
        ("gone", "It imports wasi_snapshot_preview1.sock_send, env.steal, which no sealed bot"),
    ),
]  # fmt: skip


# Slow: whatever a module does in its own instance ends that alone; each kind of foul beside it.
@pytest.mark.parametrize(("parts", "words"), slow_except([*ENDS[:2], ENDS[7]], ENDS))
async def test_what_ends_a_bot_is_its_own_foul(
    tmp_path: Path, parts: dict[str, str], words: tuple[str, str]
) -> None:
    record = await foul(tmp_path, sealed(tmp_path, "bad", **parts))
    assert record.foul == words[0]
    assert words[1] in record.detail


BADF, INVAL, NOSYS, ROFS, SPIPE = 8, 28, 52, 69, 70
HARMLESS = {"args_get", "args_sizes_get", "environ_get", "environ_sizes_get", "clock_res_get"} | (
    {"fd_close", "fd_fdstat_get", "fd_fdstat_set_flags", "fd_filestat_get"}
) | {"poll_oneoff", "sched_yield"}  # fmt: skip


@pytest.mark.parametrize("first", slow_except([0], [0, 3]))
async def test_no_function_reaches_a_file_or_another_process(tmp_path: Path, first: int) -> None:
    """The bot calls each function that it does not need otherwise, for stdin and for a file."""
    match = re.search(r'OFFERED = """(.*?)"""', HOST_FILE.read_text(), re.DOTALL)
    assert match
    imports, calls = "", ""
    names: list[str] = []
    for name, signature in (entry.split(":") for entry in match[1].split()):
        if f'"{name}"' in TEXT:
            continue
        kinds = [f"i{32 if letter == 'i' else 64}" for letter in signature]
        imports += f'(import "wasi_snapshot_preview1" "{name}" (func ${name} '
        imports += f"(param {' '.join(kinds)}) (result i32)))"
        words = (f"({kind}.const {71000 if index else first})" for index, kind in enumerate(kinds))
        calls += f"(i32.store8 (i32.const {80000 + len(names)})"
        calls += f"(i32.add (i32.const 48) (call ${name} {' '.join(words)})))"
        names.append(name)
    calls += f"(i32.store8 (i32.const {80000 + len(names)}) (i32.const 10))"
    calls += f"(call $say (i32.const 1) (i32.const 80000) (i32.const {len(names) + 1}))"
    record = await foul(tmp_path, sealed(tmp_path, "tries", imports=imports, ask=calls))
    codes = dict(zip(names, (ord(char) - 48 for char in record.line), strict=True))
    harmless_names = {name for name in HARMLESS if first == 0 or not name.startswith("fd_")}
    assert {name for name, code in codes.items() if code == 0} == harmless_names
    refusals = {BADF, INVAL, NOSYS, ROFS, SPIPE}
    assert {code for name, code in codes.items() if name not in HARMLESS} <= refusals


async def test_a_bot_may_greet_before_it_reads(tmp_path: Path) -> None:
    hello = "(call $say (i32.const 1) (i32.const 64) (i32.const 53))"
    bot = sealed(tmp_path, "early", start=hello + READ)
    for game in await play_sealed(tmp_path, [bot, bot], games=2):
        assert game.result
        assert game.result.why == "target"


# Slow: as before it.
@pytest.mark.slow
async def test_a_first_call_that_reads_nothing_is_harmless(tmp_path: Path) -> None:
    reads = sealed(tmp_path, "reads", start=READ.replace("const 1)", "const 0)"))
    games = await play_sealed(tmp_path, [reads, sealed(tmp_path)])
    assert [game.result.why for game in games if game.result] == ["target"]


async def test_the_excuse_of_a_sealed_bot_is_a_foul_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has no network: nothing that it needs can be down. A second start would only cost time."""
    monkeypatch.setattr("arena.match.bot_pool.FIRST_PAUSE_S", 3600.0)
    data = r'(data (i32.const 70000) "{\22type\22:\22unavailable\22,\22why\22:\22tired\22}\0a")'
    says = "(call $say (i32.const 1) (i32.const 70000) (i32.const 37))"
    record = await foul(tmp_path, sealed(tmp_path, "tired", more=data, start=says))
    assert (record.foul, record.detail) == ("no_hello", "It said that it is unavailable: tired")


async def test_a_module_that_is_slow_to_compile_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena.match.bot_process._COMPILED", {})
    await play_sealed(tmp_path, [sealed(tmp_path, "honest")] * 2)  # This one is compiled.
    monkeypatch.setattr("arena.match.bot_process.MODULE_COMPILE_S", 0)
    bot = sealed(tmp_path, "slow", more='(data "never compiled before")')
    record = await foul(tmp_path, bot)
    assert record.detail == "It takes too much time or memory to compile its module."


NO_COMMANDS: list[tuple[bytes | str, str]] = [
    (b"#!/bin/sh\nexit", "It is not a module of WebAssembly."),
    ('(module (memory (export "memory") 60000) (func (export "_start")))', "It cannot start: "),
    (b"\0asm\1\0\0\0\xff", "Its module is invalid: "),
    (b"\0asm" + bytes(2**23), "Its module has more than 8 MiB."),
    ("(module)", "It exports no function _start"),
    ('(module (func (export "_start")))', "It exports no memory."),
]


# Slow: what else is no command.
@pytest.mark.parametrize(
    ("content", "words"), slow_except(NO_COMMANDS[:2], NO_COMMANDS), ids=range(6)
)
async def test_what_is_no_command_is_refused_by_its_host(
    tmp_path: Path, content: bytes | str, words: str
) -> None:
    from wasmtime import wat2wasm

    path = tmp_path / "bad.wasm"
    path.write_bytes(wat2wasm(content) if isinstance(content, str) else content)
    record = await foul(tmp_path, sealed_command(path), Limits(memory_mib=64))
    assert record.foul == "gone"
    assert words in record.detail


async def test_no_bot_can_write_the_frames_of_its_host(tmp_path: Path) -> None:
    """A line of a bot that looks like a frame is a line like any other."""
    data = r'(data (i32.const 70000) "9 0 !late x\0a")'
    says = "(call $say (i32.const 1) (i32.const 70000) (i32.const 12))"
    record = await foul(tmp_path, sealed(tmp_path, "forger", more=data, ask=says))
    assert record.foul == "malformed"
    assert record.line == "9 0 !late x"


async def test_a_flood_after_the_last_answer_spoils_no_other_game(tmp_path: Path) -> None:
    """The referee drops thousands of lines of a game that is over when it looks for an answer."""
    lines = r"(memory.fill (i32.const 70000) (i32.const 10) (i32.const 3000))"
    floods = f"{lines} (call $say (i32.const 1) (i32.const 70000) (i32.const 3000))"
    ends = f"(if (i32.eq (i32.load8_u (i32.const 1033)) (i32.const 101)) (then {floods}))"
    games = await play_sealed(tmp_path, [sealed(tmp_path, "floods", line=ends)] * 2, games=3)
    assert [game.result.why for game in games if game.result] == ["target"] * 3


def frames(bot: Command, *, refused: bool) -> bytes:
    """Return what the host of a bot writes in its first game; `refused`: without memfd_create."""
    lines = b'{"type":"hello"}\n{"type":"game","clock":{"move_ms":20}}\n' + (
        b'{"type":"ask","id":1,"game":1,"round":1,"time_ms":20,\n'
    )
    argv = host_argv(bot.argv, 2**26)
    before = refuse_memory_files if refused else None
    return subprocess.run(argv, input=lines, stdout=subprocess.PIPE, preexec_fn=before).stdout


def refuse_memory_files() -> None:
    """Let the kernel refuse memfd_create, as a sandbox or an old kernel does."""
    number = {"x86_64": 319, "aarch64": 279}[platform.machine()]
    steps = [(0x20, 0, 0, 0), (0x15, 0, 1, number), (6, 0, 0, 0x50026), (6, 0, 0, 0x7FFF0000)]
    program = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    filter_program = struct.pack("HP", len(steps), ctypes.addressof(program))
    library = ctypes.CDLL(None)
    assert library.prctl(38, 1, 0, 0, 0) == 0
    assert library.prctl(22, 2, filter_program) == 0
    with pytest.raises(OSError, match="not implemented"):
        os.memfd_create("refused")


def test_work_does_not_depend_on_memory_files(tmp_path: Path) -> None:
    """With memfd_create the data of a module may be mapped, without it they are copied."""
    data = f'(data (i32.const 70000) "{"x" * 5000}")'
    bot = sealed(tmp_path, "w", more=data, ask=NOTE_TIME)
    memfd_frames, plain_frames = (frames(bot, refused=refused) for refused in (False, True))
    assert memfd_frames == plain_frames
    assert memfd_frames.count(b"=") == 2


async def test_a_modules_file_is_read_within_a_bound_and_never_waited_for(tmp_path: Path) -> None:
    """A stranger's plan may name anything: a pipe that nobody writes, or an endless device."""
    os.mkfifo(tmp_path / "pipe.wasm")
    (tmp_path / "zero.wasm").symlink_to("/dev/zero")
    with trio.fail_after(20):
        for name in ("pipe", "zero"):
            assert await compile_once(f"{tmp_path}/{name}.wasm", 2**26, pytest.fail) == b""


@pytest.mark.parametrize("confinement", slow_except([LOCKED], [BOUNDED, LOCKED]))
async def test_the_host_runs_locked_in(
    tmp_path: Path, open_folder: Path, confinement: Confinement
) -> None:
    finding = examine(confinement, tmp_path)
    if not finding.is_proven:
        pytest.skip(finding.why_not)
    bots = [sealed(open_folder, "one"), sealed(open_folder, "two")]
    (game,) = await play_sealed(tmp_path, bots, confinement=confinement)
    assert game.result
    assert game.result.why == "target"
