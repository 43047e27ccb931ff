"""The proxy of one bot; this file runs as a program: `python -I -S proxy.py PID HOST:PORT…`.

It listens in the network namespace of a bot's process, where the bot has nothing but loopback, and
opens connections to the listed addresses from outside: by CONNECT, or as an HTTP proxy. It resolves
names itself, so that the bot needs no name server, but refuses a name of a private address: its
owner, who may be the bot's author, could set it. It ends when stdin ends or no bytes are left.
"""

import ctypes
import ipaddress
import os
import select
import socket
import sys
import threading
import time

if sys.platform != "win32":  # Its port is imported everywhere.
    import fcntl

PORT = 3128
"""The port in the bot's namespace."""
NET, USER = 0x4000_0000, 0x1000_0000
NS_GET_USERNS = 0xB701
NOBODY = 65_534
CONNECTIONS = 8
"""Connections that the bot may have at once."""
BYTES = 2**28
"""Bytes that the bot may send and receive in all its life."""
CONNECTION = 4096
"""Part of `BYTES` that each connection costs, so that connections are bounded too."""
HEAD = 16_384
"""Bytes of a request's head."""
HEAD_S = 10.0
"""Seconds in which the whole head must come."""
CONNECT_S = 30.0
"""Seconds that each address of a host has to accept a connection."""
ADDRESSES = 4
"""Addresses of a host that are tried."""
IDLE_S = 900.0
"""Seconds after which a silent connection is closed."""


class Allowance:
    """The bytes that are left; all connections share them."""

    def __init__(self) -> None:
        self._left = BYTES
        self._lock = threading.Lock()

    def take(self, count: int) -> None:
        """Take some bytes. Raises OSError if too few are left."""
        with self._lock:
            self._left -= count
            if self._left < 0:
                raise OSError("no bytes are left")


def enter(pid: int) -> None:
    """Enter the network namespace of a process, for good; if not root, its user namespace first."""
    net = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY)
    if os.geteuid():
        _set(fcntl.ioctl(net, NS_GET_USERNS), USER)
    _set(net, NET)


def _set(descriptor: int, kind: int) -> None:
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, kind):
        raise OSError(ctypes.get_errno(), "setns")


def listen(pid: int) -> socket.socket:
    """Return a socket that listens in the namespace; a child makes it, for entering is final."""
    ours, theirs = socket.socketpair()
    child = os.fork()
    if child == 0:
        try:
            enter(pid)
            # Loopback may not be up yet, and nothing else is there.
            server = socket.create_server(("0.0.0.0", PORT), backlog=CONNECTIONS)
            socket.send_fds(theirs, [b"1"], [server.fileno()])
        except OSError as error:
            theirs.send(f"{error}".encode())
        os._exit(0)
    data, descriptors, _, _ = socket.recv_fds(ours, 200, 1)
    os.waitpid(child, 0)
    if not descriptors:
        sys.exit(data.decode())
    return socket.socket(fileno=descriptors[0])


def serve(server: socket.socket, allowed: frozenset[str]) -> None:
    """Serve connections, each in a thread; close those beyond the limit.

    Raises OSError if no bytes are left.
    """
    places, allowance = threading.BoundedSemaphore(CONNECTIONS), Allowance()

    def work(client: socket.socket) -> None:
        try:
            with client:
                serve_connection(client, allowed, allowance)
        except (OSError, ValueError):
            pass
        finally:
            places.release()

    while True:
        allowance.take(CONNECTION)
        client, _ = server.accept()
        if places.acquire(blocking=False):
            threading.Thread(target=work, args=(client,), daemon=True).start()
        else:
            client.close()


def serve_connection(client: socket.socket, allowed: frozenset[str], allowance: Allowance) -> None:
    """Serve one connection: judge its first request, then pass on bytes. Raises OSError."""
    head, end = b"", time.monotonic() + HEAD_S
    while b"\r\n\r\n" not in head:
        if (left := end - time.monotonic()) <= 0:
            return
        client.settimeout(left)
        data = client.recv(HEAD)
        head += data
        if not data or len(head) > HEAD:
            return
    line, _, rest = head.partition(b"\r\n")
    method, target, version = line.decode("ascii").split(" ")
    name, path = address(method, target)
    if name not in allowed:
        refuse(client, 403, f"The event opens only {', '.join(sorted(allowed))}.")
        return
    host, _, port = name.rpartition(":")
    try:
        server = connect_host(host, int(port))
    except OSError as error:
        refuse(client, 502, f"{name}: {error}")
        return
    with server:
        if method == "CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
            first = head.partition(b"\r\n\r\n")[2]
        else:
            first = f"{method} {path} {version}\r\n".encode() + rest
        allowance.take(len(first))
        server.sendall(first)
        carry(client, server, allowance)


def connect_host(host: str, port: int) -> socket.socket:
    """Connect to a host. A name with a dot must stand for one outside. Raises OSError."""
    why = OSError("it has no address")
    ips = [f"{info[4][0]}" for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    for ip in ips[:ADDRESSES]:
        if "." in host and host != ip and not ipaddress.ip_address(ip).is_global:
            why = OSError(f"it is {ip}, an address inside. List the address itself to open it")
            continue
        try:
            return socket.create_connection((ip, port), CONNECT_S)
        except OSError as error:
            why = error
    raise why


def address(method: str, target: str) -> tuple[str, str]:
    """Return the host and port that a request is for, and the path on it."""
    if method == "CONNECT":
        return target.lower(), ""
    scheme, _, rest = target.partition("://")
    name, slash, path = rest.partition("/")
    port = "" if ":" in name else ":80"
    return f"{name.lower()}{port}" if scheme == "http" else "", f"/{path}" if slash else "/"


def refuse(client: socket.socket, status: int, why: str) -> None:
    """Answer a request with an error."""
    body = f"{why}\n".encode()
    # Many clients show the first line only.
    head = f"HTTP/1.1 {status} {why}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    client.sendall(head.encode() + body)


def carry(client: socket.socket, server: socket.socket, allowance: Allowance) -> None:
    """Pass bytes on in both directions until both have ended. Raises OSError."""
    ends = {client: server, server: client}
    for end in ends:
        end.settimeout(IDLE_S)
    while ends:
        ready, _, _ = select.select([*ends], [], [], IDLE_S)
        if not ready:
            return
        for end in ready:
            data = end.recv(65_536)
            allowance.take(len(data))
            if data:
                ends[end].sendall(data)
            else:
                ends.pop(end).shutdown(socket.SHUT_WR)


def end_with_stdin() -> None:
    """End this process when its stdin ends: the referee is gone, or has let the bot go."""
    sys.stdin.read()
    os._exit(0)


def serve_bot() -> None:
    """Listen, say so, give up all rights, serve."""
    pid, *allowed = sys.argv[1:]
    server = listen(int(pid))
    if os.geteuid() == 0:
        # Later nobody may read the module of this encoding, which each host's name needs.
        "".encode("idna")
        os.setgroups([])
        os.setresgid(NOBODY, NOBODY, NOBODY)
        os.setresuid(NOBODY, NOBODY, NOBODY)
    print("ready", flush=True)
    threading.Thread(target=end_with_stdin, daemon=True).start()
    try:
        serve(server, frozenset(address.lower() for address in allowed))
    except OSError:
        os._exit(0)


if __name__ == "__main__":
    serve_bot()
