/*
 * test_foreign_refused.c: headers and indexes of other tools' files that lie are refused by name, when a file is opened
 * or, where opening does not see it, by who reads and by verifying; so are options in a name that make no sense.
 */
#include "foreign_files.h"

static void check_megatron_lies(unsigned width)
{
    const uint64_t sequences = documents + (documents + 2) / 3, pointers = 34 + 4 * sequences,
                   entries = pointers + 8 * sequences;
    struct leat_dataset *d;
    uint64_t first, count;
    const char *prefix = in_folder("m");
    const char *named = t_text("megatron:%s", prefix);

    /* each lie alone: the files are written again before it */
#define LIE(change, status, words)                                                                                     \
    write_megatron("m", width);                                                                                        \
    change;                                                                                                            \
    refuse(prefix, status, words)
    LIE(patch("m.idx", 17, "\5", 1), LEAT_E_UNSUPPORTED, "its tokens are int64");
    LIE(patch("m.idx", 17, "\11", 1), LEAT_E_HEADER, "unknown type 9");
    LIE(patch("m.idx", 9, "\2", 1), LEAT_E_VERSION, "2 and 3 are Fast-LLM's");
    LIE(patch64("m.idx", 18, UINT64_MAX / 3), LEAT_E_TRUNCATED, "too few");
    LIE(patch64("m.idx", 26, UINT64_MAX), LEAT_E_TRUNCATED, "too few");
    LIE(patch64("m.idx", 26, 0), LEAT_E_HEADER, "no document index");
    LIE(patch64("m.idx", 26, documents), LEAT_E_HEADER, "bytes after its arrays");
    LIE(patch64("m.idx", entries, 1), LEAT_E_DOCUMENTS, "document index goes from sequence 1");
    LIE(patch64("m.idx", entries + 8 * documents, sequences - 1), LEAT_E_DOCUMENTS, "document index goes from");
    LIE(patch64("m.idx", entries - 8, 0), LEAT_E_MISMATCH, "do not belong together");
    LIE(T_CHECK(truncate(in_folder("m.bin"), (TOKENS - 1) * width) == 0), LEAT_E_TRUNCATED, "it is cut");
    LIE(T_CHECK(truncate(in_folder("m.bin"), TOKENS * width - 1) == 0), LEAT_E_TRUNCATED, "not a multiple of");
    LIE(T_CHECK(truncate(in_folder("m.idx"), 33) == 0), LEAT_E_TRUNCATED, "at least 34");
    /* 32 bits of pointers: the last one, as far as opening looks */
    LIE(patch32("m.idx", entries - 4, UINT32_MAX), LEAT_E_DOCUMENTS, "its pointers wrap");
    LIE(patch64("m.idx", pointers, width), LEAT_E_DOCUMENTS, "sequence 0 begins at byte");
    LIE(
        { /* one without sequences, whose document index is a 0 */
          patch64("m.idx", 18, 0);
          patch64("m.idx", 26, 1);
          patch64("m.idx", 34, 0);
          T_CHECK(truncate(in_folder("m.idx"), 42) == 0);
        },
        LEAT_E_DOCUMENTS, "its sequences end at byte 0 of ");
#undef LIE
    patch("m.idx", 8, "\1", 1);
    refuse(named, LEAT_E_NOT_LEAT, "is not an index of Megatron: it does not begin with MMIDIDX");
    /* what opening does not see: met by who reads it, and by verifying */
    for (unsigned i = 0; i < 4; i++) {
        static const char *const words[4] = { "overlap or leave a gap", "does not fit into", "its pointers wrap",
                                              "document index is damaged" };

        write_megatron("m", width);
        if (i == 0)
            patch64("m.idx", pointers + 8 * 400, (starts[300] + 2) * width);
        else if (i == 1)
            patch32("m.idx", 34 + 4 * 400, UINT32_MAX - 5);
        else if (i == 2)
            patch32("m.idx", pointers + 8 * 400 + 4, UINT32_MAX);
        else
            patch64("m.idx", entries + 8 * 300, 1);
        d = open_name(prefix);
        T_REFUSED(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_DOCUMENTS, words[i]);
        if (i < 3) /* one entry alone does not look wrong */
            T_STATUS(leat_dataset_document(d, 300, &first, &count, &t_err), LEAT_E_DOCUMENTS);
        T_OK(leat_dataset_document(d, 3, &first, &count, &t_err));
        leat_dataset_close(d);
    }
    /* a document that is read by itself begins where the sequence before it ends: 401 is the second of document 300 */
    for (unsigned i = 0; i < 2; i++) {
        write_megatron("m", width);
        patch64("m.idx", pointers + 8 * 401, i == 0 ? starts[301] * width + 1 : ((uint64_t)TOKENS + 1) * width);
        d = open_name(prefix);
        T_REFUSED(leat_dataset_document(d, 301, &first, &count, &t_err), LEAT_E_DOCUMENTS,
                  "sequence 401 begins at byte");
        T_CONTAINS(t_err.message, "where no token of");
        T_EQ(t_err.offset, pointers + 8 * 401);
        leat_dataset_close(d);
    }
    write_megatron("m", width);
    T_REFUSED(leat_adopt(prefix, NULL, NULL, &t_err), LEAT_E_UNSUPPORTED,
              "m have several sequences, which leat's index does not record");
    /* one mode per sequence may follow */
    memset(out, 0, sequences);
    patch("m.idx", entries + 8 * (documents + 1), out, sequences);
    d = open_name(prefix);
    check_documents(d);
    leat_dataset_close(d);
    write_megatron("m", width);
}

static void check_flat_lies(unsigned width)
{
    char name[800];

    refuse("raw:no?dtype=u8", LEAT_E_ARGUMENT, "unknown dtype");
    refuse("raw:no?size=2", LEAT_E_ARGUMENT, "unknown key \"size\"");
    refuse("raw:no?dtype=u16&end=x", LEAT_E_ARGUMENT, "not the id of a token");
    refuse("raw:no?dtype=u16&end=", LEAT_E_ARGUMENT, "\"end=\" is not the id of a token");
    refuse("raw:no?dtype=u32&begin=12345678901", LEAT_E_ARGUMENT, "\"begin=12345678901\" is not the id of a token");
    refuse("datatrove:no?end=5", LEAT_E_ARGUMENT, "find documents, which FILE.ds.index records");
    refuse("raw:no?dtype=u16&end=1&begin=2", LEAT_E_ARGUMENT, "give one");
    refuse("raw:?dtype=u16", LEAT_E_ARGUMENT, "names no file");
    refuse("llmc:no?dtype=u16", LEAT_E_ARGUMENT, "unknown key \"dtype\"");
    snprintf(name, sizeof name, "raw:%s", in_folder("raw.npy"));
    refuse(name, LEAT_E_ARGUMENT, "add ?dtype=u16 or ?dtype=u32");
    snprintf(name, sizeof name, "raw:%s?dtype=u16&end=65536", in_folder("raw.npy"));
    refuse(name, LEAT_E_ARGUMENT, "at most 65535");
    snprintf(name, sizeof name, "raw:%s?dtype=u16", in_folder("llmc.bin"));
    refuse(name, LEAT_E_UNSUPPORTED, "use llmc:FILE");
    write_bytes("odd.npy", "\x93NUMPY..", 8);
    snprintf(name, sizeof name, "raw:%s?dtype=u16", in_folder("odd.npy"));
    refuse(name, LEAT_E_UNSUPPORTED, "header of NumPy");
    write_bytes("odd.npy", "abc", 3);
    refuse(name, LEAT_E_TRUNCATED, "not a multiple of 2");
    write_bytes("odd.npy", "", 0);
    leat_dataset_close(open_name(name));

    snprintf(name, sizeof name, "llmc:%s", in_folder("raw.npy"));
    refuse(name, LEAT_E_NOT_LEAT, "not a token file of llm.c");
    write_bytes("odd.npy", "a", 1);
    snprintf(name, sizeof name, "llmc:%s", in_folder("odd.npy"));
    refuse(name, LEAT_E_TRUNCATED, "has 1 byte, but");
    snprintf(name, sizeof name, "pbin:%s", in_folder("odd.npy"));
    refuse(name, LEAT_E_TRUNCATED, "has 1 byte, but the header of Modalities needs 12");
    patch32("llmc.bin", 8, TOKENS + 1);
    refuse(in_folder("llmc.bin"), LEAT_E_TRUNCATED, "its header needs");
    T_CHECK(truncate(in_folder("llmc.bin"), 1024 + TOKENS * width + 1) == 0);
    patch32("llmc.bin", 8, TOKENS);
    refuse(in_folder("llmc.bin"), LEAT_E_TRUNCATED, "its last token has only 1 of");
    T_CHECK(truncate(in_folder("llmc.bin"), 1024 + TOKENS * width) == 0);
    patch32("llmc.bin", 8, TOKENS - 1);
    refuse(in_folder("llmc.bin"), LEAT_E_HEADER, "there are bytes for 60000");
    patch64("a.pbin", 0, (uint64_t)TOKENS * width + 6);
    refuse(in_folder("a.pbin"), LEAT_E_TRUNCATED, "its header says");
    patch32("a.pbin", 8, 1);
    refuse(in_folder("a.pbin"), LEAT_E_UNSUPPORTED, "tokens of 1 byte, and");
    patch32("a.pbin", 8, 14426283);
    refuse(in_folder("a.pbin"), LEAT_E_HEADER, "is not a .pbin file of Modalities: its header says 14426283 bytes per");
    patch64("a.ds.index", 8 * (documents - 1), TOKENS + 1);
    refuse(in_folder("a.ds"), LEAT_E_TRUNCATED, "fits neither");
    T_CHECK(truncate(in_folder("a.ds.index"), 9) == 0);
    refuse(in_folder("a.ds"), LEAT_E_TRUNCATED, "not a multiple of 8");
    write_flat(width);
    patch64("a.ds.index", 8 * 100, TOKENS + 5);
    {
        struct leat_dataset *d = open_name(in_folder("a.ds"));

        T_REFUSED(leat_dataset_verify(d, NULL, NULL, &t_err), LEAT_E_DOCUMENTS,
                  "document 100 ends at token 60005, beyond");
        leat_dataset_close(d);
    }
    write_flat(width);
}

int main(void)
{
    begin_foreign();
    for (unsigned width = 2; width <= 4; width += 2) {
        write_megatron("m", width);
        write_flat(width);
        check_megatron_lies(width);
        check_flat_lies(width);
    }
    free(out);
    return t_end();
}
