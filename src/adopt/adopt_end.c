/* adopt_end.c: see adopt_end.h. */
#include "adopt_end.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"

/* ---- Opening ---- */

static bool takes_keys(const struct part_kind *kind)
{
    return kind == &part_raw || kind == &part_llmc || kind == &part_pbin;
}

/* SCHEME:NAME?KEYS with end= added to the keys. */
static char *with_end(const struct part_kind *kind, const char *name, uint64_t end_token)
{
    size_t scheme = part_scheme_length(name, strlen(name)), size = strlen(name) + 50;
    char *full = malloc(size);

    if (full)
        snprintf(full, size, "%s%s%s%cend=%" PRIu64, scheme > 0 ? "" : kind->name, scheme > 0 ? "" : ":", name,
                 scheme > 0 && strchr(name, '?') ? '&' : '?', end_token);
    return full;
}

enum leat_status adopt_open(struct part *p, const char *name, uint64_t end_token, bool beside, struct leat_error *err)
{
    const struct leat_open_options how = { .access = LEAT_ACCESS_READ };
    enum leat_status s = beside ? part_open_beside(p, name, &how, err) : part_open(p, name, &how, err);
    const struct part_kind *kind = p->kind;
    char *full;

    if (s != LEAT_OK || end_token == LEAT_NONE || !takes_keys(kind) || p->documents != LEAT_NONE)
        return s;
    full = with_end(kind, p->name, end_token);
    part_close(p);
    s = full ? part_open(p, full, &how, err) : status_no_memory(err, strlen(name));
    free(full);
    return s;
}

enum leat_status adopt_take_end(uint64_t given, const struct part *p, uint64_t *end_token, struct leat_error *err)
{
    *end_token = given != LEAT_NONE ? given : p->end_token;
    if (p->end_token == LEAT_NONE || *end_token == p->end_token)
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT,
                      "%s says that its documents end with token %" PRIu64 ", and the end token given is %" PRIu64,
                      p->name, p->end_token, given);
}

/* ---- Checking ---- */

#define STARTS (sizeof((struct adopt_ends *)0)->starts / sizeof(uint64_t) - 1)

enum leat_status adopt_ends_begin(struct adopt_ends *e, struct part *p, uint64_t token, struct leat_error *err)
{
    if (e->token == LEAT_NONE || token == 0 || token >= p->tokens)
        return LEAT_OK;
    return part_document_at(p, token, &e->document, err);
}

static enum leat_status load_starts(struct adopt_ends *e, struct part *p, struct leat_error *err)
{
    uint64_t left = p->documents - e->document;

    if (e->count > 0 && e->document >= e->first && e->document - e->first < e->count)
        return LEAT_OK;
    e->first = e->document;
    e->count = left < STARTS ? left : STARTS;
    return part_starts(p, e->first, e->count + 1, e->starts, err);
}

static enum leat_status lacks_end(const struct adopt_ends *e, const struct part *p, struct leat_error *err)
{
    return status_set(err, LEAT_E_TOKEN,
                      "document %" PRIu64 " of %s does not end with token %" PRIu64
                      ": give the end token that its tokenizer has, or none",
                      e->document, p->name, e->token);
}

enum leat_status adopt_ends_check(struct adopt_ends *e, struct part *p, uint64_t first, const uint8_t *bytes,
                                  uint64_t count, struct leat_error *err)
{
    for (; e->document < p->documents; e->document++) {
        enum leat_status s = load_starts(e, p, err);
        const uint64_t *at = &e->starts[e->document - e->first];
        uint64_t id;

        if (s != LEAT_OK)
            return s;
        if (at[1] > first + count)
            return LEAT_OK;
        if (at[1] == at[0] || at[1] <= first) /* what ends before `first` has been checked; an index may change */
            return lacks_end(e, p, err);
        id = p->token_width == 2 ? bytes_load16(bytes + 2 * (at[1] - 1 - first))
                                 : bytes_load32(bytes + 4 * (at[1] - 1 - first));
        if (id != e->token)
            return lacks_end(e, p, err);
    }
    return LEAT_OK;
}
