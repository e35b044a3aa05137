"""packing.py: leat.pack and leat.merge make datasets; leat.export turns them into files of other tools."""
from __future__ import annotations

import collections

from leat import _leat
from leat._leat import Error
from leat._pack_options import list_paths, now, open_tokenizer, pack_options, read_options, taken, takes
from leat._values import flag
from leat.options import Files, MergeOptions, PackOptions, as_group
from leat.plan import Plan

TYPE_CHECKING = False  # as typing has it, whose import takes time
if TYPE_CHECKING:
    from typing_extensions import Unpack

    from leat.row_files import ExportedRows

SKIPPED, REPLACED, REPEATED, SPLIT, DAMAGED, WAITING, REJECTED, FIELD, CHAT, SUSPECT = range(1, 11)  # kinds of notices
OLDER = 5  # enum leat_skip_reason

Progress = collections.namedtuple(
    "Progress", "bytes total_bytes text_bytes tokens documents rejects bytes_before bound")
Progress.__doc__ = """The progress of a run of leat.pack().

bytes, total_bytes   of the inputs, as on disk; total_bytes is 0 if not known
bytes_before         how many of `bytes` were done before the run was resumed
text_bytes, tokens, documents, rejects   so far
bound                the slowest station: "reading", "encoding", "writing"; or "checking", when a run is resumed and
                     `bytes` counts what it had written, which is read back; or "arranging", when `bytes` counts bytes
                     of tokens
"""

Summary = collections.namedtuple(
    "Summary", "output inputs documents tokens text_bytes rejected deduplicated splits special_strings "
               "truncated_inputs seconds mb_per_s tokens_per_s peak_memory was_finished skipped skipped_files replaced "
               "replaced_in not_json kept_out outputs row_groups hub_splits damaged rejected_inputs too_long "
               "learned",
    defaults=(0, (), 0, {}, 0, 0, (), 0, (), (), (), 0, None))
Summary.__doc__ = """What a run did; the names are those of `leat pack --json`.

rejected          records that could not be packed; OUTPUT.rejects.jsonl holds them
deduplicated      documents left out because an earlier one has the same text
splits            a dict for each: output, documents, tokens, identity
learned           a dict of what a mask lets training learn: tokens, documents_without (such a token), by_role (empty if
                  roles are not known); None without a mask, and of a merge
special_strings   strings of special tokens in the texts, whether encoded as special tokens or not
truncated_inputs  inputs that were cut off or broken
damaged           a dict for each of them: input, offset (it was packed up to that byte; 0: nothing of it was), reason,
                  unread_bytes; None: not known
rejected_inputs   a dict for each input that gave no document, because each of its records was rejected: input, records,
                  reason (of the first)
mb_per_s, tokens_per_s   of the work of this run alone, without that of a run that it resumed
was_finished      with resume: nothing was left to do
skipped, skipped_files   files that were left out, mostly of folders; and folders whose names begin with _ (these end in
                         /), each with all that is in it
replaced, replaced_in    malformed parts of texts that became U+FFFD: how many, and how many per input (a dict; empty
                         after a Packer)
not_json          records with NaN or Infinity, which were taken though JSON has neither
kept_out          records that a condition of `keep` left out
too_long          documents longer than max_length, which were rejected, cut or split
outputs           with `by`, a dict for each dataset: name, value, documents, tokens, identity, and split if it is one
row_groups        of Parquet files, that were packed
hub_splits        a dict for each split of Hugging Face folders that the inputs have: split (None: the files of none),
                  inputs, packed; empty if no name says a split, and with leat.Files(..., split_of="all")
"""


@takes(PackOptions, progress="auto")
def pack(inputs, output, tokenizer="gpt2", **options: Unpack[PackOptions]) -> Summary:
    """Packs text files into the dataset `output`, like `leat pack`; returns a Summary.

    inputs        a path or several: files (.jsonl .ndjson .json .csv .tsv .txt .md, plain or with .zst .gz .xz .bz2
                  .lz4; .parquet), folders, URLs (s3://, gs://, az://, hf://, https://; also of all below one, if it
                  ends in /), "@LIST", "-"; or a leat.Files, which says more about them: their format, a split of the
                  Hub, which files of folders
    tokenizer     a leat.Tokenizer, or the argument for one
    """
    began = now()
    tokenizer = open_tokenizer(tokenizer)
    given = taken(pack, options)
    files = as_group("inputs", inputs, Files, True)
    native = pack_options(given, tokenizer, files)
    notices: list[tuple] = []
    made: list[tuple] = []
    bar, watch = watching(given["progress"])
    try:
        report, infos, text_before = _leat.pack(output, list_paths(files.paths), tokenizer._core, native, watch,
                                               noting(notices), made.append)
    except Error as e:
        e.damaged = _damaged(notices)
        raise
    finally:
        if bar:
            bar.close()
    splits = [] if given["by"] else native[1]["splits"]
    summary = packed(output, report, infos, splits, now() - began, text_before, notices)._replace(
        outputs=_outputs(made))
    for kind, path, count, _ in _named(notices):
        if kind == REPEATED:
            import warnings
            warnings.warn(f"{count} inputs repeat earlier ones, the first is {path}: their documents are packed as "
                          "often as they are named", RuntimeWarning, stacklevel=2)
    if report["damaged_inputs"]:
        _report_damage(summary, given["allow_truncated"])
    return summary


@takes(MergeOptions)
def merge(parts, output, **options: Unpack[MergeOptions]) -> Summary:
    """Joins finished datasets of one tokenizer to the dataset `output`, without encoding again, like `leat merge`. All
    parts of a run with `by` become the datasets OUTPUT.VALUE.

    parts     names of datasets, folders or "@LIST"; the results of pack(part=(i, n)) for all i, in any order, become
              the whole dataset. glob.glob("c.*") will do: both files of a dataset name it once, and other files that
              match are ignored (rejects; files of a run that has not ended; c itself, if c.1 is a part of a run and c
              is not). A RuntimeWarning names each dataset that is left out
    """
    began = now()
    given = taken(merge, options)
    fields, lists = read_options(given)
    made: list[tuple] = []
    left: list[tuple[int, bytes]] = []
    result = _leat.merge(output, list_paths(parts), lists["splits"], fields, given["progress"], left.append,
                         made.append)
    _warn_left_out(left)
    return joined(output, result, made, lists["splits"], now() - began)


def joined(output, result, made, splits, seconds):
    """Returns the Summary of a merge, from the extension's report."""
    info, infos, _, deduplicated = result
    report = dict(info[0], deduplicated=deduplicated, inputs=0, text_bytes=0, rejects=0, special_strings=0,
                  damaged_inputs=0, peak_memory=0, was_finished=False)
    return summarize(output, report, infos, [] if made else splits, seconds)._replace(outputs=_outputs(made))


def _warn_left_out(left):
    import os
    import warnings
    for reason, path in left:
        name = os.fsdecode(path)
        why = f"it is no part of the run, as {name}.* are" if reason == OLDER else \
            "files of it are named, but no finished dataset"
        warnings.warn(f"{name} is left out: {why}", RuntimeWarning, stacklevel=3)


Export = collections.namedtuple("Export", "output to documents tokens bytes dtype end_token")
Export.__doc__ = """What leat.export() has written; the names are those of `leat export --json`.

documents   None if not known
bytes       of all files
dtype       "u16" or "u32"
end_token   with which documents end; None if none is known
"""


def export(parts, output, to: str, *, dtype: str | None = None, force: bool = False, progress=None,
           first: int = 0, count: int | None = None, memory: int | str = "512MiB") -> Export | ExportedRows:
    """Writes the tokens of datasets, joined in order, as files of another tool, like `leat export`; or rows of a plan.

    parts     a name or several: datasets, folders, "@LIST", files of other tools; or a leat.Plan
    output    the name of the files
    to        "megatron" (OUTPUT.bin and .idx), "raw" (OLMo-core), "nanogpt" (raw u16), "llmc", "datatrove"
              (OUTPUT.ds, .ds.index; .ds.loss for a mask)
    dtype     "u16" or "u32": the size of an id; by default as stored
    force     replaces existing files
    progress  a function that is called with (bytes done, bytes in all), for rows with rows
    first, count   for a plan: the position of the first row, and how many; None: to the plan's end
    memory    for a plan: at most, from 176 MiB; groups of rows are as large as it allows, and have one row at least

    For a plan, `to` is "packed-parquet" (Megatron-Bridge's packed rows: input_ids, loss_mask, seq_start_id) or
    "arrow-dataset" (a folder for datasets.load_from_disk(): input_ids, labels, position_ids, seq_lengths), and the
    result leat.row_files.ExportedRows. It needs pyarrow and numpy.
    """
    if isinstance(parts, Plan):
        if dtype is not None:
            raise ValueError("dtype is for the tokens of datasets: rows of a plan have ids of 32 bits")
        from leat.row_files import export_rows
        return export_rows(parts, output, to, first=first, count=count, memory=memory, force=force,
                           progress=progress)
    if first != 0 or count is not None:
        raise ValueError("first and count are for rows of a leat.Plan: datasets are written whole")
    if dtype not in (None, "u16", "u32"):
        raise ValueError(f'dtype must be "u16" or "u32", not {dtype!r}')
    documents, tokens, size, end, width = _leat.export(
        output, list_paths(parts), to, {None: 0, "u16": 2, "u32": 4}[dtype], flag("force", force), progress)
    import os
    return Export(os.fsdecode(output), to, documents, tokens, size, f"u{8 * width}", end)


# ---- Summary and progress --------------------------------------------------------------------------------------------

def summarize(output, report, infos, splits, seconds, text_before=0):
    """Returns the Summary. Its rates leave out `text_before`, the bytes of text that the resumed run had packed."""
    import json
    import os
    name = os.fsdecode(output)
    base = next((name[:-len(s)] for s in (".leat", ".tokens") if name.endswith(s) and len(name) > len(s)), name)
    made = [{"output": f"{base}.{split}", "documents": info["documents"], "tokens": info["tokens"],
             "identity": info["identity"].hex()} for (split, _), info in zip(splits, infos)]
    text = 0 if report["was_finished"] else report["text_bytes"] - text_before
    # Tokens are estimated by the share of text, because arranging may have dropped any part of the earlier text.
    tokens = report["tokens"] * text / report["text_bytes"] if report["text_bytes"] else 0
    rate = (lambda amount: amount / seconds if seconds > 0 else 0.0)
    return Summary(output=name, inputs=report["inputs"], documents=report["documents"], tokens=report["tokens"],
                   text_bytes=report["text_bytes"], rejected=report["rejects"], deduplicated=report["deduplicated"],
                   splits=made, special_strings=report["special_strings"], truncated_inputs=report["damaged_inputs"],
                   seconds=seconds, mb_per_s=rate(text) / 1e6, tokens_per_s=rate(tokens),
                   peak_memory=report["peak_memory"], was_finished=report["was_finished"],
                   learned=json.loads(report.get("learned") or "null"),
                   **{name: report.get(name, 0) for name in ("skipped", "replaced", "not_json", "kept_out",
                                                             "row_groups", "too_long")})


def packed(output, report, infos, splits, seconds, text_before, notices):
    """Returns the Summary of a run, including its notices."""
    import os
    return summarize(output, report, infos, splits, seconds, text_before)._replace(
        damaged=_damaged(notices),
        rejected_inputs=[{"input": os.fsdecode(path), "records": count, "reason": reason.decode("utf-8", "replace")}
                         for kind, path, count, _, _, reason in notices if kind == REJECTED],
        skipped_files=[path for kind, path, _, _ in _named(notices) if kind == SKIPPED],
        replaced_in={path: count for kind, path, count, _ in _named(notices) if kind == REPLACED},
        hub_splits=[{"split": path or None, "inputs": count, "packed": bool(reason)}
                    for kind, path, count, reason in _named(notices) if kind == SPLIT])


def _outputs(made):
    import os
    return [{"name": os.fsdecode(name), "value": value.decode("utf-8", "replace"), "documents": documents,
             "tokens": tokens, "identity": identity.hex(), **({"split": split} if split else {})}
            for name, value, split, documents, tokens, identity in made]


def noting(notices):
    """Returns a function that stores notices, and gives warnings at once."""
    def note(notice):
        if notice[0] not in (WAITING, FIELD, CHAT, SUSPECT):
            notices.append(notice)
            return
        import os
        import warnings
        warnings.warn(os.fsdecode(notice[5]), RuntimeWarning, stacklevel=3)
    return note


def _named(notices):
    import os
    return [(kind, os.fsdecode(path), count, reason) for kind, path, count, reason, _, _ in notices]


def _damaged(notices):
    known = (lambda number: None if number == 2**64 - 1 else number)
    return [{"input": path.decode("utf-8", "backslashreplace") or None, "offset": known(offset),
             "reason": reason.decode("utf-8", "backslashreplace"), "unread_bytes": known(unread)}
            for kind, path, unread, _, offset, reason in notices if kind == DAMAGED]


def _report_damage(summary, allowed):
    def line(d):
        left = d["unread_bytes"]
        left = ("what should follow is missing" if left == 0 else "what follows was not read" if left is None else
                f"{left} bytes were not read")
        return f"{d['input']}, at byte {d['offset']}: {d['reason']}; {left}"

    count = len(summary.damaged)
    what = f"{count} input{'s were' if count > 1 else ' was'} cut off or broken: " + "; ".join(
        [line(d) for d in summary.damaged[:20]] + ["and others (`damaged` lists all)"] * (count > 20))
    if allowed:
        import warnings
        warnings.warn(what, RuntimeWarning, stacklevel=4)
        return
    first = summary.damaged[0]
    error = _leat.failure("truncated", first["input"],
                          what + "; once they are whole again, pack them with force=True; allow_truncated=True with "
                                 "resume=True counts that as success")
    error.offset = first["offset"]
    error.summary, error.resumable, error.damaged = summary, False, summary.damaged
    raise error


class _Bar:
    """A tqdm bar that shows Progress."""

    def __init__(self, make):
        self._make, self._bar, self._phase = make, None, None

    def __call__(self, *numbers):
        p = Progress(*numbers)
        phase = p.bound if p.bound in ("arranging", "checking") else "pack"
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


def watching(progress):
    """Returns (the bar or None, the function that the extension calls or None)."""
    import sys
    if progress is None or progress is False:
        return None, None
    if callable(progress):
        return None, lambda *numbers: progress(Progress(*numbers))
    if progress is not True and progress != "auto":
        raise TypeError(f"progress must be a function, True, None or \"auto\", not {progress!r}")
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
