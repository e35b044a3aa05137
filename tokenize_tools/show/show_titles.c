/* show_titles.c: what stands above rows and documents, the same as text and on pages; see show.h. */
#include <inttypes.h>
#include <string.h>

#include "cli/units.h"
#include "show.h"

static void put_range(FILE *out, const char *what, uint64_t first, uint64_t count)
{
    fprintf(out, "%s %" PRIu64 ":%" PRIu64, what, first, (first + count));
}

/* Which tokens these are, of what. */
static void put_origin(FILE *out, show_put *put, const struct show_stretch *x)
{
    if (x->document != LEAT_NONE)
        fprintf(out, "document %" PRIu64, x->document);
    else
        fputs("documents not known", out);
    if (x->source) {
        fputs(" of ", out);
        put(out, x->source, strlen(x->source));
    }
    if (x->first > 0)
        fprintf(out, " from its token %" PRIu64 " on", x->first);
    if (x->origin.path) {
        fputs(", ", out);
        put(out, x->origin.path, x->origin.path_bytes);
        fprintf(out, ":%" PRIu64, x->origin.at.offset);
    }
    if (x->origin.id) {
        fputs(", id ", out);
        put(out, x->origin.id, x->origin.id_bytes);
    }
}

/* How many places of a stretch have a label that counts. */
static uint64_t with_loss(const struct show_row *row, const struct show_stretch *x)
{
    uint64_t n = 0;

    for (uint64_t i = x->at; i < x->at + x->places; i++)
        n += row->loss[i];
    return n;
}

void show_put_border(FILE *out, show_put *put, const struct show_row *row, const struct show_stretch *x)
{
    put_origin(out, put, x);
    if (!row->loss) {
        fprintf(out, "; %s", units_counted(x->places, "token").text);
        return;
    }
    put_range(out, "; places", x->at, x->places);
    if (row->positions && x->places > 0)
        put_range(out, ", positions", (uint64_t)row->positions[x->at], x->places);
    fprintf(out, ", %" PRIu64 " with loss", with_loss(row, x));
    if (x->gap > 0)
        fprintf(out, ", the last %" PRIu64 " padding", x->gap);
}

void show_put_padding(FILE *out, const struct show_row *row)
{
    put_range(out, "padding: places", row->filled, row->length - row->filled);
}

void show_put_heading(FILE *out, show_put *put, const struct show_row *row)
{
    if (row->title)
        put(out, row->title, strlen(row->title));
    else
        fprintf(out, "sample %" PRIu64 ": position %" PRIu64 ", row %" PRIu64 ", epoch %" PRIu64, row->sample->number,
                row->position, row->row, row->sample->epoch);
    if (row->text_bytes == LEAT_NONE || row->text_bytes == 0 || row->length == 0)
        return;
    fprintf(out, ": %s, %.2f tokens per byte, %.2f bytes per token", units_counted(row->length, "token").text,
            (double)row->length / (double)row->text_bytes, (double)row->text_bytes / (double)row->length);
}
