/*
 * make_golden.c: writes the files of tests/golden/ (golden.h has what they are):
 *
 *   make golden        builds this and runs it over tests/golden
 *
 * test_golden.c fails if the files there are not what this makes.
 */
#include <stdio.h>
#include <string.h>

#include "support/golden.h"

static int write_files(const char *folder, const struct golden *g)
{
    const struct craft_text *index = &g->craft.index;
    char path[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s/%s.leat", folder, g->folder, g->name);
    f = fopen(path, "wb");
    if (!f || (index->count > 0 && fwrite(index->bytes, (size_t)index->count, 1, f) != 1) || fclose(f) != 0) {
        perror(path);
        return 1;
    }
    path[strlen(path) - strlen(".leat")] = '\0';
    if (!g->no_tokens && !golden_write_tokens(g, path)) {
        perror(path);
        return 1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc != 2)
        return fprintf(stderr, "usage: make_golden FOLDER\n"), 2;
    for (unsigned i = 0; i < golden_count(); i++) {
        struct golden g;

        golden_make(&g, i);
        failed |= write_files(argv[1], &g);
        craft_free(&g.craft);
    }
    return failed;
}
