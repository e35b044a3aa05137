/*
 * test_adopt.c: leat_adopt(). A run that is stopped goes on where it was, and writes the index that a run without a
 * stop writes, byte for byte; a file that changed meanwhile is read anew. The adopted dataset has the tokens and
 * documents of the file, its pages are checked by whoever asks and by loaders, and an index that lies about its token
 * file is refused. So is a vocabulary that needs larger ids than the file has, and a file that changes while it is
 * read. Documents that a file records are checked to end with the end token that is given, across chunks and stops.
 */
#include "t.h"
#include "base/bytes.h"
#include "checksum/checksum.h"
#include "format/format.h"
#include "leat.h"

#define TOKENS ((uint64_t)3 << 19) /* 3 MiB and a bit */
#define BYTES  (2 * TOKENS + 6)
#define END    7u

static const char *folder, *name;
static uint8_t tokens[BYTES], first[1 << 20], second[1 << 20];

static const char *in_folder(const char *file)
{
    return t_path(folder, file);
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
    uint64_t touch_at;                   /* likewise: that changes the time of the file */
};

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    struct watch *w = context;

    T_EQ(total, BYTES);
    if (w->calls++ == 0)
        w->first_done = done;
    if (w->calls == w->touch_at)
        T_EQ(utimensat(AT_FDCWD, in_folder("t.bin"), (const struct timespec[2]) { { 1, 2 }, { 3, 4 } }, 0), 0);
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
    t_patch(in_folder("t.bin.partial.adopt"), 4096 + 13, "!", 1);
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
    t_patch(in_folder("t.bin"), 0, tokens, 2);
    times[0] = st.st_atim;
    times[1] = st.st_mtim;
    T_CHECK(utimensat(AT_FDCWD, in_folder("t.bin"), times, 0) == 0);
    T_STATUS(adopt(&last, 1), LEAT_E_STOPPED);
    T_EQ(last.first_done, stopped.first_done);
    T_EQ(count_slots(), 1);
    t_patch(in_folder("t.bin"), 0, tokens, 2);
}

/* What was read is not that of the file any more; the index that there was stays. */
static void check_changed(void)
{
    struct watch changed = { .touch_at = 2 }, again = { 0 };
    size_t count = read_file("t.bin.leat", first, sizeof first);

    T_REFUSED(adopt(&changed, 1), LEAT_E_MISMATCH,
              "t.bin was changed while it was adopted: start over when it stays as it is");
    T_EQ(read_file("t.bin.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);
    T_OK(adopt(&again, 1));
}

/* A state that is no file of leat's is refused, and one that is too short counts as none. */
static void check_odd_state(void)
{
    struct watch refused = { 0 }, again = { 0 };

    T_EQ(symlink("nowhere", in_folder("t.bin.partial.adopt")), 0);
    T_REFUSED(adopt(&refused, 1), LEAT_E_EXISTS, "t.bin.partial.adopt is a symbolic link");
    T_EQ(unlink(in_folder("t.bin.partial.adopt")), 0);
    t_patch(in_folder("t.bin.partial.adopt"), 0, "leatadp2", 8);
    T_OK(adopt(&again, 1));
    T_EQ(again.first_done, 1 << 20);
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
    check_odd_state();
    check_changed();
    check_other_file();
    T_OK(adopt(&again, 1));
    T_EQ(again.calls, whole.calls);
    T_EQ(read_file("t.bin.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);
}

/* ---- Documents that are recorded ---- */

static uint8_t ends[BYTES * 4];
static uint64_t end_count;

static enum leat_status adopt_ended(uint64_t stop_at, uint64_t *calls)
{
    struct leat_adopt_options o = LEAT_ADOPT_OPTIONS_INIT;
    struct watch w = { .stop_at = stop_at };
    enum leat_status s;
    const char *path_of = in_folder("e.ds");

    o.progress = on_progress;
    o.context = &w;
    o.force = 1;
    o.end_token = END;
    s = leat_adopt(path_of, &o, NULL, &t_err);
    *calls = w.calls;
    return s;
}

/* In one run and after a stop: it is the document with this number that is wrong. */
static void refuse_ended(uint64_t document, enum leat_status status, const char *why)
{
    uint64_t calls;
    const char *text = t_text("document %llu %s", (unsigned long long)document, why);

    for (uint64_t stop_at = 0; stop_at < 2; stop_at++) {
        if (stop_at > 0)
            T_STATUS(adopt_ended(1, &calls), LEAT_E_STOPPED);
        T_REFUSED(adopt_ended(0, &calls), status, text);
    }
    unlink(in_folder("e.ds.partial.adopt"));
}

/* datatrove's file of the same tokens, whose index says where documents end. */
static void check_recorded(void)
{
    const uint64_t second_chunk = (1 << 20) / 2; /* its first token */
    uint64_t whole, rest, calls, after = 0;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint8_t number[8];
    size_t count;

    memcpy(first, tokens + BYTES - 2, 2);
    tokens[BYTES - 2] = END;
    for (uint64_t i = 0; i < BYTES; i += 2)
        if (tokens[i] == END) {
            bytes_store64(ends + 8 * end_count, i / 2 + 1);
            after = i / 2 < second_chunk ? end_count + 1 : after;
            end_count++;
        }
    t_patch(in_folder("e.ds"), 0, tokens, sizeof tokens);
    t_patch(in_folder("e.ds.index"), 0, ends, 8 * end_count);
    tokens[BYTES - 2] = first[0];
    T_OK(adopt_ended(0, &whole));
    T_OK(leat_dataset_open(&d, in_folder("e.ds.leat"), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, end_count);
    T_EQ(info.end_token, END);
    leat_dataset_close(d);
    count = read_file("e.ds.leat", first, sizeof first);
    T_STATUS(adopt_ended(1, &calls), LEAT_E_STOPPED);
    T_OK(adopt_ended(0, &rest));
    T_EQ(rest, whole - 1);
    T_EQ(read_file("e.ds.leat", second, sizeof second), count);
    T_CHECK(memcmp(first, second, count) == 0);

    /* the document that lies in both chunks, and one far into the second */
    for (uint64_t n = after; n <= after + 700; n += 700) {
        t_patch(in_folder("e.ds"), 2 * (bytes_load64(ends + 8 * n) - 1), "\x09", 1);
        refuse_ended(n, LEAT_E_TOKEN, "of ");
        t_patch(in_folder("e.ds"), 2 * (bytes_load64(ends + 8 * n) - 1), "\x07", 1);
    }
    t_patch(in_folder("e.ds.index"), 8 * (after + 500), ends + 8 * (after + 499), 8); /* without tokens */
    refuse_ended(after + 500, LEAT_E_TOKEN, "of ");
    bytes_store64(number, 5);
    t_patch(in_folder("e.ds.index"), 8 * (after + 500), number, 8);
    refuse_ended(after + 500, LEAT_E_DOCUMENTS, "ends at token 5, before it starts");
    t_patch(in_folder("e.ds.index"), 8 * (after + 500), ends + 8 * (after + 500), 8);
    T_OK(adopt_ended(0, &calls));
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
    t_patch(in_folder("t.bin"), 1000000, "\x55\x66", 2);
    T_OK(leat_dataset_open(&d, in_folder("t.bin"), NULL, &t_err));
    T_REFUSED(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_CHECKSUM, "t.bin");
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
    t_patch(in_folder("lie.leat"), 0, first, count);
    T_CHECK(truncate(in_folder("lie.leat"), (off_t)count) == 0);
    T_REFUSED(leat_dataset_open(&d, in_folder("lie.leat"), NULL, &t_err), status, words);
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
        t_patch(in_folder("lie.leat"), 0, first, count);
        t_patch(in_folder("lie.leat"), place, changed, sizeof changed);
        T_CHECK(leat_dataset_open(&d, in_folder("lie"), NULL, &t_err) != LEAT_OK);
        T_CONTAINS(t_err.message, words[i]);
    }
}

/* A path that is longer than one can be. */
static void check_long_path(void)
{
    static uint8_t path_of[4097];
    struct leat_dataset *d;
    uint64_t entry = 0, place;
    size_t count = read_file("t.bin.leat", first, sizeof first);

    for (uint64_t i = 0; i < 55 && bytes_load32(first + 512 + 64 * i) != 0; i++)
        entry = 512 + 64 * i; /* the last one */
    place = bytes_load64(first + entry + 8);
    memset(path_of, 'x', sizeof path_of);
    bytes_store64(first + 48, place + 8 + sizeof path_of); /* the length of the index */
    bytes_store64(first + entry + 16, 8 + sizeof path_of); /* that of the section */
    checksum_store(first + 4080, checksum_kernels()->hash(first, 4080));
    t_patch(in_folder("lie.leat"), 0, first, count);
    t_patch(in_folder("lie.leat"), place + 8, path_of, sizeof path_of);
    T_REFUSED(leat_dataset_open(&d, in_folder("lie.leat"), NULL, &t_err), LEAT_E_RECORD,
              "lie.leat: the path of its token file is too long");
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
    o.vocabulary = END;
    T_REFUSED(leat_adopt(name, &o, NULL, &t_err), LEAT_E_ARGUMENT,
              "the end token 7 is not below the vocabulary size 7");
    o.vocabulary = 65536;
    T_EQ(mkdir(in_folder("folder.leat"), 0777), 0);
    o.output = in_folder("folder");
    T_REFUSED(leat_adopt(name, &o, NULL, &t_err), LEAT_E_EXISTS, "folder.leat is a folder");
    o.output = NULL;
    T_OK(leat_adopt(name, &o, NULL, &t_err));
    T_OK(leat_dataset_open(&d, in_folder("t.bin.leat"), NULL, &t_err));
    leat_dataset_close(d);
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    for (uint64_t i = 0; i < BYTES; i += 2) {
        tokens[i] = (uint8_t)(t_below(&random, 40) == 0 ? END : t_below(&random, 250) + 8);
        tokens[i + 1] = 0;
    }
    t_patch(in_folder("t.bin"), 0, tokens, sizeof tokens);
    name = t_text("raw:%s?dtype=u16&end=%u", in_folder("t.bin"), END);
    check_resuming();
    T_STATUS(load_all(), LEAT_E_END);
    check_vocabulary();
    check_lies();
    check_long_path();
    check_recorded();
    check_content();
    T_STATUS(load_all(), LEAT_E_CHECKSUM);
    return t_end();
}
