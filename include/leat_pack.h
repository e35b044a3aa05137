/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets, and its manual. It builds on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * It has the tokenizers, packs files of text (leat_pack()) and texts of a program (leat_packer_*()), and joins,
 * deduplicates, splits and shuffles finished datasets (leat_merge()). leat_export() writes them for other tools.
 */
#ifndef LEAT_PACK_H
#define LEAT_PACK_H

#include "leat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tokenizers ------------------------------------------------------------------------------------------------- */

struct leat_tokenizer;

struct leat_tokenizer_options {
    size_t size;
    const char *pattern; /* the pattern's name, for a *.tiktoken file whose name does not say it; NULL: none */
};
#define LEAT_TOKENIZER_OPTIONS_INIT { sizeof(struct leat_tokenizer_options), NULL }

/*
 * Opens a tokenizer. `spec` is a built-in name (bytes, gpt2 or r50k_base, p50k_base, p50k_edit, cl100k_base,
 * o200k_base, o200k_harmony); a path to a tokenizer.json, *.tiktoken, tekken.json, tokenizer.model, vocab.txt or
 * vocab.json, plain or compressed with zstd, or to a folder that holds one (docs/tokenizers.md has the order); or the
 * id of a Hugging Face model in the local hub cache. The tokenizer gives exactly the ids that the vocabulary's
 * reference library gives; a vocabulary for which it cannot is refused, with the reason.
 *
 * A file may also be a JSON object of the arguments of tiktoken's Encoding: "pat_str", "mergeable_ranks" (a string, the
 * lines of a *.tiktoken) and "special_tokens" (an object of ids).
 *
 * On success *out is the caller's until leat_tokenizer_close(). An open tokenizer never changes: share it freely.
 * Returns LEAT_E_NO_FILE (the message says where it looked), _VOCABULARY, _UNSUPPORTED, _ARGUMENT (the pattern's name
 * is missing or unknown), _IO, _PERMISSION or _NO_MEMORY.
 */
LEAT_API enum leat_status leat_tokenizer_open(struct leat_tokenizer **out, const char *spec,
                                              const struct leat_tokenizer_options *options, struct leat_error *err);

/* Opens the tokenizer that a dataset stores (leat_dataset_tokenizer()). `stored` is not kept. */
LEAT_API enum leat_status leat_tokenizer_open_stored(struct leat_tokenizer **out,
                                                     const struct leat_stored_tokenizer *stored,
                                                     struct leat_error *err);

/* Closes and frees. NULL is fine. Close its encoders first. */
LEAT_API void leat_tokenizer_close(struct leat_tokenizer *t);

#define LEAT_END_CANDIDATES 8
struct leat_tokenizer_info {
    size_t size;
    uint64_t vocabulary;     /* the highest id plus 1 */
    uint64_t end_token;      /* ends a document; LEAT_NONE: not known */
    uint8_t fingerprint[16]; /* of the vocabulary and all that decides how text is encoded, not of the file's form */
    uint64_t candidate_count;
    uint64_t candidates[LEAT_END_CANDIDATES]; /* if the end token is not known: tokens with a name like one */
    uint64_t begin_token; /* begins a document: the one token that the post-processor of a tokenizer.json puts before
                             each text, if it puts nothing but perhaps end_token after it; LEAT_NONE: none */
    /* what a post-processor puts before a text that is encoded alone, and after it, if it is one token each; LEAT_NONE:
     * nothing. leat_encoder_encode() adds neither */
    uint64_t text_before;
    uint64_t text_after;
    uint32_t text_other;  /* 1: it puts something else there, and the two above are LEAT_NONE */
    uint32_t reserved;    /* 0 */
    const char *path; /* of the file that it was opened from, in memory of the tokenizer's; NULL: it is a built-in, or
                         opened from what a dataset stores */
};
#define LEAT_TOKENIZER_INFO_INIT { sizeof(struct leat_tokenizer_info), 0, 0, { 0 }, 0, { 0 }, 0, 0, 0, 0, 0, NULL }
LEAT_API void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info);

/* Gets what a dataset stores of it, for struct leat_writer_options. The memory is the tokenizer's. */
LEAT_API void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored);

/* Finds the id of the token with this text, special tokens first. LEAT_E_NOT_FOUND. Compares with each token in turn:
 * for very many texts, make a table with leat_tokenizer_token(). */
LEAT_API enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes,
                                              uint32_t *id, struct leat_error *err);

/* A token of the vocabulary. */
struct leat_token {
    size_t size;
    const char *text;  /* as leat_tokenizer_find() takes it: what it stands for, or its name; the tokenizer's */
    uint64_t bytes;
    uint32_t bytewise; /* 1: `text` is any bytes, and a tokenizer.json writes each as a letter; 0: it is UTF-8 */
    uint32_t added;    /* 1: looked for in a text before anything else happens to it */
    uint32_t special;  /* 1: looked for only if the encoder's `special` is set; or a control token of a
                          tokenizer.model, which no text becomes */
    uint32_t reserved; /* 0 */
    const char *name;  /* what tokenizers calls it, if that is not `text`: the normalized text of an added token that is
                          looked for in normalized text. Else NULL. The tokenizer's */
    uint64_t name_bytes;
};
#define LEAT_TOKEN_INIT { sizeof(struct leat_token), NULL, 0, 0, 0, 0, 0, NULL, 0 }

/* Describes a token. LEAT_E_RANGE for an id that the vocabulary does not have; there may be gaps below its size. */
LEAT_API enum leat_status leat_tokenizer_token(const struct leat_tokenizer *t, uint32_t id, struct leat_token *token,
                                               struct leat_error *err);

/* An encoder has caches and buffers, and belongs to one thread at a time. */
struct leat_encoder;

struct leat_encoder_options {
    size_t size;
    uint32_t special;         /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;  /* malformed UTF-8 is LEAT_E_TEXT; else it becomes U+FFFD, as in Python */
    uint64_t max_bytes; /* limit on memory that grows with the text, see leat_encoder_part(); 0: 2 GiB */

    /* A text of more than 1 MiB, and one that the vocabulary's expression takes long for, asks this now and then, on
     * the encoder's thread: 1 ends it with LEAT_E_STOPPED. Other texts do not ask. NULL: nothing stops them. */
    uint32_t (*stop)(void *context);
    void *stop_context;
};
#define LEAT_ENCODER_OPTIONS_INIT { sizeof(struct leat_encoder_options), 0, 0, 0, NULL, NULL }

LEAT_API enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                            const struct leat_encoder_options *options, struct leat_error *err);
LEAT_API void leat_encoder_close(struct leat_encoder *e);

/*
 * Encodes a text, and adds no begin or end token. *ids is the encoder's until its next call.
 * Returns LEAT_E_TEXT (malformed, or the vocabulary's expressions or replacements take too many steps), LEAT_E_PRETOKEN
 * (a stretch that cannot be cut needs more than max_bytes), LEAT_E_STOPPED (by options.stop) or LEAT_E_NO_MEMORY; the
 * encoder stays usable.
 */
LEAT_API enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes,
                                              const uint32_t **ids, uint64_t *count, struct leat_error *err);

/*
 * Encodes a text that comes in chunks of any size, cut anywhere, even inside characters: begin, any number of chunks,
 * end. leat_encoder_part() takes the first *used bytes of its text, at most 1 MiB, and more than 0 if there are any:
 * call it again with the rest. Each call gives the ids that have become certain, which are the encoder's until its next
 * call. All of them together are exactly those that leat_encoder_encode() gives for the whole text.
 *
 * The encoder keeps what the end of a chunk leaves open until more text comes: an unfinished word, a run of white
 * space, a stretch of any length in which the vocabulary has no place to cut. The memory for this, all buffers and the
 * ids of a call stay within max_bytes, except about 2 MiB that every encoder has. leat_encoder_encode() keeps to the
 * same limit, but its ids may take 128 bytes more per byte of the text. A text that needs more is LEAT_E_PRETOKEN,
 * with the length of the stretch that cannot be cut. Such a stretch takes about 8 bytes of memory per byte, at worst
 * 80.
 *
 * Returns the statuses of leat_encoder_encode(), and LEAT_E_STATE for a chunk or an end without a begin. Offsets in an
 * error count from the start of the text. After a failure, go on with a begin or leat_encoder_encode(); each of these
 * forgets an unfinished text. A chunk's text need not stay after the call.
 */
LEAT_API enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                            const uint32_t **ids, uint64_t *count, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count,
                                           struct leat_error *err);

/* Counts strings of special tokens in the last text, encoded as such or not; of a text in parts, those so far. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * Decodes ids to the bytes that they stand for. Special tokens become their names, and so do control tokens of a
 * tokenizer.model, which sentencepiece leaves out. The bytes need not be valid UTF-8: ids may stop inside a character.
 * *text is the encoder's until its next call; a NUL, not counted, ends it. LEAT_E_RANGE for an unknown id.
 * LEAT_E_VOCABULARY: the tokenizer makes so much text of the ids that decoding takes more than 64 MiB and 256 bytes per
 * id. LEAT_E_TEXT: its expressions or replacements take too many steps.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

/* ---- Packing files ---------------------------------------------------------------------------------------------- */

enum leat_pack_format {
    LEAT_PACK_AUTO = 0,  /* by the name: a document per line in .jsonl .jsonlines .ndjson .json; one in .txt .md; one
                            per row in .parquet .pq, and in files without a known suffix that begin as Parquet does */
    LEAT_PACK_JSONL = 1, /* also standard input, unless another format is set */
    LEAT_PACK_TEXT = 2,
    LEAT_PACK_PARQUET = 3 /* plain files only */
};

/* A dataset OUTPUT.name of the documents whose text falls into its fraction; see leat_merge(). */
struct leat_split {
    const char *name;     /* letters, digits, '-' and '_'; not leat, tokens, partial or packed */
    const char *fraction; /* of all texts: a decimal number above 0 and up to 1, read exactly: "0.01" */
};

/* A dataset of a run with `by`. All that it points to stays until the function that gets it returns. */
struct leat_by_output {
    const char *name;  /* the dataset's: OUTPUT.VALUE, or OUTPUT.VALUE.SPLIT */
    const char *value; /* of the field: a string's characters; of a number, true or false their JSON */
    const char *split; /* NULL: the rest, or there are no splits */
    const struct leat_info *info;
};

/* What a run reports about a file. */
enum leat_pack_notice_kind {
    LEAT_NOTICE_SKIPPED = 1, /* it was left out, for a `reason`; `count` is 0 */
    LEAT_NOTICE_REPLACED = 2, /* `count` malformed parts of its texts became U+FFFD */
    LEAT_NOTICE_REPEATED = 3, /* `count` inputs repeat earlier ones, and are packed again: this is the first */
    LEAT_NOTICE_SPLIT = 4,    /* `count` inputs belong to the split `path` ("": to none); `reason` 1: they are packed */
    LEAT_NOTICE_DAMAGED = 5   /* it was cut off or broken, `message` says how: it was packed up to byte `offset`, 0 if
                                 nothing of it was, and `count` bytes were not read; LEAT_NONE: not known */
};
enum leat_skip_reason {
    LEAT_SKIP_KIND = 0, /* it is in a folder, and not of a kind that is packed */
    LEAT_SKIP_LINK = 1, /* it is a link in a folder that leads out of it */
    LEAT_SKIP_OWN = 2,  /* it is a file of the run's own output */
    LEAT_SKIP_MARKED = 3, /* it is in a folder, and its name begins with _; of a folder (`path` ends in /), all in it */
    LEAT_SKIP_UNFINISHED = 4, /* merging: of this part other files are named, but no finished dataset */
    LEAT_SKIP_OLDER = 5,      /* merging: this dataset c is no share of the run, as c.1 and others are */
    LEAT_SKIP_SPLIT = 6       /* it does not belong to the split that `split_of` names */
};
struct leat_pack_notice {
    enum leat_pack_notice_kind kind;
    uint32_t reason; /* of a skipped file: enum leat_skip_reason */
    const char *path;  /* "": texts that a program gave without an input; of damage, datasets of versions before 0.2 */
    uint64_t count;
    uint64_t offset;     /* of damage; else 0 */
    const char *message; /* likewise; else NULL */
};

/* How far a run is. The progress function gets it about ten times per second. */
struct leat_pack_progress {
    uint64_t bytes, total_bytes; /* of the inputs as stored on disk; total 0: not known */
    uint64_t text_bytes, tokens, documents, rejects;
    uint64_t bytes_before;       /* those of `bytes` that were done before the run was resumed */
    const char *bound;           /* the step that the others wait for: "reading", "encoding" or "writing"; or
                                    "checking", before a run is resumed, and `bytes` are those that it had written; or
                                    "arranging", and `bytes` are those of the tokens */
    uint64_t kept_bytes, kept_tokens, kept_documents; /* of these, at the last checkpoint: what a killed run leaves */
};

/* How tokens get to the disk. The bytes are the same. */
enum leat_write {
    LEAT_WRITE_AUTO = 0,   /* directly from where they are a quarter of the memory that is free at the start; with more
                              than 8 threads, which would wait for each other, from 1 GiB on if that is less */
    LEAT_WRITE_CACHED = 1, /* through the page cache, where training finds them next */
    LEAT_WRITE_DIRECT = 2, /* past it, where the file system can do that: `direct_from` in leat_writer_options */
};

/*
 * Starts and ends the processes that render conversations (`chat` below): the library starts none itself. Each of its
 * threads has one, and all have another one for a conversation that needs more memory. The process is Python with
 * jinja2, which runs leat/render.py of the Python package; its standard input is a stream socket, connected to
 * the library's. It ends by itself when that is closed.
 */
struct leat_renderers {
    /* Starts one, and sets *fd, which is not inherited by other programs. Called from any thread, and by several at
     * once. On failure: a status, and `err` filled. */
    enum leat_status (*open)(void *context, int *fd, struct leat_error *err);
    void (*close)(void *context, int fd); /* closes it, and ends the process at once, whatever that does */
    void *context;
};

struct leat_pack_options {
    size_t size;
    const struct leat_tokenizer *tokenizer; /* required */
    enum leat_pack_format format;
    uint32_t reserved; /* 0 */
    const char *text; /* the field that holds it; dots lead into objects: "meta.text", and never stand for themselves
                         in the name of a JSON member; NULL: "text" */
    const char *id;   /* likewise; a string or a number; NULL: "id"; "": none */
    uint64_t end_token;     /* as in struct leat_writer_options; LEAT_PACK_OPTIONS_INIT sets LEAT_NONE */
    uint64_t begin_token;
    uint32_t special;       /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;     /* a text with malformed UTF-8 is rejected; else each malformed part becomes U+FFFD */
    uint32_t threads;       /* 0: one per CPU that the process may run on */
    uint64_t memory;        /* limit on the memory of the process; 0: 2 GiB, and whole GiB that it holds already, but in
                               control groups at most three quarters of what they leave it */
    uint64_t max_rejects;      /* more rejected records end the run; LEAT_NONE: no limit */
    uint64_t max_rejects_ppm;  /* likewise, per million records; LEAT_NONE: no limit */
    uint32_t part, parts;       /* pack only share `part` (from 1) of `parts`; parts 0: all */
    uint32_t shuffle;                /* these five: as in struct leat_merge_options; not together with parts */
    uint64_t seed;
    uint32_t dedup;
    const struct leat_split *splits;
    uint64_t split_count;
    uint32_t resume;                 /* continue an unfinished run; if there is none, start */
    uint32_t force;                  /* as in struct leat_writer_options */
    uint64_t created;           /* likewise */
    /* If not NULL: called now and then, from the calling thread, also while inputs are looked for, with zeros. Nonzero
     * stops the run (LEAT_E_STOPPED), which can then be resumed. */
    uint32_t (*progress)(void *context, const struct leat_pack_progress *progress);
    void *context;
    /* If not NULL: called from the calling thread, before packing for each file that is left out, for each split that
     * inputs belong to, and once if inputs are named more than once; at the end of a successful run for each input with
     * replaced text; and at the end of any run, or of one that had finished before, for each input that was cut off or
     * broken as far as it got. */
    void (*notice)(void *context, const struct leat_pack_notice *notice);
    uint32_t skip_unknown; /* leave out files of folders that may hold texts but cannot be read; else an error */
    uint32_t allow_binary; /* pack what does not look like UTF-8 text (Parquet, UTF-16, zip, ...) as if it did */
    uint32_t follow_links; /* also pack the targets of links that lead out of the folder */
    /* Conditions on fields of JSON records and columns of Parquet, all of which must hold, else the record is left out
     * and counted, not rejected: "lang = en", "score >= 3", "meta.url exists". Signs: = (or ==) != < <= > >=. A value
     * that is a JSON number is compared with numbers, as exact decimal numbers; any other, in JSON's quotes, single
     * quotes or bare, with strings, by their bytes. For a field that is missing or of another type no condition holds;
     * a null does not exist. If they leave out records, and no document is left: LEAT_E_EMPTY, and no dataset; but
     * a part of a run may be empty, and leat_merge() judges the whole. */
    const char *const *keep;
    uint64_t keep_count;
    const char *by; /* a field or column: a dataset for each of its values; see leat_pack(). NULL: one dataset */
    /* If not NULL: called from the calling thread for each dataset, when all are finished, in the order of the values
     * as bytes, splits before the rest. */
    void (*output)(void *context, const struct leat_by_output *output);
    uint32_t store_mask; /* as in struct leat_writer_options: of all tokens that nothing else is said about, 255 */
    uint32_t reserved_mask; /* 0 */
    /* The field of JSON records, or column, that says what of the text is learned, which is stored as a mask: a list of
     * [begin, end) places in characters (code points) of the text, [[0, 12], [30, 41]], in order and not overlapping;
     * empty ones stand for nothing. A token is learned if a byte that it stands for is in a span, as for
     * leat_packer_add_text_masked(). A record without the field is rejected, and so is one of more than 4 MiB. NULL:
     * nothing says so. */
    const char *mask_field;
    /* Records are conversations, which this chat template (Jinja) renders: the name of a file, or "" for the one of the
     * tokenizer's folder. What the assistant says is learned. NULL: records are texts. See leat_pack(). */
    const char *chat;
    const char *messages; /* the field that holds the conversation; NULL: "messages" */
    enum leat_write write;
    uint32_t reserved_write; /* 0 */
    /* With `chat`, the field that holds the tools of a conversation; NULL: "tools", if there is one. "": none. */
    const char *tools;
    /* Which split of folders from the Hugging Face Hub is packed ("train"), or "all" files, whatever they belong to;
     * NULL: all inputs must belong to the same one. See leat_pack(). */
    const char *split_of;
    uint32_t allow_empty; /* make the dataset also if the conditions of `keep` leave no document */
    uint32_t chat_seconds; /* with `chat`, that rendering one conversation may take; 0: 10. Longer ends the run */
    const struct leat_renderers *renderers; /* with `chat`, required: what starts the processes that render */
    const char *chat_date; /* what strftime_now() of the template writes: "2026-01-31"; NULL: one with it is refused */
    uint32_t skip_slow_chats; /* a conversation that takes longer is a reject: then bytes depend on the machine */
};
#define LEAT_PACK_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_pack_options), NULL, LEAT_PACK_AUTO, 0, NULL, NULL, LEAT_NONE, LEAT_NONE, 0, 0, 0, 0,         \
      LEAT_NONE, LEAT_NONE, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0, 0, NULL, 0,                       \
      NULL, NULL, 0, 0, NULL, NULL, NULL, LEAT_WRITE_AUTO, 0, NULL, NULL, 0, 0, NULL, \
      NULL, 0 }

/* CPU time of each step, over all threads. */
struct leat_pack_times {
    uint64_t read_ns, scan_ns, encode_ns, write_ns;
};

/* CPU time of work that only one thread at a time can do: getting ready; cutting units off the input that takes the
 * longest with it, which is decompressing it if it is compressed; giving documents their places; finishing. */
struct leat_pack_serial {
    uint64_t begin_ns, cut_ns, place_ns, finish_ns;
};

/* The compressed input that takes the longest to be cut into units, which one thread at a time does, and decompresses
 * it, as far as others have not done that ahead. If threads waited for it, its decompression bounds the run. */
struct leat_pack_stream {
    char name[512];         /* cut to the array; empty: no input is compressed, or another one takes longer */
    uint64_t decompress_ns; /* CPU time of decompressing in serial.cut_ns */
    uint64_t waited_ns;     /* for which threads waited for it, all together */
    uint64_t threads_ns;    /* for which they were there */
};

struct leat_pack_report {
    size_t size;
    uint64_t inputs, documents, tokens;
    uint64_t text_bytes;      /* of all texts, as they were encoded: also of copies that were left out, and of splits */
    uint64_t disk_bytes;      /* of the inputs */
    uint64_t rejects;         /* rejected records; NAME.rejects.jsonl has them */
    uint64_t deduplicated;    /* documents left out because an earlier one has the same text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    uint64_t special_strings; /* strings of special tokens in the texts, encoded as such or not */
    uint64_t damaged_inputs;  /* compressed or Parquet, and cut off or broken; what was readable is packed */
    char damage[512];         /* what is wrong with the first of them */
    uint64_t peak_memory;     /* of the process */
    uint32_t resumable;            /* on failure: `resume` can continue the run */
    uint32_t was_finished;         /* on success with `resume`: there was nothing left to do */
    struct leat_pack_times times;
    uint64_t skipped;  /* files that were left out, mostly of folders */
    uint64_t replaced; /* malformed parts of the packed texts; each became U+FFFD */
    uint64_t not_json; /* documents whose record has NaN, Infinity or -Infinity, which are not JSON */
    uint64_t kept_out; /* records for which a condition of `keep` does not hold */
    struct leat_pack_serial serial; /* of packing; arranging comes on top */
    uint64_t values; /* with `by`: how many values the field had */
    struct leat_pack_stream stream;
    uint64_t row_groups; /* of Parquet inputs, that were packed */
    uint64_t units;        /* stretches of inputs that threads handed to each other, in this run */
    uint64_t lock_wait_ns; /* for which threads, all together, waited for each other to do that */
    /* On failure: what `resume` goes on after. LEAT_NONE: it failed before it looked for that, or not at all. */
    uint64_t kept_bytes, kept_tokens, kept_documents;
    uint64_t direct_bytes; /* of tokens, that this run wrote past the page cache */
};
#define LEAT_PACK_REPORT_INIT                                                                                          \
    { sizeof(struct leat_pack_report), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, { 0 }, 0, 0, 0, { 0, 0, 0, 0 }, 0, 0, 0, 0, \
      { 0, 0, 0, 0 }, 0, { { 0 }, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0 }

/*
 * With `chat`, a record (or a row) is a conversation: a list of objects with "role" and "content". The template
 * gets it as `messages`, the tokenizer's special tokens by their names (bos_token, eos_token, ...) from
 * tokenizer_config.json beside it, `add_generation_prompt` false, and as `tools` what the record has in the field of
 * that name: a list of objects, or a string that holds one as JSON; else none. A record with tools is rendered by the
 * folder's template called tool_use, if there is one. What the template writes is the document's text.
 * jinja2 renders them, set up as transformers sets it up, in the processes of `renderers`: the text is that of
 * transformers' apply_chat_template(). LEAT_E_UNSUPPORTED says why a template cannot be used, LEAT_E_ARGUMENT that
 * something is missing: jinja2, or the date for a template that calls strftime_now(). A conversation for which the
 * template raises an exception is rejected, and so is one that needs more memory than a quarter of `memory`, at most
 * 512 MiB. Which dataset comes of it depends on no clock: one that takes longer than `chat_seconds` ends the run
 * (LEAT_E_UNSUPPORTED; the sentence names it), unless `skip_slow_chats` is set. The dataset names the version of jinja2
 * (leat.jinja2 of its metadata); a run goes on, and its parts are packed, with the same one only.
 *
 * Special tokens in the template become these tokens. Those in messages are ordinary text, unless `special` is set;
 * then, as in transformers, they become tokens, too. A conversation in which they cannot be ordinary text exactly, with
 * a tokenizer that is not byte-level, is rejected.
 *
 * The dataset stores a mask. If the template has {% generation %}, tokens are learned that touch what it writes in such
 * a block, as transformers' return_assistant_tokens_mask has it. Else tokens are learned that touch the content of a
 * message whose role is "assistant", and what follows it up to the next added token of the template, that token
 * included, if there is only the template's white space between: the token that ends the turn.
 */

/*
 * Packs inputs into the dataset `output`: files, folders (everything in them, in the order of the paths as bytes),
 * patterns (* ? [ ], expanded here if the shell has not), "@LIST" (a file with one input per line; relative names
 * count from its folder), "-" (standard input) and URLs, each plain or compressed (zstd, gzip, xz, bzip2, lz4). The
 * same inputs and options give the same bytes with any number of threads, any memory and on any machine.
 *
 * A URL begins with s3://, gs://, https:// or http://. It is an object on a server; or, if it ends in / and names a
 * bucket, all objects below it, in the order of their names, chosen by their suffixes alone as files of a folder are.
 * Keys, region and endpoint come from the AWS variables and files, which this call reads then. If an object changes
 * after it was looked up: LEAT_E_MISMATCH. Datasets, reports and messages name it without what follows a ?.
 * LEAT_E_UNSUPPORTED without libcurl, and for a server that does not give parts of files.
 *
 * JSON inputs are lines with an object each; or one array of objects in any layout, which begins with [ and then { or
 * ]; or objects one after another, of which the first goes over several lines, or shares the only line with the next,
 * in the first 4 KiB (256 KiB, if these hold no whole line). If no first record of an input has the member that `text`
 * or `messages` names, or of all inputs the one of `mask_field`, `by` or `id`, it is LEAT_E_NOT_FOUND before anything
 * is written, with the members that there are; LEAT_E_UNSUPPORTED, if the text is an object or an array.
 * docs/packing.md says how many count.
 *
 * In a folder, hidden files are left out silently, and so are _SUCCESS, _metadata and the like, and empty files whose
 * names begin with _. Other files and folders whose names begin with _ are left out and counted, a folder as one. Names
 * with = in them (_lang=en) are as any other, and so are all that begin with _ with LEAT_PACK_TEXT. A folder
 * that is a table of Delta Lake, Iceberg or Hudi is LEAT_E_UNSUPPORTED. Files that accompany a corpus (README, LICENSE,
 * NOTICE, CITATION, dataset_info and the like, with any suffix) are left out and counted, but not with LEAT_PACK_TEXT.
 * With LEAT_PACK_AUTO, so are files with unknown suffixes. But if one of these may hold texts, by its first bytes or
 * its suffix (Arrow, CSV, zip, tar, brotli, JSON lines under another name, ...), it is LEAT_E_UNSUPPORTED, unless
 * `skip_unknown` is set.
 *
 * Folders from the Hugging Face Hub hold splits: texts to train with, and texts to test what was trained. Inputs that
 * do not all belong to one split, or some of which belong to none, are LEAT_E_ARGUMENT, with a list, unless `split_of`
 * names the split to be packed, or "all". A file that is named alone is never refused.
 *
 * Splits are found as the package datasets finds them. The YAML of the README.md in a folder that was named decides,
 * if it lists `configs`. Otherwise names do: data/NAME-00000-of-00001.* is of the split NAME; if there are none such,
 * a word in the name of a folder counts, and if there are none of these, one in the name of a file. The words are
 * train and training; validation, valid, dev and val; test, testing, eval and evaluation: in small letters, between
 * characters of "-._ 0123456789" or the ends of the name. Where no name says a split, all files are of train. Each
 * folder that was named is looked at alone. What then has no split is looked at together with files that were named,
 * also in lists: their names begin after the folder that all have in common.
 *
 * If README.md lists several configurations of which files are there, only "all" takes the folder: LEAT_E_ARGUMENT
 * names them, and to name the folder of one of them is the choice. Folders of configurations that README.md does not
 * list are one dataset, as for datasets. If it lists any, and the library was built without libyaml:
 * LEAT_E_UNSUPPORTED.
 *
 * A symbolic link in a folder is followed if it leads to a file or folder in that folder; else it is left out and
 * counted, unless `follow_links` is set. In the cache of the Hugging Face Hub, the blobs of a repository count as part
 * of its snapshots, which are folders of links. The run's own files (dataset, rejects, NAME.partial.*) are never
 * inputs: in a folder they are passed over, and where a link, a pattern, a list or the caller names one, it is counted.
 * In folders, neither are the files of other datasets, and any NAME.rejects.jsonl, unless `format` is LEAT_PACK_TEXT.
 * At most 16,384 lists and folders behind links, 16,777,216 lines of lists, and as many inputs through lists and links.
 *
 * An input that is a file and does not begin like UTF-8 text is LEAT_E_UNSUPPORTED, and the message says what to do. A
 * text file of a folder or list that begins so is rejected as a record. So is a text with more than 16 malformed parts,
 * if these are more than one per 100 bytes. `allow_binary` packs all of these.
 *
 * A record that cannot be packed is rejected and counted, and NAME.rejects.jsonl gets a line (input, byte offset, line,
 * reason, the record's first 200 bytes); the run goes on. A compressed input or a Parquet file that is cut off or
 * broken is packed as far as it is readable, and counts in report->damaged_inputs. The dataset's metadata then has
 * "leat.damaged": which inputs, up to which byte each was read, why, and how many bytes were not (FORMAT.md). A notice
 * for each says the same. Resuming a finished run, whose inputs are as long as they were, reports what that says;
 * versions before 0.2 wrote only that there were such inputs, which count as 1.
 *
 * To shuffle, deduplicate or split, it first writes a dataset in the folder OUTPUT.partial.packed, which takes as much
 * disk again, then arranges that as leat_merge() does, and removes it.
 *
 * So it does with `by`, a field of JSON records (dots lead into objects: "meta.lang"), or a column of a Parquet file,
 * of a type that `id` may have. The documents of each value become the dataset OUTPUT.VALUE; there is no OUTPUT
 * itself. Each is what packing the records with this value alone, in their order, would give: shuffled, deduplicated
 * and split (OUTPUT.VALUE.SPLIT) alone, too. It lists all inputs. Values are strings, numbers, true and false (the
 * latter three by their JSON: 1 and 1.0 are two values, 1 and "1" one), of at most 1,024 bytes; a record without one
 * is rejected, with the reason. VALUE has letters, digits, - and _ as they are, and %XX for other bytes. Of values
 * that differ in capitals only, the capitals are %XX, too; so is the first letter of leat, tokens, partial, packed and
 * rejects. The empty value is "%empty"; what is spelled with more than 64 bytes is cut off and ends in "%-" and 32
 * digits. More than 1,024 values are LEAT_E_UNSUPPORTED as soon as they come up. All datasets are complete and
 * durable, in the folder OUTPUT.partial.by, before the first one gets its name; if one cannot, none exists. The
 * metadata of each say the field (leat.by), its value (leat.by.value) and how many values there were (leat.by.values).
 * A share (`part`) is one dataset, whose documents carry their values, before their ids and a zero byte; leat_merge()
 * of all shares divides it.
 *
 * A run that fails or is killed can be resumed from its last checkpoint with the same arguments; only threads, memory,
 * limits of rejects and progress may differ. It first reads back what was written, and is refused if that is damaged;
 * then it repeats what was done since: at most about 256 MiB of text or a few seconds. A run from standard input starts
 * over. `report` (may be NULL) is filled on failure too.
 * Returns what opening, reading and writing return; LEAT_E_REJECTS (more records rejected than allowed; with a larger
 * limit the run can be resumed); LEAT_E_CHECKPOINT (inputs or options are not those of the run to be resumed, or
 * what it wrote is damaged);
 * LEAT_E_STOPPED (by `progress`).
 */
LEAT_API enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                                    const struct leat_pack_options *options, struct leat_pack_report *report,
                                    struct leat_error *err);

/* ---- Packing texts that a program makes ------------------------------------------------------------------------- */

/*
 * A packer takes texts (or ids) from a program, encodes them with its own threads, and writes them in the order in
 * which they were given. It belongs to one thread at a time. It copies what it is given. A call waits while there is no
 * room.
 *
 * After a call fails with anything but LEAT_E_ARGUMENT, every later call returns the same status, until
 * leat_packer_suspend() or leat_packer_abandon() ends the packer. An earlier text may be what failed.
 *
 * A packer works only in the process that opened it. In a child every call returns LEAT_E_FORKED, and
 * leat_packer_suspend() and leat_packer_abandon() do nothing: what the child has of the packer ends with the child.
 */
struct leat_packer;

/*
 * Starts a dataset. The options `format`, `text`, `id`, `split_of`, `part` and `parts` do not apply; `shuffle`,
 * `dedup`, `by` and `splits` are LEAT_E_ARGUMENT: leat_merge() does that with the finished dataset. With `resume` it
 * continues from the last checkpoint, or starts without one; a finished dataset is LEAT_E_EXISTS. With `chat`, each
 * text that is added is a record of JSON, as a line of a file has it, with the fields `messages` and `tools`; the
 * strings of the options, and `renderers`, must outlive the packer, and spans are LEAT_E_ARGUMENT. `progress` is called
 * only by this call, while a renderer starts and while a run that is resumed is checked. The folder of `output`, and
 * those above it, must keep their names until the packer ends; if not, finishing fails, and the run can be resumed in
 * the renamed folder. Statuses as leat_pack().
 */
LEAT_API enum leat_status leat_packer_open(struct leat_packer **out, const char *output,
                                           const struct leat_pack_options *options, struct leat_error *err);

/* Gets the caller's note of the checkpoint that was resumed; *bytes is 0 if none was. The memory is the packer's. */
LEAT_API void leat_packer_note(const struct leat_packer *p, const void **note, uint64_t *bytes);

/* Declares an input, so that origins of documents can name it; *number (may be NULL) is its number. */
LEAT_API enum leat_status leat_packer_add_input(struct leat_packer *p, const char *path, uint64_t *number,
                                                struct leat_error *err);

/*
 * Texts as Arrow lays out an array of strings: text i is data[offsets[i], offsets[i + 1]). Set `offsets32` or
 * `offsets64`, not both. `origins` (NULL: from no input) has `count` entries.
 */
struct leat_texts {
    size_t size;
    uint64_t count;
    const char *data;
    const int32_t *offsets32;
    const int64_t *offsets64;
    const struct leat_origin *origins;
};
#define LEAT_TEXTS_INIT { sizeof(struct leat_texts), 0, NULL, NULL, NULL, NULL }

/* Adds texts, or one. A text that cannot be encoded is rejected, as leat_pack() rejects a record. LEAT_E_ARGUMENT, and
 * nothing is taken, if offsets decrease or an origin names an input that was not declared. */
LEAT_API enum leat_status leat_packer_add_texts(struct leat_packer *p, const struct leat_texts *texts,
                                                struct leat_error *err);
LEAT_API enum leat_status leat_packer_add_text(struct leat_packer *p, const char *text, uint64_t bytes,
                                               const struct leat_origin *origin, struct leat_error *err);

/* Adds a document that is encoded already. LEAT_E_ARGUMENT, and it is not taken, for an id beyond the vocabulary. */
LEAT_API enum leat_status leat_packer_add_ids(struct leat_packer *p, const uint32_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);

/* A stretch of a text: bytes [begin, end). */
struct leat_span {
    uint64_t begin, end;
};

/*
 * The same for a packer with `store_mask`, saying which tokens training learns to predict (leat_dataset_mask()). The
 * first takes a byte per id, as leat_writer_add_masked() does.
 *
 * The second takes the stretches of the text that are learned, in order and not overlapping; an empty one stands for
 * nothing. The mask of a token is 255 if one of the bytes that it stands for is in a span, else 0. So a token that
 * reaches over an end of a span is learned. The end token has the mask of the last token, the begin token that of the
 * first; in a document without tokens, both have 255. A text is rejected if it is malformed UTF-8, or if its tokens
 * cannot be traced to its bytes: the tokenizer normalizes it to another text, or has no token for a character.
 *
 * A mask or `spans` of NULL: all is learned. LEAT_E_ARGUMENT, and nothing is taken: a mask or spans, without
 * `store_mask`; spans that are not as above.
 */
LEAT_API enum leat_status leat_packer_add_ids_masked(struct leat_packer *p, const uint32_t *ids, const uint8_t *mask,
                                                     uint64_t count, const struct leat_origin *origin,
                                                     struct leat_error *err);
LEAT_API enum leat_status leat_packer_add_text_masked(struct leat_packer *p, const char *text, uint64_t bytes,
                                                      const struct leat_span *spans, uint64_t span_count,
                                                      const struct leat_origin *origin, struct leat_error *err);

/* Waits until all is written, makes it durable, and stores a checkpoint with the caller's `note`, at most 1 MiB. A
 * packer makes no other checkpoints. */
LEAT_API enum leat_status leat_packer_checkpoint(struct leat_packer *p, const void *note, uint64_t bytes,
                                                 struct leat_error *err);

/* Finishes the dataset. `report` may be NULL. Frees the packer on success, not on failure. */
LEAT_API enum leat_status leat_packer_finish(struct leat_packer *p, struct leat_pack_report *report,
                                             struct leat_error *err);

/* Ends and frees the packer unfinished: the first keeps the last checkpoint, the second removes all. After
 * LEAT_E_REJECTS both leave the list of what was rejected, OUTPUT.rejects.jsonl. NULL is fine. */
LEAT_API void leat_packer_suspend(struct leat_packer *p);
LEAT_API void leat_packer_abandon(struct leat_packer *p);

/* ---- Joining and arranging datasets ----------------------------------------------------------------------------- */

struct leat_merge_report {
    size_t size;
    uint64_t documents;    /* of all parts */
    uint64_t deduplicated; /* of these, left out because an earlier one has the same text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    struct leat_info *info;   /* the same for `output` */
    uint64_t datasets;        /* that were joined: each one of a folder or a list counts */
    uint64_t first_share, last_share, shares; /* consecutive parts of a run of `shares` parts: which, while some are
                                                 missing; 0: the output is whole, or of no such run */
    uint64_t parts;           /* names that were given, without what was passed over */
};
#define LEAT_MERGE_REPORT_INIT { sizeof(struct leat_merge_report), 0, 0, NULL, NULL, 0, 0, 0, 0, 0 }

struct leat_merge_options {
    size_t size;
    uint32_t force;        /* replace existing datasets that have the outputs' names */
    uint64_t created; /* as in struct leat_writer_options */
    /* If not NULL: called now and then with the token bytes done. Nonzero stops leat_merge(), which then leaves no
     * files and returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint32_t shuffle;      /* put the documents of each output into an order that `seed` chooses */
    uint64_t seed;
    uint32_t dedup;        /* keep only the first of documents with the same text */
    const struct leat_split *splits; /* NULL: none */
    uint64_t split_count;
    uint64_t memory;  /* limit for sorting, in bytes; 0: 2 GiB, or what control groups leave for it; less than 64 KiB
                         counts as 64 KiB */
    void (*output)(void *context, const struct leat_by_output *output); /* as in struct leat_pack_options */
    uint32_t threads; /* one arranges; the others, at most four, read ahead, sort and write; 0: one per CPU that the
                         process may run on */
    uint32_t in_place; /* join the parts of a run without a second copy of their tokens, see leat_merge() */
    /* If not NULL: called from the calling thread for each dataset that is left out although a name is of it. */
    void (*notice)(void *context, const struct leat_pack_notice *notice);
    uint32_t allow_empty; /* make the dataset also if `keep` has left no document to any part of the run */
    uint32_t split_folders; /* of OUTPUT FOLDER/FILE, the dataset of a split is FOLDER/NAME/FILE; else OUTPUT.NAME */
};
#define LEAT_MERGE_OPTIONS_INIT                                                                                        \
    { sizeof(struct leat_merge_options), 0, 0, NULL, NULL, 0, 0, 0, NULL, 0, 0, NULL, 0, 0, NULL, 0, 0 }

/*
 * Joins datasets into a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list. What
 * a shell makes of a pattern (c.*) will do: both files of a part name it once, and what leat writes beside a dataset
 * (rejects, files of a run that has not ended) is passed over, as is c itself, if it is no share of a run, but c.1 is.
 * LEAT_E_EXISTS: a file of the output is among them.
 * Metadata on which all datasets agree is kept. Where they differ, the value of dataset i (from 1; each one of a list
 * counts) is kept as "KEY.i". LEAT_E_UNSUPPORTED: a path or metadata has a zero byte, or a "KEY.i" is already a key.
 *
 * Parts of one run (`leat pack --part I/N`, as their metadata "leat.part" says) become what the whole run would have
 * written, byte by byte; an input that was cut between two of them is one again. They are put in the order of their
 * numbers, and must have no gaps: LEAT_E_INCOMPATIBLE names the one that is missing. Consecutive ones may be joined
 * first, but not shuffled or deduplicated. An input counts as cut if a part's metadata "leat.part.cut" is "1"; without
 * it, if the offsets of its documents continue those of the part before. All parts of a run with `keep` that have no
 * document: LEAT_E_EMPTY, unless `allow_empty`; parts that were split are not judged, since the others may have the
 * documents.
 *
 * All parts of a run with `by` become one dataset for each value, as leat_pack() says, each with a name that follows
 * `output` and a dot; report->info then has the sums of documents, tokens and bytes of all, and report->splits nothing.
 * Some of its parts are joined as ever.
 *
 * Then, in this order, as the options ask for:
 *   dedup    keeps only the first of documents with the same text: the same stored hash, and the same tokens.
 *   splits   sends each document to one output by its text alone. The fractions divide [0, 1) into intervals, one after
 *            another; the high half of the text's hash, as a fraction of 2^64, lies in one of them, or after them all,
 *            which is `output`. All outputs list all inputs.
 *   shuffle  orders the documents of each output by key, then by n. Document n, counted from 0 as it would be without
 *            shuffling, has the key XXH3-64, with `seed`, of n as 8 little-endian bytes.
 * The metadata "leat.dedup" ("1"), "leat.splits" ("NAME=FRACTION,..."), "leat.split" (NAME; not in the rest) and
 * "leat.shuffle" (the seed) record this. dedup and splits need text hashes in all parts, else LEAT_E_NOT_FOUND.
 *
 * The bytes depend only on the parts and these options, not on `memory` and `threads`. Memory in addition to that:
 * 16 MiB, about 8 MiB per output, and 100 bytes and the path per input. What does not fit goes to files without names
 * on the disk of `output`: for shuffling, as much as the documents take. Several outputs are all complete before the
 * first one gets its name; if one then cannot get its name, the message says which outputs are finished. `report` (may
 * be NULL) is filled on success. Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two
 * parts disagree on, and LEAT_E_ARGUMENT what is wrong with a split. Pages of tokens that are read are compared with
 * their hashes, and indexes with their sums: LEAT_E_CHECKSUM and the like, as of leat_dataset_verify().
 *
 * With `in_place` the parts become the dataset: the token file of the first one gets its name, those of the others are
 * appended to it in steps of 256 MiB, which are freed when they are durable in their new place. First the index is
 * written. From then on the parts are no datasets any more: what is under way is in OUTPUT.joining, and the same call
 * goes on with it after a failure, a stop (LEAT_E_STOPPED) or a killed process; parts is not looked at then. In the end
 * a folder of leat pack --run whose parts these were is no run's any more. Only for
 * all parts of one run, in leat's own files on the disk of `output`, which must not exist, and without `shuffle`,
 * `dedup`, `splits` and `force`; else LEAT_E_UNSUPPORTED, _EXISTS or _ARGUMENT, before anything is changed.
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                                     const struct leat_merge_options *options,
                                     struct leat_merge_report *report, struct leat_error *err);

/* ---- Files of other tools --------------------------------------------------------------------------------------- */

struct leat_export_options {
    size_t size;
    const char *to;        /* "megatron", "raw", "nanogpt", "llmc" or "datatrove" */
    uint32_t number_bytes; /* 2 or 4 per id; 0: as stored */
    uint32_t force;        /* replace existing files that have the output's names */
    /* If not NULL: called now and then with the token bytes done. Nonzero stops leat_export(), which then leaves no
     * file (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_EXPORT_OPTIONS_INIT { sizeof(struct leat_export_options), NULL, 0, 0, NULL, NULL }

struct leat_export_report {
    size_t size;
    uint64_t documents; /* LEAT_NONE: not known */
    uint64_t tokens;
    uint64_t bytes;        /* of all files */
    uint64_t end_token;    /* with which documents end; LEAT_NONE: none is known */
    uint32_t number_bytes; /* per id */
    uint32_t reserved;     /* 0 */
};
#define LEAT_EXPORT_REPORT_INIT { sizeof(struct leat_export_report), 0, 0, 0, 0, 0, 0 }

/*
 * Writes the tokens of datasets, joined in order, as files of another tool:
 *   megatron   OUTPUT.bin and OUTPUT.idx; ids of 4 bytes are int32. A document is one sequence, several if it has more
 *              than 2^31 - 1 tokens
 *   raw        OUTPUT, nothing but ids: OLMo-core
 *   nanogpt    OUTPUT, nothing but ids of 2 bytes
 *   llmc       OUTPUT, with llm.c's header; at most 2^31 - 1 tokens
 *   datatrove  OUTPUT.ds, OUTPUT.ds.index and OUTPUT.ds.metadata, which does not name the tokenizer; and OUTPUT.ds.loss
 *              if a dataset stores a mask, which must have no weights between 0 and 255
 * `names` are what leat_dataset_open() takes; of megatron and datatrove their documents must be known. Hashes are
 * checked while tokens are read, where the datasets store some. All files are complete before the first one gets its
 * name; until then they are called *.partial. `report` (may be NULL) is filled on success.
 * Returns what opening and reading return; LEAT_E_EXISTS; LEAT_E_BUSY (another process writes the same files);
 * LEAT_E_UNSUPPORTED if ids, tokens or a mask do not fit, or if `output` is a URL; LEAT_E_NOT_FOUND without documents;
 * LEAT_E_STOPPED; or _IO, _NO_SPACE and the like.
 */
LEAT_API enum leat_status leat_export(const char *output, const char *const *names, uint64_t count,
                                      const struct leat_export_options *options,
                                      struct leat_export_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif

#include "leat/run.h"

#endif
