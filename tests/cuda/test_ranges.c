/*
 * test_ranges.c: a loader that is opened with `nvtx` marks its thread's work for NVIDIA's profilers: in a domain of its
 * own, with the names of the stages, each range closed by the thread that opened it and all of them when the loader is;
 * and one that is opened without marks nothing, though a profiler is there. The profiler is a library of the test's
 * (ranges_counted.c) that NVTX loads as it loads a real one. The loader's thread runs here.
 */
#if defined(__has_include)
#if __has_include(<nvtx3/nvToolsExt.h>)
#define HAVE_NVTX 1
#endif
#endif

#include <dlfcn.h>

#include "loader/loading.h"
#include "ranges_counted.h"

#if defined(HAVE_NVTX)
static void run(const struct loading *w, uint32_t nvtx, uint32_t threads, bool borrow)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = 4;
    o.io.nvtx = nvtx;
    o.io.threads = threads;
    o.outputs.borrow = borrow;
    o.outputs.wanted = borrow ? LEAT_OUTPUT_INPUTS : 0;
    T_OK(leat_loader_open(&l, w->plan, &o, &t_err));
    for (unsigned k = 0; k < 50; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        loading_check(w, b, 4 * k);
        leat_batch_release(b, NULL);
    }
    leat_loader_close(l);
}

static bool has_name(const struct ranges_counted *c, const char *name)
{
    for (unsigned i = 0; i < atomic_load(&c->names_count); i++)
        if (strcmp(c->names[i], name) == 0)
            return true;
    return false;
}

static void check(const struct ranges_counted *c, unsigned loaders)
{
    T_EQ(atomic_load(&c->domains), loaders);
    T_EQ(atomic_load(&c->domains_gone), loaders);
    T_EQ(atomic_load(&c->others), 0);
    T_EQ(atomic_load(&c->unbalanced), 0);
    T_EQ(atomic_load(&c->open), 0);
    T_EQ(atomic_load(&c->pushes), atomic_load(&c->pops));
}

static void all(const struct loading *w, const struct ranges_counted *c)
{
    unsigned loaders = 0;

    for (uint32_t threads = 0; threads < 2; threads++)
        for (unsigned borrow = 0; borrow < 2; borrow++) {
            unsigned before = atomic_load(&c->pushes);

            run(w, 0, threads, borrow);
            T_EQ(atomic_load(&c->pushes), before);
            check(c, loaders);
            run(w, 1, threads, borrow);
            /* order, gather and copy of each batch */
            T_CHECK(atomic_load(&c->pushes) >= before + 3 * 50);
            check(c, ++loaders);
        }
    T_CHECK(has_name(c, "order") && has_name(c, "gather") && has_name(c, "copy"));
}

int main(void)
{
    const char *build = getenv("LEAT_BUILD");
    struct loading w = { .width = 2, .mean = 20 };
    const struct ranges_counted *c;
    char library[4096], name[600], text[700];
    void *loaded;

    snprintf(library, sizeof library, "%s/fake_cuda/libranges_counted.so", build ? build : "build");
    setenv("NVTX_INJECTION64_PATH", library, 1);
    loaded = dlopen(library, RTLD_NOW);
    c = loaded ? dlsym(loaded, "ranges_counted") : NULL;
    if (!c) {
        fprintf(stderr, "%s: %s\n", library, dlerror());
        return 1;
    }
    snprintf(name, sizeof name, "%s/d", t_folder());
    loading_write(name, 20000, 2, w.mean);
    snprintf(text, sizeof text, "source %s\nseq-len 30\n", name);
    w.plan = loading_plan(text);
    all(&w, c);
    leat_plan_close(w.plan);
    return t_end();
}
#else
int main(void)
{
    return t_skip("NVTX's header was not there at build time: it comes with CUDA");
}
#endif
