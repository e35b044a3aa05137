"""model_check.py: checks that a model of transformers learns what a loader's batches say, by running it once.

Names and signatures do not show it: some classes for AutoModelForCausalLM take labels without shifting them, and some
take position_ids but still let the documents of a row see each other. So the model gets two rows of two documents of
eight tokens, in the form of the loader's batches. Its logits show which labels its loss uses. Only the first documents
differ, so the logits of the second documents show if the model saw the first ones.
"""
from __future__ import annotations

import warnings

import torch
from torch.nn.functional import cross_entropy

TOKENS = 8  # tokens per document


def _run_rows(model, names, rows):
    """Returns (loss, logits, ids) of both rows, in one batch, or in two batches for loaders of one row."""
    size, device = model.get_input_embeddings().num_embeddings, next(model.parameters()).device
    first, second, third = (torch.arange(begin, begin + TOKENS, device=device) % size for begin in (10, 20, 30))
    ids, done = torch.stack([torch.cat([first, second]), torch.cat([third, second])]), []
    for part in [ids] if rows > 1 else ids.split(1):
        batch = {"input_ids": part, "labels": part}
        if "shift_labels" in names:
            batch["shift_labels"], batch["labels"] = part.roll(-1, 1), torch.full_like(part, -100)
        if "position_ids" in names:
            batch["position_ids"] = torch.arange(TOKENS, device=device).repeat(len(part), 2)
        if "attention_mask" in names:
            batch["attention_mask"] = torch.ones_like(part, dtype=torch.bool)
        if "cu_seqlens" in names:
            ends = torch.arange(0, part.numel() + 1, TOKENS, dtype=torch.int32, device=device)
            batch.update(cu_seq_lens_q=ends, cu_seq_lens_k=ends, max_length_q=TOKENS, max_length_k=TOKENS)
        done.append(model(**batch, use_cache=False))
    return done[0].loss, [out.logits for out in done], ids


def _check_labels(name, names, loss, logits, ids):
    if "shift_labels" in names:
        if loss is None or torch.isnan(loss):
            raise ValueError(f"{name} does not take shift_labels, and would have no loss: use \"labels\" among the "
                             "outputs of leat.Loader")
        return
    ids = ids[:len(logits)]
    as_they_are = cross_entropy(logits.flatten(0, 1), ids.flatten())
    shifted = cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    if torch.isclose(loss.float(), as_they_are, 1e-3) and not torch.isclose(loss.float(), shifted, 1e-3):
        raise ValueError(f"{name} does not shift labels, so it would learn each token from itself: style "
                         "\"huggingface\" is for models that predict the next token")


def _check_documents(name, names, attention, logits):
    one, other = torch.cat(logits)[:, TOKENS:]
    if (one - other).abs().max() <= 8 * torch.finfo(one.dtype).eps * one.abs().max():
        return
    if "flash" in attention and "cu_seqlens" not in names:
        raise ValueError(f"{attention} keeps the documents of a row apart only in batches of one row, or by "
                         "cu_seqlens: add \"cu_seqlens\" to the outputs of leat.Loader, or use batch_size=1")
    raise ValueError(f"{name} lets the documents of a row see each other, whatever position_ids say: use rows of one "
                     "document (order=\"documents\"); or, if documents may see each other, outputs=(\"inputs\", "
                     "\"labels\") of leat.Loader")


def _check_places(model, config, loader):
    """Refuses a model with too few embeddings for the places of a row, which would end the process on a GPU."""
    has, more = getattr(config, "max_position_embeddings", None), loader._options["unshifted"]
    longest = loader.plan.info.max_seq_len + more
    if has and longest > has and any(isinstance(module, torch.nn.Embedding) and module.num_embeddings == has
                                     for module in model.modules()):
        last = ", the last of which is a label" if more else ""
        raise ValueError(f"{type(model).__name__} has {has} places, and rows have up to {longest} tokens{last}: use "
                         f"leat.Plan(..., seq_len={has - more})")


def check_model(model, loader):
    """Raises ValueError if a model of transformers would not learn what the batches of a leat.Loader(...,
    style="huggingface") say, or would let the documents of a row see each other that the batches keep apart. It runs
    the model on 32 tokens. leat.LoaderMixin calls it; a loop of one's own can do so before it begins."""
    inner = model.get_base_model() if hasattr(model, "get_base_model") else model  # a model of PEFT
    config, names, was_training = getattr(inner, "config", None), loader._style.names, model.training
    _check_places(inner, config, loader)
    if "labels" not in names and "shift_labels" not in names:
        return
    model.eval()
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loss, logits, ids = _run_rows(model, names, loader.batch_size)
    except Exception:  # the model cannot be run here, for example as a part of a model on many devices
        return
    finally:
        model.train(was_training)
    if loss is not None or "shift_labels" in names:
        _check_labels(type(inner).__name__, names, loss, logits[0].float(), ids)
    if loader._style.mask_first:
        _check_documents(type(inner).__name__, names, getattr(config, "_attn_implementation", None) or "", logits)
