/*
 * make_golden.c: writes the files of tests/golden/ (golden.h has what they are):
 *
 *   make golden        builds this and runs it over tests/golden
 *
 * test_golden.c fails if the files there are not what this makes.
 */
#include <stdio.h>

#include "support/golden.h"

static int write_file(const char *folder, const struct golden *g, const char *suffix, const struct craft_text *text)
{
    char path[1024];
    FILE *f;

    snprintf(path, sizeof path, "%s/%s/%s.%s", folder, g->folder, g->name, suffix);
    f = fopen(path, "wb");
    if (!f || (text->count > 0 && fwrite(text->bytes, (size_t)text->count, 1, f) != 1) || fclose(f) != 0) {
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
        failed |= write_file(argv[1], &g, "leat", &g.craft.index);
        if (!g.no_tokens)
            failed |= write_file(argv[1], &g, "tokens", &g.craft.tokens);
        craft_free(&g.craft);
    }
    return failed;
}
