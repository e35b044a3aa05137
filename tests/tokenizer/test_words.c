/*
 * test_words.c: WordPiece and WordLevel models of random vocabularies against their rules (models/words.c), read
 * literally: ever shorter parts of the word are looked for among all tokens. With every kind of prefix, words around
 * the limit of characters, an unknown token or none; whole, in chunks, and several at once, with a cache that knows
 * them and without one.
 */
#include "t.h"

#include "tokenizer/spec/model.h"
#include "tokenizer/unicode/unicode.h"

#define MAX_TOKENS 60u
#define MAX_TEXT   80u

static uint64_t state;
static const char *const letters[] = { "a", "b", "#", "\xc3\xa9", "\xe4\xb8\xad" };
static const char *const prefixes[] = { "##", "", "#", "\xc3\xa9" };

static struct tokenizer_spec *spec;
static struct spec_wordpiece data;
static char text[MAX_TOKENS][64];

static size_t random_text(char *out, size_t count)
{
    size_t bytes = 0;

    while (count-- > 0) {
        const char *letter = letters[t_below(&state, sizeof letters / sizeof *letters)];
        size_t length = strlen(letter);

        memcpy(out + bytes, letter, length);
        bytes += length;
    }
    out[bytes] = '\0';
    return bytes;
}

static uint32_t find(const char *prefix, const char *word, size_t bytes)
{
    char all[MAX_TEXT + 8];

    snprintf(all, sizeof all, "%s%.*s", prefix, (int)bytes, word);
    for (uint32_t i = 0; i < spec->token_count; i++)
        if (strcmp(text[i], all) == 0)
            return spec->tokens[i].id;
    return SPEC_NONE;
}

static void make_spec(bool pieces)
{
    const char *prefix = prefixes[t_below(&state, sizeof prefixes / sizeof *prefixes)];
    uint32_t count = 1 + (uint32_t)t_below(&state, MAX_TOKENS - 1);
    uint8_t *bytes;

    spec = spec_new();
    T_CHECK(spec != NULL);
    spec->model = pieces ? SPEC_WORDPIECE : SPEC_WORDLEVEL;
    spec->tokens = calloc(count, sizeof *spec->tokens);
    spec->text = bytes = malloc(MAX_TOKENS * sizeof *text);
    T_CHECK(spec->tokens && bytes);
    if (pieces) {
        spec->continuing_prefix = (struct spec_string) { (const uint8_t *)prefix, (uint32_t)strlen(prefix) };
        data.max_characters = (uint32_t)t_below(&state, 12);
        spec->model_data = &data;
    }
    for (uint32_t i = 0; i < count; i++) {
        char part[32];

        random_text(part, 1 + t_below(&state, 3));
        snprintf(text[i], sizeof text[i], "%s%s", t_below(&state, 2) ? prefix : "", part);
        if (find("", text[i], strlen(text[i])) != SPEC_NONE)
            continue;
        memmove(text[spec->token_count], text[i], sizeof text[i]);
        spec->tokens[spec->token_count] = (struct spec_token) { .id = 3 * spec->token_count,
                                                                .offset = (uint32_t)spec->text_bytes,
                                                                .length = (uint32_t)strlen(text[i]),
                                                                .type = SPEC_NORMAL };
        memcpy(bytes + spec->text_bytes, text[i], strlen(text[i]));
        spec->text_bytes += spec->tokens[spec->token_count++].length;
    }
    spec->unknown = t_below(&state, 5) ? 0 : SPEC_NONE;
    spec->unknown_text = (struct spec_string) { (const uint8_t *)"[UNK]", 5 };
}

/* How many ids; 0: the word is unknown. */
static size_t encode_plainly(const char *word, size_t bytes, uint32_t *out)
{
    const char *prefix = (const char *)spec->continuing_prefix.bytes;
    size_t count = 0, characters = 0, start = 0;

    for (size_t i = 0; i < bytes; i++)
        characters += (word[i] & 0xc0) != 0x80;
    if (spec->model == SPEC_WORDLEVEL) {
        *out = find("", word, bytes);
        return *out != SPEC_NONE;
    }
    if (characters > data.max_characters)
        return 0;
    for (size_t end; start < bytes; start = end) {
        for (end = bytes; end > start && find(start > 0 ? prefix : "", word + start, end - start) == SPEC_NONE;)
            end--;
        if (end == start)
            return 0;
        out[count++] = find(start > 0 ? prefix : "", word + start, end - start);
    }
    return count;
}

static void check_word(const struct model *m, void *scratch, const char *word, size_t bytes)
{
    uint32_t want[MAX_TEXT];
    size_t count = encode_plainly(word, bytes, want), used;
    struct id_list out = { 0 };

    if (count == 0)
        want[count++] = spec->unknown;
    for (size_t cut = 0; cut < bytes; cut++) {
        struct model_chunk chunk = { (const uint8_t *)word, cut, true, false };
        enum leat_status s;

        if ((word[cut] & 0xc0) == 0x80)
            continue;
        out.count = 0;
        T_OK(model_encode_chunk(m, scratch, &chunk, &out, &used, &t_err));
        chunk = (struct model_chunk) { (const uint8_t *)word + used, bytes - used, used == 0, true };
        s = model_encode_chunk(m, scratch, &chunk, &out, &used, &t_err);
        T_EQ(s, want[0] == SPEC_NONE ? LEAT_E_TEXT : LEAT_OK);
        if (s == LEAT_OK && (out.count != count || memcmp(out.ids, want, count * sizeof *want) != 0))
            T_FAIL("\"%s\", cut at %zu: %zu ids instead of %zu", word, cut, out.count, count);
    }
    id_list_free(&out);
}

/* A word and what it is cut into, in one batch: as each for itself. */
static void check_batch(const struct model *m, void *scratch, const char *word, size_t bytes)
{
    uint32_t want[2 * MAX_TEXT], ends[2];
    const struct model_pretokens two = { (const uint8_t *)word, bytes, 0, ends, 2 };
    struct id_list out = { 0 };
    bool known = true;

    for (size_t cut = 1; cut < bytes; cut++) {
        size_t all = 0, begin = 0;
        enum leat_status s;

        if ((word[cut] & 0xc0) == 0x80)
            continue;
        ends[0] = (uint32_t)cut;
        ends[1] = (uint32_t)bytes;
        known = true;
        for (unsigned i = 0; i < 2; begin = ends[i++]) {
            size_t count = encode_plainly(word + begin, ends[i] - begin, want + all);

            if (count == 0)
                want[all] = spec->unknown;
            known = known && (count > 0 || spec->unknown != SPEC_NONE);
            all += count + (count == 0);
        }
        out.count = 0;
        s = model_encode_batch(m, scratch, &two, &out, &t_err);
        T_EQ(s, known ? LEAT_OK : LEAT_E_TEXT);
        if (!known)
            T_CONTAINS(t_err.message, "neither is the unknown token \"[UNK]\"");
        else if (out.count != all || memcmp(out.ids, want, all * sizeof *want) != 0)
            T_FAIL("\"%s\", in two at %zu: %zu ids instead of %zu", word, cut, out.count, all);
    }
    id_list_free(&out);
}

int main(void)
{
    state = t_seed();
    for (unsigned i = 0; i < t_times(300); i++) {
        char word[MAX_TEXT];
        struct model *m;
        void *scratch;

        make_spec(i % 3 > 0);
        T_OK(model_make(&m, spec, &t_err));
        T_OK(model_scratch_make(&scratch, m, NULL, i % 2 ? 1 << 16 : 0, &t_err));
        for (unsigned k = 0; k < 60; k++) {
            size_t bytes = random_text(word, 1 + t_below(&state, 14));

            check_word(m, scratch, word, bytes);
            check_batch(m, scratch, word, bytes);
        }
        model_scratch_free(m, scratch);
        model_free(m);
        spec->model_data = NULL;
        spec_free(spec);
    }
    return t_end();
}
