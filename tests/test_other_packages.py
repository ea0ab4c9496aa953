"""Every number that another package has too equals it on random data (the group bench; docs/other-packages.md)."""

import pytest

from benchmarks.other_packages import COMPARISONS, pairs_of

pytestmark = pytest.mark.bench


@pytest.mark.parametrize("package", COMPARISONS)
def test_numbers_of_another_package(package):
    apart = [pair for same in pairs_of(package) for pair in same if not pair.holds]
    assert not apart, "\n".join(f"{one.quantity}: {one.theirs} there, {one.ours} here" for one in apart)
