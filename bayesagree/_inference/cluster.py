"""Blocks of items on the workers of a Dask cluster: the same draws as in one process, and workers may die.

Every block has its own random stream, so it does not matter where or how often a block is drawn. Dask runs the blocks
of a dead worker again on another one.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from bayesagree.errors import InputError


def cluster_map[B, R](work: Callable[[B], R], blocks: list[B], client: Any) -> Iterator[R]:
    """Apply a function to every block on the workers of a `distributed.Client`; yield the results in order.

    The function and the data it closes over go to each worker once. Two blocks per thread of the cluster are on their
    way at any time, so that a worker holds, for each of its threads, the data, one block being drawn and the results of
    about two.

    Raises
    ------
    InputError
        Something that is no Dask client, or one without workers.
    """
    threads = _n_threads(client)
    import dask.config
    from distributed.protocol.pickle import dumps, loads

    waiting = iter(blocks)
    # A task, not scattered data: where a worker dies with its copy, the scheduler makes another.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        shared = client.submit(loads, dumps(work), pure=False)
        running = deque(client.submit(_apply, shared, block, pure=False) for block in islice(waiting, 2 * threads))
    while running:
        result = running.popleft().result()
        running.extend(client.submit(_apply, shared, block, pure=False) for block in islice(waiting, 1))
        yield result


def _apply[B, R](work: Callable[[B], R], block: B) -> R:
    return work(block)


def _n_threads(client: Any) -> int:
    if not all(hasattr(client, name) for name in ("submit", "nthreads")):
        raise InputError(
            f"client={client!r} is not a Dask client: install the extra scale (pip install 'bayesagree[scale]') and "
            "pass distributed.Client(address)"
        )
    threads = sum(client.nthreads().values())
    if threads == 0:
        raise InputError(f"client={client!r} has no workers; start some, or client.wait_for_workers(1)")
    return threads
