"""Decides which scene plays, and what is said when none can."""

import logging
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.errors import SceneError
from agents.rehearsal import lines, smalltalk
from agents.rehearsal.playing import Broken, Lost, Outcome, next_act
from agents.rehearsal.reading import Moment
from toolsets.scenes import Act, Call, Cue, Say, Scene, Use
from toolsets.words import Locale, Words

logger = logging.getLogger(__name__)

MOST_SUGGESTIONS = 6


@dataclass(frozen=True, kw_only=True)
class Offer:
    """What a request lets the model call."""

    tools: frozenset[str]
    """What can be called now, tool search left out."""
    deferred: frozenset[str] = frozenset()
    """What tool search could reveal."""
    search: str | None = None
    """The name of tool search, when it is offered."""


@dataclass(frozen=True)
class _Audition:
    scene: Scene
    outcome: Outcome
    missing: tuple[str, ...]
    """Tools that the outcome calls and that can't be called now."""


class Casting:
    """The scenes in their order; the first that can go on from where the turn stands plays.

    Raises SceneError when a pattern isn't a regular expression.
    """

    def __init__(self, scenes: Sequence[Scene], suggestions: Sequence[Words] = ()) -> None:
        self._scenes = tuple(
            (scene, tuple(_compiled(scene, pattern) for pattern in scene.patterns)) for scene in scenes
        )
        self._suggestions = tuple(suggestions)

    def act(self, moment: Moment, offer: Offer) -> Act:
        """What to do now. Never raises; never calls a tool that isn't offered; a `Say` is never empty."""
        if moment.steps and not offer.tools and offer.search is None:
            return Say(lines.stopped(_done(moment), moment.locale))
        auditions = list(self._auditions(moment, offer))
        for audition in auditions:
            if isinstance(audition.outcome, Use | Say) and not audition.missing:
                return audition.outcome
        if auditions:
            return _instead(min(auditions, key=lambda audition: _rank(audition, offer)), moment, offer)
        if moment.steps:
            return Say(lines.lost(moment.locale))
        return Say(smalltalk.reply(moment.text, moment.locale, self._can(moment.locale, offer)))

    def _auditions(self, moment: Moment, offer: Offer) -> Iterator[_Audition]:
        for scene, match in self._matching(moment.text):
            cue = _cue(moment.text, match, moment.locale, offer, moment.earlier)
            outcome = next_act(scene, cue, moment.steps)
            if isinstance(outcome, Broken):
                logger.error("scene %s broke: %s", scene.name, outcome.reason, exc_info=outcome.error)
            yield _Audition(scene, outcome, _missing(outcome, offer.tools))

    def _matching(self, text: str) -> Iterator[tuple[Scene, re.Match[str]]]:
        for scene, patterns in self._scenes:
            match = next((found for pattern in patterns if (found := pattern.search(text))), None)
            if match is not None:
                yield scene, match

    def _can(self, locale: Locale, offer: Offer) -> str:
        if not self._suggestions:
            return lines.can((), [scene.name.replace("_", " ") for scene, _ in self._scenes], locale)
        suggested = [words.said(locale) for words in self._suggestions]
        playable = [text for text in suggested if self._plays(text, locale, offer)]
        return lines.can(playable[:MOST_SUGGESTIONS], (), locale)

    def _plays(self, text: str, locale: Locale, offer: Offer) -> bool:
        """Whether a scene for this message could begin with what is offered."""
        reachable = offer.tools | offer.deferred
        for scene, match in self._matching(text):
            outcome = next_act(scene, _cue(text, match, locale, offer), ())
            if isinstance(outcome, Use | Say) and not _missing(outcome, reachable):
                return True
        return False


def _compiled(scene: Scene, pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern, re.IGNORECASE)
    except re.error as error:
        raise SceneError(f"scene {scene.name!r}: {pattern!r} is not a regular expression: {error}") from error


def _cue(text: str, match: re.Match[str], locale: Locale, offer: Offer, earlier: tuple[str, ...] = ()) -> Cue:
    groups = {name: value for name, value in match.groupdict().items() if value is not None}
    return Cue(text=text, match=groups, locale=locale, earlier=earlier, tools=offer.tools)


def _missing(outcome: Outcome, tools: frozenset[str]) -> tuple[str, ...]:
    if not isinstance(outcome, Use):
        return ()
    return tuple(dict.fromkeys(call.tool for call in outcome.calls if call.tool not in tools))


def _rank(audition: _Audition, offer: Offer) -> int:
    """Which of the scenes that can't go on speaks: one that a search may help, one that lacks tools, then the rest."""
    match audition.outcome:
        case Use():
            return 0 if offer.deferred.issuperset(audition.missing) else 1
        case Broken():
            return 2
        case _:
            return 3


def _instead(audition: _Audition, moment: Moment, offer: Offer) -> Act:
    match audition.outcome:
        case Use():
            sought = [tool for tool in audition.missing if tool not in moment.searched]
            if offer.search is not None and sought and offer.deferred.issuperset(audition.missing):
                return Use(Call(offer.search, {"queries": sought}))
            return Say(lines.unavailable(audition.missing, moment.locale))
        case Broken():
            return Say(lines.broken(audition.scene.name, moment.locale))
        case Lost() | Say():
            return Say(lines.lost(moment.locale))


def _done(moment: Moment) -> list[str]:
    done = (
        tool
        for step in moment.steps
        for tool, result in zip(step.tools, step.results, strict=True)
        if result.status == "ok"
    )
    return list(dict.fromkeys(done))
