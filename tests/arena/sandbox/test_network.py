"""Access that an event opens to one bot: addresses by a proxy, variables, and nothing more."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from threading import Thread

import pytest
from msgspec.structs import replace

from arena.match.bot_process import CannotStartError, spawn
from arena.sandbox import proxy
from arena.sandbox.command import LOCKED, OFF, Command, Limits
from arena.sandbox.process import Censor, Sandbox, own_variables
from arena.sandbox.select import describe_network, network_faults
from tests.support.tables import play, sample

PYTHON = os.path.realpath(sys.executable)


def can_lock() -> bool:
    try:
        Sandbox(LOCKED, Limits())
    except OSError:
        return False
    return True


needs_lock = pytest.mark.skipif(not can_lock(), reason="bots cannot be locked in here")


@needs_lock
def test_the_listed_address_is_reached_and_nothing_else_nor_by_another_bot() -> None:
    """The test that `doctor` and each run with such a bot make, with 16 attempts of two bots."""
    assert network_faults() == []
    assert describe_network().endswith("a bot reached the listed address and nothing else.")


@needs_lock
def test_the_test_finds_a_proxy_that_opens_too_much(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    lax_proxy = tmp_path / "proxy.py"
    text = Path(proxy.__file__).read_text()
    lax_proxy.write_text(text.replace("if name not in allowed", "if not allowed"))
    monkeypatch.setattr("arena.sandbox.process.PROXY", lax_proxy)
    assert "tunnel-to-another-port" in network_faults()


@pytest.mark.parametrize("fields", [{"network": ("a:1",)}, {"environment": ("API_KEY",)}])
def test_without_a_sandbox_neither_is_opened(fields: dict[str, tuple[str]]) -> None:
    command = replace(sample(), **fields)
    with pytest.raises(CannotStartError, match="needs a locked sandbox, and it is off"):
        spawn(command, Sandbox(OFF, Limits()))


@pytest.mark.parametrize(("value", "why"), [("", "is not set"), ("short", "not 8 to 1024")])
def test_a_variable_must_have_a_value_that_can_be_told_from_text(
    value: str, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", value)
    with pytest.raises(OSError, match=why):
        own_variables(replace(sample(), environment=("API_KEY",)), is_locked=True)


@pytest.mark.parametrize(
    "form",
    [
        rb"sk-01/23=<5\"ab\\c.",
        rb"sk-01\/23=<5\"ab\\c.",  # PHP
        rb"sk-01/23\u003D\u003c5\u0022ab\u005cc.",  # Go, Gson
        b"".join(b"\\u%04x" % ord(char) for char in 'sk-01/23=<5"ab\\c.'),
        b'sk-01/23=<5"ab\\c.',
    ],
)
def test_values_are_taken_out_in_the_forms_that_json_gives_them(
    form: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_KEY", 'sk-01/23=<5"ab\\c.')
    assert Censor(("API_KEY",)).clean(b'{"note":"%b"}' % form) == b'{"note":"[API_KEY]"}'
    assert Censor(("API_KEY",)).clean(b"sk-01/23=<5") == b"sk-01/23=<5"


TELLTALE = """
import os, sys
key, first, table = os.environ["API_KEY"], True, None
for line in sys.stdin:
    print(key, file=sys.stderr, flush=True)
    if '"hello"' in line:
        print('{"type":"hello","name":"n","version":"1"}', flush=True)
    elif '"ask"' in line and first:
        first, id = False, line.split('"id":')[1].split(",")[0]
        print('{"type":"choose","id":%s,"choice":0,"note":"%s"}' % (id, key), flush=True)
    elif '"ask"' in line:
        print("my key is", key, flush=True)
"""


@needs_lock
async def test_a_key_that_its_bot_tells_is_in_no_log(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    key = "sk-0123456789abcdef"
    monkeypatch.setenv("API_KEY", key)
    monkeypatch.setenv("OTHER_KEY", key)
    argv = (PYTHON, "-I", "-S", "-c", TELLTALE)
    bot = Command(argv, "/usr", (sys.base_prefix,), environment=("API_KEY",))
    await play([sample(), bot], tmp_path / "log.jsonl", confinement=LOCKED)
    log = (tmp_path / "log.jsonl").read_text()
    assert key not in log
    assert '"note":"[API_KEY]"' in log
    assert '"line":"my key is [API_KEY]"' in log
    assert '"stderr":"[API_KEY]' in log


# --- the proxy, in this process ---


@pytest.fixture
def upstream() -> Iterator[int]:
    """Yield the port of a server that repeats each request."""

    def work() -> None:
        with suppress(OSError):
            client, _ = server.accept()
            with client:
                while data := client.recv(4096):
                    client.sendall(data)

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        Thread(target=work, daemon=True).start()
        yield server.getsockname()[1]
        with suppress(OSError):
            server.shutdown(socket.SHUT_RDWR)


def proxy_reply(request: bytes, *allowed: str) -> bytes:
    """Return all that the proxy answers to a request that ends."""
    ours, theirs = socket.socketpair()
    with ours:
        ours.sendall(request)
        ours.shutdown(socket.SHUT_WR)
        with theirs, suppress(OSError, ValueError):
            proxy.serve_connection(theirs, frozenset(allowed), proxy.Allowance())
        with suppress(ConnectionResetError):
            return ours.recv(65_536)
    return b""


def test_a_request_for_an_address_is_passed_on_as_its_server_reads_it(upstream: int) -> None:
    line = b"POST http://127.0.0.1:%d/v1?a=b HTTP/1.1\r\nX: y\r\n\r\nbody" % upstream
    reply = proxy_reply(line, f"127.0.0.1:{upstream}")
    assert reply == b"POST /v1?a=b HTTP/1.1\r\nX: y\r\n\r\nbody"


@pytest.mark.parametrize(
    "line",
    [
        "CONNECT b.example:443 HTTP/1.1",
        "CONNECT a.example:44 HTTP/1.1",
        "CONNECT a.example:443@b.example:443 HTTP/1.1",
        "GET http://a.example/ HTTP/1.1",
        "GET http://a.example:443@b.example/ HTTP/1.1",
        "GET https://a.example:443/ HTTP/1.1",
        "GET / HTTP/1.1",
    ],
)
def test_any_other_address_is_refused_with_a_sentence(line: str) -> None:
    reply = proxy_reply(f"{line}\r\n\r\n".encode(), "a.example:443")
    assert reply.startswith(b"HTTP/1.1 403")
    assert reply.endswith(b"The event opens only a.example:443.\n")


def test_bytes_are_bounded(monkeypatch: pytest.MonkeyPatch, upstream: int) -> None:
    monkeypatch.setattr(proxy, "BYTES", 100)
    line = b"CONNECT 127.0.0.1:%d HTTP/1.1\r\n\r\n" % upstream
    reply = proxy_reply(line + b"x" * 200, f"127.0.0.1:{upstream}")
    assert b"x" not in reply


@pytest.mark.parametrize("address", ["169.254.169.254", "127.0.0.1", "10.0.0.1", "::1", "fd00::1"])
def test_a_name_that_stands_for_a_host_inside_is_not_reached(
    address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner may be the bot's author, who could reach what only the organiser's machine can."""
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(0, 0, 0, "", (address, 80))])
    monkeypatch.setattr(socket, "create_connection", lambda *_: pytest.fail("It is reached."))
    reply = proxy_reply(b"CONNECT a.example:80 HTTP/1.1\r\n\r\n", "a.example:80")
    assert reply.startswith(f"HTTP/1.1 502 a.example:80: it is {address}, ".encode())


def test_connections_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else a bot could make its proxy, which no limit of the bot counts, busy for ever."""
    monkeypatch.setattr(proxy, "BYTES", 3 * proxy.CONNECTION)
    with socket.create_server(("127.0.0.1", 0)) as server:
        clients = [socket.create_connection(server.getsockname()) for _ in range(4)]
        with pytest.raises(OSError, match="no bytes are left"):
            proxy.serve(server, frozenset())
        for client in clients:
            client.close()


def test_a_proxy_ends_with_its_stdin() -> None:
    """The proxy must not outlive a referee that is killed."""
    code = f"import sys; sys.path.insert(0, {str(Path(proxy.__file__).parents[2])!r});"
    code += "from arena.sandbox.proxy import end_with_stdin; end_with_stdin()"
    process = subprocess.run((sys.executable, "-c", code), stdin=subprocess.DEVNULL, timeout=120)
    assert process.returncode == 0
