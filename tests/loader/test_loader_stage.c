/*
 * test_loader_stage.c: what the loader's stage does when a device fails while a batch is being filled: it looks at
 * other slots meanwhile. The batch that comes to its end all the same is given, and then the failure is told; if the
 * batch fails too, that is told.
 */
#include "loader/loader.h"
#include "loading.h"

static struct leat_loader *loader;
static const struct leat_batch *held;
static bool fails, send_fails;

static enum leat_status fail(struct leat_error *err, enum leat_status status, const char *words)
{
    if (err) {
        err->status = status;
        snprintf(err->message, sizeof err->message, "%s", words);
    }
    return status;
}

static enum leat_status idle(struct backend *b, unsigned slot, struct leat_error *err)
{
    (void)b;
    (void)slot;
    return fails ? fail(err, LEAT_E_DEVICE, "the device is gone") : LEAT_OK;
}

/* The stage looks at other slots in the midst of a batch, as it does while a read is slow: one has just come back. */
static enum leat_status send(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err)
{
    (void)b;
    (void)slot;
    (void)bytes;
    if (!fails)
        return LEAT_OK;
    leat_batch_release(held, NULL);
    loader_stage_begin(loader);
    return send_fails ? fail(err, LEAT_E_IO, "the copy is gone") : LEAT_OK;
}

/* In batch `number`, at least 1. */
static void fails_in(const struct loading *w, uint64_t number, bool with_send)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    struct backend_ops ops = backend_host;
    enum leat_status expected = with_send ? LEAT_E_IO : LEAT_E_DEVICE;
    const struct leat_batch *b;

    o.batch = 4;
    o.io.threads = 0;
    o.device.name = "host";
    T_OK(leat_loader_open(&loader, w->plan, &o, &t_err));
    ops.idle = idle;
    ops.send = send;
    loader->device.ops = &ops;
    fails = false;
    send_fails = with_send;
    for (uint64_t k = 0; k < number; k++) {
        T_OK(leat_loader_next(loader, &held, &t_err));
        if (k + 1 < number)
            leat_batch_release(held, NULL);
    }
    fails = true;
    if (!with_send) {
        T_OK(leat_loader_next(loader, &b, &t_err));
        T_EQ(b->number, number);
        loading_check(w, b, 4 * number);
    }
    for (unsigned again = 0; again < 2; again++) {
        T_STATUS(leat_loader_next(loader, &b, &t_err), expected);
        T_EQ(t_err.status, expected);
        T_CONTAINS(t_err.message, with_send ? "the copy is gone" : "the device is gone");
    }
    leat_loader_close(loader);
}

int main(void)
{
    struct loading w = { .width = 2, .mean = 20 };
    const char *name = t_text("%s/d", t_folder());

    loading_write(name, 5000, 2, w.mean);
    w.plan = loading_plan(t_text("source %s\nseq-len 30\n", name));
    for (uint64_t k = 1; k < 6; k++) {
        fails_in(&w, k, false);
        fails_in(&w, k, true);
    }
    leat_plan_close(w.plan);
    return t_end();
}
