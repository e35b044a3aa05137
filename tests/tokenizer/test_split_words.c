/*
 * test_split_words.c: BertPreTokenizer and WhitespaceSplit as they are given to models that take white space before
 * words (split_words.h): the same pretokens as the general steps give, for random texts in random chunks, at each CPU
 * level.
 */
#include "support/cpu_limit.h"
#include "t.h"

#include "tokenizer/split/pretokenizer.h"
#include "tokenizer/split/split_words.h"
#include "tokenizer/unicode/unicode.h"

#define MAX_TEXT 400u

static uint64_t state;

static uint32_t below(size_t n)
{
    return (uint32_t)t_below(&state, n);
}

/* Words, each with a newline after it, which no text of the test has. */
struct words {
    uint8_t bytes[8 * MAX_TEXT];
    size_t size;
};

static void add(struct words *w, const uint8_t *text, size_t bytes)
{
    memcpy(w->bytes + w->size, text, bytes);
    w->size += bytes;
    w->bytes[w->size++] = '\n';
}

static enum leat_status take(void *context, const uint8_t *text, size_t bytes, bool last, struct leat_error *err)
{
    (void)err;
    T_CHECK(last);
    add(context, text, bytes);
    return LEAT_OK;
}

static enum leat_status take_words(void *context, const struct model_pretokens *p, struct leat_error *err)
{
    uint32_t begin = p->begin;

    (void)err;
    for (size_t i = 0; i < p->count; begin = p->ends[i++]) {
        size_t space = split_words_space(p->text + begin, p->ends[i] - begin);

        T_CHECK(begin < p->ends[i] && p->ends[i] <= p->bytes);
        if (begin + space < p->ends[i])
            add(context, p->text + begin + space, p->ends[i] - begin - space);
    }
    return LEAT_OK;
}

static size_t random_text(uint8_t *text)
{
    static const char *const parts[] = {
        " ", " ",    "  ",           "\t",           "\xc2\xa0",         "\xe3\x80\x80",
        "a", "word", "\xc3\xa9",     "\xe4\xb8\xad", "\xf0\x9f\x99\x82", ".",
        ",", "$",    "\xe2\x80\x94", "\xe3\x80\x82"
    };
    size_t size = 0, most = below(MAX_TEXT - 8);

    while (size < most) {
        const char *part = parts[below(sizeof parts / sizeof parts[0])];

        if (below(4) == 0 && (text[size] = (uint8_t)below(0x80)) != '\n') {
            size++;
            continue;
        }
        memcpy(text + size, part, strlen(part));
        size += strlen(part);
    }
    return size;
}

static void run(const struct pretokenizer *p, struct pretokenizer_scratch *s, const uint8_t *text, size_t bytes,
                struct words *out)
{
    bool first = true;

    out->size = 0;
    for (size_t at = 0, end = 0; first || at < bytes; first = false, at = end) {
        struct text_chunk chunk;

        end = below(3) ? at + below(40) : bytes;
        end = end < bytes ? end : bytes;
        while (end < bytes && (text[end] & 0xc0) == 0x80)
            end++;
        chunk = (struct text_chunk) { text + at, end - at, at == 0, end == bytes };
        T_OK(pretokenizer_run(p, s, &chunk, take, out, &t_err));
        if (end == bytes)
            break;
    }
}

static void test_kind(unsigned steps)
{
    static uint8_t text[MAX_TEXT];
    static struct words want, got;
    struct spec_pre_tokenizer pre[] = { { .kind = SPEC_PRE_WHITESPACE_SPLIT },
                                        { .kind = SPEC_PRE_PUNCTUATION, .behavior = SPEC_ISOLATED } };
    struct tokenizer_spec spec = { .pre_tokenizers = pre, .pre_tokenizer_count = steps };
    struct pretokenizer_scratch *general, *words;
    struct pretokenizer *p;

    T_OK(pretokenizer_make(&p, &spec, &t_err));
    T_OK(pretokenizer_scratch_make(&general, p, NULL, &t_err));
    T_OK(pretokenizer_scratch_make(&words, p, NULL, &t_err));
    pretokenizer_scratch_words(words, take_words);
    for (unsigned i = 0; i < t_times(3000); i++) {
        size_t bytes = random_text(text);

        run(p, general, text, bytes, &want);
        run(p, words, text, bytes, &got);
        if (want.size != got.size || memcmp(want.bytes, got.bytes, want.size) != 0)
            T_FAIL("%zu bytes, %u steps: other words than those of the general steps", bytes, steps);
    }
    pretokenizer_scratch_free(general);
    pretokenizer_scratch_free(words);
    pretokenizer_free(p);
}

int main(void)
{
    state = t_seed();
    for (int level = CPU_PLAIN; level <= CPU_AVX512_VBMI; level++) {
        cpu_limit((enum cpu_level)level);
        test_kind(1);
        test_kind(2);
    }
    return t_end();
}
