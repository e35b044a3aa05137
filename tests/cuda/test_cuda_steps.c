/*
 * test_cuda_steps.c: steps as a training program makes them on a GPU: batches are written or borrowed on streams that
 * run far behind, released at once, and looked at much later; nothing waits between opening and closing, and every
 * number is right. Launches of a captured graph between, captures while a loader runs, several streams for a batch,
 * several loaders on two GPUs, all begins and endings of the kernels' vectors. How many calls of the driver a batch
 * takes is printed. The loader's thread runs here.
 */
#include "cuda_loading.h"
#include "one_document.h"

#define LENGTH  50u
#define ROWS    6u
#define BYTES   (8 * ROWS * LENGTH)
#define BUFFERS 12u

static char folder[512];

static struct leat_loader_options options(uint32_t threads)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = ROWS;
    o.io.threads = threads;
    o.io.slots = 4;
    return o;
}

/* ---- Written ---- */

/* BUFFERS batches are on their way before the first is looked at. */
static void written(const struct loading *w, uint32_t threads, unsigned streams)
{
    struct leat_loader_options o = options(threads);
    void *buffers[BUFFERS];
    cuda_stream stream[4];
    struct leat_loader *l;
    int64_t *host = malloc(BYTES);

    for (unsigned i = 0; i < streams; i++)
        stream[i] = cuda_make_stream();
    for (unsigned i = 0; i < BUFFERS; i++)
        buffers[i] = cuda_allocate(BYTES);
    T_OK(cuda_open(&l, w, o));
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < BUFFERS; i++) {
            struct leat_outputs out = LEAT_OUTPUTS_INIT;
            const struct leat_batch *b;

            T_OK(leat_loader_next(l, &b, &t_err));
            T_EQ(b->number, round * BUFFERS + i);
            out.inputs = buffers[i];
            T_OK(leat_batch_write(b, &out, stream[i % streams], &t_err));
            leat_batch_release(b, stream[i % streams]);
        }
        for (unsigned i = 0; i < BUFFERS; i++) {
            cuda_bring(host, buffers[i], BYTES, stream[i % streams]);
            cuda_check_inputs(w, host, (round * BUFFERS + i) * ROWS, ROWS, LENGTH);
        }
    }
    cuda_close(l);
    for (unsigned i = 0; i < BUFFERS; i++)
        cuda_free(buffers[i]);
    for (unsigned i = 0; i < streams; i++)
        cuda_drop_stream(stream[i]);
    free(host);
}

/* One batch, written more often than there are events for it, each time on another stream. */
static void written_often(const struct loading *w)
{
    struct leat_loader *l;
    void *buffers[7];
    cuda_stream stream[7];
    int64_t *host = malloc(BYTES);

    for (unsigned i = 0; i < 7; i++) {
        buffers[i] = cuda_allocate(BYTES);
        stream[i] = cuda_make_stream();
    }
    T_OK(cuda_open(&l, w, options(1)));
    for (unsigned k = 0; k < 30; k++) {
        const struct leat_batch *b;

        T_OK(leat_loader_next(l, &b, &t_err));
        for (unsigned i = 0; i < 7; i++) {
            struct leat_outputs out = LEAT_OUTPUTS_INIT;

            out.inputs = buffers[i];
            T_OK(leat_batch_write(b, &out, stream[i], &t_err));
        }
        leat_batch_release(b, stream[3]);
        if (k % 10 == 9)
            for (unsigned i = 0; i < 7; i++) {
                cuda_bring(host, buffers[i], BYTES, stream[i]);
                cuda_check_inputs(w, host, k * ROWS, ROWS, LENGTH);
            }
    }
    cuda_close(l);
    for (unsigned i = 0; i < 7; i++) {
        cuda_free(buffers[i]);
        cuda_drop_stream(stream[i]);
    }
    free(host);
}

/* ---- Borrowed ---- */

static void borrowed(const struct loading *w, uint32_t threads)
{
    struct leat_loader_options o = options(threads);
    void *buffers[BUFFERS];
    cuda_stream a = cuda_make_stream(), b = cuda_make_stream();
    struct leat_loader *l;
    int64_t *host = malloc(BYTES);

    for (unsigned i = 0; i < BUFFERS; i++)
        buffers[i] = cuda_allocate(BYTES);
    o.outputs.wanted = LEAT_OUTPUT_INPUTS | LEAT_OUTPUT_CU_SEQLENS;
    o.outputs.cu_seqlens_room = ROWS * LENGTH + 1;
    o.outputs.borrow = 1;
    T_OK(cuda_open(&l, w, o));
    for (unsigned round = 0; round < 20; round++) {
        for (unsigned i = 0; i < BUFFERS; i++) {
            struct leat_outputs out = LEAT_OUTPUTS_INIT;
            const struct leat_batch *batch;
            cuda_stream stream = i % 3 ? a : b;

            T_OK(leat_loader_next(l, &batch, &t_err));
            T_OK(leat_batch_borrow(batch, &out, stream, &t_err));
            T_CHECK(out.inputs && out.cu_seqlens && !out.labels);
            cuda_copy(buffers[i], out.inputs, BYTES, stream); /* which reads the slot late */
            if (i % 4 == 0) {                                 /* and written besides */
                out.labels = NULL;
                out.cu_seqlens = NULL;
                out.inputs = buffers[i];
                T_OK(leat_batch_write(batch, &out, stream, &t_err));
            }
            leat_batch_release(batch, stream);
        }
        for (unsigned i = 0; i < BUFFERS; i++) {
            cuda_bring(host, buffers[i], BYTES, i % 3 ? a : b);
            cuda_check_inputs(w, host, (round * BUFFERS + i) * ROWS, ROWS, LENGTH);
        }
    }
    cuda_close(l);
    for (unsigned i = 0; i < BUFFERS; i++)
        cuda_free(buffers[i]);
    cuda_drop_stream(a);
    cuda_drop_stream(b);
    free(host);
}

/* ---- Graphs ---- */

static void begin_capture(cuda_stream stream, unsigned mode)
{
    on_device_begin(cuda);
    MUST(cuda->extra.capture_begin(stream, mode));
    on_device_end(cuda);
}

static cuda_graph end_capture(cuda_stream stream)
{
    cuda_graph graph;

    on_device_begin(cuda);
    MUST(cuda->extra.capture_end(stream, &graph));
    on_device_end(cuda);
    return graph;
}

static void drop_graph(cuda_graph graph)
{
    on_device_begin(cuda);
    MUST(cuda->extra.graph_destroy(graph));
    on_device_end(cuda);
}

/* The step is a copy from the fixed buffer; it is captured once and launched for each batch. */
static void graphs(const struct loading *w)
{
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    cuda_stream stream = cuda_make_stream();
    void *fixed = cuda_allocate(BYTES), *result = cuda_allocate(BYTES);
    int64_t *host = malloc(BYTES);
    const struct leat_batch *b;
    struct leat_loader *l;
    cuda_graph_exec exec;
    cuda_graph graph;

    out.inputs = fixed;
    T_OK(cuda_open(&l, w, options(1)));
    T_OK(leat_loader_next(l, &b, &t_err));
    begin_capture(stream, CUDA_CAPTURE_GLOBAL);
    cuda_copy(result, fixed, BYTES, stream);
    T_REFUSED(leat_batch_write(b, &out, stream, &t_err), LEAT_E_STATE, "before you launch the graph");
    leat_batch_release(b, stream);
    for (unsigned k = 1; k < 30; k++) { /* the loader's thread goes on meanwhile */
        T_OK(leat_loader_next(l, &b, &t_err));
        leat_batch_release(b, NULL);
    }
    graph = end_capture(stream);
    on_device_begin(cuda);
    MUST(cuda->extra.graph_instantiate(&exec, graph, 0));
    on_device_end(cuda);
    for (unsigned k = 30; k < 90; k++) {
        T_OK(leat_loader_next(l, &b, &t_err));
        T_OK(leat_batch_write(b, &out, stream, &t_err));
        leat_batch_release(b, stream);
        on_device_begin(cuda);
        MUST(cuda->extra.graph_launch(exec, stream));
        on_device_end(cuda);
        if (k % 7 == 0) {
            cuda_bring(host, result, BYTES, stream);
            cuda_check_inputs(w, host, k * ROWS, ROWS, LENGTH);
        }
    }
    cuda_close(l);
    on_device_begin(cuda);
    MUST(cuda->driver.stream_synchronize(stream));
    MUST(cuda->extra.graph_exec_destroy(exec));
    on_device_end(cuda);
    drop_graph(graph);
    cuda_free(fixed);
    cuda_free(result);
    cuda_drop_stream(stream);
    free(host);
}

/* What is borrowed cannot be given back on a stream that is being captured: that ends the loader, the first time. */
static void released_in_capture(const struct loading *w, uint32_t threads)
{
    struct leat_loader_options o = options(threads);
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    cuda_stream stream = cuda_make_stream();
    const struct leat_batch *b, *second;
    enum leat_status s = LEAT_OK;
    struct leat_loader *l;

    o.outputs.wanted = LEAT_OUTPUT_INPUTS;
    o.outputs.borrow = 1;
    T_OK(cuda_open(&l, w, o));
    T_OK(leat_loader_next(l, &b, &t_err));
    T_OK(leat_batch_borrow(b, &out, stream, &t_err));
    T_OK(leat_loader_next(l, &second, &t_err));
    T_OK(leat_batch_borrow(second, &out, stream, &t_err));
    begin_capture(stream, CUDA_CAPTURE_THREAD_LOCAL);
    leat_batch_release(b, stream);
    leat_batch_release(second, stream);
    drop_graph(end_capture(stream));
    for (unsigned k = 0; k < 100 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++)
        leat_batch_release(b, NULL);
    T_EQ(s, LEAT_E_STATE);
    T_CONTAINS(t_err.message, "captured");
    T_STATUS(leat_loader_next(l, &b, &t_err), LEAT_E_STATE);
    cuda_close(l);
    cuda_drop_stream(stream);
}

/* While a stream is captured that the default stream waits for, nothing may happen on the default stream: that is said,
 * and the capture is not spoilt; the loader goes on, unless a borrowed batch was to be given back there. */
static void default_stream_in_capture(const struct loading *w, uint32_t threads, bool borrow)
{
    struct leat_loader_options o = options(threads);
    struct leat_outputs out = LEAT_OUTPUTS_INIT;
    void *buffer = cuda_allocate(BYTES);
    const struct leat_batch *b;
    enum leat_status s = LEAT_OK;
    struct leat_loader *l;
    cuda_stream stream;

    o.outputs.wanted = LEAT_OUTPUT_INPUTS;
    o.outputs.borrow = borrow;
    T_OK(cuda_open(&l, w, o));
    T_OK(leat_loader_next(l, &b, &t_err));
    if (borrow)
        T_OK(leat_batch_borrow(b, &out, NULL, &t_err));
    on_device_begin(cuda);
    MUST(cuda->driver.stream_create(&stream, 0, 0));
    on_device_end(cuda);
    begin_capture(stream, CUDA_CAPTURE_THREAD_LOCAL);
    out.inputs = buffer;
    T_REFUSED(leat_batch_write(b, &out, NULL, &t_err), LEAT_E_STATE, "default stream");
    leat_batch_release(b, NULL);
    drop_graph(end_capture(stream));
    for (unsigned k = 0; k < 100 && (s = leat_loader_next(l, &b, &t_err)) == LEAT_OK; k++)
        leat_batch_release(b, NULL);
    T_EQ(s, borrow ? LEAT_E_STATE : LEAT_OK);
    cuda_close(l);
    cuda_free(buffer);
    cuda_drop_stream(stream);
}

/* ---- Shapes ---- */

/* All kernels, aligned and not: a length of each remainder, and a base that is no multiple of 16. */
static void shapes(const struct loading *w)
{
    cuda_stream stream = cuda_make_stream();
    uint8_t *memory = cuda_allocate(1 << 16), *host = malloc(1 << 16);
    const struct leat_batch *b;
    struct leat_loader *l;

    T_OK(cuda_open(&l, w, options(1)));
    for (unsigned k = 0; k < 64; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;
        unsigned bytes = k & 1 ? 4 : 8, wrong = 0;

        out.number_bytes = bytes;
        out.length = LENGTH + k / 2 % 4;
        out.rows = ROWS + k / 8 % 2;
        out.inputs = memory + bytes * (k / 16);
        T_OK(leat_loader_next(l, &b, &t_err));
        T_OK(leat_batch_write(b, &out, stream, &t_err));
        leat_batch_release(b, stream);
        cuda_bring(host, out.inputs, out.rows * out.length * bytes, stream);
        for (uint64_t i = 0; i < out.rows * out.length; i++) {
            uint64_t row = i / out.length, at = i % out.length;
            int64_t number = bytes == 8 ? ((int64_t *)(void *)host)[i] : ((int32_t *)(void *)host)[i];
            struct leat_sample x;
            uint64_t got;

            T_OK(leat_plan_samples(w->plan, k * ROWS + row, 1, &x, &got, &t_err));
            wrong += number != (row < ROWS && at < LENGTH ? (int64_t)loading_token(w, &x, at) : 0);
        }
        T_EQ(wrong, 0);
    }
    T_OK(leat_loader_next(l, &b, &t_err));
    {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        out.inputs = memory + 4;
        T_REFUSED(leat_batch_write(b, &out, stream, &t_err), LEAT_E_ARGUMENT, "aligned");
        out.inputs = memory;
        out.rows = out.length = 1 << 30;
        T_REFUSED(leat_batch_write(b, &out, stream, &t_err), LEAT_E_ARGUMENT, "too many for one batch on a GPU");
        out.inputs = NULL;
        T_OK(leat_batch_write(b, &out, stream, &t_err)); /* nothing is wanted */
    }
    cuda_close(l);
    cuda_free(memory);
    cuda_drop_stream(stream);
    free(host);
}

/* ---- Several loaders ---- */

static void two_at_once(const struct loading *w, const char *second)
{
    struct leat_loader_options o = options(1);
    struct leat_loader_stats stats = LEAT_LOADER_STATS_INIT;
    struct leat_loader *l[2];
    const struct leat_batch *b;

    T_OK(cuda_open(&l[0], w, o));
    o.device.name = second;
    if (cuda_open(&l[1], w, o) != LEAT_OK && !cuda->fake) {
        fprintf(stderr, "no second GPU: %s\n", t_err.message);
        cuda_close(l[0]);
        return;
    }
    T_CHECK(l[1]);
    for (unsigned k = 0; k < 100; k++)
        for (unsigned i = 0; i < 2; i++) {
            T_OK(leat_loader_next(l[i], &b, &t_err));
            loading_check(w, b, k * ROWS);
            leat_batch_release(b, NULL);
        }
    leat_loader_stats(l[1], &stats);
    T_CONTAINS(stats.device.name, "cuda:1, ");
    T_EQ(stats.ring.unpinned, 0);
    T_EQ(stats.ring.slots, 4);
    T_CHECK(stats.device.ring_bytes >= stats.ring.bytes);
    cuda_close(l[0]);
    cuda_close(l[1]);
}

/* ---- Calls ---- */

/* One copy for each batch; a second kernel, if the dataset is `masked`. */
static void count_calls(const struct loading *w, bool borrow, bool masked)
{
    static const char *const shown[] = { "cuMemcpyHtoDAsync", "cuEventRecord",   "cuEventQuery",
                                         "cuStreamWaitEvent", "cuLaunchKernel",  "cuStreamIsCapturing",
                                         "cuCtxGetCurrent",   "cuCtxPushCurrent" };
    struct leat_loader_options o = options(1);
    cuda_stream stream = cuda_make_stream();
    void *buffer = cuda_allocate(BYTES);
    const struct leat_batch *b;
    struct leat_loader *l;
    unsigned steps = 200;

    o.io.slots = 8;
    o.outputs.wanted = borrow ? LEAT_OUTPUT_LABELS : 0;
    o.outputs.borrow = borrow;
    T_OK(cuda_open(&l, w, o));
    for (unsigned k = 0; k < 20 + steps; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        if (k == 20)
            cuda->fake->fail_call(0, 0, false); /* counts from here */
        T_OK(leat_loader_next(l, &b, &t_err));
        out.labels = buffer;
        T_OK(borrow ? leat_batch_borrow(b, &out, stream, &t_err) : leat_batch_write(b, &out, stream, &t_err));
        leat_batch_release(b, stream);
        usleep(1000); /* the step */
    }
    fprintf(stderr, "driver calls a batch, %s%s:", borrow ? "borrowed" : "written", masked ? ", masked" : "");
    for (unsigned i = 0; i < sizeof shown / sizeof shown[0]; i++)
        fprintf(stderr, " %s %.2f,", shown[i], (double)cuda->fake->calls(shown[i]) / steps);
    fprintf(stderr, " all %.2f\n", (double)cuda->fake->calls(NULL) / steps);
    /* some slots more or less may be filled when counting ends */
    T_CHECK(cuda->fake->calls("cuMemcpyHtoDAsync") <= steps + 8 && cuda->fake->calls("cuMemcpyHtoDAsync") >= steps - 8);
    T_CHECK(cuda->fake->calls("cuLaunchKernel") <= (1u + masked) * (steps + 8));
    T_CHECK(cuda->fake->calls("cuLaunchKernel") >= (1u + masked) * (steps - 8));
    T_CHECK(cuda->fake->calls(NULL) - cuda->fake->calls("cuEventQuery") <= ((borrow ? 13 : 9) + masked) * steps + 100);
    cuda_close(l);
    cuda_free(buffer);
    cuda_drop_stream(stream);
}

static void count_masked_calls(unsigned width)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    static const uint8_t mask[3] = { 0, 255, 7 };
    static const uint32_t ids[3] = { 1, 2, 3 };
    struct leat_writer *writer;
    struct loading w;
    const char *name = t_text("%s/m%u", folder, width);

    o.vocabulary = width == 2 ? 10 : 100000;
    o.end_token = 9;
    o.store_mask = 1;
    T_OK(leat_writer_open(&writer, name, &o, &t_err));
    for (unsigned i = 0; i < 30000; i++)
        T_OK(add_one_document(writer, ids, 4, mask, 3, NULL, &t_err));
    T_OK(leat_writer_finish(writer, NULL, &t_err));
    w = cuda_plan(name, width, LENGTH);
    count_calls(&w, false, true);
    count_calls(&w, true, true);
    leat_plan_close(w.plan);
}

int main(void)
{
    char name[600];
    struct loading w;

    if (!cuda_start())
        return 77;
    snprintf(folder, sizeof folder, "%s", t_folder());
    for (unsigned width = 2; width <= 4; width += 2) {
        snprintf(name, sizeof name, "%s/d%u", folder, width);
        loading_write(name, 100000, width, 60);
        w = cuda_plan(name, width, LENGTH);
        for (uint32_t threads = 0; threads < 2; threads++) {
            written(&w, threads, 1);
            written(&w, threads, 4);
            borrowed(&w, threads);
            released_in_capture(&w, threads);
            default_stream_in_capture(&w, threads, false);
            default_stream_in_capture(&w, threads, true);
        }
        written_often(&w);
        graphs(&w);
        shapes(&w);
        two_at_once(&w, "cuda:1");
        if (cuda->fake) {
            two_at_once(&w, "cuda:GPU-10111213-1415-1617-1819-1A1B1C1D1E1F");
            two_at_once(&w, "cuda:10111213");
            count_calls(&w, false, false);
            count_calls(&w, true, false);
            count_masked_calls(width);
        }
        leat_plan_close(w.plan);
    }
    T_CHECK(!cuda->fake || cuda->fake->kernels_run() > 0); /* their PTX, too */
    return t_end();
}
