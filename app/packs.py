"""Which packs there are: those that ship, those installed (entry points), those that `PLACET_PACKS` names."""

from importlib.metadata import entry_points
from pkgutil import resolve_name

from app.settings import Settings, SettingsError
from toolsets import planning, scheduling
from toolsets.errors import RegistrationError
from toolsets.pack import Pack

GROUP = "placet.packs"


def load_packs(settings: Settings) -> tuple[Pack, ...]:
    """Every pack, in a stable order. Raises SettingsError or RegistrationError, naming the pack that can't be had."""
    shipped = (planning.build_pack(), scheduling.build_pack())
    installed = tuple(_installed())
    named = tuple(_named(path) for path in settings.packs)
    return (*shipped, *installed, *named)


def _installed() -> list[Pack]:
    packs: list[Pack] = []
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        try:
            packs.append(_pack(entry.load()))
        except (ImportError, AttributeError, TypeError) as error:
            raise RegistrationError(
                f"the installed pack {entry.name!r} ({entry.value}) can't be used: {error}"
            ) from error
    return packs


def _named(path: str) -> Pack:
    try:
        return _pack(resolve_name(path))
    except (ImportError, AttributeError, ValueError, TypeError) as error:
        raise SettingsError(f"PLACET_PACKS: {path!r} can't be used: {error}") from error


def _pack(found: object) -> Pack:
    """A pack, or what a function without parameters makes."""
    made: object = found() if callable(found) else found
    if not isinstance(made, Pack):
        raise TypeError("it is neither a Pack nor a function that makes one")
    return made
