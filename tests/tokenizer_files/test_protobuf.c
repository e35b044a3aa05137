/* test_protobuf.c: the wire format: every type, unknown fields, and every way a message can be cut or wrong. */
#include "t.h"

#include "tokenizer/notation/protobuf.h"

static void test_fields(void)
{
    static const uint8_t bytes[] = {
        0x08, 0x96, 0x01,                                                 /* 1: 150 */
        0x12, 0x03, 'a',  'b',  'c',                                      /* 2: "abc" */
        0x1d, 0x00, 0x00, 0x80, 0x3f,                                     /* 3: 1.0f */
        0x21, 1,    2,    3,    4,    5,    6,    7,    8,                /* 4: fixed64 */
        0x28, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, /* 5: -1 */
        0x32, 0x00,                                                       /* 6: "" */
        0x80, 0x08, 0x05,                                                 /* 128: 5 */
    };
    struct protobuf m = protobuf_begin(bytes, sizeof bytes);
    struct protobuf_field f;

    T_CHECK(protobuf_next(&m, &f) && f.number == 1 && f.type == PROTOBUF_VARINT && f.value == 150);
    T_CHECK(protobuf_next(&m, &f) && f.number == 2 && f.length == 3 && memcmp(f.bytes, "abc", 3) == 0);
    T_CHECK(protobuf_next(&m, &f) && f.number == 3 && f.type == PROTOBUF_FIXED32 && protobuf_float(&f) == 1.0f);
    T_CHECK(protobuf_next(&m, &f) && f.number == 4 && f.value == UINT64_C(0x0807060504030201));
    T_CHECK(protobuf_next(&m, &f) && f.number == 5 && f.value == UINT64_MAX);
    T_CHECK(protobuf_next(&m, &f) && f.number == 6 && f.type == PROTOBUF_BYTES && f.length == 0);
    T_CHECK(protobuf_next(&m, &f) && f.number == 128 && f.value == 5 && f.at == bytes + sizeof bytes - 3);
    T_CHECK(!protobuf_next(&m, &f) && !m.problem);
}

static void test_wrong(void)
{
    static const struct {
        const char *bytes;
        size_t length;
        const char *problem;
    } rows[] = {
        { "\x08", 1, "ends early" },
        { "\x08\x96", 2, "ends early" },
        { "\x88", 1, "ends early" },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "more than 64 bits" },
        { "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "more than 64 bits" },
        { "\x12\x04"
          "abc",
          5, "past the end" },
        { "\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "past the end" },
        { "\x1d\x00\x00\x00", 4, "past the end" },
        { "\x21\x00\x00\x00\x00\x00\x00\x00", 8, "past the end" },
        { "\x00\x00", 2, "field number" },
        { "\x80\x80\x80\x80\x10\x00", 6, "field number" },
        { "\x0b", 1, "unknown type" },
        { "\x0c", 1, "unknown type" },
        { "\x0e", 1, "unknown type" },
        { "\x0f", 1, "unknown type" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint8_t *copy = malloc(rows[i].length);
        struct protobuf_field f;
        struct protobuf m;

        memcpy(copy, rows[i].bytes, rows[i].length);
        m = protobuf_begin(copy, rows[i].length);
        T_CHECK(!protobuf_next(&m, &f));
        T_CONTAINS(m.problem ? m.problem : "(none)", rows[i].problem);
        T_CHECK(!protobuf_next(&m, &f)); /* stays so */
        free(copy);
    }
}

int main(void)
{
    struct protobuf_field f;
    struct protobuf empty = protobuf_begin("", 0);

    (void)t_err; /* nothing here fails with a sentence */
    T_CHECK(!protobuf_next(&empty, &f) && !empty.problem);
    test_fields();
    test_wrong();
    return t_end();
}
