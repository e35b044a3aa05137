/* bpe_orphans.c: which tokens of a model are orphans (orphans.h): found from what is known about its merges. */
#include <stdlib.h>

#include "base/status.h"
#include "bpe_internal.h"
#include "live_merges.h"

/* Whether merging the token's own text certainly gives the token. Never certain for a model that keeps all merges. */
static bool comes_about(const struct bpe *m, uint32_t place)
{
    const struct tokenizer_spec *spec = m->spec;
    const struct spec_token *t = &spec->tokens[place];

    if (t->foreign || t->length == 0 || !bpe_mergeable(t))
        return false;
    if (spec->splits)
        return t->length == 1 || spec->splits[place] != SPEC_NO_SPLIT;
    return m->live && live_merges_symbols(m->live)[place].made != LIVE_NEVER;
}

enum leat_status bpe_find_orphans(struct bpe *m, struct leat_error *err)
{
    const struct tokenizer_spec *spec = m->spec;
    struct orphans *o = calloc(1, sizeof *o);
    size_t count = 0;

    m->orphans = o;
    if (o)
        o->tokens = calloc((size_t)spec->token_count / 64 + 1, sizeof *o->tokens);
    if (!o || !o->tokens)
        return status_no_memory(err, sizeof *o + spec->token_count / 8);
    for (uint32_t i = 0; i < spec->token_count; i++) {
        const struct spec_token *t = &spec->tokens[i];
        uint32_t bit;

        if (comes_about(m, i))
            continue;
        o->tokens[i / 64] |= (uint64_t)1 << i % 64;
        if (t->foreign || t->length == 0)
            continue;
        bit = orphan_hash(spec_token_bytes(spec, t), t->length);
        o->maybe[bit / 32] |= (uint32_t)1 << bit % 32;
        count++;
    }
    m->has_orphans = m->whole && count > 0;
    return LEAT_OK;
}

void bpe_free_orphans(struct bpe *m)
{
    if (m->orphans)
        free(m->orphans->tokens);
    free(m->orphans);
}
