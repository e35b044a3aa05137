/*
 * inputs.h: finds the inputs that the words of a command line stand for: files, folders (everything in them, in the
 * order of their paths as bytes), patterns, @lists, standard input, URLs and prefixes of them, in a fixed order; and
 * the share of a run.
 *
 * An *input* is a file, or the object of a URL, that `leat pack` reads. A *share* is the part of the inputs that one
 * run of `leat pack --part I/N` packs.
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
    char *place;                 /* path at which a file is opened, which ends in `path` */
    const char *path;            /* path as given, or below a given folder; "-" for standard input; an object's name */
    struct fetch_object *object; /* object on a server; NULL for a file */
    const struct record_format *format;
    bool compressed;                 /* true if its name or first bytes say so */
    bool undivided;                  /* true for JSON that is not lines; known only after inputs_share() */
    bool looked;                     /* true if inputs_check_heads() has looked at its first records */
    uint64_t size;                   /* bytes on disk; 0 for standard input */
    uint64_t device, inode;          /* of a file */
    int64_t modified_s, modified_ns; /* times of modification of a file; an object has its etag */
    uint64_t begin, end;             /* the share of its bytes that is packed: begin < end, or all of it */
};

struct input_skipped {
    char *path;
    enum leat_skip_reason reason;
    const struct file_kind *unread; /* kind of a file that may hold texts but cannot be read, or NULL */
};

/* A split of a Hugging Face folder that was found among the inputs. */
struct input_split {
    char *name; /* NULL for files that belong to no split */
    size_t inputs;
    bool packed;
};

struct input_list {
    struct input *items;
    size_t count, room;
    uint64_t bytes;                /* sum of all shares */
    struct input_skipped *skipped; /* files that are left out, in the order of their paths */
    size_t skipped_count, skipped_room;
    struct input_split *splits; /* splits of the inputs, if any input is known to belong to one */
    size_t split_count;
    struct fetcher *fetcher; /* client of the objects among the inputs; NULL if there are none */
    struct hub_pins pins;    /* the commits of names on the Hugging Face Hub */
};

/*
 * Looks up `count` words: names, patterns (* ? [), @lists and "-". In a folder it ignores hidden files and the run's
 * own, takes the files that input_judge.h takes, and lists the others as skipped, including names that begin with _
 * (search.h), links that lead out of the folder, and the run's own files if they are named or have another name. A
 * prefix on a server is searched in this way, too, but objects with an unknown suffix are skipped without a look
 * inside.
 *
 * Returns LEAT_E_ARGUMENT for a file with an unknown suffix, if only the run's own files are named, if lists or links
 * multiply, or if the inputs belong to several splits and the rules name none (search_splits.c); LEAT_E_UNSUPPORTED for
 * a corpus that cannot be read; LEAT_E_NO_FILE; LEAT_E_NOT_FOUND for a folder or list without inputs.
 */
enum leat_status inputs_find(struct input_list *list, const char *const *words, size_t count,
                             const struct input_rules *rules, struct leat_error *err);
void inputs_free(struct input_list *list);

/* Describes the opened file of an input, as it was when it was found. */
struct input_file inputs_file(const struct input *in, int fd);

/* Returns LEAT_E_TRUNCATED if an input that ended at byte `at` was longer when it was found. */
enum leat_status inputs_check_end(const struct input *in, uint64_t at, struct leat_error *err);

/* Does the check of inputs_check_end() for a stream that was read up to `at`, or up to its `damage` (may be NULL). */
enum leat_status inputs_check_read(const struct input *in, uint64_t at, const struct leat_error *damage,
                                   struct leat_error *err);

/* Reads into an empty buffer as many first bytes of JSON as tell its layout. Damage is no error here: the next read of
 * the stream returns it. */
enum leat_status inputs_read_head(struct byte_stream *stream, struct buffer *head, enum json_layout *layout,
                                  struct leat_error *err);

/* Opens an input, and finds out whether it is compressed, and the layout of its records if it is JSON. */
enum leat_status inputs_look_inside(const struct input *in, const struct input_stop *stop, bool *compressed,
                                    enum json_layout *layout, struct leat_error *err);

/* Reads the header of a table in text, at the start of `stream`, or of the input, which is opened, if `stream` is NULL.
 * `head` gets the bytes that were read. *header becomes NULL if there is no header, or it is damaged. */
enum leat_status inputs_look_for_header(const struct input *in, struct byte_stream *stream,
                                        const struct record_fields *fields, const struct input_stop *stop,
                                        struct csv_header **header, struct buffer *head, struct leat_error *err);

/* Judges an input of JSON lines, whose opened `stream` begins with `head`. Returns LEAT_E_UNSUPPORTED if it is no
 * text. */
enum leat_status inputs_check_head(const struct input *in, const struct byte_stream *stream, const uint8_t *head,
                                   size_t bytes, bool allow_binary, struct leat_error *err);

/* Judges, before any work, as many files of JSON as a quarter of a second allows (16 at least), and looks for the
 * wanted fields in their first records (`search`, which has been begun: input_fields.h). If these are all inputs of the
 * run (`whole`), at least one record must have each field, unless there are more texts of one document than records
 * that were seen. Leaves out files that are compressed with bzip2, and objects on servers, which would take a request
 * each. */
enum leat_status inputs_check_heads(struct input_list *list, struct field_search *search, bool allow_binary, bool whole,
                                    const struct input_stop *stop, struct leat_error *err);

/* Appends the first bytes of a stream to `head`: `least` of them; if these have no whole record, up to `most`. Sets
 * *ended if the stream has no more. */
#define FIELD_HEAD      JSON_LONG_HEAD
#define FIELD_LONG_HEAD (16 * FIELD_HEAD)
enum leat_status inputs_read_records(struct byte_stream *stream, struct buffer *head, size_t least, size_t most,
                                     bool *ended, struct leat_error *err);

/*
 * Keeps share `part` of `parts` (1 to parts): the bytes from total * (part - 1) / parts up to total * part / parts of
 * all inputs, one after the other. Plain files for which `divides` is true are cut inside; other files, JSON that is
 * not lines, and lines on servers go whole to the share that has their first byte. Returns LEAT_E_ARGUMENT if standard
 * input is among the inputs. `stop` is asked seldom.
 */
enum leat_status inputs_share(struct input_list *list, unsigned part, unsigned parts,
                              bool (*divides)(const struct input *in), const struct input_stop *stop,
                              struct leat_error *err);

/* Counts the inputs that inputs_share() gives whole to one of `parts` shares, and the shares that get nothing. */
enum leat_status inputs_count_empty(const struct input_list *list, unsigned parts,
                                    bool (*divides)(const struct input *in), const struct input_stop *stop,
                                    uint64_t *whole, uint64_t *empty, struct leat_error *err);

/* ---- Repeated inputs --------------------------------------------------------------------------------------------- */

/* Counts the inputs that repeat an earlier one: a file with its device and inode, or an object with its URL. Their
 * documents are packed again. Sets *first to the first of them, or to NULL. */
enum leat_status inputs_count_repeated(const struct input_list *list, size_t *count, const struct input **first,
                                       struct leat_error *err);

#endif
