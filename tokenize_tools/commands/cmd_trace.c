/*
 * cmd_trace.c: `leat trace`: shows which documents a step or a range of samples saw, and which samples show a document.
 *
 * From samples to documents: a step becomes a range of positions, after the rows of all steps before it by the schedule
 * of --batch, and with --rank only that rank's rows. The plan gives the sample at each position, its pieces, and the
 * documents between their tokens. From a document to samples: leat_plan_trace() finds them source by source, in
 * no particular order, so they are collected and sorted, a stretch of numbers at a time: there may be more of them than
 * memory holds. Either way a document counts where its tokens are inputs. The plan and the index are enough for both:
 * no tokens are read.
 *
 * --ban keeps the documents that it shows, and adds them to a file of bans: what stands there is read first, and the
 * file replaced as a whole.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json.h"
#include "base/own_file.h"
#include "base/status.h"
#include "cli/plan_options.h"
#include "cli/units.h"
#include "commands.h"

#define AT_ONCE    256u
#define FOUND_ROOM ((size_t)1 << 18) /* number of samples showing a document that are in memory at once */

struct trace_values {
    struct plan_options plan; /* this comes first, since offsets of its rows count from here */
    uint64_t step, until;     /* LEAT_NONE: not given */
    uint64_t rank, world;     /* the same */
    uint64_t ban_start;       /* the same */
    const char *batch, *samples, *document, *rows, *ban;
    unsigned balance; /* enum leat_balance */
    bool json;
};

const struct option_row trace_options[] = {
    { .name = "step",
      .type = OPTION_COUNT,
      .field = offsetof(struct trace_values, step),
      .value = "N",
      .help = "the documents in global batch N (counted from 0); needs --batch",
      .needs = "batch",
      .max = LEAT_MAX_SAMPLES - 1 },
    { .name = "batch",
      .type = OPTION_TEXT,
      .field = offsetof(struct trace_values, batch),
      .value = "B[,B@STEP...]",
      .help = "rows of a global batch; if it changed, with the steps: 256,512@10000" },
    COMMANDS_RANKS(struct trace_values, "step", "show only this rank's rows (needs --world)"),
    COMMANDS_DEALT(struct trace_values),
    { .name = "samples",
      .type = OPTION_TEXT,
      .field = offsetof(struct trace_values, samples),
      .value = "A:B",
      .help = "the documents in samples A to B - 1",
      .excludes = "step",
      .more = "The number of samples that the order megatron needs is in the text of a plan (--plan)." },
    { .name = "document",
      .type = OPTION_TEXT,
      .field = offsetof(struct trace_values, document),
      .value = "NAME:N",
      .help = "the samples that show document N of the source NAME",
      .excludes = "step|samples",
      .more = "NAME may be the position of the source. --until or --epochs is needed; --epochs is the number of epochs "
              "to search." },
    { .name = "until",
      .type = OPTION_COUNT,
      .field = offsetof(struct trace_values, until),
      .value = "N",
      .help = "only samples below N",
      .needs = "document",
      .max = LEAT_MAX_SAMPLES },
    { .name = "ban",
      .type = OPTION_TEXT,
      .field = offsetof(struct trace_values, ban),
      .value = "FILE",
      .help = "add these documents to FILE, for --bans: no loss from this step on",
      .needs = "step|samples",
      .more = "FILE is made if it is not there; what it holds stays. The bans start at the step's first sample, or at "
              "--ban-start. A run that resumes at that sample or before it takes them.",
      .path = true },
    { .name = "ban-start",
      .type = OPTION_COUNT,
      .field = offsetof(struct trace_values, ban_start),
      .value = "N",
      .help = "the sample from which on --ban takes the loss",
      .needs = "ban",
      .rare = true,
      .max = LEAT_MAX_SAMPLES - 1 },
    OPTIONS_JSON(struct trace_values, "print one JSON object per line"),
    PLAN_OPTION_ROWS,
    CACHE_OPTION_ROWS,
    OPTIONS_END,
};

/* Documents to ban. */
struct banned {
    uint64_t source, document;
};

/* The state of printing: lines below a heading, or objects. */
struct lines {
    const struct leat_plan *plan;
    bool json, headed;
    bool bans; /* true if what is printed is also kept, in the members below */
    struct banned *items;
    size_t count, room;
};

/* Prints the heading above the first line. */
static void put_heading(struct lines *l, const char *heading)
{
    if (!l->headed && !l->json)
        puts(heading);
    l->headed = true;
}

/* ---- From samples to documents ---- */

/* A document, and the tokens of it that a stretch of a sample's row shows as inputs. */
struct shown {
    const struct leat_dataset *dataset;
    const struct leat_sample *sample;
    const struct leat_stretch *stretch;
    uint64_t document, first, count; /* first: number of the first such token in the document */
    bool banned;                     /* in this sample */
    struct commands_origin origin;
};

static enum leat_status describe(struct shown *x, struct leat_error *err)
{
    uint64_t begin, count, from = x->stretch->token, to = from + x->stretch->inputs;
    enum leat_status s = leat_dataset_document(x->dataset, x->document, &begin, &count, err);

    if (s != LEAT_OK)
        return s;
    x->first = from > begin ? from - begin : 0;
    x->count = (to < begin + count ? to - begin : count) - x->first;
    return commands_origin(x->dataset, x->document, &x->origin, err);
}

static void print_shown_json(const struct shown *x)
{
    struct json j;

    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "n", x->sample->number);
    json_u64(&j, "source", x->stretch->source);
    json_u64(&j, "document", x->document);
    json_u64(&j, "first", x->first);
    json_u64(&j, "tokens", x->count);
    if (x->origin.path)
        json_bytes(&j, "input", x->origin.path, (size_t)x->origin.path_bytes);
    else
        json_null(&j, "input");
    json_u64_or_null(&j, "offset", x->origin.path ? x->origin.at.offset : LEAT_NONE);
    json_u64_or_null(&j, "line", x->origin.at.line);
    if (x->origin.table && x->origin.at.line != LEAT_NONE) {
        json_u64(&j, "row", x->origin.at.offset);
        json_u64(&j, "row_group", x->origin.at.line - 1);
    }
    if (x->origin.id)
        json_bytes(&j, "id", x->origin.id, (size_t)x->origin.id_bytes);
    else
        json_null(&j, "id");
    json_bool(&j, "banned", x->banned);
    json_close_object(&j);
    json_end(&j);
}

static void print_shown(const struct shown *x)
{
    char tokens[48];

    snprintf(tokens, sizeof tokens, "%" PRIu64 ":%" PRIu64, x->first, x->first + x->count);
    printf("%12" PRIu64 " %6" PRIu32 " %12" PRIu64 " %19s ", x->sample->number, x->stretch->source, x->document,
           tokens);
    if (x->origin.path) {
        cli_put(x->origin.path, x->origin.path_bytes);
        printf(":%" PRIu64, x->origin.at.offset);
    } else {
        printf("-");
    }
    if (x->origin.id) {
        printf(" ");
        cli_put(x->origin.id, x->origin.id_bytes);
    }
    printf("%s\n", x->banned ? " (banned)" : "");
}

/* Prints the documents that a stretch shows. */
static enum leat_status print_stretch(struct lines *l, const struct leat_sample *sample,
                                      const struct leat_stretch *stretch, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    enum leat_status s = leat_plan_source_info(l->plan, stretch->source, &source, err);
    uint64_t first, count = 0;

    if (s == LEAT_OK && stretch->inputs > 0)
        s = leat_dataset_documents_in(source.dataset, stretch->token, stretch->inputs, &first, &count, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count && !cli_stdout_failed(); i++) {
        struct shown x = { .dataset = source.dataset, .sample = sample, .stretch = stretch, .document = first + i };

        x.banned = leat_plan_banned(l->plan, stretch->source, x.document, sample->number);
        s = describe(&x, err);
        if (s == LEAT_OK && x.count > 0) { /* empty documents between others are not shown */
            put_heading(l, "      sample source     document              tokens input:byte id");
            l->json ? print_shown_json(&x) : print_shown(&x);
            if (l->bans)
                s = GROW(l->items, l->count + 1, l->room, err);
            if (l->bans && s == LEAT_OK)
                l->items[l->count++] = (struct banned) { stretch->source, x.document };
        }
        commands_origin_free(&x.origin);
    }
    return s;
}

static enum leat_status print_documents(struct lines *l, const struct leat_sample *sample, struct leat_error *err)
{
    struct leat_stretch *row;
    uint64_t count = 0;
    enum leat_status s = commands_row(l->plan, sample, &row, &count, err);

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        if (!row[i].literal)
            s = print_stretch(l, sample, &row[i], err);
    free(row);
    return s;
}

/* Shows positions [position, end), up to samples numbered below `until`. */
static enum leat_status print_positions(struct lines *lines, uint64_t position, uint64_t end, uint64_t until,
                                        struct leat_error *err)
{
    struct leat_sample samples[AT_ONCE];
    enum leat_status s = LEAT_OK;
    uint64_t got = 1;

    for (; s == LEAT_OK && position < end && got > 0 && !cli_stdout_failed(); position += got) {
        s = leat_plan_samples(lines->plan, position, end - position < AT_ONCE ? end - position : AT_ONCE, samples, &got,
                              err);
        for (uint64_t i = 0; s == LEAT_OK && i < got; i++) {
            if (samples[i].number >= until)
                return LEAT_OK;
            s = print_documents(lines, &samples[i], err);
        }
    }
    return s;
}

/* Shows rows [first, end) of those that a rank was dealt of the global batch at a position. */
static enum leat_status print_dealt(struct lines *l, const struct trace_values *v, uint64_t position, uint64_t batch,
                                    uint64_t first, uint64_t end, struct leat_error *err)
{
    uint32_t *ranks = calloc(batch, sizeof *ranks);
    enum leat_status s = ranks ? leat_plan_deal(l->plan, v->balance, position, batch, v->world, ranks, NULL, err)
                               : status_no_memory(err, batch * sizeof *ranks);
    uint64_t row = 0;

    for (uint64_t i = 0; s == LEAT_OK && i < batch; i++) {
        if (ranks[i] != v->rank)
            continue;
        if (row >= first && row < end)
            s = print_positions(l, position + i, position + i + 1, LEAT_NONE, err);
        row++;
    }
    free(ranks);
    return s;
}

/* ---- Bans ---- */

static int compare_banned(const void *a, const void *b)
{
    const struct banned *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return x->document < y->document ? -1 : x->document > y->document;
}

#define BAN_LINE 100 /* bytes after which a line of bans ends */

/* Writes the documents as lines of a plan's text, without repeating any. */
static void put_bans(struct lines *l, uint64_t start, FILE *out)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    long begin = 0;

    if (l->count > 0)
        qsort(l->items, l->count, sizeof *l->items, compare_banned);
    for (size_t i = 0, next; i < l->count; i = next) {
        const struct banned *b = &l->items[i], *last = b;

        for (next = i + 1;
             next < l->count && l->items[next].source == b->source && l->items[next].document <= last->document + 1;)
            last = &l->items[next++];
        if (i == 0 || b->source != b[-1].source || ftell(out) - begin > BAN_LINE) {
            leat_plan_source_info(l->plan, b->source, &source, NULL); /* this cannot fail, since the plan showed it */
            if (i > 0)
                fputc('\n', out);
            begin = ftell(out);
            fprintf(out, "ban %" PRIu64 ":%s:", start, source.name);
        } else {
            fputc(',', out);
        }
        fprintf(out, "%" PRIu64, b->document);
        if (last->document > b->document)
            fprintf(out, "-%" PRIu64, last->document);
    }
    if (l->count > 0)
        fputc('\n', out);
}

/* Reads the old file of bans. */
static enum leat_status read_bans(const char *path, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = plan_options_read_bans(path, text, bytes, err);

    return s == LEAT_E_NO_FILE ? LEAT_OK : s;
}

/* Replaces the file of bans: its old text, and the documents after it. */
static enum leat_status add_bans(struct lines *l, const char *before, size_t bytes, const char *path, uint64_t start,
                                 struct leat_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    enum leat_status s;

    if (out) {
        fwrite(before ? before : "", 1, bytes, out);
        if (bytes > 0 && before[bytes - 1] != '\n')
            fputc('\n', out);
        put_bans(l, start, out);
    }
    s = out && fclose(out) == 0 ? own_file_replace(path, text, length, err) : status_no_memory(err, bytes);
    free(text);
    return s;
}

/* ---- From a document to samples ---- */

/* The samples of one stretch of numbers. */
struct found {
    struct leat_sample *samples; /* room for FOUND_ROOM */
    size_t count;
    bool full; /* there were more */
};

static uint32_t add_found(void *context, const struct leat_sample *sample)
{
    struct found *f = context;

    f->full = f->count == FOUND_ROOM;
    if (!f->full)
        f->samples[f->count++] = *sample;
    return f->full;
}

static int compare_numbers(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    return x->number < y->number ? -1 : x->number > y->number;
}

static void print_found(struct lines *l, const struct leat_sample *x, uint64_t position)
{
    struct json j;

    put_heading(l, "      sample source       window  epoch     position");
    if (!l->json) {
        printf("%12" PRIu64 " %6" PRIu32 " %12" PRIu64 " %6" PRIu64 " %12" PRIu64 "\n", x->number, x->source, x->window,
               x->epoch, position);
        return;
    }
    json_begin(&j, stdout);
    json_open_object(&j, NULL);
    json_u64(&j, "n", x->number);
    json_u64(&j, "source", x->source);
    json_u64(&j, "window", x->window);
    json_u64(&j, "epoch", x->epoch);
    json_u64(&j, "position", position);
    json_close_object(&j);
    json_end(&j);
}

/* The tokens that are searched for: a document's tokens in each of some sources, all of which have the same name. */
struct wanted {
    uint64_t source, first, count;
};
struct search {
    const struct leat_plan *plan;
    const struct trace_values *values;
    struct wanted *wanted;
    size_t count;
};

static enum leat_status add_wanted(struct search *s, uint64_t source, uint64_t document, struct leat_error *err)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;
    struct wanted *w = &s->wanted[s->count];
    enum leat_status status = leat_plan_source_info(s->plan, source, &info, err);

    w->source = source;
    if (status == LEAT_OK)
        status = leat_dataset_document(info.dataset, document, &w->first, &w->count, err);
    s->count += status == LEAT_OK && w->count > 0;
    return status;
}

/* Finds the samples [from, until) that show the document, sorted, as far as there is room. */
static enum leat_status find_stretch(const struct search *s, uint64_t from, uint64_t until, struct found *f,
                                     struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    f->count = 0;
    f->full = false;
    for (size_t i = 0; status == LEAT_OK && i < s->count && !f->full; i++)
        status =
            leat_plan_trace(s->plan,
                            &(struct leat_trace) { sizeof(struct leat_trace), s->wanted[i].source, s->wanted[i].first,
                                                   s->wanted[i].count, s->values->plan.epochs, from, until },
                            add_found, f, err);
    qsort(f->samples, f->count, sizeof *f->samples, compare_numbers);
    return status;
}

/* Prints samples below `until`, stretch by stretch. Stretches are shorter where one has too many samples, and longer
 * where it has few. A stretch of one number always has room: each of at most 65,536 sources has one sample of it. */
static enum leat_status print_samples(const struct search *s, uint64_t until, struct leat_error *err)
{
    struct lines lines = { .plan = s->plan, .json = s->values->json };
    struct found f = { .samples = malloc(FOUND_ROOM * sizeof *f.samples) };
    uint64_t from = 0, length = FOUND_ROOM;
    enum leat_status status = f.samples ? LEAT_OK : status_no_memory(err, FOUND_ROOM * sizeof *f.samples);

    while (status == LEAT_OK && s->count > 0 && from < until && !cli_stdout_failed()) {
        length = length < until - from ? length : until - from;
        status = find_stretch(s, from, from + length, &f, err);
        if (f.full) {
            length /= 2;
            continue;
        }
        for (size_t i = 0; status == LEAT_OK && i < f.count; i++) {
            uint32_t skipped;
            uint64_t position = leat_plan_position(s->plan, f.samples[i].number, &skipped);

            if (!skipped)
                print_found(&lines, &f.samples[i], position);
        }
        from += length;
        length = f.count < FOUND_ROOM / 4 ? 2 * length : length;
    }
    free(f.samples);
    return status;
}

/* Adds document N of the sources with this name, or else of the source with this number. Returns LEAT_E_ARGUMENT if
 * there is none. */
static enum leat_status find_sources(struct search *s, const char *name, uint64_t document, struct leat_error *err)
{
    struct options_nearest near = { .word = name };
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    enum leat_status status = LEAT_OK;
    uint64_t number;
    const char *why;
    bool found = false;

    leat_plan_info(s->plan, &info);
    for (uint64_t i = 0; status == LEAT_OK && i < info.sources; i++) {
        struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;

        leat_plan_source_info(s->plan, i, &source, NULL);
        options_nearest_try(&near, source.name);
        if (strcmp(source.name, name) != 0)
            continue;
        found = true;
        status = add_wanted(s, i, document, err);
    }
    if (found)
        return status;
    if (!units_parse(name, false, &number, &why) || number >= info.sources)
        return status_set(err, LEAT_E_ARGUMENT, "--document: the plan has no source called \"%.300s\"%s", name,
                          options_nearest_advice(&near, "").text);
    return add_wanted(s, number, document, err);
}

static int trace_document(const struct command *self, const struct leat_plan *plan, const struct trace_values *v)
{
    const char *colon = strrchr(v->document, ':'), *why;
    size_t length = colon ? (size_t)(colon - v->document) : 0;
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct search search = { .plan = plan, .values = v };
    uint64_t document, until;
    enum leat_status s;
    struct leat_error err;
    char *name;

    if (length == 0 || !units_parse(colon + 1, false, &document, &why))
        return command_wrong(self, "--document: \"%.200s\" is not NAME:N", v->document);
    leat_plan_info(plan, &info);
    if (info.samples == LEAT_NONE && v->plan.epochs == LEAT_NONE && v->until == LEAT_NONE)
        return command_wrong(self, "the plan has no end: --document needs --epochs or --until");
    search.wanted = calloc(info.sources, sizeof *search.wanted);
    name = strndup(v->document, length);
    s = search.wanted && name ? LEAT_OK : status_no_memory(&err, info.sources * sizeof *search.wanted + length);
    if (s == LEAT_OK)
        s = find_sources(&search, name, document, &err);
    until = v->until < LEAT_MAX_SAMPLES ? v->until : LEAT_MAX_SAMPLES;
    if (s == LEAT_OK)
        s = print_samples(&search, until, &err);
    free(search.wanted);
    free(name);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
}

/* ---- The command ---- */

/* Finds the positions of a step that belong to --rank. */
static bool rank_positions(const struct command *self, const struct trace_values *v, uint64_t *first, uint64_t *end)
{
    uint64_t row, rows;
    struct leat_error err;

    if (v->rank == LEAT_NONE)
        return true;
    if (leat_plan_rank_rows(*end - *first, v->rank, v->world, &row, &rows, &err) != LEAT_OK) {
        command_wrong(self, "--rank: %s", err.message);
        return false;
    }
    *first += row;
    *end = *first + rows;
    return true;
}

/* Prints the positions that --row names of these. */
static bool row_positions(const struct command *self, const struct trace_values *v, uint64_t *first, uint64_t *end)
{
    uint64_t from, to;
    const char *why;

    if (!v->rows)
        return true;
    if (!units_parse_range(v->rows, &from, &to, NULL, &why)) {
        command_wrong(self, "--row: \"%.100s\" %s", v->rows, why);
        return false;
    }
    to = to == LEAT_NONE ? *end - *first : to;
    if (from >= to || to > *end - *first) {
        command_wrong(self, "--row: there are %" PRIu64 " rows, numbered from 0", *end - *first);
        return false;
    }
    *end = *first + to;
    *first += from;
    return true;
}

static bool check_values(const struct command *self, const struct trace_values *v)
{
    bool given = v->step != LEAT_NONE || v->samples || v->document;

    return plan_options_complete(self, given ? "" : "--step N, --samples A:B or --document NAME:N", &v->plan);
}

static int trace_samples(const struct command *self, const struct leat_plan *plan, const struct trace_values *v)
{
    struct lines lines = { .plan = plan, .json = v->json, .bans = v->ban };
    uint64_t first, end, until = LEAT_NONE, start, begin = 0, batch = 0, mine = 0;
    char *before = NULL;
    size_t bytes = 0;
    struct leat_error err;
    enum leat_status s;
    const char *why;

    if (v->samples) {
        if (!units_parse_range(v->samples, &first, &until, NULL, &why))
            return command_wrong(self, "--samples: \"%.100s\" %s", v->samples, why);
        first = leat_plan_position(plan, first < LEAT_MAX_SAMPLES ? first : LEAT_MAX_SAMPLES, NULL);
        end = LEAT_MAX_SAMPLES;
        start = leat_plan_number(plan, first);
    } else {
        if (!plan_steps_find(self, v->batch, v->step, &first, &end))
            return CLI_WRONG;
        start = leat_plan_number(plan, first);
        begin = mine = first;
        batch = end - first;
        if (!rank_positions(self, v, &mine, &end))
            return CLI_WRONG;
        first = mine;
        if (!row_positions(self, v, &first, &end))
            return CLI_WRONG;
    }
    s = v->ban ? read_bans(v->ban, &before, &bytes, &err) : LEAT_OK;
    if (s == LEAT_OK && v->balance != LEAT_BALANCE_NONE)
        s = print_dealt(&lines, v, begin, batch, first - mine, end - mine, &err);
    else if (s == LEAT_OK)
        s = print_positions(&lines, first, end, until, &err);
    if (s == LEAT_OK && v->ban)
        s = add_bans(&lines, before, bytes, v->ban, v->ban_start != LEAT_NONE ? v->ban_start : start, &err);
    free(before);
    free(lines.items);
    return cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed_or_damaged(&err));
}

int cmd_trace(const struct command *self, int argc, char **argv)
{
    struct trace_values v = { .plan = PLAN_OPTIONS_INIT,
                              .step = LEAT_NONE,
                              .until = LEAT_NONE,
                              .rank = LEAT_NONE,
                              .world = LEAT_NONE,
                              .ban_start = LEAT_NONE };
    struct options_parsed parsed;
    struct leat_plan *plan = NULL;
    struct plan_options options;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code)) {
        plan_options_free(&v.plan);
        return code;
    }
    code = CLI_WRONG;
    options = v.plan;
    if (v.document)
        options.epochs = LEAT_NONE;
    if (check_values(self, &v) && plan_options_open(self, &options, &plan, &code))
        code = !plan_has_rows(self, plan, v.step != LEAT_NONE ? "step" : NULL) ? CLI_WRONG
               : v.document                                                    ? trace_document(self, plan, &v)
                                                                               : trace_samples(self, plan, &v);
    leat_plan_close(plan);
    plan_options_free(&v.plan);
    options_free(&parsed);
    return code;
}
