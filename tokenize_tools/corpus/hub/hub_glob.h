/* hub_glob.h: patterns of paths, as README.md has them on the Hugging Face Hub and datasets (by fsspec) reads them. */
#ifndef LEAT_TOKENIZE_TOOLS_HUB_GLOB_H
#define LEAT_TOKENIZE_TOOLS_HUB_GLOB_H

#include <stdbool.h>

/*
 * Returns true if the whole name matches: * and ? stand for characters other than /, [a-z] and [!a-z] for one of a set,
 * and ** between slashes for any number of folders, or at the end for the rest of the name. A backslash is an ordinary
 * character. The time is proportional to the product of both lengths.
 */
bool hub_glob(const char *pattern, const char *name);

#endif
