/*
 * chat_text.c: see steps.h. The text is encoded whole, with its special tokens, as transformers does. Then the tokens
 * are traced to the text, which says of each whether the template or the conversation spelled it. A special token
 * that the conversation spelled is ordinary text, unless the run takes those of texts as tokens: the stretches
 * between the template's own special tokens are then encoded one by one, without special tokens.
 */
#include "steps.h"

#include <string.h>

#include "base/status.h"
#include "mask/token_trace.h"

#define TOO_BIG                                                                                                        \
    "rendering and encoding it needs more memory than is allowed for one conversation (a quarter of the bound, at "    \
    "most 512 MiB)"

struct chat {
    struct pack_worker *w;
    struct leat_encoder *encoder, *apart; /* which finds special tokens, and which does not */
    bool too_big;                         /* it needs more memory */
    const struct render_answer *answer;
    const char *text;
    const uint8_t *marks;
    size_t bytes;
    double weight; /* of the record */
    struct leat_error *err;
};

static uint32_t id_at(const struct chat *c, size_t i)
{
    return ((const uint32_t *)(const void *)c->w->chat_ids.bytes)[i];
}

static uint64_t end_at(const struct chat *c, size_t i)
{
    return ((const uint64_t *)(const void *)c->w->ends.bytes)[i];
}

static size_t id_count(const struct chat *c)
{
    return c->w->chat_ids.size / sizeof(uint32_t);
}

/* Cuts [*begin, *end) to the characters of its token, if that is an added one: it may have swallowed white space around
 * them, which does not count. */
static void cut_to_token(const struct chat *c, const struct leat_token *token, uint64_t *begin, uint64_t *end)
{
    for (uint64_t at = *begin; token->added && at + token->bytes <= *end; at++) {
        if (memcmp(c->text + at, token->text, (size_t)token->bytes) != 0)
            continue;
        *begin = at;
        *end = at + token->bytes;
        return;
    }
}

/* Returns true if the conversation spelled a character of an added token. */
static bool is_spelled(const struct chat *c, const struct leat_token *token, uint64_t begin, uint64_t end)
{
    cut_to_token(c, token, &begin, &end);
    return memchr(c->marks + begin, 1, (size_t)(end - begin)) != NULL;
}

/* ---- Encoding ---- */

/* Appends the ids of a stretch of the text, and their ends. */
static enum leat_status encode_stretch(struct chat *c, struct leat_encoder *e, uint64_t begin, uint64_t end)
{
    struct pack_worker *w = c->w;
    const uint32_t *ids;
    uint64_t count, *ends;
    enum leat_status s = leat_encoder_encode(e, c->text + begin, end - begin, &ids, &count, c->err);

    c->too_big = c->too_big || s == LEAT_E_PRETOKEN;
    if (s == LEAT_OK)
        s = buffer_append(&w->chat_ids, ids, (size_t)count * sizeof *ids, c->err);
    if (s == LEAT_OK)
        s = buffer_reserve(&w->ends, (size_t)count * sizeof *ends, c->err);
    if (s != LEAT_OK || count == 0)
        return s;
    ends = (uint64_t *)(void *)(w->ends.bytes + w->ends.size);
    s = token_trace(&w->setup->token_texts, c->text + begin, end - begin, ids, count, ends, c->err);
    for (uint64_t i = 0; i < count && begin > 0; i++)
        ends[i] += begin;
    w->ends.size += (size_t)count * sizeof *ends;
    return s;
}

/* *spelled: a special token among the ids was spelled by the conversation; *bytewise: every other token is bytes as
 * they stand, so that stretches encoded alone have the ids that they have in the whole. */
static enum leat_status look(struct chat *c, bool *spelled, bool *bytewise)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    uint64_t begin = 0;
    enum leat_status s = LEAT_OK;

    *spelled = false;
    *bytewise = true;
    for (size_t i = 0; s == LEAT_OK && i < id_count(c); begin = end_at(c, i++)) {
        s = leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, i), &token, c->err);
        *spelled = *spelled || (token.added && token.special && is_spelled(c, &token, begin, end_at(c, i)));
        *bytewise = *bytewise && (token.added || token.bytewise);
    }
    return s;
}

/* Encodes again what lies between the special tokens of the template. */
static enum leat_status encode_apart(struct chat *c)
{
    struct pack_worker *w = c->w;
    struct buffer ids = w->chat_ids, ends = w->ends;
    uint64_t begin = 0, from = 0;
    enum leat_status s = LEAT_OK;

    w->chat_ids = w->ends = (struct buffer) { 0 };
    for (size_t i = 0; s == LEAT_OK && i < ids.size / sizeof(uint32_t); i++) {
        struct leat_token token = LEAT_TOKEN_INIT;
        uint32_t id = ((const uint32_t *)(const void *)ids.bytes)[i];
        uint64_t end = ((const uint64_t *)(const void *)ends.bytes)[i];

        s = leat_tokenizer_token(w->setup->tokenizer, id, &token, c->err);
        if (s == LEAT_OK && token.added && token.special && !is_spelled(c, &token, begin, end)) {
            s = encode_stretch(c, c->apart, from, begin);
            if (s == LEAT_OK)
                s = buffer_append(&w->chat_ids, &id, sizeof id, c->err);
            if (s == LEAT_OK)
                s = buffer_append(&w->ends, &end, sizeof end, c->err);
            from = end;
        }
        begin = end;
    }
    if (s == LEAT_OK)
        s = encode_stretch(c, c->apart, from, c->bytes);
    buffer_free(&ids);
    buffer_free(&ends);
    return s;
}

static enum leat_status encode(struct chat *c)
{
    struct pack_worker *w = c->w;
    bool spelled, bytewise;
    enum leat_status s;

    w->chat_ids.size = w->ends.size = 0;
    s = encode_stretch(c, c->encoder, 0, c->bytes);
    if (s == LEAT_OK)
        s = look(c, &spelled, &bytewise);
    if (s != LEAT_OK || !spelled || w->setup->special)
        return s;
    if (!bytewise)
        return status_set(c->err, LEAT_E_TEXT,
                          "a message has the text of a special token, which this tokenizer cannot encode as ordinary "
                          "text exactly");
    return encode_apart(c);
}

/* ---- The mask ---- */

static bool is_blank(const struct chat *c, uint64_t begin, uint64_t end)
{
    for (uint64_t i = begin; i < end; i++)
        if (!strchr(" \t\r\n", c->text[i]) || c->marks[i])
            return false;
    return true;
}

enum turn_step { TURN_BLANK, TURN_END, TURN_NONE };

/* Returns TURN_END if token `i` ends a turn: an added token that the template wrote. Returns TURN_BLANK for white
 * space, which ends a turn only as a special token. */
static enum turn_step turn_step(const struct chat *c, size_t i)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    uint64_t begin = i > 0 ? end_at(c, i - 1) : 0, end = end_at(c, i);
    bool blank = is_blank(c, begin, end);

    if (leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, i), &token, NULL) != LEAT_OK)
        return TURN_NONE;
    if (token.added && (token.special || !blank))
        return is_spelled(c, &token, begin, end) ? TURN_NONE : TURN_END;
    return blank ? TURN_BLANK : TURN_NONE;
}

/* The first token that ends after a byte. */
static size_t token_after(const struct chat *c, uint64_t byte)
{
    size_t low = 0, high = id_count(c);

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (end_at(c, middle) > byte)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* Returns true if token `i` touches a stretch. One without characters (sentencepiece's first space) is as the next. */
static bool touches(const struct chat *c, size_t i, const struct render_stretch *s)
{
    struct leat_token token = LEAT_TOKEN_INIT;
    uint64_t begin = i > 0 ? end_at(c, i - 1) : 0, end = end_at(c, i);

    if (leat_tokenizer_token(c->w->setup->tokenizer, id_at(c, i), &token, NULL) == LEAT_OK)
        cut_to_token(c, &token, &begin, &end);
    return begin < s->end && (end > s->begin || begin == s->begin);
}

/* What training learns of each token: its byte of the mask, and the role of the message that it is learned for. */
struct learning {
    uint8_t *mask, *roles;
};

/* Gives the tokens of a stretch their weights. */
static void learn_stretch(const struct chat *c, const struct render_stretch *s, struct learning to)
{
    uint8_t weight = step_weight(s->weight * c->weight);
    size_t first = s->begin > 0 ? token_after(c, s->begin - 1) : 0;

    for (size_t i = first; i < id_count(c) && (i == 0 || end_at(c, i - 1) < s->end); i++)
        if (to.mask[i] < weight && touches(c, i, s)) {
            to.mask[i] = weight;
            to.roles[i] = (uint8_t)s->role;
        }
}

/* Gives the tokens that end a turn the weight of that, and its message's role. */
static void learn_end(const struct chat *c, const struct render_stretch *s, size_t first, size_t end,
                      struct learning to)
{
    memset(to.mask + first, step_weight(s->turn * c->weight), end - first);
    memset(to.roles + first, (int)s->role, end - first);
}

/* Gives the token that ends a turn its weight, and white space of the template before it: it follows the stretch, or is
 * its last one. */
static void learn_turn(const struct chat *c, const struct render_stretch *s, struct learning to)
{
    size_t after = token_after(c, s->end - 1), first, end;

    if (after < id_count(c) && touches(c, after, s))
        after++;
    first = end = after;

    if (s->flags & RENDER_WITHIN) {
        while (first > 0 && end_at(c, first - 1) > s->begin && turn_step(c, first - 1) == TURN_BLANK)
            first--;
        if (first > 0 && end_at(c, first - 1) > s->begin && turn_step(c, first - 1) == TURN_END)
            learn_end(c, s, first - 1, after, to);
        return;
    }
    while (end < id_count(c) && turn_step(c, end) == TURN_BLANK)
        end++;
    if (end < id_count(c) && turn_step(c, end) == TURN_END)
        learn_end(c, s, first, end + 1, to);
}

/* Counts what is learned by role. The begin and end token, which the writer adds, are learned as the tokens next to
 * them. */
static void count_roles(const struct chat *c, struct learning from, size_t count, uint64_t *by_role)
{
    const struct leat_pack_options *o = c->w->setup->options;
    bool begin = o->begin_token != LEAT_NONE, end = o->end_token != LEAT_NONE;

    for (size_t i = 0; i < count; i++)
        by_role[from.roles[i]] += (from.mask[i] > 0) * (1u + (begin && i == 0) + (end && i + 1 == count));
}

/* Puts the mask of the first `kept` tokens. Their tokens' roles lie after it until they are counted. */
static enum leat_status put_mask(struct chat *c, struct unit *u, uint64_t kept)
{
    const struct render_answer *a = c->answer;
    size_t count = id_count(c);
    enum leat_status s = buffer_reserve(&u->docs.mask, 2 * count, c->err);
    struct learning to;

    if (s != LEAT_OK || count == 0)
        return s;
    to.mask = u->docs.mask.bytes + u->docs.mask.size;
    to.roles = to.mask + count;
    memset(to.mask, 0, 2 * count);
    for (size_t i = 0; i < a->stretch_count; i++)
        learn_stretch(c, &a->stretches[i], to);
    for (size_t i = 0; i < a->stretch_count; i++)
        if (a->stretches[i].flags & RENDER_TURN)
            learn_turn(c, &a->stretches[i], to);
    count_roles(c, to, (size_t)kept, u->docs.learned_by_role);
    u->docs.mask.size += (size_t)kept;
    return LEAT_OK;
}

/* ---- Documents ---- */

/* A text becomes the unit's last document. */
static enum leat_status add_document(struct chat *c, struct unit *u, const struct packer_document *as_read)
{
    struct pack_worker *w = c->w;
    struct packer_document *d;
    uint64_t kept = id_count(c);
    enum leat_status s = step_limit(w->setup, u, &kept, c->err);

    if (s == LEAT_OK)
        s = put_mask(c, u, kept);
    if (s == LEAT_OK)
        s = step_put_ids(w->setup, &u->docs.tokens, (const uint32_t *)(const void *)w->chat_ids.bytes, kept, c->err);
    d = s == LEAT_OK ? documents_add(&u->docs, c->err) : NULL;
    if (!d)
        return s == LEAT_OK ? LEAT_E_NO_MEMORY : s;
    *d = *as_read;
    d->utf8 = TEXT_UTF8_VALID;
    d->encoded = true;
    d->spans = (struct stretch) { 0, 0 };
    d->tokens = kept;
    u->docs.text_bytes += c->bytes;
    checksum_store(d->hash, checksum_kernels()->hash(c->text, c->bytes));
    return LEAT_OK;
}

enum leat_status chat_text_take(struct pack_worker *w, struct unit *u, const struct packer_document *as_read,
                                const struct chat_source *source, uint64_t *tokens, bool *too_big,
                                struct leat_error *err)
{
    const struct render_answer *answer = source->answer;
    struct chat c = { .w = w,
                      .encoder = source->encoder,
                      .apart = source->apart,
                      .answer = answer,
                      .weight = as_read->weight,
                      .err = err };
    size_t ids = u->docs.tokens.size, mask = u->docs.mask.size;
    enum leat_status s;

    *tokens = 0;
    *too_big = answer->kind == RENDER_TOO_BIG;
    if (answer->kind != RENDER_TEXT)
        return status_set(err, LEAT_E_TEXT, "%s", *too_big ? TOO_BIG : answer->text);
    c.text = answer->bytes > 0 ? answer->text : "";
    c.marks = answer->marks;
    c.bytes = answer->bytes;
    s = encode(&c);
    if (s == LEAT_OK)
        *tokens = id_count(&c);
    if (s == LEAT_OK && !source->measures)
        s = add_document(&c, u, as_read);
    if (s == LEAT_OK)
        return s;
    u->docs.tokens.size = ids;
    u->docs.mask.size = mask;
    *too_big = c.too_big;
    return c.too_big ? status_set(err, LEAT_E_TEXT, TOO_BIG) : s;
}
