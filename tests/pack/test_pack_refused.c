/*
 * test_pack_refused.c: options that a packer does not do, or that make no sense together, are refused before anything
 * is written, with a sentence that says why, from programs as from the command; so is a struct that no _INIT macro
 * began. And what a packer says at its end of texts with malformed parts: by input, in their order, however they came.
 */
#include "leat_pack.h"
#include "one_text.h"
#include "t.h"

static const char *folder;
static struct leat_tokenizer *tokenizer;

static struct leat_pack_options options(void)
{
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;

    o.tokenizer = tokenizer;
    o.threads = 1;
    return o;
}

static void refuse_packer(const struct leat_pack_options *o, enum leat_status status, const char *why)
{
    uint64_t before = t_files(folder);
    struct leat_packer *p;

    T_REFUSED(leat_packer_open(&p, t_path(folder, "new"), o, &t_err), status, why);
    T_CHECK(!p);
    T_EQ(t_files(folder), before);
}

static void refuse(const struct leat_pack_options *o, enum leat_status status, const char *why)
{
    const char *input = t_path(folder, "in.txt");
    uint64_t before = t_files(folder);

    T_REFUSED(leat_pack(t_path(folder, "new"), &input, 1, o, NULL, &t_err), status, why);
    T_EQ(t_files(folder), before);
}

/* A packer takes texts: what divides by fields of records, or masks by them, would do nothing. */
static void test_packer(void)
{
    static const char *const keep[] = { "lang = " };
    struct leat_pack_options o[4] = { options(), options(), options(), options() };

    o[0].by = "lang";
    o[1].mask_field = "spans";
    o[2].chat = "";
    o[3].keep = keep;
    o[3].keep_count = 1;
    refuse_packer(&o[0], LEAT_E_ARGUMENT, "which have no fields to choose datasets by");
    refuse_packer(&o[1], LEAT_E_ARGUMENT, "which have no fields for masks: it packs all that it is given");
    refuse_packer(&o[2], LEAT_E_NOT_FOUND, "the tokenizer has no folder with a chat template: name the file of one");
    refuse_packer(&o[3], LEAT_E_ARGUMENT, "the condition \"lang = \" is wrong at character 8");
}

static void test_pack(void)
{
    struct leat_pack_options o[6] = { options(), options(), options(), options(), options(), options() };

    o[0].part = 1;
    o[0].parts = 2;
    o[0].dedup = 1;
    refuse(&o[0], LEAT_E_ARGUMENT, "splitting need the whole run: use them when merging its shares");
    o[1].part = 3;
    o[1].parts = 2;
    refuse(&o[1], LEAT_E_ARGUMENT, "no share 3 of 2: shares count from 1");
    o[2].by = "";
    refuse(&o[2], LEAT_E_ARGUMENT, "the field to choose datasets by has no name");
    o[3].write = (enum leat_write)(LEAT_WRITE_DIRECT + 1);
    refuse(&o[3], LEAT_E_ARGUMENT, "unknown value 3 for write");
    o[4].chat = "";
    o[4].mask_field = "spans";
    refuse(&o[4], LEAT_E_ARGUMENT, "a conversation says by its template what is learned, not by a field");
    o[5].chat = "";
    o[5].format = LEAT_PACK_JSONL;
    refuse(&o[5], LEAT_E_NOT_FOUND, "the tokenizer has no folder with a chat template: name the file of one");
}

struct said {
    char text[200];
};

static void note(void *context, const struct leat_pack_notice *n)
{
    struct said *said = context;
    size_t used = strlen(said->text);

    if (n->kind == LEAT_NOTICE_REPLACED)
        snprintf(said->text + used, sizeof said->text - used, "%s %llu;", n->path, (unsigned long long)n->count);
}

static void test_replaced(void)
{
    static const unsigned inputs[] = { 2, 0, 1, 2, 0 };
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_pack_options o = options();
    struct said said = { "" };
    struct leat_packer *p;

    o.notice = note;
    o.context = &said;
    T_OK(leat_packer_open(&p, t_path(folder, "replaced"), &o, &t_err));
    T_OK(leat_packer_add_input(p, "a", NULL, &t_err));
    T_OK(leat_packer_add_input(p, "b", NULL, &t_err));
    T_OK(leat_packer_add_input(p, "c", NULL, &t_err));
    for (unsigned i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        struct leat_origin origin = { .input = inputs[i], .offset = i, .line = LEAT_NONE };

        T_OK(add_one_text(p, "x\xffy\xff", inputs[i] == 1 ? 2 : 4, NULL, 0, &origin, &t_err));
    }
    T_OK(leat_packer_finish(p, &report, &t_err));
    T_EQ(report.replaced, 9);
    T_STR(said.text, "a 4;b 1;c 4;");
}

#define NO_SIZE(what, call)                                                                                            \
    do {                                                                                                               \
        t_err.message[0] = '\0';                                                                                       \
        T_STATUS(call, LEAT_E_ARGUMENT);                                                                               \
        T_CONTAINS(t_err.message, "struct " what " has no size: begin it with its _INIT macro");                       \
    } while (0)

static void test_without_size(void)
{
    static uint64_t zeros[512];
    void *none = zeros;
    const char *name = "no such file";
    struct leat_tokenizer *t = none; /* no handle is left */
    struct leat_encoder *e = none;
    struct leat_packer *p = none;

    NO_SIZE("leat_tokenizer_options", leat_tokenizer_open(&t, name, none, &t_err));
    NO_SIZE("leat_encoder_options", leat_encoder_open(&e, NULL, none, &t_err));
    NO_SIZE("leat_pack_options", leat_pack(name, &name, 1, none, NULL, &t_err));
    NO_SIZE("leat_pack_report", leat_pack(name, &name, 1, NULL, none, &t_err));
    NO_SIZE("leat_pack_options", leat_packer_open(&p, name, none, &t_err));
    T_CHECK(!t && !e && !p);
    NO_SIZE("leat_export_options", leat_export(name, &name, 1, none, NULL, &t_err));
    NO_SIZE("leat_export_report", leat_export(name, &name, 1, NULL, none, &t_err));
}

int main(void)
{
    FILE *f;

    folder = t_folder();
    f = fopen(t_path(folder, "in.txt"), "w");
    T_CHECK(f && fputs("text", f) >= 0 && fclose(f) == 0);
    T_OK(leat_tokenizer_open(&tokenizer, "gpt2", NULL, &t_err));
    test_packer();
    test_pack();
    test_without_size();
    test_replaced();
    leat_tokenizer_close(tokenizer);
    return t_end();
}
