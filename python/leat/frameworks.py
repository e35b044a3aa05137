"""frameworks.py: makes a batch's arrays with torch, numpy or jax, which are imported when a loader asks for them.

The library writes numbers into memory; a framework makes that memory an array, allocates memory on a device, and knows
the current stream.
"""
from __future__ import annotations

import contextlib

from leat._lazy import need
from leat._values import choice, shown

HOST, CUDA = 1, 2  # DLPack's numbers for kinds of devices
NUMPY = {"bfloat16": "uint16"}  # dtypes that numpy lacks, and what it gets


class Torch:
    """torch's tensors; the only framework here with devices."""

    default_dtype = "int64"
    changes = True  # arrays may be borrowed and written to again
    capsules = True  # from_dlpack() takes bare capsules

    def __init__(self, device):
        torch = self.torch = need("torch", "leat.Loader")
        try:
            self.device = torch.device(device)
        except (RuntimeError, TypeError):
            raise ValueError(f"device must be \"cpu\" or \"cuda\", not {shown(device)}") from None
        if self.device.type not in ("cpu", "cuda"):
            raise ValueError(f"device must be \"cpu\" or \"cuda\", not {shown(device)}")
        if self.device.type == "cuda" and self.device.index is None:
            self.device = torch.device("cuda", torch.cuda.current_device())
        self.on_host = self.device.type == "cpu"
        self.take = getattr(torch._C, "_from_dlpack", None) or torch.utils.dlpack.from_dlpack
        self._profiling = getattr(torch.autograd, "_profiler_enabled", None)
        self._no_range = contextlib.nullcontext()

    @property
    def dlpack_device(self):
        return (HOST, 0) if self.on_host else (CUDA, self.device.index)

    @property
    def library_device(self):
        return "host" if self.on_host else f"cuda:{self.device.index}"

    def has(self, dtype):
        return True

    def from_array(self, array):
        """Returns a tensor over a leat._leat.Array."""
        return self.take(array.__dlpack__())

    def empty(self, shape, kind):
        return self.torch.empty(shape, dtype=getattr(self.torch, kind), device=self.device)

    def check(self, tensor, name, shape, kind):
        """Raises unless a caller's tensor can take these numbers."""
        want = getattr(self.torch, kind)
        if not isinstance(tensor, self.torch.Tensor):
            raise TypeError(f"the buffer for {name} must be a tensor, not {type(tensor).__name__}")
        if tensor.dtype != want or tensor.device != self.device or not tensor.is_contiguous():
            raise ValueError(f"the buffer for {name} must be contiguous, {want} and on {self.device}")
        if tuple(tensor.shape) != tuple(shape):
            raise ValueError(f"the buffer for {name} must have the shape {tuple(shape)}, not {tuple(tensor.shape)}")

    def address(self, tensor):
        return tensor.data_ptr()

    def stream(self):
        """Returns the current stream's handle. 0 is the default stream for both torch and the library."""
        return None if self.on_host else self.torch.cuda.current_stream(self.device).cuda_stream

    def range(self, name):
        """Returns a range for torch.profiler, which costs next to nothing without a profiler."""
        if self._profiling is None or self._profiling():
            return self.torch.profiler.record_function(name)
        return self._no_range


class _Host:
    """What numpy and jax share: no devices, no streams, nothing to profile."""

    on_host = changes = True
    capsules = False
    dlpack_device = (HOST, 0)
    library_device = "host"

    def __init__(self, device, package):
        if str(device) not in ("cpu", "host"):
            raise ValueError(f"framework={package!r} has batches on the host only: device must be \"cpu\", not "
                             f"{shown(device)}; put them on a device yourself (jax.device_put)")
        self.package = need(package, "leat.Loader")
        self._no_range = contextlib.nullcontext()

    def has(self, dtype):
        """Returns True if arrays can have this dtype, "int32" or "int64"."""
        return True

    def stream(self):
        return None

    def range(self, name):
        return self._no_range


class Numpy(_Host):
    default_dtype = "int64"

    def __init__(self, device):
        super().__init__(device, "numpy")
        self.from_array = self.package.asarray

    def empty(self, shape, kind):
        return self.package.empty(shape, dtype=NUMPY.get(kind, kind))

    def check(self, array, name, shape, kind):
        kind = NUMPY.get(kind, kind)
        if not isinstance(array, self.package.ndarray):
            raise TypeError(f"the buffer for {name} must be a numpy array, not {type(array).__name__}")
        if array.dtype != kind or not array.flags.c_contiguous or not array.flags.writeable:
            raise ValueError(f"the buffer for {name} must be contiguous, writable and {kind}")
        if array.shape != tuple(shape):
            raise ValueError(f"the buffer for {name} must have the shape {tuple(shape)}, not {array.shape}")

    def address(self, array):
        return array.__array_interface__["data"][0]


class Jax(_Host):
    default_dtype = "int32"  # jax has int64 only with jax_enable_x64
    changes = False

    def __init__(self, device):
        super().__init__(device, "jax")
        self.from_array = need("jax.dlpack", "leat.Loader").from_dlpack

    def has(self, dtype):
        return dtype == "int32" or self.package.config.jax_enable_x64


FRAMEWORKS = {"torch": Torch, "numpy": Numpy, "jax": Jax}


def framework(name, device):
    return choice("framework", name, FRAMEWORKS)(device)
