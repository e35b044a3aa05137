/*
 * test_file_kind.c: what a file is by its first bytes and by its name: each magic number at its place, text of many
 * kinds that is none of them, UTF-16 with and without a mark, and heads cut anywhere.
 *
 * A text of fewer than 32 bytes with one zero byte was called binary, since one in 32 was allowed: a file of "a\0b\n"
 * was refused, and the same line in a file of 40 bytes was taken.
 */
#include "base/file_kind.h"
#include "t.h"

static const char *name_of(const void *head, size_t bytes)
{
    const struct file_kind *kind = file_kind_of_bytes(head, bytes);

    return kind ? kind->name : "text";
}

#define IS(head, expected) T_STR(name_of(head, sizeof(head) - 1), expected)

static void check_magic(void)
{
    char tar[512] = "a.txt";

    IS("PAR1\x15\x04\x15", "a Parquet file");
    IS("ARROW1\0\0\xff\xff\xff\xff", "an Arrow file");
    IS("\xff\xff\xff\xff\x10\0\0\0input_id", "an Arrow stream");
    IS("\xff\xff\xff\xff\x10\0\0\0\x09\0\0\0input_ids", "an Arrow file with a column of ids, input_ids");
    IS("BZh91AY&SY\x12", "compressed with bzip2");
    IS("\xfd\x37zXZ\0\0\4", "compressed with xz");
    IS("\x1f\x8b\x08\0", "compressed with gzip");
    IS("\x04\x22\x4d\x18\x64\x40\xa7", "compressed with lz4");
    IS("\x1f\x9d\x90", "compressed with compress");
    IS("\x5d\0\0\x80\0\xff\xff", "compressed with lzma");
    IS("\x02\x21\x4c\x18\xff", "compressed with lz4 in its legacy format");
    IS("\x78\x9c\x4b", "zlib data");
    IS("\x50\x2a\x4d\x18\1\0\0\0a\x04\x22\x4d\x18", "compressed with lz4");
    IS("\x5f\x2a\x4d\x18\1\0\0\0a\x50\x2a\x4d\x18\0\0\0\0\x28\xb5\x2f\xfd", "compressed with zstd");
    IS("\x50\x2a\x4d\x18\xff\xff\xff\xff\x04\x22\x4d\x18", "compressed with zstd"); /* who knows */
    IS("\x50\x2a\x4d\x18\0\0\0\0", "compressed with zstd");
    IS("\x50\x2a\x4d\x18", "compressed with zstd");
    IS("PK\3\4\x14\0\0\0", "a zip archive");
    IS("\xff\xfeh\0i\0", "text in UTF-16");
    IS("\xff\xfe\0\0h\0\0\0", "text in UTF-32");
    IS("MMIDIDX\0\0\1\0\0\0", "an index of a Megatron dataset");
    IS("leat\r\n\x1a\n\1\0\0\0", "an index of a leat dataset");
    IS("version https://git-lfs.github.com/spec/v1\noid sha256:", "a pointer of Git LFS in place of the file");
    memcpy(tar + 257, "ustar", 5);
    T_STR(name_of(tar, sizeof tar), "a tar archive");
}

static void check_text(void)
{
    static const char binary[] = "binary data, or text in another encoding than UTF-8";
    char text[FILE_KIND_HEAD];

    IS("", "text");
    IS("PAR", "text");
    IS("{\"text\": \"PAR1\"}\n", "text");
    IS("\xef\xbb\xbfhello", "text");
    IS("BZh is a word", "text");
    IS("x^2 and ]", "text");
    IS("caf\xe9", "text"); /* one slip is a slip */
    IS("a\0b\n", "text");
    IS("\0", "text");
    IS("a\0b\0c\n", binary);
    IS("h\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d\0", "text in UTF-16");
    IS("\0h\0e\0l\0l\0o\0 \0w\0o\0r\0l\0d", "text in UTF-16");
    IS("\1\0\0\0\2\0\0\0\3\0\0\0", binary);
    memset(text, 'a', sizeof text);
    T_STR(name_of(text, sizeof text), "text");
    text[7] = text[20] = '\0';
    T_STR(name_of(text, 63), binary);
    T_STR(name_of(text, 64), "text");
    for (size_t i = 0; i < sizeof text; i += 31)
        text[i] = (char)0xe9;
    T_STR(name_of(text, sizeof text), binary);
    T_STR(name_of(text, 31 * 16), "text"); /* 16 slips are not yet plenty */
    for (size_t i = 0; i + 3 <= sizeof text; i += 3)
        memcpy(text + i, "\xe4\xb8\xad", 3);
    for (size_t cut = sizeof text; cut > sizeof text - 3; cut--) /* a head may end inside a character */
        T_STR(name_of(text, cut), "text");
}

static void check_names(void)
{
    T_STR(file_kind_of_name("data/x.parquet")->name, "a Parquet file");
    T_STR(file_kind_of_name("X.PARQUET")->name, "a Parquet file");
    T_STR(file_kind_of_name("a.jsonl.Z")->name, "compressed with compress");
    T_STR(file_kind_of_name("a.tar.xz")->name, "a tar archive");
    T_STR(file_kind_of_name("a.tar.gz")->name, "a tar archive");
    T_CHECK(!file_kind_of_name("a.txt"));
    T_CHECK(!file_kind_of_name("a.jsonl.bz2")); /* its first bytes must agree */
    T_CHECK(!file_kind_of_name("parquet"));
    T_CHECK(!file_kind_of_name(".parquet"));
    T_CHECK(!file_kind_of_name(""));
}

/* Whether a file looks like JSON lines: white space may stand before its first member. */
static void check_jsonl(void)
{
    static const struct {
        const char *text;
        bool is;
    } files[] = {
        { "{\"a\": 1}\n", true },  { " \t\r\n{ \t\r\n\"a\": 1}", true },
        { "{\"", true },           { "", false },
        { " \n", false },          { "{", false },
        { " { ", false },          { "{a: 1}", false },
        { "[{\"a\": 1}]", false }, { "\"{\"", false },
    };
    const char *path = t_path(t_folder(), "file");

    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        FILE *f = fopen(path, "w");
        bool is;

        T_CHECK(f && fputs(files[i].text, f) >= 0 && fclose(f) == 0);
        T_OK(file_kind_is_jsonl(path, NULL, &is, &t_err));
        if (is != files[i].is)
            T_FAIL("\"%s\" is%s like JSON lines", files[i].text, files[i].is ? " not" : "");
    }
}

int main(void)
{
    check_jsonl();
    check_magic();
    check_text();
    check_names();
    return t_end();
}
