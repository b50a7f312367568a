"""What the rehearsal model can play in the garden."""

from toolsets.scenes import Call, Cue, Play, Say, Scene, Use

STORY = " ".join(f"Day {day}: it grew a little, and nobody could say how." for day in range(1, 41))


def grow(cue: Cue) -> Play:
    """`grow basil, mint`: one call a name, in one response. `… then look at X` looks afterwards."""
    names = [name.strip() for name in cue.match["names"].split(",")]
    done = yield Use(*(Call("plant", {"name": name}) for name in names))
    if place := cue.match.get("place"):
        yield Use(Call("look", {"place": place}))
    yield Say("; ".join(f"{name}: {one.status}" for name, one in zip(names, done, strict=True)))


def sprinkle(cue: Cue) -> Play:
    (done,) = yield Use(Call("water", {"name": cue.match["name"]}))
    yield Say(f"{cue.match['name']}: {done.status}")


def watch(cue: Cue) -> Play:
    """`watch X`: says something, looks at X, tells a long story."""
    yield Use(Call("look", {"place": cue.match["place"]}), text="Let me see what grows there.")
    yield Say(STORY)


def tell(cue: Cue) -> Play:
    yield Say(STORY)


SCENES = (
    Scene(name="grow", patterns=(r"^grow (?P<names>[\w, -]+?)(?: then look at (?P<place>\w+))?$",), play=grow),
    Scene(name="sprinkle", patterns=(r"^water (?P<name>[\w-]+)$",), play=sprinkle),
    Scene(name="watch", patterns=(r"^watch (?P<place>\w+)$",), play=watch),
    Scene(name="tell", patterns=(r"^a story",), play=tell),
)
