/*
 * test_options_memory.c: whichever allocation fails while a command line is read: it is refused with a sentence, or was
 * read whole, and nothing is left.
 */
#include "cli/options.h"
#include "support/fault.h"
#include "t.h"

struct values {
    struct option_list names;
};

static const struct option_row rows[] = {
    { .name = "name", .type = OPTION_LIST, .field = offsetof(struct values, names), .value = "NAME", .help = "a name" },
    { .name = NULL },
};

int main(void)
{
    char *words[] = { (char[]) { "test" }, (char[]) { "--name=a" }, (char[]) { "b" }, (char[]) { "--name=c" }, NULL };
    unsigned failed = 0;
    bool all = false;

    for (uint64_t n = 1; !all; n++) {
        long allocations = fault_allocations();
        struct options_parsed parsed;
        struct values values = { .names = { .count = 0 } };
        enum options_outcome outcome;

        fault_arm(FAULT_MEMORY, FAULT_ONCE, n, 12);
        outcome = options_parse("leat test", rows, &values, 4, words, &parsed);
        fault_disarm();
        all = !fault_failed();
        T_EQ(outcome, all ? OPTIONS_READY : OPTIONS_WRONG);
        if (!all)
            T_CONTAINS(parsed.message, "no memory for ");
        else
            T_CHECK(values.names.count == 2 && parsed.count == 1);
        failed += !all;
        free(values.names.items);
        options_free(&parsed);
        T_EQ(fault_allocations(), allocations);
    }
    T_EQ(failed, 3);
    return t_end();
}
