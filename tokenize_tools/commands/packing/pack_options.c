/* pack_options.c: see pack_options.h. */
#include "pack_options.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cache_options.h"
#include "cli/progress.h"
#include "cli/units.h"
#include "commands/common/common.h"
#include "corpus/record_format.h"
#include "part_auto.h"

/* ---- The table --------------------------------------------------------------------------------------------------- */

/* Parses "0.5%" in millionths, exactly: at most four digits after the point. */
static bool parse_percent(const char *text, size_t length, uint64_t *ppm)
{
    uint64_t value = 0, unit = 10000;
    bool point = false, digits = false;

    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (c < '0' || c > '9' || (point && unit == 1))
            return false;
        digits = true;
        if (point)
            unit /= 10;
        value = point ? value + (uint64_t)(c - '0') * unit : value * 10 + (uint64_t)(c - '0') * 10000;
        if (value > 1000000)
            return false;
    }
    *ppm = value;
    return digits;
}

/* Parses a limit: a number, or a share in millionths, which is stored in the next member. */
static bool parse_limit(void *field, const char *text, const char **why)
{
    uint64_t *limit = field;
    size_t length = strlen(text);

    limit[0] = limit[1] = LEAT_NONE;
    if (length > 0 && text[length - 1] == '%') {
        *why = "is not a percentage from 0 to 100 with up to four digits after the point";
        return parse_percent(text, length - 1, &limit[1]);
    }
    return units_parse(text, false, &limit[0], why);
}

static bool parse_seed(void *options, const char *text, const char **why)
{
    struct leat_pack_options *o = options;

    o->shuffle = units_parse(text, false, &o->seed, why);
    return o->shuffle != 0;
}

static bool parse_chat(void *options, const char *text, const char **why)
{
    struct leat_pack_options *o = options;

    (void)why;
    o->chat = strcmp(text, "tokenizer") == 0 ? "" : text; /* "" stands for the template of the tokenizer's folder */
    return true;
}

/* Parses the digits at *text, and moves *text past them: a number of at most `max`. */
static bool parse_number(const char **text, unsigned max, unsigned *number)
{
    const char *at = *text;

    for (*number = 0; *at >= '0' && *at <= '9' && *number <= max; at++)
        *number = *number * 10 + (unsigned)(*at - '0');
    if (at == *text || *number > max)
        return false;
    *text = at;
    return true;
}

static bool parse_part(void *field, const char *text, const char **why)
{
    struct pack_part part = { .given = true };

    *why = "is not I/N, the I-th of N parts (1/8), nor auto/N";
    if (strncmp(text, "auto", 4) == 0) {
        part.automatic = true;
        text += 4;
        if (*text == '+' && (text++, !parse_number(&text, LEAT_RUN_MAX_PARTS, &part.plus)))
            return false;
    } else if (!parse_number(&text, LEAT_RUN_MAX_PARTS, &part.part)) {
        return false;
    }
    if (!*text) { /* for a run, which knows how many parts there are */
        *(struct pack_part *)field = part;
        return true;
    }
    if (*text++ != '/' || !parse_number(&text, LEAT_RUN_MAX_PARTS, &part.parts) || *text || part.parts < 1 ||
        (!part.automatic && (part.part < 1 || part.part > part.parts)))
        return false;
    *(struct pack_part *)field = part;
    return true;
}

static bool parse_threads(void *field, const char *text, const char **why)
{
    struct pack_threads *threads = field;
    const char *end;

    threads->runs = 0;
    do {
        uint64_t count = 0;

        end = strchrnul(text, ',');
        if (!units_parse_part(text, (size_t)(end - text), &count, why) || count < 1 || count > 4096 ||
            threads->runs == PACK_RUNS) {
            *why = "is not a number of threads from 1 to 4096, nor up to 16 of them with commas between";
            return false;
        }
        threads->counts[threads->runs++] = (unsigned)count;
        text = end + 1;
    } while (*end);
    return true;
}

#define VALUE(member)  offsetof(struct pack_values, member)
#define OPTION(member) offsetof(struct pack_values, pack.member)

/* The members of a row that say where the value of an option goes, by its kind. */
#define ROW_CHAT(member)    .type = OPTION_CUSTOM, .field = VALUE(pack), .parse = parse_chat
#define ROW_CHOICE(member)  .type = OPTION_CHOICE, .field = OPTION(member)
#define ROW_COUNT(member)   .type = OPTION_COUNT32, .field = OPTION(member)
#define ROW_FLAG(member)    .type = OPTION_SWITCH, .field = OPTION(member)
#define ROW_LIMIT(member)   .type = OPTION_CUSTOM, .field = OPTION(member), .parse = parse_limit
#define ROW_PART(member)    .type = OPTION_CUSTOM, .field = VALUE(member), .parse = parse_part
#define ROW_SEED(member)    .type = OPTION_CUSTOM, .field = VALUE(pack), .parse = parse_seed
#define ROW_SIZE(member)    .type = OPTION_SIZE, .field = OPTION(member)
#define ROW_SPLITS(member)  .type = OPTION_CUSTOM, .field = VALUE(member), .parse = arrange_splits_parse
#define ROW_TEXT(member)    .type = OPTION_TEXT, .field = OPTION(member)
#define ROW_TEXTS(member)   .type = OPTION_LIST, .field = OPTION(member)
#define ROW_THREADS(member) .type = OPTION_CUSTOM, .field = VALUE(member), .parse = parse_threads
#define ROW_TOKEN(member)   .type = OPTION_TEXT, .field = VALUE(member)

#define SHARED_OWN          false
#define SHARED_SHARED       true
#define SHARED_STEP         false

const struct option_row pack_options[] = {
#define PACK_OPTION(kind, member, keyword, plan, ...) { ROW_##kind(member), .shared = SHARED_##plan, __VA_ARGS__ },
#define PACK_COMMAND(...)                             __VA_ARGS__,
#include "pack/option_rows.h"
    OPTIONS_END,
};

void pack_values_free(struct pack_values *values)
{
    arrange_splits_free(&values->splits);
    for (const struct option_row *r = pack_options; r->name; r++)
        if (r->type == OPTION_LIST)
            option_list_free((struct option_list *)(void *)((char *)values + r->field));
}

/* ---- To options of the library ----------------------------------------------------------------------------------- */

/*
 * The options that are completed after the table is read: --end and --begin may name a token by its text, and their
 * defaults are the tokenizer's. If the tokenizer names no end token, the command fails and lists candidates: a wrong
 * guess would be in every document. If --end is given, documents get no begin token by default: it belongs to the
 * tokenizer's own end token.
 */

/* Lists the tokens that could be the end token: " 0 <|endoftext|>". */
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

    if (v->end_token)
        return commands_token(self, t, "end", v->end_token, end);
    if (v->pack.chat) { /* The template ends conversations: a second end token would follow its own. */
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

/* Warns that documents have no begin token with --end alone, though the tokenizer puts one before single texts. */
static void warn_of_begin(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info)
{
    struct leat_token token = LEAT_TOKEN_INIT;

    if (info->text_before == LEAT_NONE || leat_tokenizer_token(t, (uint32_t)info->text_before, &token, NULL) != LEAT_OK)
        return;
    cli_error("warning: documents have no begin token, since --end is given without --begin; --begin %" PRIu64
              " adds the one "
              "that the tokenizer puts before single texts (%.*s)",
              info->text_before, token.bytes < 100 ? (int)token.bytes : 100, token.text);
}

static bool find_begin(const struct command *self, const struct pack_values *v, const struct leat_tokenizer *t,
                       uint64_t *begin)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;

    if (v->begin_token)
        return commands_token(self, t, "begin", v->begin_token, begin);
    leat_tokenizer_info(t, &info);
    *begin = v->end_token || v->pack.chat ? LEAT_NONE : info.begin_token; /* a chat template writes its own */
    if (v->end_token && !v->pack.chat)
        warn_of_begin(t, &info);
    return true;
}

/* Writes "101 ([CLS]) before them and 102 ([SEP]) after them". */
static void name_around(const struct leat_tokenizer *t, const struct leat_tokenizer_info *info, char *out, size_t room)
{
    const uint64_t ids[] = { info->text_before, info->text_after };
    struct leat_token token = LEAT_TOKEN_INIT;
    size_t used = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < 2; i++) {
        if (ids[i] == LEAT_NONE || leat_tokenizer_token(t, (uint32_t)ids[i], &token, NULL) != LEAT_OK || used >= room)
            continue;
        used +=
            (size_t)snprintf(out + used, room - used, "%s%" PRIu64 " (%.*s) %s them", used > 0 ? " and " : "", ids[i],
                             token.bytes < 100 ? (int)token.bytes : 100, token.text, i == 0 ? "before" : "after");
    }
}

void pack_options_say_around(const struct pack_values *v)
{
    const struct leat_pack_options *o = &v->pack;
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;
    char names[512];

    leat_tokenizer_info(o->tokenizer, &info);
    if (v->begin_token || v->end_token)
        return;
    name_around(o->tokenizer, &info, names, sizeof names);
    if (info.text_other)
        cli_say("The tokenizer's post-processor puts something other than one token around single texts; documents do "
                "not get it.");
    else if (names[0] && o->begin_token == info.text_before &&
             (info.text_after == LEAT_NONE || o->end_token == info.text_after))
        cli_say("Documents have %s, as single texts of this tokenizer do (its post-processor).", names);
    else if (names[0])
        cli_say("Single texts of this tokenizer have %s (its post-processor); documents have what --begin and --end "
                "say.",
                names);
}

/* Returns what contradicts or is missing in --part, --run and --parts; NULL: nothing. */
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

bool pack_options_part(const struct command *self, struct pack_values *v)
{
    uint64_t number = v->part.part, parts = v->run ? v->parts : v->part.parts;
    const char *wrong = wrong_part(v);
    char why[PART_AUTO_WHY];

    if (wrong) {
        command_wrong(self, "%s", wrong);
        return false;
    }
    if (v->part.automatic && !part_auto_find(parts, v->part.plus, &number, why, sizeof why)) {
        command_wrong(self, "--part auto: %s; or use --part I/%" PRIu64, why, parts);
        return false;
    }
    v->pack.part = (uint32_t)number;
    v->pack.parts = (uint32_t)parts;
    return true;
}

/* Refuses options that would be ignored without --chat, or with it. */
static int check_chat(const struct command *self, const struct options_parsed *parsed, const struct pack_values *v)
{
    const struct option_row *group = NULL;

    for (const struct option_row *r = pack_options; r->name; r++) {
        group = r->group ? r : group;
        if (!v->pack.chat && parsed->given[r - pack_options] && group && strcmp(group->name, "chat") == 0)
            return command_wrong(self, "--%s is for conversations: add --chat FILE or --chat tokenizer", r->name);
        if (v->pack.chat && parsed->given[r - pack_options] && strcmp(r->name, "text") == 0)
            return command_wrong(self, "--text and --chat contradict each other: the member or column with the "
                                       "conversation is --messages");
    }
    return CLI_DONE;
}

int pack_options_take(const struct command *self, const struct options_parsed *parsed, struct pack_values *v,
                      struct leat_tokenizer **t)
{
    struct leat_pack_options *o = &v->pack;
    int code = check_chat(self, parsed, v);

    options_preset(pack_options, v, parsed);
    if (code == CLI_DONE)
        code = commands_tokenizer(self, t, v->tokenizer, v->pattern);
    if (code != CLI_DONE)
        return code;
    o->tokenizer = *t;
    o->threads = v->threads.counts[0];
    o->splits = v->splits.items;
    o->split_count = v->splits.count;
    o->renderers = &pack_renderers;
    if (pack_options_part(self, v) && commands_created(&o->created) && find_end(self, v, *t, &o->end_token) &&
        find_begin(self, v, *t, &o->begin_token))
        return CLI_DONE;
    leat_tokenizer_close(*t);
    *t = NULL;
    return CLI_WRONG;
}
