"""The rehearsal model: plays the packs' scenes without a network, and says that it is one."""

from agents.rehearsal.model import RehearsalModel

__all__ = ["RehearsalModel"]
