"""batch.py: a loader's batch."""
from __future__ import annotations

from leat import _leat
from leat.plan import Sample

# The rows of BATCH_EACH in batch.h, in the order of the extension's arrays: bits of enum leat_output, and the dtype of
# outputs that have a fixed one.
BITS = {name: bit for name, (bit, _) in _leat.OUTPUTS.items()}
DTYPES = {name: dtype for name, (_, dtype) in _leat.OUTPUTS.items()}
OUTPUTS = tuple(BITS)
PLAIN = tuple(name for name in OUTPUTS if name not in ("ahead_labels", "places"))  # of any loader, and of any dtype

DAMAGED, PADDED = 1, 2


class Batch:
    """A batch. Its arrays are attributes; outputs that the loader was not asked for are None.

    inputs, labels   rows x length; a label without loss is -100, or what the loader was given for it
    position_ids     place of each token in its document, counted from the start of the document or of the row
    document_ids     0 for the tokens of a row's first document, 1 for the next
    loss_mask        true where the label counts
    loss_weights     how much the label counts: 0 where loss_mask is false; else 1, or the byte / 255 that the dataset's
                     mask has; times the weight that the loader was given for its source; float32
    attention_mask   false for the padding after a shorter row
    source_ids       the number of the row's source in the plan; -1 for padding
    cu_seqlens       0, then the end of each stretch of one document, counted through all rows; int32
    max_seqlen       tokens in the longest such stretch
    ahead_labels     ahead x rows x length: the tokens after the label; where there is no loss, as in labels
    places           the number of the token that the input is, in its source's dataset (of a list, counted through); -1
                     for padding, for tokens that no dataset has, and in damaged rows; int64
    columns          a dict of the loader's columns by name: rows x length x width, or rows x length for a width of 1.
                     They come after the outputs, and batch["score"] is batch.columns["score"]

    It can be unpacked (`inputs, labels = batch`), used like a dict (`batch["inputs"]`, `**batch`), and moved
    (`batch.to`).
    """

    __slots__ = (*OUTPUTS, "columns", "_native", "_given", "_stream")

    def __init__(self, native, outputs, given, stream=None):
        for name, value in zip(OUTPUTS, outputs):
            setattr(self, name, value)
        columns = outputs[len(OUTPUTS):]
        self.columns = dict(zip(given[len(given) - len(columns):], columns))
        self._native = native
        self._given = given
        self._stream = stream  # for a borrowed batch, a function that returns the consumer's current stream

    # ---- Facts

    @property
    def number(self):
        """The number of this batch among those that the loader has given, from 0."""
        return self._native.number

    @property
    def position(self):
        """The position in the plan of the global batch's first row."""
        return self._native.position

    @property
    def cursor(self):
        """The position after this batch, where a run that has trained on it continues: Loader.state_dict(after=batch).
        """
        return self._native.cursor

    @property
    def rows(self):
        """The number of rows of this rank, including padding after the plan's end."""
        return self._native.rows

    @property
    def real_rows(self):
        """The number of rows that count for the loss: all except padding after the plan's end and rows that were masked
        because of damage. It can be 0. Means over batches and ranks weigh a batch by it, or by its labels that
        count."""
        return self._native.flags().count(0)

    @property
    def length(self):
        """The number of inputs in the longest row."""
        return self._native.length

    @property
    def max_seqlen(self):
        """Tokens in the longest stretch of one document; 0 unless an output that needs documents was asked for."""
        return self._native.max_seqlen

    @property
    def sequences(self):
        """The number of stretches of one document in all rows."""
        return self._native.sequences

    @property
    def damaged(self):
        """How many rows of this rank were masked because of damage, so far in the run."""
        return self._native.damaged

    @property
    def damaged_rows(self):
        """How many rows of this batch were masked because of damage."""
        return self._native.damaged_rows

    @property
    def samples(self):
        """The origin of each row as a Sample tuple; None for a row of padding."""
        return [None if s is None else Sample(*s) for s in self._native.samples()]

    @property
    def sources(self):
        """The number of each row's source in Plan.sources, which has its name; None for a row of padding."""
        return self._native.sources()

    @property
    def lengths(self):
        """The number of inputs in each row."""
        return self._native.lengths()

    @property
    def flags(self):
        """One number per row: 1 damaged and masked, 2 padding after the plan's end, else 0."""
        return self._native.flags()

    # ---- As a tuple or dict, and moved

    def keys(self):
        return self._given

    def __getitem__(self, name):
        if isinstance(name, (int, slice)):  # by index, as in a tuple
            return tuple(self)[name]
        if name in self._given:
            return self.columns[name] if name in self.columns else getattr(self, name)
        raise KeyError(f"{name!r} is not one of the loader's outputs {', '.join(self._given)}")

    def __contains__(self, name):
        return name in self._given

    def items(self):
        return [(name, self[name]) for name in self._given]

    def __iter__(self):
        return iter([self[name] for name in self._given])

    def __len__(self):
        return len(self._given)

    def _map(self, function):
        values = [*(getattr(self, name) for name in OUTPUTS), *self.columns.values()]
        outputs = [None if value is None else function(value) for value in values]
        return Batch(self._native, outputs, self._given)

    def to(self, *where, **options):
        """Returns a batch with the tensors moved by Tensor.to()."""
        return self._map(lambda tensor: tensor.to(*where, **options))

    def pin_memory(self):
        """Returns a batch with the tensors in pinned memory."""
        return self._map(lambda tensor: tensor.pin_memory())

    def release(self):
        """Gives a borrowed batch (leat.Outputs(borrow=True)) back before the next one is taken. Only work that is on
        the current stream already may still use its tensors. Does nothing for batches that are not borrowed."""
        if self._native.held:
            self._native.release(self._stream())

    def __reduce__(self):
        raise TypeError("a leat.Batch cannot be pickled, because it belongs to its loader: send its arrays, "
                        "dict(batch.items())")

    def __repr__(self):
        shown = ", ".join(f"{name} {tuple(value.shape)}" for name, value in self.items())
        return f"<leat.Batch {self.number}: {shown}, cursor {self.cursor}>"
