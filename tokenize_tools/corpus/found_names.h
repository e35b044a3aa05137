/*
 * found_names.h: what names in a folder say by themselves. Spark, Hive, Hadoop, Dask and pyarrow.dataset pass over
 * names that begin with . or _ in a folder that they read, and give such names to what is not data: half-written files,
 * logs, statistics. Some of these show that the folder is a table, whose files cannot be read one by one. A name with =
 * in it is a partition of Hive's (_lang=en), which these read, too. In folders of texts, _ says nothing: code has
 * __init__.py.
 */
#ifndef LEAT_TOKENIZE_TOOLS_FOUND_NAMES_H
#define LEAT_TOKENIZE_TOOLS_FOUND_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "leat_pack.h"

enum found_name {
    NAME_PLAIN,
    NAME_HIDDEN, /* begins with . */
    NAME_MARKED  /* begins with _ and has no =; none is with LEAT_PACK_TEXT */
};

/* Judges a name up to its first /, or its end, in a folder that is packed in this format. */
enum found_name found_name(const char *name, enum leat_pack_format format);

/* Whether a file with a marked name is known to hold no texts: _SUCCESS, _metadata and the like. */
bool found_name_is_note(const char *name);

/*
 * Fails with LEAT_E_UNSUPPORTED, and says what to do, if the path shows that a folder in it is a table of Delta Lake,
 * Iceberg or Hudi, of which some files hold rows that are no longer in the table. Only what stands behind the first
 * `stem` bytes of the path counts; folders that are to count end in /.
 */
enum leat_status found_names_refuse_table(const char *path, size_t stem, struct leat_error *err);

#endif
