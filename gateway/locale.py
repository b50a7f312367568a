"""Which of the two languages a request wants."""

from toolsets.words import Locale


def preferred_locale(accept_language: str | None) -> Locale | None:
    """The better liked of zh and en in an `Accept-Language` header; None when it names neither."""
    best: tuple[float, Locale] | None = None
    for entry in (accept_language or "").split(","):
        tag, _, parameter = entry.strip().partition(";")
        locale = spoken(tag)
        quality = _quality(parameter)
        if locale is not None and quality > 0 and (best is None or quality > best[0]):
            best = (quality, locale)
    return best[1] if best else None


def spoken(tag: str) -> Locale | None:
    """The locale of a language tag (`zh-Hans-CN`, `en_GB`)."""
    primary = tag.strip().lower().replace("_", "-").split("-")[0]
    return "zh" if primary == "zh" else "en" if primary == "en" else None


def _quality(parameter: str) -> float:
    name, _, value = parameter.strip().partition("=")
    if not name:
        return 1.0
    try:
        return float(value) if name.strip() == "q" else 1.0
    except ValueError:
        return 0.0
