"""the first tables."""

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "changes",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=True),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("tool_call_id", sa.String(length=64), nullable=True),
        sa.Column("approval_id", sa.String(length=64), nullable=True),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("card", sa.Text(), nullable=True),
        sa.Column("rows", sa.Text(), nullable=False),
        sa.Column("reversible", sa.Boolean(), nullable=False),
        sa.Column("reverts", sa.String(length=64), nullable=True),
        sa.Column("reverted_by", sa.String(length=64), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_changes")),
    )
    with op.batch_alter_table("changes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_changes_turn_id"), ["turn_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_changes_user_id_conversation_id_number"),
            ["user_id", "conversation_id", "number"],
            unique=False,
        )

    op.create_table(
        "conversations",
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("assistant", sa.String(length=64), nullable=False),
        sa.Column("title", sa.Text(), nullable=True),
        sa.Column("archived", sa.Boolean(), nullable=False),
        sa.Column("next_seq", sa.Integer(), nullable=False),
        sa.Column("window_from_seq", sa.Integer(), nullable=False),
        sa.Column("approvals_made", sa.Integer(), nullable=False),
        sa.Column("undo_asked", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("user_id", "id", name=op.f("pk_conversations")),
    )
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_conversations_user_id_archived_updated_at"),
            ["user_id", "archived", "updated_at"],
            unique=False,
        )

    op.create_table(
        "facts",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("source_message_id", sa.String(length=200), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_facts")),
    )
    with op.batch_alter_table("facts", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_facts_user_id"), ["user_id"], unique=False)

    op.create_table(
        "ledger",
        sa.Column("tool_call_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=True),
        sa.Column("turn_id", sa.String(length=64), nullable=True),
        sa.Column("approval_id", sa.String(length=64), nullable=True),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("effect", sa.String(length=16), nullable=False),
        sa.Column("arguments_hash", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("result", sa.Text(), nullable=True),
        sa.Column("symbols", sa.Text(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("tool_call_id", name=op.f("pk_ledger")),
    )
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_ledger_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "scheduling_task_classes",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("strategy", sa.String(length=16), nullable=False),
        sa.Column("total_slots", sa.Integer(), nullable=False),
        sa.Column("allow_filler_course", sa.Boolean(), nullable=False),
        sa.Column("excluded_slots", sa.Text(), nullable=False),
        sa.Column("start_date", sa.Date(), nullable=False),
        sa.Column("end_date", sa.Date(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scheduling_task_classes")),
        sa.UniqueConstraint("user_id", "number", name=op.f("uq_scheduling_task_classes_user_id_number")),
    )
    with op.batch_alter_table("scheduling_task_classes", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scheduling_task_classes_user_id"), ["user_id"], unique=False)

    op.create_table(
        "scheduling_terms",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("starts_on", sa.Date(), nullable=False),
        sa.Column("weeks", sa.Integer(), nullable=False),
        sa.Column("slots_per_day", sa.Integer(), nullable=False),
        sa.Column("clock", sa.Text(), nullable=False),
        sa.Column("holidays", sa.Text(), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scheduling_terms")),
    )
    with op.batch_alter_table("scheduling_terms", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scheduling_terms_user_id"), ["user_id"], unique=False)

    op.create_table(
        "standing_approvals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=True),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("schema_hash", sa.String(length=64), nullable=False),
        sa.Column("arguments_hash", sa.String(length=64), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_standing_approvals")),
    )
    with op.batch_alter_table("standing_approvals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_standing_approvals_user_id"), ["user_id"], unique=False)

    op.create_table(
        "usage",
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("day", sa.String(length=10), nullable=False),
        sa.Column("model", sa.String(length=200), nullable=False),
        sa.Column("requests", sa.Integer(), nullable=False),
        sa.Column("input_tokens", sa.Integer(), nullable=False),
        sa.Column("output_tokens", sa.Integer(), nullable=False),
        sa.Column("cost", sa.String(length=40), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("turn_id", name=op.f("pk_usage")),
    )
    with op.batch_alter_table("usage", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_usage_user_id_day"), ["user_id", "day"], unique=False)

    op.create_table(
        "users",
        sa.Column("id", sa.String(length=200), nullable=False),
        sa.Column("active", sa.Boolean(), nullable=False),
        sa.Column("scopes", sa.Text(), nullable=True),
        sa.Column("assistants", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_users")),
    )
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("tool_call_id", sa.String(length=64), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("origin", sa.String(length=16), nullable=False),
        sa.Column("short_name", sa.String(length=16), nullable=False),
        sa.Column("tool", sa.String(length=128), nullable=False),
        sa.Column("schema_hash", sa.String(length=64), nullable=False),
        sa.Column("effect", sa.String(length=16), nullable=False),
        sa.Column("always_confirm", sa.Boolean(), nullable=False),
        sa.Column("reversible", sa.Boolean(), nullable=False),
        sa.Column("arguments", sa.Text(), nullable=True),
        sa.Column("arguments_hash", sa.String(length=64), nullable=False),
        sa.Column("changes", sa.Text(), nullable=False),
        sa.Column("normal_form", sa.Text(), nullable=False),
        sa.Column("change_digest", sa.String(length=64), nullable=False),
        sa.Column("seal", sa.String(length=64), nullable=False),
        sa.Column("card", sa.Text(), nullable=True),
        sa.Column("draws", sa.Text(), nullable=True),
        sa.Column("depends_on", sa.Text(), nullable=True),
        sa.Column("skip", sa.Text(), nullable=True),
        sa.Column("decision", sa.Text(), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.Column("versions", sa.Text(), nullable=True),
        sa.Column("claims", sa.Text(), nullable=True),
        sa.Column("traceparent", sa.String(length=128), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_approvals_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        sa.UniqueConstraint("tool_call_id", name=op.f("uq_approvals_tool_call_id")),
    )
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_approvals_turn_id"), ["turn_id"], unique=False)
        batch_op.create_index(
            batch_op.f("ix_approvals_user_id_conversation_id"), ["user_id", "conversation_id"], unique=False
        )
        batch_op.create_index(
            batch_op.f("ix_approvals_user_id_status_expires_at"), ["user_id", "status", "expires_at"], unique=False
        )

    op.create_table(
        "messages",
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("run_id", sa.String(length=64), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("schema_version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_messages_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("user_id", "conversation_id", "seq", name=op.f("pk_messages")),
    )
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_messages_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "plans",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("goal", sa.Text(), nullable=False),
        sa.Column("steps", sa.Text(), nullable=True),
        sa.Column("current_step_id", sa.String(length=64), nullable=True),
        sa.Column("observations", sa.Text(), nullable=True),
        sa.Column("summary_notes", sa.Text(), nullable=True),
        sa.Column("rounds_used", sa.Integer(), nullable=False),
        sa.Column("final_answer", sa.Text(), nullable=True),
        sa.Column("last_error", sa.Text(), nullable=True),
        sa.Column("signature", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_plans_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_plans")),
    )
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.create_index(
            batch_op.f("ix_plans_user_id_conversation_id"), ["user_id", "conversation_id"], unique=False
        )

    op.create_table(
        "questions",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("turn_id", sa.String(length=64), nullable=False),
        sa.Column("tool_call_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("question", sa.Text(), nullable=False),
        sa.Column("options", sa.Text(), nullable=True),
        sa.Column("allow_free_text", sa.Boolean(), nullable=False),
        sa.Column("secret", sa.Boolean(), nullable=False),
        sa.Column("answer", sa.Text(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("answered_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_questions_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_questions")),
        sa.UniqueConstraint("tool_call_id", name=op.f("uq_questions_tool_call_id")),
    )
    with op.batch_alter_table("questions", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_questions_turn_id"), ["turn_id"], unique=False)

    op.create_table(
        "scheduling_tasks",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("category", sa.String(length=200), nullable=False),
        sa.Column("task_class_id", sa.String(length=64), nullable=True),
        sa.Column("duration", sa.Integer(), nullable=False),
        sa.Column("locked", sa.Boolean(), nullable=False),
        sa.Column("can_embed", sa.Boolean(), nullable=False),
        sa.Column("location", sa.String(length=200), nullable=False),
        sa.Column("arranged_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_class_id"],
            ["scheduling_task_classes.id"],
            name=op.f("fk_scheduling_tasks_task_class_id_scheduling_task_classes"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scheduling_tasks")),
        sa.UniqueConstraint("user_id", "number", name=op.f("uq_scheduling_tasks_user_id_number")),
    )
    with op.batch_alter_table("scheduling_tasks", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scheduling_tasks_task_class_id"), ["task_class_id"], unique=False)
        batch_op.create_index(batch_op.f("ix_scheduling_tasks_user_id"), ["user_id"], unique=False)

    op.create_table(
        "task_states",
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("state", sa.Text(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_task_states_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("user_id", "conversation_id", name=op.f("pk_task_states")),
    )
    op.create_table(
        "turns",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=200), nullable=False),
        sa.Column("conversation_id", sa.String(length=200), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("partial", sa.Boolean(), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("owner", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.DateTime(timezone=True), nullable=True),
        sa.Column("cancel_requested_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("idempotency_key", sa.String(length=300), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("body_hash", sa.String(length=64), nullable=False),
        sa.Column("trigger", sa.String(length=32), nullable=False),
        sa.Column("message_id", sa.String(length=200), nullable=False),
        sa.Column("message_text", sa.Text(), nullable=False),
        sa.Column("assistant_message_id", sa.String(length=64), nullable=False),
        sa.Column("assistant", sa.String(length=64), nullable=False),
        sa.Column("locale", sa.String(length=2), nullable=False),
        sa.Column("zone", sa.String(length=64), nullable=False),
        sa.Column("claims", sa.Text(), nullable=True),
        sa.Column("context", sa.Text(), nullable=True),
        sa.Column("toolsets", sa.Text(), nullable=True),
        sa.Column("tools", sa.Text(), nullable=True),
        sa.Column("live_views", sa.Text(), nullable=True),
        sa.Column("reply", sa.Text(), nullable=True),
        sa.Column("usage", sa.Text(), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_reference", sa.String(length=64), nullable=True),
        sa.Column("replaced_by", sa.String(length=64), nullable=True),
        sa.Column("traceparent", sa.String(length=128), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("decided_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("delivered_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["user_id", "conversation_id"],
            ["conversations.user_id", "conversations.id"],
            name=op.f("fk_turns_user_id_conversation_id_conversations"),
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_turns")),
        sa.UniqueConstraint(
            "user_id",
            "conversation_id",
            "idempotency_key",
            "attempt",
            name=op.f("uq_turns_user_id_conversation_id_idempotency_key_attempt"),
        ),
    )
    with op.batch_alter_table("turns", schema=None) as batch_op:
        batch_op.create_index(
            "ix_turns_open_lease",
            ["lease_until"],
            unique=False,
            sqlite_where=sa.text("status IN ('running', 'waiting')"),
            postgresql_where=sa.text("status IN ('running', 'waiting')"),
        )
        batch_op.create_index(
            batch_op.f("ix_turns_user_id_conversation_id_number"),
            ["user_id", "conversation_id", "number"],
            unique=False,
        )
        batch_op.create_index(
            "uq_turns_open",
            ["user_id", "conversation_id"],
            unique=True,
            sqlite_where=sa.text("status IN ('running', 'waiting')"),
            postgresql_where=sa.text("status IN ('running', 'waiting')"),
        )

    op.create_table(
        "scheduling_sections",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("user_id", sa.String(length=255), nullable=False),
        sa.Column("date", sa.Date(), nullable=False),
        sa.Column("slot", sa.Integer(), nullable=False),
        sa.Column("layer", sa.String(length=8), nullable=False),
        sa.Column("task_id", sa.String(length=64), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["task_id"], ["scheduling_tasks.id"], name=op.f("fk_scheduling_sections_task_id_scheduling_tasks")
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_scheduling_sections")),
        sa.UniqueConstraint(
            "user_id", "date", "slot", "layer", name=op.f("uq_scheduling_sections_user_id_date_slot_layer")
        ),
    )
    with op.batch_alter_table("scheduling_sections", schema=None) as batch_op:
        batch_op.create_index(batch_op.f("ix_scheduling_sections_task_id"), ["task_id"], unique=False)


def downgrade() -> None:
    with op.batch_alter_table("scheduling_sections", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scheduling_sections_task_id"))

    op.drop_table("scheduling_sections")
    with op.batch_alter_table("turns", schema=None) as batch_op:
        batch_op.drop_index(
            "uq_turns_open",
            sqlite_where=sa.text("status IN ('running', 'waiting')"),
            postgresql_where=sa.text("status IN ('running', 'waiting')"),
        )
        batch_op.drop_index(batch_op.f("ix_turns_user_id_conversation_id_number"))
        batch_op.drop_index(
            "ix_turns_open_lease",
            sqlite_where=sa.text("status IN ('running', 'waiting')"),
            postgresql_where=sa.text("status IN ('running', 'waiting')"),
        )

    op.drop_table("turns")
    op.drop_table("task_states")
    with op.batch_alter_table("scheduling_tasks", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scheduling_tasks_user_id"))
        batch_op.drop_index(batch_op.f("ix_scheduling_tasks_task_class_id"))

    op.drop_table("scheduling_tasks")
    with op.batch_alter_table("questions", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_questions_turn_id"))

    op.drop_table("questions")
    with op.batch_alter_table("plans", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_plans_user_id_conversation_id"))

    op.drop_table("plans")
    with op.batch_alter_table("messages", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_messages_turn_id"))

    op.drop_table("messages")
    with op.batch_alter_table("approvals", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_approvals_user_id_status_expires_at"))
        batch_op.drop_index(batch_op.f("ix_approvals_user_id_conversation_id"))
        batch_op.drop_index(batch_op.f("ix_approvals_turn_id"))

    op.drop_table("approvals")
    op.drop_table("users")
    with op.batch_alter_table("usage", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_usage_user_id_day"))

    op.drop_table("usage")
    with op.batch_alter_table("standing_approvals", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_standing_approvals_user_id"))

    op.drop_table("standing_approvals")
    with op.batch_alter_table("scheduling_terms", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scheduling_terms_user_id"))

    op.drop_table("scheduling_terms")
    with op.batch_alter_table("scheduling_task_classes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_scheduling_task_classes_user_id"))

    op.drop_table("scheduling_task_classes")
    with op.batch_alter_table("ledger", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_ledger_turn_id"))

    op.drop_table("ledger")
    with op.batch_alter_table("facts", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_facts_user_id"))

    op.drop_table("facts")
    with op.batch_alter_table("conversations", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_conversations_user_id_archived_updated_at"))

    op.drop_table("conversations")
    with op.batch_alter_table("changes", schema=None) as batch_op:
        batch_op.drop_index(batch_op.f("ix_changes_user_id_conversation_id_number"))
        batch_op.drop_index(batch_op.f("ix_changes_turn_id"))

    op.drop_table("changes")
