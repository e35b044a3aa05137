/*
 * test_renderers.c: what renders conversations may end, or say anything: nonsense ends the run with an error that names
 * the conversation, and never a wrong dataset; what takes long ends it, or is rejected where that was asked for; and
 * without renderers nothing begins. So it is for a packer, whose conversations have no place in a file.
 */
#include "one_text.h"
#include "support/renderer.h"
#include "t.h"

#define CHATS 7

static const char *folder;
static char input[600], jinja[600], output[600];
static struct leat_tokenizer *tokenizer;

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    T_CHECK(f && fputs(text, f) >= 0);
    fclose(f);
}

static struct leat_pack_options options(const struct leat_renderers *renderers, uint32_t skip)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.chat = jinja;
    o.threads = 1;
    o.force = 1;
    o.renderers = renderers;
    o.chat_seconds = 1;
    o.skip_slow_chats = skip;
    return o;
}

static enum leat_status pack(const struct leat_renderers *renderers, uint32_t skip, struct leat_pack_report *report)
{
    struct leat_pack_options o = options(renderers, skip);

    *report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    return leat_pack(output, (const char *const[]) { input }, 1, &o, report, &t_err);
}

static enum leat_status pack_with(enum stand_in_says says, uint32_t skip, struct leat_pack_report *report)
{
    struct stand_in s = { says };

    return pack(&(struct leat_renderers) { stand_in_open, stand_in_close, &s }, skip, report);
}

static enum leat_status cannot_open(void *context, int *fd, struct leat_error *err)
{
    (void)context;
    *fd = -1;
    *err = (struct leat_error) { .status = LEAT_E_PERMISSION, .message = "no process today" };
    return LEAT_E_PERMISSION;
}

static void test_answers(void)
{
    struct leat_pack_report report;
    char at[64];

    T_STATUS(pack_with(STAND_IN_TEXT, 0, &report), LEAT_OK);
    T_EQ(report.documents, CHATS);
    T_STATUS(pack_with(STAND_IN_REJECTS, 0, &report), LEAT_OK);
    T_EQ(report.documents, 0);
    T_EQ(report.rejects, CHATS);
    for (int says = STAND_IN_COUNT; says <= STAND_IN_UTF8; says++) {
        T_STATUS(pack_with((enum stand_in_says)says, 0, &report), LEAT_E_IO);
        snprintf(at, sizeof at, "chats.jsonl: the process that renders");
        T_CONTAINS(t_err.message, at);
        T_CONTAINS(t_err.message, "at the one at byte 0");
        T_EQ(report.documents, 0);
    }
    T_STATUS(pack_with(STAND_IN_ENDS, 0, &report), LEAT_OK); /* others render what is left, one at a time */
    T_EQ(report.documents, CHATS);
    T_STATUS(pack_with(STAND_IN_NOTHING, 0, &report), LEAT_E_UNSUPPORTED);
    T_EQ(t_err.hint, LEAT_HINT_CHAT_TIME);
    T_CONTAINS(t_err.message, "rendering the conversation at byte 0 takes longer than 1 s");
    T_STATUS(pack_with(STAND_IN_NOTHING, 1, &report), LEAT_OK);
    T_EQ(report.rejects, CHATS);
}

/* A renderer that ends amid the parts of a conversation: the next one makes all of its parts, and none comes twice. */
static void test_split(void)
{
    struct stand_in s = { STAND_IN_SPLITS };
    struct leat_renderers renderers = { stand_in_open, stand_in_close, &s };
    struct leat_pack_options o = options(&renderers, 0);
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;

    o.end_token = LEAT_NONE;
    o.max_length = 20;
    o.too_long = LEAT_TOO_LONG_SPLIT;
    T_OK(leat_pack(output, (const char *const[]) { input }, 1, &o, &report, &t_err));
    T_EQ(report.documents, 2 * CHATS);
    T_EQ(report.tokens, 30 * CHATS);
    T_EQ(report.too_long, CHATS);
    T_EQ(report.rejects, 0);
}

/* Gives a packer the same conversations. */
static enum leat_status give(enum stand_in_says says, uint32_t skip, struct leat_pack_report *report)
{
    static const struct leat_span span = { 0, 1 };
    struct stand_in stand_in = { says };
    struct leat_renderers renderers = { stand_in_open, stand_in_close, &stand_in };
    struct leat_pack_options o = options(&renderers, skip);
    struct leat_packer *p;
    char record[100];
    enum leat_status s = leat_packer_open(&p, output, &o, &t_err);

    *report = (struct leat_pack_report)LEAT_PACK_REPORT_INIT;
    for (int i = 0; s == LEAT_OK && i < CHATS; i++) {
        snprintf(record, sizeof record, "{\"messages\":[{\"role\":\"user\",\"content\":\"%d\"}]}", i);
        T_STATUS(add_one_text(p, record, strlen(record), &span, 1, NULL, NULL), LEAT_E_ARGUMENT);
        s = add_one_text(p, record, strlen(record), NULL, 0, NULL, &t_err);
    }
    if (s == LEAT_OK)
        s = leat_packer_finish(p, report, &t_err);
    if (s != LEAT_OK)
        leat_packer_abandon(p);
    return s;
}

/* Records that hold no conversation become rejects, an empty one too. */
static void test_no_conversations(void)
{
    static const char *const records[] = {
        "", "{", "[]", "{\"messages\":1}", "{\"text\":\"x\"}", "{\"messages\":[]} x"
    };
    struct stand_in stand_in = { STAND_IN_TEXT };
    struct leat_renderers renderers = { stand_in_open, stand_in_close, &stand_in };
    struct leat_pack_options o = options(&renderers, 0);

    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
        struct leat_packer *p;

        T_STATUS(leat_packer_open(&p, output, &o, &t_err), LEAT_OK);
        T_STATUS(add_one_text(p, records[i], strlen(records[i]), NULL, 0, NULL, &t_err), LEAT_OK);
        T_STATUS(leat_packer_finish(p, &report, &t_err), LEAT_OK);
        T_EQ(report.rejects, 1);
        T_EQ(report.documents, 0);
    }
}

static void test_packer(void)
{
    struct leat_pack_report report;

    T_STATUS(give(STAND_IN_TEXT, 0, &report), LEAT_OK);
    T_EQ(report.documents, CHATS);
    T_STATUS(give(STAND_IN_REJECTS, 0, &report), LEAT_OK);
    T_EQ(report.rejects, CHATS);
    T_STATUS(give(STAND_IN_ENDS, 0, &report), LEAT_OK);
    T_EQ(report.documents, CHATS);
    for (int says = STAND_IN_COUNT; says <= STAND_IN_UTF8; says++) {
        T_REFUSED(give((enum stand_in_says)says, 0, &report), LEAT_E_IO,
                  "at the one that begins with [{\"role\":\"user\",\"content\":\"0\"}]");
    }
    T_STATUS(give(STAND_IN_NOTHING, 0, &report), LEAT_E_UNSUPPORTED);
    T_EQ(t_err.hint, LEAT_HINT_CHAT_TIME);
    T_CONTAINS(t_err.message, "rendering the conversation that begins with [{\"role\":\"user\",\"content\":\"0\"}]");
    T_STATUS(give(STAND_IN_NOTHING, 1, &report), LEAT_OK);
    T_EQ(report.rejects, CHATS);
    T_REFUSED(give(STAND_IN_NO_JINJA2, 0, &report), LEAT_E_ARGUMENT, "pip install 'jinja2>=3.1.6'");
}

static void test_none(void)
{
    struct leat_pack_report report;
    uint64_t before = t_files(folder);

    T_REFUSED(pack_with(STAND_IN_OTHER, 0, &report), LEAT_E_ARGUMENT,
              "the Python package of leat is of another version: install that of leat");
    T_REFUSED(pack_with(STAND_IN_NO_JINJA2, 0, &report), LEAT_E_ARGUMENT, "pip install 'jinja2>=3.1.6'");
    T_REFUSED(pack(NULL, 0, &report), LEAT_E_ARGUMENT, "give leat_pack() `renderers`");
    T_REFUSED(pack(&(struct leat_renderers) { stand_in_open, NULL, NULL }, 0, &report), LEAT_E_ARGUMENT,
              "needs both functions");
    T_REFUSED(pack(&(struct leat_renderers) { cannot_open, stand_in_close, NULL }, 0, &report), LEAT_E_PERMISSION,
              "no process today");
    T_EQ(t_files(folder), before);
}

int main(void)
{
    FILE *f;

    folder = t_folder();
    snprintf(input, sizeof input, "%s/chats.jsonl", folder);
    snprintf(jinja, sizeof jinja, "%s/chat.jinja", folder);
    snprintf(output, sizeof output, "%s/out", folder);
    write_file(jinja, "{{ messages }}");
    f = fopen(input, "w");
    T_CHECK(f != NULL);
    for (int i = 0; f && i < CHATS; i++)
        fprintf(f, "{\"messages\":[{\"role\":\"user\",\"content\":\"%d\"}]}\n", i);
    fclose(f);
    T_STATUS(leat_tokenizer_open(&tokenizer, "bytes", NULL, &t_err), LEAT_OK);
    test_none();
    test_answers();
    test_split();
    test_packer();
    test_no_conversations();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
