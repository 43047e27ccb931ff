"""The adapter for chat completions against a service that fails, dawdles and talks nonsense."""

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib import import_module
from itertools import chain
from typing import Any

import msgspec
import pytest

from protocol.messages import Choose, FromBot, Unavailable
from tests.support.bots import BYE, FOLDER, HELLO, ask, game, talk
from tests.support.games import PLANS, any_of, hear_game, short

chat: Any = import_module("sample_bots.chat")

KEY = "sk-0123456789"
HAND = [(6, 5), (2, 1), (3, 3)]
Reply = Callable[[BaseHTTPRequestHandler], None]


def reply_with(text: object, status: int = 200, **usage: object) -> Reply:
    """Return a reply with this text as the model's answer."""
    return body(
        json.dumps({"choices": [{"message": {"content": text}}], "usage": usage}), status=status
    )


def body(text: str, status: int = 200, head: tuple[tuple[str, str], ...] = ()) -> Reply:
    def reply(request: BaseHTTPRequestHandler) -> None:
        request.send_response(status)
        for field in (*head, ("Content-Length", f"{len(text)}")):
            request.send_header(*field)
        request.end_headers()
        request.wfile.write(text.encode())

    return reply


def hang_up(request: BaseHTTPRequestHandler) -> None:
    request.close_connection = True


def stall(request: BaseHTTPRequestHandler) -> None:
    """Send the beginning of an answer, and the rest never."""
    request.send_response(200)
    request.end_headers()
    request.wfile.write(b"{")
    assert isinstance(request.server, Service)
    request.server.over.wait(20)


class Service(ThreadingHTTPServer):
    """A fake API that gives its replies in turn, then the last one for ever."""

    daemon_threads = True

    def __init__(self, *replies: Reply) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.replies = list(replies)
        self.models: Reply = body("{}")
        self.asked: list[dict[str, Any]] = []
        self.keys: set[str] = set()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Service

    def do_GET(self) -> None:
        self.server.models(self)

    def do_POST(self) -> None:
        size = int(self.headers["Content-Length"])
        self.server.asked.append(json.loads(self.rfile.read(size)))
        self.server.keys.add(self.headers["Authorization"])
        replies = self.server.replies
        (replies.pop(0) if len(replies) > 1 else replies[0])(self)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def serve() -> Iterator[Callable[..., Service]]:
    """Yield a function that starts a service with these replies."""
    services: list[Service] = []

    def start(*replies: Reply) -> Service:
        service = Service(*replies)
        services.append(service)
        threading.Thread(target=service.serve_forever, args=(0.01,), daemon=True).start()
        return service

    yield start
    for service in services:
        service.over.set()
        service.shutdown()
        service.server_close()


def choose(service: Service, *words: str, ms: int = 3_000) -> tuple[int | None, dict[str, Any]]:
    """Return the choice in one question, and its cost."""
    argv = ["chat.py", "--url", service.url, *words]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", argv)
        patch.setattr(chat, "PAUSE_S", 0.001)
        patch.setenv("API_KEY", KEY)
        model = chat.Model(chat.options_of_the_command())
        question = json.loads(ask(1, HAND)) | {"time_ms": ms}
        answer: tuple[int | None, dict[str, Any]] = model.choose(question)
        return answer


def test_a_question_is_put_into_words_and_the_answer_is_its_last_option(
    serve: Callable[..., Service],
) -> None:
    service = serve(reply_with("Not 0. I take 2.", prompt_tokens=200, completion_tokens=10))
    choice, usage = choose(service, "--cents-in", "100", "--cents-out", "1000", "--model", "m")
    assert choice == 2
    assert usage == {
        **{"tokens_in": 200, "tokens_out": 10, "cents": 0.03},
        **{"retries": 0, "failures": 0, "model_choices": 1},
    }
    (request,) = service.asked
    assert request["model"] == "m"
    assert "2: play 3-3 lead" in request["messages"][1]["content"]
    assert service.keys == {f"Bearer {KEY}"}


def test_an_answer_without_an_option_is_asked_for_again_once_with_the_error(
    serve: Callable[..., Service],
) -> None:
    service = serve(reply_with("7"), reply_with("1", prompt_tokens=5))
    choice, usage = choose(service)
    assert (choice, usage["retries"], usage["failures"], usage["model_choices"]) == (1, 1, 0, 1)
    *_, answer, error = service.asked[1]["messages"]
    assert answer == {"role": "assistant", "content": "7"}
    assert "one number from 0 to 3" in error["content"]
    service = serve(reply_with("7", prompt_tokens=5))
    choice, usage = choose(service)
    assert choice is None
    assert (usage["fallbacks"], len(service.asked), usage["tokens_in"]) == (1, 2, 10)


@pytest.mark.parametrize(
    ("text", "choice"),
    [
        ("play 6-5 left", 0),
        ("<think>pass</think>I cannot draw.\nPlay 5|6 on the right.", 1),
        ("**play [6|5] to the left**", 0),
        ("play 6–5, left", 0),
        ("play 6-5 (left end)", 0),
        ("play 3-3", 2),
        ("play 2-1 right", 6),
        ("play 2-1 left", None),
        ("play 6-5 left (the draw is worse)", None),
        ("do not play 6-5 left", None),
        ("play 6-5", None),
        ("pass", None),
        ("play 33-33 left", None),
        ("play_two 2-1, 6-6", 4),
        ("play_two 2-1", None),
        ("check", None),
        ("bid: 3", 5),
        ("bid 30", None),
        ("0", None),
        ("", None),
    ],
)
def test_a_model_without_a_list_names_its_move_by_itself(text: str, choice: int | None) -> None:
    options = [
        {"do": "play", "tile": [5, 6], "end": "left"},
        {"do": "play", "tile": [5, 6], "end": "right"},
        {"do": "play", "tile": [3, 3], "end": "left"},
        {"do": "draw"},
        {"do": "play_two", "left": [1, 2], "right": [6, 6]},
        {"do": "bid", "chips": 3},
        {"do": "play", "tile": [2, 1], "end": "right"},
    ]
    assert chat.move(text, options) == choice


@pytest.mark.parametrize("name", PLANS)
def test_every_option_of_a_game_can_be_named(name: str) -> None:
    seats, _ = PLANS[name]
    lines = chain.from_iterable(hear_game(short(name), seats, any_of(name)).lines)
    questions = [json.loads(line)["options"] for line in lines if b'"type":"ask"' in line]
    assert questions
    for options in questions:
        choices = [chat.move(chat.words(option), options) for option in options]
        assert choices == [*range(len(options))]


def test_without_a_list_no_question_names_an_option(serve: Callable[..., Service]) -> None:
    service = serve(reply_with("call"), reply_with("play 3-3 lead"))
    choice, usage = choose(service, "--options", "none")
    assert (choice, usage["retries"], usage["model_choices"]) == (2, 1, 1)
    first, second = service.asked
    assert "Options" not in first["messages"][1]["content"]
    assert "play 3-3" not in first["messages"][1]["content"]
    assert second["messages"][-1]["content"] == chat.AGAIN["none"]


@pytest.mark.parametrize("kind", ["random", "foul"])
def test_without_a_choice_of_the_model_the_bot_fouls_or_chooses_at_random(kind: str) -> None:
    choices = {chat.fallback(kind, f"line {n}", [{}] * 3) for n in range(50)}
    assert choices == ({0, 1, 2} if kind == "random" else {3})
    assert len({chat.fallback(kind, "line", [{}] * 3) for _ in range(50)}) == 1


@pytest.mark.parametrize("dead", [stall, hang_up, body("x", status=503), body("x", status=400)])
def test_a_service_that_stays_dead_costs_no_more_than_the_clock(
    dead: Reply, serve: Callable[..., Service]
) -> None:
    """It gives up with time to spare: the fallback must still be in time."""
    choice, usage = choose(serve(dead), ms=800)
    assert choice is None
    assert (usage["tokens_in"], usage["fallbacks"]) == (0, 1)
    assert usage["failures"] >= 1


def bot(*words: str) -> list[str]:
    return [sys.executable, "-I", "-S", str(FOLDER / "chat.py"), *words]


def test_a_whole_process_answers_and_states_its_cost(serve: Callable[..., Service]) -> None:
    service = serve(reply_with("1", prompt_tokens=50))
    lines = [HELLO, game(), ask(1, HAND), BYE]
    hello, answer = talk(bot("--url", service.url), lines)
    assert json.loads(hello)["type"] == "hello"
    message = msgspec.json.decode(answer, type=FromBot)
    assert isinstance(message, Choose)
    assert message.choice == 1
    assert message.usage
    assert message.usage.tokens_in == 50
    assert "dominoes (draw) at a table of 2" in service.asked[0]["messages"][0]["content"]


def test_without_its_service_it_is_unavailable_and_without_a_url_it_plays() -> None:
    (line,) = talk(bot("--url", "http://127.0.0.1:1/v1"), [HELLO])
    excuse = msgspec.json.decode(line, type=FromBot)
    assert isinstance(excuse, Unavailable)
    assert "refused" in excuse.why
    _, answer = talk(bot(), [HELLO, game(), ask(1, HAND), BYE])
    assert json.loads(answer)["id"] == 1
    assert "usage" not in json.loads(answer)
