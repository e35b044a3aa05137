/* unit_kinds.c: see unit_kinds.h. */
#include "unit_kinds.h"

#define ROW(name) &unit_##name,
static const struct unit_kind *const rows[] = { UNIT_KINDS(ROW) };

const struct unit_kind *unit_kind_of(const struct input *in)
{
    size_t i = 0;

    while (!rows[i]->takes || !rows[i]->takes(in)) /* every format of inputs has a kind: test_unit_kinds.c */
        i++;
    return rows[i];
}

bool unit_kind_divides(const struct input *in)
{
    const struct unit_kind *kind = unit_kind_of(in);

    return in->thing ? kind->divides_things : kind->divides;
}
