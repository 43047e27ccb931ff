"""Sealed Python: a bot's answers as outside the seal, and what it finds inside."""

import json
import lzma
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena.files import make_private, user_cache
from arena.sandbox.command import Command
from arena.sealed import module
from arena.sealed.module import (
    JAVASCRIPT,
    PYTHON,
    SealedLanguage,
    installed_interpreter,
    pack,
    pack_files,
    sealed_argv,
    unpack,
)
from protocol.errors import UserError
from tests.support.fast_run import slow_except
from tests.support.interpreted import GAME, HELLO, LINES, output_inside, output_outside
from tests.support.tables import EFFORT, answers, play_sealed

NATIVE_COMMAND = (sys.executable, "-sE", "main.py")
FRAME = """
import json, sys
def answer(line):
    message = json.loads(line)
    if message["type"] == "hello":
        print("hello", flush=True)
    elif message["type"] == "ask":
        BODY
"""
LOOPS = {
    "iteration": "for line in sys.stdin: answer(line)",
    "readline": "while line := sys.stdin.readline(): answer(line)",
    "input": "try:\n    while True: answer(input())\nexcept EOFError: pass",
    "bytes": "for line in sys.stdin.buffer: answer(line)",
    "bytes-readline": "while line := sys.stdin.buffer.readline(): answer(line)",
    "open": "for line in open(0): answer(line)",
    "iter": "for line in iter(sys.stdin.readline, ''): answer(line)",
    "descriptor": (
        "import os\nrest = b''\nwhile data := os.read(0, 4096):\n    rest += data\n"
        "    *lines, rest = rest.split(b'\\n')\n    for line in lines: answer(line)"
    ),
}
BODIES = {
    "print": "print(message['id'])",
    "flush": "print(message['id'], flush=True)",
    "write": "sys.stdout.write(f\"{message['id']}\\n\")",
    "bytes": "sys.stdout.buffer.write(b'%d\\n' % message['id']); sys.stdout.buffer.flush()",
    "pieces": "sys.stdout.write('1'); sys.stdout.write('2\\n')",
    "descriptor": "import os; os.write(1, b'%d\\n' % message['id'])",
    "argv": "print(sys.argv[0].endswith('main.py'), sys.argv[1:])",
    "file": "print(open('data/weights.json').read())",
    "import": "import helper, pack.part; print(helper.VALUE, pack.part.VALUE)",
    "resource": "import importlib.resources as r; print((r.files('pack') / 'x.txt').read_text())",
    "path": "from pathlib import Path; print(sorted(p.name for p in Path().rglob('*.json')))",
    "missing": "import os; print(os.path.exists('nothing'), os.listdir('data'))",
    "relative": "from pathlib import Path; print(Path(__file__).with_name('data').is_dir())",
    "unicode": "print('→ ä', ascii('ü'))",
    "numbers": "import math, statistics as s; print(math.sin(1e22), s.stdev([1, 2, 4]), 2**100)",
    "sorted": "print(sorted({'b', 'a', 'c'}), {3, 1, 2})",
    "seeded": "import random; print(random.Random(7).sample(range(99), 5))",
    "big": "print(len('x' * 10**6), sum(range(10**5)))",
    "lazy": "import difflib; print(difflib.get_close_matches('a', ['a', 'b']))",
    "digest": "import hashlib as h; print(h.sha256(b'x').hexdigest(), h.md5(b'x').hexdigest())",
    "pickle": "import pickle as p, copy; print(p.loads(p.dumps({1: [2]})), copy.copy([{2: 3}]))",
    "classes": "from enum import Enum; print(Enum('E', 'a b').a)",
    "error": "1 / 0",
    "exit": "sys.exit(3)",
    "recursion": (
        "exec('def f(): return f()\\ntry: f()\\nexcept RecursionError: print(1)', globals())"
    ),
    "stderr": "print('Error to see', file=sys.stderr); print(1)",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a bot's folder with modules and data of its own."""
    for name, text in {
        "helper.py": "VALUE = 7",
        "pack/__init__.py": "",
        "pack/part.py": "VALUE = 8",
        "pack/x.txt": "a text",
        "data/weights.json": "[1, 2]",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return tmp_path


# Slow: the usual way to read and one of each kind beside it.
@pytest.mark.parametrize("loop", slow_except(["iteration", "input"], [*LOOPS]))
def test_each_way_to_read_gets_the_lines(folder: Path, loop: str) -> None:
    program = FRAME.replace("BODY", BODIES["print"]) + LOOPS[loop]
    (folder / "main.py").write_text(program)
    assert output_inside(folder)[:2] == output_outside(folder, *NATIVE_COMMAND) == ["1", "2"]


FAST = ["print", "import", "lazy", "error"]


@pytest.mark.parametrize("body", slow_except(FAST, [*BODIES]))
def test_a_bot_writes_what_it_writes_outside(folder: Path, body: str) -> None:
    (folder / "main.py").write_text(FRAME.replace("BODY", BODIES[body]) + LOOPS["iteration"])
    sealed_lines, native_lines = output_inside(folder), output_outside(folder, *NATIVE_COMMAND)
    ends = [line for line in sealed_lines if line.startswith("!")]
    assert [line for line in sealed_lines if not line.startswith("!")] == native_lines
    assert bool(ends) == (body in ("error", "exit"))


REFUSALS = {
    "numpy": ("import numpy", "No module named 'numpy': a sealed bot has its own files and the"),
    "socket": ("import socket", "No module named '_socket': a sealed bot has"),
    "thread": (
        "import threading\nthreading.Thread(target=print).start()",
        "can't start new thread",
    ),
    "write": ("open('note', 'w')", "Read-only file system"),
    "outside": ("open('/etc/passwd')", "No such file or directory"),
    "above": ("open('../../etc/passwd')", "No such file or directory"),
    "fork": ("import os\nos.fork()", "has no attribute 'fork'"),
    "system": ("import os\nos.system('ls')", "has no attribute 'system'"),
    "remove": ("import os\nos.remove('helper.py')", "Read-only file system"),
    "own": ("open('main.py', 'a')", "Read-only file system"),
    "far": (
        "import os\nf = os.open('main.py', 0)\nfor _ in 'abc': os.lseek(f, 2**62, 1)",
        "Invalid argument",
    ),
    "environment": ("import os\nraise OSError(dict(os.environ))", "OSError: {}"),
}


@pytest.mark.parametrize("case", slow_except(["numpy", "write", "outside"], [*REFUSALS]))
def test_what_a_bot_cannot_have_fails_in_words(folder: Path, case: str) -> None:
    program, words = REFUSALS[case]
    (folder / "main.py").write_text(program)
    assert words in output_inside(folder)[-1]


def test_chance_time_and_work_are_the_same_in_each_run(folder: Path) -> None:
    """Chance, time and work follow from the seed of the game; the next game has another seed."""
    body = (
        "import random, secrets, os, time, datetime, uuid; print(random.random(), os.urandom(4),"
        " secrets.randbits(64), time.time(), time.monotonic_ns(), uuid.uuid4(),"
        " datetime.datetime.now(),"
        " hash('a'), {'a', 'b', 'c'}, id(message))"
    )
    (folder / "main.py").write_text(FRAME.replace("BODY", body) + LOOPS["iteration"])
    first_output, second_output = output_inside(folder), output_inside(folder)
    assert first_output == second_output
    assert first_output[0] != first_output[1]
    changed_lines = [HELLO, GAME.replace(b"5a", b"5b"), *LINES[2:]]
    assert output_inside(folder, changed_lines)[0] != first_output[0]


async def test_a_bot_plays_at_a_table(tmp_path: Path) -> None:
    """Its work is counted, and two games take the same."""
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "main.py").write_text(
            "import json, random, sys\n"
            'print(json.dumps({"type": "hello", "name": "p", "version": "1"}))\n'
            "for line in sys.stdin:\n    message = json.loads(line)\n"
            '    if message["type"] == "ask":\n'
            '        choice = random.randrange(len(message["options"]))\n'
            '        print(json.dumps({"type": "choose", "id": message["id"], "choice": choice}))\n'
        )
    bots = [
        Command((PYTHON.word, "main.py"), f"{tmp_path / name}", (f"{tmp_path / name}",))
        for name in ("one", "two")
    ]
    (game,) = await play_sealed(tmp_path, bots, clock=EFFORT)
    (second_game,) = await play_sealed(tmp_path, bots, clock=EFFORT)
    assert answers(game) == answers(second_game)
    assert game.result
    assert game.result.why == "target"
    assert {choice for _, choice, _, _ in answers(game)} > {0}


# --- the files of a bot ---


def test_files_come_back_as_they_were_packed() -> None:
    files = {"a": b"", "ä/b": b"x\ny", "c": b"\0"}
    assert unpack(pack(files)) == files


def test_no_link_is_packed(tmp_path: Path) -> None:
    """A link in a stranger's folder may name any file of ours."""
    secret = tmp_path / "secret"
    secret.write_text("secret")
    bot = tmp_path / "bot"
    (bot / "__pycache__").mkdir(parents=True)
    (bot / "__pycache__" / "main.pyc").write_text("")
    (bot / "main.py").write_text("")
    (bot / "link.py").symlink_to(secret)
    (bot / "folder").symlink_to(tmp_path)
    assert unpack(pack_files(f"{bot}", [f"{bot}", f"{bot / 'link.py'}"])) == {"bot/main.py": b""}


def test_a_name_that_cannot_be_printed_is_refused(tmp_path: Path) -> None:
    (tmp_path / "\udcff").touch()
    with pytest.raises(UserError, match="names that can be printed"):
        pack_files(f"{tmp_path}", [f"{tmp_path}"])


def test_too_many_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_FILES", 2)
    for number in range(3):
        (tmp_path / f"{number}").touch()
    with pytest.raises(UserError, match="at most 2 files and 32 MiB"):
        pack_files(f"{tmp_path}", [f"{tmp_path}"])


def test_a_command_has_the_same_words_on_every_machine(tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "bots" / "mine.py").touch()
    (tmp_path / "w.json").touch()
    words = ("/x/bin/python3", "-I", "-S", f"{tmp_path}/bots/mine.py", "w.json", "--n", "3")
    assert sealed_argv(words, tmp_path) == (PYTHON.word, "bots/mine.py", "w.json", "--n", "3")
    files = (f"{tmp_path}/w.json",)
    assert sealed_argv((*words[:4], *files), tmp_path / "bots", files)[1:] == (
        "mine.py",
        "w.json",
    )


def test_no_word_shows_whether_a_file_of_others_exists(tmp_path: Path) -> None:
    (tmp_path / "mine.py").touch()
    words = ("python3", "mine.py", "/etc/passwd", "/etc/nothing")
    assert sealed_argv(words, tmp_path)[2:] == ("/etc/passwd", "/etc/nothing")
    with pytest.raises(UserError, match="is a file"):
        sealed_argv(("python3", "/etc/passwd"), tmp_path)


def test_the_cache_is_the_users_own_whatever_the_umask(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path / 'cache'}")
    before = os.umask(0o002)
    try:
        folder = user_cache("x")
        assert folder
        make_private(folder)
    finally:
        os.umask(before)
    assert user_cache("x") == folder


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("/usr/bin/ruby", "x.rb"), "it runs ruby, and only Python, JavaScript"),
        (("node", "-e", "1"), "a sealed bot is a file"),
        (("python3", "-m", "mine"), "a sealed bot is a file: name it first after the interpreter"),
        (("python3",), "a sealed bot is a file"),
        (("python3", "nothing.py"), "a sealed bot is a file"),
    ],
)
def test_what_cannot_be_sealed_is_refused(
    tmp_path: Path, words: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(UserError, match=sentence):
        sealed_argv(words, tmp_path)


# --- the interpreter ---


@pytest.mark.parametrize(
    ("language", "start"),
    [(PYTHON, "boot.py"), (JAVASCRIPT, "node.js")],
    ids=["python", "javascript"],
)
def test_the_archive_has_the_present_start(language: SealedLanguage, start: str) -> None:
    """Its `build` was run again after the last change."""
    files = unpack(lzma.decompress(language.archive.read_bytes()))
    assert files[f"lib/{start}"] == language.archive.with_name(start).read_bytes()
    assert not [name for name in files if name.startswith("lib/test/")]


@pytest.mark.slow
def test_a_damaged_interpreter_is_compiled_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Damaged machine code could do anything; two processes at a time compile it once."""
    monkeypatch.setenv("XDG_CACHE_HOME", f"{tmp_path}")
    program = (
        "from arena.sealed.module import installed_interpreter as i;print(i('python.wasm').code)"
    )
    processes = [
        subprocess.Popen((sys.executable, "-c", program), stdout=-1, stderr=-1, text=True)
        for _ in range(2)
    ]
    texts = [process.communicate(timeout=300) for process in processes]
    assert sorted(err for _, err in texts)[0] == ""
    code = Path(texts[0][0].strip())
    machine_code = code.read_bytes()
    code.write_bytes(machine_code[:-1] + bytes((machine_code[-1] ^ 1,)))
    installed_interpreter.__wrapped__(PYTHON.word)
    assert code.read_bytes()[:4096] == machine_code[:4096]
    assert "Preparing Python" in capsys.readouterr().err
    assert json.loads(next(tmp_path.rglob("*.json")).read_bytes())
