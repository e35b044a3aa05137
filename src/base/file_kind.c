/*
 * file_kind.c: A table has magic numbers and suffixes. If no row fits, the bytes decide: text has
 * almost no zero bytes, and almost all of it is valid UTF-8.
 */
#include "file_kind.h"

#include <string.h>
#include <strings.h>

#include "bytes.h"
#include "file.h"
#include "mounts.h"
#include "utf8.h"

#define CONVERT             "convert it to JSON lines (.jsonl)"
#define DECOMPRESS(command) "decompress it first (" command "), or compress it with zstd or gzip instead"
#define UNPACK(command)     "unpack it first (" command ")"
#define RECODE              "convert it to UTF-8 first, with iconv for example"

#define MAGIC(text)         .magic = (text), .magic_bytes = sizeof(text) - 1
#define CORPUS(what_, todo) .name = (what_), .cure = (todo), .what = FILE_CORPUS
#define COMPRESSED(what_, suffix)                                                                                      \
    .name = "compressed with " what_,                                                                                  \
    .cure = "let its name end in .jsonl" suffix " or .txt" suffix ", or choose the format", .what = FILE_COMPRESSED
#define TOKENS(what_) .name = (what_), .cure = "its tokens are packed already", .what = FILE_TOKENS
#define OTHER(what_)  .name = (what_), .cure = "leave it out", .what = FILE_OTHER

static const struct file_kind kinds[] = {
    { .name = "a Parquet file",
      .cure = "pack it as Parquet",
      .what = FILE_PARQUET,
      .suffixes = ".parquet .pq",
      MAGIC("PAR1") },
    { CORPUS("an Arrow file", CONVERT), .suffixes = ".arrow .feather", MAGIC("ARROW1\0\0") },
    { CORPUS("an Arrow stream", CONVERT), .suffixes = ".arrows", MAGIC("\xff\xff\xff\xff") },
    { CORPUS("a Feather file", CONVERT), .suffixes = "", MAGIC("FEA1") },
    { CORPUS("an Avro file", CONVERT), .suffixes = ".avro", MAGIC("Obj\1") },
    { CORPUS("an ORC file", CONVERT), .suffixes = ".orc", MAGIC("ORC\x0a") },
    { CORPUS("an SQLite database", CONVERT), .suffixes = ".sqlite .sqlite3 .db", MAGIC("SQLite format 3\0") },
    { CORPUS("an HDF5 file", CONVERT), .suffixes = ".h5 .hdf5", MAGIC("\x89HDF\r\n\x1a\n") },
    { CORPUS("a web archive", CONVERT), .suffixes = ".warc .wet .warc.gz .wet.gz", MAGIC("WARC/1.") },
    { CORPUS("compressed with lzma", DECOMPRESS("xz -d")), .suffixes = ".lzma", MAGIC("\x5d\0\0") },
    { CORPUS("compressed with compress", DECOMPRESS("uncompress")), .suffixes = ".z", MAGIC("\x1f\x9d") },
    { CORPUS("compressed with brotli", DECOMPRESS("brotli -d")), .suffixes = ".br" },
    { CORPUS("compressed with snappy", DECOMPRESS("snzip -d")), .suffixes = ".snappy .sz",
      MAGIC("\xff\x06\0\0sNaPpY") },
    { CORPUS("compressed with lz4 in its legacy format", DECOMPRESS("lz4 -d")), .suffixes = "",
      MAGIC("\x02\x21\x4c\x18") },
    { CORPUS("zlib data", "compress it with gzip or zstd instead"), .suffixes = ".zlib", MAGIC("\x78\x01") },
    { CORPUS("zlib data", "compress it with gzip or zstd instead"), .suffixes = "", MAGIC("\x78\x9c") },
    { CORPUS("a zip archive", UNPACK("unzip")), .suffixes = ".zip", MAGIC("PK\3\4") },
    { CORPUS("a 7z archive", UNPACK("7z x")), .suffixes = ".7z", MAGIC("7z\xbc\xaf\x27\x1c") },
    { CORPUS("a rar archive", UNPACK("unrar x")), .suffixes = ".rar", MAGIC("Rar!\x1a\7") },
    { CORPUS("a tar archive", UNPACK("tar -xf")),
      .suffixes = ".tar .tgz .tbz2 .txz .tar.gz .tar.zst .tar.bz2 .tar.xz .tar.lz4", MAGIC("ustar"), .offset = 257 },
    { CORPUS("text in UTF-32", RECODE), .suffixes = "", MAGIC("\xff\xfe\0\0") },
    { CORPUS("text in UTF-32", RECODE), .suffixes = "", MAGIC("\0\0\xfe\xff") },
    { CORPUS("text in UTF-16", RECODE), .suffixes = "", MAGIC("\xff\xfe") },
    { CORPUS("text in UTF-16", RECODE), .suffixes = "", MAGIC("\xfe\xff") },
    { COMPRESSED("gzip", ".gz"), .suffixes = "", MAGIC("\x1f\x8b") },
    { COMPRESSED("zstd", ".zst"), .suffixes = "", MAGIC("\x28\xb5\x2f\xfd") },
    { COMPRESSED("xz", ".xz"), .suffixes = "",
      MAGIC("\xfd"
            "7zXZ\0") },
    { COMPRESSED("bzip2", ".bz2"), .suffixes = "", MAGIC("1AY&SY"), .offset = 4 },
    { COMPRESSED("lz4", ".lz4"), .suffixes = "", MAGIC("\x04\x22\x4d\x18") },
    { TOKENS("an index of a leat dataset"), .suffixes = "", MAGIC("leat\r\n\x1a\n") },
    { TOKENS("an index of a Megatron dataset"), .suffixes = ".idx", MAGIC("MMIDIDX\0\0") },
    { TOKENS("a token file of llm.c"), .suffixes = "", MAGIC("\x88\xd8\x34\x01") },
    { TOKENS("a token file of llm.c"), .suffixes = "", MAGIC("\xa1\xd9\x34\x01") },
    { TOKENS("a token file of NeMo AutoModel"), .suffixes = "", MAGIC("\xcb\x99\x9f\x10") },
    { TOKENS("a NumPy array"), .suffixes = ".npy", MAGIC("\x93NUMPY") },
    { CORPUS("a pointer of Git LFS in place of the file", "fetch the file (git lfs pull)"), .suffixes = "",
      MAGIC("version https://git-lfs.github.com/spec/v1\n") },
    { OTHER("a NumPy archive"), .suffixes = ".npz" },
    { OTHER("a PDF"), .suffixes = ".pdf", MAGIC("%PDF-") },
    { OTHER("a program"), .suffixes = "",
      MAGIC("\x7f"
            "ELF") },
    { OTHER("a picture"), .suffixes = ".png", MAGIC("\x89PNG\r\n\x1a\n") },
    { OTHER("a picture"), .suffixes = ".jpg .jpeg", MAGIC("\xff\xd8\xff") },
    { OTHER("a picture"), .suffixes = ".gif", MAGIC("GIF89a") },
};

/* The kind of a file that has only skippable frames, at least within its head. */
static const struct file_kind skippable = { COMPRESSED("zstd", ".zst") };

static const struct file_kind arrow_ids = { CORPUS(
    "an Arrow file with a column of ids, input_ids",
    "import these (leat import), from the folder that datasets saved, if "
    "it lies in one") };
static const struct file_kind utf16 = { CORPUS("text in UTF-16", RECODE) },
                              other = { .name = "binary data, or text in another encoding than UTF-8",
                                        .cure = "if it is text, " RECODE "; else leave it out",
                                        .what = FILE_BINARY };

#define COUNT (sizeof kinds / sizeof *kinds)

/* ---- By bytes ---- */

/* Text has at most one zero byte, and at most one malformed character, in this many bytes. A single zero byte is
 * never too many, however short the text is. */
#define PLENTY 32

static const struct file_kind *by_zeros(const uint8_t *head, size_t bytes)
{
    size_t zeros[2] = { 0, 0 };

    for (size_t i = 0; i < bytes; i++)
        zeros[i % 2] += head[i] == 0;
    if (zeros[0] + zeros[1] <= 1 || zeros[0] + zeros[1] <= bytes / PLENTY)
        return NULL;
    /* in UTF-16, the high bytes of most letters are equal, and zero for Latin letters */
    for (size_t i = 0; i < 2; i++)
        if (zeros[i] > bytes / 4 && zeros[1 - i] < bytes / 8)
            return &utf16;
    return &other;
}

static const struct file_kind *by_malformed(const uint8_t *head, size_t bytes)
{
    size_t open = bytes == FILE_KIND_HEAD ? utf8_open_end(head, bytes) : 0;
    uint64_t malformed = utf8_malformed(head, bytes - open);

    return malformed > 16 && malformed > bytes / PLENTY ? &other : NULL;
}

bool file_kind_skippable(const uint8_t magic[4])
{
    return (magic[0] & 0xf0) == 0x50 && memcmp(magic + 1, "\x2a\x4d\x18", 3) == 0;
}

/* Finds the kind of a file by what follows its skippable frames, which zstd and lz4 have in common. */
static const struct file_kind *by_frames(const uint8_t *head, size_t bytes)
{
    uint64_t at = 0;

    while (at + 8 <= bytes && file_kind_skippable(head + at))
        at += 8 + (uint64_t)bytes_load32(head + at + 4);
    for (size_t i = 0; i < COUNT && at + 4 <= bytes; i++)
        if (kinds[i].what == FILE_COMPRESSED && kinds[i].magic_bytes == 4 && memcmp(head + at, kinds[i].magic, 4) == 0)
            return &kinds[i];
    return &skippable;
}

static bool is_arrow(const struct file_kind *kind)
{
    return strncmp(kind->name, "an Arrow ", strlen("an Arrow ")) == 0;
}

/* Tells the kinds of Arrow files apart by the names of columns, which stand at the beginning. */
static const struct file_kind *kind_of_arrow(const struct file_kind *kind, const uint8_t *head, size_t bytes)
{
    return memmem(head, bytes, "input_ids", strlen("input_ids")) ? &arrow_ids : kind;
}

const struct file_kind *file_kind_of_bytes(const uint8_t *head, size_t bytes)
{
    const struct file_kind *kind;

    for (size_t i = 0; i < COUNT; i++) {
        const struct file_kind *k = &kinds[i];

        if (k->magic && bytes >= (size_t)k->offset + k->magic_bytes &&
            memcmp(head + k->offset, k->magic, k->magic_bytes) == 0)
            return is_arrow(k) ? kind_of_arrow(k, head, bytes) : k;
    }
    if (bytes >= 4 && file_kind_skippable(head))
        return by_frames(head, bytes);
    kind = by_zeros(head, bytes);
    return kind ? kind : by_malformed(head, bytes);
}

/* ---- By name ---- */

static bool ends_with(const char *path, const char *suffix, size_t bytes)
{
    size_t length = strlen(path);

    return length > bytes && strncasecmp(path + length - bytes, suffix, bytes) == 0;
}

const struct file_kind *file_kind_of_name(const char *path)
{
    for (size_t i = 0; i < COUNT; i++)
        for (const char *suffix = kinds[i].suffixes; *suffix; suffix += strspn(suffix, " ")) {
            size_t bytes = strcspn(suffix, " ");

            if (ends_with(path, suffix, bytes))
                return &kinds[i];
            suffix += bytes;
        }
    return NULL;
}

/* ---- Files ---- */

static enum leat_status try_head(const char *path, uint8_t head[FILE_KIND_HEAD], size_t *bytes, struct leat_error *err)
{
    uint64_t size;
    int fd;
    enum leat_status s = file_open_read(&fd, &size, path, err);

    if (s != LEAT_OK)
        return s;
    *bytes = size < FILE_KIND_HEAD ? (size_t)size : FILE_KIND_HEAD;
    s = file_read_at(fd, 0, head, *bytes, path, err);
    file_close(&fd);
    return s;
}

static enum leat_status read_head(const char *path, struct mounts *mounts, uint8_t head[FILE_KIND_HEAD], size_t *bytes,
                                  struct leat_error *err)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;

    do
        s = try_head(path, head, bytes, &why);
    while (s == LEAT_E_IO && mounts_again(mounts, &tries, file_path_is_remote(path), &s, &why));
    if (s == LEAT_OK)
        mounts_worked(mounts, &tries);
    else if (err)
        *err = why;
    return s;
}

enum leat_status file_kind_look(const char *path, bool by_name, struct mounts *mounts, const struct file_kind **kind,
                                struct leat_error *err)
{
    uint8_t head[FILE_KIND_HEAD];
    size_t bytes;
    enum leat_status s;

    *kind = by_name ? file_kind_of_name(path) : NULL;
    if (*kind && !is_arrow(*kind))
        return LEAT_OK;
    s = read_head(path, mounts, head, &bytes, *kind ? NULL : err);
    if (*kind && s == LEAT_OK)
        *kind = kind_of_arrow(*kind, head, bytes);
    else if (s == LEAT_OK)
        *kind = file_kind_of_bytes(head, bytes);
    return *kind ? LEAT_OK : s;
}

static size_t skip_space(const uint8_t *head, size_t bytes, size_t at)
{
    while (at < bytes && (head[at] == ' ' || head[at] == '\t' || head[at] == '\r' || head[at] == '\n'))
        at++;
    return at;
}

enum leat_status file_kind_is_jsonl(const char *path, struct mounts *mounts, bool *is, struct leat_error *err)
{
    uint8_t head[FILE_KIND_HEAD];
    size_t bytes, at;
    enum leat_status s = read_head(path, mounts, head, &bytes, err);

    *is = false;
    if (s != LEAT_OK)
        return s;
    at = skip_space(head, bytes, 0);
    if (at == bytes || head[at] != '{')
        return LEAT_OK;
    at = skip_space(head, bytes, at + 1);
    *is = at < bytes && head[at] == '"';
    return LEAT_OK;
}
