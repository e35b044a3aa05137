/*
 * test_foreign_documents.c: documents of raw files that are found by their end or begin token are those that a plain
 * loop finds. They are kept in a side file, which counts as long as the file stays as it is, and are found again
 * without one. Those of NeMo AutoModel's are found by the token that its .bos.idx shows; an index that does not fit is
 * refused.
 */
#include <sys/file.h>

#include "foreign_files.h"

static uint64_t side_time(void)
{
    struct stat st;

    return stat(in_folder("found.bin.documents"), &st) == 0
               ? (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec + (uint64_t)st.st_ino
               : 0;
}

/* The documents that a plain loop finds. */
static void check_found(const char *key, uint32_t id, unsigned width, uint64_t random)
{
    bool is_end = strcmp(key, "end") == 0;
    static uint32_t ids[TOKENS];
    static uint64_t found[TOKENS + 1];
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t count = 0, tokens = 3000 + t_below(&random, 200), expected[4000] = { 0 };
    struct leat_dataset *d;
    char name[800];

    for (uint64_t i = 0; i < tokens; i++) {
        ids[i] = t_below(&random, 40) == 0 ? id : (uint32_t)t_below(&random, 50000);
        put(ids[i], width);
    }
    for (uint64_t i = 1; i < tokens; i++)
        if (ids[is_end ? i - 1 : i] == id)
            expected[++count] = i;
    expected[++count] = tokens;
    end_file("found.bin");
    snprintf(name, sizeof name, "raw:%s?dtype=u%u&%s=%u", in_folder("found.bin"), 8 * width, key, id);
    for (unsigned i = 0; i < 2; i++) { /* made, and used */
        d = open_name(name);
        leat_dataset_info(d, &info);
        T_EQ(info.documents, count);
        T_EQ(is_end ? info.end_token : info.begin_token, id);
        T_OK(leat_dataset_starts(d, 0, count + 1, found, &t_err));
        T_CHECK(memcmp(found, expected, 8 * (count + 1)) == 0);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
}

static void check_side_file(void)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint64_t made, first, count;
    char name[800];

    unlink(in_folder("found.bin.documents"));
    for (unsigned i = 0; i < 9; i++)
        put(i % 3 == 2 ? END : 1, 2);
    end_file("found.bin");
    T_CHECK(utimensat(AT_FDCWD, in_folder("found.bin"), (const struct timespec[2]) { { 1, 2 }, { 3, 4 } }, 0) == 0);
    snprintf(name, sizeof name, "raw:%s?dtype=u16&end=%u", in_folder("found.bin"), END);
    leat_dataset_close(open_name(name));
    made = side_time();
    T_CHECK(made > 0);
    leat_dataset_close(open_name(name));
    T_EQ(side_time(), made);
    /* another modification time, with other content of this size */
    patch("found.bin", 0, "\7", 1);
    d = open_name(name);
    leat_dataset_info(d, &info);
    T_EQ(info.documents, 4);
    leat_dataset_close(d);
    T_CHECK(side_time() != made);
    /* damage of the header, the size, the ends: made again */
    for (unsigned i = 0; i < 3; i++) {
        if (i < 2)
            patch64("found.bin.documents", i == 0 ? 72 : 112 + 8 * 4, 3);
        else
            T_CHECK(truncate(in_folder("found.bin.documents"), 100) == 0);
        d = open_name(name);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        T_EQ(first + count, 9);
        leat_dataset_close(d);
    }
    /* damage between: seen by the hash of the starts, whatever the value */
    for (unsigned i = 0; i < 2; i++) {
        made = side_time();
        patch64("found.bin.documents", 112 + 8 * 2, i == 0 ? 100 : 2);
        d = open_name(name);
        T_CHECK(side_time() != made);
        T_OK(leat_dataset_document(d, 2, &first, &count, &t_err));
        T_EQ(first, 3);
        T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
        leat_dataset_close(d);
    }
    /* what a killed process left is taken over; what another process writes stays, and the result is in memory */
    for (unsigned i = 0; i < 2; i++) {
        int fd;

        unlink(in_folder("found.bin.documents"));
        write_bytes("found.bin.documents.partial", name, sizeof name);
        fd = open(in_folder("found.bin.documents.partial"), O_RDONLY);
        T_CHECK(i == 0 || flock(fd, LOCK_EX | LOCK_NB) == 0);
        d = open_name(name);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        T_EQ(first, 6);
        leat_dataset_close(d);
        T_CHECK((side_time() > 0) == (i == 0));
        T_CHECK((access(in_folder("found.bin.documents.partial"), F_OK) != 0) == (i == 0));
        close(fd);
        unlink(in_folder("found.bin.documents.partial"));
    }
    /* a name that is taken by a folder: in memory */
    unlink(in_folder("found.bin.documents"));
    T_CHECK(mkdir(in_folder("found.bin.documents"), 0777) == 0);
    d = open_name(name);
    T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
    T_EQ(first, 6);
    leat_dataset_close(d);
    T_CHECK(rmdir(in_folder("found.bin.documents")) == 0);
}

/* ---- NeMo AutoModel ---- */

static uint64_t begins[1000], begun; /* documents: tokens at which they begin, and where the last one ends */

/* FILE.bin as its nanogpt_data_processor.py writes it: each document begins with END; in some, it comes again. */
static void write_automodel(unsigned width)
{
    uint64_t at = 0;

    begun = 0;
    put(278895051, 4);
    put(1, 4);
    put(4000, 4);
    put(width, 4);
    for (unsigned i = 4; i < 256; i++)
        put(0, 4);
    for (; at < 4000; at++) {
        if (at % 31 == 0 || at % 310 == 7)
            begins[begun++] = at;
        put(at % 31 == 0 || at % 310 == 7 ? END : 100 + at, width);
    }
    begins[begun] = at;
    end_file("nemo.bin");
}

enum counting { AS_WRITTEN, AS_READ, IN_BYTES, COUNTINGS };

/* The byte of the document, and tokens within it; numbers of tokens; or bytes, as AutoModel's documents say. */
static void write_begins(unsigned width, enum counting counting)
{
    for (uint64_t i = 0; i < begun; i++) {
        uint64_t document = begins[i] / 31 * 31, within = begins[i] - document;

        put(counting == AS_READ      ? begins[i]
            : counting == AS_WRITTEN ? 1024 + document * width + within
                                     : 1024 + begins[i] * width,
            4);
    }
    end_file("nemo.bos.idx");
}

static void check_begins(void)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d = open_name(in_folder("nemo.bin"));
    uint64_t found[1000];
    uint32_t ids[4000];

    leat_dataset_info(d, &info);
    T_EQ(info.tokens, 4000);
    T_EQ(info.documents, begun);
    T_EQ(info.begin_token, END);
    T_OK(leat_dataset_starts(d, 0, begun + 1, found, &t_err));
    T_CHECK(memcmp(found, begins, 8 * (begun + 1)) == 0);
    T_OK(leat_dataset_read_u32(d, 0, 4000, ids, &t_err));
    for (uint32_t at = 0; at < 4000; at++)
        if (ids[at] != (at % 31 == 0 || at % 310 == 7 ? END : 100 + at))
            T_FAIL("token %u is %u", at, ids[at]);
    T_OK(leat_dataset_verify(d, NULL, NULL, &t_err));
    leat_dataset_close(d);
}

static void check_automodel(unsigned width)
{
    struct leat_adopt_options options = LEAT_ADOPT_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    char name[800];

    write_automodel(width);
    for (unsigned i = 0; i < COUNTINGS; i++) {
        write_begins(width, (enum counting)i);
        check_begins();
        T_CHECK(unlink(in_folder("nemo.bin.documents")) == 0);
    }
    T_OK(leat_adopt(in_folder("nemo.bin"), &options, NULL, &t_err));
    check_begins();
    T_CHECK(unlink(in_folder("nemo.bin.leat")) == 0);

    patch32("nemo.bos.idx", 0, 1026);
    refuse(in_folder("nemo.bin"), LEAT_E_DOCUMENTS, "nemo.bos.idx begins with 1026, not with 1024");
    write_begins(width, AS_WRITTEN);
    T_CHECK(truncate(in_folder("nemo.bos.idx"), (off_t)(4 * begun - 4)) == 0);
    refuse(in_folder("nemo.bin"), LEAT_E_MISMATCH, "nemo.bin has token 7 at 143 places, but its .bos.idx has 142");
    T_CHECK(truncate(in_folder("nemo.bos.idx"), 5) == 0);
    refuse(in_folder("nemo.bin"), LEAT_E_TRUNCATED, "has 5 bytes, not 4 for each document");
    T_CHECK(truncate(in_folder("nemo.bos.idx"), 0) == 0);
    refuse(in_folder("nemo.bin"), LEAT_E_TRUNCATED, "has 0 bytes, not 4 for each document");
    /* a name that says it needs no index */
    snprintf(name, sizeof name, "llmc:%s?begin=%u", in_folder("nemo.bin"), END);
    leat_dataset_close(open_name(name));
    T_CHECK(unlink(in_folder("nemo.bos.idx")) == 0);
    d = open_name(in_folder("nemo.bin"));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, LEAT_NONE);
    leat_dataset_close(d);
    /* the header */
    patch32("nemo.bin", 8, 0); /* of a writer that was killed */
    refuse(in_folder("nemo.bin"), LEAT_E_HEADER, "its header says 0 tokens, but there are bytes for 4000");
    patch32("nemo.bin", 12, 8);
    snprintf(name, sizeof name, "llmc:%s", in_folder("nemo.bin"));
    refuse(name, LEAT_E_NOT_LEAT, "not a token file of llm.c or NeMo AutoModel, as its first 16 bytes show");
    patch32("nemo.bin", 12, width);
    snprintf(name, sizeof name, "raw:%s?dtype=u16", in_folder("nemo.bin"));
    refuse(name, LEAT_E_UNSUPPORTED, "a header of llm.c or NeMo AutoModel, which would be read as tokens");
}

int main(void)
{
    uint64_t seed = t_seed();

    begin_foreign();
    for (unsigned width = 2; width <= 4; width += 2) {
        check_found("end", END, width, seed + width);
        check_found("begin", END, width, seed - width);
        check_automodel(width);
    }
    check_side_file();
    free(out);
    return t_end();
}
