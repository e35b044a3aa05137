/*
 * scan_rule.h: the rule of a family of scanners (struct scan_rule), with the functions on masks and the parts of
 * expressions that families share.
 *
 * A new family is a file scan_NAME.h with its rules and their expressions, a row of SCAN_FAMILIES, and a row in the
 * table of scan.c. All tests go through the rows.
 */
#ifndef LEAT_TOKENIZER_SCAN_RULE_H
#define LEAT_TOKENIZER_SCAN_RULE_H

#include "scan.h"
#include "scan_text.h"

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/*
 * Up to 64 bytes of text as masks, bit i for byte i. Families compute the beginnings of pretokens from the classes of
 * bytes by arithmetic on 64-bit words, which does not depend on the CPU; scan_bytes.h makes the masks.
 *
 * A block begins where a pretoken begins. A character's bits are set at all of its bytes, so that `<< 1` asks for the
 * character before and, at its last byte, `>> 1` for the one after. The carry of an addition walks through runs.
 */
struct scan_masks {
    const uint8_t *text; /* text of the block */
    uint64_t valid;      /* bytes whose classes are known: a prefix of the block */
    uint64_t end;        /* the bit after the valid bytes if the text ends there, with zeros after it; else 0 */
    uint64_t high;       /* bytes of characters that are not ASCII */
    uint64_t inside;     /* second and later bytes of these characters */
    /* Classes. `newlines` and `spaces` are parts of `white`; the other classes have no character in common. */
    uint64_t letters;  /* letters, as the family defines them */
    uint64_t digits;   /* \p{N} */
    uint64_t white;    /* \s */
    uint64_t newlines; /* \r \n */
    uint64_t spaces;   /* U+0020 */
    /* Characters. */
    uint64_t quotes;  /* ' */
    uint64_t slashes; /* / */
    /* Classes that a family asks for in its struct scan_kind. */
    uint64_t upper, lower, either; /* letters that are Lu, Lt; Ll; Lm, Lo, M */
    uint64_t marks;                /* letters that are M, a part of `either` */
    uint64_t symbols;              /* P, S */
    uint64_t apart;                /* Han that are letters, or ideographs and kana */
    uint64_t odd;                  /* other Han */
};

/* The classes that a family asks for. They are constants, so a class that is not asked for costs nothing. */
struct scan_kind {
    unsigned letters; /* bits of unicode.h */
    bool cases;       /* true for upper, lower, either, marks */
    bool symbols;
    bool han;  /* true for `apart` and `odd`: \p{Han}, which `letters` and its kinds leave out */
    bool kana; /* true for `apart`: U+4E00 to U+9FA5 and U+3040 to U+30FF, of any other class */
};

/* Beginnings of pretokens. Bit 0 has no meaning, since the block begins with a pretoken. */
struct scan_starts {
    uint64_t at;
    uint64_t uncertain; /* bits of `at` that may be wrong, whether they are set or not */
};

/* ---- Bits ------------------------------------------------------------------------------------------------------- */

/* Returns all bits above the lowest of x. */
SCAN_INLINE uint64_t scan_after(uint64_t x)
{
    return x ^ (0 - x);
}

/* Returns the first bits of runs. */
SCAN_INLINE uint64_t scan_first(uint64_t runs)
{
    return runs & ~(runs << 1);
}

/* Returns the runs that begin with a bit of `from`. */
SCAN_INLINE uint64_t scan_runs_from(uint64_t runs, uint64_t from)
{
    return runs & ~(runs + from);
}

/* Returns the bits after the runs that begin with a bit of `from`. */
SCAN_INLINE uint64_t scan_behind(uint64_t runs, uint64_t from)
{
    return (runs + from) & ~runs;
}

/* Returns the bits of `runs` that follow, without a gap, a bit of `from` that is in `runs`. */
SCAN_INLINE uint64_t scan_fill(uint64_t runs, uint64_t from)
{
    for (unsigned by = 1; by < 64; by *= 2) {
        from |= runs & from << by;
        runs &= runs << by;
    }
    return from;
}

/* Moves each bit to the first byte of its character, which has at most three bytes. */
SCAN_INLINE uint64_t scan_to_first_byte(const struct scan_masks *m, uint64_t x)
{
    if (!m->high)
        return x;
    x = (x & ~m->inside) | (x & m->inside) >> 1;
    return (x & ~m->inside) | (x & m->inside) >> 1;
}

/* Spreads each bit from the first byte of a character to all of its bytes. */
SCAN_INLINE uint64_t scan_to_all_bytes(const struct scan_masks *m, uint64_t x)
{
    if (!m->high)
        return x;
    x |= x << 1 & m->inside;
    x |= x << 1 & m->inside;
    return x | (x << 1 & m->inside);
}

/* ---- Parts of the algebra ---------------------------------------------------------------------------------------- */

/* Returns the beginnings of groups of at most `max` digits, 1 or 3. */
SCAN_INLINE struct scan_starts scan_digit_starts(const struct scan_masks *m, unsigned max)
{
    struct scan_starts s = { .at = m->digits & ~m->inside };
    uint64_t three;

    if (max == 1)
        return s;
    /* three digits before another one, which begins a group */
    three = m->digits & m->digits << 1 & m->digits << 2;
    s.at = scan_first(m->digits);
    if (three & m->digits << 3)
        for (unsigned by = 3; by < 64; by *= 2) {
            s.at |= s.at << by & three;
            three &= three << by;
        }
    /* bytes were counted */
    if (m->high)
        s.uncertain = scan_after(m->digits & m->high & ~m->inside);
    return s;
}

/* Returns the beginnings of white space, as \s*[\r\n]+|\s+(?!\S)|\s+ cuts it: `white` is the white space, with its
 * newlines, that no earlier pretoken has taken. Before a bit of `solid`, the last character is left for the next
 * pretoken. */
SCAN_INLINE struct scan_starts scan_white_starts(const struct scan_masks *m, uint64_t white, uint64_t newlines,
                                                 uint64_t solid)
{
    uint64_t blank = white & ~newlines, behind_newline = blank & newlines << 1, top = ~white & m->valid;
    uint64_t taken = scan_behind(blank, behind_newline) & newlines;
    struct scan_starts s = { .uncertain = 0 };

    /* a newline takes all of the run before it; rare */
    for (; taken; taken &= taken - 1)
        behind_newline &= ~(UINT64_C(1) << bits_highest(behind_newline & ~bits_from(taken)));
    s.at = scan_first(white) | scan_to_first_byte(m, blank & solid >> 1) | behind_newline;
    /* more white space, with newlines, may follow a run at the end, so only its beginning is certain */
    if (!m->end)
        s.uncertain = top ? ~UINT64_C(0) << bits_highest(top) << 2 : ~UINT64_C(1);
    return s;
}

/* Returns the beginnings of runs of letters, except those that belong to the character before them: white space in
 * `blank`, or a character that begins with a bit of `takers`. */
SCAN_INLINE uint64_t scan_letter_starts(const struct scan_masks *m, uint64_t letters, uint64_t blank, uint64_t takers)
{
    return scan_first(letters) & ~((blank | scan_to_all_bytes(m, takers)) << 1);
}

/* Returns the length of a contraction that begins at p, or 0. p[1] and p[2] can be read. */
SCAN_INLINE unsigned scan_contraction_bytes(const uint8_t *p, bool fold)
{
    uint8_t a = fold && p[1] < 0x80 ? p[1] | 0x20 : p[1], b = fold && p[2] < 0x80 ? p[2] | 0x20 : p[2];

    if (a == 's' || a == 't' || a == 'm' || a == 'd')
        return 2;
    return (a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l') ||
                   (fold && a == 0xc5 && b == 0xbf)
               ? 3
               : 0;
}

/* Returns the quotes after which two bytes are known, or the text ends. A contraction after another quote changes no
 * pretoken that is certain. */
SCAN_INLINE uint64_t scan_whole_quotes(const struct scan_masks *m)
{
    return m->quotes & (m->end ? m->valid : m->valid >> 2);
}

/* Cuts contractions off at the beginnings of pretokens. */
SCAN_INLINE uint64_t scan_cut_contractions(const struct scan_masks *m, uint64_t starts, bool fold)
{
    for (uint64_t at = scan_whole_quotes(m) & (starts | 1); at; at &= at - 1) {
        uint64_t quote = at & (0 - at);
        unsigned bytes = scan_contraction_bytes(m->text + bits_lowest(at), fold);

        if (bytes > 0)
            starts = (starts & ~(quote << 1)) | quote << bytes;
    }
    return starts;
}

/* Returns the starts that are certain, because at least `ahead` bytes after each are known. */
SCAN_INLINE uint64_t scan_certain(const struct scan_masks *m, uint64_t starts, uint64_t uncertain, unsigned ahead)
{
    return (starts | m->end) & ~uncertain & (m->end ? m->valid | m->end : m->valid >> ahead);
}

/* ---- Families ---------------------------------------------------------------------------------------------------- */

/* All families: their number SCAN_*, and their rule scan_*. */
#define SCAN_FAMILIES(each)                                                                                            \
    each(GPT2, gpt2) each(CL100K, cl100k) each(LLAMA3, llama3) each(QWEN2, qwen2) each(QWEN35, qwen35)                 \
        each(O200K, o200k) each(TEKKEN, tekken) each(KIMI, kimi) each(DEEPSEEK, deepseek)

#define SCAN_NUMBER(number, name) SCAN_##number,
enum scan_number { SCAN_FAMILIES(SCAN_NUMBER) SCAN_NUMBERS };

/* A family's rule. Rules are constants, and the functions that take one are inlined, so a feature that a family does
 * not use costs nothing. */
struct scan_rule {
    /* Returns the end of the pretoken that begins at p, going from character to character: it defines the right answer.
     * Returns NULL if the run reaches the end of a window that is not final. */
    const uint8_t *(*pretoken)(const struct scan_rule *rule, const struct scan_text *t, const uint8_t *p);
    /* Returns the beginnings of pretokens in the masks of a block. */
    uint64_t (*starts)(const struct scan_rule *rule, const struct scan_masks *m);
    struct scan_kind kind; /* classes that `starts` needs */

    /* Parameters of families that share functions. */
    unsigned digits; /* \p{N}{1,digits} */
    enum scan_space space;
    bool suffix; /* true if a contraction belongs to the word before it */
    bool slash;  /* true if slashes after punctuation belong to it */
};

/* The functions of each level, by the numbers of families; "plain" goes from character to character. */
extern scan_function *const scan_functions_plain[SCAN_NUMBERS],
    *const scan_functions_words[SCAN_NUMBERS], *const scan_functions_neon[SCAN_NUMBERS],
                                                   *const scan_functions_avx2[SCAN_NUMBERS],
                                                       *const scan_functions_avx512[SCAN_NUMBERS],
                                                           *const scan_functions_avx512vbmi[SCAN_NUMBERS];

/* ---- Spellings: the libraries, the end of a list, and the parts that most expressions share ---- */

#define SCAN_FOR_RUST (1u << SCAN_RUST)
#define SCAN_FOR_BOTH (1u << SCAN_RUST | 1u << SCAN_ONIGURUMA)

#define SCAN_SPELLINGS_END                                                                                             \
    {                                                                                                                  \
        { NULL }, 0                                                                                                    \
    }

#define SCAN_RE_CONTRACTION "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
#define SCAN_RE_PREFIX      "[^\\r\\n\\p{L}\\p{N}]?"
#define SCAN_RE_SYMBOLS     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*"
#define SCAN_RE_SLASHED     " ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*"
#define SCAN_RE_SPACE       "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+"
#define SCAN_RE_UPPER       "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_LOWER       "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]"
#define SCAN_RE_UPPER_KIMI  "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"
#define SCAN_RE_LOWER_KIMI  "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}&&[^\\p{Han}]]"

#endif
