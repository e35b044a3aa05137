"""One name per thing: the options of Python, with those in groups, the fields of the structs of the public headers
(nested ones by their last name), and the options of the commands as `--help all` lists them have the same names, except
for what EXCEPTIONS lists; and each option stands in one place of Python."""
import inspect
import pickle
import re
import subprocess

import pytest
from conftest import BUILD, ROOT

import leat
from leat.integrations import megatron

GROUPS = (leat.fit, megatron.order, leat.FIM, leat.Opening, leat.Outputs, leat.Device, leat.IO, leat.StatsFile,
          leat.Files, leat.Chat, leat.Pairs)

# what is compared: of Python, of C, a command
SUBJECTS = {
    "plan": ((leat.Plan, leat.fit, megatron.order, leat.FIM, leat.Opening),
             ("leat_plan_options", "leat_open_options"), ("leat", "order")),
    "loader": ((leat.Loader, leat.Outputs, leat.Device, leat.IO, leat.StatsFile), ("leat_loader_options",),
               ("leat-bench", "load")),
    "pack": ((leat.pack, leat.Files, leat.Chat, leat.Pairs), ("leat_pack_options",), ("leat", "pack")),
    "merge": ((leat.merge,), ("leat_merge_options",), ("leat", "merge")),
    "export": ((leat.export,), ("leat_export_options",), ("leat", "export")),
    "adopt": ((leat.adopt,), ("leat_adopt_options",), ("leat", "adopt")),
    "pull": ((leat.pull,), ("leat_pull_options",), ("leat", "pull")),
    "push": ((leat.push,), ("leat_push_options",), ("leat", "push")),
}

# A row for each thing that has not the same name in all three; names of one thing in one place are separated by spaces.
EXCEPTIONS = [
    # subjects, Python, C, command
    ("plan", "sources", "sources source_count", "source"),
    ("plan", "phases", "phases phase_count", "at"),
    ("plan", "skip", "skips skip_count", "skip"),
    ("plan", "open", "open", ""),  # a group, as in C
    ("plan", "", "", "fit"),  # rules of a source: leat.fit in its tuple, struct leat_plan_source in C
    ("plan", "fim", "", "fim"),  # a group; the command has one value for all of it
    ("plan", "rate spm prefix middle suffix", "rate spm prefix middle suffix", ""),
    ("plan", "access", "access", ""),  # commands read safely
    # of samples and loaders, and Plan's methods
    ("plan", "", "", "plan change print_plan from count batch rank world balance fit_report "
     "locality_report"),
    ("plan", "", "max_tokens max_rows pool", "max_tokens max_rows pool"),  # leat.Plan.by_tokens()
    ("loader", "max_tokens pool", "", ""),  # of the plan
    ("loader", "plan", "", ""),  # an argument of the call in C; the command has the options of a plan
    ("loader", "batch_size", "batch", "batch"),  # as PyTorch has it, and of a rank
    ("loader", "deal", "", ""),  # another value of `balance` in C and for the command
    ("loader", "ranks", "", ""),  # (rank, world), a mesh or "ddp": both in one
    ("loader", "device name", "name", "device"),
    ("loader", "outputs names", "wanted", "output"),
    ("loader", "dtype", "number_bytes", ""),
    ("loader", "unshifted", "unshifted", ""),
    ("loader", "ignore_index", "ignore_index", ""),
    ("loader", "max_sequences", "cu_seqlens_room", ""),  # the room has one place more, for its first 0
    ("loader", "style framework buffers restart notices", "", ""),  # of Python alone
    ("loader", "position", "position", "from"),
    ("loader", "state", "state state_bytes", ""),
    ("loader", "slice", "count layout", "slice layout"),  # (rank, count, layout), and R/N of the command
    ("loader", "source_weights", "source_weights source_weight_count", ""),
    ("loader", "columns", "columns column_count", "column"),
    ("loader", "io", "", ""),  # a group
    ("loader", "stats_file path", "stats_file", ""),
    ("loader", "seconds", "stats_ms", ""),
    ("loader", "numa_node", "numa_node", ""),
    ("loader", "verify", "verify", "no_verify"),
    ("loader", "steps", "", "steps"),  # a C program counts itself
    ("loader", "", "", "rows work bare synthetic compare warm_up rounds checksum dump"),  # measurements
    ("pack", "", "", "run"),  # leat_run_create(), leat.Run
    ("pack", "inputs paths", "", ""),  # arguments in C and on the command line
    ("pack", "output", "output", "output"),
    ("pack", "tokenizer", "tokenizer", "tokenizer pattern"),  # leat.Tokenizer(FILE, pattern=...)
    ("pack", "end", "end_token", "end"),
    ("pack", "begin", "begin_token", "begin"),
    ("pack", "invalid_utf8", "reject_invalid", "invalid_utf8"),
    ("pack", "part", "part parts", "part parts"),
    ("pack", "keep", "keep keep_count", "keep"),
    ("pack", "column", "column column_count", "column"),
    ("pack", "include", "include include_count", "include"),
    ("pack", "exclude", "exclude exclude_count", "exclude"),
    ("pack", "max_rejects", "max_rejects max_rejects_ppm", "max_rejects"),
    ("pack", "template chat", "chat", "chat"),
    ("pack", "pairs", "", ""),  # a group
    ("pack", "date", "chat_date", "chat_date"),
    ("pack", "seconds", "chat_seconds", "chat_seconds"),
    ("pack", "progress", "progress notice context", "progress"),
    ("pack", "", "store_mask renderers", ""),  # of leat.Packer; Python starts the processes itself
    ("pack", "", "", "dry_run"),
    ("pack merge", "shuffle", "shuffle seed", "shuffle"),
    ("pack merge", "split", "splits split_count", "split"),
    ("pack merge adopt", "created", "created", ""),  # the commands have SOURCE_DATE_EPOCH
    ("merge", "output", "output", "output"),
    ("merge", "parts", "", ""),
    ("merge", "progress", "progress notice context", "progress"),
    ("export", "parts", "", ""),
    ("export", "output", "", "output"),
    ("export", "first count memory", "", "plan from count memory"),  # rows of a plan, in place of datasets
    ("export", "dtype", "number_bytes", "dtype"),
    ("adopt", "name", "", ""),
    ("adopt", "tokenizer", "tokenizer", "tokenizer pattern"),
    ("adopt", "", "vocabulary fingerprint", ""),  # the tokenizer's
    ("adopt", "", "index index_capacity", ""),  # what Python returns
    ("adopt", "end", "end_token", "end"),
    ("pull push", "url name", "", ""),
    ("export adopt pull push", "progress", "progress context", "progress"),
    # of the commands that open datasets; leat.open() has them
    ("merge export", "", "", "cache cache_size online retry_seconds"),
    # a call of the commands that waits for a file system is ended by its signals; Python's lets signal handlers run
    ("plan", "", "waiting waiting_context", ""),
    ("pack adopt", "", "", "retry_seconds"),  # of the inputs; the libraries have the variable LEAT_RETRY_SECONDS
    ("pack merge export adopt pull push", "", "", "json"),
    ("plan loader", "", "", "json"),
]
A_PLAN = {"order", "plan", "change", "source", "seq_len", "seed", "base_len", "split", "use", "at", "skip",
          "bans", "stop", "epochs", "max_per_row", "min_length", "max_length", "cut_length", "align", "overlap",
          "begin", "whole", "fit", "samples", "max_tokens", "max_rows", "pool", "stretch", "mix", "lanes",
          "mid_level_dataset_surplus", "fim", "cache", "cache_size", "online",
          "retry_seconds"}  # which `leat-bench load` takes, too


# ---- The three places


def options_of(*functions):
    names = []
    for function in functions:
        names += [name for name in inspect.signature(function).parameters if name != "self"]
    return names


def structs():
    """The fields of each struct of the public headers, by the struct's name; a field is (type, name)."""
    found = {}
    for path in sorted((ROOT / "include").rglob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        for at in re.finditer(r"^struct (\w+) \{", text, re.MULTILINE):
            found[at[1]] = fields(text, at.end())[0]
    return found


def fields(text, at):
    """The fields from here to the } of a struct, and where that ends."""
    found, word = [], ""
    while text[at] != "}":
        if text[at] == "{":
            inner, at = fields(text, at + 1)
            name = re.match(r"\s*(\w+)\s*;", text[at:])
            found.append((inner, name[1]))
            at, word = at + name.end(), ""
        elif text[at] == ";":
            kind = " ".join(word.split())
            if "(*" in kind:
                found.append((None, re.search(r"\(\*(\w+)\)", kind)[1]))
            else:
                first, *others = kind.split(",")
                names = [re.sub(r"\[.*", "", name).split()[-1].lstrip("*") for name in (first, *others)]
                of = re.match(r"(?:const )?struct (\w+) \w", first)
                found += [(of and of[1], name) for name in names]
            at, word = at + 1, ""
        else:
            word, at = word + text[at], at + 1
    return found, at + 1


def leaves(name_or_fields, every):
    """The last names of the fields of a struct, of those of structs inside of it, too."""
    names = []
    for kind, name in every[name_or_fields] if isinstance(name_or_fields, str) else name_or_fields:
        if isinstance(kind, list) or kind in every:
            names += leaves(kind, every)
        elif name != "size" and not name.startswith("reserved"):
            names.append(name)
    return names


def command_options(program, command):
    text = subprocess.run([BUILD / program, command, "--help", "all"], stdout=subprocess.PIPE, check=True,
                          text=True).stdout
    names = re.findall(r"^ {2,6}(?:-\w, )?--([a-z0-9-]+)(?= |$)", text, re.MULTILINE)
    assert len(names) > 4, text
    return [name.replace("-", "_") for name in names if name != "help"]


# ---- Tests


def without(names, given, subject, where):
    for name in given.split():
        assert name in names, f"EXCEPTIONS has {name} for {subject}, which is no name of {where}"
        names.discard(name)


@pytest.mark.parametrize("subject", SUBJECTS)
def test_one_name(subject):
    of_python, of_c, command = SUBJECTS[subject]
    every = structs()
    python = set(options_of(*of_python))
    c = {name for struct in of_c for name in leaves(struct, every)}
    cli = set(command_options(*command))
    if subject == "loader":
        assert A_PLAN <= cli
        cli -= A_PLAN
    for subjects, ours, fields_of_c, options in EXCEPTIONS:
        if subject in subjects.split():
            for names, given, where in (python, ours, "Python"), (c, fields_of_c, "C"), (cli, options, "the command"):
                without(names, given, subject, where)
    every_name = python | c | cli
    missing = {"Python": every_name - python, "C": every_name - c, "the command": every_name - cli}
    assert not any(missing.values()), f"names that are not in {missing}"


def test_one_place():
    """No option is both a keyword and in a group of the same function, or in two of its groups."""
    twice = {"seconds"}  # of leat.Chat and leat.StatsFile, which are not for one function
    for functions, _, _ in SUBJECTS.values():
        names = options_of(*functions)
        if "weight" in names:  # beside its kin in leat.Chat; and of texts and pairs
            names.remove("weight")
        assert len(names) == len(set(names)), [name for name in names if names.count(name) > 1]
    grouped = [name for group in GROUPS for name in options_of(group)]
    assert {name for name in grouped if grouped.count(name) > 1} == twice


def test_packer_has_the_options_of_pack():
    packer, pack = (inspect.signature(f).parameters for f in (leat.Packer, leat.pack))
    own = {"store_mask", "checkpoint_seconds", "allow_binary"}  # allow_binary is in leat.Files
    assert own <= set(packer) and "allow_binary" in inspect.signature(leat.Files).parameters
    for name in set(packer) - own:
        assert packer[name].default == pack[name].default, name


def test_groups_are_values():
    given = [leat.fit(align=8), megatron.order(samples=9), leat.FIM("0.5", 1, "a", 2, 3),
             leat.Opening(cache="here"),
             leat.Outputs(["inputs"], dtype="int32"), leat.Device("cuda", driver="lib.so"), leat.IO(memory="1MiB"),
             leat.StatsFile("run.jsonl", seconds=5), leat.Files("data", format="text"), leat.Chat("t", seconds=5),
             leat.Pairs(alpaca=True)]
    assert {type(group) for group in given} == set(GROUPS)
    for group in given:
        same = eval(repr(group), {"leat": leat})
        assert same == group == pickle.loads(pickle.dumps(group)) and hash(same) == hash(group)
        assert repr(group).startswith(f"{group.called}(") and repr(type(group)(*first_of(group))) != repr(group)
        assert group != type(group)(*first_of(group))
        with pytest.raises(AttributeError):
            setattr(group, options_of(type(group))[0], 1)
        assert 2 <= len(inspect.getdoc(type(group)).splitlines()) <= 24


def first_of(group):
    """The arguments that a group cannot do without."""
    return [p.default if p.default is not p.empty else "data" for p in
            inspect.signature(type(group)).parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]


@pytest.mark.parametrize("make, wrong, says", [
    (leat.fit, dict(align=0), "align of leat.fit must be at least 1, not 0"),
    (megatron.order, dict(samples="x"), "samples of leat.integrations.megatron.order must be a whole number, not 'x'"),
    (leat.FIM, dict(rate=1, spm=1, prefix=1, middle=-1, suffix=2),
     "middle of leat.FIM must be from 0 to 4294967295, not -1"),
    (leat.Opening, dict(access="any"), "access of leat.Opening must be one of leased, trusted, read, not 'any'"),
    (leat.Opening, dict(cache_size="x"), "cache_size of leat.Opening must be a size like 2GiB or 512MiB, not 'x'"),
    (leat.Outputs, dict(dtype="float32"), "dtype of leat.Outputs must be int64 or int32, not 'float32'"),
    (leat.Outputs, dict(max_sequences=0), "max_sequences of leat.Outputs must be at least 1, not 0"),
    (leat.Device, dict(driver=5), "driver of leat.Device must be the name of a file, not 5"),
    (leat.IO, dict(engine="fast"), "engine of leat.IO must be one of auto, map, pread, advise, uring, not 'fast'"),
    (leat.IO, dict(apart=1), "apart of leat.IO must be one of auto, always, never, not 1"),
    (leat.IO, dict(slots=65), "slots of leat.IO must be from 0 to 64, not 65"),
    (leat.StatsFile, dict(path=5), "path of leat.StatsFile must be the name of a file, not 5"),
    (leat.StatsFile, dict(path="x", seconds=0), "seconds of leat.StatsFile must be above 0, not 0"),
    (leat.Files, dict(paths="x", format=5),
     "format of leat.Files must be one of auto, jsonl, text, parquet, csv, tsv, not 5"),
    (leat.Files, dict(paths="x", split_of=1), 'split_of of leat.Files must be the name of a split, or "all", not 1'),
    (leat.Chat, dict(template="x", tools=5), "tools of leat.Chat must be the name of a field, not 5"),
    (leat.Chat, dict(template="x", seconds=0), "seconds of leat.Chat must be from 1 to 86400, not 0"),
], ids=str)
def test_wrong_values_name_group_and_option(make, wrong, says):
    with pytest.raises((TypeError, ValueError)) as raised:
        make(**wrong)
    assert str(raised.value) == says


def test_not_a_group():
    for call, says in ((lambda: leat.Plan("x", 8, open={"access": "read"}), "open must be a leat.Opening, not {'acc"),
                       (lambda: leat.Plan("x", 8, order=leat.IO()), "order must be one of shuffled, .*not leat.IO()")):
        with pytest.raises((TypeError, ValueError), match=says):
            call()
