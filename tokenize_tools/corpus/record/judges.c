/* judges.c: the table of judges. */
#include <string.h>

#include "conversation.h"
#include "judge.h"
#include "pair.h"

static const struct record_judge *const judges[JUDGE_COUNT] = {
    [JUDGE_KEEP] = &judge_keep,     [JUDGE_BY] = &judge_by,           [JUDGE_MASK] = &judge_mask,
    [JUDGE_WEIGHT] = &judge_weight, [JUDGE_COLUMNS] = &judge_columns,
};

enum leat_status judges_want(struct record_judges *j, struct record_fields *fields, const struct leat_pack_options *o,
                             struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < JUDGE_COUNT; i++)
        if (judges[i]->asked(o))
            s = judges[i]->prepare(&j->self[i], fields, o, err);
    return s;
}

enum leat_status judges_prepare(struct record_judges *j, struct record_fields *fields,
                                const struct leat_pack_options *o, struct leat_error *err)
{
    const char *id = *o->id ? o->id : NULL, *tools = *o->tools ? o->tools : NULL;
    bool tools_needed = strcmp(o->tools, "tools") != 0; /* the usual field of tools may be missing */
    enum leat_status s = pair_prompt(o) ? pair_want(fields, o, id, err)
                         : o->chat      ? conversation_want(fields, o->messages, id, err)
                                        : record_want_texts(fields, o->text, id, err);

    if (s == LEAT_OK && o->chat && tools)
        s = conversation_want_tools(fields, tools, tools_needed, err);
    return s == LEAT_OK ? judges_want(j, fields, o, err) : s;
}

const struct record_judge *judges_asked(const struct leat_pack_options *o, bool filters)
{
    size_t i = 0;

    while (i < JUDGE_COUNT && (!judges[i]->asked(o) || (!filters && judges[i]->filters)))
        i++;
    return i < JUDGE_COUNT ? judges[i] : NULL;
}

void judges_free(struct record_judges *j)
{
    for (size_t i = 0; i < JUDGE_COUNT; i++)
        if (j->self[i])
            judges[i]->free(j->self[i]);
    *j = (struct record_judges) { 0 };
}

enum leat_status judges_judge(const struct record_judges *j, const struct record *r, struct verdict *v,
                              struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    v->kept_out = false;
    v->count = COUNT_KEPT_OUT;
    v->by_bytes = 0;
    v->weight = 1;
    for (size_t i = 0; s == LEAT_OK && !v->kept_out && i < JUDGE_COUNT; i++)
        if (j->self[i])
            s = judges[i]->judge(j->self[i], r, v, err);
    return s;
}

bool judges_keep_out(const struct record_judges *j, const struct record *r)
{
    struct verdict v = { .kept_out = false };

    for (size_t i = 0; !v.kept_out && i < JUDGE_COUNT; i++)
        if (j->self[i] && judges[i]->filters)
            judges[i]->judge(j->self[i], r, &v, NULL);
    return v.kept_out;
}
