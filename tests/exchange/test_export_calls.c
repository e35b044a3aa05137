/*
 * test_export_calls.c: leat_export() with arguments that are refused, stopped by its progress function, and beside
 * files that appear while it runs: a sentence each, and nothing left under the output's name. And masks as datatrove
 * has them, without weights.
 */
#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

static const char *folder;
static char one[600], masked[600], weighted[600], output[600];
static unsigned calls, stop_at; /* of progress; 0: never */
static const char *appears;     /* a file that another process writes meanwhile; NULL: none */

static void store(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    T_CHECK(done <= total);
    if (appears)
        store(appears, "other", 5);
    return ++calls == stop_at;
}

/* How many files begin with the output's name. */
static unsigned count_made(void)
{
    DIR *dir = opendir(folder);
    unsigned count = 0;

    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir))
        count += strncmp(e->d_name, "out", 3) == 0;
    if (dir)
        closedir(dir);
    return count;
}

static void write_dataset(char path[600], const char *name, uint8_t learned)
{
    const uint8_t mask[6] = { 0, learned, 255, 0, 255, 255 };
    const uint16_t ids[6] = { 1, 2, 3, 4, 5, 6 };
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    snprintf(path, 600, "%s/%s", folder, name);
    o.vocabulary = 100;
    o.store_mask = learned > 0;
    T_OK(leat_writer_open(&w, path, &o, &t_err));
    for (uint64_t i = 0; i < 1000; i++)
        T_OK(add_one_document(w, ids, 2, learned > 0 ? mask : NULL, 6, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static enum leat_status export_to(const char *to, const char *name, uint64_t count, uint32_t number_bytes)
{
    const char *names[3] = { name, name, name };
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;

    o.to = to;
    o.number_bytes = number_bytes;
    o.progress = on_progress;
    calls = 0;
    return leat_export(output, names, count, &o, NULL, &t_err);
}

static void test_export_refused(void)
{
    static const struct {
        const char *to;
        uint64_t count;
        uint32_t number_bytes;
        const char *says;
    } rows[] = {
        { "raw", 0, 0, "leat_export: missing output or names" },
        { "parquet", 1, 0, "unknown format \"parquet\": use megatron, raw, nanogpt, llmc or datatrove" },
        { NULL, 1, 0, "unknown format \"\": use" },
        { "raw", 1, 3, "leat_export: number_bytes is 3, not 0, 2 or 4" },
        { "nanogpt", 1, 4, "out: files of nanogpt have ids of 2 bytes, not 4" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        T_REFUSED(export_to(rows[i].to, one, rows[i].count, rows[i].number_bytes), LEAT_E_ARGUMENT, rows[i].says);
    }
    T_STATUS(leat_export(NULL, NULL, 1, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_EQ(count_made(), 0);
}

static void test_export_stopped(void)
{
    unsigned all;

    T_OK(export_to("megatron", one, 3, 0));
    all = calls;
    T_CHECK(all >= 3 && count_made() == 2);
    unlink(t_path(folder, "out.bin"));
    unlink(t_path(folder, "out.idx"));
    for (stop_at = 1; stop_at <= all; stop_at++) {
        T_STATUS(export_to("megatron", one, 3, 0), LEAT_E_STOPPED);
        T_STR(t_err.message, "exporting was stopped");
        T_EQ(count_made(), 0);
    }
    stop_at = 0;
}

/* The last of the files gets its name last, and cannot have it: the others lose theirs. */
static void test_export_overtaken(void)
{
    struct stat st;
    const char *index = t_text("%s.idx", output);

    appears = index;
    T_REFUSED(export_to("megatron", one, 1, 0), LEAT_E_EXISTS, "out.idx");
    T_EQ(count_made(), 1);
    T_CHECK(stat(index, &st) == 0 && st.st_size == 5);
    appears = NULL;
    unlink(index);
}

static void test_masks(void)
{
    uint8_t loss[6001];
    FILE *f;

    T_OK(export_to("datatrove", masked, 1, 0));
    T_EQ(count_made(), 4);
    f = fopen(t_path(folder, "out.ds.loss"), "rb");
    T_EQ(f ? fread(loss, 1, sizeof loss, f) : 0, 6000);
    if (f)
        fclose(f);
    for (unsigned i = 0; i < 6000; i += 6)
        T_CHECK(memcmp(loss + i, "\0\1\1\0\1\1", 6) == 0);
    for (unsigned i = 0; i < 4; i++)
        unlink(t_path(folder, (const char *const[]) { "out.ds", "out.ds.loss", "out.ds.index", "out.ds.metadata" }[i]));
    T_REFUSED(export_to("datatrove", weighted, 1, 0), LEAT_E_UNSUPPORTED,
              "token 1 has a weight of 100/255, and files of datatrove only say whether a token is");
    T_EQ(count_made(), 0);
}

/* Of 4 GiB, without a byte of it on the disk. */
static void test_too_many(void)
{
    int fd;
    const char *path = t_text("%s/large", folder);

    fd = open(path, O_WRONLY | O_CREAT, 0666);
    if (fd >= 0 && ftruncate(fd, (off_t)1 << 32) == 0) {
        T_STATUS(export_to("llmc", t_text("raw:%s?dtype=u16", path), 1, 0), LEAT_E_UNSUPPORTED);
        T_CONTAINS(t_err.message,
                   "out: a file of llmc holds at most 2147483647 tokens, and the dataset has 2147483648");
        T_EQ(count_made(), 0);
    }
    close(fd);
    unlink(path);
}

int main(void)
{
    folder = t_folder();
    snprintf(output, sizeof output, "%s/out", folder);
    write_dataset(one, "one", 0);
    write_dataset(masked, "masked", 255);
    write_dataset(weighted, "weighted", 100);
    test_export_refused();
    test_export_stopped();
    test_export_overtaken();
    test_masks();
    test_too_many();
    return t_end();
}
