/*
 * test_stop_in_text.c: a run that is asked to stop does not wait for a text that takes long, and can go on from there.
 *
 * An interrupt was noticed between texts only: one of 69 KB kept `leat pack` for 40 s, whatever one pressed. The text
 * here takes longer than a test may.
 */
#include "t.h"
#include "leat_pack.h"

static const char file[] = "{\"model\":{\"type\":\"BPE\",\"vocab\":{\"1\":0,\"a\":1,\" \":2},\"merges\":[]},"
                           "\"pre_tokenizer\":{\"type\":\"Split\",\"behavior\":\"Isolated\",\"invert\":false,"
                           "\"pattern\":{\"Regex\":\"1{1,3}(?=(?:111)*(?:[^1]|$))|[^1]+\"}}}";

static const char *folder;

/* Digits in rows of 60,000, each of which takes seconds. */
static void write_input(const char *path)
{
    static char row[60001];
    FILE *f = fopen(path, "w");

    memset(row, '1', sizeof row - 1);
    for (int i = 0; f && i < 1000; i++)
        fprintf(f, "{\"text\":\"a\"}\n");
    fputs("{\"text\":\"", f);
    for (int i = 0; f && i < 200; i++)
        fprintf(f, "%sa", row);
    fputs("\"}\n{\"text\":\"a\"}\n", f);
    T_CHECK(f && fclose(f) == 0);
}

static uint32_t stop(void *context, const struct leat_pack_progress *p)
{
    unsigned *calls = context;

    (void)p;
    return ++*calls >= 2;
}

int main(void)
{
    struct leat_stored_tokenizer stored = { "made.json", "", file, sizeof file - 1 };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct leat_pack_report report = LEAT_PACK_REPORT_INIT;
    struct leat_tokenizer *tokenizer;
    const char *input;
    unsigned calls = 0;

    folder = t_folder();
    input = strdup(t_path(folder, "rows.jsonl"));
    write_input(input);
    T_OK(leat_tokenizer_open_stored(&tokenizer, &stored, &t_err));
    o.tokenizer = tokenizer;
    o.progress = stop;
    o.context = &calls;
    for (o.threads = 1; o.threads <= 2; o.threads++)
        for (o.resume = 0; o.resume < 2; o.resume++) {
            calls = 0;
            o.force = !o.resume;
            T_STATUS(leat_pack(t_path(folder, "rows"), &input, 1, &o, &report, &t_err), LEAT_E_STOPPED);
        }
    leat_tokenizer_close(tokenizer);
    free((void *)(uintptr_t)input);
    return t_end();
}
