"""Sentences in the two languages of the people who use Placet."""

from dataclasses import dataclass
from typing import Literal

Locale = Literal["zh", "en"]
"""A language that a person can be answered in."""


@dataclass(frozen=True, slots=True)
class Words:
    """One sentence (or word) in Chinese and English."""

    zh: str
    en: str

    def said(self, locale: Locale) -> str:
        return self.zh if locale == "zh" else self.en

    @classmethod
    def same(cls, text: str) -> "Words":
        """A name or value that reads alike in both languages."""
        return cls(zh=text, en=text)
