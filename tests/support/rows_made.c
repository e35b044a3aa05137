/* rows_made.c: see rows_made.h. */
#include "rows_made.h"

#include "t.h"

/* where what is known of the rows lies, behind their tokens */
#define LENGTHS 8192
#define FLAGS   (LENGTHS + 64)
#define STARTS  (LENGTHS + 128)
#define MARKS   (LENGTHS + 2048)
#define HEADS   (LENGTHS + 4096)
#define ROWS    (LENGTHS + 8192)
#define MASKS   (LENGTHS + 8448)
#define SOURCES (LENGTHS + 256)
#define WEIGHTS (LENGTHS + 320)

/* Many rows are as long as they may be, or very short, or end beside a word of starts. */
static uint32_t choose_length(uint32_t width, uint64_t *random)
{
    uint32_t word = 62 + 64 * (uint32_t)t_below(random, 2) + (uint32_t)t_below(random, 4);

    switch (t_below(random, 3)) {
    case 0:
        return (uint32_t)t_below(random, width > 4 ? 4 : width);
    case 1:
        return word < width ? word : (uint32_t)t_below(random, width);
    default:
        return width - 1;
    }
}

/* Weights of sources: some change nothing, take all, or are as small or large as they may be. */
static float choose_weight(uint64_t *random)
{
    static const float some[] = { 0, 1, 1e-30f, 1e30f };
    uint64_t which = t_below(random, 8);

    return which < 4 ? some[which] : (float)(t_random(random) >> 11) * 0x1p-50f;
}

static void make_row(struct rows_made *m, uint32_t row, uint64_t *random)
{
    const struct rows_layout *l = &m->job.layout;
    uint32_t length = choose_length(l->width, random), source = (uint32_t)t_below(random, 65536);
    float weight = choose_weight(random);
    uint8_t *base = (uint8_t *)m->slot;
    uint64_t *words = m->slot + STARTS / 8 + row * l->start_words;

    memcpy(base + LENGTHS + 4 * row, &length, 4);
    base[FLAGS + row] = t_below(random, 4) == 0;
    memcpy(base + SOURCES + 4 * row, &source, 4);
    memcpy(base + WEIGHTS + 4 * row, &weight, 4);
    words[0] |= 1;
    for (uint32_t i = 0; i < l->mask_width && l->masks_at; i++)
        base[MASKS + row * l->mask_width + i] = (uint8_t)(t_below(random, 3) ? t_random(random) : 0);
    for (uint32_t i = 1; i <= length; i++)
        if (t_below(random, i % 64 < 2 ? 2 : 10) == 0)
            words[i / 64] |= (uint64_t)1 << i % 64;
    if (l->rows_at)
        m->slot[ROWS / 8 + row] = t_below(random, 8192 / l->token_width - l->width) * l->token_width;
}

void rows_make(struct rows_made *m, uint64_t *random)
{
    uint32_t width = t_below(random, 2) ? 2 + (uint32_t)t_below(random, 150)
                                        : 64 * (1 + (uint32_t)t_below(random, 2)) + (uint32_t)t_below(random, 4);
    uint32_t rows = 1 + (uint32_t)t_below(random, 4);
    uint8_t *base = (uint8_t *)m->slot;
    struct rows_job *j = &m->job;
    uint64_t longest;
    bool masked = t_below(random, 2);

    *j = (struct rows_job) { .base = base, .rows = rows + (uint32_t)t_below(random, 3) };
    j->layout = (struct rows_layout) { .rows = rows,
                                       .width = width,
                                       .token_width = t_below(random, 2) ? 4 : 2,
                                       .start_words = (width + 63) / 64,
                                       .lengths_at = LENGTHS,
                                       .flags_at = FLAGS,
                                       .sources_at = SOURCES,
                                       .source_weights_at = t_below(random, 2) ? WEIGHTS : 0,
                                       .starts_at = STARTS,
                                       .marks_at = MARKS,
                                       .heads_at = HEADS,
                                       .rows_at = t_below(random, 2) ? ROWS : 0, /* rows lie apart, where they may */
                                       .masks_at = masked ? MASKS : 0,
                                       .mask_width = 2 * width,
                                       .own_labels = (uint32_t)t_below(random, 2) };
    j->length = width - 1 + (uint32_t)t_below(random, 3);
    j->number_bytes = t_below(random, 2) ? 4 : 8;
    j->unshifted = (uint32_t)t_below(random, 2);
    j->mask_first = (uint32_t)t_below(random, 2);
    j->pad = (uint32_t)t_random(random) >> 1;
    for (unsigned i = 0; i < LENGTHS; i++)
        base[i] = (uint8_t)(t_random(random) & (i % 4 == 3 && j->layout.token_width == 4 ? 0x7f : 0xff));
    memset(base + LENGTHS, 0, 1024);
    for (uint32_t row = 0; row < rows; row++)
        make_row(m, row, random);
    memset(base + LENGTHS + 4 * rows, 0x5a, 64 - 4 * rows); /* of no row */
    memset(base + FLAGS + rows, 0x5a, 64 - rows);
    memset(base + SOURCES + 4 * rows, 0x5a, 64 - 4 * rows);
    memset(base + WEIGHTS + 4 * rows, 0x5a, 64 - 4 * rows);
#define GIVE(field, name, kind, documents) j->field = (void *)m->outputs[ROWS_OUTPUT_##name];
    ROWS_OUTPUTS(GIVE, GIVE)
    j->ahead_labels = NULL; /* only rows in segments have them */
    j->cu_seqlens_room = rows_sequences(j, &longest) + 1 + t_below(random, t_below(random, 4) ? 3 : 900);
    rows_mark(base, &j->layout);
}

/* Adds a row's segments and where documents begin in it to the pool; returns its end. */
static uint32_t make_segments(struct rows_made *m, uint32_t row, uint32_t at, uint64_t *random)
{
    const struct rows_layout *l = &m->job.layout;
    struct rows_segmented *x = (struct rows_segmented *)(void *)((uint8_t *)m->slot + l->segments_at) + row;
    uint32_t *pool = (uint32_t *)(void *)((uint8_t *)m->slot + l->pool_at), begins = 0;
    uint32_t place = 0, token, room = (uint32_t)((LENGTHS - l->tokens_at) / l->token_width);

    if (row < l->rows)
        begins = (uint32_t)t_below(random, l->whole_length < 4 ? l->whole_length + 1 : 5);
    x->pool = at;
    x->segments = 0;
    x->length = begins > 0 ? begins + (uint32_t)t_below(random, l->whole_length + 1 - begins) : 0;
    for (; x->segments < 7 && place < l->width; x->segments++) {
        struct rows_segment *s = (struct rows_segment *)(void *)(pool + at);

        token = (uint32_t)t_below(random, room);
        *s = (struct rows_segment) { .first = place,
                                     .token = token,
                                     .tokens = (uint32_t)t_below(random, room - token < 60 ? room - token : 60),
                                     .position = (uint32_t)t_below(random, t_below(random, 2) ? 1000 : 2),
                                     .document = (uint32_t)t_below(random, 9),
                                     .attention = (uint32_t)t_below(random, 2) };
        s->own = (uint32_t)t_below(random, s->tokens + 1);
        place += 1 + (uint32_t)t_below(random, 40);
        at += sizeof *s / sizeof *pool;
    }
    for (uint32_t k = 0; k < begins; k++)
        pool[at++] = k;
    x[1].documents = x->documents + begins;
    x[1].shorter = x->shorter + (x->length < l->whole_length);
    return at;
}

void rows_make_segments(struct rows_made *m, uint64_t *random)
{
    uint8_t *base = (uint8_t *)m->slot;
    struct rows_job *j = &m->job;
    uint64_t longest;
    uint32_t at = 0;

    rows_make(m, random);
    j->layout.segments_at = ROWS;
    j->layout.pool_at = MASKS;
    j->layout.tokens_at = 4;
    j->layout.masks_at = t_below(random, 2) ? LENGTHS - 4096 : 0;
    j->layout.ahead = (uint32_t)t_below(random, 4);
    j->layout.slices = 1 + (uint32_t)t_below(random, 4);
    j->layout.whole_length = (j->layout.width - 1) * j->layout.slices;
    j->layout.rows_at = j->layout.start_words = 0;
    j->length = j->layout.width - 1 + (uint32_t)t_below(random, 3);
    j->ahead_labels = m->outputs[ROWS_OUTPUT_AHEAD_LABELS];
    memset(base + ROWS, 0, sizeof m->slot - ROWS);
    for (uint32_t row = 0; row <= j->layout.rows; row++)
        at = make_segments(m, row, at, random);
    j->layout.end = MASKS + 4 * (size_t)at;
    j->cu_seqlens_room = rows_sequences(j, &longest) + 1 + t_below(random, 20);
}
