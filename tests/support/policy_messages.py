"""What a referee sends to a trained policy that is played as a bot."""

from arena.rules.variants import find_variant
from protocol.codec import encode_line
from protocol.messages import Ask, Bye, Clock, Draw, GameStarts, Hello, Play, Stock

PATIENCE = 120
"""Seconds for a whole conversation; it takes a fraction of one."""
HELLO = encode_line(Hello(protocol=1, referee="test"))
BYE = encode_line(Bye())


def game(number: int, seat: int = 0) -> bytes:
    return encode_line(
        GameStarts(
            game=number,
            seat=seat,
            seats=2,
            partners=False,
            rules=find_variant("draw"),
            target=100,
            clock=Clock(),
        )
    )


def ask(id: int, number: int = 1, seat: int = 0) -> bytes:
    return encode_line(
        Ask(
            id=id,
            game=number,
            round=1,
            time_ms=1000,
            seat=seat,
            hand=((6, 5), (5, 5)),
            line=((5, 4),),
            ends=(5, 4),
            boneyard=Stock(tiles=14, drawable=12),
            hands=(2, 7),
            scores=(0, 0),
            pot=0,
            events=[],
            options=(Play((6, 5), "left"), Play((5, 5), "left"), Draw()),
        )
    )
