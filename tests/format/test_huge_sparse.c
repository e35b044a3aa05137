/*
 * test_huge_sparse.c: datasets past 2^32 tokens, past 2^32 bytes and past 2^31 documents, as files that are mostly
 * holes. They open, read, find documents and check pages at the far end; and opening reads no more than for a small
 * one.
 */
#include <sys/mman.h>
#include <sys/resource.h>

#include "support/craft.h"
#include "t.h"

#define PAGE 4096u

/* ---- Files of zeros, then some bytes ---- */

struct huge {
    int index, tokens;
    uint8_t header[PAGE];
    uint64_t end; /* of the index so far */
    uint32_t sections;
};

static void put(int fd, uint64_t at, const void *bytes, uint64_t count)
{
    if (count > 0 && pwrite(fd, bytes, (size_t)count, (off_t)at) != (ssize_t)count) {
        perror("write");
        exit(1);
    }
}

/* The page sum of `zeros` bytes of zeros (whole pages) and `count` bytes after them. */
static void page_sum(uint8_t out[16], uint64_t zeros, const uint8_t *bytes, uint64_t count)
{
    static const uint8_t empty[PAGE];
    unsigned __int128 sum = 0;
    uint8_t tagged[24], hash[16];

    craft_hash(tagged, empty, PAGE);
    for (uint64_t page = 0, pages = zeros / PAGE + (count + PAGE - 1) / PAGE; page < pages; page++) {
        if (page >= zeros / PAGE) {
            uint64_t at = page * PAGE - zeros, left = count - at;

            craft_hash(tagged, bytes + at, left < PAGE ? left : PAGE);
        }
        craft_store64(tagged + 16, page);
        craft_hash(hash, tagged, sizeof tagged);
        sum += craft_load64(hash) + ((unsigned __int128)craft_load64(hash + 8) << 64);
    }
    craft_store64(out, (uint64_t)sum);
    craft_store64(out + 8, (uint64_t)(sum >> 64));
}

static void put_section(struct huge *h, uint32_t kind, uint32_t flags, uint64_t zeros, const void *bytes,
                        uint64_t count, uint64_t entries)
{
    uint8_t *entry = h->header + 512 + 64 * h->sections++;

    h->end = (h->end + 63) / 64 * 64;
    craft_store32(entry, kind);
    craft_store32(entry + 4, flags);
    craft_store64(entry + 8, h->end);
    craft_store64(entry + 16, zeros + count);
    craft_store64(entry + 24, entries);
    page_sum(entry + 32, zeros, bytes, count);
    put(h->index, h->end + zeros, bytes, count);
    h->end += zeros + count;
}

/* `zeros` bytes of tokens that are 0, then `count` bytes; with the directory and the pages that belong to them. */
static void put_tokens(struct huge *h, uint64_t zeros, const uint8_t *bytes, uint64_t count)
{
    put(h->tokens, zeros, bytes, count);
    page_sum(h->header + 128, zeros, bytes, count);
}

static void put_directory(struct huge *h, uint64_t token_bytes, unsigned width, const uint64_t *starts,
                          uint64_t documents)
{
    uint64_t cells = (token_bytes + 65535) / 65536, document = 0;
    uint8_t *entries = malloc(8 * cells);

    for (uint64_t i = 0; i < cells; i++) {
        while (document < documents && starts[document] * width < i * 65536)
            document++;
        craft_store64(entries + 8 * i, document);
    }
    put_section(h, CRAFT_DIRECTORY, 0, 0, entries, 8 * cells, cells);
    free(entries);
}

static void put_pages(struct huge *h, uint64_t zeros, const uint8_t *bytes, uint64_t count)
{
    static const uint8_t empty[PAGE];
    uint64_t pages = zeros / PAGE + (count + PAGE - 1) / PAGE;
    uint8_t *hashes = malloc(4 * pages), hash[16];

    craft_hash(hash, empty, PAGE);
    for (uint64_t i = 0; i < pages; i++) {
        if (i >= zeros / PAGE) {
            uint64_t at = i * PAGE - zeros, left = count - at;

            craft_hash(hash, bytes + at, left < PAGE ? left : PAGE);
        }
        memcpy(hashes + 4 * i, hash, 4);
    }
    put_section(h, CRAFT_PAGES, 0, 0, hashes, 4 * pages, pages);
    free(hashes);
}

static int create(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0666);

    if (fd < 0) {
        perror(path);
        exit(1);
    }
    return fd;
}

static void begin(struct huge *h, const char *folder, const char *name)
{
    memset(h, 0, sizeof *h);
    h->index = create(t_path(folder, t_text("%s.leat", name)));
    h->tokens = create(t_path(folder, t_text("%s.tokens", name)));
    h->end = PAGE;
}

static void finish(struct huge *h, uint64_t token_bytes, unsigned width, uint64_t documents)
{
    struct craft c = { 0 };

    memcpy(h->header, "leat\r\n\x1a\n", 8);
    craft_store32(h->header + 8, 1);
    craft_store32(h->header + 12, PAGE);
    craft_store64(h->header + 48, h->end);
    craft_store64(h->header + 56, token_bytes);
    craft_store64(h->header + 64, token_bytes / width);
    craft_store64(h->header + 72, documents);
    craft_store64(h->header + 80, width == 2 ? 65536 : 70000);
    craft_store64(h->header + 88, LEAT_NONE);
    craft_store64(h->header + 96, LEAT_NONE);
    craft_store32(h->header + 104, width);
    craft_store32(h->header + 108, h->sections);
    c.index.bytes = h->header;
    c.index.count = PAGE;
    craft_repair(&c, CRAFT_REPAIR_IDENTITY | CRAFT_REPAIR_HEADER);
    put(h->index, 0, h->header, PAGE);
    if (ftruncate(h->index, (off_t)h->end) != 0 || ftruncate(h->tokens, (off_t)token_bytes) != 0) {
        perror("ftruncate");
        exit(1);
    }
    close(h->index);
    close(h->tokens);
}

/* ---- What the process has read so far, in bytes; -1 where the kernel does not tell ---- */

static int64_t bytes_so_far(void)
{
    int fd = open("/proc/self/io", O_RDONLY);
    char text[512] = "";
    const char *at;

    if (fd < 0)
        return -1;
    if (read(fd, text, sizeof text - 1) <= 0)
        text[0] = '\0';
    close(fd);
    at = strstr(text, "rchar: ");
    return at ? strtoll(at + 7, NULL, 10) : -1;
}

static long faults_so_far(void)
{
    struct rusage usage;

    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt + usage.ru_majflt;
}

/* What mapping both files costs without a touch: an emulator keeps tables of its own for each page. */
static long faults_of_mapping(const char *name)
{
    static const char *const suffixes[] = { "leat", "tokens" };
    long before = faults_so_far();

    for (unsigned i = 0; i < 2; i++) {
        struct stat st;
        void *map;
        int fd;

        fd = open(t_text("%s.%s", name, suffixes[i]), O_RDONLY);
        if (fd < 0 || fstat(fd, &st) != 0)
            exit(1);
        map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (map != MAP_FAILED)
            munmap(map, (size_t)st.st_size);
        close(fd);
    }
    return faults_so_far() - before;
}

/* Opens by reading, and by mapping, and looks at what that touched: two pages of the index, two of the tokens. */
static struct leat_dataset *open_cheaply(const char *name)
{
    struct leat_open_options options = { .size = sizeof options, .access = LEAT_ACCESS_READ };
    int64_t before = bytes_so_far(), took;
    struct leat_dataset *d;
    long faults, mapping;

    T_OK(leat_dataset_open(&d, name, &options, &t_err));
    took = bytes_so_far() - before;
    if (before >= 0 && took > 4 * (int64_t)PAGE + 1000)
        T_FAIL("opening %s read %" PRId64 " bytes", name, took);
    fprintf(stderr, "%s: opening read %" PRId64 " bytes\n", name, before >= 0 ? took : -1);
    leat_dataset_close(d);

    options.access = LEAT_ACCESS_TRUSTED;
    mapping = faults_of_mapping(name);
    faults = faults_so_far();
    T_OK(leat_dataset_open(&d, name, &options, &t_err));
    faults = faults_so_far() - faults;
    /* each touch of a mapped page brings at most its neighbours with it */
    if (faults > mapping + 200)
        T_FAIL("opening %s took %ld page faults", name, faults);
    return d;
}

/* ---- Past 2^32 tokens and bytes ---- */

#define FAR ((uint64_t)1 << 32)

static void check_document(const struct leat_dataset *d, uint64_t token, uint64_t want)
{
    uint64_t document, documents;

    T_OK(leat_dataset_documents_in(d, token, 1, &document, &documents, &t_err));
    T_EQ(document, want);
    T_EQ(documents, 1);
}

static void many_tokens(const char *folder, unsigned width)
{
    static const uint64_t starts[] = { 0, FAR / 2, FAR - 1, FAR, FAR + 1, FAR + 4000, FAR + 5000 };
    enum { DOCUMENTS = sizeof starts / sizeof starts[0] - 1 };
    uint64_t zeros = FAR * width, tail = 5000 * width, document, documents, first, count;
    uint8_t *far = malloc(tail), encoded[8 * (DOCUMENTS + 1)], origins[16 * DOCUMENTS] = { 0 };
    const char *name = width == 2 ? "tokens16" : "tokens32";
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    uint32_t ids[10000];
    struct huge h;

    for (uint64_t i = 0; i < tail; i++)
        far[i] = i % width < 2 ? (uint8_t)(i / width >> 8 * (i % width)) : 0;
    for (unsigned i = 0; i <= DOCUMENTS; i++)
        craft_store64(encoded + 8 * i, starts[i]);
    for (unsigned i = 0; i < DOCUMENTS; i++)
        craft_store64(origins + 16 * i + 8, LEAT_NONE);
    begin(&h, folder, name);
    put_tokens(&h, zeros, far, tail);
    put_section(&h, CRAFT_DOCUMENTS, 0, 0, encoded, sizeof encoded, DOCUMENTS + 1);
    put_directory(&h, zeros + tail, width, starts, DOCUMENTS);
    put_pages(&h, zeros, far, tail);
    put_section(&h, CRAFT_INPUTS, 0, 0, NULL, 0, 0);
    put_section(&h, CRAFT_INPUT_PATHS, 0, 0, NULL, 0, 0);
    put_section(&h, CRAFT_ORIGINS, 2, 0, origins, sizeof origins, DOCUMENTS);
    finish(&h, zeros + tail, width, DOCUMENTS);

    d = open_cheaply(t_path(folder, name));
    leat_dataset_info(d, &info);
    T_EQ(info.tokens, FAR + 5000);
    T_EQ(info.token_bytes, zeros + tail);
    T_OK(leat_dataset_read_u32(d, FAR - 5000, 10000, ids, &t_err));
    for (unsigned i = 0; i < 10000; i++)
        T_EQ(ids[i], i < 5000 ? 0 : i - 5000);
    T_STATUS(leat_dataset_read_u32(d, FAR + 5000, 1, ids, &t_err), LEAT_E_RANGE);
    for (unsigned i = 0; i < DOCUMENTS; i++) {
        T_OK(leat_dataset_document(d, i, &first, &count, &t_err));
        T_EQ(first, starts[i]);
        T_EQ(count, starts[i + 1] - starts[i]);
        check_document(d, starts[i], i);
        check_document(d, starts[i + 1] - 1, i);
    }
    T_OK(leat_dataset_documents_in(d, 5, FAR + 4990, &document, &documents, &t_err));
    T_EQ(document, 0);
    T_EQ(documents, DOCUMENTS);
    T_OK(leat_dataset_verify_range(d, FAR - 3000, 8000, &t_err));
    leat_dataset_close(d);

    /* a wrong token at the far end is found there, and only there */
    h.tokens = open(t_path(folder, width == 2 ? "tokens16.tokens" : "tokens32.tokens"), O_RDWR);
    put(h.tokens, (FAR - 2999) * width, "x", 1);
    close(h.tokens);
    T_OK(leat_dataset_open(&d, t_path(folder, name), NULL, &t_err));
    T_REFUSED(leat_dataset_verify_range(d, FAR - 3000, 2, &t_err), LEAT_E_CHECKSUM, "document 1)");
    T_OK(leat_dataset_verify_range(d, FAR, 5000, &t_err));
    leat_dataset_close(d);
    free(far);
}

/* ---- Past 2^31 documents: all of them empty but for the last few ---- */

static void many_documents(const char *folder)
{
    enum { LAST = 4 };
    uint64_t documents = ((uint64_t)1 << 31) / 512 * 512 + 512, first, count, document, found;
    uint8_t starts[8 * LAST + 8], origins[16 * LAST] = { 0 }, input[64] = { 0 };
    uint64_t zero[1] = { 0 };
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_origin o;
    struct leat_dataset *d;
    uint32_t ids[40];
    struct huge h;

    documents += LAST;
    for (unsigned i = 0; i < 40; i++)
        craft_store32((uint8_t *)ids + 4 * i, i);
    for (uint64_t i = 0; i <= LAST; i++)
        craft_store64(starts + 8 * i, 10 * i);
    for (unsigned i = 0; i < LAST; i++)
        craft_store64(origins + 16 * i, 7 + i); /* their offsets; input 0 */
    craft_store64(input + 8, 4);
    craft_store64(input + 24, documents);
    craft_store64(input + 32, 40);
    begin(&h, folder, "documents");
    put_tokens(&h, 0, (const uint8_t *)ids, sizeof ids);
    put_section(&h, CRAFT_DOCUMENTS, 0, 8 * (documents - LAST), starts, sizeof starts, documents + 1);
    put_directory(&h, sizeof ids, 4, zero, 1);
    put_pages(&h, 0, (const uint8_t *)ids, sizeof ids);
    put_section(&h, CRAFT_INPUTS, 0, 0, input, sizeof input, 1);
    put_section(&h, CRAFT_INPUT_PATHS, 0, 0, "file", 4, 4);
    put_section(&h, CRAFT_ORIGINS, 2, 16 * (documents - LAST), origins, sizeof origins, documents);
    finish(&h, sizeof ids, 4, documents);

    d = open_cheaply(t_path(folder, "documents"));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, documents);
    for (unsigned i = 0; i < LAST; i++) {
        T_OK(leat_dataset_document(d, documents - LAST + i, &first, &count, &t_err));
        T_EQ(first, 10 * i);
        T_EQ(count, 10);
        check_document(d, 10 * i + 9, documents - LAST + i);
        T_OK(leat_dataset_origins(d, documents - LAST + i, 1, &o, &t_err));
        T_EQ(o.offset, 7 + i);
    }
    T_OK(leat_dataset_document(d, documents / 2, &first, &count, &t_err));
    T_EQ(first + count, 0);
    T_OK(leat_dataset_documents_in(d, 0, 40, &document, &found, &t_err));
    T_EQ(document, documents - LAST);
    T_EQ(found, LAST);
    T_OK(leat_dataset_find_origin(d, 0, 8, &document, &t_err));
    T_EQ(document, documents - LAST + 1);
    T_OK(leat_dataset_find_origin(d, 0, 6, &document, &t_err));
    T_EQ(document, documents - LAST - 1);
    T_STATUS(leat_dataset_document(d, documents, &first, &count, &t_err), LEAT_E_RANGE);
    T_OK(leat_dataset_verify_range(d, 39, 1, &t_err));
    leat_dataset_close(d);
}

/* Whether a file of 1 TiB takes next to no room here. */
static int has_holes(const char *folder)
{
    const char *path = t_path(folder, "holes");
    int fd = create(path), fine;
    struct stat st;

    fine = ftruncate(fd, (off_t)1 << 40) == 0 && pwrite(fd, "x", 1, (off_t)1 << 39) == 1 && fstat(fd, &st) == 0 &&
           st.st_blocks < 2048;
    close(fd);
    unlink(path);
    return fine;
}

int main(void)
{
    const char *folder = t_folder();

    if (!has_holes(folder))
        return t_skip("the file system has no sparse files of 1 TiB");
    many_tokens(folder, 2);
    many_tokens(folder, 4);
    many_documents(folder);
    return t_end();
}
