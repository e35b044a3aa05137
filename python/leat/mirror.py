"""mirror.py: leat.pull and leat.push copy whole datasets from servers and to them."""
from __future__ import annotations

from collections import namedtuple

from leat import _leat
from leat._values import flag, whole

Copied = namedtuple("Copied", "bytes kept tokens documents requests retries")
Copied.__doc__ = """What leat.pull() or leat.push() has copied: the bytes of both files, and how many of them an earlier
call had copied; tokens and documents; requests to the server, and how many of these were tries after the first."""


def pull(url, name, *, force: bool = False, connections: int = 8, progress=None) -> Copied:
    """Copies a dataset from a server to this machine, like `leat pull`: to NAME.leat and NAME.tokens.

    url          s3://BUCKET/NAME, gs://BUCKET/NAME, az://CONTAINER/NAME, hf://datasets/ORG/REPOSITORY/NAME,
                 https://HOST/PATH/NAME; keys, region and endpoint come from the variables and files of the tools of
                 AWS, Azure and the Hub
    name         name of the dataset on this machine
    force        replaces an existing dataset, once the new one is complete
    connections  number of connections at once, 1 to 64, each with 8 MiB of memory
    progress     a function that is called with (bytes done, bytes in all). An exception in it, or Ctrl-C, stops the
                 work; the next call goes on from there

    Everything is compared with its hashes when it arrives. Until all is here, there is no dataset of this name.
    """
    return Copied(*_leat.pull(url, name, flag("force", force), whole("connections", connections, 1, 64), progress))


def push(name, url, *, force: bool = False, connections: int = 8, progress=None) -> Copied:
    """Copies a dataset of this machine to a bucket, s3://BUCKET/NAME, gs:// or az://, like `leat push`; or, by the
    package huggingface_hub, to hf://datasets/ORG/REPOSITORY[/NAME], with a card if there is none, in one commit.

    force        replaces a dataset that is there; without it nothing is replaced
    connections  number of connections at once, 1 to 64, each with a part of 16 MiB in memory, or more
    progress     as for leat.pull()

    A repository of the Hub that does not exist is made, public unless your settings say otherwise. Pages are compared
    with their hashes before they are sent. The Hub's client does not say how far it is (progress is
    called at the end), nor its requests.
    """
    if isinstance(url, str) and url.startswith("hf://"):
        from leat._hub_push import push_to_hub
        sent, tokens, documents = push_to_hub(name, url, flag("force", force), whole("connections", connections, 1, 64),
                                              progress)
        return Copied(sent, 0, tokens, documents, 0, 0)
    return Copied(*_leat.push(name, url, flag("force", force), whole("connections", connections, 1, 64), progress))
