/*
 * info_page.h: a dataset as a page: what one looks at before training.
 */
#ifndef LEAT_INFO_PAGE_H
#define LEAT_INFO_PAGE_H

#include <stdio.h>

#include "damage/damage_list.h"
#include "leat.h"
#include "length_histogram.h"
#include "survey.h"

/* What the page shows. */
struct info_page {
    const char *name;
    const struct leat_dataset *d;
    const struct leat_info *info;
    const struct leat_stored_tokenizer *tokenizer; /* NULL: none stored */
    const struct length_histogram *lengths;
    const struct damage_list *damaged;
    const struct survey *survey;
};
enum leat_status info_page_write(const struct info_page *p, const char *path, struct leat_error *err);

/* Sections of it. */
enum leat_status info_page_sources(FILE *out, const struct info_page *p, struct leat_error *err);
enum leat_status info_page_tokens(FILE *out, const struct survey *s, struct leat_error *err);

#endif
