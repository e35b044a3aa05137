#!/usr/bin/env python3
"""check_megatron_bridge.py: the configuration of docs/trainers/megatron-bridge.md, as a subclass of the
DatasetProvider of a checkout: two ranks' batches beside the token file, and a state that goes on with one rank. Its
training needs a GPU and Transformer Engine: what was compared is said, and the rest is not run."""
import importlib.util
import sys
import types

import common

LENGTH, ROWS = 64, 2


def main(name=""):
    path = common.checkout("LEAT_MEGATRON_BRIDGE", "Megatron-Bridge") / "src/megatron/bridge/data/base.py"
    common.need("megatron.core")
    for name in ("", ".data", ".training", ".training.tokenizers", ".training.tokenizers.tokenizer"):
        module = sys.modules["megatron.bridge" + name] = types.ModuleType("megatron.bridge" + name)
        module.__path__ = []
    module.MegatronTokenizer = object  # the name of a type
    spec = importlib.util.spec_from_file_location("megatron.bridge.data.base", path)
    base = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(base)

    def context(rank, world):
        group = types.SimpleNamespace(rank=lambda: rank, size=lambda: world)
        return base.DatasetBuildContext(100, 100, 0, types.SimpleNamespace(eod=0), types.SimpleNamespace(dp=group))

    with common.own_folder() as here:
        common.vocabulary()
        common.corpus("data/a.jsonl")
        page = common.page("megatron-bridge", here)
        page.shell()
        config = page.python()["dataset"]
        page.done()
        assert isinstance(config, base.DatasetProvider) and config.dataloader_type == "external"
        config.finalize()
        config.reset_position_ids = True
        tokens = common.Tokens("tokens")

        def compare(batch, loader, n):
            for row in range(ROWS):
                for piece in loader.dataset.plan.pieces(n + row):
                    stop = piece.at + piece.count - 1
                    common.equal(batch["tokens"][row, piece.at:stop],
                                 tokens.all[piece.token:piece.token + piece.count - 1], f"sample {n + row}")
                    common.equal(batch["position_ids"][row, piece.at:stop], range(piece.count - 1), "positions")
                    common.equal(batch["labels"][row, piece.at:stop],
                                 tokens.all[piece.token + 1:piece.token + piece.count], f"labels of sample {n + row}")

        for rank in range(2):
            train, valid, test = config.build_datasets(context(rank, 2))
            assert test is None and valid.dataset.plan.text != train.dataset.plan.text
            for step in range(15):
                compare(next(train), train, (step * 2 + rank) * ROWS)
            compare(next(valid), valid, rank * ROWS)
        one, _, _ = config.build(context(0, 1))
        one.restore_state(train.save_state())
        for step in range(15):
            compare(next(one), one, 15 * 2 * ROWS + step * ROWS)
    common.not_run("the batches of its configuration are right, but its training needs a GPU and Transformer Engine")


main(*sys.argv[1:])
