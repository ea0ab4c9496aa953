"""PyTensor operations whose values a compiled kernel of the package computes."""

import warnings
from abc import abstractmethod
from collections.abc import Sequence
from typing import Any

from pytensor.graph.basic import Apply
from pytensor.graph.op import Op
from pytensor.link.numba.dispatch.basic import generate_fallback_impl, numba_funcify


class KernelOp(Op):
    """Operation that a kernel computes, called from Python also where PyTensor compiles with numba.

    Linked into the functions of a model, the kernel would be optimised anew with each of them, for several seconds;
    from Python it comes out of its own cache, and a call costs some microseconds.
    """

    __props__ = ()

    @abstractmethod
    def compute(self, *inputs: Any) -> Sequence[Any]:
        """Return all outputs."""

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: Any) -> None:
        """Compute all outputs."""
        for storage, result in zip(output_storage, self.compute(*inputs)):
            storage[0] = result


@numba_funcify.register(KernelOp)
def _from_python(op: KernelOp, node: Any = None, **kwargs: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that it runs in Python, on purpose
        return generate_fallback_impl(op, node, **kwargs)
