/*
 * fuzz_import.c: leat_import() of hostile files: shards of MDS, chunks of litdata in all their forms, Arrow files, and
 * the indexes beside them.
 *
 * The input is a byte that chooses the kind, and the bytes of the file; of kinds whose index is hostile, a u16 first,
 * how many bytes of it the index has. The other index agrees with the file. Whatever these are, importing returns; what
 * it accepts is a dataset that verify accepts, with as many documents and tokens as it says.
 *
 *   make fuzz FUZZ=import FUZZ_SECONDS=3600
 */
#include "files.h"
#include "leat_pack.h"

enum kind { MDS_ARRAY, MDS_BYTES, MDS_INDEX, TOKENS, ITEMS, TENSOR, SAMPLES, LISTS, LITDATA_INDEX, ARROW, KINDS };

static char text[4096];

/* Of a file of `size` bytes that begins with the number of its samples (frames have it elsewhere). */
static const char *mds_index(const char *encoding, size_t size, uint32_t samples)
{
    snprintf(text, sizeof text,
             "{\"version\":2,\"shards\":[{\"column_encodings\":[\"str\",\"%s\",\"int\"],\"column_names\":[\"text\","
             "\"tokens\",\"weight\"],\"column_sizes\":[null,null,8],\"compression\":null,\"format\":\"mds\","
             "\"raw_data\":{\"basename\":\"f\",\"bytes\":%zu},\"samples\":%u,\"zip_data\":null}]}",
             encoding, size, samples);
    return text;
}

static const char *litdata_index(enum kind kind, size_t size, uint32_t items)
{
    const char *leaf = kind == TENSOR ? "tensor" : kind == LISTS ? "json" : "no_header_tensor:16";

    snprintf(
        text, sizeof text,
        "{\"chunks\":[{\"chunk_bytes\":%zu,\"chunk_size\":%u,\"dim\":null,\"filename\":\"f\"}],\"config\":{"
        "\"compression\":%s,\"compression_level\":%s,\"data_format\":[%s\"%s\"%s],\"data_spec\":\"[1, {\\\"type\\\""
        ": \\\"builtins.dict\\\", \\\"context\\\": \\\"[\\\\\\\"input_ids\\\\\\\", \\\\\\\"n\\\\\\\"]\\\"}]\","
        "\"encryption\":null,\"item_loader\":\"%s\"}}",
        size, items, kind == SAMPLES ? "\"zstd\"" : "null", kind == SAMPLES ? "\"sample\"" : "null", "", leaf,
        kind == ITEMS || kind == SAMPLES || kind == LISTS ? ",\"int\"" : "",
        kind == TOKENS ? "TokensLoader" : "PyTreeLoader");
    return text;
}

/* Writes the files, and returns what is to be imported. */
static const char *write_files(enum kind kind, struct fuzz_bytes *b)
{
    size_t index = kind == MDS_INDEX || kind == LITDATA_INDEX ? fuzz_u16(b) : 0;
    uint32_t samples = 0;

    if (index > b->left)
        index = b->left;
    files_remove("");
    if (kind == MDS_INDEX || kind == LITDATA_INDEX) {
        files_write("index.json", b->at, index);
        files_write("f", b->at + index, b->left - index);
        return files_path("");
    }
    files_write("f", b->at, b->left);
    if (kind == ARROW)
        return files_path("f");
    if (b->left >= 16)
        memcpy(&samples, b->at + (b->at[0] == 'L' && b->at[1] == 'D' ? 12 : 0), 4);
    if (kind <= MDS_BYTES)
        mds_index(kind == MDS_ARRAY ? "ndarray" : "bytes", b->left, samples);
    else
        litdata_index(kind, b->left, samples);
    files_write("index.json", text, strlen(text));
    return files_path("");
}

static void check_made(const struct leat_import_report *r)
{
    struct leat_verify_options options = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    struct leat_error err;

    FUZZ_CHECK(leat_dataset_open(&d, files_path("made"), NULL, &err) == LEAT_OK);
    leat_dataset_info(d, &info);
    FUZZ_CHECK(info.documents == r->documents && info.tokens == r->tokens && r->ends_added <= r->documents);
    options.threads = 1;
    FUZZ_CHECK(leat_dataset_verify(d, &options, NULL, &err) == LEAT_OK);
    leat_dataset_close(d);
}

FUZZ_TARGET(import)
{
    struct fuzz_bytes b = { data, size };
    enum kind kind = (enum kind)(fuzz_u8(&b) % KINDS);
    struct leat_import_options options = LEAT_IMPORT_OPTIONS_INIT;
    struct leat_import_report report = LEAT_IMPORT_REPORT_INIT;
    const char *source;
    struct leat_error err;
    enum leat_status s;

    files_begin();
    source = write_files(kind, &b);
    options.dtype = "uint16";
    options.end_token = kind % 2 ? 7 : LEAT_NONE;
    s = leat_import(files_path("made"), &source, 1, &options, &report, &err);
    if (s == LEAT_OK) {
        check_made(&report);
        return 0;
    }
    FUZZ_CHECK(err.status == s && err.message[0]);
    FUZZ_CHECK(s == LEAT_E_NOT_FOUND || s == LEAT_E_ARGUMENT || s == LEAT_E_UNSUPPORTED || s == LEAT_E_NO_FILE ||
               s == LEAT_E_IO || s == LEAT_E_NO_MEMORY || s == LEAT_E_TEXT ||
               (s >= LEAT_E_NOT_LEAT && s <= LEAT_E_MISMATCH));
    return 0;
}
