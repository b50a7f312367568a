"""What an approval binds, sealed: a row that was changed behind the gate's back approves nothing."""

import hashlib
import hmac
from typing import Any

from stores.approvals import Approval
from toolsets.arguments import hashed


def seal_of(approval: Approval, key: bytes) -> str:
    """A keyed digest over everything that an approval shows and that decides what it would execute."""
    bound: list[Any] = [
        approval.id,
        approval.user_id,
        approval.conversation_id,
        approval.turn_id,
        approval.tool_call_id,
        approval.version,
        approval.tool,
        approval.schema_hash,
        approval.arguments,
        approval.arguments_hash,
        approval.change_digest,
        hashlib.sha256(approval.normal_form.encode()).hexdigest(),
        hashlib.sha256(approval.changes.encode()).hexdigest(),
        approval.card,
        approval.draws,
        approval.depends_on,
        approval.always_confirm,
        approval.skip,
        approval.expires_at.isoformat(),
    ]
    return hmac.new(key, hashed(bound).encode(), hashlib.sha256).hexdigest()


def sealed(approval: Approval, key: bytes) -> bool:
    return hmac.compare_digest(approval.seal, seal_of(approval, key))
