"""Files by which somebody outside holds a tool still, and sees that it stands."""

import asyncio
import os
from dataclasses import dataclass
from pathlib import Path

from toolsets.deps import ToolDeps

POLL_S = 0.01


@dataclass(frozen=True)
class Weather:
    """While the file `hold-NAME` is there, whoever passes NAME stands; `held-NAME` says so."""

    folder: Path

    async def pass_by(self, name: str) -> None:
        hold, held = self.folder / f"hold-{name}", self.folder / f"held-{name}"
        if not hold.exists():
            return
        held.touch()
        while hold.exists():  # noqa: ASYNC110 - the one who holds is another process
            await asyncio.sleep(POLL_S)


def weather_of(deps: ToolDeps) -> Weather:
    return Weather(Path(os.environ["GARDEN_WEATHER"]))
