/* merge_documents.h: shuffles, deduplicates, splits or joins the documents of open datasets. */
#ifndef LEAT_ARRANGE_MERGE_DOCUMENTS_H
#define LEAT_ARRANGE_MERGE_DOCUMENTS_H

#include <stdbool.h>

#include "merge_parts.h"

/* Writes the documents of the parts to OUTPUT and the datasets of its splits, as the options ask, and reports them.
 * With `folders`, splits have folders (merge.h). */
enum leat_status merge_documents(const char *output, bool folders, struct merge_parts *parts,
                                 const struct leat_merge_options *options, struct pace *pace,
                                 struct leat_merge_report *report, struct leat_error *err);

#endif
