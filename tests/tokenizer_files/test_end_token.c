/*
 * test_end_token.c: which token ends a document, for vocabularies without a tokenizer_config.json: families that are
 * known by their markers, whatever a version adds to them (Qwen 2.5 was known and Qwen 3 was not), and candidates with
 * the likely one first (Gemma 3 listed </s>, a tag of HTML, before <eos>). And what a post-processor says of it, also a
 * malformed one, which is no error.
 */
#include "t.h"

#include "tokenizer/load/end_token.h"
#include "tokenizer/load/load.h"

#define BAR "\357\275\234"
#define LOW "\342\226\201"

struct mark {
    uint32_t id;
    const char *text;
    bool plain; /* added, not special */
};

#define MARKS_MAX 8

/* The end token of a made tokenizer.json with these added tokens, and the ordinary tokens a and </s>. */
static struct end_token found(const struct mark marks[MARKS_MAX])
{
    static const uint8_t print[FINGERPRINT_BYTES];
    struct load_source source = { .path = "made.json" };
    struct tokenizer_spec *spec;
    enum load_format format;
    struct end_token end;
    char text[4096];
    size_t used = 0;
    bool taken = false;

    used += (size_t)snprintf(text, sizeof text, "{\"added_tokens\":[");
    for (size_t i = 0; i < MARKS_MAX && marks[i].text; i++)
        used +=
            (size_t)snprintf(text + used, sizeof text - used,
                             "%s{\"id\":%u,\"content\":\"%s\",\"single_word\":false,\"lstrip\":false,\"rstrip\":"
                             "false,\"normalized\":false,\"special\":%s}",
                             i > 0 ? "," : "", (unsigned)marks[i].id, marks[i].text, marks[i].plain ? "false" : "true");
    used += (size_t)snprintf(text + used, sizeof text - used, "],\"model\":{\"vocab\":{\"a\":300000");
    for (size_t i = 0; i < MARKS_MAX && marks[i].text; i++) {
        used += (size_t)snprintf(text + used, sizeof text - used, ",\"%s\":%u", marks[i].text, (unsigned)marks[i].id);
        taken = taken || strcmp(marks[i].text, "</s>") == 0;
    }
    used += (size_t)snprintf(text + used, sizeof text - used, "%s},\"merges\":[]}}", taken ? "" : ",\"</s>\":300001");
    source.bytes = (const uint8_t *)text;
    source.size = used;
    T_OK(load_spec(&spec, &format, &source, &t_err));
    end_token_find(&end, spec, print, NULL);
    spec_free(spec);
    return end;
}

static void test_families(void)
{
    static const struct {
        uint32_t end;
        struct mark marks[MARKS_MAX];
    } rows[] = {
        { 50256, { { 50256, "<|endoftext|>", false } } },
        { 151643,
          { { 151643, "<|endoftext|>", false },
            { 151644, "<|im_start|>", false },
            { 151645, "<|im_end|>", false },
            { 151665, "<tool_response>", true },
            { 151667, "<think>", true } } },
        { 128001, { { 128000, "<|begin_of_text|>", false }, { 128001, "<|end_of_text|>", false } } },
        { 200001,
          { { 200000, "<|begin_of_text|>", false },
            { 200001, "<|end_of_text|>", false },
            { 200008, "<|eot|>", false } } },
        { 199999,
          { { 199998, "<|startoftext|>", false },
            { 199999, "<|endoftext|>", false },
            { 200002, "<|return|>", false } } },
        { 1,
          { { 0, "<pad>", false },
            { 1, "<eos>", false },
            { 2, "<bos>", false },
            { 3, "<unk>", false },
            { 4, "<mask>", true },
            { 105, "<start_of_turn>", false },
            { 212, "</s>", true } } },
        { 2,
          { { 0, "<unk>", false },
            { 1, "<s>", false },
            { 2, "</s>", false },
            { 3, "[INST]", false },
            { 4, "[/INST]", false } } },
        { 1,
          { { 0, "<" BAR "begin" LOW "of" LOW "sentence" BAR ">", false },
            { 1, "<" BAR "end" LOW "of" LOW "sentence" BAR ">", false } } },
        { 163585, { { 163584, "[BOS]", false }, { 163585, "[EOS]", false } } },
        { 100257,
          { { 100257, "<|endoftext|>", false },
            { 100258, "<|fim_prefix|>", false },
            { 100259, "<|fim_middle|>", false },
            { 100260, "<|fim_suffix|>", false } } },
        { 151329,
          { { 151329, "<|endoftext|>", false },
            { 151330, "[MASK]", false },
            { 151331, "[gMASK]", false },
            { 151332, "[sMASK]", false } } },
    };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct mark moved[MARKS_MAX];

        T_EQ(found(rows[i].marks).id, rows[i].end);
        /* the same names elsewhere are not that family: with a gap, or with other ids */
        memcpy(moved, rows[i].marks, sizeof moved);
        moved[0].id += 7000;
        T_EQ(found(moved).id, SPEC_NONE);
    }
}

static void test_candidates(void)
{
    static const struct mark tags[MARKS_MAX] = { { 212, "</s>", true }, { 1, "<eos>", false }, { 2, "<bos>", false } };
    static const struct mark special[MARKS_MAX] = { { 212, "</s>", false }, { 1, "<eos>", false } };
    static const struct mark none[MARKS_MAX] = { { 2, "<bos>", false } };
    struct end_token end = found(tags);

    T_EQ(end.id, SPEC_NONE);
    T_EQ(end.candidate_count, 2);
    T_EQ(end.candidates[0], 1);
    T_EQ(end.candidates[1], 212);
    end = found(special);
    T_EQ(end.candidate_count, 2);
    T_EQ(end.candidates[0], 212);
    T_EQ(end.candidates[1], 1);
    end = found(none); /* only then the ordinary one */
    T_EQ(end.candidate_count, 1);
    T_EQ(end.candidates[0], 300001);
}

#define NONE          SPEC_NONE
#define BYTE_LEVEL    "{\"type\":\"ByteLevel\",\"add_prefix_space\":true,\"trim_offsets\":true}"
#define TEXT(id)      "{\"Sequence\":{\"id\":\"" id "\",\"type_id\":0}}"
#define SPECIAL(name) "{\"SpecialToken\":{\"id\":\"" name "\",\"type_id\":0}}"
#define TEMPLATE(single, ids)                                                                                          \
    "{\"type\":\"TemplateProcessing\",\"single\":[" single                                                             \
    "],\"pair\":[],\"special_tokens\":{\"x\":{\"id\":\"x\",\"ids\":" ids ",\"tokens\":[]}}}"

static void test_around(void)
{
    static const struct {
        const char *processor;
        uint32_t before, after, begin, end;
        bool other;
    } rows[] = {
        { "null", NONE, NONE, NONE, NONE, false },
        { BYTE_LEVEL, NONE, NONE, NONE, NONE, false },
        { "{\"type\":\"BertProcessing\",\"sep\":[\"s\",1],\"cls\":[\"c\",2]}", 2, 1, 2, 1, false },
        { "{\"type\":\"RobertaProcessing\",\"sep\":[\"s\",1],\"cls\":[\"c\",2]}", 2, 1, 2, 1, false },
        { "{\"type\":\"Another\",\"sep\":[\"s\",1],\"cls\":[\"c\",2]}", 2, 1, 2, 1, false },
        { "[[\"s\",1],[\"c\",2]]", 2, 1, 2, 1, false },
        { "{\"type\":\"Sequence\",\"processors\":[" BYTE_LEVEL ",{\"type\":\"BertProcessing\",\"sep\":"
          "[\"s\",0],\"cls\":[\"c\",0]}]}",
          0, 0, 0, 0, false },
        { TEMPLATE(SPECIAL("x") "," TEXT("A"), "[2]"), 2, NONE, NONE, NONE, false },
        { TEMPLATE(TEXT("A") "," SPECIAL("x"), "[2]"), NONE, 2, NONE, 2, false },
        { "[[{\"SpecialToken\":[\"x\",0]},{\"Sequence\":[{\"A\":null},0]}],[],{\"x\":[\"x\",[2],[]]}]", 2, NONE, NONE,
          NONE, false },
        /* two tokens; no text, or two, or that of a pair; a token that is not there; ids that nothing has; two that add
         * tokens */
        { TEMPLATE(TEXT("A") "," SPECIAL("x"), "[2,1]"), NONE, NONE, NONE, NONE, true },
        { TEMPLATE("", "[2]"), NONE, NONE, NONE, NONE, true },
        { TEMPLATE(TEXT("A") "," TEXT("A"), "[2]"), NONE, NONE, NONE, NONE, true },
        { TEMPLATE(TEXT("B"), "[2]"), NONE, NONE, NONE, NONE, true },
        { TEMPLATE(SPECIAL("y") "," TEXT("A"), "[2]"), NONE, NONE, NONE, NONE, true },
        { "{\"type\":\"BertProcessing\",\"sep\":[\"s\",3],\"cls\":[\"c\",2]}", NONE, NONE, NONE, NONE, true },
        { "{\"type\":\"Sequence\",\"processors\":[[[\"s\",1],[\"c\",2]],[[\"s\",1],[\"c\",2]]]}", NONE, NONE, NONE,
          NONE, true },
    };
    static const uint8_t print[FINGERPRINT_BYTES];

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct load_source source = { .path = "made.json" };
        struct tokenizer_spec *spec;
        enum load_format format;
        struct end_token end;
        char text[1024];

        source.size = (uint64_t)snprintf(text, sizeof text,
                                         "{\"post_processor\":%s,\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"c\":2},"
                                         "\"merges\":[]}}",
                                         rows[i].processor);
        source.bytes = (const uint8_t *)text;
        T_OK(load_spec(&spec, &format, &source, &t_err));
        end_token_find(&end, spec, print, NULL);
        if (spec->around.before != rows[i].before || spec->around.after != rows[i].after ||
            spec->around.other != rows[i].other || end.id != rows[i].end || end.begin != rows[i].begin)
            T_FAIL("%s: %u, %u", rows[i].processor, spec->around.before, spec->around.after);
        spec_free(spec);
    }
}

int main(void)
{
    test_families();
    test_candidates();
    test_around();
    return t_end();
}
