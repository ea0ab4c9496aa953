"""Blocks of items on the workers of a Dask cluster: the same draws as in one process, and workers may die.

Every block has its own random stream, so it does not matter where or how often a block is drawn. Dask runs the blocks
of a dead worker again on another one.
"""

from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from bayesagree._inference.streams import next_batch, run_batch
from bayesagree.errors import InputError

AT_ONCE = 0.1
"""Seconds of work in a task, beside which the milliseconds to a worker and back are few."""


def cluster_map[B, R](work: Callable[[B], R], blocks: list[B], client: Any) -> Iterator[R]:
    """Apply a function to every block on the workers of a `distributed.Client`; yield the results in order.

    The function and the data it closes over go to each worker once. Two tasks per thread of the cluster are on their
    way at any time, each of one block or of as many as take a tenth of a second, so that a worker holds the data and,
    for each of its threads, one block being drawn and the results of about two tasks.

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
        running = deque(client.submit(run_batch, shared, [block], pure=False) for block in islice(waiting, 2 * threads))
    while running:
        results, seconds = running.popleft().result()
        if batch := next_batch(waiting, seconds, AT_ONCE):
            running.append(client.submit(run_batch, shared, batch, pure=False))
        yield from results


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
