"""The dialect whose tables an owner makes, beside SQLAlchemy's pytest plugin;
and what is not asked of it.
"""

import pytest
from sqlalchemy.dialects import registry

for name in ("dpsql", "dpsql.dpsql"):
    registry.register(name, "owners_dialect", "OwnersDialect")
pytest.register_assert_rewrite("sqlalchemy.testing.assertions")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What no requirement closes is skipped by its name, with its reason."""
    from requirements import reason_for

    for item in items:
        kind = item.parent.name.partition("_dpsql")[0] if item.parent is not None else ""
        reason = reason_for(f"{kind}.{item.name}")
        if reason is not None:
            item.add_marker(pytest.mark.skip(reason))
