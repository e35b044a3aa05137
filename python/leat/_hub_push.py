"""_hub_push.py: sends a dataset to the Hugging Face Hub by huggingface_hub, with a card, as one commit: for leat.push()
and for `leat push NAME hf://...`, which becomes `python -m leat._hub_push NAME URL CONNECTIONS [force] [json]`."""
from __future__ import annotations

import json
import os
import re
import sys
import time

from leat import _leat
from leat._lazy import need

_URL = re.compile(r"hf://datasets/(?P<repository>[\w.-]+/[\w.-]+)(?:@(?P<revision>[^/@]+))?"
                  r"(?:/(?P<path>[^@]*[^@/]))?/?")

_CARD = """---
tags:
- leat
---

# {repository}

Tokens for training, packed by [leat](https://pypi.org/project/libleat/):

| | |
|---|---|
| tokens | {tokens:,} |
| documents | {documents:,} |
| tokenizer | {tokenizer} |
| vocabulary | {vocabulary:,} |
| identity | {identity} |

```
leat pull {url} {name}
```

or, in Python, `leat.open("{url}")`.
"""


def _files_of(name):
    """Returns the dataset's files, its facts and its tokenizer's name, after checking all pages."""
    from leat.dataset import open
    with open(name) as dataset:
        info, part, stored = dataset.info, dataset.parts[0], dataset.stored_tokenizer
        index, tokens = part.name + ".leat", part.name + ".tokens"
        if info.parts != 1 or not all(map(os.path.isfile, (index, tokens))):
            raise _leat.failure("unsupported", name, f"{name}: only a single dataset of leat's own can be pushed")
        if dataset.columns:
            raise _leat.failure("unsupported", name, f"{name} has columns, which pushing would leave out: to go on "
                                "without them, move its files of columns away first")
        dataset.verify()
    return index, tokens, info, stored[0] if stored else "not recorded"


def push_to_hub(name, url, force, connections, progress=None):
    """Returns the bytes sent, tokens and documents."""
    found = _URL.fullmatch(url)
    if not found or any(part in ("", ".", "..") for part in (found["path"] or "dataset").split("/")):
        raise _leat.failure("argument", url, f"{url}: write hf://datasets/ORG/NAME[@REVISION][/PATH]")
    hub = need("huggingface_hub", "pushing to the Hub", "huggingface_hub")
    index, tokens, info, tokenizer = _files_of(os.fspath(name))
    repository, revision = found["repository"], found["revision"]
    path = found["path"] or os.path.basename(index).removesuffix(".leat")
    where = dict(repo_id=repository, repo_type="dataset", revision=revision)
    opened = f"hf://datasets/{repository}{'@' + revision if revision else ''}/{path}"
    card = _CARD.format(repository=repository, tokens=info.tokens, documents=info.documents, tokenizer=tokenizer,
                        vocabulary=info.vocabulary, identity=info.identity.hex(), url=opened,
                        name=os.path.basename(path))
    api = hub.HfApi()
    try:
        api.create_repo(repository, repo_type="dataset", exist_ok=True)
        if not force and api.file_exists(filename=path + ".leat", **where):
            raise _leat.failure("exists", opened, f"{opened} already exists; choose another name or replace it", 1)
        files = [(path + ".tokens", tokens), (path + ".leat", index)]
        if not api.file_exists(filename="README.md", **where):
            files.append(("README.md", card.encode()))
        api.create_commit(operations=[hub.CommitOperationAdd(*file) for file in files], num_threads=connections,
                          commit_message=f"Add {path}", **where)
    except _leat.Error:
        raise
    except Exception as error:  # of huggingface_hub, of its client of HTTP, of the system
        said, token = " ".join(str(error).split()), hub.get_token()
        if token:  # a server may repeat what it was sent
            said = said.replace(token, "(the token)")
        raise _leat.failure("io", opened, f"{opened}: {_leat.show(said[:400])}") from None
    sent = os.path.getsize(tokens) + os.path.getsize(index)
    if progress is not None:
        progress(sent, sent)
    return sent, info.tokens, info.documents


def main():
    from leat.import_command import DONE, FAILED, HINTS, WRONG, Interrupted, catch_interrupts, counted, say
    name, url, connections, *flags = sys.argv[1:]
    catch_interrupts()
    began = time.monotonic()
    try:
        size, tokens, documents = push_to_hub(name, url, "force" in flags, int(connections) or 8)
    except Interrupted as stopped:
        say("interrupted")
        return stopped.args[0]
    except ImportError as error:
        say(error)
        return WRONG
    except _leat.Error as error:
        say(error._plain + HINTS.get(error._hint, ""))
        return WRONG if error.status == "argument" else FAILED
    seconds = time.monotonic() - began
    if "json" in flags:
        print(json.dumps({"output": url, "documents": documents, "tokens": tokens, "bytes": size, "kept": 0,
                          "requests": 0, "retries": 0, "seconds": seconds}))
    else:
        print(f"{url}: {counted(tokens, 'token')} in {seconds:.1f} s.")
    return DONE


if __name__ == "__main__":
    sys.exit(main())
