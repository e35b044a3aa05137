/* packer.h: packs texts that a program makes. */
#ifndef LEAT_PUBLIC_PACKER_H
#define LEAT_PUBLIC_PACKER_H

#include "column.h"
#include "pack.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

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
 * `dedup`, `by` and `splits` are LEAT_E_ARGUMENT: leat_merge() does that with the finished dataset. `keep` makes the
 * caller ask about each row before it adds its document: see leat_packer_judge(). `column` needs values for each
 * document: see leat_packer_put_values(); for conversations and pairs it is LEAT_E_ARGUMENT. With `resume` it
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

/* A stretch of a text: bytes [begin, end). */
struct leat_span {
    uint64_t begin, end;
};

/*
 * Texts, one after another in `data`. Set one of `lengths`, in bytes, `offsets32` and `offsets64`. Offsets are as Arrow
 * lays out an array of strings: text i is data[offsets[i], offsets[i + 1]).
 *
 * Spans, for a packer with `store_mask`, are the stretches of each text that training learns to predict
 * (leat_dataset_mask()), in order and not overlapping; an empty one stands for nothing. The mask of a token is 255 if
 * one of the bytes that it stands for is in a span, else 0. So a token that reaches over an end of a span is learned.
 * The end token has the mask of the last token, the begin token that of the first; in a document without tokens, both
 * have 255. A text is rejected if it is malformed UTF-8, or if its tokens cannot be traced to its bytes: the tokenizer
 * normalizes it to another text, or has no token for a character.
 */
struct leat_texts {
    size_t size;
    uint64_t count;
    const char *data;
    const uint64_t *lengths;
    const int32_t *offsets32;
    const int64_t *offsets64;
    const struct leat_origin *origins; /* origin of each; NULL: all from no input */
    const struct leat_span *spans;     /* spans of all texts, one after another; NULL: all is learned */
    const uint64_t *span_counts;       /* how many of them each text has */
};
#define LEAT_TEXTS_INIT { sizeof(struct leat_texts), 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL }

/*
 * Conditions (`keep`) are on the fields of rows, of which the caller gives their values: leat_packer_judge() says
 * whether they hold, as leat_pack() judges a record; then the row's document is added, else leat_packer_keep_out()
 * counts the row. Adding more documents than it has kept is LEAT_E_ARGUMENT, also with `chat`: the packer does not look
 * into records.
 */

/* A field that a condition names. Those of other types than strings and numbers cannot be compared: leat_pack() refuses
 * such a column, and takes every condition on such a member of JSON as false. */
struct leat_field {
    const char *path;  /* dots lead into objects */
    uint32_t compared; /* 0: it counts only whether there is a value */
    uint32_t reserved; /* 0 */
};

/* Sets *fields to the fields that all conditions name, and *count to their number; without conditions 0. The memory
 * is the packer's. */
LEAT_API void leat_packer_fields(const struct leat_packer *p, const struct leat_field **fields, uint64_t *count);

enum leat_value_kind {
    LEAT_VALUE_NULL = 0,    /* null, or the row has no such field */
    LEAT_VALUE_OTHER = 1,   /* true, a list, ...: it exists, and compares with nothing */
    LEAT_VALUE_STRING = 2,  /* `text` */
    LEAT_VALUE_DECIMAL = 3, /* `text`: a number as JSON has it */
    LEAT_VALUE_INT64 = 4,
    LEAT_VALUE_UINT64 = 5,
    LEAT_VALUE_DOUBLE = 6, /* compared as the shortest decimal that reads back as this double */
    LEAT_VALUE_FLOAT = 7   /* a double that is read as a float: 0.1f is 0.1 */
};

struct leat_value {
    uint32_t kind;     /* enum leat_value_kind */
    uint32_t reserved; /* 0 */
    uint64_t bytes;    /* length of `text` */
    union {
        const char *text;
        int64_t int64;
        uint64_t uint64;
        double number; /* value of a double or float */
    } as;
};

/* Judges a row by the values of its fields, one for each that leat_packer_fields() gives: *keep is 1 if all conditions
 * hold. */
LEAT_API enum leat_status leat_packer_judge(struct leat_packer *p, const struct leat_value *values, uint32_t *keep,
                                            struct leat_error *err);

/* Counts rows that are not added, because a condition does not hold: `kept_out` of the report. */
LEAT_API enum leat_status leat_packer_keep_out(struct leat_packer *p, uint64_t rows, struct leat_error *err);

/*
 * Values of a column of a packer with `column`, in which FIELD does not matter: numbers of this machine, `width` for
 * each entry, which are converted as leat_column_writer_add() converts them; or the texts of a category, of at most
 * 1024 bytes each: text i is bytes [ends[i - 1], ends[i]) of `values`, [0, ends[0]) the first.
 */
struct leat_column_values {
    const void *values;
    const uint64_t *ends; /* NULL for numbers */
    uint64_t entries;     /* documents, or ids of all documents */
    uint32_t type;        /* enum leat_column_type of the numbers; 0 for texts */
    uint32_t reserved;    /* 0 */
};

/* Gives the values of all columns, in the order of the options, for the documents that the next call adds, which takes
 * them, even if it fails. Begin and end tokens, which packing adds, get zeros. LEAT_E_ARGUMENT names the column and the
 * entry of a value that its type does not hold. */
LEAT_API enum leat_status leat_packer_put_values(struct leat_packer *p, const struct leat_column_values *columns,
                                                 uint64_t count, struct leat_error *err);

/* Adds texts. A text that cannot be encoded is rejected, as leat_pack() rejects a record. LEAT_E_ARGUMENT, and nothing
 * is taken, if offsets decrease, an origin names an input that was not declared, or spans are not as above; or if the
 * packer makes columns, and one is per token or does not have a value for each text. */
LEAT_API enum leat_status leat_packer_add_texts(struct leat_packer *p, const struct leat_texts *texts,
                                                struct leat_error *err);

/* Adds documents that are encoded already. LEAT_E_ARGUMENT, and nothing is taken, for an id beyond the vocabulary, an
 * origin in an input that was not declared, a mask without `store_mask`, and columns without a value for each document
 * or id. */
LEAT_API enum leat_status leat_packer_add_ids(struct leat_packer *p, const struct leat_documents *documents,
                                              struct leat_error *err);

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

#ifdef __cplusplus
}
#endif
#endif
