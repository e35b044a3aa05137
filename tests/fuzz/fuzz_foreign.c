/*
 * fuzz_foreign.c: files of other tools, in which headers, indexes, side files and masks are hostile bytes.
 *
 * The input is a byte that chooses the kind, the size of the token file, and the bytes of the index (or of the header,
 * or of the starts in a side file, whose header is right; so is that of a file with AutoModel's .bos.idx). Whatever
 * these are, opening, reading, looking up documents and verifying return; the documents of what verify accepts follow
 * each other from the first token to the last, and each token is found in its document. A mask's file has a byte for
 * each token, 0 or 1, or is refused, when it is opened or read; a byte of the input says whether it is made as long as
 * it must be, and of such bytes.
 */
#include <stdbool.h>

#include "base/bytes.h"
#include "checksum/checksum.h"
#include "files.h"

#define MAX_TOKENS    4096u
#define MAX_DOCUMENTS 100000u

enum kind { MEGATRON, MEGATRON_PLAIN, LLMC, PBIN, DATATROVE, RAW, SIDE_FILE, DATATROVE_LOSS, RAW_MASK, BEGINS, KINDS };

static uint8_t bytes[1 << 16], mask[1 << 16];
static size_t mask_bytes;

static bool fine(enum leat_status s, const struct leat_error *err)
{
    if (s == LEAT_OK)
        return true;
    FUZZ_CHECK(s == LEAT_E_NOT_FOUND || s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED || s == LEAT_E_NO_FILE ||
               s == LEAT_E_NO_MEMORY || (s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH));
    FUZZ_CHECK(err->status == s && err->message[0]);
    return false;
}

/* ---- Files ---- */

/* Tokens of 16 bits that are small; every ninth is 7. */
static size_t make_tokens(uint8_t *to, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to[i] = (uint8_t)(i % 2 == 0 ? (i / 2 % 9 == 8 ? 7 : i % 5) : 0);
    return size;
}

/* FILE.documents of this file, with a header that is right but for the number of documents. */
static void write_side(const struct fuzz_bytes *starts, size_t tokens)
{
    const struct checksum_kernels *k = checksum_kernels();
    struct stat st;
    uint64_t facts[10] = { 0, 2, 2 * tokens, 0, 0, 2 * tokens, 2, 7, LEAT_NONE, 0 };
    struct page_sum sum;

    FUZZ_CHECK(stat(files_path("f"), &st) == 0);
    facts[3] = (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec;
    facts[9] = starts->left / 8 > 0 ? starts->left / 8 - 1 : 0;
    for (unsigned i = 0; i < 10; i++)
        bytes_store64(bytes + 8 * i, facts[i]);
    memcpy(bytes, "leatdocs", 8);
    page_sum_begin(&sum, 0, (struct hash128) { 0, 0 });
    page_sum_add(&sum, starts->at, starts->left);
    checksum_store(bytes + 80, page_sum_now(&sum));
    checksum_store(bytes + 96, k->hash(bytes, 96));
    memcpy(bytes + 112, starts->at, starts->left);
    files_write("f.documents", bytes, 112 + starts->left);
}

/* Writes a mask: the input's bytes; or repeats them for as many as there are tokens, or takes them for 0 and 1. */
static void write_mask(const char *name, size_t tokens, struct fuzz_bytes *given)
{
    uint8_t how = fuzz_u8(given), bits = how & 2 ? UINT8_MAX : 1;

    mask_bytes = how & 1 ? given->left : tokens;
    for (size_t i = 0; i < mask_bytes; i++)
        mask[i] = given->left > 0 ? given->at[i % given->left] & bits : 0;
    files_write(name, mask, mask_bytes);
}

/* Writes the files, and returns the name to open. */
static const char *write_files(enum kind kind, size_t tokens, struct fuzz_bytes *index)
{
    static char name[1200];
    size_t head = 0;

    files_remove("f");
    mask_bytes = SIZE_MAX;
    switch (kind) {
    case MEGATRON: /* what comes before the arrays is right */
        memcpy(bytes, "MMIDIDX\0\0\1\0\0\0\0\0\0\0", head = 17);
        /* fall through */
    case MEGATRON_PLAIN:
        memcpy(bytes + head, index->at, index->left);
        files_write("f.idx", bytes, head + index->left);
        files_write("f.bin", bytes, make_tokens(bytes, 2 * tokens));
        snprintf(name, sizeof name, "megatron:%s", files_path("f"));
        return name;
    case DATATROVE:
        files_write("f.index", index->at, index->left);
        files_write("f", bytes, make_tokens(bytes, 2 * tokens));
        break;
    case DATATROVE_LOSS: /* one document */
        bytes_store64(bytes, tokens);
        files_write("f.index", bytes, 8);
        files_write("f", bytes, make_tokens(bytes, 2 * tokens));
        write_mask("f.loss", tokens, index);
        break;
    case BEGINS:
        memset(bytes, 0, head = 1024);
        bytes_store32(bytes, 278895051);
        bytes_store32(bytes + 4, 1);
        bytes_store32(bytes + 8, (uint32_t)tokens);
        bytes_store32(bytes + 12, 2);
        files_write("f", bytes, head + make_tokens(bytes + head, 2 * tokens));
        files_write("f.bos.idx", index->at, index->left);
        break;
    case LLMC:
    case PBIN:
        memcpy(bytes, index->at, index->left);
        files_write("f", bytes, index->left + make_tokens(bytes + index->left, 2 * tokens));
        break;
    default:
        files_write("f", bytes, make_tokens(bytes, 2 * tokens));
        if (kind == SIDE_FILE)
            write_side(index, tokens);
        if (kind == RAW_MASK)
            write_mask("f.mask", tokens, index);
    }
    snprintf(name, sizeof name, "%s:%s%s",
             kind == LLMC || kind == BEGINS                ? "llmc"
             : kind == PBIN                                ? "pbin"
             : kind == DATATROVE || kind == DATATROVE_LOSS ? "datatrove"
                                                           : "raw",
             files_path("f"),
             kind == DATATROVE || kind == DATATROVE_LOSS || kind == BEGINS ? ""
             : kind == LLMC || kind == PBIN                                ? "?end=7"
             : kind == RAW_MASK                                            ? "?dtype=u16&end=7&mask=f.mask"
                                                                           : "?dtype=u16&end=7");
    return name;
}

/* ---- Reading ---- */

static void read_documents(const struct leat_dataset *d, bool whole, const struct leat_info *info)
{
    uint64_t all = info->documents < MAX_DOCUMENTS ? info->documents : MAX_DOCUMENTS, end = 0;
    struct leat_error err;

    for (uint64_t i = 0; i < all; i++) {
        uint64_t first, count, document, documents;
        enum leat_status s = leat_dataset_document(d, i, &first, &count, &err);

        FUZZ_CHECK(fine(s, &err) || !whole);
        if (s != LEAT_OK)
            continue;
        FUZZ_CHECK(bytes_inside(first, count, info->tokens) && (!whole || first == end));
        end = first + count;
        if (count == 0)
            continue;
        s = leat_dataset_documents_in(d, first, count, &document, &documents, &err);
        FUZZ_CHECK(fine(s, &err) ? !whole || (document == i && documents == 1) : !whole);
    }
    FUZZ_CHECK(!whole || info->documents == LEAT_NONE || all < info->documents || end == info->tokens);
}

static void read_mask(const struct leat_dataset *d, bool whole, uint64_t first, uint64_t count)
{
    static uint8_t found[sizeof mask];
    struct leat_error err;
    bool read = fine(leat_dataset_mask(d, first, count, found, &err), &err), bad = false;

    for (uint64_t i = 0; i < count; i++) {
        FUZZ_CHECK(!read || found[i] == (mask[first + i] ? UINT8_MAX : 0));
        bad |= mask[first + i] > 1;
    }
    FUZZ_CHECK(read ? !bad : bad && !whole);
}

static void use(const struct leat_dataset *d)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    static uint32_t ids[sizeof bytes / 2];
    struct leat_error err;
    bool whole;

    leat_dataset_info(d, &info);
    FUZZ_CHECK(info.tokens <= sizeof bytes / 2 && info.foreign_parts == 1);
    fine(leat_dataset_read_u32(d, 0, info.tokens, ids, &err), &err);
    options.threads = 1;
    whole = fine(leat_dataset_verify(d, &options, &report, &err), &err);
    read_documents(d, whole, &info);
    FUZZ_CHECK(info.stores_mask == (mask_bytes != SIZE_MAX));
    if (!info.stores_mask)
        return;
    FUZZ_CHECK(mask_bytes == info.tokens);
    read_mask(d, whole, 0, info.tokens / 2);
    read_mask(d, whole, info.tokens / 2, info.tokens - info.tokens / 2);
}

FUZZ_TARGET(foreign)
{
    struct fuzz_bytes b = { data, size };
    enum kind kind = (enum kind)(fuzz_u8(&b) % KINDS);
    size_t tokens = fuzz_u16(&b) % MAX_TOKENS;
    struct leat_dataset *d;
    struct leat_error err;

    if (b.left > sizeof bytes / 2)
        return -1;
    files_begin();
    if (fine(leat_dataset_open(&d, write_files(kind, tokens, &b), NULL, &err), &err))
        use(d);
    leat_dataset_close(d);
    return 0;
}
