"""_styles.py: the forms in which a loader gives its batches, and the outputs of each.

Models of transformers need more than other names. Their loss shifts labels itself: the label of a place is the one at
the next place, so rows have the last token of each document among their inputs (`unshifted`). They keep the documents
of a row apart only by position_ids that begin again in each document, and only without an attention_mask and a cache.
"""
from __future__ import annotations

from leat._values import choice, outputs_of
from leat.batch import BITS

STYLES = ("batch", "tuple", "dict", "huggingface")
USUAL = ("inputs", "labels")
# Names of the outputs in transformers' models. shift_labels are labels of their own places, not shifted by the loss.
HUGGINGFACE = {"inputs": "input_ids", "labels": "labels", "shift_labels": "shift_labels",
               "position_ids": "position_ids", "attention_mask": "attention_mask", "cu_seqlens": "cu_seq_lens_q"}
# Outputs that no model takes. A program's own loss takes them out of the dict before the model gets it. Their places
# are those of labels or shift_labels.
OF_LOSS = ("source_ids", "loss_weights", "loss_mask", "places")
HUGGINGFACE.update({name: name for name in OF_LOSS})
IGNORED = -100


class Plain:
    """Gives batches unchanged, or as tuples or dicts of the requested outputs."""

    unshifted = mask_first = False
    warning = None

    def __init__(self, outputs, make):
        self.given = outputs_of("an output", USUAL if outputs is None else outputs, BITS)
        self.make = make


class HuggingFace:
    """Gives batches as dicts with the names of transformers' models.

    names       the outputs that were asked for, or are usual
    given       those that are asked of the library for them
    mask_first  whether documents are kept apart, and so have no label across their borders
    warning     what a person should know about these outputs; None: nothing
    """

    def __init__(self, outputs, plan):
        self._several = not plan.info.order.startswith("documents")  # a row can have several documents
        self.names = names = self._usual(plan) if outputs is None else outputs_of(
            "an output", outputs, {**BITS, **HUGGINGFACE})
        for name in names:
            if name not in HUGGINGFACE:
                raise ValueError(f"style \"huggingface\" has no output {name}: transformers' models do not take it")
        self._shifted = "shift_labels" in names
        self.unshifted = not self._shifted
        if self._shifted and "labels" in names:
            raise ValueError("shift_labels and labels exclude each other: with shift_labels, labels are there, but "
                             "none of them counts")
        self.given = tuple("labels" if name == "shift_labels" else name for name in names)
        apart = "position_ids" in names and "attention_mask" not in names
        self.mask_first = self._several and apart
        self._without_cache = apart
        self.warning = self._judge(names)

    def _usual(self, plan):
        if not self._several:
            return (*USUAL, "attention_mask")
        if any(source.dataset.info.documents is None for source in plan.sources):
            return USUAL
        return (*USUAL, "position_ids")

    def _judge(self, names):
        if not self._several or self.mask_first:
            return None
        if "position_ids" in names:
            raise ValueError("attention_mask switches off what keeps the documents of a row apart in transformers' "
                             "models, while position_ids begin again at each document: leave attention_mask out "
                             "(padding has no loss), or position_ids")
        return ("the documents of a row see each other: transformers' models keep them apart only with "
                "outputs=(\"inputs\", \"labels\", \"position_ids\")")

    def make(self, batch):
        made = {}
        for name, value in batch.items():
            if name == "labels" and self._shifted:
                # A model that ignores shift_labels then has no loss (nan) instead of a wrong loss.
                made["shift_labels"], made["labels"] = value, value * 0 + IGNORED
            elif name == "cu_seqlens":
                made.update(cu_seq_lens_q=value, cu_seq_lens_k=value,
                            max_length_q=batch.max_seqlen, max_length_k=batch.max_seqlen)
            else:
                made[HUGGINGFACE.get(name, name)] = value  # a column keeps its name
        if self._without_cache:
            made["use_cache"] = False
        return made


def style_of(style, outputs, plan, ahead=0):
    """Returns the form of this name with the requested outputs; None means its usual outputs."""
    choice("style", style, STYLES)
    if style == "huggingface":
        if ahead:
            raise ValueError("style \"huggingface\" has no output ahead_labels, which `ahead` makes: transformers' "
                             "models do not take it")
        return HuggingFace(outputs, plan)
    if outputs is None and ahead:
        outputs = (*USUAL, "ahead_labels")
    made = Plain(outputs, {"batch": lambda batch: batch, "tuple": tuple, "dict": lambda b: dict(b.items())}[style])
    if ahead and "ahead_labels" not in made.given:
        raise ValueError(f"ahead={ahead} makes the output ahead_labels, which outputs= leaves out: add it, or leave "
                         "`ahead` out")
    return made
