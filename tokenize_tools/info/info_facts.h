/*
 * info_facts.h: what `leat info` shows, as text and as JSON.
 */
#ifndef LEAT_INFO_FACTS_H
#define LEAT_INFO_FACTS_H

#include "damage/damage_list.h"
#include "leat.h"
#include "length_histogram.h"

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

#endif
