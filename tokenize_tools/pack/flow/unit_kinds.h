/*
 * unit_kinds.h: the kinds of units, a row each: which inputs are cut into units of the kind, how, and how a unit
 * becomes ids. The rest of the packer asks the row. A new kind, for inputs that are neither lines nor one document, is
 * a file unit_NAME.c with its row, and its name in UNIT_KINDS.
 */
#ifndef LEAT_PACK_UNIT_KINDS_H
#define LEAT_PACK_UNIT_KINDS_H

#include "pack_setup.h"
#include "unit.h"

struct lane;
struct pack_worker;

struct unit_kind {
    /* Returns true if inputs like this one are cut into units of this kind. NULL means that units of this kind do
     * not come from inputs. Exactly one kind takes the inputs of each format, so the order of the rows means
     * nothing. */
    bool (*takes)(const struct input *in);

    /* Returns the end of the inputs, from `input` on, that go through one lane. NULL means that each has a lane of
     * its own. */
    size_t (*group)(const struct pack_setup *setup, size_t input);

    /* Makes the next unit of a lane, and sets lane->ended with the last one. It may give the unit another kind. */
    enum leat_status (*cut)(struct lane *l, struct unit *u, struct leat_error *err);

    /* Turns the content of the unit into ids; `fd` is the lane's open file, or -1. NULL means that there is nothing
     * to do. */
    enum leat_status (*encode)(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err);

    bool declares;        /* true if the unit declares an input of a program; `strings` has its path */
    bool numbers;         /* true if documents have line numbers, and may have ids; then the dataset stores both */
    bool divides;         /* true if a plain input may be cut inside for shares; then `cut` keeps to its begin and
                             end */
    bool divides_objects; /* true if an input on a server may also be cut inside: nothing before the share has to be
                             read */
};

/*
 * range   lines of a plain file: bytes [offset, offset + length), read by the thread that encodes them
 * count   the same, but only its lines are counted: for what lies before a share
 * block   whole lines in `text`, which begin at `offset` of a decompressed input, an object on a server or a pipe
 * record  one record too big for memory, in `record`
 * array   records of JSON that is one array, or one object after another, plain or not, in `text`, which begins at its
 *         start or right after a record
 * element one record of it too big for memory, in `record`, which the unit ends with
 * csv     records of a table in text, plain or not, in `text`, which begins at its start or right after a record
 * csv_record  one of them that is long for a unit, in `record`
 * texts   texts that a program gave: `documents` has their places in `text`
 * ids     the same with ids: `documents` and `tokens` are complete
 * input   a program declares an input
 * files   inputs of one text each, whole: from `input` up to `input_end`
 * rows    rows of a Parquet file, from `offset` on, with their texts in `text`
 * row     one of them, whose text is too big for memory, in `record`
 *
 * What a kind owes: a text goes to ids by step_encode_text() or long_text_encode(), which look whether it is UTF-8 if
 * nobody has (the encoder itself trusts them, and would read on after a text that ends inside a character).
 */
#define UNIT_KINDS(each)                                                                                               \
    each(range) each(count) each(block) each(record) each(array) each(element) each(csv) each(csv_record) each(texts)  \
        each(ids) each(input) each(files) each(rows) each(row)
#define UNIT_ROW(name) extern const struct unit_kind unit_##name;
UNIT_KINDS(UNIT_ROW)

/* Returns the kind that takes an input. */
const struct unit_kind *unit_kind_of(const struct input *in);

/* Returns the member `divides` of the kind that takes an input, for inputs_share(). */
bool unit_kind_divides(const struct input *in);

#endif
