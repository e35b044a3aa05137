"""survey_models.py: prints, for each class of AutoModelForCausalLM that can be made small here, what leat.check_model()
finds: whether its loss takes the labels of style="huggingface", and shift_labels, and whether position_ids keep the
documents of a row apart. The last line counts. Run by hand: python python/tests/survey_models.py"""
import collections
import signal
import warnings

import torch
import transformers
from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

from leat.integrations import model_check

SIZES = {"vocab_size": 64,
         **dict.fromkeys(("hidden_size", "n_embd", "d_model", "embed_dim", "intermediate_size", "ffn_dim", "n_inner",
                          "decoder_ffn_dim", "ffn_hidden_size", "moe_intermediate_size"), 32),
         **dict.fromkeys(("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers"), 2),
         **dict.fromkeys(("num_attention_heads", "n_head", "n_heads", "num_heads", "decoder_attention_heads",
                          "num_key_value_heads", "num_local_experts", "num_experts", "n_routed_experts"), 4),
         **dict.fromkeys(("max_position_embeddings", "n_positions"), 64),
         "head_dim": 8, "num_experts_per_tok": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}


class Late(Exception):
    pass


def late(*_):
    raise Late("takes too long")


def small(kind):
    """A small model of a kind of config."""
    made = type(transformers.AutoConfig.for_model(kind))
    config = made(**{name: size for name, size in SIZES.items() if name in made.__annotations__})
    if getattr(config, "vocab_size", 0) > 1000:
        raise ValueError("cannot be made small")
    return transformers.AutoModelForCausalLM.from_config(config).eval()


def fault(check, *given):
    """Whether a check complains."""
    try:
        check("", *given)
    except ValueError:
        return True
    return False


def judge(model):
    with torch.no_grad():
        loss, logits, ids = model_check._run(model, ("labels", "position_ids"), 4)
        shifted = model_check._run(model, ("shift_labels", "position_ids"), 4)[0]
    labels = fault(model_check._check_labels, ("labels",), loss, logits[0], ids)
    no_shift = fault(model_check._check_labels, ("shift_labels",), shifted, None, ids)
    return ("labels not shifted" if labels else "labels", "no shift_labels" if no_shift else "shift_labels",
            "documents see each other" if fault(model_check._check_documents, (), "", logits) else "documents apart")


def main():
    transformers.logging.set_verbosity_error()
    warnings.filterwarnings("ignore")
    signal.signal(signal.SIGALRM, late)
    found = collections.Counter()
    for kind, name in sorted(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.items()):
        signal.alarm(20)
        try:
            said = judge(small(kind))
        except Exception as error:
            said = ("not tried",)
            print(f"{name}: not tried: {type(error).__name__}: {' '.join(str(error).split())[:80]}")
        else:
            print(f"{name}: {', '.join(said)}")
        finally:
            signal.alarm(0)
        found[", ".join(said)] += 1
    print(*(f"{count} {said}" for said, count in found.most_common()), sep="; ")


if __name__ == "__main__":
    main()
