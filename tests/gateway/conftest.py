"""The gateway asks nothing of a database that differs between the two: one of them is enough here."""

import pytest


@pytest.fixture
def backend() -> str:
    return "sqlite"
