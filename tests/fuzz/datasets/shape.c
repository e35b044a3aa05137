/*
 * shape.c: see shape.h. Works on the bytes of FORMAT.md by their offsets, not through format.c, which is under test.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz/fuzz.h"
#include "shape_build.h"

#define ENTRY_GIVEN 32u
#define FIXED       28u
#define POKES       4u

/* ---- Taking the description apart ---- */

static uint32_t entry_bytes(uint32_t kind)
{
    static const uint8_t sizes[FORMAT_KINDS] = {
        [FORMAT_DOCUMENTS] = 8,   [FORMAT_DIRECTORY] = 8, [FORMAT_PAGES] = 4,    [FORMAT_INPUTS] = 64,
        [FORMAT_INPUT_PATHS] = 1, [FORMAT_ORIGINS] = 16,  [FORMAT_LINES] = 8,    [FORMAT_ID_ENDS] = 8,
        [FORMAT_IDS] = 1,         [FORMAT_TOKENIZER] = 0, [FORMAT_METADATA] = 0, [FORMAT_TEXT_HASHES] = 16,
    };

    return kind < FORMAT_KINDS ? sizes[kind] : 0;
}

/* What the repairs of the header's fields need to be known before anything is placed. */
static void read_header(struct build *b)
{
    b->vocabulary = bytes_load64(b->header + AT_VOCABULARY);
    b->end = bytes_load64(b->header + AT_END_TOKEN);
    b->begin = bytes_load64(b->header + AT_BEGIN_TOKEN);
    if (repairs(b, SHAPE_HEAD) && b->vocabulary > 0) {
        b->end = b->end == LEAT_NONE ? b->end : b->end % b->vocabulary;
        b->begin = b->begin == LEAT_NONE ? b->begin : b->begin % b->vocabulary;
    }
    b->width = repairs(b, SHAPE_HEAD) ? format_width(b->vocabulary) : bytes_load32(b->header + AT_TOKEN_WIDTH);
    if (b->width != 4)
        b->width = 2;
    b->documents = bytes_load64(b->header + AT_DOCUMENTS);
}

static void take_pieces(struct build *b, struct fuzz_bytes *in)
{
    const uint8_t *table = in->at;
    uint64_t count = min(bytes_load32(b->header + AT_SECTION_COUNT), in->left / ENTRY_GIVEN);

    b->count = (unsigned)min(count, FORMAT_MAX_SECTIONS);
    in->at += ENTRY_GIVEN * b->count;
    in->left -= ENTRY_GIVEN * b->count;
    for (unsigned i = 0; i < b->count; i++) {
        struct piece *p = &b->pieces[i];
        bool made = false;

        p->kind = bytes_load32(table + ENTRY_GIVEN * i + IN_KIND);
        made = (p->kind == FORMAT_DIRECTORY && repairs(b, SHAPE_DIRECTORY)) ||
               (p->kind == FORMAT_PAGES && repairs(b, SHAPE_PAGES));
        p->taken = made ? 0 : min(bytes_load64(table + ENTRY_GIVEN * i + IN_BYTES), in->left);
        p->from = in->at;
        in->at += p->taken;
        in->left -= (size_t)p->taken;
        p->bytes = p->taken;
        if (repairs(b, SHAPE_LAYOUT) && entry_bytes(p->kind))
            p->bytes -= p->bytes % entry_bytes(p->kind);
        if (p->kind == FORMAT_DOCUMENTS && repairs(b, SHAPE_COUNTS)) {
            p->run = b->run;
            p->bytes += 8 * p->run;
            b->documents = p->bytes >= 8 ? p->bytes / 8 - 1 : 0;
        }
    }
}

/* The lengths that follow from others, and the places. */
static void place_pieces(struct build *b)
{
    uint64_t end = FORMAT_HEADER_BYTES;

    for (unsigned i = 0; i < b->count; i++) {
        struct piece *p = &b->pieces[i];
        bool each = p->kind == FORMAT_ORIGINS || p->kind == FORMAT_LINES || p->kind == FORMAT_ID_ENDS ||
                    p->kind == FORMAT_TEXT_HASHES;

        if (each && repairs(b, SHAPE_COUNTS) && find(b, FORMAT_DOCUMENTS))
            p->bytes = b->documents * entry_bytes(p->kind);
        if (p->kind == FORMAT_DIRECTORY && repairs(b, SHAPE_DIRECTORY | SHAPE_COUNTS))
            p->bytes = 8 * bytes_divide_up(b->token_size, FORMAT_CELL_BYTES);
        if (p->kind == FORMAT_PAGES && repairs(b, SHAPE_PAGES | SHAPE_COUNTS))
            p->bytes = 4 * bytes_divide_up(b->token_size, FORMAT_PAGE_BYTES);
        p->offset = format_align(end);
        end = p->offset + p->bytes;
    }
    b->index_size = end;
}

/* ---- Putting it together ---- */

static void fill_tokens(struct build *b, const uint8_t *tokens, uint64_t given)
{
    if (repairs(b, SHAPE_LAYOUT) && given > b->width)
        given -= given % b->width;
    given = min(given, b->token_size);
    if (given == 0)
        return;
    memcpy(b->token_bytes, tokens, (size_t)given);
    for (uint64_t i = 0; repairs(b, SHAPE_TOKENS) && b->vocabulary > 0 && i < given / b->width; i++)
        if (token_at(b, i) >= b->vocabulary)
            put_token(b, i, token_at(b, i) % b->vocabulary);
    for (uint64_t at = given; at < b->token_size; at *= 2)
        memcpy(b->token_bytes + at, b->token_bytes, (size_t)min(at, b->token_size - at));
}

static void fill_sections(struct build *b)
{
    for (unsigned i = 0; i < b->count; i++) {
        const struct piece *p = &b->pieces[i];
        uint64_t taken = min(p->taken, p->bytes), last;

        if (taken > 0)
            memcpy(b->index + p->offset, p->from, (size_t)taken);
        last = taken >= 8 ? bytes_load64(b->index + p->offset + taken - 8) : 0;
        for (uint64_t n = 0; n < p->run; n++)
            bytes_store64(b->index + p->offset + taken - taken % 8 + 8 * n, last += b->step);
    }
}

static void put_table(struct build *b, const uint8_t *table, bool ordered, uint64_t pairs)
{
    for (unsigned i = 0; i < b->count; i++) {
        const struct piece *p = &b->pieces[i];
        uint8_t *entry = b->index + AT_SECTIONS + ENTRY * i;
        struct hash128 sum = { 0, 0 };

        memcpy(entry, table + ENTRY_GIVEN * i, ENTRY_GIVEN);
        if (repairs(b, SHAPE_LAYOUT)) {
            bytes_store64(entry + IN_OFFSET, p->offset);
            bytes_store64(entry + IN_BYTES, p->bytes);
            if (entry_bytes(p->kind))
                bytes_store64(entry + IN_ENTRIES, p->bytes / entry_bytes(p->kind));
        }
        if (p->kind == FORMAT_METADATA && repairs(b, SHAPE_STORED))
            bytes_store64(entry + IN_ENTRIES, pairs);
        if (p->kind == FORMAT_ORIGINS && repairs(b, SHAPE_ORIGINS) && !ordered)
            bytes_store32(entry + IN_FLAGS, bytes_load32(entry + IN_FLAGS) & ~FORMAT_ORDERED);
        if (repairs(b, SHAPE_SUMS)) {
            b->kernels->pages(&sum, b->index + p->offset, (size_t)p->bytes, 0, NULL);
            checksum_store(entry + IN_SUM, sum);
        }
    }
}

/* The identity as FORMAT.md has it: a hash over fields, fingerprint, token sum, the documents' sum and a mask's. */
static void put_identity(struct build *b)
{
    uint8_t text[112] = { 0 }, *page = b->index;
    size_t size = 96;

    memcpy(text, page + AT_TOKENS, 40); /* tokens, documents, vocabulary, end, begin */
    bytes_store64(text + 40, bytes_load32(page + AT_TOKEN_WIDTH));
    memcpy(text + 48, page + AT_FINGERPRINT, 32); /* and the token sum after it */
    for (unsigned i = 0; i < b->count; i++)
        if (b->pieces[i].kind == FORMAT_DOCUMENTS)
            memcpy(text + 80, page + AT_SECTIONS + ENTRY * i + IN_SUM, 16);
    for (unsigned i = 0; i < b->count; i++)
        if (b->pieces[i].kind == FORMAT_MASK) {
            memcpy(text + 96, page + AT_SECTIONS + ENTRY * i + IN_SUM, 16);
            size = sizeof text;
        }
    checksum_store(page + AT_IDENTITY, b->kernels->hash(text, size));
}

static void put_header(struct build *b)
{
    static const uint8_t magic[8] = { 'l', 'e', 'a', 't', '\r', '\n', 0x1a, '\n' };
    uint8_t *page = b->index;

    memcpy(page, b->header, HEADER_GIVEN);
    if (repairs(b, SHAPE_HEAD)) {
        memcpy(page, magic, sizeof magic);
        bytes_store32(page + AT_VERSION, FORMAT_VERSION);
        bytes_store32(page + AT_HEADER_BYTES, FORMAT_HEADER_BYTES);
        bytes_store64(page + AT_MUST_UNDERSTAND, 0);
        bytes_store64(page + AT_END_TOKEN, b->end);
        bytes_store64(page + AT_BEGIN_TOKEN, b->begin);
        bytes_store32(page + AT_TOKEN_WIDTH, (uint32_t)b->width);
    }
    if (repairs(b, SHAPE_LAYOUT)) {
        bytes_store64(page + AT_INDEX_BYTES, b->index_size + b->claimed);
        bytes_store64(page + AT_TOKEN_FILE_BYTES, b->token_size);
        bytes_store64(page + AT_TOKENS, b->tokens);
    }
    if (repairs(b, SHAPE_COUNTS))
        bytes_store64(page + AT_DOCUMENTS, b->documents);
}

static void poke(struct build *b, const uint8_t *pokes)
{
    for (unsigned i = 0; i < POKES; i++)
        if (pokes[3 * i + 2])
            b->index[bytes_load16(pokes + 3 * i) % b->index_size] = pokes[3 * i + 2];
}

/* A file's length once the cut is made. */
static uint64_t cut(uint64_t size, uint16_t by)
{
    if (by & 0x8000)
        return size + (by & 0xff);
    return by < size ? size - by : 0;
}

/* To the byte, so that a read beyond the end is seen. */
static uint8_t *resize(uint8_t *bytes, uint64_t size, uint64_t to)
{
    uint8_t *fresh = size == to ? bytes : calloc(to ? (size_t)to : 1, 1);

    if (fresh && fresh != bytes)
        memcpy(fresh, bytes, (size_t)min(size, to));
    if (fresh != bytes)
        free(bytes);
    return fresh;
}

static void assemble(struct build *b, const uint8_t *table, const uint8_t *pokes)
{
    bool ordered = true;
    uint64_t pairs = 0;

    shape_repair_contents(b, &ordered, &pairs);
    if (repairs(b, SHAPE_POKE_FIRST))
        poke(b, pokes);
    put_header(b);
    put_table(b, table, ordered, pairs);
    if (!repairs(b, SHAPE_POKE_FIRST | SHAPE_POKE_LAST))
        poke(b, pokes);
    if (repairs(b, SHAPE_IDENTITY))
        put_identity(b);
    if (repairs(b, SHAPE_CHECKSUM))
        checksum_store(b->index + AT_CHECKSUM, b->kernels->hash(b->index, AT_CHECKSUM));
    if (repairs(b, SHAPE_POKE_LAST))
        poke(b, pokes);
}

int shape_expand(struct shape *s, const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = { data, size };
    struct build b = { .kernels = checksum_kernels() };
    uint16_t repeated, cut_index, cut_tokens;
    bool is_long;
    const uint8_t *pokes, *table;

    memset(s, 0, sizeof *s);
    if (size < FIXED + HEADER_GIVEN)
        return -1;
    b.repairs = fuzz_u16(&in);
    s->act = fuzz_u8(&in);
    b.loose = (s->act & SHAPE_LOOSE) != 0;
    b.step = fuzz_u8(&in);
    b.run = fuzz_u8(&in);
    is_long = fuzz_u8(&in) == SHAPE_LONG;
    repeated = fuzz_u16(&in);
    if (!is_long)
        repeated = 0;
    cut_index = fuzz_u16(&in);
    cut_tokens = fuzz_u16(&in);
    b.claimed = cut_index >> 14 == 3 ? cut_index & 0xff : 0;
    s->seed = fuzz_u32(&in);
    pokes = data + FIXED - 3 * POKES;
    memcpy(b.header, data + FIXED, HEADER_GIVEN);
    in = (struct fuzz_bytes) { data + FIXED + HEADER_GIVEN, size - FIXED - HEADER_GIVEN };
    read_header(&b);
    table = in.at;
    take_pieces(&b, &in);
    b.token_size = in.left > 4u * repeated || in.left == 0 ? in.left : 4u * repeated;
    if (repairs(&b, SHAPE_LAYOUT))
        b.token_size -= b.token_size % b.width;
    b.tokens = b.token_size / b.width;
    place_pieces(&b);
    b.index = calloc((size_t)b.index_size, 1);
    b.token_bytes = calloc(b.token_size ? (size_t)b.token_size : 1, 1);
    if (b.index && b.token_bytes) {
        fill_tokens(&b, in.at, in.left);
        fill_sections(&b);
        assemble(&b, table, pokes);
        s->index_bytes = cut(b.index_size, cut_index);
        s->token_bytes = cut(b.token_size, cut_tokens);
        b.index = resize(b.index, b.index_size, s->index_bytes);
        b.token_bytes = resize(b.token_bytes, b.token_size, s->token_bytes);
    }
    s->index = b.index;
    s->tokens = b.token_bytes;
    if (s->index && s->tokens)
        return 0;
    shape_free(s);
    return -1;
}

void shape_free(struct shape *s)
{
    free(s->index);
    free(s->tokens);
}
