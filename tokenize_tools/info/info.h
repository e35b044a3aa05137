/* info.h: what `leat info` shows of a dataset, as text, as JSON, and as a page. */
#ifndef LEAT_INFO_INFO_H
#define LEAT_INFO_INFO_H

#include <stdio.h>

#include "cli/json.h"
#include "damage/damage_list.h"
#include "leat.h"
#include "length_histogram.h"
#include "survey.h"

/* ---- Damaged inputs ---- */

/* Those of all parts. On failure too damage_list_free() must follow. */
enum leat_status info_damage_read(struct damage_list *l, const struct leat_dataset *d, struct leat_error *err);

/* Lines below the dataset's name, of the first `most` inputs. */
void info_damage_print(const struct damage_list *l, int key_columns, size_t most);
void info_damage_page(const struct damage_list *l, FILE *out);
extern const char info_damage_style[]; /* of that section */

/* ---- Facts ---- */

/* Everything that is shown except the long lists, which are read while they are printed. */
struct info_facts {
    const char *name;
    const struct leat_dataset *d;
    struct leat_info info;
    struct leat_stored_tokenizer *tokenizer; /* NULL: none stored */
    struct length_histogram lengths;
    struct damage_list damaged; /* of all parts */
};

/* One JSON object on stdout. */
enum leat_status info_json_print(const struct info_facts *f, struct leat_error *err);

/* ---- The page ---- */

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
