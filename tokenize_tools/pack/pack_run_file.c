/*
 * pack_run_file.c: the file that says what all parts of a run have in common. One process writes it, before any part
 * starts; each part compares. So a part that sees another list of inputs, as on a machine where a disk is not mounted,
 * is refused before it packs bytes that fit no other part.
 */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "flow/unit_kinds.h"
#include "pack.h"
#include "pack_description.h"

/* The tokenizer and its tokens, then the description of a run, of no part of it. */
static enum leat_status describe(struct buffer *text, const struct leat_pack_options *options,
                                 const struct input_list *inputs, struct leat_error *err)
{
    struct leat_tokenizer_info tokenizer = LEAT_TOKENIZER_INFO_INIT;
    struct leat_pack_options o = *options;
    enum leat_status s = buffer_reserve(text, 256, err);

    if (s != LEAT_OK)
        return s;
    leat_tokenizer_info(o.tokenizer, &tokenizer);
    memcpy(text->bytes, "tokenizer ", 10);
    text->size = 10;
    for (size_t i = 0; i < sizeof tokenizer.fingerprint; i++, text->size += 2)
        snprintf((char *)text->bytes + text->size, 3, "%02x", tokenizer.fingerprint[i]);
    text->size += (size_t)snprintf((char *)text->bytes + text->size, 128, "\nend %lld\nbegin %lld\n",
                                   (long long)o.end_token, (long long)o.begin_token);
    o.part = 0;
    o.text = o.text ? o.text : "text";
    o.id = o.id ? o.id : "id";
    return pack_description_make(text, &o, inputs, err);
}

/* Who plans the same run at the same moment finds what the first one wrote. */
static enum leat_status write_or_compare(const char *path, const struct buffer *text, struct leat_error *err)
{
    enum leat_status s = own_file_publish(path, text->bytes, text->size, err);

    return s == LEAT_E_EXISTS ? pack_description_compare(path, text, err) : s;
}

enum leat_status pack_run_file(const struct leat_pack_options *o, const struct input_list *inputs,
                               struct leat_pack_report *report, struct leat_error *err)
{
    struct file_identity there;
    struct buffer text = { 0 };
    enum leat_status s = file_identify(o->run_file, &there, err);

    if (s == LEAT_OK)
        s = describe(&text, o, inputs, err);
    if (s == LEAT_OK && there.exists)
        s = pack_description_compare(o->run_file, &text, err);
    else if (s == LEAT_OK && o->part == 0)
        s = write_or_compare(o->run_file, &text, err);
    else if (s == LEAT_OK)
        s = status_set(err, LEAT_E_NO_FILE, "%s is missing: nobody has said what the parts of this run have in common",
                       o->run_file);
    if (s == LEAT_E_CHECKPOINT && err)
        err->hint = LEAT_HINT_NONE; /* replacing this part's dataset does not help */
    if (s == LEAT_OK && o->part == 0)
        s = inputs_count_empty(inputs, o->parts, unit_kind_divides, &report->whole_inputs, &report->empty_parts, err);
    report->inputs = inputs->count;
    report->disk_bytes = inputs->bytes;
    buffer_free(&text);
    return s;
}
