"""One table: what grows."""

from sqlalchemy import Integer, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from stores.tables import Base


class PlantRow(Base):
    """A plant of one user."""

    __tablename__ = "garden_plants"
    __table_args__ = (UniqueConstraint("user_id", "name"),)

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    user_id: Mapped[str] = mapped_column(String(255), index=True)
    name: Mapped[str] = mapped_column(String(200), info={"label": True})
    watered: Mapped[int] = mapped_column(Integer)
    version: Mapped[int] = mapped_column(Integer, info={"volatile": True})

    __mapper_args__ = {"version_id_col": version}  # noqa: RUF012 - SQLAlchemy's own form
