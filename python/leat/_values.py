"""_values.py: checks arguments at the entry, so that messages name them and no wrong value is read as a number."""
import numbers
import re
from collections.abc import Mapping
from operator import index
from os import PathLike, fsdecode

from leat._leat import LOADER_CHOICES, show

MOST = 2**64 - 1
# outputs that say which tokens of a row belong together
ROW_DOCUMENTS = ("position_ids", "document_ids", "attention_mask")
ROW_OUTPUTS = ("inputs", "labels", "loss_mask", "loss_weights", *ROW_DOCUMENTS)


def shown_name(name):
    """Returns a name for a message, safe for a terminal and without possible secrets of a URL."""
    return show(show(fsdecode(name), True))


def shown(value):
    """Returns repr() for a message, without possible secrets of URLs."""
    if isinstance(value, str):
        return repr(show(value, True))
    return without_secrets(repr(value))


def without_secrets(sentence):
    """Removes possible secrets from the URLs of a sentence. Each URL ends at a quotation mark."""
    return re.sub(r"\w+://[^'\"]*", lambda url: show(url[0], True), sentence)


def whole(name, value, least=0, most=MOST):
    """Returns a whole number from any integer type (int, numpy's, a tensor's). Refuses str, float and bool."""
    try:
        number = None if isinstance(value, bool) else index(value)
    except TypeError:
        number = None
    if number is None:
        raise TypeError(f"{name} must be a whole number, not {shown(value)}")
    if not least <= number <= most:
        bounds = f"from {least} to {most}"
        if most >= MOST - 1:
            bounds = f"at least {least}" if number < least else f"at most {most}"
        raise ValueError(f"{name} must be {bounds}, not {number}")
    return number


def instance(name, value, kind, what="a str"):
    """Returns the value if it has this type. `what` is the type in words."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be {what}, not {shown(value)}")
    return value


def digits(text):
    """Returns the number that a text of digits from 0 to 9 writes, or None for any other text."""
    return int(text) if isinstance(text, str) and text.isascii() and text.isdigit() and len(text) <= 20 else None


def flag(name, value):
    """Returns True or False, and refuses anything else: bool() would make any text true and None false."""
    return instance(name, value, bool, "True or False")


def positive(name, value):
    """Returns a finite number above 0."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name} must be a number, not {shown(value)}")
    if not 0 < value < 1e12:
        raise ValueError(f"{name} must be above 0, not {value}")
    return float(value)


def read_size(size, least=1, name="memory"):
    """Returns a number of bytes, given as a number or as on the command line: "512MiB", "1.5G"."""
    if not isinstance(size, str):
        return whole(name, size, least)
    import fractions
    found = re.fullmatch(r"([0-9]{1,20}(?:\.[0-9]{1,20})?)(?:([KMGTPkmgtp])(i?))?B?", size)
    if not found:
        raise ValueError(f"{name} must be a size like 2GiB or 512MiB, not {shown(size)}")
    number, letter, binary = found.groups()
    unit = (1024 if binary else 1000) ** ("KMGTP".index(letter.upper()) + 1) if letter else 1
    return whole(name, int(fractions.Fraction(number) * unit), least)


def path_of(name, value):
    """Returns the name of a file or a dataset."""
    return instance(name, value, (str, bytes, PathLike), "a name or a path")


def attributes_of(name, value, *needed):
    """Returns an object of a trainer, which must have these attributes."""
    for attribute in needed:
        if not hasattr(value, attribute):
            raise TypeError(f"{name} must have {attribute}, which {shown(value)} has not")


def choice(name, value, choices):
    """Returns one of `choices`, or its value if `choices` is a dict."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {shown(value)}")
    return choices[value] if isinstance(choices, dict) else value


def slice_options(value):
    """Returns (rank, count, layout) as the extension takes it, or None for whole rows."""
    layouts = LOADER_CHOICES["slice_layout"]
    if value is None:
        return {}
    if not isinstance(value, (tuple, list)) or len(value) != 3:
        raise TypeError(f"slice must be (rank, count, layout), with layout {', '.join(layouts)}, not {shown(value)}")
    rank, count, layout = value
    count = whole("the count of slice", count, 1)
    return dict(slice_rank=whole("the rank of slice", rank, 0, count - 1), slice_count=count,
                slice_layout=choice("the layout of slice", layout, layouts))


def is_name(value):
    """Returns True if the value can be a file name."""
    return isinstance(value, (str, bytes)) or hasattr(value, "__fspath__")


def listed(what, value):
    """Returns the items of an iterable as a list. TypeError for anything else."""
    try:
        return list(value)
    except TypeError:
        raise TypeError(f"{what}, not {shown(value)}") from None


def outputs_of(what, outputs, known):
    """Returns the names of outputs that an option gives. `what` names one in messages."""
    given = (outputs,) if isinstance(outputs, str) else tuple(listed("outputs must be names", outputs))
    for name in given:
        choice(what, name, known)
    if not given or len(set(given)) != len(given):
        raise ValueError("outputs must have at least one name, and none twice")
    return given


def check_plan(plan):
    if not hasattr(plan, "_native") or not hasattr(plan, "order"):
        how = f": leat.Plan({shown(plan)}, seq_len)" if is_name(plan) else ""
        raise TypeError(f"expected a leat.Plan, not {type(plan).__name__}{how}")
    return plan


def read_state(plan, state):
    """Returns (position, damaged, step) of a state of Loader.state_dict(), whose plan must agree with this one so far.
    `step` is None after the end of a `for`."""
    if not isinstance(state, Mapping) or not {"leat", "position", "state"} <= state.keys() or \
            isinstance(state["leat"], bool) or state["leat"] != 1:
        raise ValueError("this is not a state_dict() of a leat.Loader, or one of a newer version")
    position = whole("position of the state", state["position"])
    step = whole("step of the state", state.get("step", 0), 0, position)  # each step shows at least one sample
    shown, damaged, _ = plan.load_state(state["state"])
    if shown != position:
        raise ValueError(f"position of the state is {position}, but its text is of position {shown}: it was changed "
                         "after state_dict() made it")
    return position, damaged, None if flag("ended of the state", state.get("ended", False)) else step


def entry(state, name):
    """Returns the entry of this name in a trainer's state."""
    if not isinstance(state, Mapping) or state.get(name) is None:
        raise ValueError(f"this is not a state with leat's place in the data: it has no {name!r}")
    return state[name]


def sample_number(value, count):
    """Returns the number of one of `count` samples. IndexError for a number outside, as in sequences."""
    number = whole("the number of a sample", value, -MOST)
    if not 0 <= number < count:
        raise IndexError(f"no sample {number}: there are {count}")
    return number


def samples_of(plan, samples):
    """Returns the number of samples of a map-style dataset: `samples` if given, else all of the plan."""
    ends = check_plan(plan).info.positions
    if samples is None:
        if ends is None:
            raise ValueError("this plan has no end: give the number of samples, samples=N")
        return ends
    samples = whole("samples", samples)
    if ends is not None and samples > ends:
        raise ValueError(f"samples is {samples}, but the plan has only {ends}")
    return samples
