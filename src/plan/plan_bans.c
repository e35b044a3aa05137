/*
 * plan_bans.c: A document may be banned several times, as files of bans grow: its least start counts. To find it, the
 * borders of all ranges of a source cut its documents into cells, and the ranges paint these in the order of their
 * starts, each cell once. So plans that mean the same have the same bans, whose text and hash are then the same.
 */
#include "plan_bans.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/search.h"
#include "base/status.h"
#include "plan.h"

#define MAX_COPIES 262144u /* bans for further sources of a name, so that few bytes of text do not take much memory */

/* ---- Rules ---- */

static enum leat_status add_ban(struct plan_rules *r, const char *name, size_t length, struct plan_ban_rule ban,
                                struct leat_error *err)
{
    enum leat_status s = GROW(r->bans, r->ban_count + 1, r->ban_room, err);

    if (s != LEAT_OK)
        return s;
    if (name) {
        ban.name = malloc(length + 1);
        if (!ban.name)
            return status_no_memory(err, length + 1);
        memcpy(ban.name, name, length);
        ban.name[length] = '\0';
    }
    r->bans[r->ban_count++] = ban;
    return LEAT_OK;
}

/* N, or N-M with both. */
static bool read_range(const char *text, size_t length, struct plan_ban_rule *ban)
{
    const char *dash = memchr(text, '-', length);
    size_t first = dash ? (size_t)(dash - text) : length;
    uint64_t last;

    if (!plan_rules_number(text, first, &ban->first))
        return false;
    last = ban->first;
    return (!dash || plan_rules_number(dash + 1, length - first - 1, &last)) && last >= ban->first &&
           bytes_add(last, 1, &ban->end);
}

enum leat_status plan_bans_add(struct plan_rules *r, const char *text, size_t length, struct leat_error *err)
{
    const char *name = memchr(text, ':', length), *documents = text + length, *end = text + length;
    struct plan_ban_rule ban = { .name = NULL };
    enum leat_status s = LEAT_OK;

    while (name && documents > name + 1 && documents[-1] != ':')
        documents--;
    if (!name || documents <= name + 2 || !plan_rules_number(text, (size_t)(name - text), &ban.start))
        return status_argument(err, "bans",
                               "\"%.*s\" is not START:NAME:DOCUMENTS, such as 5000:web:3,7,10-19: a sample's number, "
                               "the name of a source, numbers of its documents",
                               plan_rules_shown(length), text);
    if (ban.start >= LEAT_MAX_SAMPLES)
        return status_argument(err, "bans", "a ban starts at sample %" PRIu64 "; samples are numbered below 2^60",
                               ban.start);
    for (const char *at = documents; s == LEAT_OK && at <= end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t here = (size_t)((comma ? comma : end) - at);

        if (!read_range(at, here, &ban))
            return status_argument(err, "bans", "\"%.*s\" is not a document's number, or a range of them such as 10-19",
                                   plan_rules_shown(here), at);
        s = add_ban(r, name + 1, (size_t)(documents - name) - 2, ban, err);
        at += here + 1;
    }
    return s;
}

/* Orders pointers to sources by name, and sources of one name by number. */
static int compare_names(const void *a, const void *b)
{
    const struct plan_source_rule *x = *(struct plan_source_rule *const *)a, *y = *(struct plan_source_rule *const *)b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order : x < y ? -1 : x > y;
}

/* Lists the sources by name, and marks those whose name an earlier one has. */
static struct plan_source_rule **list_by_name(struct plan_rules *r)
{
    struct plan_source_rule **list = calloc(r->source_count, sizeof(struct plan_source_rule *));

    for (size_t i = 0; list && i < r->source_count; i++)
        list[i] = &r->sources[i];
    if (list)
        qsort(list, r->source_count, sizeof *list, compare_names);
    for (size_t i = 1; list && i < r->source_count; i++)
        list[i]->has_namesake = strcmp(list[i]->name, list[i - 1]->name) == 0;
    return list;
}

SEARCH_INLINE bool has_lesser_name(const void *context, uint64_t i)
{
    struct plan_source_rule *const *list = ((const void *const *)context)[0];

    return strcmp(list[i]->name, ((const void *const *)context)[1]) < 0;
}

/* Gives a ban its source, and adds one for each further source of this name: at most MAX_COPIES after the `given`. */
static enum leat_status find_sources(struct plan_rules *r, size_t number, size_t given,
                                     struct plan_source_rule *const *list, struct leat_error *err)
{
    struct plan_ban_rule ban = r->bans[number];
    const void *wanted[] = { list, ban.name };
    enum leat_status s = LEAT_OK;
    size_t first, i;

    if (!ban.name)
        return LEAT_OK;
    r->bans[number].name = NULL;
    first = i = (size_t)search_first(0, r->source_count, has_lesser_name, wanted);
    for (; s == LEAT_OK && i < r->source_count && strcmp(list[i]->name, ban.name) == 0; i++) {
        uint32_t source = (uint32_t)(list[i] - r->sources);

        if (i == first)
            r->bans[number].source = source;
        else if (r->ban_count - given == MAX_COPIES)
            s = status_argument(err, "bans",
                                "documents of \"%.*s\" are banned, which several sources are called: such bans count "
                                "once per further source, and a plan has at most %u in addition; name the source once",
                                PLAN_SHOWN, ban.name, MAX_COPIES);
        else
            s = add_ban(r, NULL, 0, (struct plan_ban_rule) { NULL, source, ban.start, ban.first, ban.end }, err);
    }
    if (i == first)
        s = status_argument(err, "bans", "documents of \"%.*s\" are banned, but the plan has no source of this name",
                            PLAN_SHOWN, ban.name);
    free(ban.name);
    return s;
}

static int compare_numbers(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static int compare_bans(const void *a, const void *b)
{
    const struct plan_ban_rule *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return compare_numbers(&x->first, &y->first);
}

/* The ranges that a source's bans divide it into. Cell i has the documents from border i to the next border. */
struct cells {
    uint64_t *borders, *starts; /* start of the ban of each cell; LEAT_NONE: not painted yet */
    size_t *next;               /* the next cell that may not be painted yet */
    size_t count;
};

SEARCH_INLINE bool lies_before(const void *context, uint64_t i)
{
    const struct cells *c = ((const void *const *)context)[0];
    const uint64_t *document = ((const void *const *)context)[1];

    return c->borders[i] < *document;
}

static size_t unpainted(const struct cells *c, size_t cell)
{
    while (c->next[cell] != cell)
        cell = c->next[cell] = c->next[c->next[cell]];
    return cell;
}

static void paint(const struct cells *c, const struct plan_ban_rule *ban)
{
    const void *wanted[] = { c, &ban->first };
    size_t cell = (size_t)search_first(0, c->count, lies_before, wanted);

    for (cell = unpainted(c, cell); c->borders[cell] < ban->end; cell = unpainted(c, cell)) {
        c->starts[cell] = ban->start;
        c->next[cell] = cell + 1; /* the last border has no cell that a ban reaches */
    }
}

/* Reduces the bans of one source, sorted by start, to their one form at `to`. Returns how many these are. */
static size_t settle(const struct plan_ban_rule *bans, size_t count, struct cells *c, struct plan_ban_rule *to)
{
    size_t made = 0, borders = 0;

    for (size_t i = 0; i < count; i++) {
        c->borders[borders++] = bans[i].first;
        c->borders[borders++] = bans[i].end;
    }
    qsort(c->borders, borders, sizeof *c->borders, compare_numbers);
    c->count = 0;
    for (size_t i = 0; i < borders; i++)
        if (i == 0 || c->borders[i] != c->borders[c->count - 1])
            c->borders[c->count++] = c->borders[i];
    for (size_t i = 0; i < c->count; i++) {
        c->starts[i] = LEAT_NONE;
        c->next[i] = i;
    }
    for (size_t i = 0; i < count; i++)
        paint(c, &bans[i]);
    for (size_t i = 0; i + 1 < c->count; i++) {
        if (c->starts[i] == LEAT_NONE)
            continue;
        if (made > 0 && to[made - 1].end == c->borders[i] && to[made - 1].start == c->starts[i])
            to[made - 1].end = c->borders[i + 1];
        else
            to[made++] = (struct plan_ban_rule) { NULL, bans->source, c->starts[i], c->borders[i], c->borders[i + 1] };
    }
    return made;
}

static enum leat_status settle_all(struct plan_rules *r, struct leat_error *err)
{
    size_t room = 2 * r->ban_count, made = 0;
    struct plan_ban_rule *to = calloc(room, sizeof *to);
    struct cells c = { .borders = calloc(room, sizeof *c.borders),
                       .starts = calloc(room, sizeof *c.starts),
                       .next = calloc(room, sizeof *c.next) };
    enum leat_status s = to && c.borders && c.starts && c.next ? LEAT_OK : status_no_memory(err, room * sizeof *to);

    for (size_t first = 0, end; s == LEAT_OK && first < r->ban_count; first = end) {
        for (end = first + 1; end < r->ban_count && r->bans[end].source == r->bans[first].source;)
            end++;
        made += settle(r->bans + first, end - first, &c, to + made);
    }
    free(c.borders);
    free(c.starts);
    free(c.next);
    if (s != LEAT_OK) {
        free(to);
        return s;
    }
    free(r->bans);
    r->bans = to;
    r->ban_count = made;
    r->ban_room = room;
    qsort(r->bans, r->ban_count, sizeof *r->bans, compare_bans);
    return LEAT_OK;
}

enum leat_status plan_bans_finish(struct plan_rules *r, struct leat_error *err)
{
    struct plan_source_rule **list;
    enum leat_status s = LEAT_OK;

    if (r->ban_count == 0)
        return LEAT_OK;
    list = list_by_name(r);
    if (!list)
        return status_no_memory(err, r->source_count * sizeof *list);
    for (size_t i = 0, given = r->ban_count; s == LEAT_OK && i < given; i++)
        s = find_sources(r, i, given, list, err);
    free(list);
    if (s != LEAT_OK)
        return s;
    qsort(r->bans, r->ban_count, sizeof *r->bans, compare_bans);
    return settle_all(r, err);
}

/* ---- Open plans ---- */

static enum leat_status look_up(const struct leat_plan *plan, const struct plan_ban_rule *rule, struct plan_ban *ban,
                                struct leat_error *err)
{
    const struct leat_dataset *d = plan->sources[rule->source].dataset;
    const char *name = plan->rules.sources[rule->source].name;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s;

    leat_dataset_info(d, &info);
    if (info.documents == LEAT_NONE)
        s = status_argument(err, "bans",
                            "document %" PRIu64 " of %.300s is banned, but where its documents begin is not known",
                            rule->end - 1, name);
    else if (rule->end > info.documents)
        s = status_argument(
            err, "bans", "document %" PRIu64 " of %.300s is banned, but it has %" PRIu64 " documents, numbered from 0",
            rule->end - 1, name, info.documents);
    else
        s = leat_dataset_starts(d, rule->first, 1, &ban->first_token, err);
    if (s == LEAT_OK)
        s = leat_dataset_starts(d, rule->end, 1, &ban->end_token, err);
    ban->first = rule->first;
    ban->end = rule->end;
    ban->start = rule->start;
    return status_in_file(err, s, name);
}

static int compare_documents(const void *a, const void *b)
{
    const struct plan_ban *x = a, *y = b;

    return compare_numbers(&x->first, &y->first);
}

enum leat_status plan_bans_open(struct leat_plan *plan, struct leat_error *err)
{
    const struct plan_rules *r = &plan->rules;
    struct plan_bans *b = &plan->bans;
    enum leat_status s = LEAT_OK;
    size_t at = 0;

    if (r->ban_count == 0)
        return LEAT_OK;
    b->items = calloc(r->ban_count, sizeof *b->items);
    b->begins = calloc(r->source_count + 1, sizeof *b->begins);
    if (!b->items || !b->begins)
        return status_no_memory(err, r->ban_count * sizeof *b->items);
    for (size_t i = 0; s == LEAT_OK && i < r->source_count; i++) {
        b->begins[i] = at;
        for (; s == LEAT_OK && at < r->ban_count && r->bans[at].source == i; at++)
            s = look_up(plan, &r->bans[at], &b->items[at], err);
        qsort(b->items + b->begins[i], at - b->begins[i], sizeof *b->items, compare_documents);
    }
    b->begins[r->source_count] = at;
    return s;
}

void plan_bans_free(struct plan_bans *bans)
{
    free(bans->items);
    free(bans->begins);
    *bans = (struct plan_bans) { .items = NULL };
}

struct wanted {
    const struct plan_ban *items;
    uint64_t number;
};

SEARCH_INLINE bool ends_by_document(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->items[i].end <= w->number;
}

SEARCH_INLINE bool ends_by_token(const void *context, uint64_t i)
{
    const struct wanted *w = context;

    return w->items[i].end_token <= w->number;
}

uint32_t leat_plan_banned(const struct leat_plan *plan, uint64_t source, uint64_t document, uint64_t number)
{
    const struct plan_bans *b = &plan->bans;
    uint64_t i;

    if (!b->begins || source >= plan->rules.source_count)
        return 0;
    i = search_first(b->begins[source], b->begins[source + 1], ends_by_document,
                     &(struct wanted) { b->items, document });
    return i < b->begins[source + 1] && b->items[i].first <= document && b->items[i].start <= number;
}

void plan_bans_mask(const struct leat_plan *plan, uint32_t source, uint64_t number, uint64_t first, uint64_t count,
                    uint8_t *mask)
{
    const struct plan_bans *b = &plan->bans;
    size_t end;

    if (!b->begins)
        return;
    end = b->begins[source + 1];
    for (uint64_t i = search_first(b->begins[source], end, ends_by_token, &(struct wanted) { b->items, first });
         i < end && b->items[i].first_token < first + count; i++) {
        uint64_t from = b->items[i].first_token > first ? b->items[i].first_token - first : 0;
        uint64_t to = b->items[i].end_token - first;

        if (b->items[i].start <= number)
            memset(mask + from, 0, (size_t)((to < count ? to : count) - from));
    }
}
