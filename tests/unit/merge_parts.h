/* merge_parts.h: what test_merge.c and test_merge_crafted.c share: parts, in a folder, and merging them by name. */
#ifndef LEAT_TESTS_UNIT_MERGE_PARTS_H
#define LEAT_TESTS_UNIT_MERGE_PARTS_H

#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

static const char *folder;

struct shape {
    uint64_t vocabulary, end, begin;
    int lines, ids;
    const struct leat_stored_tokenizer *tokenizer;
};

static const struct shape plain = { .vocabulary = 1000, .end = LEAT_NONE, .begin = LEAT_NONE };

static inline struct leat_writer *begin_part(const char *name, const struct shape *shape)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = shape->vocabulary;
    o.end_token = shape->end;
    o.begin_token = shape->begin;
    o.store_lines = shape->lines;
    o.store_ids = shape->ids;
    o.tokenizer = shape->tokenizer;
    o.force = 1;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    return w;
}

static inline void end_part(struct leat_writer *w)
{
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A part of `documents` documents: number i has i % 7 tokens, all i + from, and comes from the last input. */
static inline void write_part(const char *name, const struct shape *shape, uint64_t documents, uint64_t from)
{
    struct leat_writer *w = begin_part(name, shape);
    struct leat_input input = LEAT_INPUT_INIT;
    uint64_t number = LEAT_NONE;
    char text[32];

    for (int i = 0; i < 2; i++) {
        snprintf(text, sizeof text, "%s.%d", name, i);
        T_OK(leat_writer_add_input(w, text, &number, &t_err));
        input.bytes = 100 * from + (uint64_t)i;
        input.rejects = from + (uint64_t)i;
        input.hash[3] = (uint8_t)from;
        T_OK(leat_writer_set_input(w, number, &input, &t_err));
    }
    for (uint64_t i = 0; i < documents; i++) {
        struct leat_origin o = { .input = number, .offset = 10 * i, .line = i + 1, .id = text };
        uint32_t ids[7];

        snprintf(text, sizeof text, "%s#%" PRIu64, name, i);
        o.id_bytes = i % 3 ? strlen(text) : 0;
        o.line = i % 5 ? i + 1 : LEAT_NONE;
        for (uint64_t k = 0; k < i % 7; k++)
            ids[k] = (uint32_t)(i + from) % 900;
        T_OK(add_one_document(w, ids, 4, NULL, i % 7, i % 11 == 10 ? NULL : &o, &t_err));
    }
    end_part(w);
}

static inline struct leat_dataset *open_one(const char *name)
{
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, t_path(folder, name), NULL, &t_err));
    return d;
}

static inline enum leat_status merge(const char *output, const char *const *names, size_t count,
                                     const struct leat_merge_options *options, struct leat_info *info)
{
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    char paths[8][600];
    const char *parts[8];

    report.info = info;
    for (size_t i = 0; i < count; i++) {
        snprintf(paths[i], sizeof paths[i], "%s%s/%s", names[i][0] == '@' ? "@" : "", folder,
                 names[i] + (names[i][0] == '@'));
        parts[i] = paths[i];
    }
    return leat_merge(t_path(folder, output), parts, count, options, &report, &t_err);
}

#endif
