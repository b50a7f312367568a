"""Approve the diff (DESIGN.md §4)."""

from toolsets.gate.bench import GateSettings
from toolsets.gate.calls import Actor, Draws, GateCall, Proposal, Symbols
from toolsets.gate.gate import Gate
from toolsets.gate.outcomes import Done, Executed, Moved, NotExecuted, stored_symbols
from toolsets.gate.seal import seal_of, sealed
from toolsets.gate.shown import card_as_json, rows_in, summary_in

__all__ = [
    "Actor",
    "Done",
    "Draws",
    "Executed",
    "Gate",
    "GateCall",
    "GateSettings",
    "Moved",
    "NotExecuted",
    "Proposal",
    "Symbols",
    "card_as_json",
    "rows_in",
    "seal_of",
    "sealed",
    "stored_symbols",
    "summary_in",
]
