/*
 * pack_scenarios.h: what test_pack_faults.c, test_pack_killed.c and test_pack_cut.c do to runs of leat_pack(),
 * leat_packer_*() and leat_merge(): a corpus, a row per kind of run, what an undisturbed run writes, and how a
 * disturbed one goes on to the same bytes. The library is built with small pieces, so that a small corpus crosses
 * units, long records and checkpoints. Each run draws the calls that it tries, most of them at the end; make
 * check-every tries all.
 */
#ifndef LEAT_TESTS_FAULTS_PACK_SCENARIOS_H
#define LEAT_TESTS_FAULTS_PACK_SCENARIOS_H

#include <zstd.h>

#include "leat_pack.h"
#include "one_text.h"
#include "own_mounts.h"
#include "small.h"
#include "support/fault.h"
#include "support/renderer.h"

#define LAST         12 /* calls at the end: finishing and removing; about a quarter of them is tried */
#define MIDDLE_TRIED 2  /* of the calls before */
#define GIVEN        40 /* texts of a program */
#define GIVEN_STEP   16
#define INPUTS       6

static const char *folder;
static char work[560], name[600], reference[600], arranged[600], given[600], merged[600], parts[2][600], old[600],
    divided[600], talked[600], lengthy[600], tabled[600], columned[600];
static char *conversations, *chat_template, *long_rows, *table;
static char from_list[600], list_word[700];
static char *inputs[INPUTS], given_text[97 * GIVEN];
static struct leat_tokenizer *tokenizer;
static struct leat_pack_report report; /* of the last run over files */
static uint64_t seed, drawn;           /* and the state of what draws calls */

static const char *const values[] = { "x", "y" };

/* ---- The corpus ---- */

static inline size_t put_record(char *to, uint64_t *random, uint64_t number, size_t bytes)
{
    static const char end[] = "\\u00e9\"}\n";
    size_t used;

    if (number % 11 == 5)
        return (size_t)snprintf(to, 64, "{\"text\": \"no end %llu\n", (unsigned long long)number);
    used = (size_t)snprintf(to, 64, "{\"v\": \"%s\", \"n\": %u, \"id\": \"d%llu\", \"text\": \"",
                            values[number % 3 == 0], (unsigned)number, (unsigned long long)number);
    for (size_t i = 0; i < bytes; i++)
        to[used++] = (char)('a' + t_below(random, 4));
    memcpy(to + used, end, sizeof end - 1);
    return used + sizeof end - 1;
}

static inline size_t make_lines(char *to, size_t room, uint64_t *random)
{
    size_t used = 0;

    for (uint64_t i = 0; used + 25000 < room; i++)
        used += put_record(to + used, random, i, i == 9 || i == 20 ? 20000 : t_below(random, 900));
    return used;
}

/* Of a table: a text in quotes, of two lines with a quote in it; or one without; or a record with a field too many, or
 * with a letter after its closing quote. */
static inline size_t put_table_record(char *to, uint64_t *random, uint64_t number, size_t bytes)
{
    static const char *const ends[] = { "\n\"\"\"\n", "\"\r\n", "\",more\n", "\"b\n" };
    const char *end = ends[number % 11 == 5 ? 2 : number % 13 == 7 ? 3 : number % 2];
    size_t used = (size_t)snprintf(to, 64, "d%llu,\"", (unsigned long long)number);

    for (size_t i = 0; i < bytes; i++)
        to[used++] = "ab,\n"[t_below(random, 4)];
    memcpy(to + used, end, strlen(end));
    return used + strlen(end);
}

static inline size_t make_table(char *to, size_t room, uint64_t *random)
{
    size_t used = (size_t)snprintf(to, room, "id,text\n");

    for (uint64_t i = 0; used + 25000 < room; i++)
        used += put_table_record(to + used, random, i, i == 9 || i == 20 ? 20000 : t_below(random, 900));
    return used;
}

static inline char *put_input(const char *file, const void *bytes, size_t size)
{
    char *path = strdup(t_path(folder, file));

    t_write(path, bytes, size);
    return path;
}

static inline size_t read_file(const char *path, char *to, size_t room)
{
    FILE *f = fopen(path, "rb");
    size_t size = f ? fread(to, 1, room, f) : 0;

    T_CHECK(f && size > 0 && size < room);
    if (f)
        fclose(f);
    return size;
}

static inline void make_corpus(void)
{
    static const char rendering[] = "{% for m in messages %}{{ m.role + '\n' + m['content'] }}{% endfor %}";
    static char text[260000], packed[200000];
    uint64_t random = seed;
    size_t size = make_lines(text, 110000, &random), packed_size;

    inputs[0] = put_input("a.jsonl", text, size);
    inputs[1] = put_input("b.txt", text, 300);
    size = make_lines(text, 70000, &random);
    packed_size = ZSTD_compress(packed, sizeof packed, text, size / 2, 1);
    packed_size +=
        ZSTD_compress(packed + packed_size, sizeof packed - packed_size, text + size / 2, size - size / 2, 1);
    inputs[2] = put_input("c.jsonl.zst", packed, packed_size);
    inputs[3] = put_input("d.txt", text, 30000);
    inputs[4] = put_input("e.txt", text, 0);
    packed_size = read_file("tests/parquet/files/many.parquet", packed, sizeof packed);
    inputs[5] = put_input("f.parquet", packed, packed_size);
    packed_size = read_file("tests/parquet/files/chat.parquet", packed, sizeof packed);
    conversations = put_input("chat.parquet", packed, packed_size);
    packed_size = read_file("tests/parquet/files/long.parquet", packed, sizeof packed);
    long_rows = put_input("long.parquet", packed, packed_size);
    size = make_table(text, sizeof text, &random);
    packed_size = ZSTD_compress(packed, sizeof packed, text, size, 1);
    table = put_input("table.csv.zst", packed, packed_size);
    chat_template = put_input("chat.jinja", rendering, sizeof rendering - 1);
}

/* A list that names a folder: with a link in it, one that leads out of it, and a folder behind a link. */
static inline void make_list(void)
{
    static const char line[] = "{\"text\": \"found\"}\n";
    const char *in = t_path(folder, "in");

    make_folder(in);
    make_folder(t_path(folder, "in/sub"));
    t_write(t_path(folder, "in/a.jsonl"), line, sizeof line - 1);
    t_write(t_path(folder, "in/sub/b.jsonl"), line, sizeof line - 1);
    T_EQ(symlink("a.jsonl", t_path(folder, "in/link.jsonl")), 0);
    T_EQ(symlink("../b.txt", t_path(folder, "in/out.txt")), 0);
    T_EQ(symlink("sub", t_path(folder, "in/too")), 0);
    t_write(t_path(folder, "list"), "# of folders\nin\n", 16);
    snprintf(list_word, sizeof list_word, "@%s", t_path(folder, "list"));
}

/* ---- Runs ---- */

enum by { BY_FILES, BY_LIST, BY_PACKER, BY_MERGE, BY_VALUES, BY_CHAT, BY_LONG, BY_TABLE, BY_COLUMNS };

struct scenario {
    const char *what;
    bool replaces;
    bool arranges; /* shuffles, deduplicates and splits: a second pass */
    bool stops;    /* for too many rejects, and goes on */
    unsigned threads;
    enum by by;
};

static const struct scenario scenarios[] = {
    { "pack", false, false, false, 1, BY_FILES },
    { "replace", true, false, false, 1, BY_FILES },
    { "stop for rejects, resume", false, false, true, 1, BY_FILES },
    { "pack by two threads", false, false, false, 2, BY_FILES },
    { "arrange", false, true, false, 1, BY_FILES },
    { "a list, a folder and links", false, false, false, 1, BY_LIST },
    { "a program's texts", false, false, false, 1, BY_PACKER },
    { "merge", true, false, false, 1, BY_MERGE },
    { "divide by values", false, false, false, 1, BY_VALUES },
    { "conversations", false, false, false, 1, BY_CHAT },
    { "long texts in Parquet", false, false, false, 1, BY_LONG },
    { "a table in text", false, false, false, 1, BY_TABLE },
    { "columns", false, false, false, 1, BY_COLUMNS },
    { "replace with columns", true, false, false, 1, BY_COLUMNS },
};

static const struct leat_split splits[] = { { "v", "0.25" }, { "w", "0.25" } };

static inline enum leat_status pack_to(const char *output, const struct scenario *s, bool resume, uint64_t max_rejects,
                                       struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = s->threads;
    o.memory = UINT64_C(4) << 30; /* a sanitizer takes much of it */
    o.max_rejects = max_rejects;
    o.force = s->replaces;
    o.resume = resume;
    o.shuffle = o.dedup = s->arranges;
    o.splits = splits;
    o.split_count = s->arranges ? 2 : 0;
    report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    o.by = s->by == BY_VALUES ? "v" : NULL;
    o.chat = s->by == BY_CHAT ? chat_template : NULL;
    o.renderers = &stand_in_renderers;
    if (s->by == BY_CHAT)
        return leat_pack(output, (const char *const[]) { conversations }, 1, &o, &report, err);
    if (s->by == BY_LONG)
        return leat_pack(output, (const char *const[]) { long_rows }, 1, &o, &report, err);
    o.column = (const char *const[]) { "v:category:document", "n:u32:document" };
    o.column_count = s->by == BY_COLUMNS ? 2 : 0;
    if (s->by == BY_COLUMNS)
        return leat_pack(output, (const char *const[]) { inputs[2] }, 1, &o, &report, err);
    if (s->by == BY_TABLE)
        return leat_pack(output, (const char *const[]) { table }, 1, &o, &report, err);
    if (s->by == BY_VALUES)
        return leat_pack(output, (const char *const[]) { inputs[2] }, 1, &o, &report, err);
    if (s->by == BY_LIST)
        return leat_pack(output, (const char *const[]) { list_word }, 1, &o, &report, err);
    return leat_pack(output, (const char *const *)inputs, INPUTS, &o, &report, err);
}

/* Texts, one of them refused, and ids; a checkpoint behind each GIVEN_STEP of them, whose note is how many there
 * were. */
static inline enum leat_status give_each(struct leat_packer *p, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    const void *note;
    uint64_t bytes, i = 0;

    leat_packer_note(p, &note, &bytes);
    if (bytes == sizeof i)
        memcpy(&i, note, sizeof i);
    else
        s = leat_packer_add_input(p, "somewhere", NULL, err);
    for (; s == LEAT_OK && i < GIVEN; i++) {
        struct leat_origin origin = { .input = 0, .offset = i, .line = LEAT_NONE, .id = "x", .id_bytes = 1 };
        uint32_t ids[3] = { (uint32_t)i, 7, 9 };

        if (i > 0 && i % GIVEN_STEP == 0)
            s = leat_packer_checkpoint(p, &i, sizeof i, err);
        if (s == LEAT_OK && i % 7 == 3)
            s = add_one_of_ids(p, ids, NULL, 3, &origin, err);
        else if (s == LEAT_OK)
            s = add_one_text(p, i == 20 ? "\xff" : given_text, i == 20 ? 1 : 97 * i, NULL, 0, &origin, err);
    }
    return s;
}

static inline enum leat_status give_to(const char *output, bool resume, struct leat_error *err)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_packer *p;
    enum leat_status s;

    o.tokenizer = tokenizer;
    o.end_token = 256;
    o.threads = 1;
    o.memory = UINT64_C(4) << 30;
    o.max_rejects = LEAT_NONE;
    o.reject_invalid = 1;
    o.resume = resume;
    s = leat_packer_open(&p, output, &o, err);
    if (s != LEAT_OK)
        return s;
    s = give_each(p, err);
    if (s == LEAT_OK)
        s = leat_packer_finish(p, NULL, err);
    if (s != LEAT_OK)
        leat_packer_suspend(p);
    return s;
}

/* Parts of one run, cut within the first of two inputs: a merge goes a few bytes at a time. */
static inline void make_parts(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

        o.tokenizer = tokenizer;
        o.end_token = 256;
        o.threads = 1;
        o.part = i + 1;
        o.parts = 2;
        T_OK(leat_pack(parts[i], (const char *const *)inputs, 2, &o, NULL, &t_err));
    }
}

static inline enum leat_status merge_to(const char *output, bool replaces, struct leat_error *err)
{
    const char *names[] = { parts[0], parts[1] };
    struct leat_merge_options o = LEAT_MERGE_OPTIONS_INIT;

    o.force = replaces;
    return leat_merge(output, names, 2, &o, NULL, err);
}

static inline enum leat_status run(const struct scenario *s, struct leat_error *err)
{
    enum leat_status status;

    if (s->by == BY_PACKER)
        return give_to(name, false, err);
    if (s->by == BY_MERGE)
        return merge_to(name, s->replaces, err);
    status = pack_to(name, s, false, s->stops ? 3 : LEAT_NONE, err);
    return s->stops && status == LEAT_E_REJECTS ? pack_to(name, s, true, LEAT_NONE, err) : status;
}

static inline void prepare(const struct scenario *s)
{
    clear_folder(work);
    if (s->replaces)
        copy_dataset(old, name);
}

/* What a run that is not disturbed writes. */
static inline const char *undisturbed(const struct scenario *s)
{
    switch (s->by) {
    case BY_LIST:
        return from_list;
    case BY_PACKER:
        return given;
    case BY_MERGE:
        return merged;
    case BY_CHAT:
        return talked;
    case BY_LONG:
        return lengthy;
    case BY_TABLE:
        return tabled;
    case BY_COLUMNS:
        return columned;
    default:
        return s->arranges ? arranged : reference;
    }
}

static const char *const column_files[] = { ".n.column", ".n.column-index", ".v.column", ".v.column-index" };

/* The columns are those of an undisturbed run. */
static inline bool same_columns(void)
{
    bool same = true;

    for (unsigned i = 0; i < 4; i++)
        same = same && same_file(with(name, column_files[i]), with(columned, column_files[i]));
    return same;
}

/* The dataset of a value, and that of an undisturbed run. */
static inline bool same_value(const char *value)
{
    const char *made = t_text("%s.%s", name, value);

    return same_dataset(made, t_text("%s.%s", divided, value));
}

static inline bool whole(const struct scenario *s)
{
    static char split[2][640];

    if (s->by == BY_VALUES)
        return same_value("x") && same_value("y");

    if (s->by == BY_COLUMNS && !same_columns())
        return false;
    if (!s->arranges)
        return same_dataset(name, undisturbed(s));
    for (unsigned i = 0; i < 2; i++) {
        snprintf(split[0], sizeof split[0], "%s.%s", name, splits[i].name);
        snprintf(split[1], sizeof split[1], "%s.%s", arranged, splits[i].name);
        if (!same_dataset(split[0], split[1]))
            return false;
    }
    return same_dataset(name, arranged);
}

static inline bool opens(void)
{
    return access(with(name, ".leat"), F_OK) == 0;
}

/* Neither before nor after going on is there a dataset that is not the old or the new one. */
static inline void check_opens(const struct scenario *s)
{
    for (unsigned i = 0; s->by == BY_VALUES && i < 2; i++) {
        T_CHECK(access(t_text("%s.%s.leat", name, values[i]), F_OK) != 0 || same_value(values[i]));
    }
    if (opens() && !s->arranges)
        T_CHECK(whole(s) || (s->replaces && same_dataset(name, old)));
}

/* What a run left that has failed or was killed, to its end. */
static inline void go_on(const struct scenario *s)
{
    enum leat_status status;

    if (s->by == BY_MERGE) {
        T_OK(merge_to(name, true, &t_err));
        T_CHECK(whole(s));
        T_STR(listing(work), "d.leat d.tokens");
        return;
    }
    if (s->by == BY_PACKER) {
        status = give_to(name, true, &t_err);
        T_CHECK(status == LEAT_OK || status == LEAT_E_EXISTS); /* there was nothing left to do */
        T_CHECK(whole(s));
        T_CHECK(same_file(with(name, ".rejects.jsonl"), with(given, ".rejects.jsonl")));
        T_STR(listing(work), "d.leat d.rejects.jsonl d.tokens");
        return;
    }
    T_OK(pack_to(name, s, true, LEAT_NONE, &t_err));
    T_CHECK(whole(s));
    if (s->by == BY_LIST) {
        T_EQ(report.skipped, 1);
        T_STR(listing(work), "d.leat d.tokens");
        return;
    }
    if (s->by == BY_VALUES) {
        T_STR(listing(work), "d.rejects.jsonl d.x.leat d.x.tokens d.y.leat d.y.tokens");
        return;
    }
    if (s->by == BY_COLUMNS) {
        T_STR(listing(work), "d.leat d.n.column d.n.column-index d.rejects.jsonl d.tokens d.v.column d.v.column-index");
        return;
    }
    T_CHECK(same_file(with(name, ".rejects.jsonl"), with(s->arranges ? reference : undisturbed(s), ".rejects.jsonl")));
    T_STR(listing(work), s->arranges ? "d.leat d.rejects.jsonl d.tokens d.v.leat d.v.tokens d.w.leat d.w.tokens"
                                     : "d.leat d.rejects.jsonl d.tokens");
}

/* Which calls are tried. */
static inline uint64_t next_call(uint64_t n, uint64_t calls)
{
    uint64_t last = calls > LAST ? calls - LAST : 1;

    if (t_every())
        return n + 1;
    if (n >= last)
        return n + 1 + t_below(&drawn, 7);
    n += 1 + t_below(&drawn, 2 * last / MIDDLE_TRIED);
    return n < last ? n : last + t_below(&drawn, 3);
}

static inline uint64_t calls_of(const struct scenario *s, enum fault_kind kind)
{
    uint64_t calls;

    prepare(s);
    fault_arm(kind, FAULT_COUNT, 1, EIO);
    T_OK(run(s, &t_err));
    calls = fault_disarm();
    fprintf(stderr, "%s: %" PRIu64 " %s\n", s->what, calls, kind == FAULT_MEMORY ? "allocations" : "system calls");
    T_CHECK(whole(s));
    return calls;
}

/* ---- All of them ---- */

static inline void make_scenarios(void)
{
    char *first;

    seed = t_seed();
    drawn = t_draw();
    folder = memory_folder();
    snprintf(work, sizeof work, "%s/work", folder);
    make_folder(work);
    snprintf(name, sizeof name, "%s/d", work);
    snprintf(reference, sizeof reference, "%s/reference", folder);
    snprintf(arranged, sizeof arranged, "%s/arranged", folder);
    snprintf(given, sizeof given, "%s/given", folder);
    snprintf(merged, sizeof merged, "%s/merged", folder);
    snprintf(old, sizeof old, "%s/old", folder);
    snprintf(divided, sizeof divided, "%s/divided", folder);
    snprintf(talked, sizeof talked, "%s/talked", folder);
    snprintf(tabled, sizeof tabled, "%s/tabled", folder);
    snprintf(columned, sizeof columned, "%s/columned", folder);
    snprintf(lengthy, sizeof lengthy, "%s/lengthy", folder);
    snprintf(from_list, sizeof from_list, "%s/from-list", folder);
    make_corpus();
    make_list();
    T_OK(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err));
    T_OK(pack_to(reference, &scenarios[0], false, LEAT_NONE, &t_err));
    T_OK(pack_to(arranged, &scenarios[4], false, LEAT_NONE, &t_err));
    T_OK(pack_to(from_list, &scenarios[5], false, LEAT_NONE, &t_err));
    T_EQ(report.inputs, 4);
    T_EQ(report.skipped, 1);
    T_OK(pack_to(divided, &scenarios[8], false, LEAT_NONE, &t_err));
    T_EQ(report.values, 2);
    T_OK(pack_to(talked, &scenarios[9], false, LEAT_NONE, &t_err));
    T_OK(pack_to(lengthy, &scenarios[10], false, LEAT_NONE, &t_err));
    T_EQ(report.documents, 4);
    T_OK(pack_to(tabled, &scenarios[11], false, LEAT_NONE, &t_err));
    T_CHECK(report.documents > 200 && report.rejects > 10);
    T_OK(pack_to(columned, &scenarios[12], false, LEAT_NONE, &t_err));
    memset(given_text, 'g', sizeof given_text);
    T_OK(give_to(given, false, &t_err));
    snprintf(parts[0], sizeof parts[0], "%s/part1", folder);
    snprintf(parts[1], sizeof parts[1], "%s/part2", folder);
    make_parts();
    T_OK(merge_to(merged, false, &t_err));
    first = inputs[0];
    inputs[0] = inputs[1];
    T_OK(pack_to(old, &scenarios[0], false, LEAT_NONE, &t_err));
    inputs[0] = first;
}

/* Calls `try` with each scenario, or only with the one of this name. */
static inline void try_scenarios(const char *only, void (*try)(const struct scenario *))
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++)
        if (!only || strcmp(only, scenarios[i].what) == 0)
            try(&scenarios[i]);
    leat_tokenizer_close(tokenizer);
    free(conversations);
    free(long_rows);
    free(table);
    free(chat_template);
    for (unsigned i = 0; i < INPUTS; i++)
        free(inputs[i]);
}

#endif
