/*
 * error.h: the statuses and errors of both libraries, and their rules.
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
 *               know are not written, and must be 0 in a struct that it reads (else LEAT_E_UNSUPPORTED): the _INIT
 *               value of a field that a later version adds is 0. Other structs keep their size, except those that only
 *               the library makes and passes by pointer (struct leat_batch, what callbacks get). Those that may gain
 *               fields have `reserved` numbers for that, which must be 0: later versions give them names. No struct has
 *               padding, so that each byte has a meaning.
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
#ifndef LEAT_PUBLIC_ERROR_H
#define LEAT_PUBLIC_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define LEAT_API __attribute__((visibility("default")))
#else
#define LEAT_API
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
    LEAT_HINT_SAMPLES = 15,          /* `megatron.samples` in struct leat_plan_options */
    LEAT_HINT_AGAIN = 16,            /* nothing: an object on a server has changed meanwhile; call again */
    LEAT_HINT_TEXT = 17,             /* `text` in struct leat_pack_options */
    LEAT_HINT_MESSAGES = 18,         /* `messages` in struct leat_pack_options */
    LEAT_HINT_MASK_FIELD = 19,       /* the field that lists what of a text is learned */
    LEAT_HINT_BY = 20,               /* `by` in struct leat_pack_options */
    LEAT_HINT_EMPTY = 21,            /* permission for a dataset without documents */
    LEAT_HINT_SPLIT = 22,            /* `split_of` in struct leat_pack_options, a split or "all" */
    LEAT_HINT_SPLIT_ALL = 23,        /* use another split, or "all" */
    LEAT_HINT_CHAT_DATE = 24,        /* `chat_date` in struct leat_pack_options */
    LEAT_HINT_CHAT_TIME = 25,        /* `chat_seconds` or `skip_slow_chats` in struct leat_pack_options */
    LEAT_HINT_APPEND_OR_REPLACE = 26, /* `append` in struct leat_run_options, or `force` */
    LEAT_HINT_CHAT = 27,             /* `text` in struct leat_pack_options, or `chat` for conversations */
    LEAT_HINT_PAIR = 28              /* `prompt` or `completion` there */
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
    uint32_t hint;      /* enum leat_hint below 1000; from 1000 on, a number that leat_run_advice() takes */
    char file[1024];    /* the file, folder or URL that the failure is about, under the name that was given (after
                         * opening a/b: a/b.tokens) and without the query of a URL; raw bytes, not for printing; "":
                         * none */
    char field[128];    /* the part that is wrong: the option or parameter (LEAT_E_ARGUMENT), by its name in C and
                         * without the struct's; or a record's member or column, as it was asked for; "": none */
    uint64_t reserved[4]; /* 0 */
};

/*
 * Makes text from files (names, ids, metadata) safe to show. What would send a terminal a command, end the line or
 * change the order in which text is shown becomes an escape such as \x1b or \u202e: control characters, line and
 * paragraph separators, marks of direction, characters that nobody sees (U+200B, U+FEFF, tags), and bytes that are not
 * UTF-8. The rest stays. Sentences in struct leat_error have passed through this function already.
 *
 * Writes as much to `out` as fits in `capacity` with a NUL, without cutting an escape or a character, and returns the
 * length of the whole without the NUL; at most 6 per byte of `text`. `out` may be NULL if `capacity` is 0.
 */
LEAT_API uint64_t leat_show(char *out, uint64_t capacity, const char *text, uint64_t bytes);

/*
 * Copies a dataset's name, as it was given, without the secrets that it may have: the user and the password of a URL,
 * and what follows the ? or # of one that begins with http:// or https://. Sentences in struct leat_error show URLs in
 * this form, too. Other bytes stay as they are; to print the name, pass it to leat_show(). `out`, `capacity` and the
 * result are as for leat_show(); the copy is not longer than the name.
 */
LEAT_API uint64_t leat_show_name(char *out, uint64_t capacity, const char *name, uint64_t bytes);

/* Returns a status's short lower-case name ("truncated"), or "unknown" for any other number. Static memory. */
LEAT_API const char *leat_status_name(enum leat_status status);

#ifdef __cplusplus
}
#endif
#endif
