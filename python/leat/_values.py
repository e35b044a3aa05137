"""_values.py: what callers give, looked at where it comes in: so that a message names the argument, and a number that
is none, or negative, is not taken for another one."""
from collections.abc import Mapping
from operator import index

MOST = 2**64 - 1


def whole(name, value, least=0, most=MOST):
    """A whole number of any type that has them: int, numpy's, a tensor's; never a str, a float or a bool."""
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} is a whole number, not {value!r}")
    if not least <= number <= most:
        bounds = f"{least} or more" if most >= MOST - 1 else f"a number from {least} to {most}"
        raise ValueError(f"{name} is {bounds}, not {number}")
    return number


def choice(name, value, choices):
    """One of `choices`; of a dict, what it stands for."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is one of {', '.join(choices)}, not {value!r}")
    return choices[value] if isinstance(choices, dict) else value


def is_name(value):
    """Whether it can be the name of a file."""
    return isinstance(value, (str, bytes)) or hasattr(value, "__fspath__")


def listed(what, value):
    """The items of something that has them."""
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{what}, not {value!r}") from None


def check_plan(plan):
    if not hasattr(plan, "_native") or not hasattr(plan, "order"):
        how = f": leat.Plan({plan!r}, seq_len)" if is_name(plan) else ""
        raise TypeError(f"expected a leat.Plan, not {type(plan).__name__}{how}")
    return plan


def check_state(state):
    """That it is what Loader.state_dict() has given."""
    if not isinstance(state, Mapping) or "position" not in state or state.get("leat") != 1:
        raise ValueError("this is no state_dict() of a leat.Loader, or one of a version that is not known here")


def samples_of(plan, samples):
    """How many samples a dataset by number has: those of the plan, or so many."""
    ends = check_plan(plan).info.positions
    if samples is None:
        if ends is None:
            raise ValueError("this plan has no end: say how many samples there are to be (samples=)")
        return ends
    samples = whole("samples", samples)
    if ends is not None and samples > ends:
        raise ValueError(f"the plan has {ends} samples, not {samples}")
    return samples
