"""batch.py: a batch, as a loader gives it."""
from __future__ import annotations

from leat import _leat
from leat.plan import Sample

# The rows of BATCH_EACH in batch.h: the extension has the arrays of a batch in this order. Bits of enum leat_output;
# what a number is if it does not follow the loader's dtype.
BITS = {name: bit for name, (bit, _) in _leat.OUTPUTS.items()}
DTYPES = {name: dtype for name, (_, dtype) in _leat.OUTPUTS.items()}
OUTPUTS = tuple(BITS)

DAMAGED, PADDED = 1, 2


class Batch:
    """A batch: its arrays, None for those that the loader was not asked for.

    inputs, labels   rows x length; a label without loss is -100
    position_ids     of each token in its document, counted from the begin of the document or of the row
    document_ids     0 for the tokens of a row's first document, 1 for the next
    loss_mask        true where the label counts
    attention_mask   false for the padding behind a shorter row
    cu_seqlens       0, then where each stretch of one document ends, in the rows one after another; int32
    max_seqlen       the longest such stretch

    It can be unpacked (`inputs, labels = batch`), asked as a dict (`batch["inputs"]`, `**batch`), and moved
    (`batch.to`).
    """

    __slots__ = (*OUTPUTS, "_native", "_given", "_stream")

    def __init__(self, native, outputs, given, stream=None):
        for name, value in zip(OUTPUTS, outputs):
            setattr(self, name, value)
        self._native = native
        self._given = given
        self._stream = stream  # of a borrowed batch: what tells the consumer's current stream

    # ---- Facts

    @property
    def number(self):
        """Of the batches that the loader has given, from 0."""
        return self._native.number

    @property
    def position(self):
        """Position in the plan of the global batch's first row."""
        return self._native.position

    @property
    def cursor(self):
        """Position after this batch: where a run that has trained on it goes on. Loader.state_dict(after=batch)."""
        return self._native.cursor

    @property
    def rows(self):
        """Rows of this rank."""
        return self._native.rows

    @property
    def length(self):
        """Inputs of the longest row."""
        return self._native.length

    @property
    def max_seqlen(self):
        """The longest stretch of one document, in tokens; 0 unless the loader was asked for something of documents."""
        return self._native.max_seqlen

    @property
    def sequences(self):
        """How many stretches of one document there are in all rows."""
        return self._native.sequences

    @property
    def damaged(self):
        """Rows of this rank that were masked for damage, so far in the run."""
        return self._native.damaged

    @property
    def damaged_rows(self):
        """Those of this batch."""
        return self._native.damaged_rows

    @property
    def samples(self):
        """Where each row comes from, as Sample tuples; None for a row of padding."""
        return [None if s is None else Sample(*s) for s in self._native.samples()]

    @property
    def lengths(self):
        """Inputs of each row, in tokens."""
        return self._native.lengths()

    @property
    def flags(self):
        """Of each row: 1 damaged and masked, 2 padding beyond the plan's end."""
        return self._native.flags()

    # ---- As a tuple, a dict, and something that moves

    def keys(self):
        return self._given

    def __getitem__(self, name):
        if isinstance(name, (int, slice)):  # as of a tuple
            return tuple(self)[name]
        if name in self._given:
            return getattr(self, name)
        raise KeyError(f"{name!r} is not among the loader's outputs: {', '.join(self._given)}")

    def __contains__(self, name):
        return name in self._given

    def items(self):
        return [(name, getattr(self, name)) for name in self._given]

    def __iter__(self):
        return iter([getattr(self, name) for name in self._given])

    def __len__(self):
        return len(self._given)

    def _map(self, function):
        outputs = [None if value is None else function(value) for value in (getattr(self, name) for name in OUTPUTS)]
        return Batch(self._native, outputs, self._given)

    def to(self, *where, **options):
        """A batch whose tensors have been moved by Tensor.to()."""
        return self._map(lambda tensor: tensor.to(*where, **options))

    def pin_memory(self):
        """A batch whose tensors are in pinned memory."""
        return self._map(lambda tensor: tensor.pin_memory())

    def release(self):
        """Gives a borrowed batch (borrow=True) back before the next one is taken; its tensors must not be used any
        more, but by work that is on the current stream already. Does nothing to batches that are the consumer's."""
        if self._native.held:
            self._native.release(self._stream())

    def __reduce__(self):
        raise TypeError("a leat.Batch belongs to its loader and is not pickled: send its arrays, dict(batch.items())")

    def __repr__(self):
        shown = ", ".join(f"{name} {tuple(value.shape)}" for name, value in self.items())
        return f"<leat.Batch {self.number}: {shown}, cursor {self.cursor}>"
