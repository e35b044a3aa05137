/*
 * pack_take.c: from the values of the command line to leat_pack_options; see pack_options.h.
 *
 * This is a step after the table's because --end and --begin may name a token by its text, and their defaults are the
 * tokenizer's. If the tokenizer names no end token, the command fails and lists candidates: a wrong guess would be
 * in every document. If --end is given, documents get no begin token by default: it comes with the
 * tokenizer's own end token.
 */
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "commands/common/common.h"
#include "pack_options.h"
#include "renderers.h"
#include "runs/part_auto.h"

/* How the tokens that could be the end token are listed: " 0 <|endoftext|>". */
static void list_candidates(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info, char *out,
                            size_t room)
{
    struct leat_encoder *e;
    size_t used = 0;

    out[0] = '\0';
    if (leat_encoder_open(&e, t, NULL, NULL) != LEAT_OK)
        return;
    for (uint64_t i = 0; i < info->candidate_count && i < LEAT_END_CANDIDATES; i++) {
        uint32_t id = (uint32_t)info->candidates[i];
        const char *text;
        uint64_t bytes;

        if (leat_encoder_decode(e, &id, 1, &text, &bytes, NULL) == LEAT_OK && used < room)
            used += (size_t)snprintf(out + used, room - used, "%s %u (%.40s)", i > 0 ? "," : "", id, text);
    }
    leat_encoder_close(e);
}

static bool find_end(const struct command *self, const struct pack_values *v, const struct leat_tokenizer *t,
                     uint64_t *end)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    char candidates[512];

    if (v->end)
        return commands_token(self, t, "end", v->end, end);
    if (v->chat) { /* the template ends conversations: a second end token would follow its own */
        *end = LEAT_NONE;
        return true;
    }
    leat_tokenizer_info(t, &info);
    *end = info.end_token;
    if (info.end_token != LEAT_NONE)
        return true;
    list_candidates(t, &info, candidates, sizeof candidates);
    if (candidates[0])
        command_wrong(self,
                      "%s does not say which token ends a document: use --end ID or --end none; it may be one of"
                      "%s",
                      v->tokenizer, candidates);
    else
        command_wrong(self, "%s does not say which token ends a document: use --end ID or --end none", v->tokenizer);
    return false;
}

/* With --end alone, documents have no begin token, though the tokenizer puts one before single texts. */
static void warn_of_begin(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info)
{
    struct leat_token token = LEAT_TOKEN_INIT;

    if (info->text_before == LEAT_NONE || leat_tokenizer_token(t, (uint32_t)info->text_before, &token, NULL) != LEAT_OK)
        return;
    cli_error("warning: documents have no begin token, since --end is given without --begin; --begin %llu adds the one "
              "that the tokenizer puts before single texts (%.*s)",
              (unsigned long long)info->text_before, token.bytes < 100 ? (int)token.bytes : 100, token.text);
}

static bool find_begin(const struct command *self, const struct pack_values *v, const struct leat_tokenizer *t,
                       uint64_t *begin)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;

    if (v->begin)
        return commands_token(self, t, "begin", v->begin, begin);
    leat_tokenizer_info(t, &info);
    *begin = v->end || v->chat ? LEAT_NONE : info.begin_token; /* a chat template writes its own */
    if (v->end && !v->chat && !(v->run && v->part.given))      /* said when the run was planned */
        warn_of_begin(t, &info);
    return true;
}

/* "101 ([CLS]) before them and 102 ([SEP]) after them". */
static void name_around(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info, char *out, size_t room)
{
    const uint64_t ids[] = { info->text_before, info->text_after };
    struct leat_token token = LEAT_TOKEN_INIT;
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        if (ids[i] == LEAT_NONE || leat_tokenizer_token(t, (uint32_t)ids[i], &token, NULL) != LEAT_OK || used >= room)
            continue;
        used += (size_t)snprintf(out + used, room - used, "%s%llu (%.*s) %s them", used > 0 ? " and " : "",
                                 (unsigned long long)ids[i], token.bytes < 100 ? (int)token.bytes : 100, token.text,
                                 i == 0 ? "before" : "after");
    }
}

void pack_options_say_around(const struct pack_values *v, const struct leat_pack_options *o)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    char names[512];

    leat_tokenizer_info(o->tokenizer, &info);
    if (v->begin || v->end)
        return;
    name_around(o->tokenizer, &info, names, sizeof names);
    if (info.text_other)
        cli_say("The tokenizer's post-processor puts something else than one token around single texts; documents do "
                "not get that.");
    else if (names[0] && o->begin_token == info.text_before &&
             (info.text_after == LEAT_NONE || o->end_token == info.text_after))
        cli_say("Documents have %s, as single texts of this tokenizer do (its post-processor).", names);
    else if (names[0])
        cli_say("Single texts of this tokenizer have %s (its post-processor); documents have what --begin and --end "
                "say.",
                names);
}

/* What contradicts or is missing in --part, --run and --parts; NULL: nothing. */
static const char *wrong_part(const struct pack_values *v)
{
    const struct pack_part *part = &v->part;

    if (!v->run && v->parts > 0)
        return "--parts N is for a run in a folder (--run DIR); one part of N is --part I/N";
    if (!v->run && part->given && part->parts == 0)
        return "--part needs the number of parts, as I/N or auto/N; it is known only of a run in a folder (--run DIR)";
    if (v->run && v->parts == 0)
        return "--run needs --parts N, to plan a run, or --part I, to pack a part of it";
    if (v->run && part->parts > 0 && part->parts != v->parts)
        return "--part I/N has another N than the run was planned with: leave /N out";
    return NULL;
}

static bool find_part(const struct command *self, const struct pack_values *v, struct leat_pack_options *o)
{
    uint64_t number = v->part.part, parts = v->run ? v->parts : v->part.parts;
    const char *wrong = wrong_part(v);
    char why[PART_AUTO_WHY];

    if (wrong) {
        command_wrong(self, "%s", wrong);
        return false;
    }
    if (v->part.automatic && !part_auto_find(parts, v->part.plus, &number, why, sizeof why)) {
        command_wrong(self, "--part auto: %s; or use --part I/%llu", why, (unsigned long long)parts);
        return false;
    }
    o->part = (uint32_t)number;
    o->parts = (uint32_t)parts;
    return true;
}

/* What would be ignored without --chat, or with it; NULL: nothing. */
static const char *wrong_chat(const struct pack_values *v)
{
    if (!v->chat && v->messages)
        return "--messages is for conversations: add --chat FILE or --chat tokenizer";
    if (!v->chat && v->tools)
        return "--tools is for conversations: add --chat FILE or --chat tokenizer";
    if (!v->chat && (v->chat_date || v->chat_seconds > 0 || v->skip_slow_chats))
        return "--chat-date, --chat-seconds and --skip-slow-chats are for conversations: add --chat FILE or --chat "
               "tokenizer";
    if (v->chat && strcmp(v->text, "text") != 0)
        return "--text and --chat contradict each other: the member or column with the conversation is --messages";
    return NULL;
}

int pack_options_take(const struct command *self, const struct pack_values *v, struct leat_tokenizer **t,
                      struct leat_pack_options *o)
{
    const char *wrong = wrong_chat(v);
    int code = wrong ? command_wrong(self, "%s", wrong) : commands_tokenizer(self, t, v->tokenizer, v->pattern);

    if (code != CLI_DONE)
        return code;
    *o = (struct leat_pack_options)LEAT_PACK_OPTIONS_INIT;
    o->tokenizer = *t;
    o->format = (enum leat_pack_format)v->format;
    o->text = v->text;
    o->id = v->id;
    o->special = v->special;
    o->reject_invalid = v->invalid == 1;
    o->threads = v->threads.counts[0];
    o->memory = v->memory;
    o->write = (enum leat_write)v->write;
    o->max_rejects = v->max_rejects.count;
    o->max_rejects_ppm = v->max_rejects.ppm;
    o->shuffle = v->shuffle.given;
    o->seed = v->shuffle.value;
    o->dedup = v->dedup;
    o->splits = v->splits.items;
    o->split_count = v->splits.count;
    o->keep = v->keep.items;
    o->keep_count = v->keep.count;
    o->by = v->by;
    o->mask_field = v->mask_field;
    o->chat = v->chat && strcmp(v->chat, "tokenizer") == 0 ? "" : v->chat;
    o->messages = v->messages;
    o->tools = v->tools;
    o->renderers = &pack_renderers;
    o->chat_seconds = (uint32_t)v->chat_seconds;
    o->chat_date = v->chat_date;
    o->skip_slow_chats = v->skip_slow_chats;
    o->split_of = v->split_of;
    o->skip_unknown = v->skip_unknown;
    o->allow_binary = v->allow_binary;
    o->follow_links = v->follow_links;
    o->allow_empty = v->allow_empty;
    o->resume = v->resume;
    o->force = v->force;
    if (find_part(self, v, o) && commands_created(&o->created) && find_end(self, v, *t, &o->end_token) &&
        find_begin(self, v, *t, &o->begin_token))
        return CLI_DONE;
    leat_tokenizer_close(*t);
    *t = NULL;
    return CLI_WRONG;
}
