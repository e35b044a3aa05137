/* vocabularies.h: where tests find published vocabularies, which are not part of the repository. */
#ifndef LEAT_TESTS_VOCABULARIES_H
#define LEAT_TESTS_VOCABULARIES_H

#include <stdio.h>
#include <sys/stat.h>

/* The path of a file of LEAT_VOCAB or ../shared/vocab, in a buffer that the next call overwrites; NULL if not there. */
static inline const char *vocabulary_path(const char *name)
{
    static char path[1024];
    const char *folder = getenv("LEAT_VOCAB");
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", folder ? folder : "../shared/vocab", name);
    return stat(path, &st) == 0 ? path : NULL;
}

#endif
