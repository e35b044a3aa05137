/*
 * unigram_path.c: encodes with a Unigram model: Viterbi's algorithm, place by place.
 *
 * find_path() goes through the text one character at a time. From each it walks the trie, and each token that it meets
 * is one more way to the place where that token ends; the better way stays. If no token seen so far reaches beyond a
 * place, all ways meet there (`cut`): take_stretch() follows the best one back from there, and writes its tokens. A
 * text that comes in chunks ends where a longer text could still make a token longer; what is after the last cut before
 * that comes again with the next chunk.
 *
 * Runs of unknown characters are written when they end (unigram_end_run()): a run as a whole may be a token. A run that
 * is longer than all tokens is written at once, so a text of unknown characters needs no memory either.
 */
#include <stdlib.h>

#include "base/status.h"
#include "base/utf8.h"
#include "unigram.h"

/* Limit of nodes whose memory is kept. */
#define MANY_NODES ((size_t)1 << 16)

/* ---- Unknown characters ---- */

/* Sets the bytes of a character: for byte-level text those of the file's own writing, else its own. Returns how many
 * there are. */
static size_t written_bytes(const struct unigram *m, const uint8_t *text, uint8_t out[2])
{
    if (m->spec->byte_level)
        return utf8_encode(out, m->alphabet.code_of[*text]);
    out[0] = *text;
    return 1;
}

/* Appends the tokens of a text's bytes. If one of them has no token, returns false and appends none. There must be
 * room. */
static bool put_bytes(struct unigram_walk *w, const uint8_t *text, size_t bytes)
{
    size_t before = w->out->count;
    uint8_t part[4];

    for (size_t i = 0; i < bytes; i++)
        for (size_t k = 0, n = written_bytes(w->m, text + i, part); k < n; k++) {
            if (w->m->bytes[part[k]] == SPEC_NONE) {
                w->out->count = before;
                return false;
            }
            w->out->ids[w->out->count++] = w->m->bytes[part[k]];
        }
    return true;
}

/* Writes the ids of a run that is not a token, or of a part of a run that goes on. */
static void put_unknown(struct unigram_walk *w, const uint8_t *text, size_t bytes)
{
    if (w->m->fallback != FALLBACK_NONE && put_bytes(w, text, bytes))
        return;
    if (!w->s->written)
        w->out->ids[w->out->count++] = w->m->spec->unknown;
}

static enum leat_status reserve_run(struct unigram_walk *w)
{
    return id_list_reserve(w->out, 2 * (w->run_end - w->run_begin) + 1, w->err);
}

/* Writes the run of unknown characters, which ends here, if there is one. */
enum leat_status unigram_end_run(struct unigram_walk *w)
{
    size_t bytes = w->run_end - w->run_begin;
    bool whole = bytes > 0 && !w->s->written && !w->m->narrow;
    enum leat_status s = reserve_run(w);
    uint32_t token;

    if (s != LEAT_OK)
        return s;
    token = whole ? token_trie_find(&w->m->trie, w->text + w->run_begin, bytes) : TOKEN_NONE;
    if (token != TOKEN_NONE)
        w->out->ids[w->out->count++] = token;
    else if (bytes > 0)
        put_unknown(w, w->text + w->run_begin, bytes);
    w->run_begin = w->run_end;
    w->s->written = false;
    return LEAT_OK;
}

/* Writes a run of unknown characters that goes on, if no further text can change it. */
static enum leat_status write_run(struct unigram_walk *w)
{
    size_t bytes = w->run_end - w->run_begin;
    enum leat_status s;

    if (bytes == 0 || w->m->fallback == FALLBACK_SOME)
        return LEAT_OK;
    if (!w->m->narrow && !w->s->written && bytes <= w->m->longest)
        return LEAT_OK;
    s = reserve_run(w);
    if (s != LEAT_OK)
        return s;
    put_unknown(w, w->text + w->run_begin, bytes);
    w->s->written = true;
    w->run_begin = w->run_end;
    return LEAT_OK;
}

/* ---- Writing ---- */

void unigram_walk_note(struct unigram_walk *w)
{
    if (w->run_begin != w->run_end)
        return;
    w->safe = w->cut;
    w->safe_count = w->out->count;
    w->safe_sum = w->s->sum;
    w->safe_written = w->s->written;
}

/* Turns the links of the best way to the last node around: each node on it gets the end of its successor. Returns the
 * end of the first token. */
static uint32_t turn_links(struct unigram_node *nodes, uint32_t end)
{
    uint32_t next = 0;

    while (end > 0) {
        uint32_t start = nodes[end].start;

        nodes[end].start = next;
        next = end;
        end = start;
    }
    return next;
}

/* Writes the tokens of the best way from `cut` to `at`, where all ways meet. */
static enum leat_status take_stretch(struct unigram_walk *w, size_t at)
{
    struct unigram_node *nodes = w->s->nodes;
    uint32_t count = (uint32_t)(at - w->cut), begin = 0;
    enum leat_status s = id_list_reserve(w->out, count, w->err);

    w->s->sum = nodes[count].score;
    for (uint32_t end = turn_links(nodes, count); s == LEAT_OK && end > 0; begin = end, end = nodes[end].start) {
        uint32_t token = nodes[end].token;

        if (token == TOKEN_NONE || token == w->m->spec->unknown) {
            if (w->run_begin == w->run_end)
                w->run_begin = w->cut + begin;
            w->run_end = w->cut + end;
            continue;
        }
        if (w->run_begin != w->run_end || w->s->written) {
            s = unigram_end_run(w);
            if (s == LEAT_OK)
                s = id_list_reserve(w->out, count - begin, w->err);
            if (s != LEAT_OK)
                break;
        }
        w->out->ids[w->out->count++] = token;
    }
    w->cut = at;
    if (s == LEAT_OK)
        s = write_run(w);
    unigram_walk_note(w);
    return s;
}

/* ---- The best way ---- */

static enum leat_status grow(struct unigram_walk *w, size_t needed)
{
    struct unigram_scratch *s = w->s;
    size_t room = needed < MANY_NODES ? 2 * needed : needed + needed / 2;
    uint64_t allocated = 0, bytes;
    struct unigram_node *nodes;

    if (needed > UINT32_MAX / 2)
        return bound_refuse(s->bound, needed, w->err);
    bytes = bound_take_growth(s->bound, room * sizeof *nodes, needed * sizeof *nodes, &allocated);
    if (bytes == 0)
        return bound_refuse(s->bound, needed, w->err);
    nodes = realloc(s->nodes, bytes);
    if (!nodes) {
        bound_give(s->bound, bytes);
        return status_no_memory(w->err, bytes);
    }
    bound_give(s->bound, s->room * sizeof *nodes);
    s->nodes = nodes;
    s->room = bytes / sizeof *nodes;
    return LEAT_OK;
}

/* Makes room for all places that a token from `at` can reach. */
static enum leat_status reserve_nodes(struct unigram_walk *w, size_t at)
{
    size_t reach = w->m->longest > 4 ? w->m->longest : 4;
    size_t end = w->bytes - at < reach ? w->bytes : at + reach;

    return end - w->cut < w->s->room ? LEAT_OK : grow(w, end - w->cut + 1);
}

/* Keeps sums near 0, as the reference does: subtracts the sum at `at` from it and all after it. */
static void rebase(struct unigram_node *nodes, size_t at, size_t frontier)
{
    float offset = (float)nodes[at].score;

    for (size_t i = at; i <= frontier; i++)
        if (i == at || nodes[i].start != NOT_REACHED)
            nodes[i].score = (float)nodes[i].score - offset;
}

/* Offers one more way to a place. *frontier is the furthest place that was reached. Returns true if the way is the
 * best so far. */
static inline bool offer(struct unigram_node *nodes, size_t *frontier, size_t end, double score, uint32_t token,
                         size_t start)
{
    for (; *frontier < end; nodes[*frontier].start = NOT_REACHED)
        ++*frontier;
    if (nodes[end].start != NOT_REACHED && !(score > nodes[end].score))
        return false;
    nodes[end] = (struct unigram_node) { score, token, (uint32_t)start };
    return true;
}

/* Returns the bytes of a character. In byte-level text, each byte is a character. */
static inline size_t length_at(const struct unigram_walk *w, size_t at)
{
    uint8_t c = w->text[at];

    return w->m->spec->byte_level ? 1 : 1u + (c >= 0xc0) + (c >= 0xe0) + (c >= 0xf0);
}

static inline double add_scores(double a, double b, bool narrow)
{
    return narrow ? (double)((float)a + (float)b) : a + b;
}

/* Offers all tokens that begin at `at`. Sets *open if the text ends where a token may go on. */
static inline enum leat_status take_place(struct unigram_walk *w, size_t at, size_t *frontier, bool narrow, bool *open)
{
    struct unigram_node *nodes = w->s->nodes;
    const struct unigram *m = w->m;
    size_t from = at - w->cut, end = at, length = length_at(w, at);
    uint32_t base = m->trie.root, token;
    bool single = false;
    double score;

    if (narrow && (nodes[from].score < -UNIGRAM_SUM_MAX || nodes[from].score > UNIGRAM_SUM_MAX))
        rebase(nodes, from, *frontier);
    score = nodes[from].score;
    while (end < w->bytes && token_step(&m->trie, &base, w->text[end], &token)) {
        end++;
        if (token == TOKEN_NONE)
            continue;
        offer(nodes, frontier, end - w->cut, add_scores(m->scores[token], score, narrow), token, from);
        single = single || end - at == length;
    }
    *open = end == w->bytes && base != TOKEN_NO_CHILD;
    if (single || (*open && !w->last))
        return LEAT_OK;
    if (offer(nodes, frontier, from + length, add_scores(m->unknown_score, score, narrow), TOKEN_NONE, from) &&
        m->spec->unknown == SPEC_NONE)
        return status_set(w->err, LEAT_E_TEXT,
                          "the text has a character that is not in the vocabulary, which names no unknown token");
    return LEAT_OK;
}

static inline enum leat_status find_path(struct unigram_walk *w, bool narrow)
{
    size_t frontier = 0, at = w->cut; /* furthest place reached, counted from the cut */
    enum leat_status s = LEAT_OK;
    bool open = false;

    while (s == LEAT_OK && at < w->bytes) {
        if (frontier == at - w->cut && frontier > 0) {
            s = take_stretch(w, at);
            frontier = 0;
        }
        if (s == LEAT_OK)
            s = reserve_nodes(w, at);
        if (s != LEAT_OK)
            return s;
        if (frontier == 0)
            w->s->nodes[0] = (struct unigram_node) { w->s->sum, TOKEN_NONE, NOT_REACHED };
        s = take_place(w, at, &frontier, narrow, &open);
        if (open && !w->last)
            return s;
        at += length_at(w, at);
    }
    return s == LEAT_OK && at > w->cut ? take_stretch(w, at) : s;
}

enum leat_status unigram_walk(struct unigram_walk *w)
{
    return w->m->narrow ? find_path(w, true) : find_path(w, false);
}

void unigram_trim(struct unigram_scratch *s)
{
    if (s->room <= MANY_NODES)
        return;
    bound_give(s->bound, s->room * sizeof *s->nodes);
    free(s->nodes);
    s->nodes = NULL;
    s->room = 0;
}

enum leat_status unigram_encode_whole(const struct unigram *m, struct unigram_scratch *s, const uint8_t *text,
                                      size_t bytes, struct id_list *out, struct leat_error *err)
{
    struct unigram_walk w = { .m = m, .s = s, .text = text, .bytes = bytes, .last = true, .out = out, .err = err };
    enum leat_status status;

    s->sum = 0;
    s->written = false;
    status = unigram_walk(&w);
    return status == LEAT_OK ? unigram_end_run(&w) : status;
}
