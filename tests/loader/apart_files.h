/*
 * apart_files.h: what test_loader_apart.c needs: three datasets of 60 tokens a document, plans
 * over them, of which the second and the third are one source, and options of loaders.
 */
#ifndef LEAT_TESTS_LOADER_APART_FILES_H
#define LEAT_TESTS_LOADER_APART_FILES_H

#include "loading.h"
#include "taken.h"

#define MAX_FILES 3u
#define ROWS      100u /* of a run */

static char folder[512], files[MAX_FILES][600];

static inline const char *token_file(unsigned number)
{
    return t_text("%s.tokens", files[number]);
}

static inline void make_files(unsigned width, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t tokens[MAX_FILES] = { a, b, c };
    static unsigned made;

    for (unsigned i = 0; i < MAX_FILES; i++) {
        snprintf(files[i], sizeof files[i], "%s/d%u", folder, made++);
        loading_write(files[i], tokens[i], width, 60);
    }
}

static inline struct loading open_plan(unsigned width, enum leat_access access, const char *rules)
{
    struct loading w = { .width = width, .mean = 60 };
    struct leat_open_options open = LEAT_OPEN_OPTIONS_INIT;
    char text[4096];

    snprintf(text, sizeof text, "%s\n%s\n", files[1], files[2]);
    t_write_text(t_path(folder, "list"), text);
    snprintf(text, sizeof text, "source %s\nsource @%s/list\n%s", files[0], folder, rules);
    open.access = access;
    T_OK(leat_plan_parse(&w.plan, text, strlen(text), NULL, &open, &t_err));
    return w;
}

static inline struct leat_loader_options options(enum leat_engine engine, enum leat_apart apart)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = 7;
    o.io.engine = engine;
    o.io.apart = apart;
    o.io.slots = 3;
    o.last = LEAT_LAST_PADDED;
    return o;
}

/* Makes a bit of page 9 of the first file another one. */
static inline void damage_page(void)
{
    t_flip(token_file(0), 9 * 4096 + 77);
}

/* A loader that does not mask it ends with it. */
static inline void check_ends_with_damage(struct loading *w, struct leat_loader_options o)
{
    const struct leat_batch *b;
    struct leat_loader *l;

    o.on_damage = LEAT_ON_DAMAGE_ERROR;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    while (leat_loader_next(l, &b, &t_err) == LEAT_OK)
        leat_batch_release(b, NULL);
    T_EQ(t_err.status, LEAT_E_CHECKSUM);
    T_CONTAINS(t_err.message, "page 9 of ");
    leat_loader_close(l);
    leat_plan_close(w->plan);
}

#endif
