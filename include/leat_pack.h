/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets, and its manual. It builds on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * It has the tokenizers, packs files of text (leat_pack()) and texts of a program (leat_packer_*()), and joins,
 * deduplicates, splits and shuffles finished datasets (leat_merge()).
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
 * o200k_base, o200k_harmony); a path to a tokenizer.json, *.tiktoken, tekken.json or tokenizer.model, plain or
 * compressed with zstd, or to a folder that holds one; or the id of a Hugging Face model in the local hub cache. The
 * tokenizer gives exactly the ids that the vocabulary's reference library gives; a vocabulary for which it cannot is
 * refused, with the reason.
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
};
#define LEAT_TOKENIZER_INFO_INIT { sizeof(struct leat_tokenizer_info), 0, 0, { 0 }, 0, { 0 } }
LEAT_API void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info);

/* Gets what a dataset stores of it, for struct leat_writer_options. The memory is the tokenizer's. */
LEAT_API void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored);

/* Finds the id of the token with this text, special tokens first. LEAT_E_NOT_FOUND. */
LEAT_API enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes,
                                              uint32_t *id, struct leat_error *err);

/* A token of the vocabulary. */
struct leat_token {
    size_t size;
    const char *text;  /* as leat_tokenizer_find() takes it: what it stands for, or its name; the tokenizer's */
    uint64_t bytes;
    uint32_t bytewise; /* 1: `text` is any bytes, and a tokenizer.json writes each as a letter; 0: it is UTF-8 */
    uint32_t added;    /* 1: looked for in a text before anything else happens to it */
    uint32_t special;  /* 1: looked for only if the encoder's `special` is set; or a control piece of a
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
};
#define LEAT_ENCODER_OPTIONS_INIT { sizeof(struct leat_encoder_options), 0, 0, 0 }

LEAT_API enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                            const struct leat_encoder_options *options, struct leat_error *err);
LEAT_API void leat_encoder_close(struct leat_encoder *e);

/*
 * Encodes a text, and adds no begin or end token. *ids is the encoder's until its next call.
 * Returns LEAT_E_TEXT (malformed, or the vocabulary's expression takes too many steps), LEAT_E_PIECE (a stretch that
 * cannot be cut needs more than max_bytes) or LEAT_E_NO_MEMORY; the encoder stays usable.
 */
LEAT_API enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes,
                                              const uint32_t **ids, uint64_t *count, struct leat_error *err);

/*
 * Encodes a text that comes in parts of any size, cut anywhere, even inside characters: begin, any number of parts,
 * end. leat_encoder_part() takes the first *used bytes of its text, at most 1 MiB, and more than 0 if there are any:
 * call it again with the rest. Each call gives the ids that have become certain, which are the encoder's until its next
 * call. All of them together are exactly those that leat_encoder_encode() gives for the whole text.
 *
 * The encoder keeps what the end of a part leaves open until more text comes: an unfinished word, a run of white space,
 * a stretch of any length in which the vocabulary has no place to cut. The memory for this, all buffers and the ids of
 * a call stay within max_bytes, except about 2 MiB that every encoder has. leat_encoder_encode() keeps to the same
 * limit, except for its ids. A text that needs more is LEAT_E_PIECE, with the length of the stretch that cannot be cut.
 * Such a stretch takes about 8 bytes of memory per byte, at worst 32.
 *
 * Returns the statuses of leat_encoder_encode(), and LEAT_E_STATE for a part or an end without a begin. Offsets in an
 * error count from the start of the text. After a failure, go on with a begin or leat_encoder_encode(); each of these
 * forgets an unfinished text. A part's text need not stay after the call.
 */
LEAT_API enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                            const uint32_t **ids, uint64_t *count, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count,
                                           struct leat_error *err);

/* Counts strings of special tokens in the last text, encoded as such or not; of a text in parts, those so far. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * Decodes ids to the bytes that they stand for. Special tokens become their names, and so do control pieces of a
 * tokenizer.model, which sentencepiece leaves out. The bytes need not be valid UTF-8: ids may stop inside a character.
 * *text is the encoder's until its next call; a NUL, not counted, ends it. LEAT_E_RANGE for an unknown id.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

/* ---- Packing files ---------------------------------------------------------------------------------------------- */

enum leat_pack_format {
    LEAT_PACK_AUTO = 0,  /* by the name: a document per line in .jsonl .jsonlines .ndjson .json; one in .txt .md */
    LEAT_PACK_JSONL = 1, /* also standard input, unless another format is set */
    LEAT_PACK_TEXT = 2
};

/* A dataset OUTPUT.name of the documents whose text falls into its fraction; see leat_merge(). */
struct leat_split {
    const char *name;     /* letters, digits, '-' and '_'; not leat, tokens, partial or packed */
    const char *fraction; /* of all texts: a decimal number above 0 and up to 1, read exactly: "0.01" */
};

/* What a run reports about a file. */
enum leat_pack_notice_kind {
    LEAT_NOTICE_SKIPPED = 1, /* it is in a folder and was left out; `count` is 0 */
    LEAT_NOTICE_REPLACED = 2 /* `count` malformed parts of its texts became U+FFFD */
};
struct leat_pack_notice {
    enum leat_pack_notice_kind kind;
    uint32_t reserved; /* 0 */
    const char *path;  /* "": texts that a program gave without an input */
    uint64_t count;
};

/* How far a run is. The progress function gets it about ten times per second. */
struct leat_pack_progress {
    uint64_t bytes, total_bytes; /* of the inputs as stored on disk; total 0: not known */
    uint64_t text_bytes, tokens, documents, rejects;
    uint64_t bytes_before;       /* those of `bytes` that were done before the run was resumed */
    const char *bound;           /* the stage that the others wait for: "reading", "encoding" or "writing"; or
                                    "arranging", and `bytes` are those of the tokens */
};

struct leat_pack_options {
    size_t size;
    const struct leat_tokenizer *tokenizer; /* required */
    enum leat_pack_format format;
    uint32_t reserved; /* 0 */
    const char *text; /* the field that holds it; dots lead into objects: "meta.text"; NULL: "text" */
    const char *id;   /* likewise; a string or a number; NULL: "id"; "": none */
    uint64_t end_token;     /* as in struct leat_writer_options; LEAT_PACK_OPTIONS_INIT sets LEAT_NONE */
    uint64_t begin_token;
    uint32_t special;       /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;     /* a text with malformed UTF-8 is refused; else each malformed part becomes U+FFFD */
    uint32_t threads;       /* 0: one per CPU that the process may run on */
    uint64_t memory;        /* limit on the memory of the process; 0: 2 GiB */
    uint64_t max_rejects;      /* more refused records end the run; LEAT_NONE: no limit */
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
    /* If not NULL: called now and then, from the calling thread. Nonzero stops the run (LEAT_E_STOPPED), which can then
     * be resumed. */
    uint32_t (*progress)(void *context, const struct leat_pack_progress *progress);
    void *context;
    /* If not NULL: called from the calling thread, before packing for each file that is left out, and at the end of a
     * successful run for each input with replaced text. */
    void (*notice)(void *context, const struct leat_pack_notice *notice);
    uint32_t skip_unknown; /* leave out files of folders that may hold texts but cannot be read; else an error */
    uint32_t allow_binary; /* pack what does not look like UTF-8 text (Parquet, UTF-16, zip, ...) as if it did */
};
#define LEAT_PACK_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_pack_options), NULL, LEAT_PACK_AUTO, 0, NULL, NULL, LEAT_NONE, LEAT_NONE, 0, 0, 0, 0,         \
      LEAT_NONE, LEAT_NONE, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, 0 }

/* CPU time of each stage, over all threads. */
struct leat_pack_times {
    uint64_t read_ns, scan_ns, encode_ns, write_ns;
};

struct leat_pack_report {
    size_t size;
    uint64_t inputs, documents, tokens;
    uint64_t text_bytes;      /* of the packed texts, as they were encoded */
    uint64_t disk_bytes;      /* of the inputs */
    uint64_t rejects;         /* refused records; NAME.rejects.jsonl has them */
    uint64_t deduplicated;    /* documents left out because an earlier one has the same text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    uint64_t special_strings; /* strings of special tokens in the texts, encoded as such or not */
    uint64_t damaged_inputs;  /* compressed, and cut off or broken; what was readable is packed */
    char damage[512];         /* what is wrong with the first of them */
    uint64_t peak_memory;     /* of the process */
    uint32_t resumable;            /* on failure: `resume` can continue the run */
    uint32_t was_finished;         /* on success with `resume`: there was nothing left to do */
    struct leat_pack_times times;
    uint64_t skipped;  /* files that were left out of folders */
    uint64_t replaced; /* malformed parts of the packed texts; each became U+FFFD */
    uint64_t not_json; /* documents whose record has NaN, Infinity or -Infinity, which are not JSON */
};
#define LEAT_PACK_REPORT_INIT                                                                                          \
    { sizeof(struct leat_pack_report), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, { 0 }, 0, 0, 0, { 0, 0, 0, 0 }, 0, 0, 0 }

/*
 * Packs inputs into the dataset `output`: files, folders (everything in them, in the order of the paths as bytes),
 * patterns (* ? [ ], expanded here if the shell has not), "@LIST" (a file with one input per line; relative names
 * count from its folder) and "-" (standard input), each plain or compressed with zstd or gzip. The same inputs and
 * options give the same bytes with any number of threads, any memory and on any machine.
 *
 * In a folder, hidden files are left out silently. Files that accompany a corpus (README, LICENSE, NOTICE, CITATION,
 * dataset_info and the like, with any suffix) are left out and counted, but not with LEAT_PACK_TEXT. With
 * LEAT_PACK_AUTO, so are files with unknown suffixes. But if one of these may hold texts, by its first bytes or its
 * suffix (Parquet, Arrow, CSV, bzip2, xz, zip, tar, JSON lines under another name, ...), it is LEAT_E_UNSUPPORTED,
 * unless `skip_unknown` is set.
 *
 * An input that is a file and does not begin like UTF-8 text is LEAT_E_UNSUPPORTED, and the message says what to do. A
 * text file of a folder or list that begins so is refused as a record. So is a text with more than 16 malformed parts,
 * if these are more than one per 100 bytes. `allow_binary` packs all of these.
 *
 * A record that cannot be packed is refused and counted, and NAME.rejects.jsonl gets a line (input, byte offset, line,
 * reason, the record's first 200 bytes); the run goes on. A compressed input that is cut off or broken is packed as far
 * as it is readable, and counts in report->damaged_inputs.
 *
 * To shuffle, deduplicate or split, it first writes the dataset OUTPUT.packed, which takes as much disk again, then
 * arranges that as leat_merge() does, and removes it.
 *
 * A run that fails or is killed can be resumed from its last checkpoint with the same arguments; only threads, memory,
 * limits of rejects and progress may differ. It repeats what was done since: at most about 256 MiB of text or a few
 * seconds. A run from standard input starts over. `report` (may be NULL) is filled on failure too.
 * Returns what opening, reading and writing return; LEAT_E_REJECTS (more records refused than allowed; with a larger
 * limit the run can be resumed); LEAT_E_CHECKPOINT (inputs or options are not those of the run to be resumed);
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
 */
struct leat_packer;

/*
 * Starts a dataset. The options `format`, `text`, `id`, `part`, `parts` and `progress` do not apply; `shuffle`, `dedup`
 * and `splits` are LEAT_E_ARGUMENT: leat_merge() does that with the finished dataset. With `resume` it continues from
 * the last checkpoint, or starts if there is none; a finished dataset is LEAT_E_EXISTS. Statuses as leat_pack().
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

/* Adds texts, or one. A text that cannot be encoded is refused, as leat_pack() refuses a record. LEAT_E_ARGUMENT, and
 * nothing is taken, if offsets decrease or an origin names an input that was not declared. */
LEAT_API enum leat_status leat_packer_add_texts(struct leat_packer *p, const struct leat_texts *texts,
                                                struct leat_error *err);
LEAT_API enum leat_status leat_packer_add_text(struct leat_packer *p, const char *text, uint64_t bytes,
                                               const struct leat_origin *origin, struct leat_error *err);

/* Adds a document that is encoded already. LEAT_E_ARGUMENT, and it is not taken, for an id beyond the vocabulary. */
LEAT_API enum leat_status leat_packer_add_ids(struct leat_packer *p, const uint32_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);

/* Waits until all is written, makes it durable, and stores a checkpoint with the caller's `note`, at most 1 MiB. A
 * packer makes no other checkpoints. */
LEAT_API enum leat_status leat_packer_checkpoint(struct leat_packer *p, const void *note, uint64_t bytes,
                                                 struct leat_error *err);

/* Finishes the dataset. `report` may be NULL. Frees the packer on success, not on failure. */
LEAT_API enum leat_status leat_packer_finish(struct leat_packer *p, struct leat_pack_report *report,
                                             struct leat_error *err);

/* Ends and frees the packer unfinished: the first keeps the last checkpoint, the second removes all. NULL is fine. */
LEAT_API void leat_packer_suspend(struct leat_packer *p);
LEAT_API void leat_packer_abandon(struct leat_packer *p);

/* ---- Joining and arranging datasets ----------------------------------------------------------------------------- */

struct leat_merge_report {
    size_t size;
    uint64_t documents;    /* of all parts */
    uint64_t deduplicated; /* of these, left out because an earlier one has the same text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    struct leat_info *info;   /* the same for `output` */
};
#define LEAT_MERGE_REPORT_INIT { sizeof(struct leat_merge_report), 0, 0, NULL, NULL }

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
    uint64_t memory;  /* limit for sorting, in bytes; 0: 2 GiB; less than 64 KiB counts as 64 KiB */
};
#define LEAT_MERGE_OPTIONS_INIT { sizeof(struct leat_merge_options), 0, 0, NULL, NULL, 0, 0, 0, NULL, 0, 0 }

/*
 * Joins datasets into a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list.
 * Metadata on which all datasets agree is kept. Where they differ, the value of dataset i (from 1; each one of a list
 * counts) is kept as "KEY.i". LEAT_E_UNSUPPORTED: a path or metadata has a zero byte, or a "KEY.i" is already a key.
 *
 * Parts of one run (`leat pack --part I/N`, as their metadata "leat.part" says) become what the whole run would have
 * written, byte by byte; an input that was cut between two of them is one again. They must come in order and without
 * gaps: LEAT_E_INCOMPATIBLE names the one that is missing or misplaced. Consecutive ones may be joined first, but not
 * shuffled or deduplicated. An input counts as cut if a part's metadata "leat.part.cut" is "1"; without it, if the
 * offsets of its documents continue those of the part before.
 *
 * Then, in this order, as the options ask for:
 *   dedup    keeps only the first of documents with the same text, compared by stored hash.
 *   splits   sends each document to one output by its text alone. The fractions divide [0, 1) into intervals, one after
 *            another; the high half of the text's hash, as a fraction of 2^64, lies in one of them, or after them all,
 *            which is `output`. All outputs list all inputs.
 *   shuffle  orders the documents of each output by key, then by n. Document n, counted from 0 as it would be without
 *            shuffling, has the key XXH3-64, with `seed`, of n as 8 little-endian bytes.
 * The metadata "leat.dedup" ("1"), "leat.splits" ("NAME=FRACTION,..."), "leat.split" (NAME; not in the rest) and
 * "leat.shuffle" (the seed) record this. dedup and splits need text hashes in all parts, else LEAT_E_NOT_FOUND.
 *
 * The bytes depend only on the parts and these options, not on `memory`. Memory in addition to that: 16 MiB, about
 * 8 MiB per output, and 100 bytes and the path per input. What does not fit goes to files without names on the disk of
 * `output`: for shuffling, as much as the documents take. Several outputs are all complete before the first one gets
 * its name; if one then cannot get its name, the message says which outputs are finished. `report` (may be NULL) is
 * filled on success.
 * Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two parts disagree on, and
 * LEAT_E_ARGUMENT what is wrong with a split.
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                                     const struct leat_merge_options *options,
                                     struct leat_merge_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
