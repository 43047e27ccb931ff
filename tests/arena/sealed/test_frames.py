"""The frames of a host, as the referee reads them."""

from hypothesis import given
from hypothesis import strategies as st

from arena.sealed.module import GAME_START, FrameReader

LINES = st.lists(
    st.sampled_from([GAME_START + b'"game":1}', b'{"type":"ask"}', b"", GAME_START[:-1], b"x"])
)


@given(LINES, st.lists(st.integers(1, 40)))
def test_games_are_counted_however_lines_are_cut(lines: list[bytes], cuts: list[int]) -> None:
    data, reader = b"".join(line + b"\n" for line in lines), FrameReader()
    games = sum(line.startswith(GAME_START) for line in lines)
    for cut in cuts:
        reader.note_sent(data[:cut])
        data = data[cut:]
    reader.note_sent(data)
    frame = reader.read(b"%d 1500000 =hi" % games)
    assert frame == (b"hi", None, 1.5)
    assert reader.read(b"%d 0 =hi" % (games + 1)) is None


@given(st.binary().filter(lambda line: b"\n" not in line))
def test_any_line_is_read(line: bytes) -> None:
    frame = FrameReader().read(line)
    assert frame is None or (frame.line is None) != (frame.fault is None)


def test_the_end_of_an_instance_is_a_fault() -> None:
    frame = FrameReader().read(b"0 7 !late It took \x1b too long.")
    assert frame is not None
    assert frame.fault == ("late", "It took \\x1b too long.")
    broken = FrameReader().read(b"0 7 !strange")
    assert broken is not None
    assert broken.fault is not None
    assert broken.fault.foul == "gone"
