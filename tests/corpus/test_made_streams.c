/*
 * test_made_streams.c: files that xz, bzip2 and lz4 made of tests/corpus/made/text, with blocks, checks, padding,
 * skippable frames and empty streams: read in pieces of any size, cut to every length, a bit of each byte wrong, and
 * with bytes after the end. A cut file gives a start of the text, and says where; one with checks never gives another
 * text without an error. Headers of kinds that are not read are refused. Built a second time without the libraries
 * (corpus.mk), where each is refused.
 */
#include "stream_cases.h"

static const struct made {
    const char *name;
    unsigned texts; /* that it holds */
    bool checked;   /* all its text, by the file itself */
} made[] = {
    { "one.xz", 1, true },        { "blocks.xz", 1, true },      { "streams.xz", 2, true }, { "one.bz2", 1, true },
    { "streams.bz2", 2, true },   { "one.lz4", 1, true },        { "linked.lz4", 1, true }, { "frames.lz4", 2, true },
    { "unchecked.xz", 1, false }, { "unchecked.lz4", 1, false },
};

static char path[600];
static uint64_t random_state;

static void load(const char *name, struct blob *out)
{
    uint8_t buf[4096];
    size_t got;
    FILE *f;
    const char *from = t_text("tests/corpus/made/%s", name);

    f = fopen(from, "rb");
    if (!f) {
        perror(from);
        exit(1);
    }
    while ((got = fread(buf, 1, sizeof buf, f)) > 0)
        blob_add(out, buf, got);
    fclose(f);
}

/* The same, whatever the pieces; of what ends with an error, a sentence with the name and a place in the file. */
static enum leat_status read_twice(const struct blob *file, struct blob *got)
{
    struct leat_error err = { 0 }, again = { 0 };
    struct blob other = { 0 };
    enum leat_status s;

    t_write(path, file->bytes, file->size);
    got->size = 0;
    s = read_stream(path, got, 1 + t_below(&random_state, 50), &err);
    T_EQ(read_stream(path, &other, 5000, &again), s);
    if (!blob_same(got, &other))
        T_FAIL("%s: %zu or %zu bytes of text (%s)", path, got->size, other.size, err.message);
    if (s != LEAT_OK) {
        T_CHECK(s == LEAT_E_TEXT || s == LEAT_E_TRUNCATED);
        T_CONTAINS(err.message, path);
        T_STR(err.message, again.message);
        T_CHECK(err.offset <= file->size);
    }
    blob_free(&other);
    return s;
}

static void check_cut(const struct made *m, const struct blob *file, const struct blob *text)
{
    unsigned whole = 0;

    for (size_t size = 4; size < file->size; size++) {
        struct blob cut = { file->bytes, size, 0 }, got = { 0 };
        enum leat_status s = read_twice(&cut, &got);

        /* after a stream, zeros may follow in fours; one to three of them are broken, not cut off */
        if (s != LEAT_OK && s != LEAT_E_TRUNCATED && cut.bytes[size - 1] != 0)
            T_FAIL("%s cut to %zu bytes: %s", m->name, size, leat_status_name(s));
        if (got.size > text->size || (got.size > 0 && memcmp(got.bytes, text->bytes, got.size) != 0))
            T_FAIL("%s cut to %zu bytes gives another text", m->name, size);
        whole += s == LEAT_OK;
        T_CHECK(s != LEAT_OK || got.size % (text->size / m->texts) == 0);
        blob_free(&got);
    }
    T_CHECK(m->texts > 1 || whole == 0);
}

static void check_broken(const struct made *m, struct blob *file, const struct blob *text)
{
    struct blob got = { 0 };
    unsigned found = 0;

    for (size_t byte = 4; byte < file->size; byte++) {
        size_t bit = 8 * byte + t_below(&random_state, 8);
        enum leat_status s;

        file->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
        s = read_twice(file, &got);
        found += s != LEAT_OK;
        if (m->checked && s == LEAT_OK && !blob_same(&got, text) && got.size % (text->size / m->texts) != 0)
            T_FAIL("%s, bit %zu: another text, and no error", m->name, bit);
        file->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    T_CHECK(found > file->size / 8); /* of lz4 without checks, most of a text can be wrong */
    blob_free(&got);
}

static void check_longer(const struct made *m, const struct blob *file, const struct blob *text)
{
    struct blob got = { 0 };

    for (size_t count = 1; count < 9; count++) {
        struct blob longer = { 0 };

        blob_add(&longer, file->bytes, file->size);
        blob_add(&longer, "garbage!", count);
        if (read_twice(&longer, &got) != LEAT_E_TEXT || !blob_same(&got, text))
            T_FAIL("%s: %zu bytes after the end are not found", m->name, count);
        blob_free(&longer);
    }
    blob_free(&got);
}

/* Behind more skippable frames, the file counts as zstd, and is refused for what follows them. */
static void check_behind(const char *folder, const struct blob *file, const struct blob *text, unsigned frames)
{
    static const uint8_t skippable[] = { 0x50, 0x2a, 0x4d, 0x18, 0, 0, 0, 0 };
    struct blob behind = { 0 }, got = { 0 };
    struct leat_error err = { 0 };
    enum leat_status s;

    for (unsigned i = 0; i < frames; i++)
        blob_add(&behind, skippable, sizeof skippable);
    blob_add(&behind, file->bytes, file->size);
    snprintf(path, sizeof path, "%s/unnamed", folder);
    t_write(path, behind.bytes, behind.size);
    s = read_stream(path, &got, 1000, &err);
    T_CHECK(frames > 1024 || (s == LEAT_OK && blob_same(&got, text)));
    T_CHECK(frames <= 1024 || (s == LEAT_E_TEXT && got.size == 0 && err.offset == 8 * frames));
    blob_free(&got);
    blob_free(&behind);
}

/* Headers as other versions and options write them, whole but for what follows: what is said of those not read. */
static void check_rare(const char *folder, const char *suffix)
{
    static const struct {
        const char *suffix;
        uint8_t bytes[12];
        const char *says;
    } rare[] = {
        { ".xz",
          { 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0x02, 0xd3, 0x73, 0xd7, 0xaf },
          "an integrity check that liblzma does" },
        { ".xz",
          { 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0x12, 0xb7, 0x63, 0x60, 0xb2 },
          "options that liblzma does not know" },
        { ".xz",
          { 0xfd, '7', 'z', 'X', 'Z', 0, 1, 0x04, 0xa7, 0xe7, 0xaf, 0x5f },
          "options that liblzma does not know" },
        { ".xz",
          { 0xfd, '7', 'z', 'X', 'Z', 0, 0, 0x12, 0xd3, 0x73, 0xd7, 0xaf },
          "it is not valid, or does not match" },
        { ".xz", { 0xfd, '7', 'z', 'X', 'z', 0, 0, 0x04, 0xe6, 0xd6, 0xb4, 0x46 }, "no stream begins there" },
        { ".lz4", { 0x04, 0x22, 0x4d, 0x18, 0x65, 0x40, 1, 0, 0, 0, 0 }, "the frame needs a dictionary" },
    };

    for (size_t i = 0; i < sizeof rare / sizeof *rare; i++) {
        struct blob got = { 0 };

        if (strcmp(rare[i].suffix, suffix) != 0)
            continue;
        snprintf(path, sizeof path, "%s/rare%s", folder, suffix);
        t_write(path, rare[i].bytes, sizeof rare[i].bytes);
        T_REFUSED(read_stream(path, &got, 10, &t_err), LEAT_E_TEXT, rare[i].says);
        T_EQ(got.size, 0);
    }
}

/* Whether the build can read it; if not, the sentence says so. */
static bool can_read(const struct blob *file)
{
    struct byte_stream *s;
    enum leat_status status;

    t_write(path, file->bytes, file->size);
    status = byte_stream_open(&s, path, &t_err);
    byte_stream_close(s);
    if (status == LEAT_OK)
        return true;
    T_EQ(status, LEAT_E_UNSUPPORTED);
    T_CONTAINS(t_err.message, "which this build cannot read: it has no lib");
    T_CONTAINS(t_err.message, "; decompress the file with ");
    return false;
}

int main(void)
{
    struct blob text = { 0 };
    const char *folder = t_folder();
    char memory[600];
    unsigned read = 0;

    random_state = t_seed();
    memory_file(memory, folder);
    load("text", &text);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        struct blob file = { 0 }, all = { 0 }, got = { 0 };

        load(made[i].name, &file);
        snprintf(path, sizeof path, "%s/%s", folder,
                 made[i].name); /* zstd has skippable frames, too: the name decides */
        T_EQ(symlink(memory, path), 0);
        for (unsigned n = 0; n < made[i].texts; n++)
            blob_add(&all, text.bytes, text.size);
        if (can_read(&file)) {
            T_EQ(read_twice(&file, &got), LEAT_OK);
            T_CHECK(blob_same(&got, &all));
            check_cut(&made[i], &file, &all);
            check_broken(&made[i], &file, &all);
            check_longer(&made[i], &file, &all);
            if (strncmp(made[i].name, "one", 3) == 0)
                check_rare(folder, made[i].name + 3);
            for (unsigned frames = 1023; strcmp(made[i].name, "one.lz4") == 0 && frames < 1027; frames++)
                check_behind(folder, &file, &all, frames);
            read++;
        }
        blob_free(&got);
        blob_free(&all);
        blob_free(&file);
    }
    blob_free(&text);
    fprintf(stderr, "%u files read\n", read);
    return t_end();
}
