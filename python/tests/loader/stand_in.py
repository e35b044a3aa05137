"""stand_in.py: a GPU for the tests that there is none for: the library's real CUDA backend on the stand-in driver of
tests/fake_cuda/ (fake_control.h says what it does and which rules it keeps), and a framework of leat.frameworks in the
place of torch's, whose arrays lie in that device's memory. By ctypes; the driver's calls here are the test's own, which
it does not count or judge."""
import atexit
import contextlib
import ctypes
import math
import os

import numpy as np

CUDA = 2  # as DLPack numbers it
KINDS = {(0, 32): "int32", (0, 64): "int64", (1, 8): "uint8", (1, 32): "uint32", (2, 16): "float16",
         (2, 32): "float32", (6, 8): "bool"}  # DLPack's code and bits
UNWRITTEN = 0xA5

Options = type("Options", (ctypes.Structure,), {"_fields_": [
    ("seed", ctypes.c_uint64), ("pause_us", ctypes.c_uint), ("strict", ctypes.c_bool), ("pinned", ctypes.c_size_t),
    ("memory", ctypes.c_size_t), ("pageable", ctypes.c_bool), ("devices", ctypes.c_int), ("version", ctypes.c_int)]})

_CALLS = {
    "configure": (None, ctypes.POINTER(Options)), "exempt": (None, ctypes.c_int), "allow_waiting": (None, ctypes.c_int),
    "fail_call": (ctypes.c_uint64, ctypes.c_uint64, ctypes.c_int, ctypes.c_bool), "failed_call": (ctypes.c_char_p,),
    "fail_work": (None, ctypes.c_uint64, ctypes.c_int), "shut_down": (None,),
    "calls": (ctypes.c_uint64, ctypes.c_char_p), "depth": (ctypes.c_uint,), "live": (ctypes.c_uint,),
    "offences": (ctypes.c_uint, ctypes.c_bool), "offence": (ctypes.c_char_p,)}
Control = type("Control", (ctypes.Structure,),
               {"_fields_": [(name, ctypes.CFUNCTYPE(*types)) for name, types in _CALLS.items()]})


class Tensor(ctypes.Structure):
    """DLPack's."""

    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device", ctypes.c_int32),
                ("dimensions", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Driver:
    """The stand-in driver, loaded once by the library and by this."""

    def __init__(self, path):
        self.path, self.library = str(path), ctypes.CDLL(str(path))
        find = self.library.fake_control
        find.restype = ctypes.POINTER(Control)
        self.control = find().contents
        seed = int(os.environ.get("LEAT_TEST_SEED", "1"))
        self.control.configure(ctypes.byref(Options(seed=seed, pause_us=100, strict=True, devices=2)))
        self.control.offences(True)  # a broken rule is counted, since abort() would end all tests
        self.context = ctypes.c_void_p()
        self.exempt(1)
        self.call("cuInit", 2000, ctypes.c_uint(0))
        self.call("cuDevicePrimaryCtxRetain", 7000, ctypes.byref(self.context), ctypes.c_int(0))
        self.exempt(-1)
        atexit.register(self._end)

    def _end(self):
        """Nothing is forgotten: the driver looks at the end."""
        self.exempt(1)
        self.call("cuDevicePrimaryCtxRelease", 11000, ctypes.c_int(0))

    def exempt(self, more):
        self.control.exempt(more)

    def call(self, symbol, since, *arguments):
        function, found = ctypes.c_void_p(), ctypes.c_int()
        self.library.cuGetProcAddress_v2(symbol.encode(), ctypes.byref(function), ctypes.c_int(since),
                                         ctypes.c_uint64(1), ctypes.byref(found))
        assert function.value, symbol
        result = ctypes.CFUNCTYPE(ctypes.c_int)(function.value)(*arguments)
        assert result == 0, (symbol, result)

    @contextlib.contextmanager
    def own(self):
        """The calls within are the test's own, in the device's context."""
        self.exempt(1)
        self.call("cuCtxPushCurrent", 4000, self.context)
        try:
            yield
        finally:
            self.call("cuCtxPopCurrent", 4000, ctypes.byref(ctypes.c_void_p()))
            self.exempt(-1)

    @contextlib.contextmanager
    def waiting(self):
        """The library may wait for the device: as it opens and closes a loader."""
        self.control.allow_waiting(1)
        try:
            yield
        finally:
            self.control.allow_waiting(-1)

    # ---- Streams and graphs

    def make_stream(self):
        stream = ctypes.c_void_p()
        with self.own():
            self.call("cuStreamCreateWithPriority", 5050, ctypes.byref(stream), ctypes.c_uint(1), ctypes.c_int(0))
        return stream.value

    def drop_stream(self, stream):
        with self.own():
            self.call("cuStreamDestroy", 4000, ctypes.c_void_p(stream))

    def synchronize(self, stream):
        with self.own():
            self.call("cuStreamSynchronize", 2000, ctypes.c_void_p(stream))

    def begin_capture(self, stream):
        with self.own():
            self.call("cuStreamBeginCapture", 10010, ctypes.c_void_p(stream), ctypes.c_int(0))

    def end_capture(self, stream):
        """An executable graph, and what drops it."""
        graph, made = ctypes.c_void_p(), ctypes.c_void_p()
        with self.own():
            self.call("cuStreamEndCapture", 10000, ctypes.c_void_p(stream), ctypes.byref(graph))
            self.call("cuGraphInstantiateWithFlags", 11040, ctypes.byref(made), graph, ctypes.c_ulonglong(0))

        def drop():
            with self.own():
                self.call("cuGraphExecDestroy", 10000, made)
                self.call("cuGraphDestroy", 10000, graph)
        return made, drop

    def launch(self, graph, stream):
        with self.own():
            self.call("cuGraphLaunch", 10000, graph, ctypes.c_void_p(stream))

    def copy(self, to, source, stream):
        with self.own():
            self.call("cuMemcpyDtoDAsync", 3020, ctypes.c_ulonglong(to.address), ctypes.c_ulonglong(source.address),
                      ctypes.c_size_t(to.bytes), ctypes.c_void_p(stream))


class Array:
    """In the device's memory: its own, or borrowed from `owner`."""

    def __init__(self, driver, shape, kind, address=None, owner=None):
        self.driver, self.shape, self.kind, self.owner = driver, tuple(shape), np.dtype(kind), owner
        self.bytes = math.prod(self.shape) * self.kind.itemsize
        self.address, self.allocated = address, address is None
        if self.allocated:
            at = ctypes.c_ulonglong()
            with driver.own():
                driver.call("cuMemAlloc", 3020, ctypes.byref(at), ctypes.c_size_t(self.bytes))
                driver.call("cuMemsetD8Async", 3020, at, ctypes.c_ubyte(UNWRITTEN), ctypes.c_size_t(self.bytes), None)
                driver.call("cuStreamSynchronize", 2000, None)
            self.address = at.value

    def __del__(self):
        if self.allocated and self.address:
            with self.driver.own():
                self.driver.call("cuCtxSynchronize", 2000)  # in its place torch orders the next use behind the last
                self.driver.call("cuMemFree", 3020, ctypes.c_ulonglong(self.address))

    def numpy(self, stream):
        """What is there behind all that is on the stream."""
        got = np.empty(self.shape, self.kind)
        with self.driver.own():
            self.driver.call("cuMemcpyDtoHAsync", 3020, got.ctypes.data_as(ctypes.c_void_p),
                             ctypes.c_ulonglong(self.address), ctypes.c_size_t(self.bytes), ctypes.c_void_p(stream))
            self.driver.call("cuStreamSynchronize", 2000, ctypes.c_void_p(stream))
        return got


class StandIn:
    """As frameworks.Torch on a device: what a loader asks of whose arrays a batch is made of."""

    default_dtype = "int64"
    capsules = on_host = False
    changes = True

    def __init__(self, driver, number=0):
        self.driver, self.number, self.current = driver, number, None
        self.dlpack_device = (CUDA, number)
        self.library_device = f"cuda:{number}"

    def from_array(self, array):
        """Of a leat._leat.Array: by DLPack's capsule, as torch takes it."""
        capsule = array.__dlpack__()
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
        t = ctypes.cast(get(capsule, b"dltensor"), ctypes.POINTER(Tensor)).contents
        assert (t.device_type, t.device) == self.dlpack_device == array.__dlpack_device__() and t.lanes == 1
        assert not hasattr(array, "__array_interface__")
        shape = t.shape[:t.dimensions]
        assert t.strides[:t.dimensions] == [math.prod(shape[k + 1:]) for k in range(t.dimensions)]
        return Array(self.driver, shape, KINDS[t.code, t.bits], t.data + t.offset, capsule)

    def has(self, dtype):
        return True

    def empty(self, shape, kind):
        return Array(self.driver, shape, kind)

    def check(self, array, name, shape, kind):
        if array.shape != tuple(shape) or array.kind != kind:
            raise ValueError(f"the buffer for {name} must have the shape {tuple(shape)}, and be {kind}")

    def address(self, array):
        return array.address

    def stream(self):
        return self.current or 0

    def range(self, name):
        return contextlib.nullcontext()
