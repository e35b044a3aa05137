/*
 * load_compare.c: is it the loader? What `leat-bench load --compare synthetic` says: the same steps with real batches
 * and with one that is in memory already, in turns in one run; what the real ones take longer is the loader's. See
 * load.h.
 */
#include "load.h"

#include <stdio.h>

#include "cli/cli.h"
#include "cli/units.h"

#define LITTLE 0.01 /* a share of a step that nobody need look at, and that turns of one run do not tell apart */

static double step(const struct load_figures *f)
{
    return f->steps > 0 ? f->seconds / (double)f->steps : 0;
}

/* What the loader did most while steps ran. */
static const char *cause(const struct leat_loader_stats *s)
{
    const struct {
        uint64_t ns;
        const char *name;
    } parts[] = { { s->storage_ns, "reading from storage" },
                  { s->gather_ns, "copying rows" },
                  { s->documents_ns, "finding documents and reading masks" },
                  { s->outputs_ns, "making outputs" },
                  { s->copy_ns, "copying to the device" },
                  { s->order_ns, "computing which samples come" } };
    size_t most = 0;

    for (size_t i = 1; i < sizeof parts / sizeof *parts; i++)
        if (parts[i].ns > parts[most].ns)
            most = i;
    return parts[most].name;
}

double load_compare_share(const struct load_result *r)
{
    double real = step(&r->total), without = step(&r->synthetic);

    return real > 0 && without > 0 && without < real ? 1 - without / real : 0;
}

void load_compare_say(char *text, size_t room, const struct load_result *r)
{
    double share = load_compare_share(r);
    struct units_text real = units_duration(step(&r->total)), without = units_duration(step(&r->synthetic));

    if (r->synthetic.steps == 0 && cli_interrupted())
        snprintf(text, room, "Nothing to compare with: the run was stopped before any step with the batch in memory.");
    else if (r->synthetic.steps == 0)
        snprintf(text, room, "Nothing to compare with: the plan ended; use fewer --steps.");
    else if (share < LITTLE)
        snprintf(text, room, "It is not the loader: it takes %.1f %% of a step (%s with real batches, %s without).",
                 100 * share, real.text, without.text);
    else
        snprintf(
            text, room,
            "The loader takes %.1f %% of a step (%s with real batches, %s without); most of its own time went into "
            "%s.",
            100 * share, real.text, without.text, cause(&r->stats));
}
