"""The Containerfile names what exists, and the packages that the languages of `new` need."""

import re
from pathlib import Path

from tournaments.plan.scaffold import languages

ROOT = Path(__file__).parents[3]
CONTAINERFILE = ROOT / "arena" / "sandbox" / "Containerfile"


def test_the_containerfile_copies_what_there_is_and_installs_the_toolchains() -> None:
    text = CONTAINERFILE.read_text()
    for sources in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE):
        for name in sources.split():
            assert (ROOT / name).exists(), name
    (packages,) = re.findall(r'^ARG TOOLCHAINS="(.+)"$', text, re.MULTILINE)
    for key, language in languages().items():
        package = language.install.removeprefix("apt install ")
        # Debian's base has dash; TypeScript needs a newer Node than Debian's.
        if language.install != package and key != "sh":
            assert any(name.startswith(package) for name in packages.split()), language.install
