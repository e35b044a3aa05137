/*
 * leat.h: the run-time library (libleat), and its manual.
 *
 * A dataset is two files. NAME.tokens holds nothing but little-endian token ids, two or four bytes each, document
 * after document. NAME.leat is its index: where documents begin, a hash of every 4 KiB of tokens, where each document
 * came from, and the tokenizer. FORMAT.md describes both to the byte.
 *
 *   #include <leat.h>
 *   #include <stdio.h>
 *
 *   int main(int argc, char **argv)
 *   {
 *       struct leat_dataset *d;
 *       struct leat_error err;
 *       struct leat_info info = LEAT_INFO_INIT;
 *       uint32_t ids[8];
 *
 *       if (leat_dataset_open(&d, argv[argc - 1], NULL, &err) != LEAT_OK)
 *           return fprintf(stderr, "%s\n", err.message), 1;
 *       leat_dataset_info(d, &info);
 *       printf("%llu tokens in %llu documents\n", (unsigned long long)info.tokens,
 *              (unsigned long long)info.documents);
 *       if (info.tokens >= 8 && leat_dataset_read_u32(d, info.tokens - 8, 8, ids, &err) != LEAT_OK)
 *           fprintf(stderr, "%s\n", err.message);
 *       leat_dataset_close(d);
 *       return 0;
 *   }
 *
 * Rules that hold everywhere
 *   Numbers     of tokens and documents are 64-bit and count from 0. A position is a token's place in the dataset.
 *   Errors      every call that can fail returns a status; 0 is success. `err` may be NULL; else it is filled on
 *               failure with a sentence that names the file, the place and what to do. The library never prints,
 *               never exits, never aborts on bad input, installs no signal handler and keeps no global state.
 *   Out-values  are written on success only, except handles, which are set to NULL on failure.
 *   Structs     that have an ..._INIT macro begin with their size, which it sets, so that they can grow. A field that
 *               the caller's version of a struct lacks has the value that _INIT gives it now; the library writes
 *               nothing beyond the caller's size. A field that the library does not know yet must be 0, else it
 *               refuses the struct (LEAT_E_UNSUPPORTED). The other structs do not grow. Flags are 0 or 1.
 *   Pointers    must not be NULL unless it is said; where a NULL name or path is likely, it is LEAT_E_ARGUMENT.
 *   Threads     an open dataset never changes: any number of threads may use it at once. A writer belongs to one
 *               thread at a time.
 *   Fork        a dataset may be read in the child (by read calls; views of leased files are refused there). A writer
 *               must not be used in the child.
 */
#ifndef LEAT_H
#define LEAT_H

#include <stddef.h>
#include <stdint.h>

/* LEAT_VERSION_NUMBER is for comparisons: 1,000,000 x major + 1,000 x minor + patch. */
#define LEAT_VERSION "0.1.0"
#define LEAT_VERSION_MAJOR  0
#define LEAT_VERSION_MINOR  1
#define LEAT_VERSION_PATCH  0
#define LEAT_VERSION_NUMBER (LEAT_VERSION_MAJOR * 1000000 + LEAT_VERSION_MINOR * 1000 + LEAT_VERSION_PATCH)

#if defined(__GNUC__)
#define LEAT_API __attribute__((visibility("default")))
#else
#define LEAT_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "There is none": no end token, no line number stored, an offset that is not known. */
#define LEAT_NONE UINT64_MAX

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* The numbers are pinned: they never change their meaning. Grouped by what the caller can do about them. */
enum leat_status {
    LEAT_OK = 0,

    LEAT_E_ARGUMENT = 10,    /* a call's arguments make no sense: the program is wrong */
    LEAT_E_NO_MEMORY = 11,   /* an allocation failed */
    LEAT_E_RANGE = 12,       /* a token, document or other number lies outside the dataset */
    LEAT_E_NOT_MAPPED = 13,  /* a view was asked of a file that is read, not mapped; see leat_dataset_view() */
    LEAT_E_UNSUPPORTED = 14, /* this machine or build cannot do that */
    LEAT_E_NOT_FOUND = 15,   /* no such document, id, input or origin in the dataset, or it does not store such */

    LEAT_E_IO = 20,         /* a system call failed; os_error has the errno */
    LEAT_E_NO_FILE = 21,    /* a file that is needed does not exist */
    LEAT_E_EXISTS = 22,     /* the dataset to be written exists already */
    LEAT_E_NO_SPACE = 23,   /* the disk or quota is full */
    LEAT_E_PERMISSION = 24, /* the system does not allow it */
    LEAT_E_BUSY = 25,       /* another process is writing this dataset now */
    LEAT_E_DEVICE = 26,     /* the GPU or its driver has failed */

    LEAT_E_NOT_LEAT = 30,  /* the index does not begin with leat's magic */
    LEAT_E_VERSION = 31,   /* an index of a format version this library does not know */
    LEAT_E_FEATURE = 32,   /* the index needs a feature this library does not know */
    LEAT_E_TRUNCATED = 33, /* a file is shorter or longer than the index says */
    LEAT_E_CHECKSUM = 34,  /* bytes do not match their checksum: damage */
    LEAT_E_HEADER = 35,    /* a header field contradicts another or lies outside its range */
    LEAT_E_SECTION = 36,   /* the section table or a section's size contradicts the header */
    LEAT_E_DOCUMENTS = 37, /* document starts or the directory contradict each other */
    LEAT_E_RECORD = 38,    /* an input, origin, tokenizer or metadata record makes no sense */
    LEAT_E_TOKEN = 39,     /* a token id is not below the vocabulary size, or a document lacks its end token */
    LEAT_E_MISMATCH = 40,  /* NAME.tokens and NAME.leat are not from the same run */

    LEAT_E_INCOMPATIBLE = 50, /* datasets of one list or merge differ in tokenizer, width or end token */
    LEAT_E_CHECKPOINT = 51,   /* there is no checkpoint to resume, or it does not fit what is asked or on disk */
    LEAT_E_STATE = 52,        /* the call comes at the wrong moment (a document is open, all slots are held, ...) */
    LEAT_E_END = 53,          /* the plan has ended: there is no further batch */
    LEAT_E_AGAIN = 54,        /* no batch is ready at this moment */
    LEAT_E_STOPPED = 55,      /* the caller's progress function has stopped the work */
    LEAT_E_FORKED = 56,       /* the writer or loader belongs to the parent of this process */

    LEAT_E_VOCABULARY = 60, /* a tokenizer's file is broken, or contradicts itself */
    LEAT_E_TEXT = 61,       /* a text cannot be encoded: it is malformed, or takes too many steps */
    LEAT_E_PIECE = 62,      /* a stretch of text that cannot be cut needs more memory than allowed */
    LEAT_E_REJECTS = 63     /* more records were refused than allowed */
};

/*
 * What the caller could change after a failure. `message` names the thing ("choose another name or replace it"), which
 * is written differently in C, Python and the command: each of these appends its own words for the hint. In C:
 */
enum leat_hint {
    LEAT_HINT_NONE = 0,
    LEAT_HINT_REPLACE = 1,           /* `force` in the options */
    LEAT_HINT_RESUME = 2,            /* `resume` in the options, or leat_writer_resume() */
    LEAT_HINT_RESUME_OR_REPLACE = 3, /* one of these two */
    LEAT_HINT_PATTERN = 4,           /* `pattern` in struct leat_tokenizer_options */
    LEAT_HINT_FORMAT = 5,            /* `format` in struct leat_pack_options */
    LEAT_HINT_PACK = 6,              /* leat_pack() */
    LEAT_HINT_MERGE = 7,             /* leat_merge() */
    LEAT_HINT_READ = 8,              /* leat_dataset_read(), or LEAT_ACCESS_TRUSTED */
    LEAT_HINT_INPUTS = 9,            /* leat_dataset_input() */
    LEAT_HINT_MEMORY = 10            /* `memory` in the options */
};

/* The caller's own; filled on failure. */
struct leat_error {
    enum leat_status status;
    int os_error;       /* errno of the failed system call, else 0 */
    uint64_t offset;    /* byte offset in the file that `message` names, else LEAT_NONE */
    char message[1020]; /* one sentence or two, without a final newline */
    uint32_t hint;      /* enum leat_hint */
};

/* A short lower-case name of a status ("truncated"); "unknown" for a number that is none. Static memory. */
LEAT_API const char *leat_status_name(enum leat_status status);

/* LEAT_VERSION of the library that was loaded. Static memory. */
LEAT_API const char *leat_version(void);

/* LEAT_VERSION_NUMBER of the library that was loaded. */
LEAT_API uint32_t leat_version_number(void);

/* ---- Opening a dataset ------------------------------------------------------------------------------------------ */

struct leat_dataset;

/*
 * How the bytes of an open dataset are read. The difference shows when somebody truncates or overwrites a file under
 * the running program.
 */
enum leat_access {
    /*
     * Default. Map a file where the kernel grants a read lease on it (the file is ours and nobody writes it) and it
     * lies on this machine, else read it. Whoever then wants to truncate the file or open it for writing is made to
     * wait until the next access here notices, unmaps the file and gives the lease back; from then on the file is
     * read, and shrinking is an error from the call. (The kernel also announces it by SIGURG, which is ignored unless
     * the program handles it.) What remains: the kernel takes the lease away after /proc/sys/fs/lease-break-time
     * (45 s), so a thread that is stopped longer than that inside a call, or a view that is kept longer, can meet
     * SIGBUS; so can a disk that fails to deliver a page.
     */
    LEAT_ACCESS_LEASED = 0,
    /* Map without a lease: the caller promises that nobody changes the files. If somebody does: SIGBUS, or wrong
     * tokens. For files that belong to another user, where no lease can be had. */
    LEAT_ACCESS_TRUSTED = 1,
    /* Never map. Slower for tokens that are in memory already, and safe without any condition. */
    LEAT_ACCESS_READ = 2
};

struct leat_open_options {
    size_t size;
    enum leat_access access;
    uint32_t reserved; /* 0 */
};
#define LEAT_OPEN_OPTIONS_INIT { sizeof(struct leat_open_options), LEAT_ACCESS_LEASED, 0 }

/*
 * Opens one dataset, or a list of them joined end to end. `name` is NAME, NAME.leat or NAME.tokens; or a folder, which
 * means every *.leat in it, in the order of their NAMEs as bytes (not NAME.partial.leat, which is not finished, and no
 * hidden one); or @FILE, which names one dataset a line (blank lines
 * and lines that begin with # are skipped, relative names count from the folder of FILE). Where both a folder NAME and
 * NAME.leat are there, NAME is the dataset, and NAME/ the folder. Documents, tokens and inputs
 * of a list are numbered through; the datasets of a list must agree in vocabulary, tokenizer and end token.
 *
 * Checks the header, the section table, the sizes of both files and the hash of the first and last page of tokens:
 * work that does not grow with the dataset. The rest is checked by leat_dataset_verify() or the range form of it;
 * every number read from the index is checked before it is used, so a damaged index gives errors, not crashes.
 *
 * On success *out is the caller's until leat_dataset_close(). On failure *out is NULL and nothing stays open. `name`
 * and `options` (NULL: the defaults) are not kept. Two file descriptors a dataset stay open.
 * Returns LEAT_E_NO_FILE, _PERMISSION, _IO, _NO_MEMORY, _NOT_LEAT, _VERSION, _FEATURE, _TRUNCATED, _CHECKSUM, _HEADER,
 * _SECTION, _DOCUMENTS, _MISMATCH, _INCOMPATIBLE or _ARGUMENT (an empty or unfinished name, a list that is none).
 */
LEAT_API enum leat_status leat_dataset_open(struct leat_dataset **out, const char *name,
                                            const struct leat_open_options *options, struct leat_error *err);

/* The same of several names, each as above, joined in the order given. The names are not kept. */
LEAT_API enum leat_status leat_dataset_open_list(struct leat_dataset **out, const char *const *names, uint64_t count,
                                                 const struct leat_open_options *options, struct leat_error *err);

/* Closes and frees. NULL is fine. Views must have been released; no other thread may be inside a call. */
LEAT_API void leat_dataset_close(struct leat_dataset *d);

/* ---- Facts ------------------------------------------------------------------------------------------------------ */

struct leat_info {
    size_t size;
    uint64_t tokens;
    uint64_t documents;      /* LEAT_NONE: not known, as every call that needs them says (LEAT_E_NOT_FOUND) */
    uint64_t inputs;
    uint64_t parts;          /* datasets in the list; 1 for a single one */
    uint64_t vocabulary;     /* every id is below it */
    uint64_t end_token;      /* after each document; LEAT_NONE: none */
    uint64_t begin_token;    /* before each document; LEAT_NONE: none */
    uint64_t token_bytes;    /* total size of the token files */
    uint64_t index_bytes;    /* total size of the index files */
    uint64_t created;        /* seconds since 1970; 0: not recorded (the rule) */
    uint32_t token_width;    /* 2 or 4 */
    uint32_t format_version; /* of the index; the newest of a list */
    uint32_t stores_lines;   /* 1 if documents have line numbers (in one dataset of a list at least) */
    uint32_t stores_ids;     /* 1 if documents have id strings; likewise */
    uint8_t identity[16];    /* hash of the content: tokens, documents, vocabulary, tokenizer; not of names or times */
    uint8_t fingerprint[16]; /* of the tokenizer */
    uint32_t stores_hashes;  /* 1 if documents have hashes of their texts; as stores_lines */
    uint32_t reserved;       /* 0 */
};
#define LEAT_INFO_INIT { sizeof(struct leat_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, 0 }

LEAT_API void leat_dataset_info(const struct leat_dataset *d, struct leat_info *info);

/* One dataset of a list. */
struct leat_part {
    size_t size;
    const char *name;        /* NAME, without .leat; the dataset's, until it is closed */
    uint64_t first_token;    /* where its tokens begin in the list */
    uint64_t tokens;
    uint64_t first_document;
    uint64_t documents; /* LEAT_NONE: not known */
    uint64_t first_input;
    uint64_t inputs;
    uint8_t identity[16];
};
#define LEAT_PART_INIT { sizeof(struct leat_part), NULL, 0, 0, 0, 0, 0, 0, { 0 } }

/* Part `number`, below info.parts. LEAT_E_RANGE otherwise. */
LEAT_API enum leat_status leat_dataset_part(const struct leat_dataset *d, uint64_t number, struct leat_part *part,
                                            struct leat_error *err);

/* ---- Tokens ----------------------------------------------------------------------------------------------------- */

/*
 * Copies `count` tokens from position `first` to `out`: in the stored width (info.token_width) and this machine's byte
 * order, or widened to 32 bits. Crosses documents and the datasets of a list. Does not check hashes.
 * Returns LEAT_E_RANGE, _TRUNCATED (the file has shrunk since it was opened) or _IO; `out` is then undefined.
 */
LEAT_API enum leat_status leat_dataset_read(const struct leat_dataset *d, uint64_t first, uint64_t count, void *out,
                                            struct leat_error *err);
LEAT_API enum leat_status leat_dataset_read_u32(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                uint32_t *out, struct leat_error *err);

/* Tokens in place, no byte copied. */
struct leat_view {
    const void *tokens; /* stored width, little-endian; read only */
    uint64_t count;
    void *hold; /* the library's */
};

/*
 * Points at `count` tokens from position `first`, which must lie in one dataset of a list. The memory is valid until
 * leat_view_release(), which must come before leat_dataset_close(). While a view is held, a lease on the file cannot
 * be given back (see LEAT_ACCESS_LEASED): keep views short, or trust the files.
 * Returns LEAT_E_RANGE; LEAT_E_NOT_MAPPED where the file is read instead of mapped (use leat_dataset_read(), or
 * LEAT_ACCESS_TRUSTED) or its tokens begin at no multiple of their width; LEAT_E_UNSUPPORTED on a big-endian machine.
 */
LEAT_API enum leat_status leat_dataset_view(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                            struct leat_view *view, struct leat_error *err);
LEAT_API void leat_view_release(struct leat_view *view);

/* ---- Documents -------------------------------------------------------------------------------------------------- */

/* Where document `number` lies: its first position and its tokens, begin and end token included. LEAT_E_RANGE. */
LEAT_API enum leat_status leat_dataset_document(const struct leat_dataset *d, uint64_t number, uint64_t *first,
                                                uint64_t *count, struct leat_error *err);

/*
 * The starts of `count` documents from `number` on, into starts[0..count). Number info.documents may be asked too: its
 * start is info.tokens. For many documents at once: one read instead of many.
 */
LEAT_API enum leat_status leat_dataset_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
                                              uint64_t *starts, struct leat_error *err);

/*
 * The documents that have a token in [first, first + count), count > 0: the first one's number, and how many up to the
 * last one's (documents without a token that lie between them are counted). The number of reads does not depend on
 * the number of documents in the dataset. Returns LEAT_E_RANGE, _DOCUMENTS, _TRUNCATED or _IO.
 */
LEAT_API enum leat_status leat_dataset_documents_in(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                    uint64_t *document, uint64_t *documents, struct leat_error *err);

/* ---- Where documents came from ---------------------------------------------------------------------------------- */

struct leat_input {
    size_t size;
    uint64_t path_bytes; /* length of its path */
    uint64_t bytes;      /* of the input as it lay on disk */
    uint64_t documents;  /* taken from it */
    uint64_t tokens;     /* of these documents, begin and end tokens included */
    uint64_t rejects;    /* records that were refused */
    uint8_t hash[16];    /* of the input's bytes: FORMAT.md, "page sum"; all zero: not recorded */
};
#define LEAT_INPUT_INIT { sizeof(struct leat_input), 0, 0, 0, 0, 0, { 0 } }

LEAT_API enum leat_status leat_dataset_input(const struct leat_dataset *d, uint64_t number, struct leat_input *input,
                                             struct leat_error *err);

/*
 * Copies at most capacity - 1 bytes of a string of the index to `text` and a NUL after them, and sets *bytes to its
 * whole length, so that a second call can make room. The string may hold any byte. capacity 0: only the length.
 */
LEAT_API enum leat_status leat_dataset_input_path(const struct leat_dataset *d, uint64_t number, char *text,
                                                  uint64_t capacity, uint64_t *bytes, struct leat_error *err);
LEAT_API enum leat_status leat_dataset_id(const struct leat_dataset *d, uint64_t document, char *text,
                                          uint64_t capacity, uint64_t *bytes, struct leat_error *err);

struct leat_origin {
    uint64_t input;    /* LEAT_NONE: not from an input */
    uint64_t offset;   /* byte offset of the record in the (decompressed) input */
    uint64_t line;     /* counting from 1; LEAT_NONE: not stored */
    const char *id;    /* writing: the document's id or NULL. Reading: always NULL, see leat_dataset_id() */
    uint64_t id_bytes; /* 0: no id */
    const uint8_t *text_hash; /* writing: 16 bytes or NULL. Reading: always NULL, see leat_dataset_text_hash() */
};

LEAT_API enum leat_status leat_dataset_origin(const struct leat_dataset *d, uint64_t document,
                                              struct leat_origin *origin, struct leat_error *err);

/* The same of `count` documents from `first` on, into origins[0..count). For many documents at once: a read instead of
 * one each. */
LEAT_API enum leat_status leat_dataset_origins(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                               struct leat_origin *origins, struct leat_error *err);

/*
 * The ids of `count` documents from `first` on, one after another without anything between them: *bytes is set to the
 * length of all (each one's is in its origin), and if it is at most `capacity`, they are copied to `text`. No NUL is
 * put after them.
 */
LEAT_API enum leat_status leat_dataset_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, char *text,
                                           uint64_t capacity, uint64_t *bytes, struct leat_error *err);

/*
 * The XXH3-128 of a document's text as it was encoded, low half first, each little-endian; all zero: none is known.
 * For one document, or for `count` from `first` on, into hashes[0..count).
 * LEAT_E_NOT_FOUND: the dataset, or the one of a list that has a document asked for, has no text hashes stored.
 */
LEAT_API enum leat_status leat_dataset_text_hash(const struct leat_dataset *d, uint64_t document, uint8_t hash[16],
                                                 struct leat_error *err);
LEAT_API enum leat_status leat_dataset_text_hashes(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                   uint8_t (*hashes)[16], struct leat_error *err);

/*
 * The inverse: the input with this path (the first one, if several); the document whose record holds this byte of this
 * input (the last one that begins at or before it); the first document with this id. LEAT_E_NOT_FOUND if there is
 * none. By id, and by origin in a shuffled dataset, is a scan over all documents.
 */
LEAT_API enum leat_status leat_dataset_find_input(const struct leat_dataset *d, const char *path, uint64_t *input,
                                                  struct leat_error *err);
LEAT_API enum leat_status leat_dataset_find_origin(const struct leat_dataset *d, uint64_t input, uint64_t offset,
                                                   uint64_t *document, struct leat_error *err);
LEAT_API enum leat_status leat_dataset_find_id(const struct leat_dataset *d, const char *id, uint64_t id_bytes,
                                               uint64_t *document, struct leat_error *err);

/* ---- What is stored besides ------------------------------------------------------------------------------------- */

/* The tokenizer, as it is kept in the index so that text can be shown on any machine. */
struct leat_stored_tokenizer {
    const char *name;    /* a built-in's name ("gpt2"), or the file's name without its folder; never NULL */
    const char *pattern; /* the pattern's name, where the file does not tell it; else "" */
    const void *file;    /* the file's bytes as they were given; NULL: a built-in */
    uint64_t file_bytes;
};

/* On success *tokenizer is one allocation, the caller's, freed by leat_stored_tokenizer_free() (NULL is fine).
 * LEAT_E_NOT_FOUND: the dataset has no tokenizer stored. The first dataset's of a list. */
LEAT_API enum leat_status leat_dataset_tokenizer(const struct leat_dataset *d,
                                                 struct leat_stored_tokenizer **tokenizer, struct leat_error *err);
LEAT_API void leat_stored_tokenizer_free(struct leat_stored_tokenizer *tokenizer);

/* User metadata: text pairs, sorted by key as bytes. Both end in a NUL that the lengths do not count. */
struct leat_metadata_pair {
    const char *key;
    const char *value;
    uint64_t key_bytes;
    uint64_t value_bytes;
};
struct leat_metadata {
    uint64_t count;
    const struct leat_metadata_pair *pairs;
};

/* On success *metadata is one allocation, the caller's, freed by leat_metadata_free(). Of one part of a list. */
LEAT_API enum leat_status leat_dataset_metadata(const struct leat_dataset *d, uint64_t part,
                                                struct leat_metadata **metadata, struct leat_error *err);
LEAT_API void leat_metadata_free(struct leat_metadata *metadata);

/* ---- Verifying -------------------------------------------------------------------------------------------------- */

/*
 * Checks the hash of every 4 KiB page that the tokens [first, first + count) touch.
 * Returns LEAT_E_CHECKSUM with the page and its documents named in `err`.
 */
LEAT_API enum leat_status leat_dataset_verify_range(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                    struct leat_error *err);

struct leat_verify_options {
    size_t size;
    uint32_t threads; /* 0: as many as the process may run on */
    uint32_t reserved; /* 0 */
    /* If not NULL: called now and then, from one thread at a time, with the bytes done; nonzero stops the work, and
     * leat_dataset_verify() returns LEAT_E_STOPPED. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_VERIFY_OPTIONS_INIT { sizeof(struct leat_verify_options), 0, 0, NULL, NULL }

struct leat_verify_report {
    size_t size;
    uint64_t bytes;           /* checked, of both files */
    uint64_t damaged_pages;   /* 4 KiB pages of token files whose hash is wrong */
    uint64_t damaged_others;  /* sections, records and rules found broken; each counts once */
    uint64_t part;            /* of the first damaged page; LEAT_NONE: no page is damaged */
    uint64_t page;            /* its number in that part's token file */
    uint64_t first_document;  /* the documents in it, numbered as in the list; LEAT_NONE: not known */
    uint64_t documents;
};
#define LEAT_VERIFY_REPORT_INIT { sizeof(struct leat_verify_report), 0, 0, 0, 0, 0, 0, 0 }

/*
 * Checks everything: every checksum, every document start, the directory, every id below the vocabulary size, the end
 * and begin tokens, and every record. Reads both files once, in large pieces, with `options->threads` threads; memory
 * is about 3 MiB a thread. Goes on after the first damage, to count it. `report` may be NULL.
 * Returns LEAT_OK if nothing is wrong, else the first damage (_CHECKSUM, _DOCUMENTS, _TOKEN, _RECORD, ...), or _IO.
 */
LEAT_API enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                              struct leat_verify_report *report, struct leat_error *err);

/* ---- The order of samples --------------------------------------------------------------------------------------- */

/*
 * A plan says which tokens sample n is: a pure function of the plan and n, without a stored permutation, so that
 * opening is quick, any n can be asked at once, and the inverse exists: where was this document seen? docs/ORDER.md
 * has the rules and how to compute them elsewhere; each has a version that never changes.
 *
 * A *source* is a dataset or a list of them. It is cut into *blocks* of base_len tokens (each dataset of a list on its
 * own; what is left at its end is dropped), which are shown in a new order in each of the source's epochs, each once.
 * A sample is a *window*: a block, or a slice of it where seq_len is shorter; seq_len + 1 tokens are read, since the
 * last input's label is the token after it. Sources take turns by their weights, exactly: after k samples each has had
 * its share of them to within 1.5.
 *
 * Samples are *numbered* n = 0, 1, 2, ... for good. Where some are skipped, the *position* p counts those that are
 * shown. A batch is consecutive positions: batch size and world size are not part of a plan, and may change at any
 * step.
 *
 * So much for windows. In the orders of documents a sample is a whole document, its begin and end token included, cut
 * after seq_len + 1 tokens. Sample n is document P(n mod D) of the plan's D documents, all sources joined, where P is
 * the permutation for the plan's seed, source 2^32 - 1 and epoch n div D (in sequential order P(i) = i); a plan with
 * `epochs` ends after so many passes. With a split, its documents are those that begin in the used range. Weights and
 * the limits of single sources do not count; phases are refused.
 *
 *   Threads     an open plan never changes: share it freely.  Fork: fine, as for datasets.
 */
struct leat_plan;

#define LEAT_MAX_SAMPLES ((uint64_t)1 << 60) /* samples are numbered below it */

enum leat_order {
    LEAT_ORDER_SHUFFLED = 0,            /* windows, each epoch in a new order */
    LEAT_ORDER_SEQUENTIAL = 1,          /* windows, each epoch in the order of the files */
    LEAT_ORDER_DOCUMENTS = 2,           /* whole documents, one per row, for fine-tuning; each epoch in a new order */
    LEAT_ORDER_DOCUMENTS_SEQUENTIAL = 3 /* the same in the order of the files */
};

/* An order's name in the text of a plan ("shuffled"); NULL for a number that is not an order. Numbers have no gaps. */
LEAT_API const char *leat_order_name(enum leat_order order);

struct leat_plan_source {
    size_t size;
    const char *name;    /* NAME, a folder or @FILE, as of leat_dataset_open(); no newline in it */
    const char *weight;  /* a decimal, read exactly ("0.3", "1e-9"); NULL: 1. 0: not before a phase gives it one */
    uint64_t epochs;     /* at most so many passes; then the others share its weight. 0: no limit */
    const struct leat_dataset *dataset; /* open already, and open until the plan is closed; NULL: opened by name */
};
#define LEAT_PLAN_SOURCE_INIT { sizeof(struct leat_plan_source), NULL, NULL, 0, NULL }

/* A change from sample `begin` on. The samples before it do not depend on it. */
struct leat_plan_phase {
    size_t size;
    uint64_t begin;      /* after the phase before. Where that one shows slices of blocks: a multiple of 16 blocks on */
    const char *weights; /* decimals in the order of the sources, separated by commas; 0 for sources not named */
    uint64_t seq_len;    /* a divisor of base_len; 0: as before */
};
#define LEAT_PLAN_PHASE_INIT { sizeof(struct leat_plan_phase), 0, NULL, 0 }

/* Samples [first, end). */
struct leat_plan_range {
    uint64_t first, end;
};

struct leat_plan_options {
    size_t size;
    const struct leat_plan_source *sources; /* elements as large as the first one's size says; likewise phases */
    uint64_t source_count;                  /* 1 to 65536 */
    uint64_t seq_len;                       /* tokens of a sample, 1 to 2^30 */
    uint64_t base_len;                      /* tokens of a block, a multiple of every seq_len; 0: seq_len */
    uint64_t seed;
    const char *split; /* "train=0.99,valid=0.01": contiguous parts of each dataset; NULL: none */
    const char *use;   /* the part that is used */
    const struct leat_plan_phase *phases; /* rising; the first begins after sample 0 */
    uint64_t phase_count;
    const struct leat_plan_range *skips; /* samples that are not shown, in any order, disjoint */
    uint64_t skip_count;
    enum leat_order order;
    uint32_t reserved; /* 0 */
    uint64_t epochs; /* a finite pass: no source is passed more often; the plan ends when all are spent. 0: no end */
    const struct leat_open_options *open; /* for datasets that are opened by name; NULL: the defaults */
};
#define LEAT_PLAN_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_plan_options), NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, LEAT_ORDER_SHUFFLED, 0, 0,     \
      NULL }

/*
 * Opens a plan and its datasets, which must agree in vocabulary, tokenizer and end token (LEAT_E_INCOMPATIBLE).
 * On success *out is the caller's until leat_plan_close(). Nothing but `dataset` of the sources is kept. Writes no
 * file. Takes about what opening the datasets takes, and some 20 us for each phase of 20 sources.
 * Returns LEAT_E_ARGUMENT (what makes no sense, with the remedy: a source without a whole block, a begin that cuts
 * blocks, weights whose sum is beyond 2^48 as integers, ...), _NO_MEMORY, _INCOMPATIBLE, or as leat_dataset_open().
 */
LEAT_API enum leat_status leat_plan_open(struct leat_plan **out, const struct leat_plan_options *options,
                                         struct leat_error *err);

/*
 * The same from a plan's text (docs/ORDER.md, "Plan text"), as leat_plan_text() gives it. `label` names it in messages,
 * which have the line, as in "run7.plan, line 3"; NULL: the lines came from a command line (the first line of a plan's
 * text is then not wanted), and messages name options ("--source"). `open` may be NULL.
 */
LEAT_API enum leat_status leat_plan_parse(struct leat_plan **out, const char *text, uint64_t bytes, const char *label,
                                          const struct leat_open_options *open, struct leat_error *err);

/*
 * The same sources, seed, split and limit of epochs in another order, with rows of seq_len (0: that of the plan's first
 * phase): whole documents in place of windows, say. Phases and skips are left out, since they number samples. `plan`
 * has to stay open until *out is closed. Returns as leat_plan_open().
 */
LEAT_API enum leat_status leat_plan_reorder(struct leat_plan **out, const struct leat_plan *plan, enum leat_order order,
                                            uint64_t seq_len, struct leat_error *err);

/* Closes and frees, with the datasets that the plan opened. NULL is fine. */
LEAT_API void leat_plan_close(struct leat_plan *plan);

/*
 * Copies at most capacity - 1 bytes of the plan's text and a NUL, and sets *bytes to its whole length, so that a second
 * call can make room. The same plan has the same text, however it was given.
 */
LEAT_API enum leat_status leat_plan_text(const struct leat_plan *plan, char *text, uint64_t capacity, uint64_t *bytes,
                                         struct leat_error *err);

struct leat_plan_info {
    size_t size;
    uint64_t sources;
    uint64_t phases;
    uint64_t samples;      /* numbered from 0; LEAT_NONE: without end (up to LEAT_MAX_SAMPLES) */
    uint64_t positions;    /* samples that are not skipped; LEAT_NONE likewise */
    uint64_t seed;
    uint64_t seq_len;      /* of the first phase */
    uint64_t max_seq_len; /* the longest of any phase */
    uint64_t base_len;
    uint32_t permutation_version, blend_version, split_version; /* of the rules */
    uint32_t token_width;  /* 2 or 4: the sources' */
    enum leat_order order;
    uint32_t reserved;     /* 0 */
};
#define LEAT_PLAN_INFO_INIT                                                                                            \
    { sizeof(struct leat_plan_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, LEAT_ORDER_SHUFFLED, 0 }

LEAT_API void leat_plan_info(const struct leat_plan *plan, struct leat_plan_info *info);

struct leat_plan_source_info {
    size_t size;
    const char *name;                   /* the plan's, until it is closed; likewise the dataset */
    const struct leat_dataset *dataset; /* to read the samples' tokens from */
    uint64_t blocks;                    /* an epoch shows each once; of orders of documents: documents */
    uint64_t tokens;                    /* of the part that is used */
    uint64_t dropped;                   /* of them at the ends of datasets, shown by no sample as an input */
    uint64_t weight;                    /* of the first phase, as an integer: weights have no common factor */
    uint64_t epochs;                    /* the limit; 0: none */
};
#define LEAT_PLAN_SOURCE_INFO_INIT { sizeof(struct leat_plan_source_info), NULL, NULL, 0, 0, 0, 0, 0 }

/* Source `number`, below info.sources. LEAT_E_RANGE otherwise. */
LEAT_API enum leat_status leat_plan_source_info(const struct leat_plan *plan, uint64_t number,
                                                struct leat_plan_source_info *info, struct leat_error *err);

/* One sample: a row of `length` inputs. Source, part, token and offset are those of its first piece. */
struct leat_sample {
    uint64_t number; /* n */
    uint64_t epoch;  /* of the source */
    uint64_t block;  /* of the source; of orders of documents: its document, likewise window */
    uint64_t window; /* of the source, counted in windows of this length: block * slices + slice */
    uint64_t token;  /* the first token's position in the source's dataset, as of leat_dataset_read() */
    uint64_t offset; /* the same in the token file of its part */
    uint32_t source;
    uint32_t part;   /* dataset of the source's list */
    uint32_t length; /* inputs */
    uint32_t slice;  /* of the block, in orders of windows */
    uint32_t tokens; /* of the row: length + 1, since the last input's label is the token after it; 0 of a document
                      * without tokens */
    uint32_t pieces; /* of the row; see leat_plan_pieces() */
};

/*
 * A piece of a row: `count` consecutive tokens of one dataset, of which the first stands at place `at` of the row. The
 * places from there to the next piece (or to the row's end) are the piece's. The label of a place is the token after it
 * in the same piece, or, where the piece has no further token, the first token of the next piece: so a piece of c
 * places has c tokens if the next piece goes on with its last label, and c + 1 if it brings that itself, as the last
 * piece does.
 */
struct leat_piece {
    uint64_t token;    /* the first token's position in the source's dataset */
    uint64_t offset;   /* the same in the token file of its part */
    uint64_t document; /* that it is of, numbered in the source's dataset; LEAT_NONE: not looked up, as for windows */
    uint32_t source;
    uint32_t part;     /* dataset of the source's list */
    uint32_t count;    /* tokens; 0 of a document without tokens */
    uint32_t at;       /* place in the row */
};

/*
 * Samples of positions [first, first + count) into samples[]. *got (not NULL) is how many there are: fewer than
 * `count` only where the plan ends. 10 to 60 ns a sample and no file is read; many at once are quicker than one by one.
 */
LEAT_API enum leat_status leat_plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count,
                                            struct leat_sample *samples, uint64_t *got, struct leat_error *err);

/* Sample n, skipped or not. LEAT_E_RANGE where the plan has ended. */
LEAT_API enum leat_status leat_plan_sample(const struct leat_plan *plan, uint64_t number, struct leat_sample *sample,
                                           struct leat_error *err);

/*
 * The pieces of sample n, in the order of its row: at most `room` of them into pieces[]; *count (not NULL) is how many
 * it has, so that a second call can make room. LEAT_E_RANGE where the plan has ended.
 */
LEAT_API enum leat_status leat_plan_pieces(const struct leat_plan *plan, uint64_t number, struct leat_piece *pieces,
                                           uint64_t room, uint64_t *count, struct leat_error *err);

/* From a position to its sample's number; and back, which for a skipped one is the position of the next that is shown
 * (*skipped, which may be NULL, tells). Positions beyond the plan's end are counted on. */
LEAT_API uint64_t leat_plan_number(const struct leat_plan *plan, uint64_t position);
LEAT_API uint64_t leat_plan_position(const struct leat_plan *plan, uint64_t number, int *skipped);

/* The rows of a global batch that belong to a rank: rows [*first, *first + *count) of each. LEAT_E_ARGUMENT where
 * `batch` is no multiple of `world`, or rank not below it. The order of samples never depends on it. */
LEAT_API enum leat_status leat_plan_rank_rows(uint64_t batch, uint64_t rank, uint64_t world, uint64_t *first,
                                              uint64_t *count, struct leat_error *err);

/* ---- The way back: which samples show this ---- */

/* Called with each sample; nonzero ends the search, and the call returns LEAT_OK. */
typedef int leat_plan_found(void *context, const struct leat_sample *sample);

/*
 * Samples that show a token of [first, first + count) of a source's dataset as an input, in epochs [0, epochs), and
 * numbered below `until` (either may be LEAT_NONE, but not both of a plan without end: LEAT_E_ARGUMENT). Skipped ones
 * come too: leat_plan_position() tells. In no particular order. Some 200 ns a block of these tokens and epoch, or 50 ns
 * a sample below `until`, whichever is less; no file is read. For the documents that a sample shows,
 * leat_dataset_documents_in(sample->token, sample->length) of its source's dataset. Returns LEAT_E_RANGE for a source
 * or tokens that are not there.
 */
LEAT_API enum leat_status leat_plan_trace(const struct leat_plan *plan, uint64_t source, uint64_t first, uint64_t count,
                                          uint64_t epochs, uint64_t until, leat_plan_found *found, void *context,
                                          struct leat_error *err);

/* ---- Where a run stands ---- */

#define LEAT_PLAN_STATE_BYTES 4096 /* room for any state, with its NUL */

struct leat_plan_state {
    size_t size;
    uint64_t position; /* samples shown so far: the next one's position */
    uint64_t damaged;  /* of them, those whose tokens were damaged and masked; the caller's count */
    uint64_t skipped;  /* samples left out so far; set by leat_plan_state_load() */
};
#define LEAT_PLAN_STATE_INIT { sizeof(struct leat_plan_state), 0, 0, 0 }

/* The state as text, to be saved with a checkpoint: the position, and fingerprints of all that led there. */
LEAT_API enum leat_status leat_plan_state_save(const struct leat_plan *plan, const struct leat_plan_state *state,
                                               char text[LEAT_PLAN_STATE_BYTES], struct leat_error *err);

/*
 * Reads a state's text and checks that this plan has the same past: the same rules, seed, base length, sources and
 * phases up to the position, and the same skips before it. Later phases and skips may differ. Returns
 * LEAT_E_CHECKPOINT with the first difference named, or with what is wrong with the text.
 */
LEAT_API enum leat_status leat_plan_state_load(const struct leat_plan *plan, const char *text, uint64_t bytes,
                                               struct leat_plan_state *state, struct leat_error *err);

/* ---- The loader: batches ---------------------------------------------------------------------------------------- */

/*
 * A loader takes a plan and gives its batches, one after another, from a ring of slots that one background thread keeps
 * full: 8 of them, fewer where memory is short, up to 64 where batches are small. No worker processes, nothing copied
 * between processes.
 *
 *   struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
 *   o.batch = 256; o.rank = rank; o.world = world;
 *   leat_loader_open(&loader, plan, &o, &err);
 *   while (leat_loader_next(loader, &batch, &err) == LEAT_OK) {
 *       struct leat_outputs out = LEAT_OUTPUTS_INIT;
 *       out.inputs = my_inputs; out.labels = my_labels;                       (int64, rows x length each)
 *       leat_batch_write(batch, &out, NULL, &err);
 *       leat_batch_release(batch, NULL);
 *       train_step(my_inputs, my_labels);
 *   }
 *
 * Batch k of a global batch of B rows shows positions [p + kB, p + (k+1)B) of the plan, where p is the position that
 * the loader begins at; rank r of w gets rows [r B/w, (r+1) B/w) of it. Nothing else decides what a batch holds: not
 * the engine, the slots or the timing. A batch is a slot of the ring: it is read, and then released; batches may be
 * held, and released in any order.
 *
 *   Threads     leat_loader_next(), _try_next() and leat_loader_close() belong to one thread at a time; batches may be
 *               written, borrowed and released by any thread; statistics may be asked by any.
 *   Fork        a loader stops at fork: in the child every call returns LEAT_E_FORKED, and close only frees.
 *
 * On a GPU
 *
 *   o.device = "cuda";                                                        (or "cuda:1", "cuda:GPU-1f2e...")
 *   ...
 *   out.inputs = my_inputs; out.labels = my_labels;                           (memory of the GPU)
 *   leat_batch_write(batch, &out, my_stream, &err);
 *   leat_batch_release(batch, my_stream);
 *   train_step(my_inputs, my_labels, my_stream);                              (may be the launch of a captured graph)
 *
 * Each batch goes to the GPU in one asynchronous copy as its slot is filled, tokens in their stored width; what was
 * asked for is made of it there. leat_batch_write() only puts that on the consumer's stream, behind the copy, and
 * returns: no call but those of opening and closing waits for the GPU. The members of struct leat_batch stay on the
 * host.
 *
 *   Device      "cuda": the one of the calling thread's current context, or the first. "cuda:N": the N-th that the
 *               process may use (CUDA_VISIBLE_DEVICES). "cuda:GPU-...", "cuda:MIG-...": by its UUID as nvidia-smi
 *               writes it, or a begin of it. Behind each, "@FILE" names another library than libcuda.so.1 for the
 *               driver: for tests. The primary context is used, as by the CUDA runtime and all that builds on it. Any
 *               number of loaders, on the same or on several GPUs. The driver must know CUDA 11.4, the GPU be of 2018
 *               (sm_75) or later.
 *   Streams     `stream` is a CUstream (cudaStream_t) of that context; NULL is the legacy default stream, as everywhere
 *               in CUDA. What was written is there for work that comes later on that stream, without any waiting.
 *               What is borrowed is released with the stream that has used it; after leat_batch_write() any will do.
 *   Memory      outputs are memory of that GPU, at multiples of number_bytes; at multiples of 16 they are written
 *               fastest.
 *   Graphs      a batch is another slot each time, so leat_batch_write() and _borrow() are no part of a graph: on a
 *               stream that is being captured they return LEAT_E_STATE. Capture the step that reads the buffers, and
 *               before each launch write the next batch to them, on the same stream. Captures of other streams, in
 *               any mode, are not disturbed by a loader that runs meanwhile; but open and close none while one is
 *               being captured. A borrowed batch that is released with a stream which is being captured ends the
 *               loader (LEAT_E_STATE). While a stream is captured that was not made as non-blocking, all this holds
 *               of the default stream, too.
 *   Ring        in pinned memory, and as much again on the GPU; sized by what is free of both. Where less can be had
 *               there are fewer slots; where none can be pinned, it goes on without, slower. Statistics and notices
 *               say so.
 *   Failures    of the GPU are LEAT_E_DEVICE from leat_loader_next(), and stay; closing works all the same, and so does
 *               leaving a program without closing. After fork the child must not use CUDA at all if its parent did:
 *               there leat_loader_open() returns LEAT_E_UNSUPPORTED.
 */
struct leat_loader;

/* How tokens come from a file. All engines give the same bytes. */
enum leat_engine {
    LEAT_ENGINE_AUTO = 0,   /* by file: whether it is in memory, would fit, may be mapped; asked again while running */
    LEAT_ENGINE_MAP = 1,    /* copied from a map; a file that cannot be mapped (see enum leat_access) is read */
    LEAT_ENGINE_PREAD = 2,  /* a read call a row */
    LEAT_ENGINE_ADVISE = 3, /* the same, with the rows of all free slots announced to the kernel before */
    LEAT_ENGINE_URING = 4   /* io_uring, many reads in flight; where that is forbidden or not built in: advise */
};

/* What becomes of a row whose tokens cannot be read, or do not match their hash. */
enum leat_on_damage {
    LEAT_ON_DAMAGE_ERROR = 0, /* leat_loader_next() returns an error that names file, page and documents */
    LEAT_ON_DAMAGE_MASK = 1   /* the row keeps its place, filled with the end token, flagged, without loss; counted */
};

/* What becomes of the rows of the last global batch if the plan ends inside of it. */
enum leat_last_batch {
    LEAT_LAST_SHORT = 0,  /* there are fewer; a rank that has none is at the end */
    LEAT_LAST_PADDED = 1, /* missing rows are flagged, filled with the end token, without loss: ranks stay in step */
    LEAT_LAST_DROPPED = 2 /* the batch is left out */
};

/* What can be made of a batch; the names of bits in leat_loader_options.outputs. */
enum leat_output {
    LEAT_OUTPUT_INPUTS = 1,
    LEAT_OUTPUT_LABELS = 2,
    LEAT_OUTPUT_LOSS_MASK = 4,
    LEAT_OUTPUT_ATTENTION_MASK = 8,
    LEAT_OUTPUT_POSITION_IDS = 16, /* these three need to know where documents begin */
    LEAT_OUTPUT_DOCUMENT_IDS = 32,
    LEAT_OUTPUT_CU_SEQLENS = 64
};

/*
 * Whether the rows of a batch may lie apart in memory. Rows of files that are not in memory are then read to the pages
 * around their places by the disk itself, and not copied by the CPU on their way to the GPU, or to what is made of
 * them on the host. Such a batch has no `tokens`: leat_batch_row() finds its rows. It takes up to 8 KiB a row more in
 * the ring and on the way to the GPU; batches of files that are in memory do not change.
 */
enum leat_apart {
    LEAT_APART_AUTO = 0,   /* on a GPU, if rows take 8 KiB or more */
    LEAT_APART_ALWAYS = 1, /* on the host too */
    LEAT_APART_NEVER = 2   /* each batch has `tokens`, rows x width; by a copy */
};

struct leat_loader_options {
    size_t size;
    uint64_t batch;           /* rows of a global batch, of all ranks; must be given */
    uint64_t rank, world;     /* this process's rows; _INIT: rank 0 of 1 */
    uint64_t position;        /* to begin at */
    const char *state;        /* a state's text to begin at instead (leat_batch_state()); NULL: `position` counts */
    uint64_t state_bytes;
    enum leat_engine engine;
    enum leat_on_damage on_damage;
    enum leat_last_batch last;
    uint32_t threads;         /* 1: a background thread; 0: all work is done inside leat_loader_next(). _INIT: 1 */
    uint32_t verify;          /* 1: the hash of each page is checked when it is first read. _INIT: 1 */
    uint32_t slots;           /* of the ring, 2 to 64; 0: chosen */
    /* Bits of enum leat_output: what leat_batch_write() or _borrow() will be asked for. Only what needs documents must
     * be named, or anything that is to be borrowed. */
    uint32_t outputs;
    uint32_t borrow;          /* 1: slots have room for these outputs, and the loader's thread fills it */
    uint32_t nvtx;            /* 1: the thread's work is marked for NVIDIA's profilers, where that is built in */
    uint32_t number_bytes;    /* of borrowed outputs, with the next three: as in struct leat_outputs. _INIT: 8 */
    uint32_t unshifted;
    uint32_t mask_first;
    uint64_t cu_seqlens_room;
    uint64_t memory;          /* most bytes of the ring; 0: chosen from the memory at hand */
    const char *device;       /* "host"; NULL: the same; a GPU: see below */
    int32_t numa_node;        /* memory and thread are placed there if the system allows; -1: anywhere. _INIT: -1 */
    enum leat_apart apart;
};
#define LEAT_LOADER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_loader_options), 0, 0, 1, 0, NULL, 0, LEAT_ENGINE_AUTO, LEAT_ON_DAMAGE_ERROR,                 \
      LEAT_LAST_SHORT, 1, 1, 0, 0, 0, 0, 8, 0, 0, 0, 0, NULL, -1, LEAT_APART_AUTO }

/*
 * Opens a loader and starts its thread. The plan must stay open until leat_loader_close(); nothing of `options` is
 * kept.
 *
 * Of a plan of documents (enum leat_order) the rows that a rank has of a batch are sorted, longest first, and padded to
 * the longest.
 *
 * Returns LEAT_E_ARGUMENT (numbers that make no sense), _CHECKPOINT (a state of another plan), _NO_MEMORY (two slots do
 * not fit), _UNSUPPORTED (no such device here), _IO, _DEVICE, or what reading an index returns.
 */
LEAT_API enum leat_status leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                           const struct leat_loader_options *options, struct leat_error *err);

/* Stops and frees at any moment, batches that are not released included. NULL is fine. No other thread may be inside a
 * call. */
LEAT_API void leat_loader_close(struct leat_loader *loader);

/* Flags of a row. */
#define LEAT_ROW_DAMAGED 1u /* masked, see LEAT_ON_DAMAGE_MASK */
#define LEAT_ROW_PADDED  2u /* beyond the plan's end, see LEAT_LAST_PADDED */

/* A batch: the library's, to be read until it is released. New fields are added at the end. */
struct leat_batch {
    uint64_t number;            /* of the batches that this loader has given, from 0 */
    uint64_t position;          /* of the global batch's first row */
    uint64_t cursor;            /* position after this batch: where a run that is resumed after it begins */
    uint64_t damaged;           /* rows of this rank that were masked so far, in the state that was resumed and since */
    uint32_t rows;              /* of this rank */
    uint32_t length;            /* inputs of the longest row */
    uint32_t width;             /* tokens from one row's begin to the next in `tokens`: at least length + 1 */
    uint32_t token_width;       /* 2 or 4 */
    uint32_t sequences;         /* stretches of one document in all rows; 0: documents were not asked for */
    uint32_t max_seqlen;  /* in tokens; for variable-length attention */
    const void *tokens;         /* rows x width, stored width, little-endian; beyond a row's length + 1: the end token.
                                 * NULL: rows lie apart (enum leat_apart) */
    const uint32_t *lengths;    /* inputs of each row */
    const uint8_t *flags;       /* of each row */
    const struct leat_sample *samples; /* where each row comes from; all zero for a padded one */
    uint64_t damaged_rows;      /* in this batch */
};

/*
 * The next batch: waits for it where it is not ready. Returns LEAT_E_END after the last one; LEAT_E_STATE if all slots
 * are held by the caller (more than one can be held with more slots); or why no further batch can be had: _IO,
 * _TRUNCATED, _CHECKSUM, _DOCUMENTS, naming file, place and documents; _DEVICE. That error stays.
 */
LEAT_API enum leat_status leat_loader_next(struct leat_loader *loader, const struct leat_batch **batch,
                                           struct leat_error *err);

/* The same, waiting for at most `max_ns` nanoseconds: then LEAT_E_AGAIN. For programs that must look at something else
 * now and then (signals, say) while they wait. With `threads` 0 it works, and waits for the disk. */
LEAT_API enum leat_status leat_loader_next_within(struct leat_loader *loader, uint64_t max_ns,
                                                  const struct leat_batch **batch, struct leat_error *err);

/* The same without waiting: LEAT_E_AGAIN if no batch is ready. With `threads` 0 it works, and waits for the disk. */
LEAT_API enum leat_status leat_loader_try_next(struct leat_loader *loader, const struct leat_batch **batch,
                                               struct leat_error *err);

/* A descriptor for poll() and event loops: readable when a batch may be ready; then read 8 bytes from it, and call
 * leat_loader_try_next() until it returns LEAT_E_AGAIN. The loader's: closed with it. LEAT_E_UNSUPPORTED where there
 * are no such descriptors, or with `threads` 0. */
LEAT_API enum leat_status leat_loader_event_fd(struct leat_loader *loader, int *fd, struct leat_error *err);

/* A row's tokens on the host, stored width, little-endian: length + 1 of them, or one end token if it has none; at a
 * multiple of their width. NULL for a row that there is not. Valid until the batch is released. */
LEAT_API const void *leat_batch_row(const struct leat_batch *batch, uint32_t row);

/*
 * What is made of a batch, into memory of the caller (of the batch's device). NULL: not wanted. A row has `length`
 * numbers: inputs first, then padding. Numbers are signed, of number_bytes.
 */
struct leat_outputs {
    size_t size;
    uint32_t number_bytes; /* 8 or 4: of inputs, labels, positions and documents. _INIT: 8 */
    uint32_t unshifted;    /* 0: label i is token i + 1. 1: label i is token i, for models that shift by themselves */
    uint32_t mask_first;   /* 1: a document's first token is no label (needs documents) */
    uint32_t reserved;     /* 0 */
    uint64_t rows;         /* rows that there is room for; further ones are padding. 0: batch->rows */
    uint64_t length;       /* numbers of a row; 0: batch->length */
    void *inputs;
    void *labels;          /* -100 where there is no loss */
    uint8_t *loss_mask;    /* 1: this label counts; 0: padding, a damaged row, mask_first */
    uint8_t *attention_mask; /* 0: padding behind a shorter row. Rows that are nothing but padding have 1 */
    void *position_ids;    /* of a token in its document, counted from the begin of the document or of the row */
    void *document_ids;    /* 0 for the tokens of the row's first document, 1 for the next ... */
    int32_t *cu_seqlens;   /* 0, then where each stretch of one document ends in the rows one after another;
                            * the numbers that are left repeat the last one, which is rows * length */
    uint64_t cu_seqlens_room; /* how many numbers; batch->sequences + 1 are needed, and one more for each padded end */
};
#define LEAT_OUTPUTS_INIT { sizeof(struct leat_outputs), 8, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0 }

/*
 * Writes them. `stream` is the consumer's stream on a device, behind which the numbers are there (NULL: its default
 * stream); on the host it does not count, and they are there when the call returns. Returns LEAT_E_ARGUMENT (a length
 * below the batch's, documents are needed and were not asked for, ...), LEAT_E_STATE (a stream that is being
 * captured), LEAT_E_RANGE (cu_seqlens_room is too small; says what is needed), LEAT_E_DEVICE.
 */
LEAT_API enum leat_status leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                           void *stream, struct leat_error *err);

/* Points at the outputs that leat_loader_options.borrow asked for; valid until the batch is released. Sets all of
 * *outputs but its size. On a device they are there for work that comes later on `stream`; call it for each stream. */
LEAT_API enum leat_status leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                            struct leat_error *err);

/* Gives the slot back. On a device, what was borrowed from it may be used still by work that is on `stream` already
 * (NULL: the default stream), and by none on other streams, unless `stream` waits for it. Never waits, never fails. */
LEAT_API void leat_batch_release(const struct leat_batch *batch, void *stream);

/* The state of a run that has consumed this batch and all before it, to be saved with a checkpoint; all ranks of a run
 * have the same but for the count of damaged rows. As of leat_plan_state_save(). */
LEAT_API enum leat_status leat_batch_state(const struct leat_batch *batch, char text[LEAT_PLAN_STATE_BYTES],
                                           struct leat_error *err);

/* ---- What a loader has done ---- */

/* Durations in nanoseconds; the quantiles to within 1/16. */
struct leat_times {
    uint64_t count, mean, p50, p99, p999, max;
};

struct leat_loader_stats {
    size_t size;
    uint64_t batches, rows, tokens; /* given to the consumer */
    uint64_t bytes;                 /* of tokens gathered */
    uint64_t read_bytes;            /* asked of files, with what was read around windows */
    uint64_t reads, hits;           /* rows; of them, those that needed no disk as far as is known */
    uint64_t pages_verified;
    uint64_t rows_damaged;
    uint64_t warmed_bytes;          /* read ahead in sequence, in the background */
    struct leat_times next;         /* how long leat_loader_next() took */
    /* Where the time of the loader's thread (with `threads` 0: of the calls) went, in ns. */
    uint64_t order_ns, gather_ns, storage_ns, documents_ns, outputs_ns, copy_ns, slot_ns;
    uint64_t consumer_ns;           /* how long the consumer waited in leat_loader_next() */
    double waiting_share;           /* of the consumer's time, over the last 100 batches */
    double waiting_share_all;       /* since the first batch was asked for */
    uint64_t first_batch_ns;        /* from open to the first batch */
    uint64_t ring_bytes;
    uint32_t slots;
    uint32_t reads_in_flight;       /* the most there were */
    uint32_t huge_pages;            /* 1: asked for */
    uint32_t warming;               /* 1: at this moment */
    char engine[64];                /* in use: "map", or "map 3, uring 1" with the number of files */
    char device[64];                /* "host, avx2", "cuda:0, NVIDIA H100 80GB HBM3" */
    /* On a GPU: */
    uint64_t device_ring_bytes;     /* the ring there, with what is borrowed from it */
    double device_memory_used;      /* share in use when the ring was made, by whomever; above 0.8: a notice */
    uint32_t unpinned;              /* 1: the ring's memory could not be pinned */
    uint32_t slots_wanted;          /* more than `slots`: there was no memory for them */
    uint64_t copied_bytes;          /* of `bytes`, those that the CPU has copied from files to slots, by the loader or
                                     * in the kernel; the others were written there by the disk (enum leat_apart) */
    uint32_t unregistered;          /* 1: io_uring reads into memory that it looks up each time, since the limit of
                                     * locked memory (ulimit -l) is too low to register it: somewhat slower */
    uint32_t reserved;              /* 0 */
};
#define LEAT_LOADER_STATS_INIT                                                                                         \
    { sizeof(struct leat_loader_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0,    \
      0.0, 0.0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, 0.0, 0, 0, 0, 0, 0 }

LEAT_API void leat_loader_stats(const struct leat_loader *loader, struct leat_loader_stats *stats);

/* The same in one line for a log, without a newline, cut to `capacity` - 1 bytes. */
LEAT_API void leat_loader_stats_line(const struct leat_loader *loader, char *text, uint64_t capacity);

/*
 * What a person should know: that the consumer waits for batches, and why, and what can be done; that io_uring is
 * forbidden here; that a file is no longer mapped; that memory is short, on the GPU or to be pinned. Each is told
 * once: returns 1 and a sentence, or 0 if there is nothing new. Meant to be asked now and then, and printed.
 */
LEAT_API int leat_loader_notice(struct leat_loader *loader, char *text, uint64_t capacity);

/* ---- Writing a dataset ------------------------------------------------------------------------------------------ */

struct leat_writer;

struct leat_writer_options {
    size_t size;
    uint64_t vocabulary;  /* 1 to 2^32; decides the width: two bytes up to 65,536 entries, else four */
    uint64_t end_token;   /* appended to each document; LEAT_NONE: none. LEAT_WRITER_OPTIONS_INIT sets LEAT_NONE */
    uint64_t begin_token; /* put before each document; likewise */
    const struct leat_stored_tokenizer *tokenizer; /* kept in the index; NULL: none. Not kept by the call */
    const uint8_t *fingerprint; /* 16 bytes; NULL: a hash of the stored tokenizer */
    uint64_t created;           /* seconds since 1970; 0: not recorded, so that the same content has the same bytes */
    uint32_t force;             /* an existing dataset is replaced when this one is finished; else LEAT_E_EXISTS */
    uint32_t store_lines;       /* keep a line number for each document */
    uint32_t store_ids;         /* keep an id string for each document */
    uint32_t store_hashes;      /* keep a hash of each document's text */
};
#define LEAT_WRITER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_writer_options), 0, LEAT_NONE, LEAT_NONE, NULL, NULL, 0, 0, 0, 0, 0 }

/*
 * Begins a dataset `name` (NAME, NAME.leat or NAME.tokens; NAME must not end in a dot or in .partial). Until
 * leat_writer_finish() everything lies in files named NAME.partial.*, locked against a second writer; leftovers of a
 * killed run are removed, unless they hold a checkpoint and `force` is 0: then LEAT_E_EXISTS says so. The folder must
 * exist. Memory stays within about 20 MiB plus 100 bytes and the path of each input, however many documents come.
 * Returns LEAT_E_ARGUMENT, _EXISTS, _BUSY, _NO_FILE (the folder), _PERMISSION, _NO_SPACE, _IO or _NO_MEMORY.
 *
 * After a call fails with anything but LEAT_E_ARGUMENT, _STATE, or the LEAT_E_TOKEN of a whole document, the writer is
 * failed: every later call returns the same status, until it is ended by leat_writer_suspend() or
 * leat_writer_abandon().
 */
LEAT_API enum leat_status leat_writer_open(struct leat_writer **out, const char *name,
                                           const struct leat_writer_options *options, struct leat_error *err);

/* Declares an input and gives it the next number, which *number (may be NULL) is set to. `path` is stored as given. */
LEAT_API enum leat_status leat_writer_add_input(struct leat_writer *w, const char *path, uint64_t *number,
                                                struct leat_error *err);

/* What became known of an input. `input->documents`, `tokens` and `path_bytes` are ignored: the writer counts. */
LEAT_API enum leat_status leat_writer_set_input(struct leat_writer *w, uint64_t number, const struct leat_input *input,
                                                struct leat_error *err);

/*
 * Appends a whole document: its ids, between the begin and the end token of the options. A count of 0 is a document
 * too. `origin` may be NULL (from no input).
 * Returns LEAT_E_TOKEN for an id that is not below the vocabulary size; nothing of the document is then written.
 */
LEAT_API enum leat_status leat_writer_add_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);
LEAT_API enum leat_status leat_writer_add_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);

/* The same in pieces, for documents that do not fit in memory: any number of appends, then the end. An id out of range
 * makes the writer fail, since a part of the document is written. */
LEAT_API enum leat_status leat_writer_append_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                                 struct leat_error *err);
LEAT_API enum leat_status leat_writer_append_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                                 struct leat_error *err);
LEAT_API enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                                   struct leat_error *err);

/* Sets a pair of metadata; the same key again replaces its value; a NULL value removes it. Keys are not empty. */
LEAT_API enum leat_status leat_writer_set_metadata(struct leat_writer *w, const char *key, const char *value,
                                                   struct leat_error *err);

/* How far a writer is. */
LEAT_API uint64_t leat_writer_tokens(const struct leat_writer *w);
LEAT_API uint64_t leat_writer_documents(const struct leat_writer *w);

/*
 * Makes everything so far durable, and remembers it with `note` (the caller's own bytes: where he is in his inputs),
 * so that leat_writer_resume() can go on from here after any kind of end. Not while a document is open (LEAT_E_STATE).
 * If it fails, the checkpoint before it stays.
 */
LEAT_API enum leat_status leat_writer_checkpoint(struct leat_writer *w, const void *note, uint64_t note_bytes,
                                                 struct leat_error *err);

/*
 * Opens the writer at its last checkpoint; what was written after it is dropped. `options` must be the ones that the
 * run began with (LEAT_E_CHECKPOINT names the difference; `force` and `created` may differ). On success *note is the
 * checkpoint's note in one allocation, freed by leat_writer_free_note(), and *note_bytes its length; NULL: not wanted.
 * Returns LEAT_E_CHECKPOINT if there is none, LEAT_E_EXISTS if the run had finished all the same.
 */
LEAT_API enum leat_status leat_writer_resume(struct leat_writer **out, const char *name,
                                             const struct leat_writer_options *options, void **note,
                                             uint64_t *note_bytes, struct leat_error *err);
LEAT_API void leat_writer_free_note(void *note);

/*
 * Does all of leat_writer_finish() but giving the files their names: completes the index and makes both files durable,
 * so that nothing is left to fail for want of space. For several datasets that should be finished all or none. What
 * follows is leat_writer_finish(), or the end by suspend or abandon; other calls are LEAT_E_STATE.
 */
LEAT_API enum leat_status leat_writer_prepare(struct leat_writer *w, struct leat_error *err);

/*
 * Ends the writer: completes the index, makes both files durable and gives them their names, tokens first, index last,
 * so that at no moment anything opens that is not whole. `info` (may be NULL) is filled as by leat_dataset_info().
 * On success the writer is freed. On failure it is not, so that leat_writer_suspend() can keep the checkpoint, or
 * leat_writer_abandon() remove everything.
 */
LEAT_API enum leat_status leat_writer_finish(struct leat_writer *w, struct leat_info *info, struct leat_error *err);

/* Ends and frees the writer without finishing: keeps the last checkpoint for leat_writer_resume(); if there is none,
 * the same as abandon. NULL is fine. */
LEAT_API void leat_writer_suspend(struct leat_writer *w);

/* Ends and frees the writer and removes everything it wrote, checkpoint included. An older dataset of this name, which
 * was to be replaced, stays, unless leat_writer_finish() had come so far as to remove it. NULL is fine. */
LEAT_API void leat_writer_abandon(struct leat_writer *w);

#ifdef __cplusplus
}
#endif
#endif
