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

static void make_row(struct rows_made *m, uint32_t row, uint64_t *random)
{
    const struct rows_layout *l = &m->job.layout;
    uint32_t length = choose_length(l->width, random);
    uint8_t *base = (uint8_t *)m->slot;
    uint64_t *words = m->slot + STARTS / 8 + row * l->start_words;

    memcpy(base + LENGTHS + 4 * row, &length, 4);
    base[FLAGS + row] = t_below(random, 4) == 0;
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
#define GIVE(field, name, kind, documents) j->field = (void *)m->outputs[ROWS_OUTPUT_##name];
    ROWS_OUTPUTS(GIVE, GIVE)
    j->ahead_labels = NULL; /* only rows in segments have them */
    j->cu_seqlens_room = rows_sequences(j, &longest) + 1 + t_below(random, t_below(random, 4) ? 3 : 900);
    rows_mark(base, &j->layout);
}
