/*
 * unit_block.c: units of whole lines of an input that is decompressed or comes through a pipe or from a server. The
 * thread that cuts reads the input in blocks. Bytes after a block's last line are carried over to the next one. A
 * record that grows too long for memory goes to a file without a name, and is a unit by itself.
 */
#include <string.h>

#include "base/status.h"
#include "corpus/lines.h"
#include "steps.h"
#include "unit_kinds.h"
#include "unit_stream.h"

/* ---- Cutting ---- */

/* Writes a record that has become too long to a file, without its newline. */
static enum leat_status spool_record(struct lane *l, struct unit *u, struct leat_error *err)
{
    enum leat_status s = spool_open(&u->record, l->setup->output, err);

    u->kind = &unit_record;
    u->length = 0;
    while (s == LEAT_OK) {
        const uint8_t *newline = memchr(u->text.bytes, '\n', u->text.size);
        size_t got;

        if (newline)
            s = unit_stream_carry(l, &u->text, (size_t)(newline - u->text.bytes) + 1, err);
        u->length += u->text.size;
        if (s == LEAT_OK)
            s = spool_append(&u->record, u->text.bytes, u->text.size - (newline != NULL), err);
        if (s != LEAT_OK || newline || l->ended)
            break;
        u->text.size = 0;
        s = unit_stream_read(l, u, &u->text, LONG_CHUNK, &got, err);
    }
    buffer_free(&u->text);
    return s;
}

static enum leat_status cut_block(struct lane *l, struct unit *u, struct leat_error *err)
{
    const struct pack_setup *setup = l->setup;
    uint64_t before = unit_stream_begin(l, u);
    size_t lines = 0, seen = 0; /* bytes of whole lines; bytes in which newlines were looked for */
    enum leat_status s = buffer_append(&u->text, l->carry.bytes, l->carry.size, err);

    u->kind = &unit_block;
    l->carry.size = 0;
    while (s == LEAT_OK) {
        const uint8_t *newline = u->text.size > seen ? memrchr(u->text.bytes + seen, '\n', u->text.size - seen) : NULL;
        size_t got;

        if (newline)
            lines = (size_t)(newline - u->text.bytes) + 1;
        seen = u->text.size;
        if (l->ended)
            break;
        if (lines > 0 && u->text.size >= setup->unit_bytes) {
            s = unit_stream_carry(l, &u->text, lines, err);
            break;
        }
        if (lines == 0 && u->text.size > setup->long_bytes) {
            s = spool_record(l, u, err);
            break;
        }
        s = unit_stream_read(l, u, &u->text, unit_stream_room(l, u), &got, err);
    }
    if (u->kind == &unit_block)
        u->length = u->text.size;
    unit_stream_count(l, u, before);
    return s;
}

/* ---- Encoding ---- */

static enum leat_status encode_block(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    char *text = (char *)u->text.bytes;
    enum leat_status s;

    (void)fd;
    u->newlines = lines_count(text, u->text.size); /* counted before scanning, which writes over the text */
    s = step_scan(w, u, text, u->text.size, u->offset, err);
    return s == LEAT_OK ? step_encode(w, u, text, err) : s;
}

static enum leat_status encode_record(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    (void)fd;
    u->newlines = 1;
    return long_record_encode(w, u, u->record.fd, 0, u->record.bytes,
                              &(struct packer_document) { .input = u->input, .offset = u->offset, .line = 0 }, err);
}

const struct unit_kind unit_block = { .cut = cut_block, .encode = encode_block };
const struct unit_kind unit_record = { .encode = encode_record };
