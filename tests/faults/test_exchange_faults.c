/*
 * test_exchange_faults.c: whichever allocation or system call fails while files of other tools are imported, or a
 * dataset is exported to them: an error that says so, nothing left allocated or open, and no dataset or file under its
 * name; or what the undisturbed run makes. Of litdata's index, a failed allocation was said to be bad JSON.
 */
#include <errno.h>

#include "leat_pack.h"
#include "small.h"
#include "support/fault.h"

#define FILES     "tests/import/files/"
#define LONG_TEXT 300000u

static const char *folder;
static bool exports;      /* else imports */
static const char *which; /* the source, or the format */

static enum leat_status exchange(const char *name, struct leat_error *err)
{
    struct leat_export_options to = LEAT_EXPORT_OPTIONS_INIT;
    struct leat_import_options from = LEAT_IMPORT_OPTIONS_INIT;
    const char *source = exports ? t_path(folder, strcmp(which, "datatrove") == 0 ? "masked" : "plain") : which;
    char output[600];

    snprintf(output, sizeof output, "%s/%s", folder, name);
    if (exports) {
        to.to = which;
        return leat_export(output, &source, 1, &to, NULL, err);
    }
    from.end_token = 256;
    return leat_import(output, &source, 1, &from, NULL, err);
}

/* Removes all that is called NAME or NAME.* there; returns how many of them were not only partial. */
static unsigned remove_made(const char *name)
{
    DIR *dir = opendir(folder);
    size_t length = strlen(name);
    unsigned found = 0;

    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        if (strncmp(e->d_name, name, length) != 0 || (e->d_name[length] != 0 && e->d_name[length] != '.'))
            continue;
        found += strstr(e->d_name, ".partial") == NULL;
        T_CHECK(unlink(t_path(folder, e->d_name)) == 0);
    }
    if (dir)
        closedir(dir);
    return found;
}

static void check_same(void)
{
    static const char *const suffixes[] = { "",    ".leat",     ".tokens",      ".bin",    ".idx",
                                            ".ds", ".ds.index", ".ds.metadata", ".ds.loss" };
    char a[700], b[700];

    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        snprintf(a, sizeof a, "%s/made%s", folder, suffixes[i]);
        snprintf(b, sizeof b, "%s/whole%s", folder, suffixes[i]);
        T_EQ(access(a, F_OK), access(b, F_OK));
        T_CHECK(access(b, F_OK) != 0 || same_file(a, b));
    }
}

/* Returns whether a call failed. */
static bool test_fault(enum fault_kind kind, uint64_t n, int os_error)
{
    long allocations = fault_allocations();
    unsigned files = fault_open_files();
    struct leat_error err = { .message = "" };
    enum leat_status s;

    fault_arm(kind, FAULT_ONCE, n, os_error);
    s = exchange("made", &err);
    fault_disarm();
    if (s == LEAT_OK)
        check_same();
    else
        T_CHECK(err.status == s && err.message[0] && (kind != FAULT_MEMORY || s == LEAT_E_NO_MEMORY));
    T_EQ(fault_allocations(), allocations);
    T_EQ(fault_open_files(), files);
    T_CHECK(remove_made("made") == 0 || s == LEAT_OK || kind == FAULT_SYSTEM);
    if (t_failures)
        T_FAIL("%s, call %" PRIu64 ", %s: %s: %s", which, n, fault_failed(), leat_status_name(s), err.message);
    return fault_failed() != NULL;
}

static void test_all(void)
{
    enum leat_status s = exchange("whole", &t_err);

    if (s == LEAT_E_UNSUPPORTED && strstr(t_err.message, "built without liblz4"))
        return;
    T_OK(s);
    for (uint64_t n = 1; !t_failures && test_fault(FAULT_MEMORY, n, ENOMEM); n++)
        ;
    for (uint64_t n = 1; !t_failures && test_fault(FAULT_SYSTEM, n, EIO); n++)
        ;
    T_CHECK(remove_made("whole") > 0);
}

static void write_dataset(const char *name, uint32_t mask)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    static uint8_t learned[1000];
    static uint16_t ids[1000];
    struct leat_writer *w;

    o.vocabulary = 1000;
    o.store_mask = mask;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    for (uint64_t i = 0; i < 1000; i++) {
        ids[i] = (uint16_t)i;
        learned[i] = i % 3 ? UINT8_MAX : 0;
    }
    for (uint64_t i = 0; i < 10; i++)
        T_OK(leat_writer_add_masked(w, ids, 2, mask ? learned : NULL, 100 * i, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

/* A source of one sample: a text that is longer than what is read at once, then ids. Both formats have it so. */
static void write_long(const char *name, const char *index, const void *array, size_t size)
{
    uint32_t head[5] = { 1, 12, 20 + LONG_TEXT + (uint32_t)size, LONG_TEXT, (uint32_t)size };
    uint8_t *bytes = calloc(1, sizeof head + LONG_TEXT + size);
    char source[600], path[700];

    snprintf(source, sizeof source, "%s/%s", folder, name);
    T_CHECK(bytes && mkdir(source, 0777) == 0);
    if (!bytes)
        return;
    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head + LONG_TEXT, array, size);
    snprintf(path, sizeof path, "%s/f", source);
    put_file(path, bytes, sizeof head + LONG_TEXT + size);
    snprintf(path, sizeof path, "%s/index.json", source);
    put_file(path, index, strlen(index));
    free(bytes);
    which = source;
    test_all();
}

int main(void)
{
    static const char *const sources[] = { "mds/array",        "mds/zstd",        "litdata/tokens.zstd",
                                           "litdata/items",    "litdata/frames",  "litdata/samples",
                                           "litdata/lists",    "arrow/saved",     "arrow/zstd.arrow",
                                           "arrow/file.arrow", "arrow/lz4.arrow", "arrow/stream.arrow" };
    static const char *const formats[] = { "megatron", "llmc", "datatrove" };
    char path[100];

    folder = t_folder();
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        snprintf(path, sizeof path, FILES "%s", sources[i]);
        which = path;
        test_all();
    }
    write_long(
        "mds",
        "{\"shards\": [{\"column_names\": [\"text\", \"ids\"], \"column_encodings\": [\"str\", \"ndarray:uint8\"], "
        "\"column_sizes\": [null, null], \"format\": \"mds\", \"raw_data\": {\"basename\": \"f\", \"bytes\": 300023}, "
        "\"samples\": 1}]}",
        "\4\1\7", 3);
    write_long("litdata",
               "{\"chunks\": [{\"filename\": \"f\", \"chunk_bytes\": 300033, \"chunk_size\": 1}], \"config\": "
               "{\"data_format\": [\"str\", \"numpy\"], \"item_loader\": \"PyTreeLoader\"}}",
               "\4\0\0\0\1\0\0\0\1\0\0\0\7", 13);
    exports = true;
    write_dataset("plain", 0);
    write_dataset("masked", 1);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        which = formats[i];
        test_all();
    }
    return t_end();
}
