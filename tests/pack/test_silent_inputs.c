/*
 * test_silent_inputs.c: a run ends when its program says so or when it fails, also while it waits for a pipe that says
 * nothing, as standard input, a list or in the place of a file, or has a record of a TiB, or a TiB of compressed data
 * without any text; whatever the clock is set to.
 */
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <zstd.h>

#include "leat_pack.h"
#include "t.h"

#define ASKED_TIMES 3

static const char *folder;
static struct leat_tokenizer *tokenizer;

/* The time of day is an hour later for who asks than for the kernel, which waits. */
int clock_gettime(clockid_t clock, struct timespec *now)
{
    int r = (int)syscall(SYS_clock_gettime, clock, now);

    if (clock == CLOCK_REALTIME)
        now->tv_sec += 3600;
    return r;
}

/* What is written to a pipe before it falls silent; without an end: again and again. */
struct speech {
    const void *bytes;
    size_t count;
    bool endless;
    int fd;
};

static void *speak(void *context)
{
    const struct speech *s = context;
    const char *bytes = s->bytes;

    do {
        size_t done = 0;

        while (done < s->count) {
            ssize_t count = write(s->fd, bytes + done, s->count - done);

            if (count < 0)
                return NULL; /* nobody listens any more */
            done += (size_t)count;
        }
    } while (s->endless);
    return NULL;
}

static uint32_t stop_soon(void *context, const struct leat_pack_progress *p)
{
    unsigned *asked = context;

    (void)p;
    return ++*asked >= ASKED_TIMES;
}

static uint32_t never_stop(void *context, const struct leat_pack_progress *p)
{
    (void)context;
    (void)p;
    return 0;
}

/* Packs standard input while a pipe says this on it, and stays open. */
static void check_input(struct speech s, enum leat_pack_format format, enum leat_status expected)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = "-";
    unsigned asked = 0;
    pthread_t thread;
    int ends[2];

    T_CHECK(pipe(ends) == 0 && dup2(ends[0], STDIN_FILENO) == STDIN_FILENO);
    close(ends[0]);
    s.fd = ends[1];
    T_CHECK(pthread_create(&thread, NULL, speak, &s) == 0);
    o.tokenizer = tokenizer;
    o.format = format;
    o.end_token = 256;
    o.force = 1;
    o.max_rejects = 0;
    o.progress = expected == LEAT_E_STOPPED ? stop_soon : never_stop;
    o.context = &asked;
    T_STATUS(leat_pack(t_path(folder, "out"), &input, 1, &o, NULL, &t_err), expected);
    T_CHECK(expected != LEAT_E_STOPPED || asked >= ASKED_TIMES);
    close(STDIN_FILENO); /* the end for who still writes */
    T_CHECK(open("/dev/null", O_RDONLY) == STDIN_FILENO);
    pthread_join(thread, NULL);
    close(ends[1]);
    unlink(t_path(folder, "out.rejects.jsonl"));
    T_EQ(t_files(folder), 2); /* nothing else is left */
}

static void test_inputs(void)
{
    static char bad[4 << 20], packed[1000];
    static const char one[] = "{\"text\": \"one\"}\n", text[] = "a text that goes on and on ";
    size_t count = ZSTD_compress(packed, sizeof packed, text, sizeof text, 1);

    check_input((struct speech) { .count = 0 }, LEAT_PACK_JSONL, LEAT_E_STOPPED);
    check_input((struct speech) { .count = 0 }, LEAT_PACK_TEXT, LEAT_E_STOPPED);
    check_input((struct speech) { one, sizeof one - 1, false, -1 }, LEAT_PACK_JSONL, LEAT_E_STOPPED);
    check_input((struct speech) { one, sizeof one - 1, true, -1 }, LEAT_PACK_JSONL, LEAT_E_STOPPED);
    check_input((struct speech) { text, sizeof text - 1, false, -1 }, LEAT_PACK_TEXT, LEAT_E_STOPPED);
    check_input((struct speech) { text, sizeof text - 1, true, -1 }, LEAT_PACK_TEXT, LEAT_E_STOPPED);
    check_input((struct speech) { packed, count - 5, false, -1 }, LEAT_PACK_TEXT, LEAT_E_STOPPED);
    check_input((struct speech) { packed, 3, false, -1 }, LEAT_PACK_JSONL, LEAT_E_STOPPED);
    memset(bad, 'x', sizeof bad);
    for (size_t i = 99; i < sizeof bad; i += 100)
        bad[i] = '\n';
    check_input((struct speech) { bad, sizeof bad, false, -1 }, LEAT_PACK_JSONL, LEAT_E_REJECTS);
}

/* A list through a named pipe, whose writer has not come, or has said a name and a half. */
static void check_list(const char *said)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *pipe = t_path(folder, "list");
    char word[600];
    const char *words[1] = { word };
    unsigned asked = 0;
    int reader = -1, writer = -1;

    T_CHECK(mkfifo(pipe, 0600) == 0);
    if (said) {
        reader = open(pipe, O_RDONLY | O_NONBLOCK); /* without one no writer can come */
        writer = open(pipe, O_WRONLY);
        T_CHECK(write(writer, said, strlen(said)) == (ssize_t)strlen(said));
    }
    snprintf(word, sizeof word, "@%s", pipe);
    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.progress = stop_soon;
    o.context = &asked;
    T_STATUS(leat_pack(t_path(folder, "out"), words, 1, &o, NULL, &t_err), LEAT_E_STOPPED);
    T_EQ(asked, ASKED_TIMES);
    if (said) {
        close(reader);
        close(writer);
    }
    unlink(pipe);
}

/* A record or a text of a TiB, most of it a hole in the file, which nobody waits for. */
static void check_huge(const char *name, const char *begin)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, name);
    unsigned asked = 0;
    FILE *f = fopen(input, "w");

    T_CHECK(f != NULL);
    for (unsigned i = 0; i < 1000; i++)
        T_CHECK(fputs(i > 0 ? "some text " : begin, f) >= 0);
    T_CHECK(fclose(f) == 0);
    if (truncate(input, (off_t)1 << 40) != 0)
        return; /* the file system has no files of this size */
    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = 1;
    o.progress = stop_soon;
    o.context = &asked;
    T_STATUS(leat_pack(t_path(folder, "huge"), &input, 1, &o, NULL, &t_err), LEAT_E_STOPPED);
    unlink(input);
}

/* An empty member of gzip, and zeros after it, which are passed over. */
/* `plan`: planning a run stops there, too. */
static void check_textless(const char *name, uint32_t part, uint32_t parts, bool plan)
{
    static const uint8_t empty[] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 2, 0xff, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    const char *input = t_path(folder, name);
    unsigned asked = 0;
    FILE *f = fopen(input, "w");

    T_CHECK(f && fwrite(empty, sizeof empty, 1, f) == 1 && fclose(f) == 0);
    if (truncate(input, (off_t)1 << 40) != 0)
        return; /* as above */
    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = !plan;
    o.part = part;
    o.parts = parts;
    o.progress = stop_soon;
    o.context = &asked;
    if (plan) {
        struct leat_run_options r = LEAT_RUN_OPTIONS_INIT;
        struct leat_run *run;

        r.parts = parts;
        r.tokenizer = "bytes";
        r.inputs = &input;
        r.input_count = 1;
        r.pack = &o;
        T_STATUS(leat_run_create(&run, t_path(folder, "run"), &r, &t_err), LEAT_E_STOPPED);
    } else {
        T_STATUS(leat_pack(t_path(folder, "textless"), &input, 1, &o, NULL, &t_err), LEAT_E_STOPPED);
    }
    unlink(input);
}

static void put_pipe(void *context, const struct leat_pack_notice *notice)
{
    const char *path = context;

    (void)notice;
    T_CHECK(unlink(path) == 0 && mkfifo(path, 0600) == 0);
}

/* It is exchanged when a run says that it is given twice, between finding its inputs and opening them. */
static void check_exchanged(uint32_t parts)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    char *path = t_path(folder, "exchanged.jsonl");
    const char *inputs[] = { path, path };

    t_write_text(path, "{\"text\": \"a text\"}\n");
    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.force = 1;
    o.part = parts > 0;
    o.parts = parts;
    o.notice = put_pipe;
    o.context = path;
    T_REFUSED(leat_pack(t_path(folder, "exchanged"), inputs, 2, &o, NULL, &t_err), LEAT_E_IO,
              "exchanged.jsonl is not a regular file");
    unlink(path);
}

int main(void)
{
    struct leat_tokenizer_options t = LEAT_TOKENIZER_OPTIONS_INIT;

    signal(SIGPIPE, SIG_IGN);
    folder = t_folder();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", &t, &t_err));
    test_inputs();
    check_list(NULL);
    t_write_text(t_path(folder, "a.txt"), "a text");
    check_list("a.txt\n# and then\na.tx");
    check_huge("huge.jsonl", "{\"text\": \"");
    check_huge("huge.txt", "");
    check_textless("textless.jsonl.gz", 0, 0, false);
    check_textless("textless.jsonl", 1, 2, false);
    check_textless("textless.jsonl", 0, 2, true);
    check_exchanged(0);
    check_exchanged(2);
    leat_tokenizer_close(tokenizer);
    return t_end();
}
