/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets; and its manual. It stands on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * It has the tokenizers, packs files of text (leat_pack()) and texts of a program (leat_packer_*()), and joins,
 * deduplicates, splits and shuffles finished datasets.
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
    const char *pattern; /* the pattern's name, for a *.tiktoken whose name does not tell it; NULL: none */
};
#define LEAT_TOKENIZER_OPTIONS_INIT { sizeof(struct leat_tokenizer_options), NULL }

/*
 * Opens a tokenizer. `spec` is a built-in name (bytes, gpt2, cl100k_base, o200k_base); a path to a tokenizer.json,
 * *.tiktoken, tekken.json or tokenizer.model, each plain or compressed with zstd, or to a folder that holds one; or a
 * Hugging Face model id that lies in the local hub cache. Its ids are exactly those of the vocabulary's reference
 * library, or it is refused with the reason.
 *
 * On success *out is the caller's until leat_tokenizer_close(). An open tokenizer never changes: share it freely.
 * Returns LEAT_E_NO_FILE (the sentence says where was looked), _VOCABULARY, _UNSUPPORTED, _ARGUMENT (a pattern's name
 * is missing or unknown), _IO, _PERMISSION or _NO_MEMORY.
 */
LEAT_API enum leat_status leat_tokenizer_open(struct leat_tokenizer **out, const char *spec,
                                              const struct leat_tokenizer_options *options, struct leat_error *err);

/* The same from what a dataset keeps (leat_dataset_tokenizer()). The bytes are not kept. */
LEAT_API enum leat_status leat_tokenizer_open_stored(struct leat_tokenizer **out,
                                                     const struct leat_stored_tokenizer *stored,
                                                     struct leat_error *err);

/* NULL is fine. Its encoders must be closed before. */
LEAT_API void leat_tokenizer_close(struct leat_tokenizer *t);

#define LEAT_END_CANDIDATES 8
struct leat_tokenizer_info {
    size_t size;
    uint64_t vocabulary;     /* the highest id plus 1 */
    uint64_t end_token;      /* that ends a document; LEAT_NONE: not known */
    uint8_t fingerprint[16]; /* of the vocabulary and all that decides how text is encoded, not of the file's form */
    uint64_t candidate_count;
    uint64_t candidates[LEAT_END_CANDIDATES]; /* if the end token is not known: tokens that are called like one */
};
#define LEAT_TOKENIZER_INFO_INIT { sizeof(struct leat_tokenizer_info), 0, 0, { 0 }, 0, { 0 } }
LEAT_API void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info);

/* What a dataset keeps of it, for struct leat_writer_options. The pointers are the tokenizer's. */
LEAT_API void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored);

/* The id of the token that is written so, special tokens first. LEAT_E_NOT_FOUND. */
LEAT_API enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes,
                                              uint32_t *id, struct leat_error *err);

/* A token of the vocabulary. */
struct leat_token {
    size_t size;
    const char *text;  /* as leat_tokenizer_find() takes it: what it stands for, or its name. The tokenizer's */
    uint64_t bytes;
    uint32_t bytewise; /* 1: `text` is any bytes, of which a tokenizer.json writes each as a letter; 0: it is UTF-8 */
    uint32_t added;    /* 1: looked for in a text before anything else becomes of it */
    uint32_t special;  /* 1: added, but only where an encoder's `special` asks for it; and a tokenizer.model's control
                          pieces, which no text becomes */
    uint32_t reserved; /* 0 */
};
#define LEAT_TOKEN_INIT { sizeof(struct leat_token), NULL, 0, 0, 0, 0, 0 }

/* LEAT_E_RANGE for an id that the vocabulary does not have; there may be such below its size. */
LEAT_API enum leat_status leat_tokenizer_token(const struct leat_tokenizer *t, uint32_t id, struct leat_token *token,
                                               struct leat_error *err);

/* An encoder is a thread's own: its caches and buffers. */
struct leat_encoder;

struct leat_encoder_options {
    size_t size;
    uint32_t special;         /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;  /* malformed UTF-8 is LEAT_E_TEXT; else it becomes U+FFFD, as in Python */
    uint64_t max_bytes; /* of memory that grows with the text, see leat_encoder_part(); 0: 2 GiB */
};
#define LEAT_ENCODER_OPTIONS_INIT { sizeof(struct leat_encoder_options), 0, 0, 0 }

LEAT_API enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                            const struct leat_encoder_options *options, struct leat_error *err);
LEAT_API void leat_encoder_close(struct leat_encoder *e);

/*
 * Encodes a text. No begin or end token is added. *ids and *count are the encoder's until its next call.
 * Returns LEAT_E_TEXT (malformed, or the vocabulary's expression takes too many steps), LEAT_E_PIECE (a piece that
 * cannot be cut needs more than max_bytes) or LEAT_E_NO_MEMORY; the encoder can be used on.
 */
LEAT_API enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes,
                                              const uint32_t **ids, uint64_t *count, struct leat_error *err);

/*
 * A text that comes in parts of any size, cut anywhere, inside characters too: begin, any number of parts, end.
 * leat_encoder_part() takes *used bytes of its text, all or as many as it does at a time (1 MiB), and never none of
 * some: call it again with the rest. Each call gives the ids that have become certain; all of them together are
 * exactly those that leat_encoder_encode() gives of the whole text. They are the encoder's until its next call.
 *
 * What a part's end leaves open is kept until more text comes: an unfinished word, a run of white space, a piece of any
 * length where the vocabulary has no place to cut. All memory that this takes, with all buffers and the ids of a call,
 * stays within max_bytes, but for some 2 MiB that every encoder has. leat_encoder_encode() keeps to the same bound, but
 * for its ids. A text that needs more is refused: LEAT_E_PIECE, with the length of the stretch that cannot be cut.
 * Such a stretch takes some 8 bytes of memory for each of its bytes, at worst 32.
 *
 * Statuses as leat_encoder_encode(), and LEAT_E_STATE for a part or an end without begin. Offsets in an error count
 * from the text's beginning. After a failure the encoder can be used on, from a begin or leat_encoder_encode() on;
 * each of these forgets a text that has not come to its end. The part's text need not stay after the call.
 */
LEAT_API enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                            const uint32_t **ids, uint64_t *count, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count,
                                           struct leat_error *err);

/* How many strings of special tokens the last text held, encoded as such or not; of a text in parts, so far. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * The bytes that ids stand for, special tokens by their names (so are control pieces of a tokenizer.model, which
 * sentencepiece leaves out). They need not be valid UTF-8: ids may stop inside a character. *text (NUL at its end, not
 * counted) and *bytes are the encoder's until its next call. LEAT_E_RANGE for an id that the vocabulary does not have.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

/* ---- Packing files ---------------------------------------------------------------------------------------------- */

enum leat_pack_format {
    LEAT_PACK_AUTO = 0,  /* by the name: .jsonl .ndjson .json hold a document a line, .txt .md are one each */
    LEAT_PACK_JSONL = 1, /* standard input too, if nothing else is said */
    LEAT_PACK_TEXT = 2
};

/* A dataset OUTPUT.name of those documents whose text falls into its share; see leat_merge(). */
struct leat_split {
    const char *name;     /* letters, digits, '-' and '_', and not leat, tokens, partial or packed */
    const char *fraction; /* of all texts: a decimal number above 0 and up to 1, read exactly: "0.01" */
};

/* How far a run is; given to the caller's function about ten times a second. */
struct leat_pack_progress {
    uint64_t bytes, total_bytes; /* of the inputs as they lie on disk; total 0: not known */
    uint64_t text_bytes, tokens, documents, rejects;
    uint64_t bytes_before;       /* of `bytes`, what a run that is resumed had done */
    const char *bound;           /* the stage that the others wait for: "reading", "encoding" or "writing"; or
                                    "arranging", when `bytes` are those of the tokens */
};

struct leat_pack_options {
    size_t size;
    const struct leat_tokenizer *tokenizer; /* must be given */
    enum leat_pack_format format;
    uint32_t reserved; /* 0 */
    const char *text; /* names on the way to it with dots between: "meta.text"; NULL: "text" */
    const char *id;   /* likewise; a string or a number; NULL: "id", "": none */
    uint64_t end_token;     /* as in struct leat_writer_options; LEAT_PACK_OPTIONS_INIT sets LEAT_NONE */
    uint64_t begin_token;
    uint32_t special;       /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;     /* a text with malformed UTF-8 is refused; else each malformed part becomes U+FFFD */
    uint32_t threads;       /* 0: as many as the process may run on */
    uint64_t memory;        /* bound on the memory of the process; 0: 2 GiB */
    uint64_t max_rejects;      /* more refused records end the run; LEAT_NONE: any number */
    uint64_t max_rejects_ppm;  /* likewise, in a million records; LEAT_NONE: any */
    uint32_t part, parts;       /* pack only share `part` (from 1) of `parts`; parts 0: all */
    uint32_t shuffle;                /* these five: as in struct leat_merge_options; not together with parts */
    uint64_t seed;
    uint32_t dedup;
    const struct leat_split *splits;
    uint64_t split_count;
    uint32_t resume;                 /* go on with a run that was killed; if there is none, begin */
    uint32_t force;                  /* as in struct leat_writer_options */
    uint64_t created;           /* likewise */
    /* If not NULL: called now and then, from the calling thread; nonzero stops the run, which can then be resumed:
     * LEAT_E_STOPPED. */
    int (*progress)(void *context, const struct leat_pack_progress *progress);
    void *context;
};
#define LEAT_PACK_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_pack_options), NULL, LEAT_PACK_AUTO, 0, NULL, NULL, LEAT_NONE, LEAT_NONE, 0, 0, 0, 0,         \
      LEAT_NONE, LEAT_NONE, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, NULL, NULL }

/* What a stage took of CPU time, over all threads. */
struct leat_pack_times {
    uint64_t read_ns, scan_ns, encode_ns, write_ns;
};

struct leat_pack_report {
    size_t size;
    uint64_t inputs, documents, tokens;
    uint64_t text_bytes;      /* of the texts packed, as they were encoded */
    uint64_t disk_bytes;      /* of the inputs */
    uint64_t rejects;         /* records refused; they are in NAME.rejects.jsonl */
    uint64_t deduplicated;    /* documents left out, because one before has the same text */
    struct leat_info *splits; /* the caller's, one for each split, begun by LEAT_INFO_INIT; NULL: not wanted */
    uint64_t special_strings; /* strings of special tokens in the texts, encoded as such or not */
    uint64_t damaged_inputs;  /* compressed ones that are cut off or broken: what was readable is packed */
    char damage[512];         /* what is wrong with the first of them */
    uint64_t peak_memory;     /* of the process */
    uint32_t resumable;            /* on failure: the run can go on with `resume` */
    uint32_t was_finished;         /* on success with `resume`: there was nothing left to do */
    struct leat_pack_times times;
};
#define LEAT_PACK_REPORT_INIT                                                                                          \
    { sizeof(struct leat_pack_report), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, { 0 }, 0, 0, 0, { 0, 0, 0, 0 } }

/*
 * Packs inputs into the dataset `output`: files, folders (everything in them, in the order of the paths as bytes),
 * "@LIST" (a file with an input a line; relative names count from its folder) and "-" (standard input), each plain or
 * compressed with zstd or gzip. The same inputs and options give the same bytes, whatever the threads, the memory and
 * the machine.
 *
 * A record that cannot be packed is refused, told in NAME.rejects.jsonl (a line each: input, byte offset, line, reason,
 * the record's first 200 bytes) and counted; the rest goes on. A compressed input that is cut off or broken gives what
 * was readable, and counts in report->damaged_inputs.
 *
 * To shuffle, deduplicate or split, it first writes the dataset OUTPUT.packed, which takes as much disk again, then
 * arranges that as leat_merge() does, and removes it.
 *
 * If it fails, or is killed, the run can be resumed from its last checkpoint, with the same arguments but for threads,
 * memory, bounds of rejects and progress; what was done since, at most about 256 MiB of text or a few seconds, is done
 * again. Not from standard input: such a run begins anew. `report` (may be NULL) is filled on failure too.
 * Returns what opening, reading and writing return; LEAT_E_REJECTS (more records refused than allowed: with a greater
 * bound the run can be resumed); LEAT_E_CHECKPOINT (inputs or options are not those of the run to be resumed);
 * LEAT_E_STOPPED (by `progress`).
 */
LEAT_API enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                                    const struct leat_pack_options *options, struct leat_pack_report *report,
                                    struct leat_error *err);

/* ---- Packing texts that a program makes ------------------------------------------------------------------------- */

/*
 * A packer takes texts (or ids) from a program, encodes them with threads of its own, and writes them in the order in
 * which they were given. It belongs to one thread at a time. Nothing that is given is kept: it is copied. A call waits
 * while there is no room.
 *
 * After a call fails with anything but LEAT_E_ARGUMENT, every later call returns the same status, until the packer is
 * ended by leat_packer_suspend() or leat_packer_abandon(). A failure may be that of a text given earlier.
 */
struct leat_packer;

/*
 * Begins a dataset. Of the options `format`, `text`, `id`, `part`, `parts` and `progress` do not apply;
 * `shuffle`, `dedup` and `splits` are LEAT_E_ARGUMENT: leat_merge() does that with what a packer has made.
 * With `resume` it goes on from the last checkpoint; if there is none, it begins; if the dataset is finished, that is
 * LEAT_E_EXISTS. Statuses as leat_pack().
 */
LEAT_API enum leat_status leat_packer_open(struct leat_packer **out, const char *output,
                                           const struct leat_pack_options *options, struct leat_error *err);

/* The caller's note of the checkpoint that the packer was resumed from; *bytes 0 if it was not. The packer's. */
LEAT_API void leat_packer_note(const struct leat_packer *p, const void **note, uint64_t *bytes);

/* Declares an input, so that documents can name it as where they came from; *number (may be NULL) is its number. */
LEAT_API enum leat_status leat_packer_add_input(struct leat_packer *p, const char *path, uint64_t *number,
                                                struct leat_error *err);

/*
 * Texts as Arrow lays out an array of strings: text i is data[offsets[i], offsets[i + 1]). Offsets have 32 bits
 * (`offsets32`) or 64 (`offsets64`); one of the two is given. `origins` (NULL: from no input) has `count` entries.
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

/* A text that cannot be encoded is refused, as leat_pack() refuses a record. LEAT_E_ARGUMENT: offsets fall, or an
 * origin names an input that was not declared; nothing is then taken. */
LEAT_API enum leat_status leat_packer_add_texts(struct leat_packer *p, const struct leat_texts *texts,
                                                struct leat_error *err);
LEAT_API enum leat_status leat_packer_add_text(struct leat_packer *p, const char *text, uint64_t bytes,
                                               const struct leat_origin *origin, struct leat_error *err);

/* A document that is encoded already. LEAT_E_ARGUMENT for an id that the vocabulary does not have; it is not taken. */
LEAT_API enum leat_status leat_packer_add_ids(struct leat_packer *p, const uint32_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);

/* Waits until all is written, makes it durable, and remembers it with `note`, at most 1 MiB of the caller's. A packer
 * makes no checkpoints but these. */
LEAT_API enum leat_status leat_packer_checkpoint(struct leat_packer *p, const void *note, uint64_t bytes,
                                                 struct leat_error *err);

/* Ends the packer and finishes the dataset. `report` may be NULL. On success the packer is freed; on failure not. */
LEAT_API enum leat_status leat_packer_finish(struct leat_packer *p, struct leat_pack_report *report,
                                             struct leat_error *err);

/* End and free the packer without finishing: keeping the last checkpoint, or removing everything. NULL is fine. */
LEAT_API void leat_packer_suspend(struct leat_packer *p);
LEAT_API void leat_packer_abandon(struct leat_packer *p);

/* ---- Joining and arranging datasets ----------------------------------------------------------------------------- */

struct leat_merge_report {
    size_t size;
    uint64_t documents;    /* of all parts */
    uint64_t deduplicated; /* of these: left out, because one before has the same text */
    struct leat_info *splits; /* the caller's, one for each split, begun by LEAT_INFO_INIT; NULL: not wanted */
    struct leat_info *info;   /* the same for `output` */
};
#define LEAT_MERGE_REPORT_INIT { sizeof(struct leat_merge_report), 0, 0, NULL, NULL }

struct leat_merge_options {
    size_t size;
    uint32_t force;        /* existing datasets of the outputs' names are replaced */
    uint64_t created; /* as in struct leat_writer_options */
    /* If not NULL: called now and then with the token bytes done; nonzero stops, nothing is left behind, and
     * leat_merge() returns LEAT_E_STOPPED. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint32_t shuffle;      /* the documents of each output are put into an order that `seed` chooses */
    uint64_t seed;
    uint32_t dedup;        /* of documents with the same text only the first one is kept */
    const struct leat_split *splits; /* NULL: none */
    uint64_t split_count;
    uint64_t memory;  /* bound for sorting, in bytes; 0: 2 GiB; less than 64 KiB counts as that */
};
#define LEAT_MERGE_OPTIONS_INIT { sizeof(struct leat_merge_options), 0, 0, NULL, NULL, 0, 0, 0, NULL, 0, 0 }

/*
 * Joins datasets to a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list.
 * Metadata on which all datasets agree is kept; where they differ, the value of dataset i (from 1, those of a list
 * one by one) is kept as "KEY.i". A path or metadata with a zero byte, or a "KEY.i" that is a key already:
 * LEAT_E_UNSUPPORTED.
 *
 * Parts of one run (`leat pack --part I/N`, which their metadata "leat.part" tells) become what the whole run would
 * have written, byte by byte; an input that was cut between two of them is one again. They must come in order and
 * without gaps: LEAT_E_INCOMPATIBLE names the one that is missing or misplaced. Some of them that follow each other
 * may be joined first, but not shuffled or deduplicated. An input is taken for cut if a part's metadata
 * "leat.part.cut" is "1"; without it, if the offsets of its documents go on from those of the part before.
 *
 * Then, in this order, as the options ask for:
 *   dedup    documents with the same text, told by its stored hash, are left out but for the first one.
 *   splits   each document goes to one output by its text alone: the high half of its hash, as a fraction of 2^64, lies
 *            in one of the intervals that the fractions divide [0, 1) into, one after another; what lies behind them
 *            all goes to `output`. All outputs list all inputs.
 *   shuffle  document n of an output, counted from 0 as it would be without shuffling, has the key XXH3-64, with
 *   `seed`,
 *            of n as 8 little-endian bytes; documents are ordered by key, then by n.
 * They are noted in the metadata "leat.dedup" ("1"), "leat.splits" ("NAME=FRACTION,..."), "leat.split" (NAME; not in
 * the rest) and "leat.shuffle" (the seed). The first two need text hashes in all parts: LEAT_E_NOT_FOUND if they are
 * not there.
 *
 * The bytes depend on the parts and these options only, not on `memory`. Memory beyond that: 16 MiB, about 8 MiB for
 * each output, and 100 bytes and the path of each input. What does not fit lies in files without names on the disk of
 * `output`: as much as the documents take, for shuffling. Several outputs are all completed before the first one gets
 * its name; if a name then cannot be given, the message says which outputs are finished. `report` (may be NULL) is
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
