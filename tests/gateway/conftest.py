"""The gateway asks nothing of a database that differs between the two: one of them is enough here."""

from collections.abc import Iterator

import pytest

from tests.contracts.sdk import NOT_INSTALLED, StreamReader, install, stream_reader


@pytest.fixture
def backend() -> str:
    return "sqlite"


@pytest.fixture(scope="session")
def sdk() -> None:
    """The AI SDK is there; installing it the first time takes the npm registry."""
    if not install():
        pytest.skip(NOT_INSTALLED)


@pytest.fixture(scope="session")
def reader(sdk: None) -> Iterator[StreamReader]:
    """The AI SDK as a strict reader of streams."""
    with stream_reader() as reader:
        yield reader
