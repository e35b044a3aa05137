/*
 * test_cuda_change.c: a loader on a device changes to another plan at every place of its ring, with and without a
 * thread, with outputs that are written and that are borrowed, while copies of what it takes back are still on their
 * way there; a batch that is held stays as it is. Nothing waits. On the stand-in, whose copies are late; or on a GPU.
 */
#include "cuda_loading.h"

#define ROWS   4u
#define LENGTH 64u

static void *room;
static cuda_stream stream;

static void look(const struct loading *w, const struct leat_batch *b, bool borrowed, uint64_t position)
{
    static int64_t inputs[ROWS * LENGTH];
    struct leat_outputs out = LEAT_OUTPUTS_INIT;

    if (borrowed) {
        T_OK(leat_batch_borrow(b, &out, stream, &t_err));
    } else {
        out.inputs = room;
        T_OK(leat_batch_write(b, &out, stream, &t_err));
    }
    cuda_bring(inputs, out.inputs, sizeof inputs, stream);
    T_EQ(b->position, position);
    cuda_check_inputs(w, inputs, position, ROWS, LENGTH);
}

static void walk(struct loading *plans, uint64_t take, uint32_t slots, uint32_t threads, bool borrowed)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *held = NULL, *b;
    uint64_t position = 0;
    struct leat_loader *l;

    o.batch = ROWS;
    o.io.slots = slots;
    o.io.threads = threads;
    o.outputs.borrow = borrowed;
    o.outputs.wanted = borrowed ? LEAT_OUTPUT_INPUTS : 0;
    T_OK(cuda_open(&l, &plans[0], o));
    for (unsigned i = 0; i < 3; i++) {
        if (i > 0)
            T_OK(leat_loader_change(l, plans[i].plan, &t_err));
        for (uint64_t k = 0; k < take; k++, position += ROWS) {
            T_OK(leat_loader_next(l, &b, &t_err));
            look(&plans[i], b, borrowed, position);
            if (!held && slots > 2)
                held = b;
            else
                leat_batch_release(b, stream);
        }
        if (held)
            look(&plans[0], held, borrowed, 0);
    }
    if (held)
        leat_batch_release(held, stream);
    cuda_close(l);
}

int main(void)
{
    char name[700];

    if (!cuda_start())
        return 77;
    stream = cuda_make_stream();
    room = cuda_allocate(8 * ROWS * LENGTH);
    snprintf(name, sizeof name, "%s/d", t_folder());
    loading_write(name, 60000, 2, 60);
    for (uint64_t take = 1; take < 7; take++) {
        struct loading plans[3] = { cuda_plan(name, 2, LENGTH), { .width = 2 }, { .width = 2 } };
        char text[900];

        for (unsigned i = 1; i < 3; i++) {
            snprintf(text, sizeof text, "source %s\nat %u:%u\n", name, (unsigned)(i * take * ROWS), i);
            T_OK(leat_plan_change_parse(&plans[i].plan, plans[i - 1].plan, text, strlen(text), NULL, NULL, &t_err));
        }
        for (unsigned i = 0; i < 4; i++)
            walk(plans, take, 2 + (uint32_t)(take + i) % 5, i % 2, i / 2);
        for (unsigned i = 0; i < 3; i++)
            leat_plan_close(plans[i].plan);
    }
    cuda_free(room);
    cuda_drop_stream(stream);
    return t_end();
}
