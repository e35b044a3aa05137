/*
 * test_unit_kinds.c: inputs of each format are cut into units of exactly one kind, so that the order of the rows means
 * nothing, and no input is without one.
 */
#include "pack/flow/unit_kinds.h"
#include "t.h"

static const struct unit_kind *const kinds[] = {
#define ROW(name) &unit_##name,
    UNIT_KINDS(ROW)
#undef ROW
};

int main(void)
{
    for (int number = 1; number < RECORD_FORMAT_COUNT; number++) {
        struct input in = { .format = record_format_number(number) };
        unsigned taken = 0;

        T_CHECK(in.format != NULL);
        for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
            if (kinds[i]->takes && kinds[i]->takes(&in)) {
                taken++;
                T_CHECK(unit_kind_of(&in) == kinds[i]);
                T_CHECK(kinds[i]->cut != NULL);
                T_EQ(unit_kind_divides(&in), kinds[i]->divides);
            }
        if (taken != 1)
            T_FAIL("%u kinds of units take inputs of the format %s", taken, record_format_names[number]);
    }
    return t_end();
}
