"""ids_published.py: pipelines patterned on those of published vocabularies, with a small vocabulary trained here: the
normalizers, pre-tokenizers, decoders and added tokens of families that are not at hand as files."""
from tokenizers import AddedToken, Regex, decoders, normalizers, pre_tokenizers

from ids_edits import all_bytes, option
from ids_made import GPT4, LLAMA_DECODER, MARK, Configuration

GPT4_DIGIT = GPT4.replace("{1,3}", "")
MARKS = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
MARKS += r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
MARKS += r"|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"
CASED = ("\\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
         "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f"
         "\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u1c90-\u1cba\u1d00-\u1d2b\u1e00-\u1f15]+")
SYMBOLS = "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"
BLOOM = " ?[^(\\s|[.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c])]+"
HUNYUAN = "[!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+"
HUNYUAN += "| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+"
CLIP = r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"
LLAMA = {"unk_token": "<unk>", "fuse_unk": True, "byte_fallback": True}
UNKNOWN = {"unk_token": "<unk>"}


def special(*names, **flags):
    return [AddedToken(name, special=True, **{"normalized": False, **flags}) for name in names]


def plain(*names, **flags):
    return [AddedToken(name, **flags) for name in names]


def runs(character, most):
    return plain(*(character * n for n in range(most, 1, -1)), normalized=True)


def split(pattern, behavior="isolated", invert=False):
    return pre_tokenizers.Split(Regex(pattern), behavior, invert)


def byte_level_families():
    level, mapped = pre_tokenizers.ByteLevel(False), pre_tokenizers.ByteLevel(False, use_regex=False)
    digits, nfc = pre_tokenizers.Digits, [normalizers.NFC()]
    thirds = [split(r"\p{N}{1,3}"), split("[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+")]
    ignore = option("ignore_merges", True)
    chat = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    for name, normalizer, pre, added, edits in (
            ("falcon", [], [pre_tokenizers.Punctuation("contiguous"), level, digits(False), split("[0-9][0-9][0-9]")],
             special(">>TITLE<<", "<|endoftext|>"), []),
            ("bloom", [], [split(BLOOM), mapped], special("<unk>", "<s>"), []),
            ("poro", [], [split(BLOOM), digits(True), mapped], [], []),
            ("starcoder", [], [digits(True), level], special("<|endoftext|>", "<fim_prefix>"), []),
            ("codegen", [], [level], runs(" ", 31) + runs("\t", 9), []),
            ("gpt-neox", nfc, [level], runs(" ", 24) + special("<|padding|>", normalized=True), []),
            ("olmo", nfc, [level], runs(" ", 24) + plain("|||IP_ADDRESS|||", normalized=True), []),
            ("command-r", nfc, [digits(True), level], special("<PAD>", "<|START_OF_TURN_TOKEN|>"), []),
            ("glm-4", [], [split(GPT4), mapped], special("[MASK]", "<sop>"), [ignore]),
            ("tekken", [], [split(MARKS), mapped], special("[INST]"), [ignore]),
            ("exaone", nfc, [split(GPT4_DIGIT), mapped], special("[|user|]") + plain("PI:URL", normalized=False), []),
            ("qwen", nfc, [split(GPT4_DIGIT), mapped], special(*chat) + plain("<think>", normalized=False), []),
            ("llama-4", [], [split(MARKS, "removed", True), mapped], special("<|eot|>"), []),
            ("deepseek-coder", [],
             [split("[\r\n]"), split(r"\s?\p{L}+"), split(r"\s?\p{P}+"), split(CJK), digits(True), mapped], [], []),
            ("deepseek-llm", [], [split("[\r\n]"), split(CASED), split(SYMBOLS), split(r"\s+$"), split(CJK),
                                  digits(True), mapped], [], []),
            ("hunyuan", [], [*thirds, split(HUNYUAN), mapped], [], []),
            ("digits in threes from the right", [], [split(r"\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))"), mapped], [], []),
            ("places before threes", [], [split(r"(?=(\d{3})+(?!\d))"), mapped], [], []),
            ("scripts", [], [split(r"[\p{Hiragana}\p{Katakana}]+|\p{Han}|\p{Hangul}+|\p{Mn}|\p{Latin}+"), mapped], [],
             []),
            ("roberta", [], [pre_tokenizers.ByteLevel(True)], special("<mask>", lstrip=True), [])):
        yield Configuration("as " + name, normalizer, pre, [decoders.ByteLevel()], added=added, edits=edits)


def text_families():
    prefixed = [normalizers.Prepend(MARK), normalizers.Replace(" ", MARK)]
    no_strip = LLAMA_DECODER[:3]
    phi = special("<|assistant|>", "<|end|>", rstrip=True) + plain("</s>", rstrip=True, normalized=False)
    gemma = plain("\n", "\n\n", MARK * 2, MARK * 3, "<table>", "\t", normalized=False) + special("<start_of_turn>")
    for name, normalizer, pre, decoder, added in (
            ("llama-2", prefixed, [], LLAMA_DECODER, special("<s>", "</s>")),
            ("minicpm", prefixed, [], LLAMA_DECODER, special("<s>", "<AI>", "<\u7528\u6237>", normalized=True)),
            ("phi-3", prefixed, [], LLAMA_DECODER, phi),
            ("llama-2, new", [], [pre_tokenizers.Metaspace(MARK, "first", False)], LLAMA_DECODER, special("<s>")),
            ("yi", [normalizers.Replace(" ", MARK)], [], no_strip, special("<|im_start|>")),
            ("gemma", [normalizers.Replace(" ", MARK)], [pre_tokenizers.Split(" ", "merged_with_previous")], no_strip,
             gemma)):
        yield Configuration("as " + name, normalizer, pre, decoder, LLAMA, added=added, edits=[all_bytes])
    suffix, end = {**UNKNOWN, "end_of_word_suffix": "</w>"}, [decoders.BPEDecoder("</w>")]
    lower = normalizers.Lowercase()
    yield Configuration("as clip", [normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), lower],
                        [split(CLIP, "removed", True), pre_tokenizers.ByteLevel(False)], [decoders.ByteLevel()], suffix,
                        added=special("<|startoftext|>", normalized=True))
    yield Configuration("as xlm", [normalizers.NFKD(), lower], [pre_tokenizers.Whitespace()], end, suffix)
    yield Configuration("as herbert", [], [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation()], end, suffix)


def configurations():
    return list(byte_level_families()) + list(text_families())
