"""Random streams: one per block of items, so that the same seed gives the same draws on any number of threads.

Blocks are drawn in threads, or on the workers of a Dask cluster: it does not matter where or how often a block is
drawn, and Dask runs the blocks of a dead worker again on another one.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from threading import current_thread
from typing import Any

import numpy as np

from bayesagree.errors import InputError, kept_warnings, warn

# Seconds of work that a thread takes up at once, in so many blocks at most.
AT_ONCE, MOST_AT_ONCE = 2e-3, 64
# Seconds of work in a task of a cluster, beside which the milliseconds to a worker and back are few.
TASK = 0.1
# Name of threads that keep all processors busy: blocks within their work would only wait for one another in more.
BUSY = "bayesagree-busy"
# Items per block: small enough that a block of draws stays in memory, large enough to amortise its stream.
BLOCK = 64

# Streams that belong to no block of items; their order fixes their place among the children of a seed.
PURPOSES = (
    "item weights",
    "agreement of rankings",
    "resampled systems",
    "replicated systems",
    "unnamed labels",
    "sampled truth",
    "another annotator",
    "resampled items",
    "parameters",
    "held-out votes",
    "folds",
    "predictions",
)

# The C library keeps as much freed memory as twice the largest block that was freed. Without this one arrays of a few
# hundred kB, of which operations on many parameter vectors make several each, are mapped and cleared anew every time.
np.empty(31 << 20, np.uint8)

Seed = int | np.random.Generator | np.random.SeedSequence | None


def seed_sequence(random_seed: Seed) -> np.random.SeedSequence:
    """Turn what a user passes as seed into the root of all streams of one call.

    A Generator gives four new words, so that two calls with the same Generator differ.
    """
    if isinstance(random_seed, np.random.SeedSequence):
        return random_seed
    if isinstance(random_seed, np.random.Generator):
        return np.random.SeedSequence([int(w) for w in random_seed.integers(0, 2**32, 4)])
    if random_seed is not None and random_seed < 0:
        raise InputError(f"random_seed={random_seed} must be a whole number of at least 0")
    return np.random.SeedSequence(random_seed)


def item_blocks(n_items: int, size: int = BLOCK) -> list[slice]:
    """Cut the items into consecutive blocks; the cut depends on nothing but the number of items."""
    return [slice(start, min(start + size, n_items)) for start in range(0, n_items, size)]


def block_generators(random_seed: Seed, n_blocks: int) -> list[np.random.Generator]:
    """Spawn one independent generator per block of items."""
    root = seed_sequence(random_seed)
    return [block_generator(root, b) for b in range(n_blocks)]


def block_generator(root: np.random.SeedSequence, block: int) -> np.random.Generator:
    """Return the generator of one block of items."""
    # Children by position, not by root.spawn(): spawning counts, and a second call would get other streams.
    key = np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, block))
    return np.random.Generator(np.random.SFC64(key))


def stream_apart(random_seed: Seed, purpose: str) -> np.random.SeedSequence:
    """Return the seed of one of the `PURPOSES`: the same in every call, and that of no block of items."""
    root = seed_sequence(random_seed)
    # From the last child backwards: blocks of items count from the first, and there are never 2^32 of them.
    key = 2**32 - 1 - PURPOSES.index(purpose)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, key))


def n_threads() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Give BLAS one thread: small matrices gain nothing from more, which take a processor each while they wait."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1, "blas"):
        yield


def map_blocks[B, R](work: Callable[[B], R], blocks: list[B], client: Any = None) -> Iterator[R]:
    """Apply a nogil function to every block, in order, holding only a few results at a time.

    In threads of this process, or on the workers of a `distributed.Client`.
    """
    if client is not None:
        yield from _cluster_map(work, blocks, client)
        return
    threads = 1 if current_thread().name.startswith(BUSY) else n_threads()
    if threads == 1 or len(blocks) == 1:
        yield from map(work, blocks)
        return

    with ThreadPoolExecutor(threads, BUSY if len(blocks) >= threads else "") as pool:
        # Handing over costs 50 us: blocks that take less than that go together. No result depends on it.
        yield from _in_order(lambda batch: pool.submit(run_batch, work, batch), blocks, 2 * threads, AT_ONCE)


def _in_order[B](
    submit: Callable[[list[B]], Any], blocks: list[B], ahead: int, at_once: float
) -> Iterator[Any]:
    """Yield the results of all blocks, in order, and give their warnings; `ahead` batches are on their way.

    A batch is one block, later as many as keep a worker busy for `at_once` seconds.
    """
    waiting = iter(blocks)
    running = deque(submit([block]) for block in islice(waiting, ahead))
    while running:
        results, seconds, kept = running.popleft().result()
        for message in kept:
            warn(message)
        yield from results
        if batch := list(islice(waiting, max(1, min(MOST_AT_ONCE, int(at_once / max(seconds, 1e-9)))))):
            running.append(submit(batch))


def run_batch[B, R](work: Callable[[B], R], batch: list[B]) -> tuple[list[R], float, list[str]]:
    """Return the results of some blocks, the seconds that each took, and their warnings."""
    start = time.perf_counter()
    with kept_warnings() as kept:
        results = [work(block) for block in batch]
    return results, (time.perf_counter() - start) / len(batch), kept


def _cluster_map[B, R](work: Callable[[B], R], blocks: list[B], client: Any) -> Iterator[R]:
    """Apply a function to every block on the workers of a `distributed.Client`; yield the results in order.

    The function and the data it closes over go to each worker once. Two tasks per thread of the cluster are on their
    way at any time, each of one block or of as many as take a tenth of a second, so that a worker holds the data and,
    for each of its threads, one block being drawn and the results of about two tasks.

    Raises
    ------
    InputError
        Something that is no Dask client, or one without workers.
    """
    if not all(hasattr(client, name) for name in ("submit", "nthreads")):
        raise InputError(
            f"client={client!r} is not a Dask client: install the extra scale (pip install 'bayesagree[scale]') and "
            "pass distributed.Client(address)"
        )
    threads = sum(client.nthreads().values())
    if threads == 0:
        raise InputError(f"client={client!r} has no workers; start some, or client.wait_for_workers(1)")
    import dask.config
    from distributed.protocol.pickle import dumps, loads

    # A task, not scattered data: where a worker dies with its copy, the scheduler makes another.
    with dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"}):
        shared = client.submit(loads, dumps(work), pure=False)
        # The scheduler would keep short tasks where the function is already, and leave the other workers idle.
        client.replicate(shared)
    yield from _in_order(
        lambda batch: client.submit(run_batch, shared, batch, pure=False), blocks, 2 * threads, TASK
    )
