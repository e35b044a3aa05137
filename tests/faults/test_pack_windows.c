/*
 * test_pack_windows.c: the windows of zstd frames keep to the bound on memory: what needs more than an input takes
 * beside others waits for its turn, and what does not fit even then is refused, with the bound that is enough; the
 * dataset is the same. The packer has units of 16 KiB here, so that small windows are large; they are counted where
 * libzstd gives text.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <zstd.h>

#include "leat_pack.h"
#include "t.h"

#define MIB     ((uint64_t)1 << 20)
#define THREADS 8
#define TEXTS   2
#define MORE    (96 * MIB) /* than the least bound, for so many threads */
#define FITS    (8 * MIB)  /* what every bound has room for */
#define LARGE   (14 * MIB) /* what the least has no room for */

static const char *folder;
static struct leat_tokenizer *tokenizer;

/* ---- What is in windows ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    const ZSTD_DCtx *context;
    uint64_t text;
} windows[64];
static uint64_t in_windows, max_in_windows;

static void *real(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);

    if (!symbol)
        exit(t_skip("libzstd is linked statically"));
    return symbol;
}

static void count(const ZSTD_DCtx *context, uint64_t text, bool freed)
{
    unsigned i = 0;

    pthread_mutex_lock(&lock);
    while (windows[i].context && windows[i].context != context)
        i++;
    windows[i].context = context;
    windows[i].text += text;
    in_windows += text;
    if (max_in_windows < in_windows)
        max_in_windows = in_windows;
    if (freed) {
        in_windows -= windows[i].text;
        windows[i].text = 0;
    }
    pthread_mutex_unlock(&lock);
}

size_t ZSTD_decompressStream(ZSTD_DStream *context, ZSTD_outBuffer *to, ZSTD_inBuffer *from)
{
    size_t (*decompress)(ZSTD_DStream *, ZSTD_outBuffer *, ZSTD_inBuffer *), before = to->pos, r;
    void *symbol = real("ZSTD_decompressStream");

    memcpy(&decompress, &symbol, sizeof symbol);
    r = decompress(context, to, from);
    count(context, to->pos - before, false);
    return r;
}

size_t ZSTD_freeDCtx(ZSTD_DCtx *context)
{
    size_t (*release)(ZSTD_DCtx *);
    void *symbol = real("ZSTD_freeDCtx");

    memcpy(&release, &symbol, sizeof symbol);
    count(context, 0, true);
    return release(context);
}

/* ---- Inputs ---- */

/* A file of one frame with a window of 16 MiB, which does not say how long it is. */
static const char *put(const char *name, const char *begin, const char *piece, uint64_t bytes, const char *end)
{
    static char paths[TEXTS + 5][600];
    static unsigned made;
    char *path = paths[made++];
    ZSTD_CCtx *c = ZSTD_createCCtx();
    static char out[1 << 16];
    static char many[(1 << 16) + 1];
    uint64_t length = strlen(piece), at_once = (sizeof many - 1) / length, pieces = bytes / (length * at_once);
    FILE *f;

    for (uint64_t i = 0; i < at_once; i++)
        memcpy(many + i * length, piece, length);
    many[at_once * length] = '\0';

    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    f = fopen(path, "wb");

    T_CHECK(f && c && !ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 24)));
    for (uint64_t i = 0; f && c && i < pieces + 2; i++) {
        const char *text = i == 0 ? begin : i <= pieces ? many : end;
        ZSTD_inBuffer from = { text, strlen(text), 0 };
        size_t left;

        do {
            ZSTD_outBuffer to = { out, sizeof out, 0 };

            left = ZSTD_compressStream2(c, &to, &from, i <= pieces ? ZSTD_e_continue : ZSTD_e_end);
            T_CHECK(!ZSTD_isError(left) && fwrite(out, 1, to.pos, f) == to.pos);
        } while (from.pos < from.size || (i > pieces && left > 0));
    }
    ZSTD_freeCCtx(c);
    T_CHECK(f && fclose(f) == 0);
    return path;
}

/* ---- Packing ---- */

static enum leat_status pack(const char *name, const char *const *inputs, uint64_t inputs_count, unsigned threads,
                             uint64_t memory)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = 1;
    o.threads = threads;
    o.memory = memory;
    max_in_windows = 0;
    return leat_pack(t_path(folder, name), inputs, inputs_count, &o, NULL, &t_err);
}

static void check_same(const char *a, const char *b)
{
    FILE *x = fopen(t_path(folder, a), "rb"), *y = fopen(t_path(folder, b), "rb");
    static char p[1 << 16], q[1 << 16];
    size_t n = 1;
    int same = x && y;

    while (same && n > 0) {
        n = fread(p, 1, sizeof p, x);
        same = fread(q, 1, sizeof q, y) == n && memcmp(p, q, n) == 0;
    }
    T_CHECK(same);
    fclose(x);
    fclose(y);
}

/* The bound that a sentence says is enough. */
static uint64_t enough(void)
{
    static const char phrase[] = "allow at least ";
    const char *least = strstr(t_err.message, phrase);

    T_EQ(t_err.hint, LEAT_HINT_MEMORY);
    T_CONTAINS(t_err.message, phrase);
    return least ? strtoull(least + sizeof phrase - 1, NULL, 10) * MIB : 0;
}

/* At the end of each stream the window holds its whole text: one at a time has that, and none of the others much. */
static void check_queue(const char *const *inputs, uint64_t inputs_count)
{
    T_OK(pack("wide", inputs, inputs_count, THREADS, 2048 * MIB));
    T_STATUS(pack("narrow", inputs, inputs_count, THREADS, 1), LEAT_E_ARGUMENT);
    T_OK(pack("narrow", inputs, inputs_count, THREADS, enough() + MORE));
    if (max_in_windows > FITS + 3 * MIB)
        T_FAIL("%.1f MiB are in windows at once", (double)max_in_windows / (double)MIB);
    check_same("wide.leat", "narrow.leat");
    check_same("wide.tokens", "narrow.tokens");
}

static void test_queue(void)
{
    const char *inputs[TEXTS + 2];
    char name[40];
    uint64_t n = 0;

    inputs[n++] =
        put("a.jsonl.zst", t_text("{\"text\": \"%0100d\"}\n", 7), "no end of a record ", FITS, "\n"); /* a reject */
    inputs[n++] = put("b.jsonl.zst", "{\"text\": \"", "a long text, ", FITS, "\"}\n");
    for (unsigned i = 0; i < TEXTS; i++) {
        snprintf(name, sizeof name, "%u.txt.zst", i);
        inputs[n++] = put(name, name, "the wheel turns, and the river runs past the mill. ", FITS - MIB * (i % 3), "");
    }
    check_queue(inputs, n);
}

#if T_SANITIZED
/* AddressSanitizer asks for it: what is freed is not kept for long, since it counts as this process's memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:thread_local_quarantine_size_kb=64";
}
#endif

/* Refused with the least bound, and packed with the one that is then named; with another one that is named next if this
 * process, of which a sanitizer keeps what is freed, has become larger. */
static void check_refused(const char *input)
{
    enum leat_status s = LEAT_E_NO_MEMORY;

    T_STATUS(pack("refused", &input, 1, 2, 1), LEAT_E_ARGUMENT);
    T_REFUSED(pack("refused", &input, 1, 2, enough() + 8 * MIB), LEAT_E_NO_MEMORY, input);
    if (max_in_windows > FITS + 3 * MIB)
        T_FAIL("%s: %.1f MiB are in its window", input, (double)max_in_windows / (double)MIB);
    for (unsigned i = 0; i < 20 && (s == LEAT_E_NO_MEMORY || (T_SANITIZED && s == LEAT_E_ARGUMENT)); i++)
        s = pack("refused", &input, 1, 2, enough());
    T_STATUS(s, LEAT_OK);
}

int main(void)
{
    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    test_queue();
    check_refused(put("large.jsonl.zst", "", "{\"text\": \"some text\"}\n", LARGE, ""));
    check_refused(put("record.jsonl.zst", "{\"text\": \"", "a long text, ", LARGE, "\"}\n"));
    check_refused(put("large.txt.zst", "a text: ", "the wheel turns, ", LARGE, ""));
    leat_tokenizer_close(tokenizer);
    return t_end();
}
