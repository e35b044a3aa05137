/* costly.c: see costly.h. */
#include "costly.h"

#include <stdarg.h>
#include <stdbool.h>
#include <zstd.h>

#define SPARE          TINY_OR(4096, 8192) /* left for what ends a file */
#define COSTLY_LENGTHS 2048                /* of tokens of one letter */

static const char *const contents[] = {
    "a", "aa", "", "ab", "b", " ", "aaaaaaaaaaaaaaaa", "\xef\xb7\xba", "\xe2\x96\x81", "1"
};
static const char *const pieces[] = { "a*",
                                      "(?:a|aa)+",
                                      "(?=a+b)",
                                      "|",
                                      ".",
                                      "b",
                                      "[^a]+",
                                      "a{1,3}",
                                      "(?:[ab]+ ?)*",
                                      "$",
                                      "(?!a*c)",
                                      "a+?",
                                      "1+",
                                      "(?i:a|b)+",
                                      "\\\\s+",
                                      "(a*)*",
                                      "\\\\p{L}{2,}",
                                      "\\\\b",
                                      "(?<=a)",
                                      "(?>a+)",
                                      "(?:ab?){0,900}",
                                      "[a-z\\\\p{L}]{1,40}",
                                      "(?:(?:a|b){0,30}c){0,20}" };
static const char *const behaviors[] = { "Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous" };
static const char *const splitters[] = { "Whitespace", "WhitespaceSplit", "Digits", "Punctuation", "ByteLevel" };
static const char *const decoders[] = { "Fuse", "ByteFallback", "ByteLevel" };
static const struct {
    const char *name;
    uint64_t growth; /* U+FDFA becomes 18 letters of Arabic */
} normalizers[] = { { "Lowercase", 3 }, { "NFKC", 12 }, { "NFD", 12 }, { "NFC", 12 }, { "ByteLevel", 2 } };

#define COUNT(list)  (sizeof(list) / sizeof(list)[0])
#define ANY(list, b) (list)[fuzz_u8(b) % COUNT(list)]

/* ---- Text ---- */

__attribute__((format(printf, 2, 3))) static void add(struct costly *c, const char *format, ...)
{
    size_t room = sizeof c->file - c->file_bytes;
    va_list args;
    int n;

    va_start(args, format);
    n = vsnprintf((char *)c->file + c->file_bytes, room, format, args);
    va_end(args);
    FUZZ_CHECK(n >= 0 && (size_t)n < room);
    c->file_bytes += (size_t)n;
}

static bool room(const struct costly *c)
{
    return c->file_bytes + SPARE < sizeof c->file;
}

/* Adds the same again and again. */
static void add_times(struct costly *c, const char *text, size_t times)
{
    while (times-- > 0 && room(c))
        add(c, "%s", text);
}

static const char *truth(unsigned flag)
{
    return flag ? "true" : "false";
}

/* Few, or now and then many. */
static unsigned some(struct fuzz_bytes *b)
{
    unsigned n = fuzz_u8(b);

    return n < 248 ? n % 8 : (n - 247) * TINY_OR(20, 150);
}

static void grow(struct costly *c, uint64_t times)
{
    c->growth = c->growth < COSTLY_GROWTH ? c->growth * times : COSTLY_GROWTH;
}

/* ---- Components ---- */

static void add_expression(struct costly *c, struct fuzz_bytes *b)
{
    unsigned deep = fuzz_u8(b);

    deep = deep < 224 ? 0 : deep - 224;
    add(c, "\"pattern\":{\"Regex\":\"");
    add_times(c, "(?:", deep);
    for (unsigned n = 1 + fuzz_u8(b) % 8; n > 0; n--)
        add(c, "%s", ANY(pieces, b));
    add_times(c, ")?", deep);
    add(c, "\"}");
    c->searches++;
}

/* Returns how many bytes a match is replaced by. */
static uint64_t add_replace(struct costly *c, struct fuzz_bytes *b)
{
    const char *content = ANY(contents, b);

    add(c, "{\"type\":\"Replace\",");
    if (fuzz_u8(b) % 4 == 0)
        add_expression(c, b);
    else
        add(c, "\"pattern\":{\"String\":\"%s\"}", ANY(contents, b));
    add(c, ",\"content\":\"%s\"}", content);
    return strlen(content);
}

/* A replacement may come before and after each byte. */
static void add_normalizer(struct costly *c, struct fuzz_bytes *b)
{
    unsigned kind = fuzz_u8(b) % 4, which = fuzz_u8(b) % COUNT(normalizers);
    const char *prepend = contents[which];

    if (kind == 0) {
        add(c, "{\"type\":\"%s\"}", normalizers[which].name);
        grow(c, normalizers[which].growth);
    } else if (kind == 1) {
        add(c, "{\"type\":\"Prepend\",\"prepend\":\"%s\"}", prepend);
        grow(c, 1 + 2 * strlen(prepend));
    } else {
        grow(c, 1 + 2 * add_replace(c, b));
    }
}

static void add_splitter(struct costly *c, struct fuzz_bytes *b)
{
    unsigned flags = fuzz_u8(b);
    const char *behavior = ANY(behaviors, b);

    if (flags & 8) {
        add(c, "{\"type\":\"%s\",\"individual_digits\":%s,\"behavior\":\"%s\",\"add_prefix_space\":%s,",
            ANY(splitters, b), truth(flags & 1), behavior, truth(flags & 2));
        add(c, "\"trim_offsets\":true,\"use_regex\":%s}", truth(flags & 4));
        grow(c, 3);
        return;
    }
    add(c, "{\"type\":\"Split\",\"behavior\":\"%s\",\"invert\":%s,", behavior, truth(flags & 1));
    add_expression(c, b);
    add(c, "}");
}

static void add_decoder(struct costly *c, struct fuzz_bytes *b)
{
    unsigned kind = fuzz_u8(b) % 8, which = fuzz_u8(b);
    const char *content = contents[which % COUNT(contents)];

    if (kind == 0)
        add(c, "{\"type\":\"%s\",\"add_prefix_space\":true,\"trim_offsets\":true,\"use_regex\":true}",
            decoders[which % COUNT(decoders)]);
    else if (kind == 1)
        add(c, "{\"type\":\"WordPiece\",\"prefix\":\"%s\",\"cleanup\":true}", content);
    else if (kind == 2)
        add(c, "{\"type\":\"BPEDecoder\",\"suffix\":\"%s\"}", content);
    else if (kind == 3)
        add(c, "{\"type\":\"Strip\",\"content\":\"a\",\"start\":%u,\"stop\":%u}", which, which / 2);
    else
        add_replace(c, b);
}

/* A list, now and then in up to 31 others; each of its members a number of times. */
static void add_list(struct costly *c, struct fuzz_bytes *b, const char *member, const char *list,
                     void one(struct costly *c, struct fuzz_bytes *b))
{
    unsigned count = fuzz_u8(b) % 8, deep = fuzz_u8(b);
    char outer[80];

    deep = deep < 224 ? 0 : deep - 224;
    snprintf(outer, sizeof outer, "{\"type\":\"Sequence\",\"%s\":[", list);
    add(c, ",\"%s\":", member);
    add_times(c, outer, 1 + deep);
    for (unsigned i = 0; i < count; i++) {
        unsigned times = some(b);
        struct fuzz_bytes same = *b;

        for (unsigned n = 0; n <= times && room(c); n++) {
            *b = same;
            add(c, "%s", i + n > 0 ? "," : "");
            one(c, b);
        }
    }
    add_times(c, "]}", 1 + deep);
}

/* ---- The rest of a file ---- */

/* Tokens of nothing but a, by their length; all have a place in the vocabulary. */
struct lengths {
    bool known[COSTLY_FILE];
    uint32_t all[COSTLY_LENGTHS];
    unsigned count;
};

static void add_length(struct lengths *l, uint32_t length)
{
    l->known[length] = true;
    l->all[l->count++] = length;
}

/* The next length: 1 more than the one before, twice as much, or as much as two of those before. */
static uint32_t next_length(const struct lengths *l, struct fuzz_bytes *b)
{
    unsigned how = fuzz_u8(b);
    uint32_t last = l->all[l->count - 1];

    return how % 4 == 0 ? 2 * last : how % 4 == 1 ? last + l->all[how / 4 % l->count] : last + 1;
}

static void add_vocabulary(struct costly *c, struct fuzz_bytes *b, struct lengths *l, unsigned more)
{
    add_length(l, 1);
    for (unsigned i = 0; i < more && l->count < COSTLY_LENGTHS; i++) {
        uint32_t length = next_length(l, b);

        if (c->file_bytes + length + SPARE > sizeof c->file)
            break;
        add(c, ",\"");
        add_times(c, "a", length);
        add(c, "\":%u", 10 + i);
        add_length(l, length);
    }
}

/* One merge of two tokens, which need not be there, nor what they make. */
static void add_merge(struct costly *c, uint32_t left, uint32_t right, bool pair)
{
    add(c, pair ? ",[\"" : ",\"");
    add_times(c, "a", left);
    add(c, pair ? "\",\"" : " ");
    add_times(c, "a", right);
    add(c, pair ? "\"]" : "\"");
}

static void add_merges(struct costly *c, struct fuzz_bytes *b, const struct lengths *l, bool pairs)
{
    unsigned count = some(b);

    add(c, pairs ? "[\"a\",\"b\"]" : "\"a b\"");
    for (unsigned i = 0; i < count && room(c); i++) {
        unsigned how = fuzz_u8(b);
        uint32_t right = l->all[fuzz_u8(b) % l->count], left = l->all[(i + how / 8) % l->count];

        if (c->file_bytes + left + right + SPARE > sizeof c->file)
            break;
        if (how % 8 == 0 || (left + right < COSTLY_FILE && l->known[left + right]))
            add_merge(c, left, right, pairs);
    }
}

static void add_model(struct costly *c, struct fuzz_bytes *b)
{
    static struct lengths lengths;
    unsigned flags = fuzz_u8(b), more = some(b);

    memset(&lengths, 0, sizeof lengths);
    c->ids = flags >= 250 ? 1u << 24 : 6;
    add(c,
        "{\"model\":{\"type\":\"BPE\",\"byte_fallback\":%s,\"ignore_merges\":%s,\"unk_token\":\"b\","
        "\"vocab\":{\"a\":0,\"b\":1,\"1\":2,\" \":3,\"ab\":4,\"x\":%u",
        truth(flags & 1), truth(flags & 2), c->ids - 1);
    add_vocabulary(c, b, &lengths, more);
    add(c, "},\"merges\":[");
    add_merges(c, b, &lengths, flags & 4);
    add(c, "]}");
}

static void add_tokens(struct costly *c, struct fuzz_bytes *b)
{
    unsigned count = some(b);

    add(c, ",\"added_tokens\":[");
    for (unsigned i = 0; i < count && room(c); i++) {
        unsigned flags = fuzz_u8(b);

        add(c, "%s{\"id\":%u,\"content\":\"", i > 0 ? "," : "", 2000 + i);
        add_times(c, "a", (1 + fuzz_u8(b)) * (size_t)(flags & 32 ? 64 : 1));
        add(c, "%s%u\",\"single_word\":%s,\"lstrip\":%s,\"rstrip\":%s,\"normalized\":%s,\"special\":%s}",
            ANY(contents, b), i, truth(flags & 1), truth(flags & 2), truth(flags & 4), truth(flags & 8),
            truth(flags & 16));
    }
    add(c, "]");
}

/* A member that means nothing: brackets one after another, and in each other. */
static void add_nothing(struct costly *c, struct fuzz_bytes *b)
{
    unsigned kind = fuzz_u8(b), deep = fuzz_u8(b);

    if (kind < 248)
        return;
    add(c, ",\"nothing\":[");
    add_times(c, "[],", (kind - 247) * TINY_OR((size_t)100, (size_t)4000));
    add_times(c, "[", 1 + deep);
    add_times(c, "]", 1 + deep);
    add(c, "]");
}

static void compress(struct costly *c)
{
    static uint8_t packed[COSTLY_FILE + 4096];
    size_t bytes = ZSTD_compress(packed, sizeof packed, c->file, c->file_bytes, 1);

    FUZZ_CHECK(!ZSTD_isError(bytes) && bytes <= sizeof c->file);
    memcpy(c->file, packed, bytes);
    c->file_bytes = bytes;
}

static void make_text(struct costly *c, struct fuzz_bytes *b)
{
    for (unsigned parts = fuzz_u8(b) % 6; parts > 0; parts--) {
        const char *unit = ANY(contents, b);

        for (unsigned n = fuzz_u8(b); n > 0 && c->text_bytes + strlen(unit) <= sizeof c->text; n--) {
            memcpy(c->text + c->text_bytes, unit, strlen(unit));
            c->text_bytes += strlen(unit);
        }
    }
}

void costly_make(struct costly *c, struct fuzz_bytes *b)
{
    unsigned packed = fuzz_u8(b) & 1;

    c->file_bytes = c->text_bytes = 0;
    c->growth = 1;
    c->searches = 0;
    make_text(c, b);
    add_model(c, b);
    add_list(c, b, "normalizer", "normalizers", add_normalizer);
    add_list(c, b, "pre_tokenizer", "pretokenizers", add_splitter);
    add_list(c, b, "decoder", "decoders", add_decoder);
    add_tokens(c, b);
    add_nothing(c, b);
    add(c, "}");
    c->plain_bytes = c->file_bytes;
    if (packed)
        compress(c);
}
