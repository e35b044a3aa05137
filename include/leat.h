/*
 * leat.h: the run-time library (libleat), and its manual.
 *
 * A dataset is two files. NAME.tokens holds the token ids, little-endian, two or four bytes each, document after
 * document, and nothing else. NAME.leat is its index: where each document starts and where it came from, a hash of
 * every 4 KiB of tokens, and the tokenizer. FORMAT.md describes both, byte by byte.
 *
 *   #include <inttypes.h>
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
 *       printf("%" PRIu64 " tokens in %" PRIu64 " documents\n", info.tokens, info.documents);
 *       if (info.tokens >= 8 && leat_dataset_read_u32(d, info.tokens - 8, 8, ids, &err) != LEAT_OK)
 *           fprintf(stderr, "%s\n", err.message);
 *       leat_dataset_close(d);
 *       return 0;
 *   }
 *
 * Read these rules and "Errors" first. Then, to read datasets: "Opening a dataset" to "Verifying"; to train: "The order
 * of samples" and "The loader"; to write datasets: "Writing a dataset", or, from text, leat_pack.h.
 *
 * Rules that hold everywhere
 *   Numbers     of tokens and documents are 64-bit and count from 0. A token's number is its place in the dataset.
 *   Errors      every call that can fail returns a status; LEAT_OK (0) is success. `err` may be NULL; if not, a failing
 *               call fills it with a sentence that names the file, the place and what to do. The library never prints,
 *               exits or aborts on bad input, installs no signal handler and keeps no global state.
 *   Out-values  are written only on success, except handles, which are set to NULL on failure.
 *   Structs     with an ..._INIT macro begin with their size, which the macro sets; a later version may add fields.
 *               If the caller's struct is older than the library, the fields that it lacks have the library's _INIT
 *               values, and nothing is written beyond its size. If it is newer, the fields that the library does not
 *               know are not written, and must be 0 in a struct that it reads (else LEAT_E_UNSUPPORTED). Other structs
 *               do not grow, except struct leat_batch, which only the library makes.
 *   Flags       are uint32_t, 0 or 1, in structs and out-values. A callback may return any nonzero value for 1.
 *   Pointers    must not be NULL unless a comment allows it. A NULL name or path is LEAT_E_ARGUMENT where it is a
 *               likely mistake.
 *   Folders     a relative name is one in the folder that is current when it is given. Writers, packers and open
 *               datasets keep to that folder when the process goes to another one (chdir).
 *   Threads     an open dataset never changes: any number of threads may use it at once. A writer belongs to one
 *               thread at a time.
 *   Fork        a child process may read a dataset that its parent opened, but not view a leased file of it
 *               (LEAT_E_NOT_MAPPED). It must not use its parent's writer.
 */
#ifndef LEAT_H
#define LEAT_H

#include <stddef.h>
#include <stdint.h>

/* LEAT_VERSION_NUMBER is for comparisons: 1,000,000 x major + 1,000 x minor + patch. */
#define LEAT_VERSION "0.2.0"
#define LEAT_VERSION_MAJOR  0
#define LEAT_VERSION_MINOR  2
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

/* A missing or unknown number: no end token, no line number stored, offset not known. */
#define LEAT_NONE UINT64_MAX

/* ---- Errors ---------------------------------------------------------------------------------------------------- */

/* The numbers never change their meaning. They are grouped by what the caller can do about them. */
enum leat_status {
    LEAT_OK = 0,

    LEAT_E_ARGUMENT = 10,    /* invalid arguments: a mistake in the program */
    LEAT_E_NO_MEMORY = 11,   /* an allocation failed */
    LEAT_E_RANGE = 12,       /* a token, document or other number is outside the dataset */
    LEAT_E_NOT_MAPPED = 13,  /* the file to view is read, not mapped; see leat_dataset_view() */
    LEAT_E_UNSUPPORTED = 14, /* this machine or build cannot do that */
    LEAT_E_NOT_FOUND = 15,   /* the dataset has no such document, id, input or origin, or does not store them */

    LEAT_E_IO = 20,         /* a system call failed; os_error has the errno */
    LEAT_E_NO_FILE = 21,    /* a required file does not exist */
    LEAT_E_EXISTS = 22,     /* the dataset to write already exists */
    LEAT_E_NO_SPACE = 23,   /* the disk or quota is full */
    LEAT_E_PERMISSION = 24, /* the system does not allow it */
    LEAT_E_BUSY = 25,       /* another process or writer writes this dataset, or the lock file was removed */
    LEAT_E_DEVICE = 26,     /* the GPU or its driver failed */

    LEAT_E_NOT_LEAT = 30,  /* the index does not begin with leat's magic */
    LEAT_E_VERSION = 31,   /* this library does not know the index's format version */
    LEAT_E_FEATURE = 32,   /* this library does not know a feature that the index needs */
    LEAT_E_TRUNCATED = 33, /* a file is shorter or longer than its index or header says */
    LEAT_E_CHECKSUM = 34,  /* bytes do not match their checksum: damage */
    LEAT_E_HEADER = 35,    /* a header field contradicts another or is out of range */
    LEAT_E_SECTION = 36,   /* the section table or a section's size contradicts the header */
    LEAT_E_DOCUMENTS = 37, /* document starts or the directory contradict each other */
    LEAT_E_RECORD = 38,    /* an input, origin, tokenizer or metadata record is invalid */
    LEAT_E_TOKEN = 39,     /* a token id is not below the vocabulary size, or a document lacks its end token */
    LEAT_E_MISMATCH = 40,  /* NAME.tokens and NAME.leat come from different runs */

    LEAT_E_INCOMPATIBLE = 50, /* datasets of one list, plan or merge differ in tokenizer, width or end token */
    LEAT_E_CHECKPOINT = 51,   /* no checkpoint to resume, or it does not match the request or the files */
    LEAT_E_STATE = 52,        /* wrong moment for this call (a document is open, all slots are held, ...) */
    LEAT_E_END = 53,          /* the plan has ended: no further batch */
    LEAT_E_AGAIN = 54,        /* no batch is ready yet */
    LEAT_E_STOPPED = 55,      /* the caller's progress function stopped the work */
    LEAT_E_FORKED = 56,       /* the writer, packer or loader belongs to the parent of this process */

    LEAT_E_VOCABULARY = 60, /* a tokenizer's file is broken or contradicts itself */
    LEAT_E_TEXT = 61,       /* a text cannot be encoded: it is malformed or takes too many steps */
    LEAT_E_PRETOKEN = 62,   /* a pretoken (text that cannot be cut) needs more memory than allowed */
    LEAT_E_REJECTS = 63,    /* more records were rejected than allowed */
    LEAT_E_EMPTY = 64       /* conditions left out every record: no document is left */
};

/*
 * What the caller can change after a failure. `message` is general ("choose another name or replace it"); C, Python and
 * the command each append their own words for the hint. In C:
 */
enum leat_hint {
    LEAT_HINT_NONE = 0,
    LEAT_HINT_REPLACE = 1,           /* `force` in the options */
    LEAT_HINT_RESUME = 2,            /* `resume` in the options, or leat_writer_resume() */
    LEAT_HINT_RESUME_OR_REPLACE = 3, /* either of these two */
    LEAT_HINT_PATTERN = 4,           /* `pattern` in struct leat_tokenizer_options */
    LEAT_HINT_FORMAT = 5,            /* `format` in struct leat_pack_options */
    LEAT_HINT_PACK = 6,              /* leat_pack() */
    LEAT_HINT_MERGE = 7,             /* leat_merge() */
    LEAT_HINT_READ = 8,              /* leat_dataset_read(), or LEAT_ACCESS_TRUSTED */
    LEAT_HINT_INPUTS = 9,            /* leat_dataset_input() */
    LEAT_HINT_MEMORY = 10,           /* `memory` in the options */
    LEAT_HINT_SKIP = 11,             /* `skip_unknown` in struct leat_pack_options */
    LEAT_HINT_BINARY = 12,           /* `allow_binary` in struct leat_pack_options */
    LEAT_HINT_FOLLOW = 13,           /* `follow_links` in struct leat_pack_options */
    LEAT_HINT_ID = 14,               /* `id` in struct leat_pack_options */
    LEAT_HINT_SAMPLES = 15,          /* `samples` in struct leat_plan_options */
    LEAT_HINT_AGAIN = 16,            /* nothing: an object on a server has changed meanwhile; call again */
    LEAT_HINT_TEXT = 17,             /* `text` in struct leat_pack_options */
    LEAT_HINT_MESSAGES = 18,         /* `messages` there */
    LEAT_HINT_MASK_FIELD = 19,       /* `mask_field` there */
    LEAT_HINT_BY = 20,               /* `by` there */
    LEAT_HINT_EMPTY = 21,            /* `allow_empty` in the options */
    LEAT_HINT_SPLIT = 22,            /* `split_of` in struct leat_pack_options, a split or "all" */
    LEAT_HINT_SPLIT_ALL = 23,        /* the same, "all" */
    LEAT_HINT_CHAT_DATE = 24,        /* `chat_date` there */
    LEAT_HINT_CHAT_TIME = 25         /* `chat_seconds` there, or `skip_slow_chats` */
};

/*
 * The caller provides it; a failing call fills all of it. `message` is for people; a program reads the other members.
 * What does not fit into `file` or `field` is cut, and then ends in "...".
 */
struct leat_error {
    enum leat_status status;
    int os_error;       /* errno of the failed system call, else 0 */
    uint64_t offset;    /* byte offset in `file`, or in the caller's text where that is empty; else LEAT_NONE */
    char message[1020]; /* one sentence or two, without a final newline; safe to print (leat_show()) */
    uint32_t hint;      /* enum leat_hint */
    char file[1024];    /* the file, folder or URL that the failure is about, spelled as its name was given: opening
                         * a/b meets a/b.tokens; of a URL without what follows its ?; as its bytes are, not for
                         * printing; "": none */
    char field[128];    /* what is wrong in it or with it: the option or parameter (LEAT_E_ARGUMENT), by its name in C
                         * and without the struct's; or a record's member or column, as it was asked for; "": none */
};

/*
 * Text from files (names, ids, metadata) as people may see it. What would send a terminal a command, end the line or
 * change the order in which text is shown becomes an escape such as \x1b or \u202e: control characters, line and
 * paragraph separators, marks of direction, and bytes that are not UTF-8. The rest stays. Sentences in struct
 * leat_error have been shown so already.
 *
 * Writes as much to `out` as fits in `capacity` with a NUL, without cutting an escape or a character, and returns the
 * length of the whole without the NUL; at most 6 per byte of `text`. `out` may be NULL if `capacity` is 0.
 */
LEAT_API uint64_t leat_show(char *out, uint64_t capacity, const char *text, uint64_t bytes);

/* Returns a status's short lower-case name ("truncated"), or "unknown" for any other number. Static memory. */
LEAT_API const char *leat_status_name(enum leat_status status);

/* Returns LEAT_VERSION of the loaded library. Static memory. */
LEAT_API const char *leat_version(void);

/* Returns LEAT_VERSION_NUMBER of the loaded library. */
LEAT_API uint32_t leat_version_number(void);

/* ---- Opening a dataset ------------------------------------------------------------------------------------------ */

struct leat_dataset;

/*
 * How the bytes of an open dataset are read. The choice matters if someone truncates or overwrites a file while the
 * program runs.
 */
enum leat_access {
    /*
     * The default. Maps a file if it is on this machine and the kernel grants a read lease on it (the process's user
     * must own the file, and nobody may have it open for writing); otherwise reads it. A process that then truncates
     * the file or opens it for writing waits until the next access here notices, unmaps the file and gives the lease
     * back. From then on the file is read, and if it shrinks, the call returns an error. (The kernel also sends SIGURG,
     * which is ignored unless the program handles it.) A risk remains: the kernel revokes the lease after
     * /proc/sys/fs/lease-break-time (45 s). A thread that is stopped for longer inside a call, or a view that is held
     * for longer, can then meet SIGBUS; so can any access to a page that was in memory, was dropped from it, and that
     * the disk then fails to deliver. (A page that it fails to deliver at first is LEAT_E_IO.)
     */
    LEAT_ACCESS_LEASED = 0,
    /* Maps without a lease: the caller promises that nobody changes the files. A change causes SIGBUS or wrong tokens.
     * For files that belong to another user, on which no lease is granted. */
    LEAT_ACCESS_TRUSTED = 1,
    /* Never maps. Slower for tokens that are already in memory, and always safe. */
    LEAT_ACCESS_READ = 2
};

struct leat_open_options {
    size_t size;
    enum leat_access access;
    /* For datasets on servers: */
    uint32_t online;     /* 1: an error if the server cannot be reached; 0: then the cache's copy is opened, if it is
                          * complete (leat_info.offline_parts), unless the variable LEAT_ONLINE is 1 */
    const char *cache;   /* the cache's folder; NULL: the variable LEAT_CACHE, else XDG_CACHE_HOME/leat, else
                          * ~/.cache/leat */
    uint64_t cache_size; /* bytes that the whole cache may take; 0: the variable LEAT_CACHE_SIZE, else no limit */
};
#define LEAT_OPEN_OPTIONS_INIT { sizeof(struct leat_open_options), LEAT_ACCESS_LEASED, 0, NULL, 0 }

/*
 * Opens one dataset, or a list of datasets joined end to end. `name` is one of:
 *   NAME, NAME.leat or NAME.tokens: one dataset, even if there is also a folder NAME (write NAME/ for the folder);
 *   a folder: every *.leat in it, sorted by NAME as bytes, except hidden and unfinished ones (NAME.partial.leat); the
 *   folder of a run (`leat pack --run`) opens when all parts of the run are in it;
 *   @FILE: a text file with one dataset per line. Blank lines and lines that begin with # are skipped, and relative
 *   names start from the folder of FILE;
 *   s3://BUCKET/NAME, gs://BUCKET/NAME, https://HOST/PATH/NAME or http://...: a dataset on a server, read through a
 *   cache in a folder of this machine (`cache` in the options, and docs/object-storage.md).
 *   Opening asks the server what the dataset is, and brings its index; tokens come when they are read,
 *   or in the background while a loader is open. Each page is checked when it comes. A call that reads tokens may wait
 *   for the network, and fail with it (LEAT_E_IO after all tries, which docs/object-storage.md counts; _PERMISSION,
 *   _MISMATCH if the dataset has changed on the server); in a child of fork() it returns LEAT_E_FORKED for tokens that
 *   are not here;
 *   files of other tools, which are opened where they lie and never written to:
 *     PREFIX, PREFIX.bin, PREFIX.idx or megatron:PREFIX: of Megatron, GPT-NeoX, NeMo, with tokens of uint16 or int32;
 *     raw:FILE?dtype=u16 or u32: nothing but tokens (nanoGPT's .bin, OLMo-core's headerless .npy); u32 reads int32;
 *     FILE.bin or llmc:FILE: of llm.c;   FILE.pbin or pbin:FILE;   FILE.ds or datatrove:FILE: with FILE.index, and
 *     FILE.loss, if that is there, as its mask.
 *     Without a scheme only what its first bytes or its suffix show for certain is taken, and NAME.leat comes first.
 *     In raw:, llmc: and pbin: names, end=ID or begin=ID (raw:FILE?dtype=u16&end=50256) says which token ends or begins
 *     each document, and tokenizer=SPEC which tokenizer made the ids: a built-in's name, or a tokenizer's file (not a
 *     folder), relative to the current folder; it is not looked at until it is used. mask=FILE (OLMo-core's label
 *     masks) has a byte for each token, 1, or 0 for a label without loss; without / it is in the folder of the tokens.
 *     A mask of another size is refused (LEAT_E_MISMATCH). With end or begin, the first
 *     opening reads the whole file for documents, and keeps them in FILE.documents, or in memory if it cannot; later
 *     ones use that as long as size and modification time of FILE stay.
 * A list numbers its documents, tokens and inputs through all its datasets, which must agree in vocabulary, tokenizer,
 * begin and end token. What a file of another tool does not record agrees with everything.
 *
 * Opening leat's own files checks the header, the section table, the sizes of both files and the hash of the first and
 * last page of tokens: work that does not grow with the dataset. leat_dataset_verify() and leat_dataset_verify_range()
 * check the rest. Every number from the index is checked before use, so a damaged index causes errors, not crashes. A
 * dataset that is being replaced is opened as it was or as it will be, or is missing (LEAT_E_NO_FILE) for a moment.
 *
 * Files of other tools have no hashes, origins or tokenizer: calls that need them return LEAT_E_NOT_FOUND, and
 * verifying checks ids and structure only. Their vocabulary is what ids can be: 65536, or 2^31 with 4 bytes per id,
 * where reading and a loader with `verify` check each id (LEAT_E_TOKEN for a negative int32); views do not. Their
 * identity is a hash of size, documents and three pages of tokens and of a mask: different files of the same size may
 * have the same.
 *
 * On success the caller owns *out until leat_dataset_close(). On failure *out is NULL and nothing stays open. `name`
 * and `options` (NULL: the defaults) are not kept. Each dataset keeps two file descriptors open.
 * Returns LEAT_E_NO_FILE, _PERMISSION, _IO, _NO_MEMORY, _NOT_LEAT, _VERSION, _FEATURE, _TRUNCATED, _CHECKSUM, _HEADER,
 * _SECTION, _DOCUMENTS, _MISMATCH, _INCOMPATIBLE, _UNSUPPORTED (another tool's tokens of another size) or _ARGUMENT (an
 * empty or unfinished name, a malformed list, unknown keys in a name).
 */
LEAT_API enum leat_status leat_dataset_open(struct leat_dataset **out, const char *name,
                                            const struct leat_open_options *options, struct leat_error *err);

/* Opens several names, each as above, joined in the given order. The names are not kept. */
LEAT_API enum leat_status leat_dataset_open_list(struct leat_dataset **out, const char *const *names, uint64_t count,
                                                 const struct leat_open_options *options, struct leat_error *err);

/* Closes and frees. NULL is fine. All views must be released before; no other thread may be inside a call. */
LEAT_API void leat_dataset_close(struct leat_dataset *d);

/* ---- Facts ------------------------------------------------------------------------------------------------------ */

struct leat_info {
    size_t size;
    uint64_t tokens;
    uint64_t documents;      /* LEAT_NONE: not known; calls that need them return LEAT_E_NOT_FOUND */
    uint64_t inputs;
    uint64_t parts;          /* datasets in the list; 1 for a single one */
    uint64_t vocabulary;     /* number of entries: every id is below it */
    uint64_t end_token;      /* after each document; LEAT_NONE: none */
    uint64_t begin_token;    /* before each document; LEAT_NONE: none */
    uint64_t token_bytes;    /* total size of the token files */
    uint64_t index_bytes;    /* total size of the index files */
    uint64_t created;        /* seconds since 1970, of the first dataset of a list; usually 0: not recorded */
    uint32_t token_width;    /* 2 or 4 */
    uint32_t format_version; /* of the index; the newest in a list */
    uint32_t stores_lines;   /* 1: at least one dataset stores its documents' line numbers */
    uint32_t stores_ids;     /* 1: at least one dataset stores its documents' id strings */
    uint8_t identity[16];    /* hash of the content: tokens, documents, vocabulary, tokenizer; not of names or times */
    uint8_t fingerprint[16]; /* of the tokenizer */
    uint32_t stores_hashes;  /* 1: at least one dataset stores hashes of its documents' texts */
    uint32_t stores_mask;    /* 1: at least one dataset stores a mask, see leat_dataset_mask() */
    uint64_t foreign_parts;  /* of other tools (see leat_dataset_open()); `vocabulary` of such is what ids can be */
    uint64_t sequences;      /* in Megatron's index, where a document may have several; elsewhere: documents */
    uint64_t offline_parts;  /* whose server could not be reached: the cache's complete copies were opened */
    uint64_t id_bytes;       /* of all id strings; 0: no document has one, also where stores_ids is 1 */
};
#define LEAT_INFO_INIT                                                                                                 \
    { sizeof(struct leat_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, 0, 0, 0, 0, 0 }

LEAT_API void leat_dataset_info(const struct leat_dataset *d, struct leat_info *info);

/* One dataset of a list. */
struct leat_part {
    size_t size;
    const char *name;        /* NAME, without .leat; valid until the dataset is closed */
    uint64_t first_token;    /* where its tokens start in the list */
    uint64_t tokens;
    uint64_t first_document;
    uint64_t documents;      /* LEAT_NONE: not known */
    uint64_t first_input;
    uint64_t inputs;
    uint8_t identity[16];
    const char *kind;        /* "leat", or of another tool: "megatron" */
    const char *token_path;  /* the file that holds its tokens; valid until the dataset is closed */
};
#define LEAT_PART_INIT { sizeof(struct leat_part), NULL, 0, 0, 0, 0, 0, 0, { 0 }, NULL, NULL }

/* Describes part `number`. Returns LEAT_E_RANGE unless `number` is below info.parts. */
LEAT_API enum leat_status leat_dataset_part(const struct leat_dataset *d, uint64_t number, struct leat_part *part,
                                            struct leat_error *err);

/* ---- Tokens ----------------------------------------------------------------------------------------------------- */

/*
 * Copies `count` tokens, from token `first` on, to `out`: in the stored width (info.token_width) and this machine's
 * byte order, or widened to 32 bits. The range may span documents and datasets of a list. Does not check hashes.
 * Returns LEAT_E_RANGE, _TRUNCATED (the file has shrunk since it was opened), _IO or _TOKEN (a negative id in a file
 * of another tool); `out` is then undefined.
 */
LEAT_API enum leat_status leat_dataset_read(const struct leat_dataset *d, uint64_t first, uint64_t count, void *out,
                                            struct leat_error *err);
LEAT_API enum leat_status leat_dataset_read_u32(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                uint32_t *out, struct leat_error *err);

/* Tokens in place, without a copy. */
struct leat_view {
    const void *tokens; /* stored width, little-endian; read only */
    uint64_t count;
    void *hold; /* for the library */
};

/*
 * Points *view at `count` tokens from token `first` on, all in one dataset of a list. The memory is valid until
 * leat_view_release(), which must come before leat_dataset_close(). A held view keeps the lease on its file from being
 * given back (see LEAT_ACCESS_LEASED): hold it briefly, or open with LEAT_ACCESS_TRUSTED.
 * Returns LEAT_E_RANGE; LEAT_E_NOT_MAPPED if the file is read, not mapped (use leat_dataset_read() or
 * LEAT_ACCESS_TRUSTED), its tokens do not start at a multiple of their width, or the disk does not deliver them (known
 * for up to 262144 tokens; leat_dataset_read() says why); LEAT_E_UNSUPPORTED if big-endian.
 */
LEAT_API enum leat_status leat_dataset_view(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                            struct leat_view *view, struct leat_error *err);
LEAT_API void leat_view_release(struct leat_view *view);

/* ---- Documents -------------------------------------------------------------------------------------------------- */

/* Finds a document's first token and its number of tokens, with begin and end token. Returns LEAT_E_RANGE. */
LEAT_API enum leat_status leat_dataset_document(const struct leat_dataset *d, uint64_t number, uint64_t *first,
                                                uint64_t *count, struct leat_error *err);

/* The same for `count` documents in any order, with a result in each of first[] and counts[]. It checks each file only
 * once, so it is much faster than asking one by one. */
LEAT_API enum leat_status leat_dataset_document_list(const struct leat_dataset *d, const uint64_t *numbers,
                                                     uint64_t count, uint64_t *first, uint64_t *counts,
                                                     struct leat_error *err);

/*
 * Writes the starts of `count` documents, from `number` on, to starts[0..count), with one read instead of many. The
 * number info.documents is valid too: its start is info.tokens.
 */
LEAT_API enum leat_status leat_dataset_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
                                              uint64_t *starts, struct leat_error *err);

/* The same for the starts of sequences: see info.sequences. The order `megatron` puts these together. */
LEAT_API enum leat_status leat_dataset_sequence_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
                                                       uint64_t *starts, struct leat_error *err);

/*
 * Finds the documents that have a token in [first, first + count), count > 0. Sets *document to the first one's number,
 * and *documents to how many there are up to the last one, including any without tokens between them. The number of
 * reads does not depend on the size of the dataset. Returns LEAT_E_RANGE, _DOCUMENTS, _TRUNCATED or _IO.
 */
LEAT_API enum leat_status leat_dataset_documents_in(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                    uint64_t *document, uint64_t *documents, struct leat_error *err);

/* ---- Where documents came from ---------------------------------------------------------------------------------- */

struct leat_input {
    size_t size;
    uint64_t path_bytes; /* length of its path */
    uint64_t bytes;      /* size of the input on disk */
    uint64_t documents;  /* made from it */
    uint64_t tokens;     /* of these documents, with begin and end tokens */
    uint64_t rejects;    /* records that were rejected */
    uint8_t hash[16];    /* of the input's bytes: FORMAT.md, "page sum"; all zero: not recorded */
};
#define LEAT_INPUT_INIT { sizeof(struct leat_input), 0, 0, 0, 0, 0, { 0 } }

LEAT_API enum leat_status leat_dataset_input(const struct leat_dataset *d, uint64_t number, struct leat_input *input,
                                             struct leat_error *err);

/*
 * Copies at most capacity - 1 bytes of the string, and a NUL, to `text`. Sets *bytes to the string's whole length, so
 * that a second call can make room. The string may hold any byte. With capacity 0, only sets *bytes.
 */
LEAT_API enum leat_status leat_dataset_input_path(const struct leat_dataset *d, uint64_t number, char *text,
                                                  uint64_t capacity, uint64_t *bytes, struct leat_error *err);
LEAT_API enum leat_status leat_dataset_id(const struct leat_dataset *d, uint64_t document, char *text,
                                          uint64_t capacity, uint64_t *bytes, struct leat_error *err);

struct leat_origin {
    uint64_t input;    /* LEAT_NONE: not from an input */
    uint64_t offset;   /* byte offset of the record in the (decompressed) input; of a Parquet file: its row, from 0 */
    uint64_t line;     /* counted from 1; LEAT_NONE: not stored; writing: 0 too means that it is not known. Of a Parquet
                        * file: its row group, also from 1 */
    const char *id;    /* writing: the document's id or NULL; reading: always NULL, see leat_dataset_id() */
    uint64_t id_bytes; /* 0: no id */
    const uint8_t *text_hash; /* writing: 16 bytes or NULL; reading: always NULL, see leat_dataset_text_hash() */
};

LEAT_API enum leat_status leat_dataset_origin(const struct leat_dataset *d, uint64_t document,
                                              struct leat_origin *origin, struct leat_error *err);

/* Fills origins[0..count) for the `count` documents from `first` on, with one read instead of one per document. */
LEAT_API enum leat_status leat_dataset_origins(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                               struct leat_origin *origins, struct leat_error *err);

/*
 * Finds the ids of the `count` documents from `first` on, one after another, without separators. Sets *bytes to their
 * total length (each one's is in its origin). If that is at most `capacity`, copies them to `text`, without a NUL.
 */
LEAT_API enum leat_status leat_dataset_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, char *text,
                                           uint64_t capacity, uint64_t *bytes, struct leat_error *err);

/*
 * Reads the XXH3-128 of a document's text as it was encoded: low half first, each half little-endian; all zero: not
 * known. For one document, or for `count` from `first` on, into hashes[0..count).
 * LEAT_E_NOT_FOUND: the dataset, or the one of a list that has a requested document, stores no text hashes.
 */
LEAT_API enum leat_status leat_dataset_text_hash(const struct leat_dataset *d, uint64_t document, uint8_t hash[16],
                                                 struct leat_error *err);
LEAT_API enum leat_status leat_dataset_text_hashes(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                   uint8_t (*hashes)[16], struct leat_error *err);

/*
 * Copies the mask of tokens [first, first + count) to out[], a byte per token: 0: a label that is this token counts for
 * nothing (-100, and 0 in the loss mask); else it counts, byte / 255 in loss_weights. 255 for tokens of datasets that
 * store no mask. Checks the hash of each page that is read (LEAT_E_CHECKSUM).
 */
LEAT_API enum leat_status leat_dataset_mask(const struct leat_dataset *d, uint64_t first, uint64_t count, uint8_t *out,
                                            struct leat_error *err);

/*
 * Finds the first input with this path; the document whose record holds this byte of this input (the last one that
 * starts at or before it); the first document with this id. LEAT_E_NOT_FOUND: no such document. Finding an id, or an
 * origin in a shuffled dataset, scans all documents.
 */
LEAT_API enum leat_status leat_dataset_find_input(const struct leat_dataset *d, const char *path, uint64_t *input,
                                                  struct leat_error *err);
LEAT_API enum leat_status leat_dataset_find_origin(const struct leat_dataset *d, uint64_t input, uint64_t offset,
                                                   uint64_t *document, struct leat_error *err);
LEAT_API enum leat_status leat_dataset_find_id(const struct leat_dataset *d, const char *id, uint64_t id_bytes,
                                               uint64_t *document, struct leat_error *err);

/* ---- What else is stored ---------------------------------------------------------------------------------------- */

/* The tokenizer as the index stores it, so that text can be shown on any machine. */
struct leat_stored_tokenizer {
    const char *name;    /* a built-in's name ("gpt2"), or the file's name without its folder; never NULL */
    const char *pattern; /* the pattern's name, if the file does not give it; else "" */
    const void *file;    /* the file's bytes as they were given; NULL: a built-in */
    uint64_t file_bytes;
};

/* Copies the tokenizer (of a list: the first dataset's) into one allocation, which the caller frees with
 * leat_stored_tokenizer_free() (NULL is fine). LEAT_E_NOT_FOUND: the dataset stores no tokenizer, and its name says
 * none. */
LEAT_API enum leat_status leat_dataset_tokenizer(const struct leat_dataset *d,
                                                 struct leat_stored_tokenizer **tokenizer, struct leat_error *err);
LEAT_API void leat_stored_tokenizer_free(struct leat_stored_tokenizer *tokenizer);

/* User metadata: text pairs, sorted by key as bytes. Key and value end with a NUL that their lengths do not count. */
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

/* Copies the metadata of one part into one allocation, which the caller frees with leat_metadata_free(). */
LEAT_API enum leat_status leat_dataset_metadata(const struct leat_dataset *d, uint64_t part,
                                                struct leat_metadata **metadata, struct leat_error *err);
LEAT_API void leat_metadata_free(struct leat_metadata *metadata);

/* ---- Verifying -------------------------------------------------------------------------------------------------- */

/*
 * Checks the hash of every 4 KiB page with a token of [first, first + count).
 * Returns LEAT_E_CHECKSUM; `err` names the page and its documents.
 */
LEAT_API enum leat_status leat_dataset_verify_range(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                                    struct leat_error *err);

/* A damaged part of a dataset. */
struct leat_verify_part {
    size_t size;
    uint64_t part;           /* its number */
    uint64_t damaged_pages;  /* of its token file */
    uint64_t damaged_others;
    uint64_t page;           /* the first damaged page; LEAT_NONE: none is */
    uint64_t first_document; /* the first document in it, numbered within the part; LEAT_NONE: not known */
    uint64_t documents;      /* how many documents are in it */
};

struct leat_verify_options {
    size_t size;
    uint32_t threads;    /* 0: as many as the process has CPUs to run on */
    uint32_t index_only; /* 1: checks NAME.leat alone; tokens are not read */
    /* NULL, or a function that is called now and then, by one thread at a time, with the bytes done. A nonzero result
     * stops the work, and leat_dataset_verify() returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    /* If not NULL: called for each damaged part, from the calling thread, in the order of the parts. */
    void (*damaged)(void *context, const struct leat_verify_part *part);
};
#define LEAT_VERIFY_OPTIONS_INIT { sizeof(struct leat_verify_options), 0, 0, NULL, NULL, NULL }

struct leat_verify_report {
    size_t size;
    uint64_t bytes;           /* checked, in both files */
    uint64_t damaged_pages;   /* 4 KiB pages of token files with a wrong hash */
    uint64_t damaged_others;  /* broken sections, records and rules, each counted once */
    uint64_t part;            /* of the first damaged page; LEAT_NONE: no page is damaged */
    uint64_t page;            /* its number in that part's token file */
    uint64_t first_document;  /* the first document in it, numbered as in the list; LEAT_NONE: not known */
    uint64_t documents;       /* how many documents are in it */
    uint64_t unhashed_parts;  /* parts without hashes of their tokens: changed ids are found only if they are invalid */
};
#define LEAT_VERIFY_REPORT_INIT { sizeof(struct leat_verify_report), 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Checks everything: every checksum, every document start, the directory, every id (below the vocabulary size), the end
 * and begin tokens, and every record. Reads both files once, in large pieces, with `options->threads` threads of about
 * 3 MiB each. Continues after the first damage, to count the rest. `report` may be NULL.
 * Returns LEAT_OK if nothing is wrong, else the first damage (_CHECKSUM, _DOCUMENTS, _TOKEN, _RECORD, ...), or _IO.
 */
LEAT_API enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                              struct leat_verify_report *report, struct leat_error *err);

/* ---- The order of samples --------------------------------------------------------------------------------------- */

/*
 * A plan says which tokens sample n shows: a pure function of the plan and n. It stores no permutation, so it opens
 * quickly, any n can be asked for at once, and there is an inverse: which samples show this document? docs/ORDER.md has
 * the rules, and how to compute them elsewhere; each rule has a version that never changes.
 *
 * A *source* is a dataset or a list of them. Each dataset is cut into *blocks* of base_len tokens; the rest at its end
 * is dropped. Each epoch of a source shows all its blocks once, in a new order. A sample is a *window*: a block, or a
 * slice of one if seq_len is shorter. It has seq_len inputs and seq_len + 1 tokens, since the last input's label is the
 * token after it. Sources take turns by their weights, exactly: after k samples each source has had its share of them
 * to within 1.5.
 *
 * Samples are *numbered* n = 0, 1, 2, ... for good. If some are skipped, a sample's *position* p counts only those that
 * are shown. A batch is consecutive positions: batch size and world size are not part of a plan, and may change at any
 * step.
 *
 * This describes windows. In the orders of documents a sample is a whole document, with its begin and end token, cut
 * after seq_len + 1 tokens. Sample n is document P(n mod D) of the D documents of all sources. P is the permutation for
 * the plan's seed, source 2^32 - 1 and epoch n div D; in sequential order P(i) = i. With `epochs`, the plan ends after
 * that many passes. With a split, D counts the documents that start in the used range. Weights and the limits of single
 * sources have no effect; phases are refused.
 *
 * The order `megatron` takes megatron-core's own settings: its split ("969,30,1"; NULL: all of each dataset, as for
 * --train-data-path), "train", "valid" or "test" to use of it, a seed below 2^32, weights for all sources or for none
 * (NULL; the sources are then blended by their lengths), and `samples`. Phases, limits of epochs and base_len are
 * refused. Opening it makes Megatron's indexes, in memory, with doubles as Megatron does: open it in a thread that
 * rounds to nearest, as all do that have not called fesetround().
 *
 *   Threads     an open plan never changes: any number of threads may use it.  Fork: as for datasets.
 */
struct leat_plan;

#define LEAT_MAX_SAMPLES ((uint64_t)1 << 60) /* every sample's number is below it */

enum leat_order {
    LEAT_ORDER_SHUFFLED = 0,            /* windows, in a new order in each epoch */
    LEAT_ORDER_SEQUENTIAL = 1,          /* windows, in the order of the files in each epoch */
    LEAT_ORDER_DOCUMENTS = 2,           /* whole documents, one per row, for fine-tuning; a new order in each epoch */
    LEAT_ORDER_DOCUMENTS_SEQUENTIAL = 3, /* whole documents, in the order of the files in each epoch */
    LEAT_ORDER_FIT = 4, /* rows of whole documents, put together by best fit; others meet in each epoch */
    LEAT_ORDER_MEGATRON = 5 /* megatron-core's: its GPTDataset and BlendedDataset, sample for sample */
};

/* Returns an order's name in a plan's text ("shuffled"), or NULL for an unknown number. The numbers have no gaps. */
LEAT_API const char *leat_order_name(enum leat_order order);

struct leat_plan_source {
    size_t size;
    const char *name;    /* NAME, a folder or @FILE, as for leat_dataset_open(); without a newline */
    const char *weight;  /* a decimal, read exactly ("0.3", "1e-9"); NULL: 1, for megatron none. "0": unused until a
                          * phase sets one */
    uint64_t epochs;     /* at most this many passes; the other sources then share its weight. 0: no limit */
    const struct leat_dataset *dataset; /* already open, and until the plan is closed; NULL: the plan opens `name` */
};
#define LEAT_PLAN_SOURCE_INIT { sizeof(struct leat_plan_source), NULL, NULL, 0, NULL }

/* New weights, and a new length if wanted, from sample `begin` on; samples before it do not depend on it. If the phase
 * before shows slices (its seq_len < base_len), it must have a multiple of 16 x base_len / seq_len samples. */
struct leat_plan_phase {
    size_t size;
    uint64_t begin;      /* greater than that of the phase before */
    const char *weights; /* decimals in the order of the sources, separated by commas; sources left out get 0 */
    uint64_t seq_len;    /* a divisor of base_len, or for fit any; 0: as before */
};
#define LEAT_PLAN_PHASE_INIT { sizeof(struct leat_plan_phase), 0, NULL, 0 }

/* Samples [first, end). */
struct leat_plan_range {
    uint64_t first, end;
};

struct leat_plan_options {
    size_t size;
    const struct leat_plan_source *sources; /* an array; the first element's size is the size of all */
    uint64_t source_count;                  /* 1 to 65536 */
    uint64_t seq_len;                       /* inputs of a sample, 1 to 2^30 */
    uint64_t base_len;                      /* tokens of a block, a multiple of every seq_len; 0: seq_len */
    uint64_t seed;
    const char *split; /* "train=0.99,valid=0.01": consecutive ranges of each dataset; for megatron "969,30,1"; NULL:
                        * none */
    const char *use;   /* the name of the range to use; for megatron "train" if NULL */
    const struct leat_plan_phase *phases; /* an array, as `sources`, in rising order; the first begins after sample 0 */
    uint64_t phase_count;
    const struct leat_plan_range *skips; /* samples to skip, in any order; ranges must not overlap */
    uint64_t skip_count;
    enum leat_order order;
    uint32_t reserved; /* 0 */
    uint64_t epochs; /* at most this many passes over any source; the plan ends when all are used up. 0: no limit */
    const struct leat_open_options *open; /* for datasets that the plan opens; NULL: the defaults */
    /* Only for LEAT_ORDER_FIT, 0: not given. Documents are measured with their begin and end tokens. */
    uint64_t max_per_row; /* documents, or parts of documents, in a row: bounds the number of sequences */
    uint64_t min_length;  /* documents of fewer tokens are left out */
    uint64_t max_length;  /* documents of more tokens are left out */
    uint64_t cut_length;  /* only this many first tokens of longer documents are used */
    /* Only for LEAT_ORDER_MEGATRON: */
    uint64_t samples; /* the number of samples to build for; 0: not given */
    const char *mid_level_dataset_surplus; /* a decimal; NULL: 0.005, as in Megatron */
    /* Only for LEAT_ORDER_FIT, 0: not given. */
    uint64_t align;   /* documents begin at multiples of it in a row; divides every seq_len. See struct leat_piece */
    uint64_t overlap; /* each row of a document longer than a row, except its first, begins with the last so many
                       * predictions of the row before: context without loss. Below every seq_len */
};
#define LEAT_PLAN_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_plan_options), NULL, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, 0, LEAT_ORDER_SHUFFLED, 0, 0,     \
      NULL, 0, 0, 0, 0, 0, NULL, 0, 0 }

/*
 * Opens a plan and its datasets, which must agree in vocabulary, tokenizer, begin and end token (LEAT_E_INCOMPATIBLE).
 * On success the caller owns *out until leat_plan_close(). Of the options, keeps only each source's `dataset`. Writes
 * no file. Takes as long as opening the datasets, and some 20 us for each phase of 20 sources.
 * Returns LEAT_E_ARGUMENT with the remedy (a source without a whole block, a phase that begins inside a block, weights
 * whose sum as integers exceeds 2^48, ...), _NO_MEMORY, _INCOMPATIBLE, or as leat_dataset_open().
 */
LEAT_API enum leat_status leat_plan_open(struct leat_plan **out, const struct leat_plan_options *options,
                                         struct leat_error *err);

/*
 * Opens a plan from its text (docs/ORDER.md, "Plan text"), as leat_plan_text() gives it. `label` names it in messages:
 * "run7.plan, line 3: ...". If it is NULL, messages begin with the line's key ("source: ..."), and the text must not
 * have the first line "leat plan 1". err->offset is where a wrong line starts in `text`. `open` may be NULL.
 */
LEAT_API enum leat_status leat_plan_parse(struct leat_plan **out, const char *text, uint64_t bytes, const char *label,
                                          const struct leat_open_options *open, struct leat_error *err);

/*
 * Opens a plan with the sources, seed, split and limits of epochs of `plan` in another order, such as whole documents
 * instead of windows, with rows of seq_len inputs (0: as in its first phase). Drops phases and skips, since they go by
 * sample numbers. `plan` must stay open until *out is closed. Returns as leat_plan_open().
 */
LEAT_API enum leat_status leat_plan_reorder(struct leat_plan **out, const struct leat_plan *plan, enum leat_order order,
                                            uint64_t seq_len, struct leat_error *err);

/* Closes and frees, with the datasets that the plan opened itself. NULL is fine. */
LEAT_API void leat_plan_close(struct leat_plan *plan);

/*
 * Copies at most capacity - 1 bytes of the plan's text, and a NUL, to `text`. Sets *bytes to its whole length, so that
 * a second call can make room. The same plan has the same text, however it was made.
 */
LEAT_API enum leat_status leat_plan_text(const struct leat_plan *plan, char *text, uint64_t capacity, uint64_t *bytes,
                                         struct leat_error *err);

struct leat_plan_info {
    size_t size;
    uint64_t sources;
    uint64_t phases;
    uint64_t samples;      /* numbered from 0; LEAT_NONE: no end below LEAT_MAX_SAMPLES */
    uint64_t positions;    /* samples that are not skipped; LEAT_NONE: no end. Skips up to LEAT_MAX_SAMPLES are one */
    uint64_t seed;
    uint64_t seq_len;      /* of the first phase */
    uint64_t max_seq_len;  /* the longest of any phase */
    uint64_t base_len;
    uint32_t permutation_version, blend_version, split_version; /* of the rules in docs/ORDER.md */
    uint32_t token_width;  /* of the sources: 2 or 4 */
    enum leat_order order;
    uint32_t reserved;     /* 0 */
    uint64_t align, overlap; /* of LEAT_ORDER_FIT; 0: none */
};
#define LEAT_PLAN_INFO_INIT                                                                                            \
    { sizeof(struct leat_plan_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, LEAT_ORDER_SHUFFLED, 0, 0, 0 }

LEAT_API void leat_plan_info(const struct leat_plan *plan, struct leat_plan_info *info);

struct leat_plan_source_info {
    size_t size;
    const char *name;                   /* valid until the plan is closed, as is `dataset` */
    const struct leat_dataset *dataset; /* to read the samples' tokens from */
    uint64_t blocks;                    /* each epoch shows all of them once; for documents: their number; for megatron:
                                         * samples that were built, of all epochs */
    uint64_t tokens;                    /* in the used range; without a split: all */
    uint64_t dropped;                   /* of `tokens`: at ends of datasets, shown by no sample as an input */
    uint64_t weight;                    /* in the first phase, as an integer: weights have no common factor; for
                                         * megatron: how many of the plan's samples are its */
    uint64_t epochs;                    /* limit of passes; 0: none */
};
#define LEAT_PLAN_SOURCE_INFO_INIT { sizeof(struct leat_plan_source_info), NULL, NULL, 0, 0, 0, 0, 0 }

/* Describes source `number`. Returns LEAT_E_RANGE unless `number` is below info.sources. */
LEAT_API enum leat_status leat_plan_source_info(const struct leat_plan *plan, uint64_t number,
                                                struct leat_plan_source_info *info, struct leat_error *err);

/* One sample: a row of `length` inputs. Source, part, token and offset are those of its first piece. */
struct leat_sample {
    uint64_t number; /* n */
    uint64_t epoch;  /* of the source; for documents: of the plan; for megatron: 0, or the last one's if Megatron
                      * shuffles that by itself */
    uint64_t block;  /* of the source; for documents: the document's number in the source; for fit: the row's; for
                      * megatron: that of Megatron's sample index */
    uint64_t window; /* of the source, in windows of this length: block * slices + slice; for documents and megatron:
                      * block */
    uint64_t token;  /* the first token's number in the source's dataset, as for leat_dataset_read() */
    uint64_t offset; /* the first token's number in its part */
    uint32_t source;
    uint32_t part;   /* number of the dataset in the source's list */
    uint32_t length; /* inputs; for fit: without the padding after them, with that of `align` between them */
    uint32_t slice;  /* number in the block; for documents: 0 */
    uint32_t tokens; /* of the row: length + 1, since the last input's label is the token after it; 0 for a document
                      * without tokens; for fit: length + pieces, since each piece has its last label */
    uint32_t pieces; /* of the row; see leat_plan_pieces() */
};

/*
 * A piece of a row: `count` consecutive tokens of one dataset, from place `at` of the row on. It covers the places up
 * to the next piece, or to the row's end. The label of a place is the next token in the same piece, or, at its
 * end, the first token of the next piece. So a piece that covers c places has c tokens if the next piece supplies its
 * last label, and c + 1 if it has that label itself, as the last piece of a row does.
 *
 * In plans of order fit with `align`, a piece of c tokens has c - 1 predictions and covers that many places, and
 * also the places up to the next multiple of `align`: a gap, which has no loss. A gap belongs to its piece:
 * positions go on in it, and its document, its sequence in cu_seqlens and its attention mask are the piece's. Its first
 * input is the piece's last token; padding follows. In plans with `overlap`, the first `overlap` predictions of a piece
 * that does not begin where its document does are context without loss.
 */
struct leat_piece {
    uint64_t token;    /* the first token's number in the source's dataset */
    uint64_t offset;   /* the first token's number in its part */
    uint64_t document; /* of these tokens, numbered in the source's dataset; LEAT_NONE: not looked up, as for windows */
    uint32_t source;
    uint32_t part;     /* number of the dataset in the source's list */
    uint32_t count;    /* tokens; 0 for a document without tokens */
    uint32_t at;       /* place in the row, from 0 */
};

/*
 * Computes the samples of positions [first, first + count). Sets *got (not NULL) to how many there are: fewer than
 * `count` only if the plan ends. For windows, takes 10 to 60 ns each and reads no file; many at once are faster.
 */
LEAT_API enum leat_status leat_plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count,
                                            struct leat_sample *samples, uint64_t *got, struct leat_error *err);

/* Computes sample n, skipped or not. Returns LEAT_E_RANGE if the plan ends before it. */
LEAT_API enum leat_status leat_plan_sample(const struct leat_plan *plan, uint64_t number, struct leat_sample *sample,
                                           struct leat_error *err);

/*
 * Computes the pieces of sample n, in the order of its row. Copies at most `room` of them to pieces[], and sets *count
 * (not NULL) to how many it has, so that a second call can make room. LEAT_E_RANGE: the plan ends before sample n.
 */
LEAT_API enum leat_status leat_plan_pieces(const struct leat_plan *plan, uint64_t number, struct leat_piece *pieces,
                                           uint64_t room, uint64_t *count, struct leat_error *err);

/* The same for `count` samples at once, as leat_plan_samples() gave them: much faster than one by one. The pieces of
 * one sample follow those of the other: pieces[] must have room for all, the sum of the samples' `pieces`. Give the
 * samples unchanged: order fit refuses those whose number of pieces does not match (LEAT_E_ARGUMENT), and checks no
 * more. */
LEAT_API enum leat_status leat_plan_sample_pieces(const struct leat_plan *plan, const struct leat_sample *samples,
                                                  uint64_t count, struct leat_piece *pieces, struct leat_error *err);

/* Returns the number of the sample at a position; and back: for a skipped sample, the position of the next one that is
 * shown, with *skipped (may be NULL) set to 1, else to 0. Both count on after the plan's end. */
LEAT_API uint64_t leat_plan_number(const struct leat_plan *plan, uint64_t position);
LEAT_API uint64_t leat_plan_position(const struct leat_plan *plan, uint64_t number, uint32_t *skipped);

/* Computes the rows of a global batch that belong to a rank: [*first, *first + *count). Returns LEAT_E_ARGUMENT unless
 * `batch` is a multiple of `world` and `rank` is below it. The order of samples does not depend on any of them. */
LEAT_API enum leat_status leat_plan_rank_rows(uint64_t batch, uint64_t rank, uint64_t world, uint64_t *first,
                                              uint64_t *count, struct leat_error *err);

/* ---- Rows of whole documents: which length ---- */

/* What rows of whole documents of a source are like for one length of rows, and, to compare, what windows of that
 * length do to its documents. A *prediction* is a token with a next one in the same document. */
struct leat_fit_report {
    size_t size;
    uint64_t documents;    /* used */
    uint64_t predictions;  /* of these: each is shown once per epoch */
    uint64_t empty;        /* documents of fewer than two tokens, which no row has */
    uint64_t rows;
    uint64_t full_rows;    /* of these: with nothing but a part of a longer document */
    uint64_t pieces;       /* of all rows */
    uint64_t max_pieces;   /* of a row */
    uint64_t patterns;     /* different sets of lengths that the rows have */
    uint64_t padding;      /* places of all rows without a prediction */
    uint64_t cut;          /* documents that do not lie in one row */
    uint64_t lost;         /* predictions with lost context: not in a row with the beginning of their document */
    uint64_t window_rows;  /* the same of windows, of all documents */
    uint64_t window_cut;
    uint64_t window_lost;
    uint64_t left_out;     /* documents too short or too long for the plan (min_length, max_length), not among these */
    uint64_t unused;       /* predictions of these documents, and after cut_length in others, not counted above */
    uint64_t context;      /* places of all rows that show a prediction again, without loss (overlap); not padding */
};
#define LEAT_FIT_REPORT_INIT                                                                                           \
    { sizeof(struct leat_fit_report), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/*
 * Reports on a source of a plan of any order. Of the plan, only its split and its options of order fit count. Reads
 * the starts of all used documents, some 20 ns each, in memory that does not grow with their number.
 * Returns LEAT_E_RANGE for an unknown source, LEAT_E_ARGUMENT for a seq_len of 0 or above 2^24, or which the plan's
 * `align` does not divide or its `overlap` fills.
 */
LEAT_API enum leat_status leat_plan_fit_report(const struct leat_plan *plan, uint64_t source, uint64_t seq_len,
                                               struct leat_fit_report *report, struct leat_error *err);

struct leat_fit_options {
    size_t size;
    /* NULL, or a function that is called now and then with the bytes read, for each dataset of a list from 0 on. A
     * nonzero result stops the work, and leat_dataset_fit() returns LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_FIT_OPTIONS_INIT { sizeof(struct leat_fit_options), NULL, NULL }

/*
 * Writes a file NAME.fit beside each dataset of a list, or replaces it: its documents by length, 4 bytes each. Plans
 * with the order LEAT_ORDER_FIT then read it where they need it, instead of sorting the documents in memory when they
 * are opened, which they refuse for more than 2^28 documents per source. It changes no sample. A plan uses a file only
 * if it was made of the same dataset, belongs to the caller or to the owner of its folder, and is not damaged. Takes
 * 160 MiB of memory, whatever the number of documents, and a pass over their starts, and one for every 2^25 of them.
 * While another thread or process makes the same file (NAME.fit.partial), it waits, however long that takes, and then
 * makes it again: of several calls each waits for those before it. `progress` is called meanwhile, and can stop it.
 * LEAT_E_UNSUPPORTED for a dataset that was opened by a URL.
 */
LEAT_API enum leat_status leat_dataset_fit(const struct leat_dataset *d, const struct leat_fit_options *options,
                                           struct leat_error *err);

/* ---- The way back: which samples show this ---- */

/* Called with each sample found. A nonzero result ends the search, and the call returns LEAT_OK. */
typedef uint32_t leat_plan_found(void *context, const struct leat_sample *sample);

/* Which samples are looked for: those that show a token of [first, first + count) of a source's dataset as an input. */
struct leat_trace {
    uint64_t source, first, count;
    uint64_t epochs;      /* in epochs [0, epochs); LEAT_NONE: in all */
    uint64_t from, until; /* numbered [from, until); LEAT_NONE: to the end of the plan */
};

/*
 * Calls `found` with these samples, in no particular order. If the plan has no end, `epochs` or `until` must be a limit
 * (else LEAT_E_ARGUMENT). Very many samples are found stretch by stretch, in bounded memory: epochs before `from` are
 * not searched. Includes skipped samples: leat_plan_position() says which they are. For windows, takes some 200 ns per
 * block of these tokens and epoch, or 50 ns per sample below `until`, whichever is less, and reads no file.
 * leat_dataset_documents_in(sample->token, sample->length) of the source's dataset finds a sample's documents. Returns
 * LEAT_E_RANGE for an unknown source or tokens outside it.
 */
LEAT_API enum leat_status leat_plan_trace(const struct leat_plan *plan, const struct leat_trace *trace,
                                          leat_plan_found *found, void *context, struct leat_error *err);

/* ---- Where a run stands ---- */

#define LEAT_PLAN_STATE_BYTES 4096 /* room for any state, with its NUL */

struct leat_plan_state {
    size_t size;
    uint64_t position; /* samples shown so far; also the position of the next one */
    uint64_t damaged;  /* those of them with damaged tokens, which were masked; the caller counts them */
    uint64_t skipped;  /* samples skipped so far; set by leat_plan_state_load() */
};
#define LEAT_PLAN_STATE_INIT { sizeof(struct leat_plan_state), 0, 0, 0 }

/* Writes the state as text, to save with a checkpoint: the position, and fingerprints of all that led there. */
LEAT_API enum leat_status leat_plan_state_save(const struct leat_plan *plan, const struct leat_plan_state *state,
                                               char text[LEAT_PLAN_STATE_BYTES], struct leat_error *err);

/*
 * Reads a state's text and checks that this plan has the same past: the same rules, seed, base length, sources and
 * phases up to the position, and the same skips before it. Later phases and skips may differ. Returns
 * LEAT_E_CHECKPOINT if not; `err` names the first difference, or what is wrong with the text.
 */
LEAT_API enum leat_status leat_plan_state_load(const struct leat_plan *plan, const char *text, uint64_t bytes,
                                               struct leat_plan_state *state, struct leat_error *err);

/* ---- The loader: batches ---------------------------------------------------------------------------------------- */

/*
 * A loader gives the batches of a plan, one after another, from a ring of slots that one background thread keeps full:
 * usually 8 slots, fewer if memory is short, up to 64 if batches are small. There are no worker processes.
 *
 *   struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
 *   struct leat_plan_options p = LEAT_PLAN_OPTIONS_INIT;
 *   struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
 *   struct leat_outputs out = LEAT_OUTPUTS_INIT;
 *
 *   source.name = "corpus"; p.sources = &source; p.source_count = 1; p.seq_len = 2048;
 *   leat_plan_open(&plan, &p, &err);
 *   o.batch = 256; o.rank = rank; o.world = world;
 *   leat_loader_open(&loader, plan, &o, &err);
 *   out.inputs = my_inputs; out.labels = my_labels;                           (int64, batch->rows x batch->length each)
 *   while (leat_loader_next(loader, &batch, &err) == LEAT_OK) {               (it ends with LEAT_E_END, or an error)
 *       leat_batch_write(batch, &out, NULL, &err);
 *       leat_batch_release(batch, NULL);
 *       train_step(my_inputs, my_labels);
 *   }
 *
 * Global batch k of B rows shows positions [p + kB, p + (k+1)B) of the plan, where p is the position that the loader
 * starts at. Rank r of w gets its rows [r B/w, (r+1) B/w). Nothing else decides what a batch holds: not the engine, the
 * slots or the timing. A batch is a slot of the ring: read it, then release it. Several may be held at once, and
 * released in any order. Padding is the end token, or id 0 without one.
 *
 *   Threads     leat_loader_next(), its variants and leat_loader_close() belong to one thread at a time. Any thread may
 *               write, borrow and release batches, and ask for statistics.
 *   Fork        a loader works only in the process that opened it. In a child every call that returns a status returns
 *               LEAT_E_FORKED, leat_batch_row() returns NULL, and leat_loader_close() only frees.
 *
 * On a GPU
 *
 *   o.device = "cuda";                                                        (or "cuda:1", "cuda:GPU-1f2e...")
 *   out.inputs = my_inputs; out.labels = my_labels;                           (memory of the GPU)
 *   ...
 *   leat_batch_write(batch, &out, my_stream, &err);
 *   leat_batch_release(batch, my_stream);
 *   train_step(my_inputs, my_labels, my_stream);                              (may be the launch of a captured graph)
 *
 * Each batch goes to the GPU in one asynchronous copy as its slot is filled, with tokens in their stored width; outputs
 * are made from it there. leat_batch_write() only queues that work on the consumer's stream, after the copy, and
 * returns: no call waits for the GPU, except open and close. The members of struct leat_batch stay on the host.
 *
 *   Device      "cuda": the GPU of the calling thread's current context, or the first one. "cuda:N": number N of those
 *               that the process may use (CUDA_VISIBLE_DEVICES). "cuda:GPU-...", "cuda:MIG-...": by its UUID as
 *               nvidia-smi writes it, or by the UUID's first digits. Uses the primary context, as the CUDA runtime
 *               does. Any number of loaders may run, on one GPU or several. Needs a driver of CUDA 11.4 or later, and a
 *               GPU of 2018 (sm_75) or later.
 *   Streams     `stream` is a CUstream (cudaStream_t) of that context; NULL is the legacy default stream, as everywhere
 *               in CUDA. Work that is queued later on the stream sees the outputs, without waiting. Release a borrowed
 *               batch with the stream that used it; after leat_batch_write() any stream will do.
 *   Memory      outputs are memory of that GPU, aligned to number_bytes; they are written fastest if aligned to 16.
 *   Graphs      each batch is in another slot, so no graph can contain leat_batch_write() or _borrow(): on a stream
 *               that is being captured they return LEAT_E_STATE. Capture the step that reads the buffers; before each
 *               launch, write the next batch to them on the same stream. A running loader disturbs no capture of other
 *               streams, in any mode, but do not open or close one during a capture. Releasing a borrowed batch
 *               with a stream that is being captured ends the loader (LEAT_E_STATE). If the captured stream was not
 *               made as non-blocking, all this holds for the default stream, too.
 *   Ring        in pinned memory, and as large again on the GPU; its size depends on how much of both is free. If there
 *               is less, it has fewer slots; if none can be pinned, it works unpinned, slower. Statistics and notices
 *               say so.
 *   Failures    of the GPU make leat_loader_next() return LEAT_E_DEVICE, from then on. Closing still works, and so does
 *               exiting without closing. After fork, the child must not use CUDA if its parent did: its
 *               leat_loader_open() returns LEAT_E_UNSUPPORTED.
 */
struct leat_loader;

/* How tokens are read from a file. All engines give the same bytes. */
enum leat_engine {
    LEAT_ENGINE_AUTO = 0,   /* chosen per file, again while running: is it in memory, would it fit, may it be mapped? */
    LEAT_ENGINE_MAP = 1,    /* copied from a map; a file that cannot be mapped (see enum leat_access) is read */
    LEAT_ENGINE_PREAD = 2,  /* a read call per row */
    LEAT_ENGINE_ADVISE = 3, /* a read call per row, after the rows of all free slots were announced to the kernel */
    LEAT_ENGINE_URING = 4   /* io_uring, many reads in flight; if it is forbidden or not built in: advise. On FUSE and
                             * overlayfs, where auto never chooses it, pages are checked each time that they are read;
                             * advise, if there are no hashes or `verify` is 0 */
};

/* What happens to a row whose tokens cannot be read, or do not match their hash. */
enum leat_on_damage {
    LEAT_ON_DAMAGE_ERROR = 0, /* leat_loader_next() returns an error that names the file, page and documents */
    LEAT_ON_DAMAGE_MASK = 1   /* the row keeps its place: it is padding, without loss, flagged and counted */
};

/*
 * What happens to the rows of the last global batch if the plan ends inside it. With several ranks, choose PADDED or
 * DROPPED for a plan that ends: all ranks then get the same number of batches. With SHORT, the default, some ranks can
 * get one batch less than others, and a program with a collective in each step hangs.
 *
 * With PADDED, a rank's last batch can have no row of the plan; it is then as long as the plan's last row, so that
 * windows have one shape on all ranks. All ranks together have cursor - position rows of the plan. A mean over ranks is
 * the sum of their losses divided by the sum of their labels that count (see loss_mask of struct leat_outputs), not a
 * mean of means.
 */
enum leat_last_batch {
    LEAT_LAST_SHORT = 0,  /* there are fewer; a rank without rows gets LEAT_E_END: for one rank */
    LEAT_LAST_PADDED = 1, /* missing rows are padding, without loss, and flagged: ranks stay in step */
    LEAT_LAST_DROPPED = 2 /* the batch is left out */
};

/* What can be made of a batch: bits of leat_loader_options.outputs. */
enum leat_output {
    LEAT_OUTPUT_INPUTS = 1,
    LEAT_OUTPUT_LABELS = 2,
    LEAT_OUTPUT_LOSS_MASK = 4,
    LEAT_OUTPUT_ATTENTION_MASK = 8,
    LEAT_OUTPUT_POSITION_IDS = 16, /* this and the next two need to know where documents start */
    LEAT_OUTPUT_DOCUMENT_IDS = 32,
    LEAT_OUTPUT_CU_SEQLENS = 64,
    LEAT_OUTPUT_LOSS_WEIGHTS = 128
};

/*
 * Whether the rows of a batch may lie apart in memory. The disk then writes rows that are not in memory directly to
 * their slot, with the pages around them, and the CPU copies them neither on the way to the GPU nor for outputs on the
 * host. Such a batch has no `tokens`: leat_batch_row() finds its rows. It takes up to 8 KiB more per row in the ring
 * and on the way to the GPU. Batches of files that are in memory do not change.
 */
enum leat_apart {
    LEAT_APART_AUTO = 0,   /* on a GPU, if rows take 8 KiB or more */
    LEAT_APART_ALWAYS = 1, /* on the host too, and for rows of any size */
    LEAT_APART_NEVER = 2,  /* every batch (not of order fit) has `tokens`, rows x width; the CPU copies them */
    /* An experiment: rows of one piece of files in memory stay there, and nothing copies them: outputs are made from
     * the map of their file, and such a batch has no `tokens` either. Only for datasets that are opened with
     * LEAT_ACCESS_TRUSTED: the rows of others are copied as ever. On a GPU, the kernels read the map, which takes one
     * that can read all memory of a process, by HMM or ATS; if its driver says that it cannot,
     * opening the loader fails with LEAT_E_UNSUPPORTED. This has never run on a GPU. */
    LEAT_APART_MAPPED = 3
};

struct leat_loader_options {
    size_t size;
    uint64_t batch;           /* rows of a global batch, of all ranks: a multiple of `world`; required */
    uint64_t rank, world;     /* this process is `rank` of `world`. _INIT: 0 of 1 */
    uint64_t position;        /* to start at */
    const char *state;        /* text of a state to start at instead (leat_batch_state()); NULL: none */
    uint64_t state_bytes;
    enum leat_engine engine;
    enum leat_on_damage on_damage;
    enum leat_last_batch last; /* with several ranks and a plan that ends: not SHORT. _INIT: SHORT */
    uint32_t threads;         /* 1: a background thread; 0: leat_loader_next() does all the work. _INIT: 1 */
    uint32_t verify;          /* 1: checks the hash of each page when it is first read. _INIT: 1 */
    uint32_t slots;           /* of the ring, 2 to 64; 0: the library chooses */
    /* Bits of enum leat_output: at least those that need to know where documents start, and those to be borrowed. */
    uint32_t outputs;
    uint32_t borrow;          /* 1: slots have room for these outputs, and the loader's thread fills it */
    uint32_t nvtx;            /* 1: marks the thread's work for NVIDIA's profilers, if that is built in */
    uint32_t number_bytes;    /* of borrowed outputs, as in struct leat_outputs. _INIT: 8 */
    /*
     * 1: label i is token i, for models that shift labels themselves (transformers). Such a model finds the label of a
     * place at the next one, so all tokens of a row are inputs: one more than its predictions, or with order fit, one
     * more for each piece. In order fit, the first token of a piece that is not its row's first has no loss.
     */
    uint32_t unshifted;
    uint32_t mask_first;      /* this and the next one: of borrowed outputs, as in struct leat_outputs */
    uint64_t cu_seqlens_room;
    uint64_t memory;          /* limit of the ring in bytes; 0: chosen by how much memory is free */
    const char *device;       /* "host" or NULL; or a GPU: see "On a GPU" */
    int32_t numa_node;        /* places memory and thread there, if the system allows; -1: anywhere. _INIT: -1 */
    enum leat_apart apart;
    const char *driver;       /* path or name of the library to load as CUDA's driver; NULL or "": libcuda.so.1 */
    /*
     * A file to which leat_loader_next() appends the statistics as a line of JSON, each `stats_ms` milliseconds (0:
     * 60,000), and leat_loader_close() once more. NULL or "": none. Its names are those of struct leat_loader_stats
     * without _ns, in seconds, with `time` (seconds since 1970) and `rank`. Ranks need a file each. A file that holds
     * something else is refused. If it can no longer be written, training goes on, and a notice says so
     * (leat_loader_notice()).
     */
    const char *stats_file;
    uint64_t stats_ms;
};
#define LEAT_LOADER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_loader_options), 0, 0, 1, 0, NULL, 0, LEAT_ENGINE_AUTO, LEAT_ON_DAMAGE_ERROR,                 \
      LEAT_LAST_SHORT, 1, 1, 0, 0, 0, 0, 8, 0, 0, 0, 0, NULL, -1, LEAT_APART_AUTO, NULL, NULL, 0 }

/*
 * Opens a loader and starts its thread. The plan must stay open until leat_loader_close(); `options` is not kept. With
 * an order of documents, a rank's rows of each batch are sorted, longest first, and padded to the longest.
 * Other rows are as long as their phase; if one of another length begins inside a global batch, a rank's batch has the
 * length of its longest row, and ranks can differ.
 *
 * Returns LEAT_E_ARGUMENT (invalid numbers), _CHECKPOINT (a state of another plan), _NO_MEMORY (no room for two slots),
 * _UNSUPPORTED (no such device here), _IO, _DEVICE, or what reading an index returns.
 */
LEAT_API enum leat_status leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                           const struct leat_loader_options *options, struct leat_error *err);

/* Returns the most inputs that a row of this loader can have, for arrays that take any batch: the plan's max_seq_len;
 * more with `unshifted`. */
LEAT_API uint64_t leat_loader_max_length(const struct leat_loader *loader);

/* Stops and frees at any moment, with all batches that are still held. NULL is fine. No other thread may be inside a
 * call. */
LEAT_API void leat_loader_close(struct leat_loader *loader);

/* Flags of a row. */
#define LEAT_ROW_DAMAGED 1u /* masked, see LEAT_ON_DAMAGE_MASK */
#define LEAT_ROW_PADDED  2u /* after the plan's end, see LEAT_LAST_PADDED */

/* A batch. The library owns it; it may be read until it is released. New fields are added at the end. */
struct leat_batch {
    uint64_t number;            /* counts the batches that this loader has given, from 0 */
    uint64_t position;          /* of the global batch's first row */
    uint64_t cursor;            /* position after this batch, where a run that resumes after it starts */
    uint64_t damaged;           /* rows of this rank that were masked so far, including those before a resume */
    uint32_t rows;              /* of this rank */
    uint32_t length;            /* inputs of the longest row; at most leat_loader_max_length() */
    uint32_t width;             /* tokens from one row's start to the next in `tokens`: at least length + 1 */
    uint32_t token_width;       /* 2 or 4 */
    uint32_t sequences;         /* stretches of one document, or of padding, in all rows; 0: documents not asked for */
    uint32_t max_seqlen;        /* tokens of the longest one; for variable-length attention */
    const void *tokens;         /* rows x width, stored width, little-endian; after a row's length + 1 tokens: padding.
                                 * NULL: rows lie apart (enum leat_apart), or are of order fit */
    const uint32_t *lengths;    /* inputs of each row; with `unshifted`, its last label is one of them */
    const uint8_t *flags;       /* of each row: LEAT_ROW_... */
    const struct leat_sample *samples; /* where each row comes from; all zero for a padded row */
    uint64_t damaged_rows;      /* in this batch */
};

/*
 * Takes the next batch, waiting until it is ready. Returns LEAT_E_END after the last one; LEAT_E_STATE if the caller
 * holds all slots (more `slots` let it hold more); or, from then on, why no further batch is possible: _IO, _TRUNCATED,
 * _CHECKSUM, _DOCUMENTS (`err` names file, place and documents), _DEVICE.
 */
LEAT_API enum leat_status leat_loader_next(struct leat_loader *loader, const struct leat_batch **batch,
                                           struct leat_error *err);

/* Waits for at most `max_ns` nanoseconds, and then returns LEAT_E_AGAIN: for programs that must check something else,
 * such as signals, while they wait. With `threads` 0 it does the work itself, and waits for the disk. */
LEAT_API enum leat_status leat_loader_next_within(struct leat_loader *loader, uint64_t max_ns,
                                                  const struct leat_batch **batch, struct leat_error *err);

/* Does not wait: returns LEAT_E_AGAIN if no batch is ready. With `threads` 0 it works, and waits for the disk. */
LEAT_API enum leat_status leat_loader_try_next(struct leat_loader *loader, const struct leat_batch **batch,
                                               struct leat_error *err);

/* Sets *fd to a descriptor for poll() and event loops. When it is readable, a batch may be ready: read 8 bytes from it,
 * and call leat_loader_try_next() until it returns LEAT_E_AGAIN. The loader closes it. LEAT_E_UNSUPPORTED: `threads` is
 * 0, or the system has no such descriptors. */
LEAT_API enum leat_status leat_loader_event_fd(struct leat_loader *loader, int *fd, struct leat_error *err);

/* Returns a row's tokens on the host, little-endian, in the stored width and aligned to it: length + 1 of them (with
 * `unshifted`: length), or one end token if it has none; of order fit: those of its pieces, one after another. NULL: no
 * such row. Valid until the batch is released. */
LEAT_API const void *leat_batch_row(const struct leat_batch *batch, uint32_t row);

/*
 * What to make of a batch, and where: in memory of the caller, on the loader's device. NULL: not wanted. A row has
 * `length` numbers: inputs first, then padding. Numbers are signed, of number_bytes.
 */
struct leat_outputs {
    size_t size;
    uint32_t number_bytes; /* 8 or 4: of inputs, labels, position_ids and document_ids. _INIT: 8 */
    uint32_t unshifted;    /* as in the options that the loader was opened with. 0: label i is token i + 1. 1: label i
                            * is token i */
    uint32_t mask_first;   /* 1: a document's first token has no loss as a label (needs document starts) */
    uint32_t reserved;     /* 0 */
    uint64_t rows;         /* rows that fit, at least batch->rows; those after it are padding. 0: batch->rows */
    uint64_t length;       /* numbers per row, at least batch->length. 0: batch->length */
    void *inputs;
    void *labels;          /* -100 if there is no loss */
    uint8_t *loss_mask;    /* 1: this label counts; 0: padding, a damaged row, mask_first, or left out by
                            * the dataset's mask (leat_dataset_mask()); the label is then -100 */
    uint8_t *attention_mask; /* 0: padding after a shorter row; else 1, also for rows of only padding */
    void *position_ids;    /* of a token in its document, counted from the start of the document or of the row */
    void *document_ids;    /* 0 for the tokens of the row's first document, 1 for the next, ... */
    int32_t *cu_seqlens;   /* 0, then the end of each stretch of one document or of padding, counted through all rows;
                            * numbers that are left repeat the last one, which is rows * length */
    uint64_t cu_seqlens_room; /* in numbers: batch->sequences + 1, and one per row that only `rows` or `length` pads */
    float *loss_weights;   /* how much each label counts: 0 where loss_mask is 0; else 1, or the byte that the dataset's
                            * mask has for it / 255. A weighted mean divides by their sum */
};
#define LEAT_OUTPUTS_INIT                                                                                              \
    { sizeof(struct leat_outputs), 8, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL }

/*
 * Writes outputs of a batch. On a GPU, work queued later on `stream` (NULL: the default stream) sees them. On
 * the host, `stream` is ignored, and they are there when the call returns. Returns LEAT_E_ARGUMENT (a length below the
 * batch's; document starts are needed and were not asked for; ...), LEAT_E_STATE (the stream is being captured),
 * LEAT_E_RANGE (cu_seqlens_room is too small; `err` says what is needed), LEAT_E_DEVICE.
 */
LEAT_API enum leat_status leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                           void *stream, struct leat_error *err);

/* Points *outputs at what leat_loader_options.borrow asked for; valid until the batch is released. Sets all of it
 * except its size. On a GPU, work queued later on `stream` sees the outputs; call it once for each stream. */
LEAT_API enum leat_status leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                            struct leat_error *err);

/* Gives the slot back. On a GPU, work already queued on `stream` (NULL: the default stream) may still use what was
 * borrowed; work on other streams may not, unless `stream` waits for it. Never waits, never fails. */
LEAT_API void leat_batch_release(const struct leat_batch *batch, void *stream);

/* Writes the state of a run that has consumed this batch and all before it, to save with a checkpoint, as
 * leat_plan_state_save() does. It is the same on all ranks, except for the count of damaged rows. */
LEAT_API enum leat_status leat_batch_state(const struct leat_batch *batch, char text[LEAT_PLAN_STATE_BYTES],
                                           struct leat_error *err);

/* ---- What a loader has done ---- */

/* Durations in nanoseconds; quantiles are accurate to within 1/16. */
struct leat_times {
    uint64_t count, mean, p50, p99, p999, max;
};

struct leat_loader_stats {
    size_t size;
    uint64_t batches, rows, tokens; /* given to the consumer */
    uint64_t bytes;                 /* of tokens, gathered from files */
    uint64_t read_bytes;            /* requested from files, including what was read around rows */
    uint64_t reads, hits;           /* rows read; those of them that needed no disk, as far as is known */
    uint64_t pages_verified;
    uint64_t rows_damaged;
    uint64_t warmed_bytes;          /* read ahead in sequence, in the background */
    struct leat_times next;         /* how long leat_loader_next() took */
    /* Where the time of the loader's thread (with `threads` 0: of the calls) went, in nanoseconds. storage_ns: it
     * waited for a disk or a server; 0 if all came before it was needed, however many requests that took. */
    uint64_t order_ns, gather_ns, storage_ns, documents_ns, outputs_ns, copy_ns, slot_ns;
    uint64_t consumer_ns;           /* how long the consumer waited in leat_loader_next() */
    double waiting_share;           /* of the consumer's time, over the last 100 batches */
    double waiting_share_all;       /* of the consumer's time, since the first batch */
    uint64_t first_batch_ns;        /* from open to the first batch */
    uint64_t ring_bytes;
    uint32_t slots;
    uint32_t reads_in_flight;       /* the most at any moment */
    uint32_t huge_pages;            /* 1: requested for the ring */
    uint32_t warming;               /* 1: files are being read ahead now */
    char engine[64];                /* in use: "map", or with the number of files "map 3, uring 1" */
    char device[64];                /* "host, avx2", "cuda:0, NVIDIA H100 80GB HBM3" */
    /* On a GPU, the next four: */
    uint64_t device_ring_bytes;     /* the ring there, with the borrowed outputs */
    double device_memory_used;      /* share in use, by any program, when the ring was made; above 0.8: a notice */
    uint32_t unpinned;              /* 1: the ring's memory could not be pinned */
    uint32_t slots_wanted;          /* greater than `slots` if there was no memory for more */
    uint64_t copied_bytes;          /* of `bytes`: copied to slots by the CPU, here or in the kernel; the others were
                                     * written there by the disk (enum leat_apart) */
    uint32_t unregistered;          /* 1: io_uring could not register memory (ulimit -l is too low): somewhat slower */
    /* For datasets on a server that were not complete in the cache when they were opened, else 0: */
    uint32_t caching;               /* 1: a process of this node fetches the rest in the background now */
    uint64_t remote_requests, remote_retries, remote_bytes;
    double remote_share;            /* of the pages of tokens that were needed: did not lie in the cache */
    uint64_t cached_bytes;          /* of their token files, in the cache, as far as this process has filled it */
    uint64_t cache_bytes;           /* all of their token files */
    uint64_t evicted_bytes;         /* that this process removed from the cache, to keep within its limit */
    uint32_t cache_failed;          /* 1: the rest of a dataset cannot be kept, and is fetched no more; a notice says
                                     * why */
};
#define LEAT_LOADER_STATS_INIT                                                                                         \
    { sizeof(struct leat_loader_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, 0, 0, 0,    \
      0.0, 0.0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, 0.0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0, 0, 0, 0 }

LEAT_API void leat_loader_stats(const struct leat_loader *loader, struct leat_loader_stats *stats);

/* Writes the main statistics as one line for a log, without a newline, cut to `capacity` - 1 bytes. */
LEAT_API void leat_loader_stats_line(const struct leat_loader *loader, char *text, uint64_t capacity);

/*
 * Reports what a person should know: that the consumer waits for batches, why, and what helps; that io_uring is
 * forbidden; that a file is no longer mapped; that memory is short on the GPU, or cannot be pinned. Returns 1 and a
 * sentence, once for each, or 0 if there is nothing new. Call it now and then, and print what it says.
 */
LEAT_API uint32_t leat_loader_notice(struct leat_loader *loader, char *text, uint64_t capacity);

/* ---- Writing a dataset ------------------------------------------------------------------------------------------ */

struct leat_writer;

struct leat_writer_options {
    size_t size;
    uint64_t vocabulary;  /* 1 to 2^32; decides the width: two bytes up to 65,536 entries, else four */
    uint64_t end_token;   /* appended to each document; LEAT_NONE: none. _INIT: LEAT_NONE */
    uint64_t begin_token; /* put before each document; LEAT_NONE: none. _INIT: LEAT_NONE */
    const struct leat_stored_tokenizer *tokenizer; /* to store in the index; NULL: none. The call copies it */
    const uint8_t *fingerprint; /* 16 bytes; NULL: a hash of the stored tokenizer */
    uint64_t created;           /* seconds since 1970; 0: not recorded, so that the same content gives the same bytes */
    uint32_t force;             /* 1: finishing replaces an existing dataset; 0: opening returns LEAT_E_EXISTS */
    uint32_t store_lines;       /* 1: store a line number for each document */
    uint32_t store_ids;         /* 1: store an id string for each document */
    uint32_t store_hashes;      /* 1: store a hash of each document's text */
    /* If not NULL: called about ten times per second while leat_writer_resume() reads back what was written, with the
     * bytes done. Nonzero stops that (LEAT_E_STOPPED); the run can still be resumed. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    uint32_t store_mask; /* 1: store a mask: a byte for each token, see leat_dataset_mask() */
    uint32_t index_only; /* 1: write NAME.leat alone. The tokens that are added are hashed, not written: they are, or
                          * will be, in NAME.tokens, which the caller moves there afterwards. No checkpoints */
    /* From this byte of NAME.tokens on, tokens go to the disk past the page cache, if the file system says that it can
     * do that (ext4, XFS; Linux 6.1): threads that put documents then do not wait for each other in the kernel, which
     * also copies nothing, but the next reader of the file finds it on the disk. The bytes are the same. Up to 4
     * threads of the writer write up to 4 MiB beside the caller's. 0: never; 1: all tokens */
    uint64_t direct_from;
};
#define LEAT_WRITER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_writer_options), 0, LEAT_NONE, LEAT_NONE, NULL, NULL, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0 }

/*
 * Starts a dataset `name` (NAME, NAME.leat or NAME.tokens; NAME must not end in a dot or in .partial). Its folder must
 * exist. Until leat_writer_finish(), everything is in files named NAME.partial.*, locked against a second writer.
 * Removes the leftovers of a killed run; but if they hold a checkpoint and `force` is 0, returns LEAT_E_EXISTS. Memory
 * stays within about 20 MiB, plus 100 bytes and the path of each input, for any number of documents.
 * Returns LEAT_E_ARGUMENT, _UNSUPPORTED (the name is a URL), _EXISTS, _BUSY, _NO_FILE (the folder), _PERMISSION,
 * _NO_SPACE, _IO or _NO_MEMORY.
 *
 * Where the process has a limit on the size of files (RLIMIT_FSIZE), writing beyond it is LEAT_E_NO_SPACE if the
 * program ignores SIGXFSZ, as Python does; else the system ends the program by that signal.
 *
 * If a call fails, the writer fails: every later call returns the same status, until leat_writer_suspend() or
 * leat_writer_abandon() ends it. Exceptions are LEAT_E_ARGUMENT, LEAT_E_STATE, and LEAT_E_TOKEN for a whole document.
 */
LEAT_API enum leat_status leat_writer_open(struct leat_writer **out, const char *name,
                                           const struct leat_writer_options *options, struct leat_error *err);

/* Declares an input with the next number, and sets *number (may be NULL) to it. Stores `path` as given. */
LEAT_API enum leat_status leat_writer_add_input(struct leat_writer *w, const char *path, uint64_t *number,
                                                struct leat_error *err);

/* Sets an input's bytes, rejects and hash. Ignores its documents, tokens and path_bytes: the writer counts them. */
LEAT_API enum leat_status leat_writer_set_input(struct leat_writer *w, uint64_t number, const struct leat_input *input,
                                                struct leat_error *err);

/*
 * Appends a whole document: its ids, between the options' begin and end token. A count of 0 makes a document too.
 * `origin` may be NULL (from no input).
 * Returns LEAT_E_TOKEN for an id that is not below the vocabulary size, and then writes nothing of the document.
 */
LEAT_API enum leat_status leat_writer_add_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);
LEAT_API enum leat_status leat_writer_add_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                              const struct leat_origin *origin, struct leat_error *err);

/*
 * The same for ids of `id_width` 2 or 4 bytes, with a byte of the mask for each (NULL: 255, which is also the mask of
 * documents added by the other calls). The begin token gets the byte of the document's first id, and the end token that
 * of the last; of a document without ids, 255. LEAT_E_ARGUMENT: a mask, without `store_mask`.
 */
LEAT_API enum leat_status leat_writer_add_masked(struct leat_writer *w, const void *ids, uint32_t id_width,
                                                 const uint8_t *mask, uint64_t count, const struct leat_origin *origin,
                                                 struct leat_error *err);

/* Writes a document in pieces, if it does not fit in memory: any number of appends, then the end. An id out of range
 * makes the writer fail, since part of the document is already written. */
LEAT_API enum leat_status leat_writer_append_u16(struct leat_writer *w, const uint16_t *ids, uint64_t count,
                                                 struct leat_error *err);
LEAT_API enum leat_status leat_writer_append_u32(struct leat_writer *w, const uint32_t *ids, uint64_t count,
                                                 struct leat_error *err);
/* The same for ids of `id_width` 2 or 4 bytes, with a byte of the mask for each (NULL: 255). */
LEAT_API enum leat_status leat_writer_append_masked(struct leat_writer *w, const void *ids, uint32_t id_width,
                                                    const uint8_t *mask, uint64_t count, struct leat_error *err);
LEAT_API enum leat_status leat_writer_end_document(struct leat_writer *w, const struct leat_origin *origin,
                                                   struct leat_error *err);

/*
 * Several documents at once, for programs whose threads make ids side by side. leat_writer_place() decides where they
 * go; calls of it, and of all functions above and below, come from one thread at a time, in the order of the documents.
 * leat_writer_put() then writes them, and may be called by several threads at once, in any order: exactly once for
 * each place, with the same documents. Checkpoints and finishing wait until all documents with a place are written.
 */
struct leat_documents {
    size_t size;
    const void *ids;         /* of all documents, one after another: uint16_t or uint32_t, see id_width */
    const uint64_t *lengths; /* how many ids each document has */
    const struct leat_origin *origins; /* of each; NULL: all from no input */
    uint64_t count;                    /* of documents */
    uint64_t first_line;               /* added to the line of each origin that has one */
    uint32_t id_width;                 /* 2 or 4 bytes */
    uint32_t reserved;                 /* 0 */
    const uint8_t *mask;               /* of each id, as for leat_writer_add_masked(); NULL: 255 */
};
#define LEAT_DOCUMENTS_INIT                                                                                            \
    { sizeof(struct leat_documents), NULL, NULL, NULL, 0, 0, 0, 0, NULL }

/* Where documents go: the number of the first one, its first token, and numbers of the writer's own. */
struct leat_place {
    uint64_t token, document, id_byte, cell;
};

LEAT_API enum leat_status leat_writer_place(struct leat_writer *w, const struct leat_documents *documents,
                                            struct leat_place *place, struct leat_error *err);

/* If it fails, the writer fails; also with LEAT_E_TOKEN for an id that is not below the vocabulary size, and
 * LEAT_E_ARGUMENT for an origin in an input that was not declared. */
LEAT_API enum leat_status leat_writer_put(struct leat_writer *w, const struct leat_documents *documents,
                                          const struct leat_place *place, struct leat_error *err);

/* Sets a metadata pair. The same key again replaces its value; a NULL value removes the pair. Keys are not empty. */
LEAT_API enum leat_status leat_writer_set_metadata(struct leat_writer *w, const char *key, const char *value,
                                                   struct leat_error *err);

/* Returns how many tokens and documents have been written. */
LEAT_API uint64_t leat_writer_tokens(const struct leat_writer *w);
LEAT_API uint64_t leat_writer_documents(const struct leat_writer *w);

/* Returns how many bytes of tokens this writer has written past the page cache (`direct_from`). */
LEAT_API uint64_t leat_writer_direct_bytes(const struct leat_writer *w);

/*
 * Makes everything so far durable, together with `note` (the caller's own bytes: where it is in its inputs), so that
 * leat_writer_resume() can continue from here, however the run ends. LEAT_E_STATE: a document is open. If the call
 * fails, the checkpoint before it stays.
 */
LEAT_API enum leat_status leat_writer_checkpoint(struct leat_writer *w, const void *note, uint64_t note_bytes,
                                                 struct leat_error *err);

/*
 * Opens the writer at its last checkpoint, and drops what was written after it. `options` must be those of the run's
 * start, except `force`, `created` and `progress` (LEAT_E_CHECKPOINT names the difference). Reads back all that was
 * written before the checkpoint, and changes nothing unless it is intact. On success *note is the checkpoint's note,
 * freed by leat_writer_free_note(), and *note_bytes its length; `note` may be NULL.
 * Returns LEAT_E_CHECKPOINT if there is no checkpoint (without a hint), also after a run that has finished if `force`
 * is 1; if it is of another version of leat; or if a file is damaged. LEAT_E_EXISTS if the run has finished and `force`
 * is 0, or if a file has been replaced by something else, such as a link.
 */
LEAT_API enum leat_status leat_writer_resume(struct leat_writer **out, const char *name,
                                             const struct leat_writer_options *options, void **note,
                                             uint64_t *note_bytes, struct leat_error *err);
LEAT_API void leat_writer_free_note(void *note);

/*
 * Does all of leat_writer_finish() except naming the files: completes the index and makes both files durable, so that
 * finishing can no longer fail for lack of space. For several datasets that should be finished all or none. After it
 * only leat_writer_finish(), _suspend() and _abandon() are allowed; other calls return LEAT_E_STATE.
 */
LEAT_API enum leat_status leat_writer_prepare(struct leat_writer *w, struct leat_error *err);

/*
 * Ends the writer: completes the index, makes both files durable and gives them their names, tokens first, index last,
 * so that an incomplete dataset never opens. Fills *info (may be NULL) as leat_dataset_info() does. On success it frees
 * the writer. On failure it does not: leat_writer_suspend() can then keep the checkpoint, or leat_writer_abandon()
 * remove everything.
 */
LEAT_API enum leat_status leat_writer_finish(struct leat_writer *w, struct leat_info *info, struct leat_error *err);

/* Ends and frees the writer without finishing. Keeps the last checkpoint for leat_writer_resume(); if there is none, it
 * does the same as leat_writer_abandon(). NULL is fine. */
LEAT_API void leat_writer_suspend(struct leat_writer *w);

/* Ends and frees the writer, and removes everything it wrote, with its checkpoint. An older dataset that it was to
 * replace stays, unless leat_writer_finish() had already removed it. NULL is fine. */
LEAT_API void leat_writer_abandon(struct leat_writer *w);

/* ---- Files of other tools --------------------------------------------------------------------------------------- */

struct leat_adopt_options {
    size_t size;
    const char *output; /* of the index OUTPUT.leat; NULL: the path of the tokens' file, of Megatron's without .bin */
    const struct leat_stored_tokenizer *tokenizer; /* to store in the index; NULL: none. Then set `vocabulary` too */
    uint64_t vocabulary; /* ids must be below it; 0: not known */
    uint64_t created;    /* as in struct leat_writer_options */
    uint32_t force;      /* replace an existing index */
    uint32_t reserved;   /* 0 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_adopt() (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    const uint8_t *fingerprint; /* 16 bytes; NULL: a hash of the stored tokenizer */
    uint64_t end_token; /* with which documents end: they are found by it, as by end= in the name, or, where the files
                         * record documents, each is checked to end with it. LEAT_NONE: as the name says */
    char *index;        /* if not NULL: gets the path of the index, with a NUL, cut to index_capacity bytes */
    uint64_t index_capacity;
};
#define LEAT_ADOPT_OPTIONS_INIT                                                                                        \
    { sizeof(struct leat_adopt_options), NULL, NULL, 0, 0, 0, 0, NULL, NULL, NULL, LEAT_NONE, NULL, 0 }

/*
 * Writes an index for one dataset of another tool, which stays where it is: documents, a hash of each page, tokenizer.
 * From then on the dataset is leat's own, under the name of the index: hashes are checked, by loaders too. Reads all
 * tokens once. A run that was stopped or killed goes on when it is called again; what it has done is kept in
 * OUTPUT.partial.adopt, and used if size and times of modification and change (ctime) of the file are the same. Fills
 * *info (may be NULL).
 * Returns LEAT_E_NOT_FOUND unless documents are known; LEAT_E_TOKEN for an id that is not below the vocabulary size, or
 * a document without the end token; LEAT_E_ARGUMENT for an end token that the name contradicts, or a vocabulary of more
 * than 65,536 entries for ids of 2 bytes; LEAT_E_ARGUMENT if there is an index already; LEAT_E_EXISTS, _BUSY;
 * LEAT_E_MISMATCH if the file changed meanwhile; or as leat_dataset_open() and leat_writer_open().
 */
LEAT_API enum leat_status leat_adopt(const char *name, const struct leat_adopt_options *options,
                                     struct leat_info *info, struct leat_error *err);

/* ---- Datasets on servers ---------------------------------------------------------------------------------------- */

struct leat_pull_options {
    size_t size;
    uint32_t force;       /* replace an existing dataset */
    uint32_t connections; /* at once, at most 64, each with 8 MiB of memory; 0: 8 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_pull() (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_PULL_OPTIONS_INIT { sizeof(struct leat_pull_options), 0, 0, NULL, NULL }

struct leat_pull_report {
    size_t size;
    uint64_t bytes;     /* of both files */
    uint64_t kept;      /* of these, what an earlier call had brought */
    uint64_t tokens;
    uint64_t documents;
    uint64_t requests;
    uint64_t retries;   /* of these, tries after the first */
};
#define LEAT_PULL_REPORT_INIT { sizeof(struct leat_pull_report), 0, 0, 0, 0, 0, 0 }

/*
 * Copies a dataset of leat's own from a server to this machine: URL.leat and URL.tokens to NAME.leat and NAME.tokens.
 * `url` is s3://BUCKET/NAME, gs://BUCKET/NAME, https://... or http://..., with or without one of the suffixes; a query
 * stays behind the suffix. Keys, region and endpoint come from the usual variables and files of AWS's tools
 * (docs/object-storage.md); none is in a message. Every page and section is checked by its hash when it arrives.
 *
 * Until all is here and durable, no dataset of this name exists. What a call that failed, was stopped or killed has
 * brought stays in NAME.partial.tokens and NAME.partial.leat, and the next call goes on from there.
 *
 * Fills *report (may be NULL), also after a failure. Returns LEAT_E_NO_FILE; LEAT_E_PERMISSION (keys); LEAT_E_MISMATCH
 * if the dataset changes on the server meanwhile; LEAT_E_CHECKSUM for damage; LEAT_E_IO for a server or network that
 * fails many times; LEAT_E_UNSUPPORTED without libcurl, for a server that does not serve ranges, and for an adopted
 * dataset; LEAT_E_EXISTS, _BUSY, _NO_SPACE, _STOPPED; or what opening a dataset returns.
 */
LEAT_API enum leat_status leat_pull(const char *url, const char *name, const struct leat_pull_options *options,
                                    struct leat_pull_report *report, struct leat_error *err);

struct leat_push_options {
    size_t size;
    uint32_t force;       /* replace a dataset that is there: its index is removed first */
    uint32_t connections; /* at once, at most 64, each with a part in memory (16 MiB, more beyond 156 GiB); 0: 8 */
    /* If not NULL: called now and then with the bytes done. Nonzero stops leat_push() (LEAT_E_STOPPED). */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_PUSH_OPTIONS_INIT { sizeof(struct leat_push_options), 0, 0, NULL, NULL }

struct leat_push_report {
    size_t size;
    uint64_t bytes;     /* of both files */
    uint64_t kept;      /* of these, what an earlier call had sent */
    uint64_t tokens;
    uint64_t documents;
    uint64_t requests;
    uint64_t retries;   /* of these, tries after the first */
};
#define LEAT_PUSH_REPORT_INIT { sizeof(struct leat_push_report), 0, 0, 0, 0, 0, 0 }

/*
 * Copies a dataset of leat's own to a bucket, s3://BUCKET/NAME or gs://BUCKET/NAME: NAME.tokens first, then NAME.leat,
 * in uploads of several parts; each exists when it is whole. The pages are checked by their hashes before they are
 * sent, and the server checks what arrives by the SHA-256 in each request's signature. What a call that failed, was
 * stopped or killed has sent stays on the server, and the next call does not send it again. Nothing is replaced without
 * `force`, also if it appears meanwhile, where the server knows If-None-Match.
 *
 * Fills *report (may be NULL), also after a failure. Returns LEAT_E_EXISTS; LEAT_E_CHECKSUM for damage here;
 * LEAT_E_PERMISSION (keys); LEAT_E_IO for a server or network that fails many times; LEAT_E_UNSUPPORTED without libcurl
 * and for what is not a dataset of leat's own on this machine (adopted, other tools' files, a list, a URL);
 * LEAT_E_STOPPED; or what opening a dataset returns.
 */
LEAT_API enum leat_status leat_push(const char *name, const char *url, const struct leat_push_options *options,
                                    struct leat_push_report *report, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
