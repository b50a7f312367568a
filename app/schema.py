"""The schema before the server starts: brought up to date where that is safe, else a sentence."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from sqlalchemy.engine import make_url

from app.errors import DATABASE_AWAY, CommandError, first_line
from app.settings import Settings
from stores.migrate import UnknownVersion, migrate, pending
from toolsets.pack import Pack


def version_folders(packs: Iterable[Pack]) -> tuple[Path, ...]:
    """Where packs that have a history of their own keep its versions."""
    return tuple(pack.migrations for pack in packs if pack.migrations is not None)


def sqlite_file(settings: Settings) -> Path | None:
    """The database's file; None when it isn't one of this machine."""
    url = make_url(settings.database_url)
    return Path(url.database).absolute() if url.get_backend_name() == "sqlite" and url.database else None


async def bring_up_to_date(settings: Settings, folders: Sequence[Path]) -> list[str]:
    """Apply what is missing and return the versions applied. Raises CommandError."""
    _require_folder(settings)
    try:
        return await migrate(settings.database_url, folders)
    except UnknownVersion as error:
        raise CommandError(f"{_capital(str(error))}. Install the newer release, or use another database.") from None
    except DATABASE_AWAY as error:
        raise unreachable(error) from None


async def require_complete(settings: Settings, folders: Sequence[Path]) -> None:
    """Raises CommandError when a version is missing: replicas of a larger house don't change its database unasked."""
    _require_folder(settings)
    try:
        missing = await pending(settings.database_url, folders)
    except DATABASE_AWAY as error:
        raise unreachable(error) from None
    if missing:
        raise CommandError(
            f"The database lacks {len(missing)} schema version(s) ({', '.join(missing)}). "
            "Run `python -m app migrate`, or start with --migrate."
        )


def unreachable(error: BaseException) -> CommandError:
    return CommandError(f"PLACET_DATABASE_URL: the database can't be used: {first_line(error)}")


def _require_folder(settings: Settings) -> None:
    file = sqlite_file(settings)
    if file is not None and not file.parent.is_dir():
        raise CommandError(f"PLACET_DATABASE_URL: there is no folder {file.parent}; make it, or change the setting.")


def _capital(sentence: str) -> str:
    return sentence[:1].upper() + sentence[1:]
