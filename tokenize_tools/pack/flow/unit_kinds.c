/* unit_kinds.c: see unit_kinds.h. */
#include "unit_kinds.h"

#include <stdlib.h>

#include "steps.h"

/* ---- The kinds --------------------------------------------------------------------------------------------------- */

#define ROW(name) &unit_##name,
static const struct unit_kind *const rows[] = { UNIT_KINDS(ROW) };

const struct unit_kind *unit_kind_of(const struct input *in)
{
    size_t i = 0;

    while (!rows[i]->takes || !rows[i]->takes(in)) /* every format of inputs has a kind (test_unit_kinds.c) */
        i++;
    return rows[i];
}

bool unit_kind_divides(const struct input *in)
{
    const struct unit_kind *kind = unit_kind_of(in);

    return in->object ? kind->divides_objects : kind->divides;
}

/* ---- Texts that are given ---------------------------------------------------------------------------------------- */

/* The kinds of units that a program makes (packer.c): texts, ids, and inputs that it declares. */

static enum leat_status encode_record(struct pack_worker *w, struct unit *u, const struct packer_document *given,
                                      const char *record, struct leat_error *err)
{
    struct packer_document as_given = *given, *d = &as_given;
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    if (d->text.bytes > w->setup->whole_bytes)
        return documents_reject(&u->docs, d, STEP_WHOLE_REASON, "", record, d->text.bytes, err);
    s = record_read(&w->record, record, d->text.bytes, &why);
    if (s == LEAT_OK)
        s = step_judge(w->setup, u, &w->record, &w->verdict, d, &why);
    if (s == LEAT_OK && w->setup->chat)
        return step_chat_record(w, u, d, record, d->text.bytes, err);
    if (s == LEAT_OK)
        s = record_check(&w->record, &why);
    if (s == LEAT_OK)
        return step_pair(w, u, d, err);
    if (s == LEAT_E_TEXT)
        return documents_reject(&u->docs, d, why.message, why.field, record, d->text.bytes, err);
    *err = why;
    return s;
}

/* Encodes conversations and pairs: records of JSON, which become the unit's documents, or rejects. */
static enum leat_status encode_records(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err)
{
    struct packer_document *given = u->docs.items;
    size_t count = u->docs.count;
    enum leat_status s = LEAT_OK;

    u->docs.items = NULL;
    u->docs.count = u->docs.room = 0;
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = encode_record(w, u, &given[i], text + given[i].text.begin, err);
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    free(given);
    documents_sort_rejects(&u->docs);
    return s == LEAT_OK ? step_encode(w, u, text, err) : s;
}

/* Encodes texts, which have not been checked for UTF-8 yet. */
static enum leat_status encode_texts(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    const char *text = u->text.bytes ? (const char *)u->text.bytes : ""; /* NULL if all texts are empty */
    size_t kept = 0;
    enum leat_status s = LEAT_OK;

    (void)fd;
    if (w->setup->chat || w->setup->pairs)
        return encode_records(w, u, text, err);
    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        struct packer_document *d = &u->docs.items[i];
        const char *bytes = text + d->text.begin;
        bool rejected;

        s = step_check_text(w, u, d, &(struct step_text) { bytes, d->text.bytes, bytes, d->text.bytes }, &rejected,
                            err);
        if (!rejected)
            u->docs.items[kept++] = *d;
    }
    u->docs.count = kept;
    return s == LEAT_OK ? step_encode(w, u, text, err) : s;
}

const struct unit_kind unit_texts = { .encode = encode_texts };
const struct unit_kind unit_ids = { 0 };
const struct unit_kind unit_input = { .declares = true };
