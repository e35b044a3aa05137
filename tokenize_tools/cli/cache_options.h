/*
 * cache_options.h: where datasets on servers are kept, the same for every command that opens some. The values go to
 * the variables that the library reads, LEAT_CACHE, LEAT_CACHE_SIZE and LEAT_ONLINE, so that whatever opens a dataset
 * in this process finds them; the caller's struct of values has no fields for them.
 */
#ifndef LEAT_CLI_CACHE_OPTIONS_H
#define LEAT_CLI_CACHE_OPTIONS_H

#include "options.h"

bool cache_options_folder(void *unused, const char *text, const char **why);
bool cache_options_size(void *unused, const char *text, const char **why);
bool cache_options_online(void *unused, const char *none, const char **why);

#define CACHE_OPTION_ROWS                                                                                              \
    { .name = "cache",                                                                                                 \
      .type = OPTION_CUSTOM,                                                                                           \
      .value = "DIR",                                                                                                  \
      .standard = "LEAT_CACHE, else ~/.cache/leat",                                                                    \
      .help = "the folder of the cache of datasets on servers; it should lie on a local disk",                         \
      .path = true,                                                                                                    \
      .parse = cache_options_folder },                                                                                 \
        { .name = "cache-size",                                                                                        \
          .type = OPTION_CUSTOM,                                                                                       \
          .value = "SIZE",                                                                                             \
          .standard = "LEAT_CACHE_SIZE, else no limit",                                                                \
          .help = "limit on the whole cache; what was used longest ago is removed",                                    \
          .parse = cache_options_size },                                                                               \
    {                                                                                                                  \
        .name = "online", .type = OPTION_CUSTOM, .parse = cache_options_online,                                        \
        .help = "fail if a dataset's server cannot be reached, even if the cache has a complete copy"                  \
    }

#endif
