"""Settings of the whole suite."""

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, is_hypothesis_test, settings
from hypothesis.internal.conjecture import providers

from arena import processes
from arena.files import temporary_folder
from tests.support import events
from tests.support.fast_run import EVERY_EXAMPLE, FAST_EXAMPLES
from tournaments.cli import run

# Hundreds of interpreters are started: each would compile everything anew where bytecode is not
# kept, as images for containers like to have it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Tests run side by side: further threads of numpy would only wait for the processors.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# No test remembers that another one locked bots in: where nothing can be written, nothing is.
os.environ["XDG_STATE_HOME"] = os.devnull

settings.register_profile(
    "every",
    deadline=None,
    derandomize=True,
    max_examples=EVERY_EXAMPLE,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("fast", settings.get_profile("every"), max_examples=FAST_EXAMPLES)
settings.load_profile("every")


def is_fast(config: pytest.Config) -> bool:
    """Tell whether only what is not slow is run."""
    return "not slow" in config.getoption("markexpr")


def pytest_configure(config: pytest.Config) -> None:
    if is_fast(config):
        settings.load_profile("fast")
        # The constants of all modules that happen to be loaded are left to the slow run: each
        # process would parse the whole tree, and a test's examples depend on its process.
        providers._get_local_constants = lambda: providers._local_constants
    events.open_library()
    gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Close the library, where this is no worker of another process."""
    if not hasattr(session.config, "workerinput") and (changed := events.close_library()):
        print(f"\nTests have changed what others read: {', '.join(changed)}. Let them use copy_of.")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_collection_finish() -> None:
    """Leave the modules and the collected tests, which stay to the end, out of every collection."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark every property slow too, but in the fast run: there it is tried with few examples.

    Begin with the tests of the whole program: those that take longest should not come last.
    """
    items.sort(key=lambda item: item.path.parent != Path(__file__).parent)
    if not is_fast(config):
        for item in items:
            if is_hypothesis_test(getattr(item, "obj", None)):
                item.add_marker(pytest.mark.slow)


@pytest.fixture(scope="session", autouse=True)
def small_events() -> Iterator[None]:
    """Read logs in this process and make no replays, unless a test wants them.

    An event of ours is read sooner than others start; its replays take as long as its games.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(processes, "cores", lambda: 1)
        patch.setattr(run, "MOST_REPLAYS", 0)
        yield


@pytest.fixture
def few_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Search for hidden tiles once: what cannot be found is searched for up to a second."""
    monkeypatch.setattr("arena.analysis.alternative_deals.MOST_CLIMBS", 1)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """Yield a folder that bots with users of their own may enter, unlike pytest's `tmp_path`."""
    with temporary_folder("test", shared=True) as folder:
        yield folder


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep Boneyard's own cache of the tests apart; all other caches are the user's."""
    users = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    cache = tmp_path_factory.mktemp("cache")
    for entry in users.iterdir() if users.is_dir() else ():
        if entry.name != "boneyard":
            (cache / entry.name).symlink_to(entry)
    # To compile the interpreter of sealed bots takes 10 s, and it is the same for everybody.
    python = users / "boneyard" / "sealed"
    python.mkdir(parents=True, exist_ok=True)
    (cache / "boneyard").mkdir()
    (cache / "boneyard" / "sealed").symlink_to(python)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(cache))
        yield
