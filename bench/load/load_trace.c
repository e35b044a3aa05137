/* load_trace.c: a trace that Chrome (about:tracing) and Perfetto show: see load.h. */
#include <stdio.h>
#include <stdlib.h>

#include "load.h"

struct load_trace {
    FILE *out;
    uint64_t began_ns;
    bool filled;
};

struct load_trace *load_trace_begin(FILE *out)
{
    struct load_trace *t = calloc(1, sizeof *t);

    if (!t) {
        fclose(out);
        return NULL;
    }
    t->out = out;
    fputs("{\"traceEvents\": [\n", t->out);
    return t;
}

static double micros(struct load_trace *t, uint64_t ns)
{
    if (t->began_ns == 0)
        t->began_ns = ns;
    return (double)(ns - t->began_ns) / 1e3;
}

void load_trace_span(struct load_trace *t, const char *name, uint64_t began_ns, uint64_t ended_ns)
{
    if (!t)
        return;
    fprintf(t->out, "%s{\"name\": \"%s\", \"ph\": \"X\", \"pid\": 1, \"tid\": 1, \"ts\": %.3f, \"dur\": %.3f}",
            t->filled ? ",\n" : "", name, micros(t, began_ns), (double)(ended_ns - began_ns) / 1e3);
    t->filled = true;
}

void load_trace_stats(struct load_trace *t, uint64_t at_ns, const struct leat_loader_stats *s)
{
    if (!t)
        return;
    fprintf(
        t->out,
        "%s{\"name\": \"loader's thread, ms so far\", \"ph\": \"C\", \"pid\": 1, \"ts\": %.3f, \"args\": {\"order\": "
        "%.3f, \"storage\": %.3f, \"gather\": %.3f, \"documents\": %.3f, \"outputs\": %.3f, \"slot\": %.3f}}",
        t->filled ? ",\n" : "", micros(t, at_ns), (double)s->order_ns / 1e6, (double)s->storage_ns / 1e6,
        (double)s->gather_ns / 1e6, (double)s->documents_ns / 1e6, (double)s->outputs_ns / 1e6,
        (double)s->slot_ns / 1e6);
    t->filled = true;
}

bool load_trace_close(struct load_trace *t)
{
    bool ok = true;

    if (t) {
        fputs("\n]}\n", t->out);
        ok = fflush(t->out) == 0 && !ferror(t->out);
        ok = fclose(t->out) == 0 && ok;
    }
    free(t);
    return ok;
}
