/*
 * test_word_model.c: whatever the order in which threads get on, and in which a CPU shows them each other's writes, a
 * shared cache of pretokens (pretoken_batch.h) gives nothing or the right ids: the code itself goes through all orders,
 * of two or three threads that add. Each shared word is written once. A load of it gives what it was before as well,
 * unless this thread must see the new value: its own, or before a release that it has acquired. A thread is a function
 * that is begun anew for each step, with the results of its earlier operations. In the end a reader, and each row of
 * kernels, goes through all that it could see.
 */
#include <setjmp.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/cpu.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "t.h"

/* ---- The model --------------------------------------------------------------------------------------------------- */

#define SLOTS      64  /* words of memory that threads share */
#define OPERATIONS 200 /* of a thread */
#define THREADS    3
#define DEPTH      1000
#define STATES     ((size_t)1 << 22)

struct slot {
    const void *at;
    uint64_t value, released; /* the words that whoever acquires this value sees */
    bool written;
};

struct thread {
    void (*run)(struct thread *t);
    unsigned number, count; /* of operations so far */
    uint64_t results[OPERATIONS];
    uint64_t seen, fetched; /* words: that it must see; that it must see after a fence */
    bool ended;
};

static struct slot slots[SLOTS];
static unsigned slot_count;
static struct thread threads[THREADS], *now;
static unsigned replayed; /* operations of `now` that have come again */
static jmp_buf out;

static struct {
    unsigned chosen, options;
} path[DEPTH];
static unsigned depth, at_depth;

static void end(const char *why)
{
    T_FAIL("%s", why);
    exit(1);
}

/* One of so many: each in turn, as executions go on. */
static unsigned choose(unsigned options)
{
    if (at_depth == depth) {
        if (depth == DEPTH)
            end("a path is too long");
        path[depth].chosen = 0;
        path[depth++].options = options;
    }
    return path[at_depth++].chosen;
}

static bool next_path(void)
{
    while (depth > 0 && path[depth - 1].chosen + 1 == path[depth - 1].options)
        depth--;
    if (depth > 0)
        path[depth - 1].chosen++;
    at_depth = 0;
    return depth > 0;
}

static unsigned slot_of(const void *at)
{
    for (unsigned i = 0; i < slot_count; i++)
        if (slots[i].at == at)
            return i;
    if (slot_count == SLOTS)
        end("too many words");
    slots[slot_count] = (struct slot) { .at = at };
    return slot_count++;
}

/* An operation's result from before, if it had been done already. */
static bool again(uint64_t *result)
{
    if (replayed == now->count)
        return false;
    *result = now->results[replayed++];
    return true;
}

/* Ends an operation. `switches`: another thread may come before the next one. */
static uint64_t done(uint64_t result, bool switches)
{
    if (now->count == OPERATIONS)
        end("a thread does not end");
    now->results[now->count++] = result;
    replayed = now->count;
    if (switches)
        longjmp(out, 1);
    return result;
}

static uint64_t load(const void *at)
{
    uint64_t result, bit;
    unsigned i;

    if (again(&result))
        return result;
    i = slot_of(at);
    bit = (uint64_t)1 << i;
    if (!slots[i].written || (!(now->seen & bit) && choose(2) == 1))
        return done(0, true);
    now->seen |= bit;
    now->fetched |= slots[i].released;
    return done(slots[i].value, true);
}

static void write_slot(void *at, size_t size, uint64_t value, bool release)
{
    struct slot *s = &slots[slot_of(at)];

    if (s->written && s->value != value)
        T_FAIL("a word changes twice");
    if (size == sizeof(uint32_t))
        *(uint32_t *)at = (uint32_t)value;
    else
        *(uint64_t *)at = value;
    now->seen |= (uint64_t)1 << (s - slots);
    *s = (struct slot) { at, value, release ? now->seen : 0, true };
}

/* Of one thread alone, like ids of its stretch: nobody else need come in between. */
static bool is_alone(const void *at);

static void store(void *at, size_t size, uint64_t value, int order)
{
    uint64_t result;

    if (again(&result))
        return;
    write_slot(at, size, value, order == __ATOMIC_RELEASE);
    done(0, !is_alone(at));
}

/* `before` takes what the word had. */
static bool exchange(void *at, uint64_t *before, uint64_t value)
{
    uint64_t held = 0, wanted = *before;

    if (again(&held)) {
        *before = held;
        return held == wanted;
    }
    memcpy(&held, at, sizeof held);
    if (held == wanted)
        write_slot(at, sizeof value, value, false);
    else
        now->seen |= (uint64_t)1 << slot_of(at);
    done(held, true);
    return false;
}

static void fence(void)
{
    uint64_t result;

    if (again(&result))
        return;
    now->seen |= now->fetched;
    done(0, false);
}

#define __atomic_load_n(at, order)                                    ((__typeof__(*(at)))load(at))
#define __atomic_store_n(at, value, order)                            store((at), sizeof *(at), (value), (order))
#define __atomic_thread_fence(order)                                  fence()
#define __atomic_compare_exchange_n(at, before, value, weak, yes, no) exchange((at), (before), (value))

#include "tokenizer/bpe/pretoken_batch.c"

/* ---- What the threads do ----------------------------------------------------------------------------------------- */

#define HEAP  (200 * THREADS)
#define TEXTS 3

/* What a thread puts into the cache: texts of one table, which share a line. */
struct text {
    uint8_t bytes[PRETOKEN_AHEAD];
    uint32_t length, count;
    uint32_t ids[PRETOKEN_IDS];
    struct pretoken_key key;
};

static struct text texts[TEXTS];
static unsigned text_of[THREADS], thread_count;
static struct pretoken_cache common, own[THREADS], made[THREADS];
static uint32_t heap_words[HEAP];
static struct pretoken_heap heap = { .words = heap_words, .count = HEAP };
static size_t found;

static bool is_alone(const void *at)
{
    return (const uint32_t *)at >= heap_words && (const uint32_t *)at < heap_words + HEAP;
}

static void add(struct thread *t)
{
    const struct text *x = &texts[text_of[t->number]];

    own[t->number] = made[t->number];
    pretoken_cache_add(&own[t->number], &x->key, x->ids, x->count);
}

static void check_ids(const struct text *x, const uint32_t *ids, size_t count, const char *who)
{
    if (count > 0 && (count != x->count || memcmp(ids, x->ids, count * sizeof *ids) != 0))
        T_FAIL("%s: a pretoken of %u bytes has %zu ids, the first %u, not %u, the first %u", who, x->length, count,
               ids[0], x->count, x->ids[0]);
    found += count > 0;
}

static void look(struct thread *t)
{
    const struct text *x = &texts[text_of[t->number]];
    uint32_t ids[PRETOKEN_IDS];

    check_ids(x, ids, find_common(&common, &x->key, ids), "a reader");
}

/* One more operation of a thread. */
static void step(struct thread *t)
{
    now = t;
    replayed = 0;
    if (setjmp(out) == 0) {
        t->run(t);
        t->ended = true;
    }
}

static void begin(struct thread *t, void (*run)(struct thread *), unsigned number)
{
    memset(t, 0, sizeof *t);
    t->run = run;
    t->number = number;
}

/* ---- States that were met ---------------------------------------------------------------------------------------- */

static uint64_t states[STATES];
static size_t state_count, executions;

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

/* Keeps a hash; false: it was there. */
static bool keep(uint64_t hash)
{
    hash |= 1;
    for (size_t at = hash >> 20 & (STATES - 1);; at = (at + 1) & (STATES - 1)) {
        if (states[at] == hash)
            return false;
        if (states[at] == 0) {
            if (++state_count > STATES / 2)
                end("too many states");
            states[at] = hash;
            return true;
        }
    }
}

/* Whether the state of now is new; and keeps it. */
static bool is_new(void)
{
    uint64_t hash = 1;

    for (unsigned i = 0; i < slot_count; i++)
        hash = mix(mix(mix(mix(hash, (uintptr_t)slots[i].at), slots[i].value), slots[i].released), slots[i].written);
    for (unsigned i = 0; i < thread_count; i++) {
        hash = mix(mix(mix(mix(hash, threads[i].count), threads[i].seen), threads[i].fetched), threads[i].ended);
        for (unsigned k = 0; k < threads[i].count; k++)
            hash = mix(hash, threads[i].results[k]);
    }
    return keep(hash);
}

/* ---- Readers ----------------------------------------------------------------------------------------------------- */

/* All that a reader of each text could see. */
static void read_plain(void)
{
    unsigned kept_depth = depth, kept_at = at_depth, base = depth;

    for (unsigned i = 0; i < TEXTS && texts[i].length; i++) {
        struct thread reader;
        unsigned first = base;

        do {
            begin(&reader, look, 0);
            text_of[THREADS - 1] = i;
            reader.number = THREADS - 1;
            at_depth = first;
            while (!reader.ended && t_failures < 10)
                step(&reader);
            while (depth > first && path[depth - 1].chosen + 1 == path[depth - 1].options)
                depth--;
            if (depth > first)
                path[depth - 1].chosen++;
        } while (depth > first && t_failures < 10);
    }
    depth = kept_depth;
    at_depth = kept_at;
}

/* Whether ids that a word says lie in the heap are seen by whoever sees the word. */
static void check_released(const uint64_t *word)
{
    const struct slot *s = &slots[slot_of(word)];
    const uint32_t *ids;

    if (!s->written || s->value >> PRETOKEN_COUNT_SHIFT != PRETOKEN_SPILLED >> PRETOKEN_COUNT_SHIFT)
        return;
    ids = heap_words + (s->value & PRETOKEN_WHEN);
    for (size_t i = 0; i < pretoken_spilled_count(s->value); i++)
        if (!(s->released >> slot_of(ids + i) & 1))
            T_FAIL("ids of the heap may be seen later than the word that says where they lie");
}

/* All rows, over the lines as they are now. */
static void read_rows(struct pretoken_batch *b)
{
    static uint32_t many[PRETOKEN_IDS * 4 + BATCH_OVER], ids[PRETOKEN_IDS * 4 + BATCH_OVER];
    const struct pretoken_kernels *k;
    int usable;

    for (unsigned number = 0; (k = pretoken_kernels_row(number, &usable)) != NULL; number++)
        for (unsigned i = 0; usable && i < TEXTS && texts[i].length; i++) {
            b->text = texts[i].bytes;
            b->count = 1;
            b->begins[1] = texts[i].length;
            b->many = many;
            b->many_count = 0;
            k->find(&common, b);
            check_ids(&texts[i], ids, k->write(b, 0, 1, ids), k->name);
        }
}

/* All rows, over each set of the words that were written. */
static void read_lines(uint64_t *line, size_t words)
{
    static struct pretoken_batch b;
    uint64_t whole[2 * PRETOKEN_LINE], written[2 * PRETOKEN_LINE], hash = 2;
    unsigned count = 0;

    for (size_t i = 0; i < words; i++) {
        check_released(line + i);
        hash = mix(hash, line[i]);
        whole[i] = line[i];
        written[count] = i;
        count += line[i] != 0;
    }
    for (uint32_t set = keep(hash) ? 0 : 1u << count; set < 1u << count && t_failures < 10; set++) {
        for (unsigned i = 0; i < count; i++)
            line[written[i]] = set >> i & 1 ? whole[written[i]] : 0;
        read_rows(&b);
    }
    memcpy(line, whole, words * sizeof *line);
}

/* ---- All orders -------------------------------------------------------------------------------------------------- */

static uint64_t *lines;
static size_t line_words;

static void forget(void)
{
    memset(lines, 0, line_words * sizeof *lines);
    memset(heap_words, 0, sizeof heap_words);
    slot_count = 0;
    for (unsigned i = 0; i < thread_count; i++)
        begin(&threads[i], add, i);
}

/* One execution: up to a state that was met, or to the end. */
static void execute(void)
{
    executions++;
    forget();
    for (;;) {
        unsigned running[THREADS], count = 0;

        for (unsigned i = 0; i < thread_count; i++)
            if (!threads[i].ended)
                running[count++] = i;
        if (count == 0)
            break;
        step(&threads[running[count > 1 ? choose(count) : 0]]);
        if (at_depth == depth && !is_new())
            return;
    }
    read_plain();
    read_lines(lines, line_words);
}

/* A text of another one's table and line: `same`, how many of its first bytes are the other's, or of its last ones if
 * that is negative. */
static void make_text(struct text *x, uint32_t length, uint32_t count, const struct text *other, int same)
{
    for (uint32_t number = 1;; number++) {
        *x = (struct text) { .length = length, .count = count };
        for (uint32_t i = 0; i < length; i++)
            x->bytes[i] = (uint8_t)('a' + (number >> i % 4 * 4 & 15));
        if (other && same >= 0)
            memcpy(x->bytes, other->bytes, (size_t)same);
        else if (other)
            memcpy(x->bytes + length + same, other->bytes + length + same, (size_t)-same);
        for (uint32_t i = 0; i < count; i++)
            x->ids[i] = (other ? 1000 : 500) + i * 7;
        x->key = pretoken_key_ahead(x->bytes, length, 0);
        if (!other ||
            (memcmp(x->bytes, other->bytes, length) != 0 && line_of(&common, &x->key) == line_of(&common, &other->key)))
            return;
    }
}

static void try_all(const char *name)
{
    lines = line_of(&common, &texts[0].key);
    line_words = texts[0].key.table == PRETOKEN_LONG ? 2 * PRETOKEN_LINE : PRETOKEN_LINE;
    if (line_words > PRETOKEN_LINE && neighbour(lines) < lines)
        lines = neighbour(lines);
    memset(states, 0, sizeof states);
    state_count = found = executions = depth = at_depth = 0;
    do
        execute();
    while (t_failures < 10 && next_path());
    fprintf(stderr, "%s: %zu executions, %zu states, found %zu times\n", name, executions, state_count, found);
    T_CHECK(found > 0);
}

int main(void)
{
    static const struct {
        uint32_t length, few, many;
        int first, last; /* bytes that another text shares */
    } tables[] = { { 6, 2, 5, 3, -3 }, { 12, 5, 9, 8, -4 }, { 26, 10, 14, 16, -10 } };

    T_CHECK(pretoken_cache_make_common(&common, 12, &heap));
    for (unsigned t = 0; t < PRETOKEN_TABLES; t++)
        common.tables[t].shift = 63;
    for (unsigned i = 0; i < THREADS; i++) {
        T_CHECK(pretoken_cache_make(&made[i]));
        made[i].common = &common;
        made[i].stretch = (struct pretoken_stretch) { 37 + i * 137, 37 + i * 137 + 20 }; /* places unlike each other */
    }
    for (unsigned t = 0; t < PRETOKEN_TABLES; t++)
        for (unsigned many = 0; many < 2; many++)
            for (unsigned shared = 0; shared < 2; shared++)
                for (thread_count = 2; thread_count <= (t + many < 2 ? THREADS : 2); thread_count++) {
                    uint32_t count = many ? tables[t].many : tables[t].few;
                    char name[80];

                    memset(texts, 0, sizeof texts);
                    make_text(&texts[0], tables[t].length, count, NULL, 0);
                    make_text(&texts[1], tables[t].length, count, &texts[0], shared ? tables[t].last : tables[t].first);
                    text_of[0] = 0;
                    text_of[1] = thread_count == 3 ? 0 : shared;
                    text_of[2] = 1;
                    snprintf(name, sizeof name, "%u bytes, %u ids, %u threads, %s", tables[t].length, count,
                             thread_count, shared ? "the same end" : "the same beginning");
                    if (t_failures == 0)
                        try_all(name);
                }
    for (unsigned i = 0; i < THREADS; i++)
        pretoken_cache_free(&made[i]);
    pretoken_cache_free(&common);
    return t_end();
}
