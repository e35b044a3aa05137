"""packing.py: leat.pack and leat.merge: datasets from files of text, and from other datasets."""
from __future__ import annotations

import collections

from leat import _leat
from leat._leat import Error
from leat._pack_options import list_paths, now, open_tokenizer, pack_options, read_created, read_seed, read_size, \
    read_splits

Progress = collections.namedtuple(
    "Progress", "bytes total_bytes text_bytes tokens documents rejects bytes_before bound")
Progress.__doc__ = """How far a run of leat.pack() is.

bytes, total_bytes   of the inputs as they lie on disk; total 0: not known
bytes_before         of `bytes`, what a run that is resumed had done
text_bytes, tokens, documents, rejects
bound                what the rest waits for: "reading", "encoding", "writing"; or "arranging", when `bytes` are
                     those of the tokens
"""

Summary = collections.namedtuple(
    "Summary", "output inputs documents tokens text_bytes rejected deduplicated splits special_strings "
               "truncated_inputs seconds mb_per_s tokens_per_s peak_memory was_finished")
Summary.__doc__ = """What a run did: the same names as `leat pack --json` prints.

rejected          records that could not be packed; OUTPUT.rejects.jsonl holds them
deduplicated      documents left out, because one before has the same text
splits            a dict for each: output, documents, tokens, identity
special_strings   strings of special tokens in the texts, encoded as such or not
truncated_inputs  compressed ones that were cut off or broken
mb_per_s, tokens_per_s   of what this run did itself, without the one that it went on with
was_finished      with resume: there was nothing left to do
"""


def pack(inputs, output, tokenizer="gpt2", *, pattern: str | None = None, format: str = "auto", text: str = "text",
         id: str | None = "id", end: int | str | None = "auto", begin: int | str | None = None, special: bool = False,
         invalid_utf8: str = "replace", threads: int | None = None, memory: int | str | None = None,
         shuffle: int | None = None, dedup: bool = False, split=None, max_rejects: int | float | str | None = "1%",
         allow_truncated: bool = False, resume: bool = False, part=None, force: bool = False, progress="auto",
         created: int | None = None) -> Summary:
    """Packs files of text into the dataset `output`, as `leat pack` does; returns a Summary.

    inputs        a path or several: files (.jsonl .ndjson .json .txt .md, plain, .zst or .gz), folders, "@LIST", "-"
    tokenizer     a leat.Tokenizer, or what makes one
    format        "auto", "jsonl" or "text"; text is one document a file
    text, id      the fields of a JSON record, with dots on the way into objects; id=None for none
    end, begin    the token after and before each document: an id, a token, or None; "auto" is the tokenizer's
    special       strings of special tokens in the texts become these tokens; else they are ordinary text, and counted
    invalid_utf8  "replace" or "reject"
    threads       None: all cores
    memory        bound on the memory of the process: bytes, or "4GiB"; None: 2 GiB besides whole GiB held already
    shuffle       a seed: the documents are shuffled over the whole corpus
    dedup         of documents with the same text only the first is kept
    split         {"valid": 0.01} or "valid=0.01": datasets OUTPUT.valid by a hash of each text
    max_rejects   more records refused than this number, or share ("1%", 0.01), end the run; None: any
    allow_truncated  a compressed input that is cut off is a warning, not an error; what was readable is packed
    resume        go on with a run that was stopped or killed
    part          (i, n) or "i/n": only the i-th of n shares of the inputs; leat.merge() joins the parts
    force         replace an existing output
    progress      a function that takes a Progress, about ten times a second; True: a bar of tqdm; "auto": a bar if tqdm
                  is there and stderr is a terminal; None: nothing
    created       seconds since 1970 to be noted; None: SOURCE_DATE_EPOCH of the environment, or nothing

    Ctrl-C, or an exception in `progress`, ends the run so that resume=True goes on from there. leat.Error has then, and
    after other failures, `resumable`. The GIL is released.
    """
    began = now()
    tokenizer = open_tokenizer(tokenizer, pattern)
    splits = read_splits(split)
    options = pack_options(tokenizer, format=format, text=text, id=id, end=end, begin=begin, special=special,
                       invalid_utf8=invalid_utf8, threads=threads, memory=memory, shuffle=shuffle, dedup=dedup,
                       splits=splits, max_rejects=max_rejects, resume=resume, part=part, force=force, created=created)
    bar, watch = _watching(progress)
    try:
        report, infos, text_before = _leat.pack(output, list_paths(inputs), tokenizer._core, options, watch)
    finally:
        if bar:
            bar.close()
    summary = summarize(output, report, infos, splits, now() - began, text_before)
    if report["damaged_inputs"]:
        _tell_damage(report, summary, allow_truncated)
    return summary


def merge(parts, output, *, shuffle: int | None = None, dedup: bool = False, split=None,
          memory: int | str | None = None, force: bool = False, progress=None, created: int | None = None) -> Summary:
    """Joins finished datasets of the same tokenizer to the dataset `output`, without encoding again, as `leat merge`.

    parts     names of datasets, folders or "@LIST"; the parts of one run, of pack(part=...), become the whole
    shuffle, dedup, split, memory, force, created   as of pack()
    progress  a function that takes (bytes done, bytes of all), about ten times a second
    """
    began = now()
    splits = read_splits(split)
    seed = read_seed(shuffle)
    info, infos, documents, deduplicated = _leat.merge(
        output, list_paths(parts), seed is not None, seed or 0, dedup, splits,
        0 if memory is None else read_size(memory), force, read_created(created), progress)
    report = dict(info[0], deduplicated=deduplicated, inputs=0, text_bytes=0, rejects=0, special_strings=0,
                  damaged_inputs=0, peak_memory=0, was_finished=False)
    return summarize(output, report, infos, splits, now() - began)


# ---- What a run did, and how far it is ------------------------------------------------------------------------------

def summarize(output, report, infos, splits, seconds, text_before=0):
    """`text_before`: bytes of text of the run that this one went on with, which are not of its rates."""
    import os
    name = os.fsdecode(output)
    base = next((name[:-len(s)] for s in (".leat", ".tokens") if name.endswith(s) and len(name) > len(s)), name)
    made = [{"output": f"{base}.{split}", "documents": info["documents"], "tokens": info["tokens"],
             "identity": info["identity"].hex()} for (split, _), info in zip(splits, infos)]
    text = 0 if report["was_finished"] else report["text_bytes"] - text_before
    # by their share of the text: of what was packed before, arranging may have left out any part
    tokens = report["tokens"] * text / report["text_bytes"] if report["text_bytes"] else 0
    rate = (lambda amount: amount / seconds if seconds > 0 else 0.0)
    return Summary(output=name, inputs=report["inputs"], documents=report["documents"], tokens=report["tokens"],
                   text_bytes=report["text_bytes"], rejected=report["rejects"], deduplicated=report["deduplicated"],
                   splits=made, special_strings=report["special_strings"], truncated_inputs=report["damaged_inputs"],
                   seconds=seconds, mb_per_s=rate(text) / 1e6, tokens_per_s=rate(tokens),
                   peak_memory=report["peak_memory"], was_finished=report["was_finished"])


def _tell_damage(report, summary, allowed):
    count = report["damaged_inputs"]
    what = (f"{count} input{'s were' if count > 1 else ' was'} cut off or broken, and packed as far as readable: "
            + (report["damage"].decode("utf-8", "backslashreplace") or "named when the run was stopped"))
    if allowed:
        import warnings
        warnings.warn(what, RuntimeWarning, stacklevel=3)
        return
    error = Error(what)
    error.status, error.summary, error.resumable = "truncated", summary, False
    raise error


class _Bar:
    """tqdm's, fed by progress."""

    def __init__(self, make):
        self._make, self._bar, self._phase = make, None, None

    def __call__(self, *numbers):
        p = Progress(*numbers)
        phase = "arranging" if p.bound == "arranging" else "pack"
        if phase != self._phase:
            self.close()
            self._phase = phase
            self._bar = self._make(desc=phase, total=p.total_bytes or None, initial=p.bytes_before, unit="B",
                                   unit_scale=True)
        self._bar.update(p.bytes - self._bar.n)
        rejects = f"{p.rejects:,} rejects, " if p.rejects else ""
        self._bar.set_postfix_str(f"{p.tokens:,} tokens, {rejects}{p.bound}")

    def close(self):
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def _watching(progress):
    """The bar, if there is one, and the function that the extension calls."""
    import sys
    if progress is None or progress is False:
        return None, None
    if callable(progress):
        return None, lambda *numbers: progress(Progress(*numbers))
    if progress is not True and progress != "auto":
        raise TypeError("progress is a function, True, None, or \"auto\"")
    if progress == "auto" and not (sys.stderr is not None and sys.stderr.isatty()):
        return None, None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        if progress is True:
            raise
        return None, None
    bar = _Bar(tqdm)
    return bar, bar
