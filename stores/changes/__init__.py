"""Change sets: what rows a call changes, recorded, compared, inverted."""

from stores.changes.change import Change, Key, Op, Row, RowKey
from stores.changes.constraints import RETRYABLE, Constraint, constraint_of, is_retryable
from stores.changes.difference import Difference, differences
from stores.changes.dump import dump_changes, load_changes
from stores.changes.inverse import inverse, revert
from stores.changes.marks import compared_columns
from stores.changes.normal import NormalForm, irreversible, normal_form
from stores.changes.pack_rules import check_pack_tables
from stores.changes.record import Recording, recording

__all__ = [
    "RETRYABLE",
    "Change",
    "Constraint",
    "Difference",
    "Key",
    "NormalForm",
    "Op",
    "Recording",
    "Row",
    "RowKey",
    "check_pack_tables",
    "compared_columns",
    "constraint_of",
    "differences",
    "dump_changes",
    "inverse",
    "irreversible",
    "is_retryable",
    "load_changes",
    "normal_form",
    "recording",
    "revert",
]
