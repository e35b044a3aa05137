"""check_rl_trainers.py skyrl | nemo-rl | open-instruct: what docs/trainers/rl-trainers.md makes for this trainer, by
its own reader: ids and mask of each conversation beside the token file. Training needs a GPU: what was compared is
said, and the rest is not run."""
import importlib
import os
import pathlib
import sys
import types

import common
import numpy
import yaml
from check_llamafactory import make_model, plain_rows
from check_transformers import conversations


def module(root, name):
    """A module of a checkout, without what the packages above it import."""
    parts = name.split(".")
    for end in range(1, len(parts)):
        package = ".".join(parts[:end])
        sys.modules.setdefault(package, types.ModuleType(package)).__path__ = [str(root.joinpath(*parts[:end]))]
    return importlib.import_module(name)


def wanted(name):
    """Ids of conversations, and which of them are learned."""
    return [(ids, (labels != -100).astype(int)) for ids, labels, _ in plain_rows(name)]


def skyrl(page):
    root = common.checkout("LEAT_SKYRL", "SkyRL")
    common.need("loguru")
    page.python()
    config = yaml.safe_load(page.take()[1])
    load = module(root, "skyrl.train.dataset.pretokenized").load_from_pretokenized
    for key, name in (("pretokenized_dataset_paths", "chats"), ("eval_pretokenized_dataset_paths", "heldout")):
        found, conversations = load(*config[key]), wanted(name)
        assert len(found) == len(conversations), f"{name}: {len(found)} conversations, not {len(conversations)}"
        for n, (row, (ids, learned)) in enumerate(zip(found, conversations)):
            common.equal(row["input_ids"], ids, f"{name}: ids of conversation {n}")
            common.equal(row["loss_mask"], learned[-row["num_actions"]:], f"{name}: mask of conversation {n}")
            assert row["num_actions"] == len(ids) - numpy.flatnonzero(learned)[0], f"{name}: conversation {n}"


def nemo_rl(page):
    import transformers
    root = common.checkout("LEAT_NEMO_RL", "NeMo-RL")
    page.at = 3  # the block of NeMo-RL
    names = page.python()
    config = yaml.safe_load(page.take()[1])["data"]
    sys.modules["chat_data"] = types.SimpleNamespace(**names)
    messages = module(root, "nemo_rl.data.llm_message_utils")
    collate = module(root, "nemo_rl.data.collate_fn").rl_collate_fn
    processed = module(root, "nemo_rl.data.datasets.processed_dataset").AllTaskProcessedDataset
    for part in ("train", "validation"):
        chosen = names[config[part]["dataset_name"].split(".")[1]](**config[part])
        chosen.set_task_spec(config[part])
        chosen.set_processor()
        longest = sorted(len(ids) for ids, _ in wanted(config[part]["data_path"]))[-2]
        found = processed(chosen.dataset, transformers.AutoTokenizer.from_pretrained("model"), None,
                          {chosen.task_name: (chosen.task_spec, chosen.processor)}, max_seq_length=longest)
        conversations = wanted(config[part]["data_path"])
        assert len(found) == len(conversations)
        batch = collate([found[n] for n in range(len(found))])
        messages.add_loss_mask_to_message_log(batch["message_log"], roles_to_train_on=["assistant"])
        flat, lengths = messages.batched_message_log_to_flat_message(batch["message_log"], {"token_ids": 0})
        for n, (ids, learned) in enumerate(conversations):
            size = int(lengths[n])
            if len(ids) > longest:
                assert batch["loss_multiplier"][n] == 0, f"{part}: conversation {n} is too long, and has a loss"
                continue
            assert size == len(ids) == batch["length"][n] and batch["loss_multiplier"][n] == 1
            common.equal(flat["token_ids"][n][:size], ids, f"{part}: ids of conversation {n}")
            common.equal(flat["token_loss_mask"][n][:size], learned, f"{part}: mask of conversation {n}")


def open_instruct(page):
    """The dataset of OLMo-core, as olmo_core_finetune.py makes it of the files in its folder."""
    common.need("olmo_core")
    from olmo_core.data import LongDocStrategy, NumpyPackedFSLDatasetConfig, TokenizerConfig
    page.at = 5  # the block of open-instruct
    page.shell()
    page.python()
    page.done()
    made = NumpyPackedFSLDatasetConfig(
        tokenizer=TokenizerConfig(vocab_size=500, eos_token_id=0, pad_token_id=0), work_dir="work",
        paths=["expected/token_ids_part_*.npy"], expand_glob=True, label_mask_paths=["expected/labels_mask_part_*.npy"],
        generate_doc_lengths=True, long_doc_strategy=LongDocStrategy.truncate, sequence_length=512).build()
    made.prepare()
    left = {tuple(ids.tolist()): learned for ids, learned in wanted("ended")}
    for row in made:
        lengths = [int(length) for length in row["doc_lens"]]
        for at, size in zip(numpy.cumsum([0, *lengths]), lengths):
            learned = left.pop(tuple(row["input_ids"][at:at + size].tolist()), None)
            if learned is not None:  # padding is a document of its own
                common.equal(row["label_mask"][at:at + size].int(), learned, "mask of a conversation")
    assert not left, f"{len(left)} conversations are in no row"


def main(name):
    os.environ["PATH"] = f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"  # for --chat
    with common.own_folder() as folder:
        os.environ["HF_DATASETS_CACHE"] = str(folder / "cache")
        make_model()
        texts = common.corpus("texts/a.jsonl", length=300)
        conversations("chats.jsonl", texts[:60])
        conversations("heldout.jsonl", texts[60:75])
        page = common.page("rl-trainers", folder)
        page.shell()
        {"skyrl": skyrl, "nemo-rl": nemo_rl, "open-instruct": open_instruct}[name](page)
    common.not_run("its own reader has the conversations, but its training needs a GPU")


if __name__ == "__main__":
    main(sys.argv[1])
