/*
 * test_adopt.c: leat_adopt(). A run that is stopped goes on where it was, and writes the index that a run without a
 * stop writes, byte for byte; a file that changed meanwhile is read anew. The adopted dataset has the tokens and
 * documents of the file, its pages are checked by whoever asks and by loaders, and an index that lies about its token
 * file is refused. So is a vocabulary that needs larger ids than the file has.
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "checksum/checksum.h"
#include "format/format.h"
#include "leat.h"
#include "t.h"

#define TOKENS ((uint64_t)3 << 19) /* 3 MiB and a bit */
#define BYTES  (2 * TOKENS + 6)
#define END    7u

static char folder[512], path[700], name[800];
static uint8_t tokens[BYTES], first[1 << 20], second[1 << 20];

static const char *in_folder(const char *file)
{
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return path;
}

static void patch(const char *file, uint64_t at, const void *bytes, size_t count)
{
    int fd = open(in_folder(file), O_RDWR | O_CREAT, 0666);

    T_CHECK(fd >= 0 && pwrite(fd, bytes, count, (off_t)at) == (ssize_t)count);
    close(fd);
}

static size_t read_file(const char *file, uint8_t *to, size_t room)
{
    int fd = open(in_folder(file), O_RDONLY);
    ssize_t got = fd >= 0 ? read(fd, to, room) : -1;

    T_CHECK(got >= 0 && (size_t)got < room);
    close(fd);
    return got < 0 ? 0 : (size_t)got;
}

/* ---- Runs ---- */

struct watch {
    uint64_t calls, first_done, stop_at; /* stop_at: the number of the call that stops the run; 0: none */
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct watch *w = context;

    T_EQ(total, BYTES);
    if (w->calls++ == 0)
        w->first_done = done;
    return w->calls == w->stop_at;
}

static enum leat_status adopt(struct watch *w, uint32_t force)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;

    o.progress = on_progress;
    o.context = w;
    o.force = force;
    return leat_adopt(name, &o, NULL, &t_err);
}

/* How many slots of the state are in use. */
static unsigned count_slots(void)
{
    static uint8_t state[1 << 20];

    read_file("t.bin.partial.adopt", state, sizeof state);
    return (memcmp(state, "leatadp2", 8) == 0) + (memcmp(state + 80, "leatadp2", 8) == 0);
}

/* Hashes that are not those that were saved are not believed: the run ends, and says what to remove. */
static void check_damaged_state(void)
{
    struct watch stopped = { .stop_at = 1 }, rest = { 0 }, again = { 0 };

    T_STATUS(adopt(&stopped, 1), LEAT_E_STOPPED);
    patch("t.bin.partial.adopt", 4096 + 13, "!", 1);
    T_STATUS(adopt(&rest, 1), LEAT_E_CHECKPOINT);
    T_CHECK(strstr(t_err.message, "t.bin.partial.adopt is damaged: remove it, and adopt") != NULL);
    T_CHECK(unlink(in_folder("t.bin.partial.adopt")) == 0);
    T_OK(adopt(&again, 1));
}

/* A file that is not the same any more, though its size and time of modification are: nothing of what was done counts,
 * and it cannot count later either. */
static void check_other_file(void)
{
    struct watch stopped = { .stop_at = 1 }, more = stopped, last = stopped;
    struct timespec times[2];
    struct stat st;

    T_STATUS(adopt(&stopped, 1), LEAT_E_STOPPED);
    T_STATUS(adopt(&more, 1), LEAT_E_STOPPED);
    T_CHECK(more.first_done > stopped.first_done);
    T_EQ(count_slots(), 2);
    T_CHECK(stat(in_folder("t.bin"), &st) == 0);
    patch("t.bin", 0, tokens, 2);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    T_CHECK(utimensat(AT_FDCWD, in_folder("t.bin"), times, 0) == 0);
    T_STATUS(adopt(&last, 1), LEAT_E_STOPPED);
    T_EQ(last.first_done, stopped.first_done);
    T_EQ(count_slots(), 1);
    patch("t.bin", 0, tokens, 2);
}

static void check_resuming(void)
{
    struct watch whole = { 0 }, stopped = { .stop_at = 1 }, rest = { 0 }, again = { 0 };
    size_t count;

    T_OK(adopt(&whole, 0));
    count = read_file("t.bin.leat", first, sizeof first);
    T_STATUS(adopt(&whole, 0), LEAT_E_EXISTS);
    T_EQ(t_err.hint, LEAT_HINT_REPLACE);
    T_CHECK(unlink(in_folder("t.bin.leat")) == 0);

    T_STATUS(adopt(&stopped, 0), LEAT_E_STOPPED);
    T_CHECK(access(in_folder("t.bin.partial.adopt"), F_OK) == 0);
    T_CHECK(access(in_folder("t.bin.leat"), F_OK) != 0);
    T_OK(adopt(&rest, 0));
    T_EQ(rest.calls, whole.calls - 1);
    T_CHECK(rest.first_done > stopped.first_done);
    T_EQ(read_file("t.bin.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);
    T_CHECK(access(in_folder("t.bin.partial.adopt"), F_OK) != 0);

    check_damaged_state();
    check_other_file();
    T_OK(adopt(&again, 1));
    T_EQ(again.calls, whole.calls);
    T_EQ(read_file("t.bin.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);
}

/* ---- What is there ---- */

static void check_content(void)
{
    struct leat_info own = LEAT_INFO_INIT, info = LEAT_INFO_INIT;
    uint64_t start, count, other_start, other_count;
    struct leat_part part = LEAT_PART_INIT;
    struct leat_dataset *d, *plain;
    static uint16_t ids[1000];

    T_OK(leat_dataset_open(&plain, name, NULL, &t_err));
    T_OK(leat_dataset_open(&d, in_folder("t.bin"), NULL, &t_err));
    leat_dataset_info(plain, &info);
    leat_dataset_info(d, &own);
    T_EQ(own.tokens, TOKENS + 3);
    T_EQ(own.documents, info.documents);
    T_EQ(own.end_token, END);
    for (uint64_t i = 0; i < own.documents; i += own.documents / 50) {
        T_OK(leat_dataset_document(d, i, &start, &count, &t_err));
        T_OK(leat_dataset_document(plain, i, &other_start, &other_count, &t_err));
        T_CHECK(start == other_start && count == other_count);
    }
    T_OK(leat_dataset_read(d, TOKENS - 997, 1000, ids, &t_err));
    T_CHECK(memcmp(ids, tokens + BYTES - 2000, 2000) == 0);
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    T_OK(leat_dataset_verify_range(d, 0, own.tokens, &t_err));
    T_OK(leat_dataset_part(d, 0, &part, &t_err));
    T_STR(part.token_path, in_folder("t.bin"));
    /* and damage; while the file is mapped, who writes to it waits for the lease of this same process */
    leat_dataset_close(d);
    leat_dataset_close(plain);
    patch("t.bin", 1000000, "\x55\x66", 2);
    T_OK(leat_dataset_open(&d, in_folder("t.bin"), NULL, &t_err));
    T_STATUS(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_CHECKSUM);
    T_CONTAINS(t_err.message, "t.bin");
    leat_dataset_close(d);
}

static enum leat_status load_all(void)
{
    struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
    struct leat_plan_options o = LEAT_PLAN_OPTIONS_INIT;
    struct leat_loader_options l = LEAT_LOADER_OPTIONS_INIT;
    const struct leat_batch *b;
    struct leat_loader *loader;
    struct leat_plan *plan;
    enum leat_status s;

    source.name = in_folder("t.bin");
    source.weight = "1";
    o.sources = &source;
    o.source_count = 1;
    o.seq_len = 4000;
    o.epochs = 1;
    T_OK(leat_plan_open(&plan, &o, &t_err));
    l.batch = 8;
    T_OK(leat_loader_open(&loader, plan, &l, &t_err));
    while ((s = leat_loader_next(loader, &b, &t_err)) == LEAT_OK)
        leat_batch_release(b, NULL);
    leat_loader_close(loader);
    leat_plan_close(plan);
    return s;
}

/* ---- Indexes that lie ---- */

/* The index with a change of its first page, whose checksum is right again. */
static void lie(uint64_t at, uint64_t value, enum leat_status status, const char *words)
{
    size_t count = read_file("t.bin.leat", first, sizeof first);
    struct leat_dataset *d;

    bytes_store64(first + at, value);
    checksum_store(first + 4080, checksum_kernels()->hash(first, 4080));
    patch("lie.leat", 0, first, count);
    T_CHECK(truncate(in_folder("lie.leat"), (off_t)count) == 0);
    T_STATUS(leat_dataset_open(&d, in_folder("lie.leat"), NULL, &t_err), status);
    T_CONTAINS(t_err.message, words);
}

static void check_lies(void)
{
    struct leat_dataset *d;
    uint64_t entry = 0, place;
    size_t count = read_file("t.bin.leat", first, sizeof first);

    for (uint64_t i = 0; i < 55 && bytes_load32(first + 512 + 64 * i) != 0; i++)
        entry = 512 + 64 * i; /* the last one */
    T_EQ(bytes_load32(first + entry), FORMAT_TOKEN_FILE);
    place = bytes_load64(first + entry + 8);
    T_EQ(place + 8 + 5, count);
    lie(16, 3, LEAT_E_FEATURE, "needs features");
    lie(16, 0, LEAT_E_NO_FILE, "lie.tokens");
    lie(entry, 999, LEAT_E_SECTION, "names no file"); /* another kind, which may be ignored */
    /* in the section itself, which the header's checksum does not cover */
    read_file("t.bin.leat", first, sizeof first);
    for (unsigned i = 0; i < 3; i++) {
        static const char *const words[3] = { "it is cut, or another file", "zero byte", "holds no tokens itself" };
        uint8_t changed[13];

        memcpy(changed, first + place, sizeof changed);
        bytes_store64(changed, i == 0 ? 2 : 0);
        changed[9] = i == 1 ? 0 : i == 2 ? 'x' : changed[9];
        patch("lie.leat", 0, first, count);
        patch("lie.leat", place, changed, sizeof changed);
        T_CHECK(leat_dataset_open(&d, in_folder("lie"), NULL, &t_err) != LEAT_OK);
        T_CONTAINS(t_err.message, words[i]);
    }
}

/* It wrote an index that nothing could open, and with `force` replaced a good one by it: FORMAT.md ties the bytes of an
 * id to the vocabulary size. "the token width does not fit the vocabulary size" was seen. */
static void check_vocabulary(void)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_dataset *d = NULL;
    size_t count = read_file("t.bin.leat", first, sizeof first);

    o.force = 1;
    o.reserved = 1; /* was passed over */
    T_STATUS(leat_adopt(name, &o, NULL, &t_err), LEAT_E_UNSUPPORTED);
    o.reserved = 0;
    o.vocabulary = 65537;
    T_STATUS(leat_adopt(name, &o, NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(strstr(t_err.message, "t.bin have 2 bytes, but the given vocabulary has 65537 entries") != NULL);
    T_CHECK(access(in_folder("t.bin.partial.adopt"), F_OK) != 0);
    T_EQ(read_file("t.bin.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);
    o.vocabulary = 65536;
    T_OK(leat_adopt(name, &o, NULL, &t_err));
    T_OK(leat_dataset_open(&d, in_folder("t.bin.leat"), NULL, &t_err));
    leat_dataset_close(d);
}

int main(void)
{
    uint64_t random = t_seed();

    snprintf(folder, sizeof folder, "%s", t_folder());
    for (uint64_t i = 0; i < BYTES; i += 2) {
        tokens[i] = (uint8_t)(t_below(&random, 40) == 0 ? END : t_below(&random, 250) + 8);
        tokens[i + 1] = 0;
    }
    patch("t.bin", 0, tokens, sizeof tokens);
    snprintf(name, sizeof name, "raw:%s?dtype=u16&end=%u", in_folder("t.bin"), END);
    check_resuming();
    T_STATUS(load_all(), LEAT_E_END);
    check_vocabulary();
    check_lies();
    check_content();
    T_STATUS(load_all(), LEAT_E_CHECKSUM);
    return t_end();
}
