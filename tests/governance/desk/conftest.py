import pytest

from tests.governance.desk.arranged import Bench, bench


@pytest.fixture
def desk(transactional_db: None) -> Bench:
    return bench()
