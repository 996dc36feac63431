"""What every reader of the ledger is limited to: the rows of versions that are ready."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Select, and_

from kb_qa.schema import versions


def only_ready(statement: Select[Any], version_id: Any) -> Select[Any]:
    # The empty text keeps SQLite from starting at the index on states, where nearly every version is: of 100,000
    # chunks it then looks at each one, 150 ms for sixty ids that their own index gives in one.
    return statement.join(versions, and_(versions.c.id == version_id, versions.c.state.concat("") == "ready"))
