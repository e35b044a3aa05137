/*
 * inputs.h: finds the inputs that the words of a command line stand for: files, folders (everything in them, in the
 * order of their paths as bytes), patterns, @lists, standard input, URLs and prefixes of them, in a fixed order; and
 * the share of a run.
 *
 * An *input* is a file, or what a URL names, that `leat pack` reads. A *share* is what one run of `leat pack --part
 * I/N` packs of the inputs.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUTS_H
#define LEAT_TOKENIZE_TOOLS_INPUTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "corpus/fetch/hub_tree.h"
#include "corpus/streams/raw_input.h"
#include "input_fields.h"
#include "input_judge.h"
#include "leat_pack.h"
#include "record_format.h"
#include "json/json_records.h"

struct byte_stream;
struct csv_header;
struct file_kind;

struct input {
    char *place;                 /* where a file is opened: the end of it is */
    const char *path;            /* as given, or below a given folder; "-": standard input; the name of an object */
    struct fetch_object *object; /* on a server; NULL: a file */
    const struct record_format *format;
    bool compressed;                 /* by its name or its first bytes */
    bool undivided;                  /* JSON that is not lines, by its first bytes: known only after inputs_share() */
    bool looked;                     /* inputs_check_heads() has looked at its first records */
    uint64_t size;                   /* on disk; 0 for standard input */
    uint64_t device, inode;          /* of a file */
    int64_t modified_s, modified_ns; /* of a file; an object has its etag */
    uint64_t begin, end;             /* the share of its bytes that is packed: begin < end, or all of it */
};

struct input_skipped {
    char *path;
    enum leat_skip_reason reason;
    const struct file_kind *unread; /* what it is, if it may hold texts and cannot be read; NULL: it may not */
};

/* A split of a Hugging Face folder that was found among the inputs. */
struct input_split {
    char *name; /* NULL: the files of no split */
    size_t inputs;
    bool packed;
};

struct input_list {
    struct input *items;
    size_t count, room;
    uint64_t bytes;                /* of all shares */
    struct input_skipped *skipped; /* files that are left out, in the order of their paths */
    size_t skipped_count;
    struct input_split *splits; /* none, if nothing says which split any input belongs to, or if nobody asks */
    size_t split_count;
    struct fetcher *fetcher; /* of the objects among them; NULL: there are none */
    struct hub_pins pins;    /* the commits of what was named on the Hugging Face Hub */
};

/*
 * Looks up `count` words: names, patterns (* ? [), @lists and "-". Of a folder, ignores hidden files and the run's own,
 * takes those that input_judge.h takes, and lists the others as skipped, with names that begin with _ (search.h)
 * and links that lead out of it; and the run's own files, if they are named or have another name. Of a prefix on a
 * server, likewise, but what has an unknown suffix is skipped without a look inside. LEAT_E_ARGUMENT for a file with an
 * unknown suffix, if nothing but the run's own files is named, if lists or links multiply, or if the inputs do not all
 * belong to one split and the rules name none (search_splits.c); LEAT_E_UNSUPPORTED for a corpus that cannot be read,
 * LEAT_E_NO_FILE, or LEAT_E_NOT_FOUND for a folder or list without inputs.
 */
enum leat_status inputs_find(struct input_list *list, const char *const *words, size_t count,
                             const struct input_rules *rules, struct leat_error *err);
void inputs_free(struct input_list *list);

/* An opened file of an input, as it was when it was found. */
struct input_file inputs_file(const struct input *in, int fd);

/* Returns LEAT_E_TRUNCATED if an input that ended at byte `at` was longer when it was found. */
enum leat_status inputs_check_end(const struct input *in, uint64_t at, struct leat_error *err);

/* The same for a stream that was read up to `at`, or up to its `damage` (NULL: none), which may be the end. */
enum leat_status inputs_check_read(const struct input *in, uint64_t at, const struct leat_error *damage,
                                   struct leat_error *err);

/* Reads the first bytes of JSON, as many as tell its layout, into an empty buffer. Damage there is no error: what is
 * read of the stream next says it again. */
enum leat_status inputs_read_head(struct byte_stream *stream, struct buffer *head, enum json_layout *layout,
                                  struct leat_error *err);

/* Opens an input to see whether it is compressed, and how its records lie, if it is JSON. */
enum leat_status inputs_look_inside(const struct input *in, const struct input_stop *stop, bool *compressed,
                                    enum json_layout *layout, struct leat_error *err);

/* Reads the header of a table in text, at the start of `stream`, or (NULL) of the input, which is opened; what was read
 * is then in `head`. *header NULL: it has none, or is damaged there. */
enum leat_status inputs_look_for_header(const struct input *in, struct byte_stream *stream,
                                        const struct record_fields *fields, const struct input_stop *stop,
                                        struct csv_header **header, struct buffer *head, struct leat_error *err);

/* Judges an input of JSON lines by the first bytes of its text: LEAT_E_UNSUPPORTED for what is no text. `stream` is
 * it, opened. */
enum leat_status inputs_check_head(const struct input *in, const struct byte_stream *stream, const uint8_t *head,
                                   size_t bytes, bool allow_binary, struct leat_error *err);

/* The same, before any work, for as many files of JSON as a quarter of a second allows (16 at least), but not for those
 * that are compressed with bzip2; what lies on servers would take a request each. And whether the first records of each
 * have the fields that the run wants (`search`, which has been begun: input_fields.h), or, if these are all inputs of
 * the run (`whole`), any: unless there are more texts of one document than records that were seen. */
enum leat_status inputs_check_heads(struct input_list *list, struct field_search *search, bool allow_binary, bool whole,
                                    const struct input_stop *stop, struct leat_error *err);

/* Reads the first bytes of a stream to the end of `head`: `least` of them, and if these have no whole record, up to
 * `most`. *ended: there are no more. */
#define FIELD_HEAD      JSON_LONG_HEAD
#define FIELD_LONG_HEAD (16 * FIELD_HEAD)
enum leat_status inputs_read_records(struct byte_stream *stream, struct buffer *head, size_t least, size_t most,
                                     bool *ended, struct leat_error *err);

/*
 * Keeps share `part` of `parts` (1 to parts): the bytes from total * (part - 1) / parts up to total * part / parts of
 * all inputs, one after the other. Plain files for which `divides` is true are cut inside; other files, JSON that is
 * not lines, and lines on servers go whole to the share that has their first byte. LEAT_E_ARGUMENT if standard input is
 * among them. `stop` is asked seldom.
 */
enum leat_status inputs_share(struct input_list *list, unsigned part, unsigned parts,
                              bool (*divides)(const struct input *in), const struct input_stop *stop,
                              struct leat_error *err);

/* Counts the inputs that inputs_share() gives whole to one of `parts` shares, and the shares that get nothing. */
enum leat_status inputs_count_empty(const struct input_list *list, unsigned parts,
                                    bool (*divides)(const struct input *in), const struct input_stop *stop,
                                    uint64_t *whole, uint64_t *empty, struct leat_error *err);

/* ---- Repeated inputs --------------------------------------------------------------------------------------------- */

/* Inputs that are named more than once, whose documents are packed as often. */

/* Counts the inputs that are an earlier one again: the same file, by device and inode, or the same URL. *first is the
 * first of them, in the list; NULL if there is none. */
enum leat_status inputs_count_repeated(const struct input_list *list, size_t *count, const struct input **first,
                                       struct leat_error *err);

#endif
