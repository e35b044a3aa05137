/* pair.c: finds the fields of pairs, and joins their values. */
#include "pair.h"

#include <string.h>

#include "base/status.h"

const char *pair_prompt(const struct leat_pack_options *o)
{
    if (o->prompt)
        return o->prompt;
    return o->alpaca ? "instruction" : o->completion ? "prompt" : NULL;
}

const char *pair_completion(const struct leat_pack_options *o)
{
    if (o->completion)
        return o->completion;
    return o->alpaca ? "output" : o->prompt ? "completion" : NULL;
}

enum leat_status pair_want(struct record_fields *fields, const struct leat_pack_options *o, const char *id,
                           struct leat_error *err)
{
    struct record_want want = { .use = RECORD_COMPLETION, .needed = true, .list = o->chat != NULL, .most = SIZE_MAX };
    enum leat_status s;

    want.path = pair_completion(o);
    s = status_field(err, record_want(fields, &want, &fields->text, err), "completion");
    want.path = pair_prompt(o);
    want.use = RECORD_PROMPT;
    if (s == LEAT_OK)
        s = status_field(err, record_want(fields, &want, &fields->prompt, err), "prompt");
    want = (struct record_want) { .path = "input", .use = RECORD_CONTEXT, .most = SIZE_MAX };
    if (s == LEAT_OK && o->alpaca)
        s = record_want(fields, &want, &fields->context, err);
    return s == LEAT_OK && id ? record_want_id(fields, id, err) : s;
}

static enum leat_status append(const struct record *r, uint32_t want, struct buffer *to, struct leat_error *err)
{
    const struct record_value *v = record_value(r, want);
    enum leat_status s = buffer_reserve(to, v->held + 1, err);
    char *end;

    if (s != LEAT_OK || !v->escaped)
        return s == LEAT_OK ? buffer_append(to, v->at, v->held, err) : s;
    end = r->fields->paths.kernels->unescape((char *)to->bytes + to->size, v->at, v->at + v->held);
    to->size = (size_t)(end - (char *)to->bytes);
    return LEAT_OK;
}

static enum leat_status append_text(struct buffer *to, const char *text, struct leat_error *err)
{
    return buffer_append(to, text, strlen(text), err);
}

/* Appends the prompt that Stanford's Alpaca was trained with. */
static enum leat_status append_alpaca(const struct record *r, struct buffer *to, struct leat_error *err)
{
    const struct record_fields *f = r->fields;
    const struct record_value *input = record_value(r, f->context);
    bool has_input = input->kind == JSON_KIND_STRING && input->held > 0;
    enum leat_status s = append_text(to, "Below is an instruction that describes a task", err);

    if (s == LEAT_OK && has_input)
        s = append_text(to, ", paired with an input that provides further context", err);
    if (s == LEAT_OK)
        s = append_text(to, ". Write a response that appropriately completes the request.\n\n### Instruction:\n", err);
    if (s == LEAT_OK)
        s = append(r, f->prompt, to, err);
    if (s == LEAT_OK && has_input)
        s = append_text(to, "\n\n### Input:\n", err);
    if (s == LEAT_OK && has_input)
        s = append(r, f->context, to, err);
    return s == LEAT_OK ? append_text(to, "\n\n### Response:", err) : s;
}

enum leat_status pair_join(const struct record *r, struct buffer *to, size_t *begin, struct leat_error *err)
{
    const struct record_fields *f = r->fields;
    bool lists = f->wants[f->text].list;
    enum leat_status s = lists ? append_text(to, "[", err) : LEAT_OK;

    if (s == LEAT_OK)
        s = f->context == RECORD_NONE ? append(r, f->prompt, to, err) : append_alpaca(r, to, err);
    if (s == LEAT_OK && lists)
        s = append_text(to, ",", err);
    *begin = to->size;
    if (s == LEAT_OK)
        s = append(r, f->text, to, err);
    return s == LEAT_OK && lists ? append_text(to, "]", err) : s;
}
