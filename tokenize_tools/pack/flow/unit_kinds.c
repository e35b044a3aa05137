/* unit_kinds.c: see unit_kinds.h. */
#include "unit_kinds.h"

#include "steps.h"

/* ---- The kinds --------------------------------------------------------------------------------------------------- */

#define ROW(name) &unit_##name,
static const struct unit_kind *const rows[] = { UNIT_KINDS(ROW) };

const struct unit_kind *unit_kind_of(const struct input *in)
{
    size_t i = 0;

    while (!rows[i]->takes || !rows[i]->takes(in)) /* every format of inputs has a kind: test_unit_kinds.c */
        i++;
    return rows[i];
}

bool unit_kind_divides(const struct input *in)
{
    const struct unit_kind *kind = unit_kind_of(in);

    return in->thing ? kind->divides_things : kind->divides;
}

/* ---- Texts that are given ---------------------------------------------------------------------------------------- */

/* Units that a program makes (packer.c): texts, ids, and inputs that it declares. */

/* The texts have not been checked for UTF-8 yet. */
static enum leat_status encode_texts(struct pack_worker *w, struct unit *u, int fd, struct leat_error *err)
{
    const char *text = u->text.bytes ? (const char *)u->text.bytes : ""; /* where all of them are empty */
    size_t kept = 0;
    enum leat_status s = LEAT_OK;

    (void)fd;
    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        struct packer_document *d = &u->docs.items[i];
        const char *bytes = text + d->text.begin;
        bool rejected;

        s = step_check_text(w, u, d, bytes, d->text.bytes, bytes, d->text.bytes, &rejected, err);
        if (!rejected)
            u->docs.items[kept++] = *d;
    }
    u->docs.count = kept;
    return s == LEAT_OK ? step_encode(w, u, text, err) : s;
}

const struct unit_kind unit_texts = { .encode = encode_texts };
const struct unit_kind unit_ids = { 0 };
const struct unit_kind unit_input = { .declares = true };
