/*
 * test_locate.c: from -t SPEC to a file: built-in names, files, folders and their order, a made-up hub cache, zstd (one
 * frame, several, cut off, damaged), the end-of-document token of tokenizer_config.json, and what is said if there is
 * nothing.
 */
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include "leat_pack.h"
#include "t.h"

#include "tokenizer/load/builtin.h"
#include "tokenizer/load/spec_open.h"

#define TOKENIZER                                                                                                      \
    "{\"added_tokens\":[{\"id\":3,\"content\":\"<eos>\",\"single_word\":false,\"lstrip\":false,\"rstrip\":false,"      \
    "\"normalized\":false,\"special\":true}],\"model\":{\"vocab\":{\"a\":0,\"b\":1,\"ab\":2},\"merges\":[\"a b\"]}}"
#define TIKTOKEN "YQ== 0\nYg== 1\n"

/* In `frames` frames of about the same size. */
static void write_zstd(const char *path, const char *text, unsigned frames, size_t cut)
{
    size_t length = strlen(text), room = ZSTD_compressBound(length) * frames, used = 0;
    char *out = malloc(room);

    for (unsigned i = 0; i < frames; i++) {
        size_t from = length * i / frames, to = length * (i + 1) / frames;

        used += ZSTD_compress(out + used, room - used, text + from, to - from, 3);
    }
    t_write(path, out, used - cut);
    free(out);
}

static struct opened_spec opened(const char *name)
{
    struct opened_spec o;

    if (spec_open(&o, name, NULL, &t_err) != LEAT_OK) {
        T_FAIL("%s: %s", name, t_err.message);
        exit(1);
    }
    return o;
}

static void not_opened(const char *name, const char *pattern, enum leat_status status, const char *sentence)
{
    struct opened_spec o;
    enum leat_status s = spec_open(&o, name, pattern, &t_err);

    if (s != status || !strstr(t_err.message, sentence))
        T_FAIL("%s: %s, \"%s\" instead of \"%s\"", name, leat_status_name(s), s ? t_err.message : "", sentence);
    T_CHECK(o.spec == NULL);
    spec_close(&o);
}

static void test_builtins(void)
{
    static const struct {
        const char *name;
        uint32_t size, end;
    } rows[] = { { "bytes", 257, 256 },
                 { "gpt2", 50257, 50256 },
                 { "p50k_base", 50281, 50256 },
                 { "p50k_edit", 50284, 50256 },
                 { "cl100k_base", 100277, 100257 },
                 { "o200k_base", 200019, 199999 },
                 { "o200k_harmony", 201088, 199999 } };
    static const struct {
        const char *name, *sentence;
    } names[] = { { "gpt-2", "did you mean the built-in gpt2?" },
                  { "gpt2-medium", "that model's is the built-in gpt2." },
                  { "gpt-4o", "that model's is the built-in o200k_base." },
                  { "GPT4o", "that model's is the built-in o200k_base." },
                  { "gpt-4.1-mini", "that model's is the built-in o200k_base." },
                  { "gpt4", "that model's is the built-in cl100k_base." },
                  { "gpt-3.5-turbo", "that model's is the built-in cl100k_base." },
                  { "text-davinci-003", "that model's is the built-in p50k_base." },
                  { "gpt-oss-20b", "that model's is the built-in o200k_harmony." },
                  { "llama3", "that of meta-llama/Meta-Llama-3-8B: give that name," },
                  { "qwen2_5", "that of Qwen/Qwen2.5-7B: give that name," },
                  { "p50k", "did you mean the built-in p50k_base?" },
                  { "o200k", "did you mean the built-in o200k_base?" },
                  { "r50k", "did you mean the built-in r50k_base?" } };
    /* names near to built-ins that are none of them, or of two */
    static const char *const others[] = { "gpt4all", "gpt3", "gpt", "gpt2x3", "50k_base", "o300k_base" };

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct opened_spec o = opened(rows[i].name);

        T_STR(o.at.builtin, rows[i].name);
        T_EQ(o.spec->vocabulary_size, rows[i].size);
        T_EQ(o.end.id, rows[i].end);
        T_CONTAINS(builtin_list(), rows[i].name);
        T_CHECK(o.at.path == NULL);
        spec_close(&o);
    }
    T_STR(builtin_find("r50k_base"), "gpt2");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        not_opened(names[i].name, NULL, LEAT_E_NO_FILE, names[i].sentence);
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        not_opened(others[i], NULL, LEAT_E_NO_FILE, "o200k_harmony), not a file or folder");
        T_CHECK(!builtin_nearest(others[i]));
    }
    T_STR(builtin_nearest("cl100k"), "cl100k_base");
    T_STR(builtin_nearest("gpt-2"), "gpt2");
    T_STR(builtin_nearest("o200k_bsae"), "o200k_base");
    not_opened("gpt2", "gpt2", LEAT_E_ARGUMENT, "the built-in gpt2 has its own");
    not_opened("gpt-2", NULL, LEAT_E_NO_FILE, "did you mean the built-in gpt2?");
    not_opened("./gpt2", NULL, LEAT_E_NO_FILE, "o200k_harmony), not a file or folder");
}

static void test_files(void)
{
    const char *folder = t_folder(), *path = t_path(folder, "any.name");
    struct opened_spec o;
    uint8_t print[FINGERPRINT_BYTES];

    t_write(path, TOKENIZER, strlen(TOKENIZER));
    o = opened(path);
    T_STR(o.at.path, path);
    T_CHECK(o.format == LOAD_TOKENIZER_JSON && o.at.plain == o.at.stored && o.at.stored_size == strlen(TOKENIZER));
    T_CHECK(o.end.id == SPEC_NONE && o.end.candidate_count == 1 && o.end.candidates[0] == 3);
    memcpy(print, o.print, sizeof print);
    spec_close(&o);
    for (unsigned frames = 1; frames < 4; frames++) {
        write_zstd(path, TOKENIZER, frames, 0);
        o = opened(path);
        T_CHECK(o.at.plain_size == strlen(TOKENIZER) && memcmp(o.print, print, sizeof print) == 0);
        spec_close(&o);
    }
    write_zstd(path, TOKENIZER, 2, 3);
    not_opened(path, NULL, LEAT_E_VOCABULARY, "is cut off: its zstd data is incomplete");
    t_write(path, "\x28\xb5\x2f\xfd\x20\x05\xff\xff\xff", 9);
    not_opened(path, NULL, LEAT_E_VOCABULARY, "is damaged: zstd says");
    t_write(path, "", 0);
    not_opened(path, NULL, LEAT_E_VOCABULARY, "the file is empty");
    T_CHECK(truncate(path, ((off_t)1 << 30) + 1) == 0);
    not_opened(path, NULL, LEAT_E_VOCABULARY, "too large for a vocabulary");
    not_opened("/no/such/file", NULL, LEAT_E_NO_FILE, "unknown tokenizer \"/no/such/file\"");
    unlink(path);
}

static void test_folder(void)
{
    const char *folder = t_folder();
    struct opened_spec o;

    not_opened(folder, NULL, LEAT_E_NO_FILE, "has no tokenizer: no tokenizer.json, tekken.json");
    t_write(t_path(folder, "gpt2.tiktoken"), TIKTOKEN, strlen(TIKTOKEN));
    not_opened(folder, NULL, LEAT_E_VOCABULARY, "the published gpt2 has 50256");
    T_OK(spec_open(&o, folder, "gpt2", &t_err));
    T_EQ(o.format, LOAD_TIKTOKEN);
    spec_close(&o);
    write_zstd(t_path(folder, "gpt2.tiktoken.zst"), TIKTOKEN, 1, 0); /* the same compressed is no second one */
    T_OK(spec_open(&o, folder, "gpt2", &t_err));
    spec_close(&o);
    t_write(t_path(folder, "b.tiktoken"), TIKTOKEN, strlen(TIKTOKEN));
    not_opened(folder, NULL, LEAT_E_ARGUMENT, "several vocabularies, b.tiktoken and gpt2.tiktoken: name one");
    t_write(t_path(folder, "tekken.json"), "{", 1);
    not_opened(folder, NULL, LEAT_E_VOCABULARY, "tekken.json is not valid JSON");
    not_opened(folder, NULL, LEAT_E_VOCABULARY, "; it was read as a tokenizer");
    write_zstd(t_path(folder, "tokenizer.json.zst"), TOKENIZER, 1, 0);
    o = opened(folder);
    T_STR(o.at.path, t_text("%s/tokenizer.json.zst", folder));
    spec_close(&o);
}

/* What tokenizer_config.json says of the end token. */
static void test_config(void)
{
    static const struct {
        const char *json;
        uint32_t end;
    } rows[] = {
        { "{\"eos_token\":\"<eos>\"}", 3 },
        { "{\"eos_token\":{\"__type\":\"AddedToken\",\"content\":\"ab\"}}", 2 },
        { "{\"eos_token\":null}", SPEC_NONE },
        { "{\"eos_token\":\"<none>\"}", SPEC_NONE },
        { "{}", SPEC_NONE },
        { "[]", SPEC_NONE },
    };
    const char *folder = t_folder();
    struct opened_spec o;

    t_write(t_path(folder, "tokenizer.json"), TOKENIZER, strlen(TOKENIZER));
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        t_write(t_path(folder, "tokenizer_config.json"), rows[i].json, strlen(rows[i].json));
        o = opened(folder);
        T_EQ(o.end.id, rows[i].end);
        spec_close(&o);
    }
    t_write(t_path(folder, "tokenizer_config.json"), "{", 1);
    not_opened(folder, NULL, LEAT_E_VOCABULARY, "tokenizer_config.json is not valid JSON");
}

static void make_folder(const char *root, const char *path)
{
    char whole[1024];

    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *p = whole + strlen(root) + 1; (p = strchr(p, '/')) != NULL; *p++ = '/') {
        *p = '\0';
        mkdir(whole, 0777);
    }
    mkdir(whole, 0777);
}

static void test_hub(void)
{
    const char *root = t_folder();
    char hub[1024];
    struct opened_spec o;
    const char *home = t_text("%s", root);

    snprintf(hub, sizeof hub, "%s/hub", root);
    make_folder(root, "hub/models--org--name/refs");
    make_folder(root, "hub/models--org--name/snapshots/0123abc");
    make_folder(root, "hub/models--org--name/snapshots/fff");
    make_folder(root, "hub/models--alone/snapshots/fff");
    t_write(t_path(root, "hub/models--org--name/refs/main"), "0123abc\n", 8);
    t_write(t_path(root, "hub/models--org--name/snapshots/0123abc/tokenizer.json"), TOKENIZER, strlen(TOKENIZER));
    t_write(t_path(root, "hub/models--alone/snapshots/fff/tokenizer.json"), TOKENIZER, strlen(TOKENIZER));
    unsetenv("HF_HUB_CACHE");
    unsetenv("HUGGINGFACE_HUB_CACHE");
    unsetenv("HF_HOME");
    unsetenv("XDG_CACHE_HOME");
    setenv("HOME", "/nowhere", 1);
    setenv("HF_HUB_OFFLINE", "1", 1); /* tests/remote/test_hub.py has what is fetched */
    not_opened("org/name", NULL, LEAT_E_NO_FILE, "cache /nowhere/.cache/huggingface/hub has no models--org--name");
    setenv("HF_HOME", home, 1);
    o = opened("org/name");
    T_CONTAINS(o.at.path, "/hub/models--org--name/snapshots/0123abc/tokenizer.json");
    spec_close(&o);
    o = opened("alone"); /* without refs, the only snapshot */
    spec_close(&o);
    o = opened("org/name@0123abc");
    spec_close(&o);
    make_folder(root, "hub/models--org--name/refs/refs/pr");
    t_write(t_path(root, "hub/models--org--name/refs/refs/pr/7"), "0123abc", 7);
    o = opened("org/name@refs/pr/7");
    spec_close(&o);
    not_opened("org/name@refs/../main", NULL, LEAT_E_NO_FILE, "not a file or folder");
    not_opened("org/name@fff", NULL, LEAT_E_NO_FILE, "has no tokenizer");
    not_opened("org/name@v2", NULL, LEAT_E_NO_FILE, "no snapshot of revision v2");
    not_opened("org/other", NULL, LEAT_E_NO_FILE, "has no models--org--other");
    T_CONTAINS(t_err.message, "hf://org/other: the environment says to stay offline (HF_HUB_OFFLINE)");
    not_opened("vocab/nope.json", NULL, LEAT_E_NO_FILE, "unknown tokenizer \"vocab/nope.json\": no such file");
    not_opened("org/../name", NULL, LEAT_E_NO_FILE, "not a file or folder");
    setenv("HF_HUB_CACHE", "/elsewhere", 1);
    not_opened("org/name", NULL, LEAT_E_NO_FILE, "the Hugging Face cache /elsewhere has no");
    setenv("HF_HUB_CACHE", hub, 1);
    setenv("HF_HOME", "/elsewhere", 1);
    o = opened("org/name");
    spec_close(&o);
    unsetenv("HF_HUB_CACHE");
    unsetenv("HF_HOME");
    setenv("XDG_CACHE_HOME", "/nowhere", 1);
    not_opened("org/name", NULL, LEAT_E_NO_FILE, "cache /nowhere/huggingface/hub has no models--org--name");
    unsetenv("XDG_CACHE_HOME");
    setenv("HF_HUB_CACHE", hub, 1);
    make_folder(root, "hub/models--org--bare");
    not_opened("org/bare", NULL, LEAT_E_NO_FILE, "no snapshot of revision main");
    not_opened("org/na,me", NULL, LEAT_E_NO_FILE, "not a file or folder");
    t_write(t_path(root, "hub/models--org--name/refs/main"), "../../..", 8); /* leads out: not followed */
    not_opened("org/name", NULL, LEAT_E_NO_FILE, "no snapshot of revision main");
}

static void test_stored(void)
{
    struct opened_spec o;
    uint8_t bytes[200];
    size_t packed;

    T_OK(spec_open_stored(&o, (const uint8_t *)TIKTOKEN, strlen(TIKTOKEN), "x.tiktoken", "qwen", &t_err));
    T_EQ(o.spec->token_count, 2);
    spec_close(&o);
    packed = ZSTD_compress(bytes, sizeof bytes, TIKTOKEN, strlen(TIKTOKEN), 1);
    T_OK(spec_open_stored(&o, bytes, packed, "x.tiktoken.zst", "qwen", &t_err));
    T_EQ(o.spec->token_count, 2);
    spec_close(&o);
    T_STATUS(spec_open_stored(&o, (const uint8_t *)"{", 1, "x.json", NULL, &t_err), LEAT_E_VOCABULARY);
}

/* A dataset may name what a later version has built in; never a file of this machine. */
static void test_names(void)
{
    const struct leat_stored_tokenizer later = { "gpt9", "", NULL, 0 }, file = { "/etc/hostname", "", NULL, 0 };
    struct leat_tokenizer *t;

    T_REFUSED(leat_tokenizer_open_stored(&t, &later, &t_err), LEAT_E_UNSUPPORTED,
              "unknown built-in tokenizer \"gpt9\" in the dataset: this version of leat lacks it");
    T_STATUS(leat_tokenizer_open_stored(&t, &file, &t_err), LEAT_E_UNSUPPORTED);
    T_STATUS(leat_tokenizer_open(&t, NULL, NULL, &t_err), LEAT_E_ARGUMENT);
    T_STATUS(leat_tokenizer_open(&t, "", NULL, &t_err), LEAT_E_ARGUMENT);
    T_CHECK(!t);
}

int main(void)
{
    test_names();
    test_builtins();
    test_files();
    test_folder();
    test_config();
    test_hub();
    test_stored();
    return t_end();
}
