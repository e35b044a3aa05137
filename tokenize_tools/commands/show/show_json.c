/* show_json.c: prints rows as JSON, an object per line. */
#include "base/json.h"
#include "show.h"

static enum leat_status begin(struct show_out *o, const char *title, struct leat_error *err)
{
    (void)o;
    (void)title;
    (void)err;
    return LEAT_OK;
}

static void put_numbers(struct json *j, const char *key, const int64_t *numbers, uint64_t count)
{
    json_open_array(j, key);
    for (uint64_t i = 0; i < count; i++)
        json_i64(j, NULL, numbers[i]); /* -100: no label */
    json_close_array(j);
}

static void put_loss(struct json *j, const uint8_t *loss, uint64_t count)
{
    json_open_array(j, "loss_mask");
    for (uint64_t i = 0; i < count; i++)
        json_u64(j, NULL, loss[i]);
    json_close_array(j);
}

static void put_tokens(struct json *j, const struct show_row *row)
{
    json_open_array(j, "tokens");
    for (size_t n = 0; n < row->count; n++) {
        const struct show_stretch *x = &row->stretches[n];

        for (uint64_t i = x->at; i < x->at + x->places; i++) {
            struct show_token t;

            show_token_find(x->words, row->ids[i], &t);
            json_bytes(j, NULL, t.text, (size_t)t.bytes);
        }
    }
    json_close_array(j);
}

static void put_stretch(struct json *j, const struct show_stretch *x)
{
    json_open_object(j, NULL);
    if (x->source)
        json_u64(j, "source", x->number);
    json_u64_or_null(j, "document", x->document);
    json_u64(j, "at", x->at);
    json_u64(j, "tokens", x->places);
    json_u64_or_null(j, "first", x->literal ? LEAT_NONE : x->first);
    if (x->origin.path)
        json_bytes(j, "input", x->origin.path, (size_t)x->origin.path_bytes);
    else
        json_null(j, "input");
    json_u64_or_null(j, "offset", x->origin.path ? x->origin.at.offset : LEAT_NONE);
    if (x->origin.id)
        json_bytes(j, "id", x->origin.id, (size_t)x->origin.id_bytes);
    else
        json_null(j, "id");
    json_close_object(j);
}

static void put_row(struct show_out *o, const struct show_row *row)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    if (row->title)
        json_string(&j, "name", row->title);
    else {
        json_u64(&j, "n", row->sample->number);
        json_u64(&j, "row", row->row);
        json_u64(&j, "position", row->position);
        json_u64(&j, "epoch", row->sample->epoch);
    }
    if (row->text_bytes != LEAT_NONE)
        json_u64(&j, "bytes", row->text_bytes);
    json_u64(&j, "length", row->length);
    json_u64(&j, "padding", row->length - row->filled);
    put_numbers(&j, "ids", row->ids, row->length);
    put_tokens(&j, row);
    if (row->labels)
        put_numbers(&j, "labels", row->labels, row->length);
    if (row->loss)
        put_loss(&j, row->loss, row->length);
    if (row->learned) {
        json_open_array(&j, "learned");
        for (uint64_t i = 0; i < row->length; i++)
            json_double(&j, NULL, row->learned[i] / 255.0);
        json_close_array(&j);
    }
    if (row->positions)
        put_numbers(&j, "position_ids", row->positions, row->length);
    if (row->text_bytes == LEAT_NONE) {
        json_open_array(&j, "documents");
        for (size_t i = 0; i < row->count; i++)
            put_stretch(&j, &row->stretches[i]);
        json_close_array(&j);
    }
    json_close_object(&j);
    json_end(&j);
    o->rows++;
}

static enum leat_status end(struct show_out *o, int failed, struct leat_error *err)
{
    (void)o;
    (void)failed;
    (void)err;
    return LEAT_OK;
}

const struct show_form show_as_json = { .begin = begin, .row = put_row, .end = end };
