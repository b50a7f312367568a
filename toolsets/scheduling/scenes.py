"""What the rehearsal model can play with the timetable. The first scene whose pattern is found plays."""

from toolsets.scenes import Scene
from toolsets.scheduling.scenes_create import ADD_EVENT, ADD_TASK
from toolsets.scheduling.scenes_read import ANYTHING_ELSE, LOOKING
from toolsets.scheduling.scenes_write import MOVE, PLACE, REMOVE, SWAP, UNPLACE

SCENES: tuple[Scene, ...] = (
    *LOOKING,
    SWAP,
    REMOVE,
    UNPLACE,
    ADD_TASK,
    MOVE,
    ADD_EVENT,
    PLACE,
    *ANYTHING_ELSE,
)
