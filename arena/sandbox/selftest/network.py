"""The test of `network`: the listed address is reached, and nothing else, nor by another bot."""

import os
import secrets
import socket
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread

from arena.sandbox.command import Command
from arena.sandbox.limits import LOCKED, Limits
from arena.sandbox.selftest.processes import CannotProbeError, Starter, ask_process, close_pipes
from protocol.codec import encode_json

HOME = "127.0.0.1"
ALLOWED = ("tunnel", "request")
"""The ways to the listed address, which must be open."""
ATTEMPTS = """
import json, socket, sys
given = json.loads(sys.stdin.readline())
PROXY, HOME, (port, other), token = ("127.0.0.1", 3128), "127.0.0.1", given["ports"], given["token"]

def asked(line):
    with socket.create_connection(PROXY, 3) as proxy:
        proxy.sendall(line.encode() + b"\\r\\n\\r\\n")
        said = b""
        while token.encode() not in said:
            more = proxy.recv(4096)
            if not more:
                return False
            said += more
        return True

def connected(address, kind=socket.SOCK_STREAM):
    with socket.socket(socket.AF_INET, kind) as one:
        one.settimeout(1)
        one.connect(address)
        return True

def opened(*kind):
    return bool(socket.socket(*kind))

def listened():
    with socket.socket() as one:
        one.bind((HOME, 0))
        return True

attempts = {
    "tunnel": lambda: asked(f"CONNECT {HOME}:{port} HTTP/1.1"),
    "request": lambda: asked(f"GET http://{HOME}:{port}/ HTTP/1.1"),
    "tunnel-to-another-port": lambda: asked(f"CONNECT {HOME}:{other} HTTP/1.1"),
    "request-to-another-port": lambda: asked(f"GET http://{HOME}:{other}/ HTTP/1.1"),
    "another-name": lambda: asked(f"CONNECT localhost:{port} HTTP/1.1"),
    "user-in-the-name": lambda: asked(f"GET http://{HOME}:{port}@{HOME}:{other}/ HTTP/1.1"),
    "around-the-proxy": lambda: connected((HOME, port)),
    "route-outside": lambda: connected(("192.0.2.1", 53), socket.SOCK_DGRAM),
    "name-server": lambda: bool(socket.getaddrinfo("localhost.localdomain.example.com", 80)),
    "unix-socket": lambda: opened(socket.AF_UNIX),
    "netlink-socket": lambda: opened(socket.AF_NETLINK, socket.SOCK_RAW),
    "raw-socket": lambda: opened(socket.AF_INET, socket.SOCK_RAW, 1),
    "packet-socket": lambda: opened(17, socket.SOCK_RAW),
    "socket-of-ipv6": lambda: opened(socket.AF_INET6),
    "listen": listened,
    "proxy": lambda: connected(PROXY),
}
found = {}
for name in given["names"] or attempts:
    try:
        found[name] = attempts[name]()
    except OSError:
        found[name] = False
print(json.dumps(found), flush=True)
sys.stdin.read()
"""
"""A program that runs as a bot and says which of its attempts got through."""
NEIGHBOUR = "proxy"
"""The attempt of another bot, without a network, at the same proxy."""


def network_faults() -> list[str]:
    """Return what a bot with a network reaches that it should not, or does not that it should.

    It runs locked and without a cgroup, which changes nothing of it. Takes about 0.3 s.
    Raises CannotProbeError, OSError.
    """
    token = secrets.token_hex(8)
    with _server(token) as port, _server(token) as other:
        order = {"ports": (port, other), "token": token, "names": ()}
        with (
            _bot((f"{HOME}:{port}",), order) as outcomes,
            _bot((), {**order, "names": (NEIGHBOUR,)}) as neighbours,
        ):
            wrong = [name for name in outcomes if outcomes[name] != (name in (*ALLOWED, "proxy"))]
            return wrong + [f"{name} of another bot" for name in neighbours if neighbours[name]]


@contextmanager
def _server(token: str) -> Iterator[int]:
    """Yield the port of a server that says the token to everybody."""

    def work() -> None:
        with suppress(OSError):
            while True:
                client, _ = server.accept()
                with client, suppress(OSError):
                    client.sendall(f"{token}\r\n".encode())

    with closing(socket.create_server((HOME, 0))) as server:
        Thread(target=work, daemon=True).start()
        try:
            yield server.getsockname()[1]
        finally:
            with suppress(OSError):
                server.shutdown(socket.SHUT_RDWR)


@contextmanager
def _bot(network: tuple[str, ...], order: object) -> Iterator[dict[str, bool]]:
    """Yield what a bot with this network got; it lives until the block ends."""
    python, starter = os.path.realpath(sys.executable), Starter(LOCKED, Limits())
    words = (python, "-I", "-S", "-c", ATTEMPTS)
    process = starter.start_command(Command(words, "/usr", (sys.base_prefix,), network=network))
    try:
        yield ask_process(process, encode_json(order))
    finally:
        starter.end(process)
        close_pipes(process)


def describe_network() -> str:
    """Return the result of the test in a sentence."""
    try:
        wrong = network_faults()
    except (OSError, CannotProbeError) as error:
        return f"`network` does not work: {error}"
    if wrong:
        return f"`network` does not keep its promise: {', '.join(wrong)}."
    return "`network` works: a bot reached the listed address and nothing else."
