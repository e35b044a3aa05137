#!/usr/bin/env python3
"""check_ids.py PROGRAM [--share ci|full] [--only WORD] [--random N] [--seed N] [--keep FOLDER] [--memory GIB] [FILE...]

Compares leat's ids, and what it decodes ids to, with those of tokenizers, tiktoken, sentencepiece and mistral-common:
for the published vocabularies (LEAT_VOCAB or ../shared/vocab, where they are at hand; the built-in ones always), those
that mistral-common brings along, many that are trained here, and files of tokenizers written at random; on corpora
(LEAT_CORPORA or ../shared/corpora), on nasty text, and on random Unicode strings: a million for each published
vocabulary in the full share. Texts in parts must have the ids of whole texts. The first difference of each vocabulary
is cut down and printed. Ends with "N passed, N failed, N skipped": one for each vocabulary. Each is compared in a
process of its own, with at most GIB (8) GiB of address space: if that ends without an answer, however, the vocabulary
has failed. Without the last line the whole has failed, as check.sh sees.

With FILEs, it compares these alone: tekken*.json, other *.json as tokenizer.json, *.model* as sentencepiece's.

PROGRAM is ids_dump.c, built. 77: a reference is not installed.
"""
import argparse
import fnmatch
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import traceback

os.environ["RUST_BACKTRACE"] = "0"
try:
    import ids_apart
    import ids_comparison as comparison
    import ids_decided as decided
    import ids_made as made
    import ids_pieces as pieces
    import ids_published as families
    import ids_references as references
    import ids_texts as texts
    import ids_written as written
except ImportError as e:
    print(f"skipped: {e}")
    print("0 passed, 0 failed, 1 skipped")
    sys.exit(77)

BUILT_IN = os.path.join(texts.ROOT, "tokenize_tools", "tokenizer", "data")
VOCAB = os.environ.get("LEAT_VOCAB", os.path.join(texts.ROOT, "..", "shared", "vocab"))

# What leat refuses rather than do wrongly, by its sentence. Anything else that it refuses is a difference.
REFUSALS = (
    r"an empty Prepend before ByteLevel is not supported",
    r"two added tokens have the same text",
    r"the added token .* becomes empty when normalized",
    r"the unused token .* can be merged in two ways and is longer",
)


class Report:
    def __init__(self, options):
        self.options = options
        self.passed = self.failed = self.skipped = self.texts = self.lists = self.untrained = 0
        self.refused, self.panics = {}, {}
        self.most = 0, "nothing"

    def wanted(self, name):
        return not self.options.only or self.options.only in name

    def line(self, name, text, failed=False):
        print(f"{'FAILED' if failed else 'ok':6} {name}: {text}", flush=True)
        if failed:
            self.failed += 1
        else:
            self.passed += 1

    def skip(self, name, why):
        self.skipped += 1
        print(f"skipped {name}: {why}", flush=True)

    def compare(self, name, open_reference, corpus, random_count, seed, extra=(), made_path=None):
        """One vocabulary. Where neither side opens it they agree."""
        begin = time.monotonic()

        def work():
            mixed = corpus + texts.random_texts(random_count, seed, extra)
            return comparison.compare(self.options, name, open_reference, mixed, seed, random_count)

        try:
            outcome, megabytes = ids_apart.apart(work, self.options.memory << 30)
        except ids_apart.Died as e:
            return self.line(name, str(e), failed=True)
        self.most = max(self.most, (megabytes, name))
        self.texts += outcome.texts
        self.lists += outcome.lists
        for panic, times in outcome.panics.items():
            self.panics[panic] = self.panics.get(panic, 0) + times
        self.tell(name, outcome, time.monotonic() - begin, made_path)

    def tell(self, name, o, seconds, made_path):
        if o.kind == "untrained":
            self.untrained += 1
        elif o.kind == "refused":
            self.refusal(name, o.text)
        elif o.kind == "no reference":
            self.no_reference(name, o.text, made_path)
        elif o.kind == "failed":
            self.line(name, o.text, failed=True)
        else:
            # a comparison of nothing would be no success
            self.line(name, f"{o.texts} texts, {o.lists} lists of ids, {o.different} differences ({seconds:.1f} s)",
                      failed=o.different > 0 or o.texts == 0 or o.lists == 0)

    def refusal(self, name, sentence):
        known = next((r for r in REFUSALS if re.search(r, sentence)), None)
        if not known:
            return self.line(name, f"refused: {sentence}", failed=True)
        self.refused[known] = self.refused.get(known, 0) + 1
        self.skipped += 1

    def no_reference(self, name, error, made_path):
        """The reference does not open it: leat must not either."""
        sentence = self.refuses(made_path) if made_path and os.path.exists(made_path) else None
        self.line(name, f"the reference refuses it ({error}), leat " +
                  (f"too: {sentence}" if sentence else "does not"), failed=not sentence)

    def refuses(self, path):
        run = subprocess.run([self.options.program, path, "0"], input=b"", capture_output=True)
        return run.stdout.decode(errors="replace").strip() if run.returncode == 3 else None


# ---- The vocabularies -----------------------------------------------------------------------------------------------

def plain(folder, name):
    """A published vocabulary, uncompressed; None where it is not at hand. Those of leat's built-in ones always are,
    where there is the command zstd."""
    to = os.path.join(folder, name)
    if not shutil.which("zstd"):
        return None
    for path in (os.path.join(place, name + ".zst") for place in (VOCAB, BUILT_IN)):
        if os.path.exists(path):
            subprocess.run(["zstd", "-dqf", path, "-o", to], check=True)
            return to
    return None


TIKTOKEN = (("r50k_base", "gpt2"), ("cl100k_base", "cl100k_base"), ("o200k_base", "o200k_base"))
JSON = ("gpt2", "gpt4", "gpt4o", "llama3_1", "qwen2_5", "deepseek_v3", "mistral_nemo", "mistral_v1", "gemma2")


def published(folder):
    """Name and how to open the reference; None for what is not at hand."""
    for name, builtin in TIKTOKEN:
        path = plain(folder, name + ".tiktoken")
        yield name + ".tiktoken", path and (lambda p=path, n=name: references.Tiktoken(p, p, n))
        yield "built-in " + builtin, path and (lambda p=path, n=name, b=builtin: references.Tiktoken(b, p, n))
    path = plain(folder, "o200k_base.tiktoken")
    yield "o200k_harmony", path and (lambda: references.Tiktoken(path, path, "o200k_harmony", "o200k_harmony"))
    for name in JSON:
        file = plain(folder, name + ".tokenizer.json")
        yield name + ".tokenizer.json", file and (lambda p=file: references.HuggingFace(p))
    yield from references.own_files_of_mistral()
    yield from references.own_files_of_packages()


def random_strings(o):
    """So many for each vocabulary that is a whole one."""
    return o.random if o.random is not None else 5000 if o.share == "ci" else 1000000


def check_published(report, folder, corpus):
    o, count = report.options, random_strings(report.options)
    for i, (name, open_reference) in enumerate(published(folder)):
        if not report.wanted(name):
            continue
        if not open_reference:
            report.skip(name, f"it is not at {VOCAB}" if shutil.which("zstd") else "there is no command zstd")
            continue
        mine = corpus[i % 3::3] if o.share == "ci" else corpus
        report.compare(name, open_reference, texts.nasty_texts() + mine, count, o.seed + i)


KINDS = (("tekken*.json", references.Tekken), ("*.json", references.HuggingFace),
         ("*.model*", references.SentencePiece))  # mistral's end with a version


def kind_of(path):
    """Returns the kind of reference that reads a file of this name, or None if no reference does."""
    return next((kind for name, kind in KINDS if fnmatch.fnmatch(os.path.basename(path), name)), None)


def check_files(report, corpus):
    o, count = report.options, random_strings(report.options)
    for i, path in enumerate(o.files):
        report.compare(path, lambda path=path: kind_of(path)(path), texts.nasty_texts() + corpus, count, o.seed + i,
                       made_path=path)


def small(report, corpus):
    """What trained vocabularies are compared on."""
    o = report.options
    count = o.random if o.random is not None else 1000 if o.share == "ci" else 10000
    some = [t[:300] for t in corpus[::max(1, len(corpus) // (60 if o.share == "ci" else 1000))]]
    return [t[:300] for t in texts.nasty_texts()] + some, count


def check_json(report, folder, corpus, lines):
    some, count = small(report, corpus)
    charsmap = pieces.charsmap_of(pieces.train_model(lines, normalization_rule_name="nmt_nfkc"))
    all_of_them = made.configurations(charsmap, report.options.share) + families.configurations()
    for i, c in enumerate(all_of_them):
        if not report.wanted("tokenizers: " + c.name):
            continue
        path = os.path.join(folder, re.sub(r"\W+", "_", c.name) + ".tokenizer.json")

        def open_reference(c=c, i=i, path=path):
            trained = references.each(lambda c: made.train(c, lines[i % 7::7], path) or True, [c]) == [True]
            return references.HuggingFace(path) if trained else None

        extra = [t.content for t in c.added] + ["the", "word", "##", "</w>"]
        report.compare("tokenizers: " + c.name, open_reference, some, count, report.options.seed + i, extra, path)


def check_written(report, folder, lines):
    o = report.options
    charsmap = pieces.charsmap_of(pieces.train_model(lines, normalization_rule_name="nmt_nfkc"))
    path = os.path.join(folder, "written.tokenizer.json")
    for seed in range(o.seed * 10**6, o.seed * 10**6 + (300 if o.share == "ci" else 20000)):
        if report.wanted(f"written {seed}"):
            def open_reference():
                written.write(path, seed, charsmap)
                return references.HuggingFace(path)

            extra = written.CHARACTERS + written.TOKENS
            report.compare(f"written {seed}", open_reference, [], o.random or 150, seed, extra, path)


def check_models(report, folder, corpus, lines):
    some, count = small(report, corpus)
    for i, (name, options, changes) in enumerate(pieces.models_of_sentencepiece()):
        name = "sentencepiece: " + name
        if not report.wanted(name):
            continue
        path = os.path.join(folder, re.sub(r"\W+", "_", name) + ".model")

        def open_reference(i=i, options=options, changes=changes, path=path):
            model = pieces.train_model(lines[i % 3::3], **options)
            for change in changes:
                model = change(model)
            with open(path, "wb") as f:
                f.write(model)
            return references.SentencePiece(path)

        extra = pieces.SYMBOLS + ["<c>", "<d>"]
        report.compare(name, open_reference, some, count, report.options.seed + i, extra, path)


def check_decided(report, folder, lines):
    """What is left out of the comparison, by its smallest examples: both sides must still answer so."""
    for d in decided.DECISIONS:
        if not report.wanted(d.name):
            continue
        path = os.path.join(folder, "decided.model")
        with open(path, "wb") as f:
            f.write(pieces.train_model(lines[:1000], **{"vocab_size": 400, **d.options}))

        def answers(ids=d.ids, path=path):
            reference = references.SentencePiece(path)
            leat = comparison.Leat(report.options.program, reference)
            return reference.decode([ids])[0], leat.decode([ids])[0].decode()

        try:
            theirs, mine = ids_apart.apart(answers, report.options.memory << 30)[0]
        except ids_apart.Died as e:
            report.line(d.name, str(e), failed=True)
            continue
        report.line(d.name, f"ids {d.ids}: {theirs!r} there, {mine!r} here", (theirs, mine) != (d.theirs, d.mine))


PATTERNS = {
    "gpt2": r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s",
    "cl100k_base": (r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|"
                    r"\s*[\r\n]|\s+(?!\S)|\s"),
}


def check_ranks(report, folder, corpus, lines):
    some, count = small(report, corpus)
    for i in range(4 if report.options.share == "ci" else 20):
        pattern = sorted(PATTERNS)[i % 2]
        name = f"tiktoken: ranks {i}, {pattern}"
        if report.wanted(name):
            path = os.path.join(folder, f"made{i}.tiktoken")
            made.write_ranks(path, made.ranks_made(lines, i))
            report.compare(name, lambda p=path, n=pattern: references.TiktokenRanks(p, n, PATTERNS[n]), some, 4 * count,
                           report.options.seed + i)


def check_all(options, report, corpus, lines):
    with tempfile.TemporaryDirectory() as folder:
        if options.keep:
            folder = options.keep
            os.makedirs(folder, exist_ok=True)
        check_published(report, folder, corpus)
        check_models(report, folder, corpus, lines)
        check_decided(report, folder, lines)
        check_ranks(report, folder, corpus, lines)
        check_json(report, folder, corpus, lines)
        check_written(report, folder, lines)


def run(options, report):
    begin = time.monotonic()
    corpus = texts.corpus_texts(options.share)
    lines = texts.training_lines(corpus)
    print(f"LEAT_TEST_SEED={options.seed}; {len(corpus)} texts of the corpora")
    if options.files:
        check_files(report, corpus)
    else:
        check_all(options, report, corpus, lines)
    for sentence, count in report.refused.items():
        print(f"{count} combinations refused: {sentence}".replace('\\', ""))
    if report.untrained:
        print(f"{report.untrained} combinations that tokenizers cannot train")
    for panic, count in report.panics.items():
        print(f"{count} answers not compared, a panic: {panic}")
    print(f"the most memory: {report.most[0]} MiB, {report.most[1]}")
    print(f"{report.texts} texts and {report.lists} lists of ids in {time.monotonic() - begin:.0f} s")
    if report.passed + report.failed + report.skipped == 0:
        raise RuntimeError(f"nothing is called {options.only}")


def stopped(number, _):
    raise SystemExit(f"stopped by {signal.Signals(number).name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--share", choices=("ci", "full"), default="full")
    parser.add_argument("--only", default="")
    parser.add_argument("--random", type=int)
    parser.add_argument("--seed", type=int, default=int(os.environ.get("LEAT_TEST_SEED", "1"), 0))
    parser.add_argument("--keep")
    parser.add_argument("--memory", type=int, default=8)
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    unknown = [path for path in options.files if not os.path.isfile(path) or not kind_of(path)]
    if unknown:
        parser.error(f"no file, or none with a name of {', '.join(name for name, _ in KINDS)}: {', '.join(unknown)}")
    report = Report(options)
    signal.signal(signal.SIGTERM, stopped)
    try:
        run(options, report)
    except BaseException as e:
        traceback.print_exc(file=sys.stdout)
        report.line("the comparison", f"ended early: {type(e).__name__}: {e}", failed=True)
    print(f"{report.passed} passed, {report.failed} failed, {report.skipped} skipped", flush=True)
    sys.exit(1 if report.failed else 0)


if __name__ == "__main__":
    main()
