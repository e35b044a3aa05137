/* pack_facts.c: see pack_facts.h. */
#include "pack_facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arrange/splits/by_values.h"
#include "arrange/splits/split_fractions.h"
#include "corpus/record/pair.h"
#include "damage/damage_list.h"

bool pack_facts_mask(const struct leat_pack_options *o)
{
    return o->store_mask || o->mask_field || o->weight || pair_prompt(o) || o->chat;
}

static void join_lines(char *to, size_t room, const char *const *lines, uint64_t count)
{
    size_t used = 0;

    for (uint64_t i = 0; i < count && used < room; i++)
        used += (size_t)snprintf(to + used, room - used, "%s%s", i > 0 ? "\n" : "", lines[i]);
}

void pack_facts_make(struct pack_facts *facts, const struct leat_pack_options *o, const char *by)
{
    static const char *const learn[] = { NULL, "last", "final", "all" }, *const too_long[] = { NULL, "cut", "split" };
    const struct pack_fact all[] = {
        { "leat.text", o->text ? o->text : "text" },
        { "leat.id", o->id ? o->id : "id" },
        { "leat.special", o->special ? "encoded" : "text" },
        { "leat.invalid_utf8", o->reject_invalid ? "reject" : "replace" },
        { "leat.part", o->parts > 0 ? facts->part : NULL },
        { "leat.binary", o->allow_binary ? "allowed" : NULL },
        { "leat.keep", o->keep_count > 0 ? facts->keep : NULL },
        { "leat.columns", o->column_count > 0 ? facts->columns : NULL },
        { BY_METADATA_IDS, by },
        { "leat.mask", o->mask_field },
        { "leat.weight", o->weight },
        { "leat.prompt", pair_prompt(o) },
        { "leat.completion", pair_completion(o) },
        { "leat.alpaca", o->alpaca ? "1" : NULL },
        { "leat.max_length", o->max_length > 0 ? facts->max_length : NULL },
        { "leat.too_long", o->max_length > 0 && o->too_long < 3 ? too_long[o->too_long] : NULL },
        { "leat.chat", o->chat ? o->messages ? o->messages : "messages" : NULL },
        { "leat.tools", o->chat && o->tools && strcmp(o->tools, "tools") != 0 ? o->tools : NULL },
        { "leat.chat_date", o->chat ? o->chat_date : NULL },
        { "leat.learn", o->chat && o->learn < 4 ? learn[o->learn] : NULL },
        { "leat.learn_reasoning", o->chat && o->learn_reasoning ? "no" : NULL },
        { "leat.learn_tool_calls", o->chat && o->learn_tool_calls ? "no" : NULL },
        { "leat.learn_end", o->chat && o->learn_end ? o->learn_end == 1 ? "last" : "no" : NULL },
        { "leat.message_weight", o->chat ? o->message_weight : NULL },
    };

    _Static_assert(sizeof all == sizeof facts->of, "PACK_FACTS says how many there are");
    memcpy(facts->of, all, sizeof all);
    join_lines(facts->keep, sizeof facts->keep, o->keep, o->keep_count);
    join_lines(facts->columns, sizeof facts->columns, o->column, o->column_count);
    snprintf(facts->max_length, sizeof facts->max_length, "%u", o->max_length);
    snprintf(facts->part, sizeof facts->part, "%u/%u", o->part, o->parts);
}

static bool is(const char *bytes, uint64_t count, const char *text)
{
    return count == strlen(text) && memcmp(bytes, text, (size_t)count) == 0;
}

static bool has_fact(const struct leat_metadata *m, const struct pack_fact *fact)
{
    for (uint64_t i = 0; i < m->count; i++) {
        const struct leat_metadata_pair *p = &m->pairs[i];

        if (is(p->key, p->key_bytes, fact->key))
            return fact->value && is(p->value, p->value_bytes, fact->value);
    }
    return !fact->value;
}

/* Returns true if the metadata have the arrangement as leat_merge() writes it. */
static bool has_arrangement(const struct leat_metadata *m, const struct leat_pack_options *o, bool arranged)
{
    struct pack_fact shuffle = { "leat.shuffle", NULL }, dedup = { "leat.dedup", NULL },
                     splits = { "leat.splits", NULL };
    struct split_fractions fractions;
    char seed[24];
    bool has;

    if (split_fractions_make(&fractions, o->splits, arranged ? o->split_count : 0, NULL) != LEAT_OK)
        return false;
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
    if (arranged && o->shuffle)
        shuffle.value = seed;
    if (arranged && o->dedup)
        dedup.value = "1";
    if (fractions.count > 0)
        splits.value = fractions.text;
    has = has_fact(m, &shuffle) && has_fact(m, &dedup) && has_fact(m, &splits);
    split_fractions_free(&fractions);
    return has;
}

/* Reads what the dataset says of damaged inputs. Returns false if it cannot be read. */
static bool find_damage(const struct leat_metadata *m, struct pack_past *past)
{
    bool good = true;

    for (uint64_t i = 0; i < m->count; i++)
        if (strcmp(m->pairs[i].key, DAMAGE_KEY) == 0)
            good = damage_list_read(&past->damaged, "", m->pairs[i].value, NULL) == LEAT_OK;
    return good;
}

static bool facts_fit(const struct leat_dataset *d, const struct leat_pack_options *o, bool arranged,
                      struct pack_past *past)
{
    struct pack_facts facts;
    struct leat_metadata *m;
    bool fit;

    if (leat_dataset_metadata(d, 0, &m, NULL) != LEAT_OK)
        return false;
    pack_facts_make(&facts, o, arranged ? NULL : o->by); /* once documents are arranged, their ids have no values any
                                                            more */
    fit = has_arrangement(m, o, arranged) && has_fact(m, &(struct pack_fact) { BY_METADATA, arranged ? o->by : NULL });
    for (unsigned i = 0; i < PACK_FACTS; i++) {
        if (arranged && o->parts == 1 && facts.of[i].value == facts.part) /* merging all shares removes this key */
            facts.of[i].value = NULL;
        fit = fit && has_fact(m, &facts.of[i]);
    }
    fit = find_damage(m, past) && fit;
    leat_metadata_free(m);
    return fit;
}

char *pack_facts_value(const char *name, const char *key)
{
    struct leat_metadata *m = NULL;
    struct leat_dataset *d = NULL;
    char *value = NULL;

    if (leat_dataset_open(&d, name, NULL, NULL) == LEAT_OK && leat_dataset_metadata(d, 0, &m, NULL) == LEAT_OK)
        for (uint64_t i = 0; i < m->count && !value; i++)
            value = strcmp(m->pairs[i].key, key) == 0 ? strdup(m->pairs[i].value) : NULL;
    leat_metadata_free(m);
    leat_dataset_close(d);
    return value;
}

enum leat_status pack_facts_pins(struct hub_pins *pins, const char *index, struct leat_error *err)
{
    char *value = pack_facts_value(index, PACK_HUB);
    enum leat_status s = value ? hub_pins_read(pins, "", value, err) : LEAT_OK;

    free(value);
    return s;
}

/* Returns true if the input had the same length when it turned out to be damaged. */
static bool was_damaged(const struct damage_list *damaged, const struct input *in)
{
    bool was = false;

    for (size_t i = 0; i < damaged->count; i++) {
        const struct damage *d = &damaged->items[i];

        was = was || (strcmp(d->input, in->path) == 0 && d->unread != LEAT_NONE && d->offset <= in->size &&
                      in->size - d->offset == d->unread);
    }
    return was;
}

/*
 * Returns true if the size of an input fits. The dataset has the number of bytes that were read: an input that
 * breaks off counts up to there. In an unfinished run, or if the inputs are known to be those of a run's plan, fewer
 * bytes are no sign of another input. Otherwise the dataset must say that the input broke off; else it may be whole
 * by now.
 */
static bool size_fits(const struct leat_input *input, const struct input *in, bool unfinished,
                      const struct damage_list *damaged)
{
    bool less = in->compressed && input->bytes < in->size;

    return input->bytes == in->size || (less && (unfinished || was_damaged(damaged, in)));
}

static bool input_fits(const struct leat_dataset *d, uint64_t number, const struct input *in, bool unfinished,
                       struct pack_past *past)
{
    struct leat_input input = LEAT_INPUT_INIT;
    char path[4096];
    uint64_t bytes;

    if (leat_dataset_input(d, number, &input, NULL) != LEAT_OK || !size_fits(&input, in, unfinished, &past->damaged) ||
        leat_dataset_input_path(d, number, path, sizeof path, &bytes, NULL) != LEAT_OK)
        return false;
    past->rejects += input.rejects;
    return bytes < sizeof path && strcmp(path, in->path) == 0;
}

static void count_rejects(const struct leat_dataset *d, uint64_t inputs, struct pack_past *past)
{
    for (uint64_t i = 0; i < inputs; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        if (leat_dataset_input(d, i, &input, NULL) == LEAT_OK)
            past->rejects += input.rejects;
    }
}

bool pack_facts_fit(const struct leat_dataset *d, const struct leat_pack_options *o, const struct input_list *inputs,
                    enum pack_stage stage, bool in_run, struct pack_past *past)
{
    bool unfinished = in_run || stage == PACK_PACKED;
    struct leat_tokenizer_info tokenizer = LEAT_TOKENIZER_INFO_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    bool fit;

    pack_past_free(past);
    past->inputs = inputs ? inputs->count : 0;
    leat_tokenizer_info(o->tokenizer, &tokenizer);
    leat_dataset_info(d, &info);
    fit = info.parts == 1 && (!inputs || info.inputs == inputs->count) && info.end_token == o->end_token &&
          info.begin_token == o->begin_token && info.stores_mask == pack_facts_mask(o) &&
          memcmp(info.fingerprint, tokenizer.fingerprint, sizeof info.fingerprint) == 0 &&
          facts_fit(d, o, stage == PACK_ARRANGED, past);
    for (size_t i = 0; fit && inputs && i < inputs->count; i++)
        fit = input_fits(d, i, &inputs->items[i], unfinished, past);
    if (!inputs)
        count_rejects(d, info.inputs, past);
    return fit;
}

void pack_past_free(struct pack_past *past)
{
    damage_list_free(&past->damaged);
    *past = (struct pack_past) { 0 };
}

void pack_past_report(const struct pack_past *past, struct leat_pack_report *report)
{
    const struct damage *first = past->damaged.items;

    if (past->inputs > 0)
        report->inputs = past->inputs;
    report->rejects = past->rejects;
    report->damaged_inputs = past->damaged.count;
    report->damage[0] = '\0';
    if (past->damaged.count > 0)
        snprintf(report->damage, sizeof report->damage, "%.400s: %.100s", first->input, first->reason);
}

void pack_facts_notice(const struct damage_list *damaged, const struct leat_pack_options *o)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_DAMAGED };

    for (size_t i = 0; o->notice && i < damaged->count; i++) {
        const struct damage *d = &damaged->items[i];

        notice.path = d->input;
        notice.count = d->unread;
        notice.offset = d->offset;
        notice.message = d->reason;
        o->notice(o->context, &notice);
    }
}
