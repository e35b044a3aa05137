/* plan_made.h: datasets, a list of them, and plans over these, for test_plan.c and its kin. */
#ifndef LEAT_TESTS_PLAN_MADE_H
#define LEAT_TESTS_PLAN_MADE_H

#include <stdarg.h>

#include "one_document.h"
#include "t.h"

static const char *folder;

/* A dataset of documents of pseudo-random lengths; the token at position p is p modulo 2^16. */
static void write_dataset(const char *name, uint64_t documents, uint64_t max, uint64_t seed)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    static uint16_t ids[4096];
    struct leat_writer *w;
    uint16_t next = 0;

    options.vocabulary = 65536;
    T_OK(leat_writer_open(&w, t_path(folder, name), &options, &t_err));
    for (uint64_t i = 0; i < documents; i++) {
        uint64_t length = t_below(&seed, max);

        for (uint64_t k = 0; k < length; k++)
            ids[k] = next++;
        T_OK(add_one_document(w, ids, 2, NULL, length, NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A list of a, b and a third one too short for a block. */
static inline void write_list(void)
{
    FILE *f = fopen(t_path(folder, "list.txt"), "w");

    fprintf(f, "a\nshort\nb\n");
    fclose(f);
}

static char names[4][600];

static inline struct leat_plan_source source_of(const char *name, const char *weight, uint64_t epochs)
{
    struct leat_plan_source s = LEAT_PLAN_SOURCE_INIT;
    static unsigned next;
    char *text = names[next++ % 4];

    snprintf(text, sizeof names[0], "%s%s/%s", strchr(name, '.') ? "@" : "", folder, name);
    s.name = text;
    s.weight = weight;
    s.epochs = epochs;
    return s;
}

/* ---- Options and text ---- */

static char *text_of(const struct leat_plan *plan)
{
    uint64_t bytes;
    char *text, small[10];

    T_OK(leat_plan_text(plan, small, sizeof small, &bytes, &t_err));
    T_STR(small, "leat plan");
    text = malloc((size_t)bytes + 1);
    T_OK(leat_plan_text(plan, text, (size_t)bytes + 1, &bytes, &t_err));
    T_EQ(strlen(text), bytes);
    return text;
}

static struct leat_plan *parse(const char *format, ...) __attribute__((format(printf, 1, 2)));
static struct leat_plan *parse(const char *format, ...)
{
    static char text[8192];
    struct leat_plan *plan;
    va_list args;
    int n = snprintf(text, sizeof text, "leat plan 1\n");

    va_start(args, format);
    vsnprintf(text + n, sizeof text - (size_t)n, format, args);
    va_end(args);
    T_OK(leat_plan_parse(&plan, text, strlen(text), "plan", NULL, &t_err));
    return plan;
}

#endif
