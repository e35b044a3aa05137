"""Over an epoch, each prediction of the plan is learned once: seen by the loss itself, not by the labels.

No token occurs twice in the datasets, so a label says which (document, place) it is, and the gradient of a loss by its
logits which label it took at which place: it is negative there alone. The loss is that of transformers' models, of
TRL's fused head, or torch's cross entropy over the labels as they are. What has to be learned is counted by plain
Python.

With style="huggingface" and order "fit" or "documents", the last token of each document was neither input nor label: of
453 tokens that end an answer, in an epoch of chats, 300 had no loss; a document of two tokens had none at all."""
import types

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import leat

transformers = pytest.importorskip("transformers")
from transformers.loss.loss_utils import ForCausalLMLoss  # noqa: E402

LENGTH, LONGEST, IDS = 40, 90, 3000
HF = {"style": "huggingface"}
SHIFTED = {**HF, "outputs": ("inputs", "shift_labels", "position_ids")}
ORDERS = ["shuffled", "fit", "documents"]


class Data:
    """A dataset, and its documents: ids, and bytes of the mask."""

    def __init__(self, name, masked):
        rng, first, self.name, self.documents = np.random.default_rng(5), 0, str(name), []
        with leat.Packer(name, "gpt2", store_mask=masked, end="none") as packer:
            for length in [2, 1, LONGEST, *rng.integers(1, LONGEST, 50)]:
                ids = np.arange(first, first + length)
                mask = rng.integers(0, 2, length) if masked else np.ones(length, int)
                packer.add(ids, **({"mask": mask} if masked else {}))
                self.documents.append((ids, mask))
                first += length
        assert first <= IDS
        self.starts = {int(ids[0]) for ids, _ in self.documents}

    def plan(self, order, epochs=1):
        return leat.Plan(self.name, LONGEST if order == "documents" else LENGTH, 3, order=order, epochs=epochs)

    def learned(self, order, across=False):
        """What an epoch has to teach; `across`: also a document's first token, after another document."""
        tokens = sum(len(ids) for ids, _ in self.documents)
        end = (tokens - 1) // LENGTH * LENGTH + 1 if order == "shuffled" else tokens  # whole windows
        return sorted(int(i) for ids, mask in self.documents for i, m in zip(ids, mask)
                      if m and 0 < i < end and (i > ids[0] or across))


@pytest.fixture(scope="module", params=[False, True], ids=["all", "masked"])
def data(request, tmp_path_factory):
    return Data(tmp_path_factory.mktemp("data") / "data", request.param)


def took(loss, logits, inputs):
    """The labels that a loss took, each of which follows the input at its place in the same document."""
    gradient, = torch.autograd.grad(loss, logits)
    rows, places, labels = torch.nonzero(gradient < 0, as_tuple=True)
    assert torch.equal(inputs[rows, places] + 1, labels)
    return labels.tolist()


def logits_of(inputs):
    return torch.zeros(*inputs.shape, IDS, requires_grad=True)


def by_transformers(batch):
    logits = logits_of(batch["input_ids"])
    loss = ForCausalLMLoss(logits, batch["labels"], IDS, shift_labels=batch.get("shift_labels"))
    return took(loss, logits, batch["input_ids"]) if (batch.get("shift_labels", batch["labels"]) != -100).any() else []


def by_cross_entropy(inputs, labels):
    logits = logits_of(inputs)
    return took(F.cross_entropy(logits.flatten(0, 1), labels.flatten(), reduction="sum"), logits, inputs)


def llama(ids=IDS, **options):
    torch.manual_seed(1)
    return transformers.LlamaForCausalLM(transformers.LlamaConfig(**{
        "vocab_size": ids, "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2,
        "num_attention_heads": 2, "max_position_embeddings": 256, **options}))


def counted(batches, took):
    """How often each label was taken, as a sorted list of labels."""
    return sorted(label for batch in batches for label in took(batch))


# ---- transformers' loss


@pytest.mark.parametrize("options", [HF, SHIFTED], ids=["labels", "shift_labels"])
@pytest.mark.parametrize("order", ORDERS)
def test_transformers_loss(data, order, options):
    if order == "documents" and options is SHIFTED:
        options = {**HF, "outputs": ("inputs", "shift_labels", "attention_mask")}
    loader = leat.Loader(data.plan(order), 4, **options)
    assert counted(loader, by_transformers) == data.learned(order)


@pytest.mark.parametrize("order", ORDERS)
def test_in_ranks_and_borrowed(data, order):
    for more in ({"outputs": leat.Outputs(borrow=True)}, {"buffers": True}, {"outputs": leat.Outputs(dtype="int32")}):
        loaders = [leat.Loader(data.plan(order), 2, rank=rank, world=2, **HF, **more) for rank in range(2)]
        found = [label for loader in loaders for batch in loader for label in by_transformers(
            {name: value.long() for name, value in batch.items() if torch.is_tensor(value)})]
        assert sorted(found) == data.learned(order)


def test_without_shift_labels_there_is_no_wrong_loss(data):
    """A model that does not take shift_labels has no loss, instead of one that loses labels."""
    batch = next(leat.Loader(data.plan("fit"), 4, **SHIFTED))
    loss = ForCausalLMLoss(logits_of(batch["input_ids"]), batch["labels"], IDS)
    assert torch.isnan(loss)


# ---- TRL's loss


class Fused:
    """TRL never makes the logits. Here they are the same at each place, so that a log-probability says which label."""

    def __init__(self):
        self.model = llama()
        self.model.lm_head = torch.nn.Linear(16, IDS)
        torch.nn.init.zeros_(self.model.lm_head.weight)
        with torch.no_grad():
            self.model.lm_head.bias.copy_(torch.arange(IDS) / 500)
        self.says = torch.log_softmax(self.model.lm_head.bias, 0).detach()

    def took(self, inputs, out):
        before = inputs[:, :out.log_probs.shape[1]][out.label_mask]
        labels = torch.searchsorted(self.says, out.log_probs.detach()[out.label_mask] - 0.001)
        assert torch.equal(labels, before + 1)
        return labels.tolist()


@pytest.mark.parametrize("options", [HF, SHIFTED], ids=["labels", "shift_labels"])
@pytest.mark.parametrize("order", ["shuffled", "fit"])
def test_trl_trainer(data, tmp_path, order, options):
    trl = pytest.importorskip("trl")
    fused, found = Fused(), []

    class Trainer(leat.LoaderMixin, trl.SFTTrainer):
        pass

    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=pytest.importorskip("tokenizers").Tokenizer.from_str(
            '{"version": "1.0", "model": {"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}}'),
        eos_token="a", pad_token="a")
    arguments = trl.SFTConfig(str(tmp_path), num_train_epochs=1, report_to=[], use_cpu=True, disable_tqdm=True,
                              save_strategy="no", learning_rate=0.0, bf16=False, gradient_checkpointing=False)
    trainer = Trainer(fused.model, arguments, processing_class=tokenizer,
                      loader=leat.Loader(data.plan(order), 4, **options))
    forward = fused.model.forward

    def seen(**inputs):
        out = forward(**inputs)
        found.extend(fused.took(inputs["input_ids"], out))
        return out

    fused.model.forward = seen
    trainer.train()
    assert sorted(found) == data.learned(order)


class Seen:
    """Collects what a transformers' Trainer learns, through its own compute_loss()."""

    found: list = []

    def compute_loss(self, model, inputs, *args, **options):
        given = dict(inputs)
        logits = []
        hook = model.get_output_embeddings().register_forward_hook(lambda module, args, out: logits.append(out))
        loss = super().compute_loss(model, inputs, *args, **options)
        hook.remove()
        found = took(loss if torch.is_tensor(loss) else loss[0], logits[0], given["input_ids"]) if bool(
            (given.get("shift_labels", given["labels"]) != -100).any()) else []
        self.found.extend(found)
        return model.get_output_embeddings().weight.sum() * 0


@pytest.mark.parametrize("options", [HF, SHIFTED], ids=["labels", "shift_labels"])
@pytest.mark.parametrize("order", ["shuffled", "fit"])
def test_trainer(data, tmp_path, order, options):
    class Trainer(leat.LoaderMixin, Seen, transformers.Trainer):
        found = []

    arguments = transformers.TrainingArguments(str(tmp_path), num_train_epochs=2, report_to=[], use_cpu=True,
                                               disable_tqdm=True, save_strategy="no")
    trainer = Trainer(llama(), arguments, loader=leat.Loader(data.plan(order), 4, notices=False, **options))
    trainer.train()
    assert sorted(trainer.found) == sorted(2 * data.learned(order))


def test_what_learns_nothing_is_refused(data, tmp_path):
    class Trainer(leat.LoaderMixin, transformers.Trainer):
        pass

    def make(model, loader, **more):
        arguments = transformers.TrainingArguments(str(tmp_path), max_steps=1, report_to=[], use_cpu=True, **more)
        return Trainer(model, arguments, loader=loader)

    class Other(transformers.LlamaForCausalLM):
        """A model of one's own, which does not pass on what it does not know."""

        def forward(self, input_ids, labels=None, position_ids=None, use_cache=None, **unknown):
            return super().forward(input_ids, labels=labels, position_ids=position_ids, use_cache=use_cache)

    labels, shifted = (leat.Loader(data.plan("fit"), 4, **options) for options in (HF, SHIFTED))
    small = dict(hidden_size=16, intermediate_size=16, num_hidden_layers=1, num_attention_heads=2, vocab_size=IDS)
    masked = transformers.BertForMaskedLM(transformers.BertConfig(**small))
    with pytest.raises(ValueError, match="BertForMaskedLM does not shift labels"):
        make(masked, labels)
    bart = transformers.BartForCausalLM(transformers.BartConfig(
        vocab_size=IDS, d_model=16, decoder_layers=1, decoder_ffn_dim=16, decoder_attention_heads=2))
    with pytest.raises(ValueError, match="BartForCausalLM does not shift labels"):
        make(bart, labels)
    other = Other(llama().config)
    make(other, labels)
    with pytest.raises(ValueError, match="Other does not take shift_labels"):
        make(other, shifted)
    with pytest.raises(ValueError, match="label_smoothing_factor"):
        make(llama(), shifted, label_smoothing_factor=0.1)
    falcon = transformers.FalconForCausalLM(transformers.FalconConfig(
        vocab_size=IDS, hidden_size=16, num_hidden_layers=1, num_attention_heads=2))
    with pytest.raises(ValueError, match="FalconForCausalLM lets the documents of a row see each other"):
        make(falcon, labels)
    make(falcon, leat.Loader(data.plan("fit"), 4, style="huggingface", outputs=("inputs", "labels"), notices=False))
    short = transformers.GPT2LMHeadModel(transformers.GPT2Config(vocab_size=IDS, n_positions=LENGTH, n_embd=16,
                                                                 n_layer=1, n_head=2))
    with pytest.raises(ValueError, match=f"rows have up to {LENGTH + 1} tokens.*seq_len={LENGTH - 1}"):
        make(short, leat.Loader(data.plan("shuffled"), 4, **HF))
    make(short, leat.Loader(data.plan("shuffled"), 4, **SHIFTED))


def test_flash_attention():
    """It uses position_ids only in batches of one row. It cannot run without a GPU, so its logits are made by hand."""
    from leat.integrations.model_check import TOKENS, _check_documents

    apart = [torch.ones(2, 2 * TOKENS, 5)]
    together = [apart[0] + torch.arange(2)[:, None, None]]
    names = {"labels", "position_ids"}
    _check_documents("Model", names, "flash_attention_2", apart)
    with pytest.raises(ValueError, match="only in batches of one row, or by cu_seqlens"):
        _check_documents("Model", names, "flash_attention_2", together)
    with pytest.raises(ValueError, match="Model lets the documents of a row see each other"):
        _check_documents("Model", {*names, "cu_seqlens"}, "flash_attention_2", together)


# ---- Labels as they are


@pytest.mark.parametrize("style", ["batch", "dict", "tuple"])
@pytest.mark.parametrize("order", ORDERS)
def test_styles(data, order, style):
    loader = leat.Loader(data.plan(order), 4, style=style, outputs=leat.Outputs(mask_first=True))
    found = counted(loader, lambda batch: by_cross_entropy(*(batch.values() if style == "dict" else batch)))
    assert found == data.learned(order)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("order", ORDERS)
def test_iterable_dataset(data, order, workers):
    by_torch = {"outputs": leat.Outputs(mask_first=True)}
    for options, take in ((by_torch, lambda batch: by_cross_entropy(batch["inputs"], batch["labels"])),
                          (HF, by_transformers)):
        dataset = leat.IterableDataset(data.plan(order), 4, **options)
        loader = torch.utils.data.DataLoader(dataset, batch_size=None, num_workers=workers)
        assert counted(loader, take) == data.learned(order)


@pytest.mark.parametrize("order", ORDERS)
def test_map_dataset(data, order):
    """Windows have a label for the first token of a document too."""
    dataset = leat.MapDataset(data.plan(order))
    rows = [tuple(t[None] for t in dataset[i]) for i in range(len(dataset))]
    assert counted(rows, lambda row: by_cross_entropy(*row)) == data.learned(order, across=order == "shuffled")


def test_megatron(data):
    """Its samples go over the documents in an order of its own; the mask is its loss mask, not -100."""
    from leat.integrations import megatron

    config = types.SimpleNamespace(
        sequence_length=LENGTH, random_seed=1234, mid_level_dataset_surplus=0.005, reset_position_ids=False,
        reset_attention_mask=False, eod_mask_loss=False, create_attention_mask=False, allow_ambiguous_pad_tokens=False,
        tokenizer=types.SimpleNamespace(eod=IDS))
    dataset = megatron.Dataset(leat.Plan([data.name], LENGTH, order="megatron"), config)
    found = []
    for batch in megatron.loader(dataset, 2, rank=0, world=1, last="short"):
        logits = logits_of(batch["tokens"])
        losses = F.cross_entropy(logits.flatten(0, 1), batch["labels"].flatten(), reduction="none")
        gradient, = torch.autograd.grad((losses * batch["loss_mask"].flatten()).sum(), logits)
        found += torch.nonzero(gradient < 0, as_tuple=True)[2].tolist()
    learned = {int(i) for ids, mask in data.documents for i, m in zip(ids, mask) if m}
    assert len(found) == len(set(found)) and set(found) <= learned
    assert len(learned) - len(found) <= LENGTH + 1  # the tokens that do not fill a sample, and the first


# ---- Documents see only themselves


def alone(model, ids):
    with torch.no_grad():
        return model(torch.as_tensor(ids)[None], use_cache=False).logits[0]


def furthest(model, data, batches):
    """The largest difference between the logits of a stretch of a row and those of its tokens alone."""
    most = 0
    for batch in batches:
        with torch.no_grad():
            logits = model(**batch).logits
        for row, ids in enumerate(batch["input_ids"]):
            cuts = [0, *(torch.nonzero(ids[1:] != ids[:-1] + 1).flatten() + 1).tolist(), len(ids)]
            cuts = sorted({*cuts, *(i for i, token in enumerate(ids.tolist()) if token in data.starts)})
            for begin, end in zip(cuts, cuts[1:]):
                if end - begin > 1:  # padding is no text
                    most = max(most, float((logits[row, begin:end] - alone(model, ids[begin:end])).abs().max()))
    return most


@pytest.mark.parametrize("attention", ["sdpa", "eager"])
@pytest.mark.parametrize("order", ORDERS)
def test_documents_alone(data, order, attention):
    """With an attention_mask, without position_ids or with a cache, which models have by default, documents saw each
    other: logits differed by 0.25 from those of the documents alone."""
    model = llama(attn_implementation=attention, initializer_range=0.5).eval()
    assert model.config.use_cache
    plan = data.plan(order)
    assert furthest(model, data, leat.Loader(plan, 4, **HF)) < 2e-5
    if order == "documents":
        return
    assert furthest(model, data, leat.Loader(plan, 4, **SHIFTED)) < 2e-5
    with pytest.warns(leat.LoaderNotice, match="documents of a row see each other"):
        seen = leat.Loader(plan, 4, **HF, outputs=("inputs", "labels", "attention_mask"))
    assert furthest(model, data, seen) > 0.01
    seen = ({**batch, "use_cache": True} for batch in leat.Loader(plan, 4, **HF))
    assert furthest(model, data, seen) > 0.01
    with pytest.raises(ValueError, match="switches off what keeps the documents of a row apart"):
        leat.Loader(plan, 4, **HF, outputs=("inputs", "labels", "attention_mask", "position_ids"))


def test_sequences_for_flash_attention(data):
    """transformers' names for the ends of documents, through all rows of a batch."""
    outputs = ("inputs", "labels", "position_ids", "cu_seqlens")
    for batch in leat.Loader(data.plan("fit"), 3, **HF, outputs=outputs):
        starts = torch.nonzero(batch["position_ids"].flatten() == 0).flatten().tolist()
        ends = [*starts, batch["input_ids"].numel()]
        assert batch["cu_seq_lens_q"].tolist() == batch["cu_seq_lens_k"].tolist() == ends
        longest = max(b - a for a, b in zip(ends, ends[1:]))
        assert batch["max_length_q"] == batch["max_length_k"] == longest
