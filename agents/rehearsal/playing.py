"""Plays a scene as far as the turn has come: its generator is run from the start and fed the results so far."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agents.rehearsal.reading import Step
from toolsets.scenes import Act, Cue, Say, Scene, Use


@dataclass(frozen=True)
class Lost:
    """The turn isn't what this scene would have done: another scene or another model made its calls."""


@dataclass(frozen=True)
class Broken:
    """The scene's own code failed."""

    reason: str
    error: Exception | None = None


Outcome = Act | Lost | Broken


def next_act(scene: Scene, cue: Cue, steps: Sequence[Step]) -> Outcome:
    """What the scene does after `steps`. Never raises, whatever the scene's code does."""
    try:
        return _replayed(scene, cue, steps)
    except Exception as error:  # noqa: BLE001 - a scene is foreign code, and a broken one must not end the turn
        return Broken(f"{type(error).__name__}: {error}", error)


def _replayed(scene: Scene, cue: Cue, steps: Sequence[Step]) -> Outcome:
    play = scene.play(cue)
    try:
        act = next(play)
        for step in steps:
            if not isinstance(act, Use) or tuple(call.tool for call in act.calls) != step.tools:
                return Lost()
            act = play.send(step.results)
        return _checked(act)
    except StopIteration:
        return Broken("the scene ended without a word")
    finally:
        play.close()


def _checked(act: object) -> Outcome:
    match act:
        case Use(calls=(), text=text) | Say(text=text) if text.strip():
            return Say(text)
        case Use(calls=calls) if calls:
            for call in calls:
                json.dumps(dict(call.arguments))
            return act
        case _:
            return Broken(f"the scene yielded nothing that can be said or done: {act!r}")
