"""maxtext.py: batches of a plan for MaxText (0.2.5), in the place of its own input pipelines.

MaxText asks for an iterator by make_*_train_iterator(config, mesh, process_indices), process_indices being the hosts
that load data, and for batches with six keys. inputs_segmentation numbers the documents of a row from 1, and is 0 in
padding; targets_segmentation is 0 where there is no loss. With dataset_type=grain it saves the iterator with its
checkpoints: one file for each host, or a single one for any number of them if the iterator is a
grain.experimental.ElasticIterator.
"""
from __future__ import annotations

import functools
import warnings

from leat._lazy import need
from leat._passes import LoaderNotice
from leat.loader import Loader
from leat.options import Outputs
from leat.plan import Plan

OUTPUTS = ("inputs", "labels", "position_ids", "document_ids", "loss_mask", "attention_mask")


def train_plan(config):
    """Returns a plan of windows of the dataset grain_train_files, for num_epoch epochs."""
    return _plan(config, config.grain_train_files, config.num_epoch, config.enable_data_shuffling)


def eval_plan(config):
    """Returns a plan that shows the dataset grain_eval_files once, in its order."""
    return _plan(config, config.grain_eval_files, 1, False)


def _plan(config, name, epochs, shuffled):
    return Plan(name, config.max_target_length, config.data_shuffle_seed, epochs=epochs,
                order="shuffled" if shuffled else "sequential")


def batch_of(batch, length):
    """Returns the six arrays of a batch, with rows of `length` places."""
    numpy = need("numpy", "leat.integrations.maxtext")

    def wide(array):
        return array if array.shape[1] == length else numpy.pad(array, ((0, 0), (0, length - array.shape[1])))

    positions = wide(batch.position_ids)
    documents = wide((batch.document_ids + 1) * batch.attention_mask)
    return {"inputs": wide(batch.inputs), "inputs_position": positions, "inputs_segmentation": documents,
            "targets": wide(batch.labels * batch.loss_mask), "targets_position": positions,
            "targets_segmentation": documents * wide(batch.loss_mask)}


def check_ids(inputs, vocabulary):
    """Raises ValueError if the model has no embedding for a token: jax would silently use another token's."""
    highest = int(inputs.max(initial=0))
    if highest >= vocabulary:
        raise ValueError(f"the dataset has token {highest}, and MaxText's vocab_size is {vocabulary}: set vocab_size "
                         "to at least that of the tokenizer that packed (leat info says it)")


@functools.cache
def _rows():
    class Rows(need("grain", "leat.integrations.maxtext").experimental.ElasticIterator):
        """Batches of a loader for a host. Its state is the same on all hosts, which is all that MaxText asks of an
        ElasticIterator; nothing of that class is used."""

        def __init__(self, loader, length, vocabulary):
            self.loader, self.length, self.vocabulary = loader, length, vocabulary

        def __iter__(self):
            iter(self.loader)
            return self

        def __next__(self):
            batch = next(self.loader)
            check_ids(batch.inputs, self.vocabulary)
            return batch_of(batch, self.length)

        def get_state(self):
            return self.loader.state_dict()

        def set_state(self, state):
            self.loader.load_state_dict(state)

        def close(self):
            self.loader.close()

    return Rows


def make_iterator(plan, config, mesh, process_indices, rows, **options):
    """Returns MaxText's iterator of batches of `rows` rows per host. The hosts that load data share the rows of a
    global batch equally, and any number of hosts gives the global batch equal rows."""
    process = need("jax", "leat.integrations.maxtext").process_index()
    hosts = sorted(process_indices)
    loader = Loader(plan, rows, rank=hosts.index(process), world=len(hosts), last="padded", framework="numpy",
                    outputs=Outputs(OUTPUTS, dtype="int32", mask_first=True), **options)
    from maxtext.input_pipeline.multihost_dataloading import MultiHostDataLoadIterator
    return MultiHostDataLoadIterator(_rows()(loader, config.max_target_length, config.vocab_size), mesh)


def make_leat_train_iterator(config, mesh, process_indices, plan=train_plan):
    """Returns the training iterator. `plan` makes the leat.Plan of a config."""
    count, made = need("jax", "leat.integrations.maxtext").process_count(), plan(config)
    steps = made.info.positions and -(-made.info.positions // config.global_batch_size_to_load)
    if steps is not None and config.steps > steps:
        warnings.warn(f"the plan has {steps} steps, and MaxText's steps is {config.steps}: MaxText then ends without "
                      f"saving what came after its last checkpoint; use steps={steps}", LoaderNotice, stacklevel=2)
    return make_iterator(made, config, mesh, process_indices, config.global_batch_size_to_load // count)


def make_leat_eval_iterator(config, mesh, process_indices, plan=eval_plan):
    count = need("jax", "leat.integrations.maxtext").process_count()
    return make_iterator(plan(config), config, mesh, process_indices, config.global_batch_size_to_load_eval // count,
                         restart=True)


def use(train=train_plan, valid=eval_plan):
    """Lets MaxText read plans where its config says dataset_type=grain. `train` and `valid` are functions from its
    config to a leat.Plan."""
    from maxtext.input_pipeline import input_pipeline_interface as interface
    interface.make_grain_train_iterator = functools.partial(make_leat_train_iterator, plan=train)
    interface.make_grain_eval_iterator = functools.partial(make_leat_eval_iterator, plan=valid)
