#!/usr/bin/env python3
"""check_nanotron.py: the batches of docs/trainers/nanotron.md beside those of nanotron's own collators, from a
checkout: on each pipeline stage and each rank of context parallelism, with both sets of keys; and the page's function
called by get_dataloader of its run_train.py. Its models need flash-attn, and so a GPU: what was compared is said, and
the rest is not run."""
import ast
import importlib.machinery
import sys
import types
import typing
from unittest import mock

import common
import numpy

LENGTH, ROWS = 64, 4
FOR_GPUS = ["flash_attn", *(f"flash_attn.{name}" for name in (
    "bert_padding", "layers", "layers.rotary", "ops", "ops.triton", "ops.triton.layer_norm", "flash_attn_interface",
    "modules", "modules.mha")), "ring_flash_attn", "ring_flash_attn.adapters", "ring_flash_attn.adapters.hf_adapter",
            "grouped_gemm", "grouped_gemm.ops", "datatrove", "datatrove.utils", "datatrove.utils.dataset"]


def compare(mine, wanted, pointer, where):
    assert set(mine) == set(wanted), (where, set(mine), set(wanted))
    counted = numpy.asarray(wanted["label_mask"]) if not isinstance(wanted["label_mask"], pointer) else None
    for key, value in wanted.items():
        if isinstance(value, pointer):
            assert mine[key] == value, (where, key)
        elif key == "label_ids":
            common.equal(mine[key].numpy()[counted], value[counted], f"{where}: {key}")
        else:
            common.equal(mine[key].numpy(), value, f"{where}: {key}")


def functions_of(program, name):
    """A function of a program that cannot be imported here, and what it names."""
    part, = (part for part in ast.parse(program.read_text(encoding="utf-8")).body if getattr(part, "name", "") == name)
    space = {name: mock.MagicMock() for name in ("log_rank", "logging", "logger", "pformat",
                                                 "compute_remain_train_steps_of_a_data_stage_from_ckp")}
    space.update(Dict=dict, DataLoader=object, DistributedTrainer=object, Optional=typing.Optional)
    exec(compile(ast.Module([part], []), program.name, "exec"), space)
    return space


def main():
    where = common.checkout("LEAT_NANOTRON", "nanotron")
    sys.path.insert(0, str(where / "src"))
    for name in FOR_GPUS:
        module = sys.modules[name] = mock.MagicMock(__path__=[], __version__="2.6.0")
        module.__spec__ = importlib.machinery.ModuleSpec(name, None)
    from nanotron import distributed
    from nanotron.data import clm_collator as collators
    from nanotron.parallel.pipeline_parallel.tensor_pointer import TensorPointer
    ranks = {}
    distributed.get_rank = lambda group=None: ranks[group]
    context = types.SimpleNamespace(pp_pg="pp", cp_pg="cp", dp_pg="dp", pipeline_parallel_size=3, data_parallel_size=2,
                                    context_parallel_size=2)
    with common.own_folder() as here:
        common.vocabulary()
        common.corpus("data/a.jsonl")
        page = common.page("nanotron", here)
        page.shell()
        ranks.update(pp=0, cp=0, dp=1)
        # its get_dataloader calls the page's function
        names = functions_of(where / "run_train.py", "get_dataloader")
        names.update(page.python())
        page.done()
        stage = types.SimpleNamespace(
            name="Annealing", start_training_step=1, data=types.SimpleNamespace(seed=6), consumed_train_samples=8,
            consumed_tokens_per_dataset_folder={}, sequence_length=LENGTH)
        trainer = types.SimpleNamespace(
            config=types.SimpleNamespace(data_stages=[stage], tokens=types.SimpleNamespace(
                sequence_length=LENGTH, micro_batch_size=ROWS)),
            metadata=types.SimpleNamespace(data_stages=[stage]), iteration_step=4, sequence_length=LENGTH,
            parallel_context=context)
        resumed = next(names["get_dataloader"](trainer, None)["Annealing"])
        common.equal(resumed["position_ids"][0, 0], 0, "the page's batches")
        from leat.integrations.nanotron import batches
        import leat
        tokens, plan = common.Tokens("tokens"), leat.Plan("tokens", LENGTH, seed=6)
        common.equal(resumed["input_ids"], next(batches(plan, ROWS, context, position_ids=True,
                                                        consumed_train_samples=8))["input_ids"], "the resumed stage")
        for dp in range(2):
            rows = [tokens.all[at:at + LENGTH + 1] for at in (plan.order(8 + dp * ROWS + row).token
                                                              for row in range(ROWS))]
            places = [tokens.position_ids(plan.order(8 + dp * ROWS + row).token, LENGTH + 1) for row in range(ROWS)]
            for positions in (False, True):
                for stage in range(3):
                    for part in range(2):
                        ranks.update(pp=stage, cp=part, dp=dp)
                        # with position ids, its collator needs inputs and labels on one stage
                        first = 2 if positions and stage == 2 else 0
                        collator = (collators.DataCollatorForCLMWithPositionIds if positions
                                    else collators.DataCollatorForCLM)(LENGTH, first, 2, context)
                        if stage == 1:
                            wanted = collator([{}] * ROWS)
                            if positions:
                                wanted["position_ids"] = wanted.pop("positions")
                        else:
                            wanted = collator([{"input_ids": row, **({"positions": at} if positions else {})}
                                               for row, at in zip(rows, places)])
                        mine = next(batches(plan, ROWS, context, input_pp_rank=first, output_pp_rank=2,
                                            position_ids=positions, consumed_train_samples=8))
                        compare(mine, wanted, TensorPointer, f"dp {dp}, stage {stage}, part {part}, {positions}")
    common.not_run("its collators' batches are equal, but its models need flash-attn, and so a GPU")


main()
