"""what grows."""

import sqlalchemy as sa
from alembic import op

revision = "garden_0001"
down_revision = None
branch_labels = ("garden",)
depends_on = None


def upgrade() -> None:
    op.create_table(
        "garden_plants",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("user_id", sa.String(255), nullable=False, index=True),
        sa.Column("name", sa.String(200), nullable=False),
        sa.Column("watered", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.UniqueConstraint("user_id", "name"),
    )
