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

static const char *const invalid_names[] = { "replace", "reject", NULL };
static const char *const write_names[] = { "auto", "cached", "direct", NULL }; /* enum leat_write */

/* "0.5%" in millionths, exactly: at most four digits after the point. */
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

static bool parse_bound(void *field, const char *text, const char **why)
{
    struct pack_bound *bound = field;
    size_t length = strlen(text);

    *bound = (struct pack_bound) { LEAT_NONE, LEAT_NONE };
    if (length > 0 && text[length - 1] == '%') {
        *why = "is not a percentage from 0 to 100 with up to four digits after the point";
        return parse_percent(text, length - 1, &bound->ppm);
    }
    return units_parse(text, false, &bound->count, why);
}

/* The digits at *text, moved past them: a number of at most `max`. */
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
    if (!*text) { /* of a run that knows how many */
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

#define FIELD(name) offsetof(struct pack_values, name)

const struct option_row pack_options[] = {
    { .name = "output",
      .letter = 'o',
      .type = OPTION_TEXT,
      .field = FIELD(output),
      .value = "NAME",
      .help = "the dataset to write: NAME.tokens and NAME.leat",
      .more = "It is required, except with --run and --dry-run.",
      .path = true },
    COMMANDS_TOKENIZER_SPEC(struct pack_values, .standard = "gpt2"),
    { .name = "format",
      .type = OPTION_CHOICE,
      .field = FIELD(format),
      .value = "FORMAT",
      .standard = "auto, by the name",
      .help = "of the inputs: " RECORD_FORMAT_VALUES,
      .more = "jsonl is JSON with one document per object: in lines, in an array, or one object after another over any "
              "number of lines. csv, tsv and parquet have one document per row, and name their columns. A text is one "
              "document.",
      .group = "Input",
      .rare = true,
      .choices = record_format_names },
    { .name = "include",
      .type = OPTION_LIST,
      .field = FIELD(include),
      .value = "PATTERN",
      .help = "of folders, pack only files that match: '*.jsonl', 'en/**'; repeatable",
      .more = "A pattern without a slash is compared with names, one with a slash with paths below the folder that is "
              "named; ** stands for any folders. Files that are named themselves are packed.",
      .rare = true },
    { .name = "exclude",
      .type = OPTION_LIST,
      .field = FIELD(exclude),
      .value = "PATTERN",
      .help = "of folders, pack no files that match, likewise",
      .rare = true },
    { .name = "split-of",
      .type = OPTION_TEXT,
      .field = FIELD(split_of),
      .value = "NAME|all",
      .standard = "the only one",
      .help = "pack this split of folders from the Hugging Face Hub",
      .more = "NAME is train, validation, test or another split, as the package datasets finds it in README.md or by "
              "the names of files; all packs every file. Without this option, inputs of several splits, or of a split "
              "and of none, are refused. (--split is something else: it divides what is packed.)",
      .rare = true },
    { .name = "skip-unknown",
      .type = OPTION_FLAG,
      .field = FIELD(skip_unknown),
      .help = "skip files of folders that cannot be read, such as Arrow",
      .more = "Without it, files that may hold texts and cannot be read are an error.",
      .rare = true },
    { .name = "allow-binary",
      .type = OPTION_FLAG,
      .field = FIELD(allow_binary),
      .help = "pack what does not look like UTF-8 text as text",
      .more = "Without it, such files are errors, and such texts are rejected.",
      .rare = true },
    { .name = "follow-links",
      .type = OPTION_FLAG,
      .field = FIELD(follow_links),
      .help = "also pack the targets of symbolic links that lead out of a folder",
      .more = "Without it, such links are left out and named.",
      .rare = true },
    { .name = "text",
      .type = OPTION_TEXT,
      .field = FIELD(text),
      .value = "FIELD",
      .standard = "text",
      .help = "the JSON member or the column that holds the text",
      .more = "Dots lead into objects and groups: meta.body. A JSON member that has dots in its own name cannot be "
              "named.",
      .group = "Text" },
    { .name = "id",
      .type = OPTION_TEXT,
      .field = FIELD(id),
      .value = "FIELD",
      .standard = "id",
      .help = "the member or column that holds the document's id, if there is one",
      .more = "An id is a string or a number. An empty FIELD stores no ids.",
      .rare = true },
    { .name = "keep",
      .type = OPTION_LIST,
      .field = FIELD(keep),
      .value = "CONDITION",
      .help = "pack only records for which this holds: 'score >= 3 and not meta.url exists'; repeatable",
      .more =
          "Records are JSON objects and rows of tables. Signs: = (or ==) != < <= > >=; and, or, not and brackets "
          "join. Numbers are compared with numbers, exactly, also sums ('a - 2 * b > 0'); other values (in double "
          "or single quotes if they have blanks) with strings, by bytes. No comparison holds for a missing field, a "
          "null, or another type. If no document is left, the run fails; but a part of a run may be empty." },
    { .name = "invalid-utf8",
      .type = OPTION_CHOICE,
      .field = FIELD(invalid),
      .value = "HOW",
      .standard = "replace",
      .help = "malformed UTF-8: replace it by U+FFFD, or reject the record",
      .more = "replace does what Python's errors=\"replace\" does.",
      .rare = true,
      .choices = invalid_names },
    { .name = "mask-field",
      .type = OPTION_TEXT,
      .field = FIELD(mask_field),
      .value = "FIELD",
      .standard = "no mask",
      .help = "a list of the parts of the text that training learns",
      .more = "This member of a JSON record, or column, is a list of stretches of the text, [[BEGIN, END], ...], in "
              "characters and in order. A token is learned if any part of it is in a stretch; the labels of others are "
              "-100. A record without the member is rejected.",
      .rare = true },
    { .name = "chat",
      .type = OPTION_TEXT,
      .field = FIELD(chat),
      .value = "FILE|tokenizer",
      .help = "render conversations by this chat template, or by the one of the tokenizer",
      .more = "Records are conversations, and FILE is a template in Jinja; tokenizer takes the one in the tokenizer's "
              "folder. Python renders it, with "
              "jinja2 and leat's Python package. Training learns only what the assistant says, with the token that "
              "ends its turn, or what the template puts into {% generation %}.",
      .group = "Conversations",
      .path = true },
    { .name = "messages",
      .type = OPTION_TEXT,
      .field = FIELD(messages),
      .value = "FIELD",
      .standard = "messages",
      .help = "the member or column that holds the conversation",
      .more = "It is a list of objects with role and content.",
      .rare = true },
    { .name = "tools",
      .type = OPTION_TEXT,
      .field = FIELD(tools),
      .value = "FIELD",
      .standard = "tools, if there is one",
      .help = "the member or column that holds the conversation's tools",
      .more = "It is a list of objects, or a string that holds one as JSON. With an empty FIELD the template gets no "
              "tools.",
      .rare = true },
    { .name = "chat-date",
      .type = OPTION_TEXT,
      .field = FIELD(chat_date),
      .value = "DATE",
      .standard = "refused",
      .help = "the date that strftime_now() of the template writes: 2026-01-31",
      .more = "The current date would not give the same bytes tomorrow.",
      .rare = true },
    { .name = "chat-seconds",
      .type = OPTION_COUNT,
      .field = FIELD(chat_seconds),
      .value = "N",
      .standard = "10",
      .help = "end the run if rendering one conversation takes longer",
      .rare = true,
      .min = 1,
      .max = 86400 },
    { .name = "skip-slow-chats",
      .type = OPTION_FLAG,
      .field = FIELD(skip_slow_chats),
      .help = "reject conversations that take longer, instead of ending the run",
      .more = "Which ones these are depends on the machine.",
      .rare = true },
    { .name = "end",
      .type = OPTION_TEXT,
      .field = FIELD(end),
      .value = "ID|TOKEN|none",
      .standard = "the tokenizer's; with --chat none",
      .help = "the token after each document",
      .more = "A chat template writes its own, as in transformers.",
      .group = "Tokens",
      .rare = true },
    { .name = "begin",
      .type = OPTION_TEXT,
      .field = FIELD(begin),
      .value = "ID|TOKEN|none",
      .standard = "none, or the tokenizer's",
      .help = "the token before each document",
      .more = "Without --begin and --end, it is the token that the post-processor of a tokenizer.json puts before each "
              "text (Llama, Gemma, BERT), unless it puts another token than the end token after the text.",
      .rare = true },
    { .name = "special",
      .type = OPTION_FLAG,
      .field = FIELD(special),
      .help = "encode strings of special tokens in the text as these tokens",
      .more = "Without it, they are ordinary text and are counted.",
      .rare = true },
    COMMANDS_PATTERN(struct pack_values),
    { .name = "shuffle",
      .type = OPTION_CUSTOM,
      .field = FIELD(shuffle),
      .value = "SEED",
      .standard = "in order",
      .help = OUTPUTS_SHUFFLE_HELP,
      .group = "Output",
      .parse = arrange_seed_parse },
    { .name = "dedup", .type = OPTION_FLAG, .field = FIELD(dedup), .help = OUTPUTS_DEDUP_HELP },
    { .name = "split",
      .type = OPTION_CUSTOM,
      .field = FIELD(splits),
      .value = "NAME=SHARE,...",
      .help = OUTPUTS_SPLIT_HELP,
      .more = OUTPUTS_SPLIT_MORE,
      .once = true,
      .parse = arrange_splits_parse },
    { .name = "by",
      .type = OPTION_TEXT,
      .field = FIELD(by),
      .value = "FIELD",
      .standard = "one dataset",
      .help = "make a dataset NAME.VALUE for each value of this field: lang, meta.source",
      .more = "FIELD is a JSON member or a column. A record without it is rejected; more than 1,024 values are "
              "refused.",
      .rare = true },
    { .name = "allow-empty",
      .type = OPTION_FLAG,
      .field = FIELD(allow_empty),
      .help = "make a dataset without documents, if --keep leaves none",
      .more = "For a run in parts, it is an option of leat merge.",
      .rare = true },
    { .name = "force",
      .type = OPTION_FLAG,
      .field = FIELD(force),
      .help = "replace an existing NAME, once the new one is finished",
      .more =
          "Datasets of the earlier run that this one does not write (NAME.SPLIT, NAME.VALUE) stay, and are named." },
    { .name = "dry-run",
      .type = OPTION_FLAG,
      .field = FIELD(dry_run),
      .help = "write nothing: show what to expect, and what would go wrong",
      .more = "It shows the inputs, the first text, and an estimate from a sample that is packed for some seconds into "
              "a temporary folder; and it finds wrong fields, tokenizers and names, and disks that are too small." },
    { .name = "threads",
      .type = OPTION_CUSTOM,
      .field = FIELD(threads),
      .value = "N",
      .standard = "all cores",
      .help = "threads that read, encode and write",
      .parse = parse_threads },
    RETRY_OPTION_ROW,
    { .name = "memory",
      .type = OPTION_SIZE,
      .field = FIELD(memory),
      .value = "SIZE",
      .standard = "2GiB, or less in a control group",
      .help = "limit on resident memory",
      .more = "It holds for any input, except for a larger page of Parquet in LZ4.",
      .rare = true,
      .min = 1 },
    { .name = "write",
      .type = OPTION_CHOICE,
      .field = FIELD(write),
      .value = "HOW",
      .standard = "auto",
      .help = "how tokens get to the disk: auto, cached, direct",
      .more = "cached writes through the page cache, where training finds the tokens next. direct takes less CPU time "
              "and lets more than 8 threads write at once, on file systems that can (ext4, XFS). auto writes directly "
              "what comes after a quarter of the free memory, or after 1 GiB with more than 8 threads.",
      .rare = true,
      .choices = write_names },
    COMMANDS_PROGRESS(struct pack_values),
    OPTIONS_JSON(struct pack_values, "print the summary as one JSON object"),
    { .name = "part",
      .type = OPTION_CUSTOM,
      .field = FIELD(part),
      .value = "I/N|auto/N",
      .help = "pack only part I of N; `leat merge` joins all parts. auto: the scheduler's number",
      .more = "A part is the I-th of N shares of the inputs' bytes; `leat merge` joins all N into the bytes of one "
              "run. auto takes I from Slurm, Kubernetes, AWS Batch, PBS, MPI and others, from the environment; auto+K "
              "adds K to it, for an array that counts from 0, or several arrays. With --run, /N can be left out.",
      .group = "Many machines",
      .rare = true,
      .parse = parse_part },
    { .name = "run",
      .type = OPTION_TEXT,
      .field = FIELD(run),
      .value = "DIR",
      .help = "the shared folder of a run in many parts: plan it (--parts), or pack a part (--part)",
      .more = "With --parts and inputs, the plan is written down. Then `leat pack --run DIR --part I` or `--part "
              "auto`, without inputs, packs a part, or goes on with it; `leat status DIR` and `leat merge -o NAME DIR` "
              "follow. --dedup and --shuffle are for that merge; with --split, DIR/NAME is a dataset, too.",
      .rare = true,
      .path = true },
    { .name = "parts",
      .type = OPTION_COUNT,
      .field = FIELD(parts),
      .value = "N",
      .help = "how many parts the run of --run has",
      .rare = true,
      .min = 1,
      .max = LEAT_RUN_MAX_PARTS },
    { .name = "resume",
      .type = OPTION_FLAG,
      .field = FIELD(resume),
      .help = "continue a run that was stopped or killed, with the same arguments",
      .more = "The bytes are those of an unbroken run.",
      .group = "Failures" },
    { .name = "max-rejects",
      .type = OPTION_CUSTOM,
      .field = FIELD(max_rejects),
      .value = "N|P%",
      .standard = "1%",
      .help = "end with code 4 if more records than this cannot be packed",
      .more = "Records that cannot be packed go to NAME.rejects.jsonl with their reasons.",
      .rare = true,
      .parse = parse_bound },
    { .name = "allow-truncated",
      .type = OPTION_FLAG,
      .field = FIELD(allow_truncated),
      .help = "an input that is cut off or broken is a warning, not a failure",
      .more = "This is about compressed inputs and Parquet files; what was readable is packed either way.",
      .rare = true },
    OPTIONS_END,
};

void pack_values_free(struct pack_values *values)
{
    arrange_splits_free(&values->splits);
    option_list_free(&values->keep);
    option_list_free(&values->include);
    option_list_free(&values->exclude);
}

/* ---- To options of the library ----------------------------------------------------------------------------------- */

/*
 * This is a step after the table's because --end and --begin may name a token by its text, and their defaults are the
 * tokenizer's. If the tokenizer names no end token, the command fails and lists candidates: a wrong guess would be in
 * every document. If --end is given, documents get no begin token by default: it comes with the tokenizer's own end
 * token.
 */

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
    cli_error("warning: documents have no begin token, since --end is given without --begin; --begin %" PRIu64
              " adds the one "
              "that the tokenizer puts before single texts (%.*s)",
              info->text_before, token.bytes < 100 ? (int)token.bytes : 100, token.text);
}

static bool find_begin(const struct command *self, const struct pack_values *v, const struct leat_tokenizer *t,
                       uint64_t *begin)
{
    struct leat_tokenizer_info info = LEAT_TOKENIZER_INFO_INIT;

    if (v->begin)
        return commands_token(self, t, "begin", v->begin, begin);
    leat_tokenizer_info(t, &info);
    *begin = v->end || v->chat ? LEAT_NONE : info.begin_token; /* a chat template writes its own */
    if (v->end && !v->chat)
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
        used +=
            (size_t)snprintf(out + used, room - used, "%s%" PRIu64 " (%.*s) %s them", used > 0 ? " and " : "", ids[i],
                             token.bytes < 100 ? (int)token.bytes : 100, token.text, i == 0 ? "before" : "after");
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

bool pack_options_part(const struct command *self, const struct pack_values *v, struct leat_pack_options *o)
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
    o->include = v->include.items;
    o->include_count = v->include.count;
    o->exclude = v->exclude.items;
    o->exclude_count = v->exclude.count;
    o->skip_unknown = v->skip_unknown;
    o->allow_binary = v->allow_binary;
    o->follow_links = v->follow_links;
    o->allow_empty = v->allow_empty;
    o->resume = v->resume;
    o->force = v->force;
    if (pack_options_part(self, v, o) && commands_created(&o->created) && find_end(self, v, *t, &o->end_token) &&
        find_begin(self, v, *t, &o->begin_token))
        return CLI_DONE;
    leat_tokenizer_close(*t);
    *t = NULL;
    return CLI_WRONG;
}
