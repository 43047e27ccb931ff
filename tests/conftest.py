"""Settings of the whole suite."""

import os
import sys

from hypothesis import HealthCheck, settings

# Hundreds of interpreters are started: each would compile everything anew where bytecode is not
# kept, as images for containers like to have it.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

settings.register_profile(
    "suite",
    deadline=None,
    derandomize=True,
    max_examples=60,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")
