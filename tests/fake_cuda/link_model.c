/*
 * link_model.c: the device of link.h: engines, streams, and the links that there are.
 *
 * Where the figures come from. PCIe 4 and 5 with 16 lanes carry 31.5 and 63 GB/s by the standard. On PCIe 5 NVIDIA's
 * own page about nvbandwidth shows 55.6 GB/s for copies from pinned memory; for PCIe 4 no document was found: 25 is a
 * little less than that share of 31.5. NVLink-C2C is sold with 450 GB/s each way; Schieffer et al. (Harnessing
 * Integrated CPU-GPU System Memory for HPC, 2024, arXiv 2407.07850) measured 375 to a Grace Hopper's GPU and 297 from
 * it, and 3.4 TB/s of its memory's 4.0. Other memory: nine tenths of what the data sheets of A100 (40 GB) and H100
 * (SXM) say, 1.555 and 3.35 TB/s.
 *
 * Rows that stay in their files' maps are read by kernels, from memory that nobody has pinned. On a Grace Hopper (ATS)
 * D. N. Ng ("What 2x GH200 delivers", dnhkng.github.io, 2026; CUDA 13.0, driver 580) measured 331 to 339 GB/s for
 * kernels on memory of the GPU's own node that is not registered, as for pinned memory (332 to 338), and 221 on the
 * other node. nvbandwidth's copies by kernels read pinned memory at 342 (NVIDIA/nvbandwidth, issue 23). The link
 * carries what a kernel reads while it writes its outputs, so the longer of both times counts.
 *
 * Over PCIe a GPU reads maps by HMM, after faults. No figure was found for pages of files, which stay on the host,
 * neither of faults nor of what is read after them; what was measured of managed memory is of pages that move to the
 * GPU. So these links refuse such rows.
 *
 * Not from any document: a call that starts a copy or a kernel takes 2 to 7 us of CPU time; another one, such as a
 * query, a few tenths; work starts some us after its call, and a copy or kernel after another one takes a little longer
 * than its bytes. Waking a thread: see LOADER_QUICK_NS. None of it was measured by leat
 * when this was written. Later, on an H200, copies from pinned memory made 55.1 GB/s, and all calls of a batch took 7
 * us (bench/RESULTS.md, "On a GPU").
 */
#include "link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STREAMS 64u

#define LINK(label, in, out, device, mapped)                                                                           \
    {                                                                                                                  \
        .name = label, .bytes_per_ns = { in, out, device }, .mapped_per_ns = mapped, .start_ns = 4000,                 \
        .gap_ns = { 1500, 1500, 2000 }, .work_ns = 4000, .call_ns = 300, .wake_ns = 50000, .open_ns = 5000             \
    }
static const struct link_model models[] = {
    LINK("pcie4", 25, 25, 1400, 0),
    LINK("pcie5", 55.6, 55.6, 3000, 0),
    LINK("c2c", 375, 297, 3400, 335),
};

const struct link_model *link_model(unsigned number)
{
    return number < sizeof models / sizeof models[0] ? &models[number] : NULL;
}

const char *link_names(void)
{
    static char names[200];

    names[0] = '\0';
    for (unsigned i = 0; link_model(i); i++)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? ", " : "", models[i].name);
    return names;
}

const struct link_model *link_find(const char *name)
{
    unsigned i = 0;

    while (link_model(i) && strcmp(models[i].name, name) != 0)
        i++;
    return link_model(i);
}

const char *link_maps(const struct link_model *model)
{
    return model->mapped_per_ns > 0 ? NULL
                                    : "no figure was found for kernels that read the map of a file over PCIe (by HMM)";
}

/* ---- Streams ---- */

struct item {
    struct link_work work;
    uint64_t number; /* of all calls */
    struct item *next;
};

static struct {
    struct item *first, *last;
    uint64_t end; /* of what has started */
} streams[MAX_STREAMS];
static uint64_t engine_free[LINK_ENGINES], calls;

void link_reset(void)
{
    memset(engine_free, 0, sizeof engine_free);
    for (unsigned i = 0; i < MAX_STREAMS; i++)
        streams[i].end = 0;
}

void link_put(const struct link_work *work)
{
    struct item *x = malloc(sizeof *x);

    if (!x)
        abort();
    *x = (struct item) { *work, calls++, NULL };
    *(streams[work->stream].first ? &streams[work->stream].last->next : &streams[work->stream].first) = x;
    streams[work->stream].last = x;
}

bool link_ends(unsigned stream, uint64_t *end)
{
    *end = streams[stream].end;
    return !streams[stream].first;
}

/* When the first work of a stream could start if its engine were free. */
static uint64_t ready_at(unsigned stream)
{
    const struct link_work *w = &streams[stream].first->work;
    uint64_t at = w->put > streams[stream].end ? w->put : streams[stream].end;

    return w->engine == LINK_WAIT && w->known_ns > at ? w->known_ns : at;
}

static uint64_t start_at(unsigned stream, uint64_t ready)
{
    enum link_engine e = streams[stream].first->work.engine;

    return e < LINK_ENGINES && engine_free[e] > ready ? engine_free[e] : ready;
}

/* The stream whose first work starts first; of those that start at once, what was ready first, and then what was called
 * first. MAX_STREAMS: none. */
static unsigned find_next(uint64_t *start)
{
    unsigned best = MAX_STREAMS;
    uint64_t best_ready = 0;

    *start = UINT64_MAX;
    for (unsigned i = 0; i < MAX_STREAMS; i++) {
        uint64_t ready, at;

        if (!streams[i].first)
            continue;
        ready = ready_at(i);
        at = start_at(i, ready);
        if (at < *start ||
            (at == *start && best < MAX_STREAMS &&
             (ready < best_ready || (ready == best_ready && streams[i].first->number < streams[best].first->number)))) {
            best = i;
            best_ready = ready;
            *start = at;
        }
    }
    return best;
}

static void tell_waits(const struct link_work *record, uint64_t at)
{
    for (unsigned i = 0; i < MAX_STREAMS; i++)
        for (struct item *x = streams[i].first; x; x = x->next)
            if (x->work.engine == LINK_WAIT && x->work.event == record->event && x->work.turn == record->turn)
                x->work.known_ns = at;
}

uint64_t link_advance(uint64_t now, void (*passed)(const struct link_work *work, uint64_t at))
{
    uint64_t start;

    for (;;) {
        unsigned stream = find_next(&start);
        struct item *x;

        if (stream == MAX_STREAMS || start > now)
            return start;
        x = streams[stream].first;
        streams[stream].first = x->next;
        streams[stream].end = start + x->work.ns;
        if (x->work.engine < LINK_ENGINES)
            engine_free[x->work.engine] = streams[stream].end;
        if (x->work.engine == LINK_RECORD)
            tell_waits(&x->work, start);
        if (x->work.engine >= LINK_ENGINES)
            passed(&x->work, start);
        free(x);
    }
}
