/*
 * cache_options.h: the options that say where datasets on servers are kept, and for how long file servers are tried
 * again. They are the same for every command that opens datasets. The values go to the variables that the library
 * reads, LEAT_CACHE, LEAT_CACHE_SIZE, LEAT_ONLINE and LEAT_RETRY_SECONDS, so that whatever opens a dataset in this
 * process finds them; the caller's struct of values has no fields for them.
 */
#ifndef LEAT_CLI_CACHE_OPTIONS_H
#define LEAT_CLI_CACHE_OPTIONS_H

#include "options.h"

/* The URLs of datasets and texts on servers, in the words of every command that takes them. */
#define CACHE_SCHEMES "s3://, gs://, az://, hf://, https://"
#define CACHE_URLS                                                                                                     \
    "s3://BUCKET/NAME, gs://BUCKET/NAME, az://CONTAINER/NAME, hf://datasets/ORG/REPOSITORY/NAME or "                   \
    "https://HOST/PATH/NAME"

bool cache_options_folder(void *unused, const char *text, const char **why);
bool cache_options_size(void *unused, const char *text, const char **why);
bool cache_options_online(void *unused, const char *none, const char **why);
bool cache_options_retry(void *unused, const char *text, const char **why);

#define RETRY_OPTION_ROW                                                                                               \
    {                                                                                                                  \
        .name = "retry-seconds", .type = OPTION_CUSTOM, .value = "N", .standard = "LEAT_RETRY_SECONDS, else 60",       \
        .help = "how long to try again while a file server fails; 0: not",                                             \
        .more = "On network file systems and FUSE, calls that fail with EIO, ESTALE, ETIMEDOUT, ESHUTDOWN or "         \
                "ENOTCONN are tried again after growing pauses; elsewhere once.",                                      \
        .rare = true, .parse = cache_options_retry                                                                     \
    }

/* The last rows of a table, which have a heading. */
#define CACHE_OPTION_ROWS                                                                                              \
    { .name = "cache",                                                                                                 \
      .type = OPTION_CUSTOM,                                                                                           \
      .value = "DIR",                                                                                                  \
      .standard = "LEAT_CACHE, else ~/.cache/leat",                                                                    \
      .help = "the folder of the cache of datasets on servers",                                                        \
      .more = "It should be on a local disk.",                                                                         \
      .group = "On servers",                                                                                           \
      .rare = true,                                                                                                    \
      .path = true,                                                                                                    \
      .parse = cache_options_folder },                                                                                 \
        RETRY_OPTION_ROW,                                                                                              \
        { .name = "cache-size",                                                                                        \
          .type = OPTION_CUSTOM,                                                                                       \
          .value = "SIZE",                                                                                             \
          .standard = "LEAT_CACHE_SIZE, else no limit",                                                                \
          .help = "limit on the size of the whole cache",                                                              \
          .more = "What was used longest ago is removed first.",                                                       \
          .rare = true,                                                                                                \
          .parse = cache_options_size },                                                                               \
    {                                                                                                                  \
        .name = "online", .type = OPTION_CUSTOM, .rare = true, .parse = cache_options_online,                          \
        .help = "fail if a server cannot be reached, even if the cache has a copy"                                     \
    }

#endif
