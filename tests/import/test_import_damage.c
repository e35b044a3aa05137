/*
 * test_import_damage.c: a file or an index of each format that is imported, with bits damaged, one at a time: an
 * error that names the path, or the documents that were written, but for the one id whose byte it was. These files have
 * no checksums, so some damage is another dataset: a name of another file, a type of ids, an end of a list; the table
 * says how much of it there is. Each sentence about damage is seen.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "leat_pack.h"
#include "t.h"

#define FILES      "tests/import/files/"
#define MAX_BYTES  16384u
#define MAX_TOKENS 4096u

struct documents {
    uint64_t count, tokens;
    uint64_t starts[200];
    uint32_t ids[MAX_TOKENS];
};

static const struct damaged {
    const char *source, *file; /* of its folder; NULL: the source is a file */
    bool packed;               /* a byte of it may be many ids */
    unsigned others;           /* damages that give another dataset; if packed, at most: zstd and LZ4 have versions */
} rows[] = {
    { "mds/array", "shard.00002.mds", false, 0 },
    { "mds/array", "index.json", false, 0 },
    { "mds/typed", "shard.00004.mds", false, 0 },
    { "mds/shaped", "shard.00000.mds", false, 0 },
    { "mds/shaped", "index.json", false, 0 },
    { "mds/zstd", "shard.00002.mds.zstd", true, 0 },
    { "litdata/numpy", "chunk-0-1.bin", false, 1 },
    { "litdata/numpy", "index.json", false, 0 },
    { "litdata/items", "chunk-0-5.bin", false, 0 },
    { "litdata/items", "index.json", false, 0 },
    { "litdata/frames", "chunk-0-2.bin", true, 0 },
    { "litdata/samples", "chunk-0-5.bin", true, 0 },
    { "litdata/lists", "chunk-0-5.bin", false, 0 },
    { "litdata/tokens.zstd", "chunk-0-4.zstd.bin", true, 0 },
    { "arrow/saved", "data-00001-of-00003.arrow", false, 4 },
    { "arrow/saved", "state.json", false, 0 },
    { "arrow/saved.fixed", "data-00000-of-00001.arrow", false, 1 },
    { "arrow/masked.arrow", NULL, false, 0 },
    { "arrow/file.arrow", NULL, false, 4 },
    { "arrow/zstd.arrow", NULL, true, 8 },
    { "arrow/lz4.arrow", NULL, true, 8 },
};
#define ROWS (sizeof rows / sizeof *rows)

/* Of damage; those of compressed buffers need liblz4 or are zstd's, too. */
static const char *const sentences[] = {
    /* shards, chunks */
    "bytes, and its index says", "samples, and its index says", "which cannot be; restore", "its samples end at byte",
    "it has no room for the sizes of its columns", "its columns are longer than it is",
    "its columns are shorter than it is", "its array is not of integers", "its array is not as long as its shape says",
    "it is not a zstd frame that says its size", "its table of zstd frames is damaged", "a zstd frame is damaged (",
    "is not compressed in a way that leat reads (zstd", "leat reads only if litdata has added an Arrow file",
    " axes, not a list of ids", "and an id is never negative", "not a whole number of int",
    /* indexes */
    "index.json is not valid JSON: ",
    "\"raw_data\" is missing or not an object with basename and bytes, beside samples",
    "\"column_names\" is missing or not a list as long as column_encodings and column_sizes",
    "\"chunks\" is missing or not a list of filename, chunk_size, chunk_bytes",
    "\"data_format\" is missing or not a list", "\"data_spec\" is missing or not JSON",
    "\"data_spec\" is missing or not a list of keys", "\"_data_files\" is missing or not a list",
    "\"_data_files\" is missing or not a list of filename", "has other columns than the first one; import them apart",
    "its column holds arrays of ", "No such file or directory",
    /* Arrow */
    "the schema of the Arrow file is damaged", "a buffer is outside of it", "it has too few columns",
    "it has too few buffers", "its buffer of ids is too short", "its buffer of offsets is too short",
    "its lists are longer than its ids", "a list is not among its ids", "its column of ids is not as long as the batch",
    "its metadata lead out of it", "it has no mark (Arrow before 0.15", "the file ends before it does",
    "the footer leads out of itself", "the footer says that it is a batch, and it is not", "the footer leaves it out",
    "it is neither a batch nor a dictionary", "a stream begins with a schema", "would become more than 4 GiB",
    "a compressed buffer has no size", "the footer leads out of the file", "without the mark of an Arrow stream's end",
    "begins as an Arrow file and does not end as one", "was written on a big-endian machine",
    "is compressed in a way that leat does not know", "a column of views stands before that of the ids",
    "a buffer's LZ4 frame is broken", /* the last one */
};
#define SENTENCES (sizeof sentences / sizeof *sentences)
static bool seen[SENTENCES], no_lz4;

static const char *folder;
static char source[600], target[700];

static size_t load(const char *path, uint8_t bytes[MAX_BYTES])
{
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(bytes, 1, MAX_BYTES, f) : 0;

    if (!f || fclose(f) != 0 || size == MAX_BYTES)
        T_FAIL("%s: %s", path, strerror(errno));
    return size;
}

static void store(const char *path, const uint8_t *bytes, size_t size)
{
    FILE *f = fopen(path, "wb");

    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0) {
        perror(path);
        exit(1);
    }
}

/* Copies the source, and names the file that is damaged. */
static void copy(const struct damaged *row)
{
    static uint8_t bytes[MAX_BYTES];
    char from[700], to[900];
    DIR *dir;

    snprintf(source, sizeof source, "%s/%s", folder, strrchr(row->source, '/') + 1);
    snprintf(from, sizeof from, FILES "%s", row->source);
    if (!row->file) {
        snprintf(target, sizeof target, "%s", source);
        store(target, bytes, load(from, bytes));
        return;
    }
    if (mkdir(source, 0777) != 0 && errno != EEXIST)
        T_FAIL("%s: %s", source, strerror(errno));
    snprintf(target, sizeof target, "%s/%s", source, row->file);
    dir = opendir(from);
    for (const struct dirent *e = dir ? readdir(dir) : NULL; e; e = readdir(dir)) {
        snprintf(from, sizeof from, FILES "%s/%s", row->source, e->d_name);
        snprintf(to, sizeof to, "%s/%s", source, e->d_name);
        if (e->d_name[0] != '.')
            store(to, bytes, load(from, bytes));
    }
    if (dir)
        closedir(dir);
}

static enum leat_status import(struct documents *d)
{
    struct leat_import_options o = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *dataset;
    const char *name = t_path(folder, "made"), *from = source;
    enum leat_status s;

    o.force = 1;
    o.vocabulary = (uint64_t)1 << 31;
    s = leat_import(name, &from, 1, &o, NULL, &t_err);
    if (s != LEAT_OK)
        return s;
    T_OK(leat_dataset_open(&dataset, name, NULL, &t_err));
    leat_dataset_info(dataset, &info);
    d->count = info.documents;
    d->tokens = info.tokens;
    T_CHECK(d->count < 200 && d->tokens <= MAX_TOKENS);
    T_OK(leat_dataset_starts(dataset, 0, d->count + 1, d->starts, &t_err));
    T_OK(leat_dataset_read_u32(dataset, 0, d->tokens, d->ids, &t_err));
    leat_dataset_close(dataset);
    return s;
}

/* Whether they are the documents that were written, but for an id. */
static bool same(const struct documents *a, const struct documents *b, bool packed)
{
    uint64_t others = 0;

    if (a->count != b->count || memcmp(a->starts, b->starts, (a->count + 1) * 8) != 0)
        return false;
    for (uint64_t i = 0; i < a->tokens; i++)
        others += a->ids[i] != b->ids[i];
    return others <= 1 || packed;
}

/* Imports the damaged bytes. */
static enum leat_status try(const uint8_t *bytes, size_t size, struct documents *got)
{
    enum leat_status s;

    store(target, bytes, size);
    s = import(got);
    if (s != LEAT_OK)
        T_CONTAINS(t_err.message, source);
    for (size_t i = 0; s != LEAT_OK && i < SENTENCES; i++)
        seen[i] |= strstr(t_err.message, sentences[i]) != NULL;
    return s;
}

static unsigned flip_bits(uint8_t *bytes, size_t size, const struct documents *want, bool packed)
{
    static struct documents got;
    unsigned others = 0;

    for (size_t bit = t_every() ? 0 : 3; bit < 8 * size; bit += t_step(size < 2500 ? 11 : 37)) {
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        if (try(bytes, size, &got) == LEAT_OK && !same(&got, want, packed)) {
            others++;
            fprintf(stderr, "%s: bit %zu of byte %zu gives other documents\n", target, bit % 8, bit / 8);
        }
        bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    return others;
}

/* Numbers that are far too large, or a bit too small: some may be eight bytes of ids. */
static void set_words(uint8_t *bytes, size_t size)
{
    static const uint64_t numbers[] = { UINT64_MAX, 4 };
    static struct documents got;
    uint8_t old[8];

    for (size_t at = 0; at + 8 <= size; at += 8 * t_step(size < 2500 ? 1 : 3)) {
        memcpy(old, bytes + at, 8);
        for (unsigned i = 0; i < 2; i++) {
            memcpy(bytes + at, &numbers[i], 8);
            try(bytes, size, &got);
        }
        memcpy(bytes + at, old, 8);
    }
}

static void test_row(const struct damaged *row)
{
    static uint8_t bytes[MAX_BYTES];
    static struct documents want;
    enum leat_status s;
    unsigned others;
    size_t size;

    copy(row);
    s = import(&want);
    if (s == LEAT_E_UNSUPPORTED && strstr(t_err.message, "built without liblz4")) {
        no_lz4 = true;
        return;
    }
    T_OK(s);
    size = load(target, bytes);
    others = flip_bits(bytes, size, &want, row->packed);
    if (row->packed ? !t_every() && others > row->others : t_every() ? others < row->others : others != row->others)
        T_FAIL("%s: %u damages give other documents, not %u", row->source, others, row->others);
    set_words(bytes, size);
    store(target, bytes, size);
}

int main(void)
{
    folder = t_folder();
    for (size_t i = 0; i < ROWS; i++)
        test_row(&rows[i]);
    for (size_t i = 0; i < SENTENCES - no_lz4; i++)
        if (!seen[i])
            T_FAIL("no damage was said to be \"%s\"", sentences[i]);
    return t_end();
}
