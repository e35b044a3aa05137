/*
 * test_parquet_snappy.c: Snappy's raw format: random elements of all kinds, with all distances and lengths, give what a
 * plan of them byte by byte gives, in memory of exactly that size; cut off at any byte, or with a wrong byte, they are
 * an error or bytes, and nothing beyond either end is read or written.
 */
#include "base/bytes.h"
#include "corpus/parquet/codec.h"
#include "t.h"

#define ROOM 6000u

/* Elements, and what they mean. */
struct made {
    uint8_t in[2 * ROOM], out[ROOM];
    size_t bytes, room;
};

static void put_literal(struct made *m, uint64_t *random)
{
    size_t count = t_below(random, 8) == 0 ? 1 + (size_t)t_below(random, 400) : 1 + (size_t)t_below(random, 64);
    unsigned more = count > 60 ? (count > 256 ? 2 : 1) + (unsigned)t_below(random, 2) : 0;

    m->in[m->bytes++] = (uint8_t)((more > 0 ? 59 + more : count - 1) << 2);
    for (unsigned i = 0; i < more; i++)
        m->in[m->bytes++] = (uint8_t)((count - 1) >> 8 * i);
    for (size_t i = 0; i < count; i++)
        m->out[m->room++] = m->in[m->bytes++] = (uint8_t)t_below(random, 256);
}

static void put_copy(struct made *m, uint64_t *random)
{
    size_t most = t_below(random, 3) == 0 && m->room > 20 ? 20 : m->room, distance = 1 + (size_t)t_below(random, most);
    unsigned kind = 1 + (unsigned)t_below(random, 3);
    size_t count = kind == 1 ? 4 + (size_t)t_below(random, 8) : 1 + (size_t)t_below(random, 64);

    if (kind == 1 && distance > 2047)
        distance = 2047;
    if (kind == 1) {
        m->in[m->bytes++] = (uint8_t)(distance >> 8 << 5 | (count - 4) << 2 | 1);
        m->in[m->bytes++] = (uint8_t)distance;
    } else {
        m->in[m->bytes++] = (uint8_t)((count - 1) << 2 | kind);
        for (unsigned i = 0; i < (kind == 2 ? 2u : 4u); i++)
            m->in[m->bytes++] = (uint8_t)(distance >> 8 * i);
    }
    for (size_t i = 0; i < count; i++, m->room++)
        m->out[m->room] = m->out[m->room - distance];
}

static void make(struct made *m, size_t about, uint64_t *random)
{
    size_t length;

    m->bytes = 2; /* for the length */
    m->room = 0;
    put_literal(m, random);
    while (m->room < about)
        if (t_below(random, 4) == 0)
            put_literal(m, random);
        else
            put_copy(m, random);
    length = m->room;
    m->in[0] = (uint8_t)(length | 0x80);
    m->in[1] = (uint8_t)(length >> 7);
}

/* Bytes that follow the input, and the output, are seen: by a sanitizer, and here. */
static const char *decode(const uint8_t *in, size_t bytes, size_t room, const uint8_t *expected)
{
    struct codec_page p = {
        .in = malloc(bytes > 0 ? bytes : 1), .bytes = bytes, .out = malloc(room + 1), .room = room
    };
    const char *why;

    memcpy(p.in, in, bytes);
    p.out[room] = 77;
    why = codec_snappy(NULL, &p);
    T_EQ(p.out[room], 77);
    if (!why && expected)
        T_CHECK(memcmp(p.out, expected, room) == 0);
    free(p.in);
    free(p.out);
    return why;
}

int main(void)
{
    uint64_t random = t_seed();
    static struct made m;

    for (unsigned round = 0; round < 3000; round++) {
        uint8_t *byte;

        make(&m, (size_t)t_below(&random, round % 8 == 0 ? 5000 : 300), &random);
        T_CHECK(decode(m.in, m.bytes, m.room, m.out) == NULL);
        T_CHECK(decode(m.in, (size_t)t_below(&random, m.bytes), m.room, NULL) != NULL);
        byte = &m.in[2 + t_below(&random, m.bytes - 2)];
        *byte = (uint8_t)t_below(&random, 256);
        decode(m.in, m.bytes, m.room, NULL);
        if (t_failures > 0)
            break;
    }
    return t_end();
}
