/* choose_find.c: finds chosen documents and tokens: the block by binary search, then document by document. */
#include "base/search.h"
#include "base/status.h"
#include "choose.h"

/* ---- Blocks ---- */

struct wanted {
    const struct choice *c;
    uint64_t at;
};

SEARCH_INLINE bool begins_by_document(const void *context, uint64_t block)
{
    const struct wanted *w = context;

    return w->c->blocks[block].document <= w->at;
}

SEARCH_INLINE bool begins_by_number(const void *context, uint64_t block)
{
    const struct wanted *w = context;

    return w->c->blocks[block].number <= w->at;
}

SEARCH_INLINE bool begins_by_token(const void *context, uint64_t block)
{
    const struct wanted *w = context;

    return w->c->blocks[block].token <= w->at;
}

uint64_t choice_document(const struct choice *c, uint64_t number)
{
    uint64_t block = search_first(1, c->block_count, begins_by_number, &(struct wanted) { c, number }) - 1;
    uint64_t document = c->blocks[block].document;

    for (uint64_t at = c->blocks[block].number; at + c->counts[document] <= number; document++)
        at += c->counts[document];
    return document;
}

/* ---- Document by document ---- */

/* A document, and what comes before it. */
struct walk {
    const struct choice *c;
    uint64_t block, document, number, token;
    uint64_t starts[CHOOSE_BLOCK + 1]; /* first tokens, in the dataset, of the block's documents */
};

static enum leat_status enter_block(struct walk *w, uint64_t block, struct leat_error *err)
{
    const struct choice_block *b = &w->c->blocks[block];

    w->block = block;
    w->document = b->document;
    w->number = b->number;
    w->token = b->token;
    return leat_dataset_starts(w->c->dataset, b->document, b[1].document - b->document + 1, w->starts, err);
}

static uint64_t start_of(const struct walk *w)
{
    return w->starts[w->document - w->c->blocks[w->block].document];
}

static uint64_t tokens_of(const struct walk *w)
{
    uint64_t i = w->document - w->c->blocks[w->block].document;

    return w->starts[i + 1] - w->starts[i];
}

/* Goes on to the next document of the block. */
static void step(struct walk *w)
{
    w->number += w->c->counts[w->document];
    w->token += w->c->counts[w->document] * tokens_of(w);
    w->document++;
}

/* Enters the next block if this one ends here. */
static enum leat_status go_on(struct walk *w, struct leat_error *err)
{
    if (w->document < w->c->blocks[w->block + 1].document)
        return LEAT_OK;
    if (w->block + 1 == w->c->block_count)
        return status_set(err, LEAT_E_DOCUMENTS, "the documents are not those that were chosen: the index has changed");
    return enter_block(w, w->block + 1, err);
}

enum leat_status choice_before(const struct choice *c, uint64_t document, uint64_t *number, uint64_t *token,
                               struct leat_error *err)
{
    struct walk w = { .c = c };
    enum leat_status s =
        enter_block(&w, search_first(1, c->block_count, begins_by_document, &(struct wanted) { c, document }) - 1, err);

    while (s == LEAT_OK && w.document < document)
        step(&w);
    *number = w.number;
    *token = w.token;
    return s;
}

enum leat_status choice_starts(const struct choice *c, uint64_t number, uint64_t count, uint64_t *starts,
                               struct leat_error *err)
{
    struct walk w = { .c = c };
    enum leat_status s =
        enter_block(&w, search_first(1, c->block_count, begins_by_number, &(struct wanted) { c, number }) - 1, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count;) {
        if (number + i == c->documents) {
            starts[i++] = c->tokens;
            continue;
        }
        s = go_on(&w, err);
        if (s == LEAT_OK && number + i < w.number + c->counts[w.document]) {
            starts[i] = w.token + (number + i - w.number) * tokens_of(&w);
            i++;
        } else if (s == LEAT_OK) {
            step(&w);
        }
    }
    return s;
}

/* Adds tokens of the dataset to the stretches: to the last one if they follow it. */
static void add_tokens(uint64_t token, uint64_t count, struct choice_stretch *last, struct choice_stretch *out,
                       uint64_t room, uint64_t *stretches)
{
    if (*stretches > 0 && last->token + last->count == token)
        last->count += count;
    else {
        *last = (struct choice_stretch) { token, count };
        ++*stretches;
    }
    if (*stretches <= room)
        out[*stretches - 1] = *last;
}

enum leat_status choice_stretches(const struct choice *c, uint64_t token, uint64_t count, struct choice_stretch *out,
                                  uint64_t room, uint64_t *stretches, struct leat_error *err)
{
    uint64_t end = token + count;
    struct choice_stretch last = { 0, 0 };
    struct walk w = { .c = c };
    enum leat_status s =
        enter_block(&w, search_first(1, c->block_count, begins_by_token, &(struct wanted) { c, token }) - 1, err);

    *stretches = 0;
    while (s == LEAT_OK && token < end) {
        uint64_t has, offset, here;

        s = go_on(&w, err);
        if (s != LEAT_OK)
            break;
        has = tokens_of(&w);
        if (token >= w.token + c->counts[w.document] * has) {
            step(&w);
            continue;
        }
        offset = (token - w.token) % has;
        here = has - offset < end - token ? has - offset : end - token;
        add_tokens(start_of(&w) + offset, here, &last, out, room, stretches);
        token += here;
    }
    return s;
}
