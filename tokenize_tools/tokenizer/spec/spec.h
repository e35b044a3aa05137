/*
 * spec.h: what a tokenizer is, in neutral words. Every loader fills a struct tokenizer_spec, and pipeline and
 * model are made from it alone, so neither knows a file format.
 *
 * Where bytes become letters. Byte-level files (GPT-2's way, in tokenizer.json) write each byte as a printable
 * character: a space as U+0120, and so on. The loaders undo that: if the pipeline has a ByteLevel pre-tokenizer or
 * normalizer, `byte_level` is set and a token's text is the *bytes* it stands for. (It is not set if the letters are
 * changed or mapped again before the model: then the tokens are letters.) An entry with a character outside
 * that alphabet cannot be met in text, whatever the text; it keeps its characters as they stand, in UTF-8, and has
 * `foreign` set (decoders show it as it stands; merges that touch it can never happen). ByteLevel stays in the
 * pipeline's list, since it has options, and because what stands after it sees mapped text. In all other pipelines
 * texts are UTF-8 as in the file.
 *
 * Memory: all of a spec belongs to it, until spec_free(). A finished spec does not change: share it freely.
 *
 * The room spec/ says what a tokenizer is, with its fingerprint and the table of kinds of models. Reading files
 * belongs to load/, encoding to the other rooms.
 *
 * A *spec* is a tokenizer as its file describes it; its numbers of tokens are *ids*.
 */
#ifndef LEAT_TOKENIZER_SPEC_H
#define LEAT_TOKENIZER_SPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* U+2581, which stands for a space in sentencepiece's vocabularies. */
#define SPEC_MARK       "\xe2\x96\x81"
#define SPEC_MARK_BYTES 3

/* "No token." */
#define SPEC_NONE UINT32_MAX

/* Ids above are refused when a file is loaded: tables are indexed by id, and no vocabulary comes near. */
#define SPEC_MAX_ID   ((1u << 24) - 1)

#define SPEC_NO_SPLIT 0

/* Longer prefixes and suffixes of parts of words are refused. */
#define SPEC_MAX_AFFIX 100

/* Bytes, not always text; a NUL follows that does not count. */
struct spec_string {
    const uint8_t *bytes;
    uint32_t length;
};

/*
 * Which kind of model; model.h has what each does, and model.c the table of all. A new kind is a file in models/, a
 * number here and a row there. Numbers go into fingerprints: one that was ever used keeps its meaning.
 */
enum spec_model {
    SPEC_BYTES = 1, /* a token for each byte; no merges */
    /* tiktoken: any two neighbours whose joined bytes are a token may merge, lowest id (rank) first; a pretoken that is
     * a token as it stands is taken whole. Entries of no bytes never match. */
    SPEC_RANKS = 2,
    SPEC_MERGES = 3, /* Hugging Face BPE: `merges`, first of the list first */
    SPEC_SCORES =
        4, /* sentencepiece BPE: neighbours whose joined text is a token, highest score first, then leftmost */
    SPEC_UNIGRAM = 5, /* Hugging Face Unigram, and */
    SPEC_SUMS = 6,    /* sentencepiece's: the tokens whose scores have the greatest sum (models/unigram.h) */
    SPEC_WORDPIECE =
        7, /* the longest token that the word begins with, then the longest with the prefix; else unknown */
    SPEC_WORDLEVEL = 8,  /* the word's token, or unknown */
    SPEC_WORDS = 9,      /* sentencepiece Word, and */
    SPEC_CHARACTERS = 10 /* Character: the token of the word or character, or unknown (models/whole.c) */
};

/* The library whose handling of the text around the model is followed, in both directions. */
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
    uint32_t offset, length; /* in spec->text */
    uint8_t type;            /* enum spec_token_type */
    bool foreign;            /* see above */
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

/* What becomes of a match, when text is split. */
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
    struct spec_string name; /* its normalized content, if that is another; the pipeline sets it */
};

/* What sentencepiece does to a text before its model. */
struct spec_sentencepiece {
    bool add_dummy_prefix, remove_extra_whitespaces, escape_whitespaces;
    bool whitespace_as_suffix;          /* the dummy comes after the text, not before */
    struct spec_string charsmap;        /* normalization; empty: none */
    struct spec_string denormalizer;    /* the same, when decoding */
    struct spec_string unknown_surface; /* what an unknown token decodes to */
    uint32_t begin, end, padding;       /* ids as the file declares them, or SPEC_NONE */
};

/* What a tokenizer.json puts around a text that it encodes alone (its post-processor), if that is at most one token on
 * each side; documents get it only as --begin and --end. */
struct spec_around {
    uint32_t before, after; /* SPEC_NONE: nothing */
    bool other;             /* it puts something else there; both are SPEC_NONE */
};

/* Settings of the file that do not affect how documents are encoded: reported to the user, and ignored. */
enum spec_note { SPEC_NOTE_TRUNCATION = 1, SPEC_NOTE_PADDING = 2, SPEC_NOTE_POST_PROCESSOR = 4 };

/* model_data of SPEC_WORDPIECE. */
struct spec_wordpiece {
    uint32_t max_characters; /* a longer word is unknown */
};

/* model_data of SPEC_UNIGRAM. A sentencepiece model has its scores in `scores` of the spec. */
struct spec_unigram {
    const double *scores; /* one per token */
};

struct tokenizer_spec {
    enum spec_model model;
    void *model_data; /* what its kind keeps besides the members below, or NULL; spec_alloc()'s memory */
    enum spec_reference reference;
    enum spec_dialect dialect;
    bool byte_level; /* see above; always set for SPEC_BYTES and SPEC_RANKS */

    /* Sorted by id, each id once; there may be holes. No two entries that are not foreign have the same bytes, but for
     * sentencepiece's, where a control, unknown or byte token may be called like a normal one, and Hugging Face's
     * Unigram, where the last of several counts. */
    struct spec_token *tokens;
    uint32_t token_count;
    const uint8_t *text; /* tokens' bytes, in their order, without gaps */
    uint64_t text_bytes;
    float *scores; /* one a token; NULL: the model has none */

    /* SPEC_RANKS: how many bytes of each token are the left part that it is merged from; SPEC_NO_SPLIT: no merge makes
     * it. NULL: to be found out. No part of what a tokenizer is, as it follows from the tokens; spec_alloc()'s
     * memory. */
    const uint8_t *splits;

    /* SPEC_MERGES: in order of priority, no pair twice (of a pair given twice the last one counts, at its place). */
    struct spec_merge *merges;
    uint32_t merge_count;

    /* SPEC_MERGES and SPEC_SCORES. `unknown` is SPEC_NONE if there is none; then, if unknown_text has bytes (perhaps
     * of length 0), the file names one that the vocabulary lacks, and a text that needs it is an error; else characters
     * without a token vanish, as in the reference. SPEC_RANKS: a text with a byte that is no token is an error. */
    uint32_t unknown;
    struct spec_string unknown_text;
    bool byte_fallback, fuse_unknown, ignore_merges;
    struct spec_string continuing_prefix, word_suffix;

    struct spec_normalizer *normalizers;
    uint32_t normalizer_count;
    struct spec_pre_tokenizer *pre_tokenizers;
    uint32_t pre_tokenizer_count;
    struct spec_decoder *decoders; /* none for a tokenizer.json: tokens are joined with spaces, as in the reference */
    uint32_t decoder_count;

    /* Sorted by id, then content. An id may have several contents (tiktoken's o200k_harmony): all are looked for, the
     * first is what it decodes to. */
    struct spec_added *added;
    uint32_t added_count;

    struct spec_sentencepiece sentencepiece; /* SPEC_SENTENCEPIECE */

    struct spec_around around;

    uint32_t vocabulary_size; /* the highest id of tokens and added tokens, plus 1 */
    unsigned notes;           /* bits of enum spec_note */

    struct spec_block *blocks; /* spec_alloc()'s memory */
};

/* An empty spec, all zero but `unknown` and the ids of `sentencepiece` and `around`; NULL without memory. */
struct tokenizer_spec *spec_new(void);

/* Frees all of it; NULL is fine. */
void spec_free(struct tokenizer_spec *spec);

/* Zeroed memory that lives as long as the spec, for small allocations; NULL without memory. */
void *spec_alloc(struct tokenizer_spec *spec, size_t bytes);

/* A copy of bytes. false: no memory. */
bool spec_copy(struct tokenizer_spec *spec, struct spec_string *out, const void *bytes, size_t length);

static inline const uint8_t *spec_token_bytes(const struct tokenizer_spec *spec, const struct spec_token *t)
{
    return spec->text + t->offset;
}

/* The token of an id, or NULL. */
const struct spec_token *spec_find_id(const struct tokenizer_spec *spec, uint32_t id);

/* The (first) added token of an id, or NULL. */
const struct spec_added *spec_find_added(const struct tokenizer_spec *spec, uint32_t id);

/* The id whose text is exactly this: of an added token, else of a token; SPEC_NONE if none. Searches all of them. */
uint32_t spec_find_text(const struct tokenizer_spec *spec, const void *bytes, size_t length);

/* Whether the pipeline has a ByteLevel before the model and not before this normalizer, whether the tokens are bytes or
 * letters. */
bool spec_maps_bytes(const struct tokenizer_spec *spec, uint32_t from);

/*
 * Called by loaders at the end. Sorts tokens (those with scores are sorted already) and added tokens, lays out `text`
 * in their order, and sets vocabulary_size. Returns LEAT_E_NO_MEMORY, or LEAT_E_VOCABULARY if two tokens have one id;
 * the sentence names `path`.
 */
enum leat_status spec_finish(struct tokenizer_spec *spec, const char *path, struct leat_error *err);

/* Whether `blob` has the frame of a compiled character map: a trie's size (u32), the trie, strings, each with a NUL. */
bool charsmap_check(const struct spec_string *blob);

#endif
