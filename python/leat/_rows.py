"""_rows.py: single rows of a plan, at any positions, for datasets that are indexed by number."""
from __future__ import annotations

from leat._values import choice, listed

OUTPUTS = ("inputs", "labels", "loss_mask", "loss_weights")


def outputs_of(outputs) -> tuple:
    """Names of outputs as an option gives them, checked."""
    given = (outputs,) if isinstance(outputs, str) else tuple(listed("outputs must be names", outputs))
    for name in given:
        choice("an output of single samples", name, OUTPUTS)
    if not given or len(set(given)) != len(given):
        raise ValueError("outputs must have at least one name, and none twice")
    return given


def read_rows(plan, positions, number_bytes, outputs, to) -> tuple:
    """The outputs of the samples at these positions, an array each, which `to` makes of a native one. Inputs and labels
    share memory where labels are the next inputs."""
    native = plan._native
    if set(outputs) <= {"inputs", "labels"} and not native.labels_apart():
        whole = to(native.rows(positions, number_bytes))
        found = {"inputs": whole[:, :-1], "labels": whole[:, 1:]}
    else:
        inputs, labels, weights = map(to, native.rows_apart(positions, number_bytes))
        found = {"inputs": inputs, "labels": labels, "loss_mask": weights > 0, "loss_weights": weights}
    return tuple(found[name] for name in outputs)
