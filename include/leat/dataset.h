/* dataset.h: opens datasets of leat and of other tools, and reads what they hold. */
#ifndef LEAT_PUBLIC_DATASET_H
#define LEAT_PUBLIC_DATASET_H

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

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
    /*
     * Where a file server restarts or fails over, calls fail for a while: with EIO, ESTALE, ETIMEDOUT, ESHUTDOWN or
     * ENOTCONN. On network file systems and FUSE they are tried again for so many seconds, after pauses that grow from
     * 10 ms to 5 s; elsewhere once, at once. This holds for opening, and for all that is read later, also by a loader,
     * whose notices say so. A file that must be opened again has to have the size and the modification time that it
     * had, else LEAT_E_MISMATCH says that it was replaced. 0: as many as the variable LEAT_RETRY_SECONDS says, else 60;
     * LEAT_RETRY_NEVER: no call is tried again. That time is for all calls of a failure together, such as those of many
     * damaged rows: later ones are tried again once, until none has failed for as long.
     */
    uint32_t retry_seconds;
    uint32_t reserved; /* 0 */
    /* If not NULL: called about 20 times a second while a call waits for that, on the caller's thread, with what
     * failed. Nonzero ends the wait, and the call returns LEAT_E_STOPPED. A loader with a thread waits there, until it
     * is closed, and does not call it. */
    uint32_t (*waiting)(void *context, const char *why);
    void *waiting_context;
};
#define LEAT_RETRY_NEVER UINT32_MAX
#define LEAT_OPEN_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_open_options), LEAT_ACCESS_LEASED, 0, NULL, 0, 0, 0, NULL, NULL }

/*
 * Opens one dataset, or a list of datasets joined end to end. `name` is one of:
 *   NAME, NAME.leat or NAME.tokens: one dataset, even if there is also a folder NAME (write NAME/ for the folder);
 *   a folder: every *.leat in it, sorted by NAME as bytes, except hidden and unfinished ones (NAME.partial.leat); the
 *   folder of a run (`leat pack --run`) opens when all parts of the run are in it, and one with leat-run.list
 *   (leat/run.h) as what this names;
 *   FOLDER/leat-run.list, or FOLDER/leat-run.list.RUN, also on a server: as one of the folder's lists has it, which may
 *   be an earlier one, from before parts were appended;
 *   @FILE: a text file with one dataset per line. Blank lines and lines that begin with # are skipped, and relative
 *   names start from the folder of FILE;
 *   s3://BUCKET/NAME, gs://BUCKET/NAME, az://CONTAINER/NAME, hf://datasets/ORG/REPOSITORY/NAME,
 *   https://HOST/PATH/NAME or http://...: a dataset on a server, read through a cache in a folder of this machine
 *   (`cache` in the options, and docs/object-storage.md). Opening asks the server what the dataset is, and brings its
 *   index; tokens come when they are read, or in the background while a loader is open. Each page is checked when it
 *   comes. A call that reads tokens may wait for the network, and fail with it (LEAT_E_IO after all tries, which
 *   docs/object-storage.md counts; _PERMISSION, _MISMATCH if the dataset has changed on the server); in a child of
 *   fork() it returns LEAT_E_FORKED for tokens that are not here;
 *   files of other tools, which are opened where they lie and never written to:
 *     PREFIX, PREFIX.bin, PREFIX.idx or megatron:PREFIX: of Megatron, GPT-NeoX, NeMo, with tokens of uint16 or int32;
 *     raw:FILE?dtype=u16 or u32: nothing but tokens (nanoGPT's .bin, OLMo-core's headerless .npy); u32 reads int32;
 *     FILE.bin or llmc:FILE: of llm.c, or of NeMo AutoModel, whose FILE.bos.idx, if it exists, shows the begin token;
 *     FILE.pbin or pbin:FILE;   FILE.ds or datatrove:FILE: with FILE.index, and FILE.loss, if it exists, as its mask.
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
    uint64_t documents;      /* LEAT_NONE: not known, and calls that need documents return LEAT_E_NOT_FOUND */
    uint64_t inputs;
    uint64_t parts;          /* datasets in the list; 1 for a single one */
    uint64_t vocabulary;     /* number of entries: every id is below it */
    uint64_t end_token;      /* token after each document; LEAT_NONE: none */
    uint64_t begin_token;    /* token before each document; LEAT_NONE: none */
    uint64_t token_bytes;    /* total size of the token files */
    uint64_t index_bytes;    /* total size of the index files */
    uint64_t created;        /* seconds since 1970, of the first dataset of a list; usually 0: not recorded */
    uint32_t token_width;    /* 2 or 4 */
    uint32_t format_version; /* version of the index; the newest in a list */
    uint32_t stores_lines;   /* 1: at least one dataset stores its documents' line numbers */
    uint32_t stores_ids;     /* 1: at least one dataset stores its documents' id strings */
    uint8_t identity[16];    /* hash of the content: tokens, documents, vocabulary, tokenizer; not of names or times */
    uint8_t fingerprint[16]; /* fingerprint of the tokenizer */
    uint32_t stores_hashes;  /* 1: at least one dataset stores hashes of its documents' texts */
    uint32_t stores_mask;    /* 1: at least one dataset stores a mask, see leat_dataset_mask() */
    uint64_t foreign_parts;  /* parts that are files of other tools (see leat_dataset_open()); `vocabulary` is then
                              * what ids can be */
    uint64_t sequences;      /* sequences in Megatron's index, where a document may have several; in other files:
                              * documents */
    uint64_t offline_parts;  /* parts whose server could not be reached: the cache's complete copies of them were
                              * opened */
    uint64_t id_bytes;       /* bytes of all id strings; 0: no document has one, even if stores_ids is 1 */
};
#define LEAT_INFO_INIT                                                                                                 \
    { sizeof(struct leat_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0 }, { 0 }, 0, 0, 0, 0, 0, 0 }

LEAT_API void leat_dataset_info(const struct leat_dataset *d, struct leat_info *info);

/* One dataset of a list. */
struct leat_part {
    size_t size;
    const char *name;        /* NAME, without .leat; valid until the dataset is closed */
    uint64_t first_token;    /* number of its first token in the list */
    uint64_t tokens;
    uint64_t first_document;
    uint64_t documents;      /* LEAT_NONE: not known */
    uint64_t first_input;
    uint64_t inputs;
    uint8_t identity[16];
    const char *kind;        /* "leat", or the format of another tool: "megatron" */
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

/*
 * Writes the starts of `count` documents, from `number` on, to starts[0..count), with one read instead of many. The
 * number info.documents is valid too: its start is info.tokens.
 */
LEAT_API enum leat_status leat_dataset_starts(const struct leat_dataset *d, uint64_t number, uint64_t count,
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
    uint64_t tokens;     /* tokens of these documents, with begin and end tokens */
    uint64_t rejects;    /* records that were rejected */
    uint8_t hash[16];    /* hash of the input's bytes: FORMAT.md, "page sum"; all zero: not recorded */
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

struct leat_origin {
    uint64_t input;    /* LEAT_NONE: not from an input */
    uint64_t offset;   /* byte offset of the record in the (decompressed) input; for a Parquet file: its row, from 0 */
    uint64_t line;     /* line of the record, counted from 1; LEAT_NONE: not stored; when writing, 0 also means that
                        * it is not known. For a Parquet file: its row group, counted from 1 */
    const char *id;    /* writing: the document's id or NULL; reading: always NULL, see leat_dataset_ids() */
    uint64_t id_bytes; /* 0: no id */
    const uint8_t *text_hash; /* writing: 16 bytes or NULL; reading: always NULL, see leat_dataset_text_hashes() */
};

/* Fills origins[0..count) for the `count` documents from `first` on, with one read instead of one per document. */
LEAT_API enum leat_status leat_dataset_origins(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                               struct leat_origin *origins, struct leat_error *err);

/* Copies, as leat_dataset_input_path() does, the ids of the `count` documents from `first` on, one after another,
 * without separators. Each one's length is in its origin. */
LEAT_API enum leat_status leat_dataset_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, char *text,
                                           uint64_t capacity, uint64_t *bytes, struct leat_error *err);

/*
 * Reads the XXH3-128 of the texts of `count` documents from `first` on, as they were encoded, to hashes[0..count): low
 * half first, each half little-endian; all zero: not known.
 * LEAT_E_NOT_FOUND: the dataset, or the one of a list that has a requested document, stores no text hashes.
 */
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

#ifdef __cplusplus
}
#endif
#endif
