/*
 * normalize_unicode.c: computes normal forms. Most text is in its normal form, and most characters are inert: they
 * never change, and nothing moves across them. The quick check passes over those, 64 bytes at a time
 * (normalize_blocks.h), and looks at each other character with the one before it: marks must be in order, and a
 * character that may be composed with a starter must not follow it.
 *
 * Where the check stops, the text between two boundaries is decomposed, sorted and composed again, one run at a time: a
 * starter and the marks after it. Marks are sorted by counting, straight into the output: a first pass over the run
 * adds up the bytes of each combining class, a second one puts each mark where its class stands. A run of any length
 * costs two passes and no memory.
 */
#include "normalize_unicode.h"

#include <string.h>

#include "base/bytes.h"
#include "base/bytes64.h"
#include "base/status.h"
#include "base/utf8.h"
#include "normalize_blocks.h"
#include "normalize_tables.h"
#include "unicode.h"

#define NONE  UINT32_MAX

#define SHORT 128 /* bytes of texts for which blocks and asking for the CPU do not pay */

/* Parts of a word of normal_blocks. */
#define COMBINING_CLASS(word) ((word)&0xffu)
#define NOT_YES(form)         (1u << (8 + (form)))
#define BOUNDARY(form)        (1u << (12 + (form)))

#define COMPOSES(form)        ((form) == NORMALIZE_NFC || (form) == NORMALIZE_NFKC)

static unsigned normal_word(uint32_t c)
{
    return normal_blocks[normal_index[c >> 8]][c & 255];
}

bool normalize_boundary_before(enum normalize_form form, uint32_t c)
{
    return c > 0x10ffff || (normal_word(c) & BOUNDARY(form)) != 0;
}

/* ---- Boundaries ---- */

/* Returns the last boundary at or before text[at]; the text's start is one. */
static size_t boundary_back(enum normalize_form form, const uint8_t *text, size_t at)
{
    size_t bytes;

    while (at > 0 && !normalize_boundary_before(form, unicode_decode(text + at, &bytes)))
        do
            at--;
        while ((text[at] & 0xc0) == 0x80);
    return at;
}

/* Returns the first boundary after text[at], or the end. */
static size_t boundary_after(enum normalize_form form, const uint8_t *text, size_t size, size_t at)
{
    size_t bytes;

    unicode_decode(text + at, &bytes);
    at += bytes;
    while (at < size && !normalize_boundary_before(form, unicode_decode(text + at, &bytes)))
        at += bytes;
    return at;
}

/* ---- Decomposing: a text as words of class << 24 | character ---- */

struct decomposer {
    const uint8_t *text;
    size_t size, at;
    const uint8_t *index; /* index of the canonical or the compatible decompositions */
    uint32_t word;        /* present word of the index; NONE at the end */
    unsigned next, left;  /* place and number of the characters of the decomposition that are left */
    uint32_t vowel, tail; /* parts of a Hangul syllable that are left, or 0 */
    bool follows;         /* the word is not the first one of its character */
};

static uint32_t word_class(uint32_t word)
{
    return word >> 24;
}

static uint32_t word_character(uint32_t word)
{
    return word & 0xffffff;
}

static uint32_t decompose_hangul(struct decomposer *d, uint32_t syllable)
{
    uint32_t i = syllable - 0xac00, tail = i % 28;

    d->vowel = 0x1161 + i % 588 / 28;
    d->tail = tail ? 0x11a7 + tail : 0;
    return 0x1100 + i / 588;
}

static uint32_t decompose_character(struct decomposer *d)
{
    size_t bytes;
    uint32_t c = unicode_decode(d->text + d->at, &bytes);
    unsigned place;

    d->at += bytes;
    if (c >= 0xac00 && c <= 0xd7a3)
        return decompose_hangul(d, c);
    place = decomposition_blocks[d->index[c >> 8]][c & 255];
    if (place == 0)
        return COMBINING_CLASS(normal_word(c)) << 24 | c;
    d->left = decompositions[place] - 1;
    d->next = place + 2;
    return decompositions[place + 1];
}

static void decompose_next(struct decomposer *d)
{
    d->follows = d->left > 0 || d->vowel;
    if (d->left > 0) {
        d->left--;
        d->word = decompositions[d->next++];
    } else if (d->vowel) {
        d->word = d->vowel;
        d->vowel = d->tail;
        d->tail = 0;
    } else {
        d->word = d->at < d->size ? decompose_character(d) : NONE;
    }
}

static struct decomposer decompose(enum normalize_form form, const uint8_t *text, size_t size)
{
    bool canonical = form == NORMALIZE_NFC || form == NORMALIZE_NFD;
    struct decomposer d = { .text = text, .size = size, .index = canonical ? canonical_index : compatible_index };

    decompose_next(&d);
    return d;
}

/* ---- Sorting ---- */

#define GAP 4  /* bytes between the end of the output and the marks being sorted: room for their starter */
#define FEW 16 /* marks that are sorted without counting; nearly all runs have one or two */

/* Takes the marks up to the next starter into `few` if they are no more than FEW, sorted; else returns FEW + 1. */
static size_t take_few(struct decomposer *d, uint32_t *few)
{
    size_t count = 0;

    for (; d->word != NONE && word_class(d->word) > 0; decompose_next(d)) {
        size_t i = count;

        if (count == FEW)
            return FEW + 1;
        for (; i > 0 && word_class(few[i - 1]) > word_class(d->word); i--)
            few[i] = few[i - 1];
        few[i] = d->word;
        count++;
    }
    return count;
}

/* Makes room for a long run of marks and writes it, sorted, GAP bytes after the end; *size is set to its bytes. */
static enum leat_status sort_many(struct decomposer *d, struct buffer *out, size_t *size, struct leat_error *err)
{
    struct decomposer first_pass = *d;
    size_t places[256] = { 0 }, total = GAP;
    enum leat_status s;

    for (; first_pass.word != NONE && word_class(first_pass.word) > 0; decompose_next(&first_pass))
        places[word_class(first_pass.word)] += utf8_size(word_character(first_pass.word));
    for (size_t class = 0; class < 256; class ++) {
        size_t bytes = places[class];

        places[class] = out->size + total;
        total += bytes;
    }
    s = buffer_reserve(out, total, err);
    if (s != LEAT_OK)
        return s;
    for (; d->word != NONE && word_class(d->word) > 0; decompose_next(d)) {
        size_t *place = &places[word_class(d->word)];

        *place += utf8_encode(out->bytes + *place, word_character(d->word));
    }
    *size = total - GAP;
    return LEAT_OK;
}

/* Sorts a run of marks of any length. */
static enum leat_status sort_marks(struct decomposer *d, struct buffer *out, size_t *size, struct leat_error *err)
{
    struct decomposer start = *d;
    uint32_t few[FEW];
    size_t count = take_few(d, few), at;
    enum leat_status s;

    if (count > FEW) {
        *d = start;
        return sort_many(d, out, size, err);
    }
    s = buffer_reserve(out, GAP + 4 * FEW, err);
    if (s != LEAT_OK)
        return s;
    at = out->size + GAP;
    for (size_t i = 0; i < count; i++)
        at += utf8_encode(out->bytes + at, word_character(few[i]));
    *size = at - out->size - GAP;
    return LEAT_OK;
}

/* ---- Composing ---- */

/* Returns the character that a pair is composed to, or NONE. */
static uint32_t compose(uint32_t a, uint32_t b)
{
    /* scripts/gen_unicode.py places pairs by this hash */
    uint32_t slot = (a * 0x9e3779b1u ^ b * 0x85ebca6bu) >> 21;

    if (a - 0x1100 < 19 && b - 0x1161 < 21)
        return 0xac00 + ((a - 0x1100) * 21 + (b - 0x1161)) * 28;
    if (a - 0xac00 < 11172 && (a - 0xac00) % 28 == 0 && b - 0x11a8 < 27)
        return a + (b - 0x11a7);
    while (compositions[slot][2]) {
        if (compositions[slot][0] == a && compositions[slot][1] == b)
            return compositions[slot][2];
        slot = (slot + 1) % (sizeof compositions / sizeof compositions[0]);
    }
    return NONE;
}

/* Composes the starter with those sorted marks that nothing blocks from it. Returns the bytes of the marks that
 * remain. */
static size_t compose_marks(uint32_t *starter, uint8_t *marks, size_t size)
{
    unsigned last_class = 0; /* class of the last mark that remains */
    size_t kept = 0, bytes;

    for (size_t at = 0; at < size; at += bytes) {
        uint32_t c = unicode_decode(marks + at, &bytes), composed = NONE;
        unsigned class = COMBINING_CLASS(normal_word(c));

        if (class > last_class)
            composed = compose(*starter, c);
        if (composed != NONE) {
            *starter = composed;
            continue;
        }
        memmove(marks + kept, marks + at, bytes);
        kept += bytes;
        last_class = class;
    }
    return kept;
}

/* Appends a starter, if it is not NONE, and the marks that stand GAP bytes after the end. */
static void emit(struct buffer *out, uint32_t starter, size_t marks)
{
    uint8_t *end = out->bytes + out->size;
    size_t bytes = starter == NONE ? 0 : utf8_encode(end, starter);

    memmove(end + bytes, end + GAP, marks);
    out->size += bytes + marks;
}

/* Appends one starter with the marks after it; marks only at the beginning of a text. */
static enum leat_status append_run(struct buffer *out, struct decomposer *d, bool composing, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(out, 4, err);
    uint32_t starter = NONE;
    size_t marks = 0;

    if (word_class(d->word) == 0) {
        starter = word_character(d->word);
        decompose_next(d);
    }
    /* stop when marks remain between the starter and the next character */
    while (s == LEAT_OK && d->word != NONE && marks == 0) {
        if (word_class(d->word) > 0) {
            s = sort_marks(d, out, &marks, err);
            if (s == LEAT_OK && composing && starter != NONE)
                marks = compose_marks(&starter, out->bytes + out->size + GAP, marks);
        } else {
            uint32_t composed = composing && starter != NONE ? compose(starter, word_character(d->word)) : NONE;

            if (composed == NONE)
                break;
            starter = composed;
            decompose_next(d);
        }
    }
    if (s == LEAT_OK)
        emit(out, starter, marks);
    return s;
}

/* ---- The quick check ---- */

static bool decomposes(enum normalize_form form, uint32_t c)
{
    const uint8_t *index = form == NORMALIZE_NFC ? canonical_index : compatible_index;

    return decomposition_blocks[index[c >> 8]][c & 255] != 0;
}

/* Returns the class of the last character that this one is decomposed into: marks of a lower class move before that. */
static unsigned last_class_of(uint32_t c)
{
    unsigned place = decomposition_blocks[canonical_index[c >> 8]][c & 255];

    return place == 0 ? 0 : word_class(decompositions[place + decompositions[place]]);
}

static uint32_t character_before(const struct normal_check *k, size_t at)
{
    size_t bytes;

    return at == 0 ? NONE : unicode_decode(k->text + utf8_before(k->text, at), &bytes);
}

/* Returns true if a character that may be composed with the starter before it is not composed. `follows`: other
 * marks stand between. */
static bool stays_apart(const struct normal_check *k, uint32_t starter, uint32_t c, unsigned class, bool follows)
{
    if (!COMPOSES(k->form) || decomposes(k->form, c))
        return false;
    if (starter == NONE || (follows && k->last_class >= class))
        return true;
    return (class == 0 || last_class_of(starter) <= class) && compose(starter, c) == NONE;
}

bool normal_look(struct normal_check *k, size_t at, uint32_t c, size_t bytes, unsigned word)
{
    unsigned class = COMBINING_CLASS(word);
    bool follows = at == k->marks_end;

    if (follows && class > 0 && class < k->last_class)
        return false;
    if (!follows)
        k->starter = character_before(k, at);
    if ((word & NOT_YES(k->form)) && !stays_apart(k, k->starter, c, class, follows))
        return false;
    if (class > 0) {
        k->last_class = class;
        k->marks_end = at + bytes;
    }
    return true;
}

/* Checks from the beginning of a character on; the plain row. */
static bool check_characters(struct normal_check *k, size_t *at)
{
    while (*at < k->size) {
        size_t bytes = k->inert[k->text[*at]];

        if (bytes == 1)
            bytes = utf8_ascii_prefix(k->text + *at, k->size - *at);
        if (bytes == 0 && !normal_stays(k, *at, &bytes))
            return false;
        *at += bytes;
    }
    return true;
}

/* Fastest first. */
static const struct normal_row rows[] = {
#if defined(__x86_64__)
    { "avx512", CPU_AVX512, normalize_blocks_avx512 },
    { "avx2", CPU_AVX2, normalize_blocks_avx2 },
#elif BYTES64_HAVE_NEON
    { "neon", CPU_PLAIN, normalize_blocks_neon },
#endif
    { "words", CPU_PLAIN, normalize_blocks_words },
    { "plain", CPU_PLAIN, NULL },
};

const struct normal_row *normal_row(size_t number)
{
    return number < sizeof rows / sizeof rows[0] ? &rows[number] : NULL;
}

size_t normal_row_prefix(const struct normal_row *row, enum normalize_form form, const uint8_t *text, size_t size)
{
    struct normal_check k = { .index = normal_index,
                              .blocks = normal_blocks,
                              .inert = inert_lead[form],
                              .odd = NOT_YES(form) | COMBINING_CLASS(~0u),
                              .form = form,
                              .text = text,
                              .size = size,
                              .marks_end = SIZE_MAX };
    size_t at = 0;
    bool good = !row->blocks || row->blocks(&k, &at);

    while (good && at < size && (text[at] & 0xc0) == 0x80)
        at++;
    good = good && check_characters(&k, &at);
    return good ? size : boundary_back(form, text, at);
}

size_t normalize_prefix(enum normalize_form form, const uint8_t *text, size_t size)
{
    const struct normal_row *row = rows;

    if (size < SHORT)
        row += sizeof rows / sizeof rows[0] - 1;
    else
        for (enum cpu_level level = cpu_level(); row->needs > level;)
            row++;
    return normal_row_prefix(row, form, text, size);
}

/* ---- Normalizing ---- */

enum leat_status normalize_append(struct buffer *out, enum normalize_form form, const uint8_t *text, size_t size,
                                  struct leat_error *err)
{
    size_t at = 0;

    for (;;) {
        size_t good = normalize_prefix(form, text + at, size - at), end;
        enum leat_status s = buffer_append(out, text + at, good, err);
        struct decomposer d;

        if (s != LEAT_OK)
            return s;
        at += good;
        if (at == size)
            return LEAT_OK;
        end = boundary_after(form, text, size, at);
        d = decompose(form, text + at, end - at);
        while (s == LEAT_OK && d.word != NONE)
            s = append_run(out, &d, COMPOSES(form), err);
        if (s != LEAT_OK)
            return s;
        at = end;
    }
}

/* ---- Places ---- */

/* A character of the result, and how many characters of the text it stands for: 0 for those after the first one of a
 * character's decomposition. */
struct piece {
    uint32_t word, count;
};

static enum leat_status take_pieces(struct buffer *out, struct decomposer *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && d->word != NONE; decompose_next(d)) {
        struct piece piece = { d->word, d->follows ? 0 : 1 };

        s = buffer_append(out, &piece, sizeof piece, err);
    }
    return s;
}

/* Sorts the marks at `from` into `to`. Returns how many there are. */
static size_t sort_pieces(struct piece *to, const struct piece *from, size_t count)
{
    size_t places[257] = { 0 }, marks = 0;

    for (; marks < count && word_class(from[marks].word) > 0; marks++)
        places[word_class(from[marks].word) + 1]++;
    for (size_t class = 1; class < 257; class ++)
        places[class] += places[class - 1];
    for (size_t i = 0; i < marks; i++)
        to[places[word_class(from[i].word)]++] = from[i];
    return marks;
}

/* Composes in place. Returns how many pieces remain. */
static size_t compose_pieces(struct piece *pieces, size_t count)
{
    size_t kept = 0, starter = SIZE_MAX, marked = 0; /* marks begin at the place `marked`, if any remain */

    for (size_t i = 0; i < count; i++) {
        uint32_t class = word_class(pieces[i].word), composed = NONE;

        if (starter != SIZE_MAX && (kept == marked || word_class(pieces[kept - 1].word) < class))
            composed = compose(word_character(pieces[starter].word), word_character(pieces[i].word));
        if (composed != NONE) {
            pieces[starter].word = composed;
            pieces[starter].count += pieces[i].count;
            continue;
        }
        if (class == 0) {
            starter = kept;
            marked = kept + 1;
        }
        pieces[kept++] = pieces[i];
    }
    return kept;
}

/* Makes the pieces up to the first boundary after the text's beginning, which is *used bytes. They are in `all`,
 * which is twice as long. */
static enum leat_status make_pieces(struct buffer *all, size_t *count, enum normalize_form form, const uint8_t *text,
                                    size_t size, size_t *used, struct leat_error *err)
{
    struct decomposer d;
    struct piece *from, *to;
    enum leat_status s;

    *used = boundary_after(form, text, size, 0);
    d = decompose(form, text, *used);
    all->size = 0;
    s = take_pieces(all, &d, err);
    *count = all->size / sizeof *from;
    if (s == LEAT_OK)
        s = buffer_reserve(all, all->size, err);
    if (s != LEAT_OK)
        return s;
    from = (struct piece *)all->bytes;
    to = from + *count;
    for (size_t i = 0; i < *count;) {
        size_t marks = sort_pieces(to + i, from + i, *count - i);

        if (marks == 0)
            to[i] = from[i];
        i += marks > 0 ? marks : 1;
    }
    memmove(from, to, *count * sizeof *from);
    if (COMPOSES(form))
        *count = compose_pieces(from, *count);
    return LEAT_OK;
}

enum leat_status normalize_first(size_t *bytes, enum normalize_form form, const uint8_t *text, size_t size,
                                 size_t first, struct bound *bound, struct leat_error *err)
{
    struct buffer all = { .bound = bound };
    enum leat_status s = LEAT_OK;
    size_t at = 0, used, count;
    bool done = false;

    for (*bytes = 0; s == LEAT_OK && !done && at < first; at += used) {
        const struct piece *pieces;
        size_t left, passed = 0;

        s = make_pieces(&all, &count, form, text + at, size - at, &used, err);
        left = utf8_characters(text + at, first - at < used ? first - at : used);
        pieces = (const struct piece *)all.bytes;
        for (size_t i = 0; s == LEAT_OK && !done && i < count; i++) {
            done = pieces[i].count > 0 ? passed >= left : passed > left;
            passed += pieces[i].count;
            *bytes += done ? 0 : utf8_size(word_character(pieces[i].word));
        }
    }
    buffer_free(&all);
    return s;
}

/* ---- Lower case -------------------------------------------------------------------------------------------------- */

static int32_t lower_delta(uint32_t c)
{
    return lower_deltas[lower_blocks[lower_index[c >> 8]][c & 255]];
}

#define DOTTED_I 0x130 /* the only character that becomes two: i and U+0307 */

size_t lowercase_prefix(const uint8_t *text, size_t size)
{
    size_t at = 0, bytes;

    while (at < size) {
        uint32_t c = text[at];

        bytes = 1;
        if (c >= 0x80)
            c = unicode_decode(text + at, &bytes);
        if (c < 0x80 ? c - 'A' < 26 : lower_delta(c) != 0 || c == DOTTED_I)
            return at;
        at += bytes;
    }
    return at;
}

static void lower_ascii(uint8_t *out, const uint8_t *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        out[i] = (uint8_t)(text[i] | ((uint8_t)(text[i] - 'A') < 26 ? 0x20 : 0));
}

enum leat_status lowercase_append(struct buffer *out, const uint8_t *text, size_t size, struct leat_error *err)
{
    size_t at = 0, bytes;

    while (at < size) {
        size_t ascii = utf8_ascii_prefix(text + at, size - at);
        enum leat_status s = buffer_reserve(out, ascii + 4, err);
        uint32_t c;

        if (s != LEAT_OK)
            return s;
        lower_ascii(out->bytes + out->size, text + at, ascii);
        out->size += ascii;
        at += ascii;
        if (at == size)
            break;
        c = unicode_decode(text + at, &bytes);
        at += bytes;
        if (c == DOTTED_I)
            memcpy(out->bytes + out->size, "i\xcc\x87", 3);
        out->size += c == DOTTED_I ? 3 : utf8_encode(out->bytes + out->size, c + (uint32_t)lower_delta(c));
    }
    return LEAT_OK;
}
