"""_classes.py: what classes of transformers take for granted of a tokenizer where no file says it: names of tokens,
inputs of the model, the side that is filled up.

The tables are those of transformers 5.23.0; test_classes.py compares them. Classes are named without "Tokenizer".
"""
from __future__ import annotations

NAMED = ("bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token")

_ROBERTA = ("<s>", "</s>", "<unk>", "</s>", "<pad>", "<s>", "<mask>")
TOKENS = {
    "T5": (None, "</s>", "<unk>", None, "<pad>", None, None),
    "Roberta Bart Longformer LED Mvp XLMRoberta Camembert MBart Barthez Nllb MarkupLM Blenderbot": _ROBERTA,
    "MPNet": (*_ROBERTA[:2], "[UNK]", *_ROBERTA[3:]),
    "XGLM": (*_ROBERTA[:6], None),
    "BigBird": ("<s>", "</s>", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"),
    "MBart50": (None, *_ROBERTA[1:]),
    "Pegasus": (None, "</s>", "<unk>", None, "<pad>", None, "<mask_2>"),
    "Albert RemBert FNet": ("[CLS]", "[SEP]", "<unk>", "[SEP]", "<pad>", "[CLS]", "[MASK]"),
    "Deberta DebertaV2": ("[CLS]", "[SEP]", "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"),
    "Llama CodeLlama": ("<s>", "</s>", "<unk>", None, None, None, None),
    "Gemma Siglip2": ("<bos>", "<eos>", "<unk>", None, "<pad>", None, "<mask>"),
    "Bert Electra MobileBert SqueezeBert ConvBert LayoutLM Lxmert DistilBert DPRContextEncoder DPRQuestionEncoder "
    "DPRReader LayoutLMv2 Tapas": (None, None, "[UNK]", "[SEP]", "[PAD]", "[CLS]", "[MASK]"),
    "GPT2 CodeGen Whisper": ("<|endoftext|>", "<|endoftext|>", "<|endoftext|>", None, None, None, None),
    "CLIP": ("<|startoftext|>", "<|endoftext|>", "<|endoftext|>", None, "<|endoftext|>", None, None),
    "GPTNeoX": ("<|endoftext|>", "<|endoftext|>", "<|endoftext|>", None, "<|padding|>", None, None),
    "Qwen2 Qwen3_5": (None, "<|endoftext|>", "<|endoftext|>", None, "<|endoftext|>", None, None),
    "Cohere": ("<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>", "<UNK>", "<SEP>", "<PAD>", "<CLS>", "<MASK_TOKEN>"),
    "XLNet": ("<s>", "</s>", "<unk>", "<sep>", "<pad>", "<cls>", "<mask>"),
}

INPUTS = {
    "Bert Electra MobileBert SqueezeBert ConvBert LayoutLM Lxmert DPRContextEncoder DPRQuestionEncoder MarkupLM":
        ("input_ids", "token_type_ids", "attention_mask"),
    "Deberta DebertaV2 LayoutLMv2 Tapas": ("input_ids", "attention_mask", "token_type_ids"),
    "FNet": ("input_ids", "token_type_ids"),
}

PAD_LEFT = "Llama CodeLlama Cohere Gemma Siglip2 XLNet"

# the class of a model's type, where no file names a class; "": none, whatever is named
MODELS = {
    "": "EvollaModel arctic aria beam bigbird_pegasus camembertv2-base canary chatlm cohere_asr ernie4_5 "
        "ernie4_5_moe flex_olmo fuyu glm glm4 glm4_moe glm4_moe_lite glm4v glm4v_moe glm_image glmasr got_ocr2 "
        "gpt_bigcode gradium_phonon_tts granite granitemoe granitemoehybrid granitemoeshared h2ovl_chat "
        "hyperclovax hyperclovax_vlm internlm2 internlm3 iquestcoder jamba kimi_k25 kimi_linear kosmos-2 llava "
        "llava_next mimo_v2_flash minicpm3 minicpm_ocr minicpmv minicpmv4_6 minicpmv4_7 minimax_m2 ministral "
        "ministral3 mistral mistral3 mistral_large4 mixtral modernbert modernbert-decoder molmo molmo2 "
        "nemo_speechlm nemotron nvfp4 nystromformer olmo2 olmo3 olmo_hybrid opencua openvla paddleocr_vl "
        "pegasus_x persimmon phi3 phi3_v phimoe pix2struct pixtral pocket_tts smolvlm stablelm step3_vl umt5 "
        "vipllava voxtral voxtral_realtime xlm-roberta-xl",
    "Albert": "albert yoso",
    "Bert": "align bark bert blip bros chinese_clip convbert distilbert electra ernie flava git grounding-dino "
            "layoutlm lxmert megatron-bert mm-grounding-dino mobilebert nomic_bert squeezebert tvp vilt visual_bert",
    "BigBird": "big_bird",
    "Blenderbot": "blenderbot",
    "CLIP": "aimv2 clip clipseg groupvit omdet-turbo oneformer owlv2 owlvit sam3 sam3_video xclip",
    "Camembert": "camembert",
    "Cohere": "aya_vision cohere cohere2",
    "DPRQuestionEncoder": "dpr",
    "Deberta": "deberta",
    "DebertaV2": "deberta-v2",
    "FNet": "fnet",
    "GPT2": "blip-2 codegen dbrx emu3 gpt-sw3 gpt2 gpt_neo gptj hyperclovax_vision_v2 instructblip instructblipvideo "
            "jais2 opt phi starcoder2",
    "GPTNeoX": "falcon_mamba gpt_neox mamba mamba2 mpt olmo olmoe rwkv xlstm",
    "Gemma": "diffusion_gemma gemma gemma2 gemma3 gemma3_text gemma3n gemma3n_text recurrent_gemma shieldgemma2 "
             "t5gemma zaya",
    "LayoutLMv2": "layoutlmv2",
    "Llama": "idefics idefics2",
    "MBart": "mbart",
    "MPNet": "mpnet",
    "MarkupLM": "markuplm",
    "Nllb": "nllb-moe",
    "Pegasus": "pegasus",
    "Qwen2": "audioflamingo3 colqwen2 cosmos3_omni dots3_note fun_asr_nano hunyuan_vl internvl lighton_ocr "
             "moss_transcribe_diarize ovis2 qianfan_ocr qwen2 qwen2_5_omni qwen2_5_vl qwen2_audio qwen2_moe qwen2_vl "
             "qwen3 qwen3_asr qwen3_moe qwen3_next qwen3_omni_moe qwen3_vl qwen3_vl_moe vibevoice",
    "Qwen3_5": "qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen3_5_text qwen4_exp",
    "RemBert": "rembert",
    "Roberta": "bart bridgetower clap data2vec-text florence2 ibert led lilt longformer mra mvp roberta "
               "roberta-prelayernorm",
    "Siglip2": "siglip2",
    "T5": "mt5 musicgen musicgen_melody switch_transformers t5",
    "Tapas": "tapas",
    "Whisper": "whisper",
    "XGLM": "xglm",
    "XLMRoberta": "gte jina_embeddings_v3 metaclip_2 trocr xlm-roberta xmod",
    "XLNet": "xlnet",
}
# types whose class is that one, whatever is named
SURE = "hyperclovax_vision_v2 qwen2 qwen3_5 qwen3_5_moe qwen3_5_moe_text qwen4_exp siglip2"


def class_of(settings, model, byte_level):
    """The class that tokenizer_config.json or config.json names, else that of the model's type; "" for others.
    `byte_level`: whether a tokenizer.json speaks of ByteLevel, which LlamaTokenizer has no place for: many folders name
    it all the same, and transformers then takes the class of all others."""
    kind = model.get("model_type")
    of_type = next((name for name, types in MODELS.items() if kind in types.split()), None)
    name = settings.get("tokenizer_class") or model.get("tokenizer_class")
    if not name or of_type == "" or kind in SURE.split():
        return of_type or ""
    if byte_level and name.removesuffix("Fast") == "LlamaTokenizer" and not _own_code(settings):
        return ""
    return name.removesuffix("Fast").removesuffix("Tokenizer")


def _own_code(settings):
    """Whether tokenizer_config.json names a class in the folder."""
    own = settings.get("auto_map")
    return own.get("AutoTokenizer") is not None if isinstance(own, dict) else own is not None


def tokens_of(name):
    return dict(zip(NAMED, _row(TOKENS, name, ())))


def inputs_of(name):
    return list(_row(INPUTS, name, ("input_ids", "attention_mask")))


def _row(table, name, other):
    return next((row for names, row in table.items() if name in names.split()), other)
