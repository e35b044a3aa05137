/*
 * border_subject.h: the datasets of test_verify_borders.c: their documents begin and end at, just before and just after
 * the borders between the pieces that a thread takes (16 MiB), the cells of the directory (64 KiB) and the pages.
 */
#ifndef LEAT_TESTS_UNIT_BORDER_SUBJECT_H
#define LEAT_TESTS_UNIT_BORDER_SUBJECT_H

#include "bench/data/counting.h"
#include "support/craft.h"
#include "t.h"

#define TASK_BYTES  ((uint64_t)16 << 20)
#define CELL_BYTES  ((uint64_t)64 << 10)
#define PAGE_BYTES  ((uint64_t)4096)
#define PIECE_BYTES ((uint64_t)256 << 10) /* looked at together */
#define FILE_BYTES  ((uint64_t)(quick ? 1 : 2) * TASK_BYTES + 9 * CELL_BYTES)
#define BORDERS     (FILE_BYTES / TASK_BYTES)
#define EMPTY_ONES  (quick ? 40000u : 1100000u) /* at each border; more than the origins of one piece */

static const char *folder;
static int quick = T_SANITIZED; /* fewer datasets, one border */

/* One dataset, and the whole of both files. */
struct subject {
    uint64_t vocabulary, end, begin, width;
    uint64_t *starts; /* of `documents`, and the number of tokens */
    uint64_t documents, room;
    char name[600];
    struct craft files; /* only their bytes */
    int index, tokens;  /* open for writing */
};

static inline uint64_t token_count(const struct subject *s)
{
    return FILE_BYTES / s->width;
}

static inline uint64_t task_tokens(const struct subject *s)
{
    return TASK_BYTES / s->width;
}

/* ---- Which documents there are ---- */

/* A document ends, and the next begins, at this token. */
static inline void cut(struct subject *s, uint64_t at)
{
    if (s->documents + 2 > s->room) {
        s->room = 2 * s->room + 16;
        s->starts = realloc(s->starts, s->room * sizeof *s->starts);
        if (!s->starts)
            exit(1);
    }
    s->starts[++s->documents] = at;
}

/* Cuts at `delta` from each border, from the ends of the cells beside it, and of what is looked at together. */
static inline void cut_near_borders(struct subject *s, int64_t delta)
{
    static const int64_t places[] = { -(int64_t)PIECE_BYTES, -(int64_t)CELL_BYTES, 0, CELL_BYTES, PIECE_BYTES };

    for (uint64_t b = 1; b <= BORDERS; b++)
        for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
            cut(s, b * task_tokens(s) + (uint64_t)(places[i] / (int64_t)s->width + delta));
}

/* Documents of one token around each border and the ends of the cells beside it. */
static inline void cut_single_tokens(struct subject *s)
{
    uint64_t cell = CELL_BYTES / s->width;

    for (uint64_t b = 1; b <= BORDERS; b++)
        for (uint64_t c = 0; c < 3; c++)
            for (uint64_t i = 0; i < 10; i++)
                cut(s, b * task_tokens(s) + c * cell - cell - 5 + i);
}

/* A short one, and one that is longer than a piece and ends where the tokens do. */
static inline void cut_long(struct subject *s)
{
    cut(s, task_tokens(s) - 1);
}

/* Many empty documents at each border; some at the ends of the cells beside it and of the dataset. */
static inline void cut_empty(struct subject *s)
{
    uint64_t cell = CELL_BYTES / s->width;

    for (int i = 0; i < 100; i++)
        cut(s, 0);
    for (uint64_t b = 1; b <= BORDERS; b++)
        for (uint64_t c = 0; c < 3; c++)
            for (uint64_t i = 0; i < (c == 1 ? EMPTY_ONES : 3000); i++)
                cut(s, b * task_tokens(s) + c * cell - cell);
    for (int i = 0; i < 100; i++)
        cut(s, token_count(s));
}

static inline void cut_before(struct subject *s)
{
    cut_near_borders(s, -1);
}

static inline void cut_at(struct subject *s)
{
    cut_near_borders(s, 0);
}

static inline void cut_after(struct subject *s)
{
    cut_near_borders(s, 1);
}

static inline void cut_usual(struct subject *s)
{
    for (uint64_t at = 0, n = 0; (at += 1 + counting_length(n++, 250)) < token_count(s);)
        cut(s, at);
}

/* The document that has this token: the last that begins at or before it. */
static inline uint64_t document_of(const struct subject *s, uint64_t token)
{
    uint64_t low = 0, high = s->documents - 1;

    while (low < high) {
        uint64_t middle = low + (high - low + 1) / 2;

        if (s->starts[middle] <= token)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

/* ---- Writing it ---- */

static inline void write_document(struct leat_writer *w, const struct subject *s, uint64_t number, uint32_t *ids)
{
    uint64_t first = s->starts[number] + (s->begin != LEAT_NONE);
    uint64_t last = s->starts[number + 1] - (s->end != LEAT_NONE);
    struct leat_origin o = { .input = s->starts[number] >= task_tokens(s), .offset = number, .line = LEAT_NONE };

    while (first < last) {
        uint64_t count = last - first < 65536 ? last - first : 65536;

        for (uint64_t i = 0; i < count; i++)
            ids[i] = (uint32_t)(counting_token(first + i, (unsigned)s->width) % (s->vocabulary - 2));
        T_OK(leat_writer_append(w, ids, 4, NULL, count, &t_err));
        first += count;
    }
    T_OK(leat_writer_end_document(w, &o, &t_err));
}

static inline void load(struct craft_text *text, const char *name, const char *ending, int *fd)
{
    off_t size;

    *fd = open(t_text("%s%s", name, ending), O_RDWR);
    size = *fd >= 0 ? lseek(*fd, 0, SEEK_END) : -1;
    text->count = size > 0 ? (uint64_t)size : 0;
    text->bytes = malloc(text->count + 1);
    if (size < 0 || !text->bytes)
        exit(1);
    for (uint64_t done = 0; done < text->count;) {
        ssize_t n = pread(*fd, text->bytes + done, text->count - done, (off_t)done);

        if (n <= 0)
            exit(1);
        done += (uint64_t)n;
    }
}

static inline void write_subject(struct subject *s)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    uint32_t *ids = malloc(65536 * sizeof *ids);
    struct leat_writer *w;

    options.vocabulary = s->vocabulary;
    options.end_token = s->end;
    options.begin_token = s->begin;
    options.force = 1;
    T_OK(leat_writer_open(&w, s->name, &options, &t_err));
    T_OK(leat_writer_add_input(w, "first", NULL, &t_err));
    T_OK(leat_writer_add_input(w, "second", NULL, &t_err));
    for (uint64_t i = 0; i < s->documents; i++)
        write_document(w, s, i, ids);
    T_OK(leat_writer_finish(w, NULL, &t_err));
    free(ids);
    load(&s->files.index, s->name, ".leat", &s->index);
    load(&s->files.tokens, s->name, ".tokens", &s->tokens);
    T_EQ(s->files.tokens.count, FILE_BYTES);
}

#endif
