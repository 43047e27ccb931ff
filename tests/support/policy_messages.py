"""What a referee sends to a trained policy that is played as a bot."""

from msgspec.structs import replace

from protocol.codec import decode_from_referee, encode_line
from protocol.messages import Ask, GameStarts
from tests.support import scripted_bots

PATIENCE = scripted_bots.PATIENCE
HELLO, BYE = scripted_bots.HELLO + b"\n", scripted_bots.BYE + b"\n"


def game(number: int, seat: int = 0) -> bytes:
    message = decode_from_referee(scripted_bots.game())
    assert isinstance(message, GameStarts)
    return encode_line(replace(message, game=number, seat=seat))


def ask(id: int, number: int = 1, seat: int = 0) -> bytes:
    """Ask with a play at the left end, one at both, and a draw."""
    message = decode_from_referee(scripted_bots.ask(id, [(6, 5), (5, 5)], [(5, 4)]))
    assert isinstance(message, Ask)
    return encode_line(replace(message, game=number, seat=seat))
