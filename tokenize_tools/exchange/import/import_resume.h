/* import_resume.h: going on with an import that was stopped. */
#ifndef LEAT_EXCHANGE_IMPORT_RESUME_H
#define LEAT_EXCHANGE_IMPORT_RESUME_H

#include "checksum/page_sum.h"
#include "import.h"

/* How far an import is. */
struct import_place {
    uint64_t source, file; /* that is read, or is next */
    uint64_t documents;    /* of this file that are written */
    uint64_t input;        /* its number as an input; LEAT_NONE: it was not begun */
    uint64_t files, bytes; /* read to their ends before it */
};

/* Stores as metadata the options that neither header nor inputs of a dataset say. */
enum leat_status import_note_options(struct leat_writer *w, const struct leat_import_options *o,
                                     struct leat_error *err);

/* Whether the dataset of this name is what an import with these options makes, and no stopped run is to replace it;
 * then fills the report, but for `bytes`. `inputs` are the files, added with import_facts_add() with their sizes. */
bool import_is_finished(const char *output, const struct leat_import_options *o, uint64_t vocabulary,
                        const struct page_sum *inputs, struct leat_import_report *report);

/* Adds to what a resumed run must have in common with its start; `text` may be NULL. */
void import_facts_add(struct page_sum *facts, const char *text, uint64_t number);

/* Makes durable what is written; not inside a document. */
enum leat_status import_checkpoint(const struct import_writing *w, const struct import_place *at,
                                   const struct page_sum *facts, struct leat_error *err);

/* Opens the writer at its checkpoint. LEAT_E_CHECKPOINT if it is of another import. */
enum leat_status import_resume(struct import_writing *w, struct import_place *at, const struct page_sum *facts,
                               const char *output, const struct leat_writer_options *options, struct leat_error *err);

#endif
