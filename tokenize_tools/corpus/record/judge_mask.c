/*
 * judge_mask.c: the field that says which stretches of a record's text training learns: a list of lists of two
 * numbers, [[begin, end], ...], in characters (code points) of the text, in order and not overlapping. An empty
 * stretch is ignored. The field has been checked to be JSON, so that only its shape can be wrong.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json_string.h"
#include "base/status.h"
#include "base/utf8.h"
#include "judge.h"

struct mask {
    const char *field;
    uint32_t want;
};

static bool asked(const struct leat_pack_options *o)
{
    return o->mask_field != NULL;
}

static enum leat_status prepare(void **self, struct record_fields *fields, const struct leat_pack_options *o,
                                struct leat_error *err)
{
    struct record_want want = { .path = o->mask_field, .use = RECORD_SPANS, .needed = true, .most = SIZE_MAX };
    struct mask *m;

    m = calloc(1, sizeof *m);
    if (!m)
        return status_no_memory(err, sizeof *m);
    *self = m;
    m->field = o->mask_field;
    return status_field(err, record_want(fields, &want, &m->want, err), "mask_field");
}

static void pass_space(const char **at)
{
    while (json_is_space(**at))
        ++*at;
}

/* Passes a character, and white space around it. Returns false if it is not there. */
static bool pass(const char **at, char c)
{
    pass_space(at);
    if (**at != c)
        return false;
    ++*at;
    pass_space(at);
    return true;
}

/* Takes a number without a sign, a point or an exponent. Texts are shorter than UINT32_MAX characters. */
static bool take_number(const char **at, uint64_t *number)
{
    const char *digits = *at;

    for (*number = 0; **at >= '0' && **at <= '9' && *number <= UINT32_MAX; ++*at)
        *number = *number * 10 + (uint64_t)(**at - '0');
    return *at > digits && **at != '.' && (**at | 0x20) != 'e';
}

static bool take_span(const char **at, struct leat_span *span)
{
    return pass(at, '[') && take_number(at, &span->begin) && pass(at, ',') && take_number(at, &span->end) &&
           pass(at, ']');
}

static enum leat_status refuse(const char *field, struct leat_error *err)
{
    return status_set(
        err, LEAT_E_TEXT,
        "\"%.200s\" is not a list of [begin, end] places in the text, in order and apart: it says what is "
        "learned",
        field);
}

static enum leat_status take_spans(struct buffer *spans, const char *field, const char *at, struct leat_error *err)
{
    struct leat_span span = { 0, 0 };
    uint64_t before = 0;
    enum leat_status s = LEAT_OK;

    if (!pass(&at, '['))
        return refuse(field, err);
    while (s == LEAT_OK && *at != ']') {
        if (!take_span(&at, &span) || span.begin < before || span.end < span.begin || (*at != ']' && !pass(&at, ',')))
            return refuse(field, err);
        before = span.end;
        s = buffer_append(spans, &span, sizeof span, err);
    }
    return s;
}

static enum leat_status judge(void *self, const struct record *r, struct verdict *v, struct leat_error *err)
{
    const struct mask *m = self;
    const struct record_value *value = record_value(r, m->want);
    size_t before = v->spans->size;
    enum leat_status s;

    if (value->kind == JSON_KIND_NONE)
        s = status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" that says what is learned", m->field);
    else
        s = value->kind == JSON_KIND_ARRAY ? take_spans(v->spans, m->field, value->at, err) : refuse(m->field, err);
    if (s != LEAT_OK)
        v->spans->size = before;
    return status_field(err, s, m->field);
}

const struct record_judge judge_mask = {
    .prepare = prepare, .judge = judge, .free = free, .asked = asked, .option = "mask_field", .needs = "for masks"
};

enum leat_status judge_settle_spans(struct leat_span *spans, size_t count, const char *text, size_t bytes,
                                    struct leat_error *err)
{
    uint64_t character = 0, byte = 0;

    for (size_t i = 0; i < 2 * count; i++) {
        uint64_t *place = i % 2 == 0 ? &spans[i / 2].begin : &spans[i / 2].end;

        while (character < *place && byte < bytes) {
            uint64_t most = *place - character < bytes - byte ? *place - character : bytes - byte;
            size_t ascii = utf8_ascii_prefix((const uint8_t *)text + byte, (size_t)most);

            byte += ascii;
            character += ascii;
            if (ascii == most)
                continue;
            byte++;
            while (byte < bytes && ((unsigned char)text[byte] & 0xc0) == 0x80)
                byte++;
            character++;
        }
        if (character < *place)
            return status_set(err, LEAT_E_TEXT,
                              "a span of the mask ends at %" PRIu64 ", after the text, which has %" PRIu64
                              " character%s",
                              *place, character, character == 1 ? "" : "s");
        *place = byte;
    }
    return LEAT_OK;
}
