/*
 * spec.h: describes a tokenizer without a file format. Every loader fills a struct tokenizer_spec, and pipeline and
 * model are made from it alone.
 *
 * Byte-level files (GPT-2's way, in tokenizer.json) write each byte as a printable character: a space as U+0120, and so
 * on. The loaders undo that: if the pipeline has a ByteLevel pre-tokenizer or normalizer, `byte_level` is set, and a
 * token's text has the *bytes* themselves. (It is not set if the letters are changed or mapped again before the model:
 * then the tokens are letters.) A token with a character outside that alphabet matches no text; it keeps its characters
 * in UTF-8, and has `foreign` set (decoders show it unchanged; merges with it never happen). ByteLevel stays in the
 * pipeline's list, since it has options, and later components see mapped text. In all other pipelines texts are UTF-8
 * as in the file.
 *
 * A spec owns all its memory until spec_free(). A finished spec does not change, so threads may share it.
 *
 * The room spec/ describes tokenizers, with the fingerprint and the table of kinds of models. Reading files belongs to
 * load/, encoding to the other rooms.
 *
 * A *spec* is a tokenizer as its file describes it; its numbers of tokens are *ids*.
 */
#ifndef LEAT_TOKENIZER_SPEC_H
#define LEAT_TOKENIZER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "leat.h"

/* U+2581, which stands for a space in sentencepiece's vocabularies. */
#define SPEC_MARK       "\xe2\x96\x81"
#define SPEC_MARK_BYTES 3

static inline bool spec_begins_with_mark(const uint8_t *text, size_t bytes)
{
    return bytes >= SPEC_MARK_BYTES && memcmp(text, SPEC_MARK, SPEC_MARK_BYTES) == 0;
}

/* No token. */
#define SPEC_NONE UINT32_MAX

/* Greatest id of a file that is not refused: tables are indexed by id, and no vocabulary comes near. */
#define SPEC_MAX_ID   ((1u << 24) - 1)

#define SPEC_NO_SPLIT 0

/* Length of the longest prefix or suffix of parts of words that is not refused. */
#define SPEC_MAX_AFFIX 100

/* Bytes that need not be text, followed by a NUL that `length` does not count. */
struct spec_string {
    const uint8_t *bytes;
    uint32_t length;
};

/*
 * The kinds of models; model.h describes their functions, and model.c has the table of all. A new kind is a file in
 * models/, a number here and a row there. Numbers go into fingerprints: one that was ever used keeps its meaning.
 */
enum spec_model {
    /* a token for each byte; no merges */
    SPEC_BYTES = 1,
    /* tiktoken: any two neighbours whose joined bytes are a token may merge, lowest id (rank) first; a pretoken that is
     * a token is not merged. Tokens without bytes never match. */
    SPEC_RANKS = 2,
    /* Hugging Face BPE: `merges`, first of the list first */
    SPEC_MERGES = 3,
    /* sentencepiece BPE: neighbours whose joined text is a token, highest score first, then leftmost */
    SPEC_SCORES = 4,
    /* Unigram of Hugging Face and of sentencepiece: the tokens whose scores have the greatest sum (models/unigram.h) */
    SPEC_UNIGRAM = 5,
    SPEC_SUMS = 6,
    /* the longest token that the word begins with, then the longest with the prefix; else unknown */
    SPEC_WORDPIECE = 7,
    /* the word's token, or unknown */
    SPEC_WORDLEVEL = 8,
    /* Word and Character of sentencepiece: the token of the word or character, or unknown (models/whole.c) */
    SPEC_WORDS = 9,
    SPEC_CHARACTERS = 10
};

/* The library whose handling of the text around the model leat follows, when encoding and decoding. */
enum spec_reference {
    SPEC_TOKENIZERS, /* Hugging Face: normalizers, pre-tokenizers, decoders */
    SPEC_TIKTOKEN,   /* pre-tokenizers; tokens are bytes, one after the other */
    SPEC_SENTENCEPIECE
};

/* The types of sentencepiece, with its numbers. Other models have normal tokens only. */
enum spec_token_type {
    SPEC_NORMAL = 1,
    SPEC_UNKNOWN = 2,
    SPEC_CONTROL = 3,
    SPEC_USER_DEFINED = 4,
    SPEC_UNUSED = 5,
    SPEC_BYTE = 6
};

struct spec_token {
    uint32_t id;
    uint32_t offset, length; /* place in spec->text */
    uint8_t type;            /* enum spec_token_type */
    bool foreign;            /* true if it has a character outside the byte alphabet (see above) */
};

struct spec_merge {
    uint32_t left, right, result; /* ids */
};

/* A string to find, or a regular expression in the dialect that spec->dialect names. */
struct spec_pattern {
    bool regex;
    struct spec_string text;
};

enum spec_dialect {
    SPEC_ONIGURUMA, /* tokenizer.json */
    SPEC_RUST       /* tiktoken, tekken: Rust's regex and fancy-regex */
};

enum spec_normalizer_kind {
    SPEC_NORM_NFC = 1,
    SPEC_NORM_NFD,
    SPEC_NORM_NFKC,
    SPEC_NORM_NFKD,
    SPEC_NORM_LOWERCASE,
    SPEC_NORM_STRIP,       /* strip_left, strip_right */
    SPEC_NORM_REPLACE,     /* pattern, content */
    SPEC_NORM_PREPEND,     /* content, unless the text is empty */
    SPEC_NORM_PRECOMPILED, /* content: sentencepiece's compiled map, its frame checked (charsmap_check()) */
    SPEC_NORM_BYTE_LEVEL,
    SPEC_NORM_STRIP_ACCENTS,
    /* the parts of a BertNormalizer that are not NFD and Lowercase */
    SPEC_NORM_CLEAN,      /* drops control characters; other white space becomes a space */
    SPEC_NORM_SPACE_HAN,  /* a space before and after each Chinese character */
    SPEC_NORM_NONSPACING, /* drops nonspacing marks */
};

struct spec_normalizer {
    enum spec_normalizer_kind kind;
    bool strip_left, strip_right;
    struct spec_pattern pattern;
    struct spec_string content;
};

enum spec_pre_kind {
    SPEC_PRE_BYTE_LEVEL = 1,   /* add_prefix_space, use_regex */
    SPEC_PRE_SPLIT,            /* pattern, behavior, invert */
    SPEC_PRE_DIGITS,           /* individual_digits */
    SPEC_PRE_PUNCTUATION,      /* behavior */
    SPEC_PRE_WHITESPACE,       /* \w+|[^\w\s]+, the rest removed */
    SPEC_PRE_WHITESPACE_SPLIT, /* split at white space, which is removed */
    SPEC_PRE_METASPACE,        /* replacement, prepend, split */
    SPEC_PRE_SCRIPTS           /* UnicodeScripts */
};

/* The use of a match, when text is split. */
enum spec_behavior {
    SPEC_REMOVED = 1,
    SPEC_ISOLATED,
    SPEC_MERGED_WITH_PREVIOUS,
    SPEC_MERGED_WITH_NEXT,
    SPEC_CONTIGUOUS
};

enum spec_prepend { SPEC_PREPEND_ALWAYS = 1, SPEC_PREPEND_FIRST, SPEC_PREPEND_NEVER };

struct spec_pre_tokenizer {
    enum spec_pre_kind kind;
    enum spec_behavior behavior;
    enum spec_prepend prepend;
    bool invert, add_prefix_space, use_regex, individual_digits, split;
    struct spec_pattern pattern;
    struct spec_string replacement; /* one character */
};

enum spec_decoder_kind {
    SPEC_DECODE_BYTE_LEVEL = 1,
    SPEC_DECODE_BYTE_FALLBACK,
    SPEC_DECODE_FUSE,
    SPEC_DECODE_STRIP,     /* content (one character), start, stop */
    SPEC_DECODE_REPLACE,   /* pattern, content */
    SPEC_DECODE_METASPACE, /* content (one character), prepend */
    SPEC_DECODE_WORDPIECE, /* content (the prefix), cleanup */
    SPEC_DECODE_BPE,       /* pattern, content (the suffix) */
    SPEC_DECODE_CTC        /* content (the padding), delimiter, cleanup */
};

struct spec_decoder {
    enum spec_decoder_kind kind;
    enum spec_prepend prepend;
    bool cleanup;
    uint32_t start, stop;
    struct spec_pattern pattern;
    struct spec_string content, delimiter;
};

/* A token that is found in the text itself, before the model sees it. Its content is never byte-mapped. */
struct spec_added {
    uint32_t id;
    struct spec_string content;
    bool special, single_word, lstrip, rstrip, normalized;
    struct spec_string name; /* its normalized content, if that differs; the pipeline sets it */
};

/* The settings of sentencepiece's normalizer. */
struct spec_sentencepiece {
    bool add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
    bool whitespace_as_suffix;          /* true if the dummy comes after the text, not before */
    struct spec_string charsmap;        /* compiled map of the normalizer; empty if there is none */
    struct spec_string denormalizer;    /* compiled map for decoding; empty if there is none */
    struct spec_string unknown_surface; /* text of an unknown token when decoding */
};

/* The tokens that the post-processor of a tokenizer.json puts around a text that it encodes alone, if that is at most
 * one on each side. Documents get them only as --begin and --end. */
struct spec_around {
    uint32_t before, after; /* tokens before and after the text; SPEC_NONE if there is none */
    bool other;             /* true if it puts other tokens around a text; then both are SPEC_NONE */
};

/* Settings of the file that do not affect how documents are encoded: reported to the user, and ignored. */
enum spec_note { SPEC_NOTE_TRUNCATION = 1, SPEC_NOTE_PADDING = 2, SPEC_NOTE_POST_PROCESSOR = 4 };

/* model_data of SPEC_WORDPIECE. */
struct spec_wordpiece {
    uint32_t max_characters; /* most characters of a word; a longer word is unknown */
};

/* model_data of SPEC_UNIGRAM. A sentencepiece model has its scores in `scores` of the spec. */
struct spec_unigram {
    const double *scores; /* one per token */
};

struct tokenizer_spec {
    enum spec_model model;
    void *model_data; /* data of its kind in addition to the members below, in spec_alloc()'s memory; may be NULL */
    enum spec_reference reference;
    enum spec_dialect dialect;
    bool byte_level; /* true if tokens are bytes (see above); always set for SPEC_BYTES and SPEC_RANKS */

    /* Sorted by id, each id once; there may be holes. Tokens that are not foreign have different bytes, with two
     * exceptions: in sentencepiece a control, unknown or byte token may have the text of a normal one, and in Hugging
     * Face's Unigram the last of several tokens counts. */
    struct spec_token *tokens;
    uint32_t token_count;
    const uint8_t *text; /* tokens' bytes, in their order, without gaps */
    uint64_t text_bytes;
    float *scores; /* one per token; NULL if the model has none */

    /* For SPEC_RANKS: the length of the left part that each token is merged from; SPEC_NO_SPLIT if no merge makes it.
     * NULL if it is not known; it follows from the tokens. spec_alloc()'s memory. */
    const uint8_t *splits;

    /* For SPEC_MERGES: merges in order of priority, each pair once (if it is given twice, the last one counts). */
    struct spec_merge *merges;
    uint32_t merge_count;

    /* For SPEC_MERGES and SPEC_SCORES. `unknown` is SPEC_NONE if there is no unknown token. If the file names one that
     * the vocabulary lacks, unknown_text.bytes is not NULL, and a text that needs it is an error; else characters
     * without a token vanish, as in the reference. With SPEC_RANKS, a byte that is no token is an error. */
    uint32_t unknown;
    struct spec_string unknown_text;
    bool byte_fallback, fuse_unknown, ignore_merges;
    struct spec_string continuing_prefix, word_suffix;

    struct spec_normalizer *normalizers;
    uint32_t normalizer_count;
    struct spec_pre_tokenizer *pre_tokenizers;
    uint32_t pre_tokenizer_count;
    struct spec_decoder
        *decoders; /* if a tokenizer.json has none, tokens are joined with spaces, as in the reference */
    uint32_t decoder_count;

    /* Sorted by id, then content. An id may have several contents (tiktoken's o200k_harmony): all are found in text,
     * and the id decodes to the first. */
    struct spec_added *added;
    uint32_t added_count;

    struct spec_sentencepiece sentencepiece; /* SPEC_SENTENCEPIECE */

    struct spec_around around;

    uint32_t vocabulary_size; /* highest id of tokens and added tokens, plus 1 */
    unsigned notes;           /* bits of enum spec_note */

    struct spec_block *blocks; /* spec_alloc()'s memory */
};

/* Makes an empty spec, zeroed except `unknown` and the ids of `sentencepiece` and `around`. Returns NULL if there is no
 * memory. */
struct tokenizer_spec *spec_new(void);

/* Frees all of it; NULL is fine. */
void spec_free(struct tokenizer_spec *spec);

/* Returns zeroed memory that lives as long as the spec, for small allocations; NULL if there is no memory. */
void *spec_alloc(struct tokenizer_spec *spec, size_t bytes);

/* Copies bytes into the spec's memory. Returns false if there is no memory. */
bool spec_copy(struct tokenizer_spec *spec, struct spec_string *out, const void *bytes, size_t length);

static inline const uint8_t *spec_token_bytes(const struct tokenizer_spec *spec, const struct spec_token *t)
{
    return spec->text + t->offset;
}

/* Returns the token of an id, or NULL. */
const struct spec_token *spec_find_id(const struct tokenizer_spec *spec, uint32_t id);

/* Returns the first added token of an id, or NULL. */
const struct spec_added *spec_find_added(const struct tokenizer_spec *spec, uint32_t id);

/* Returns the id of the added token, else of the token, with exactly this text; or SPEC_NONE. Searches all tokens. */
uint32_t spec_find_text(const struct tokenizer_spec *spec, const void *bytes, size_t length);

/* Returns the byte that the text "<0xNN>" names, or -1. */
int spec_named_byte(const uint8_t *text, size_t length);

/* Returns true if the pipeline has a ByteLevel before the model, not counting normalizers before number `from`. */
bool spec_maps_bytes(const struct tokenizer_spec *spec, uint32_t from);

/*
 * Called by loaders at the end. Sorts tokens (those with scores are sorted already) and added tokens, lays out `text`
 * in their order, and sets vocabulary_size. Returns LEAT_E_NO_MEMORY, or LEAT_E_VOCABULARY if two tokens have one id;
 * the sentence names `path`.
 */
enum leat_status spec_finish(struct tokenizer_spec *spec, const char *path, struct leat_error *err);

/* Returns true if `blob` has the frame of a compiled character map: a trie's size (u32), the trie, strings, each with a
 * NUL. */
bool charsmap_check(const struct spec_string *blob);

#endif
