/*
 * test_replay.c: every stored input of every fuzzer once, without libFuzzer: what was ever found stays found. The name
 * of each input is printed before it is run, so that the last one is the one that failed.
 *
 * The inputs of a fuzzer are an archive, tests/fuzz/corpus/<fuzzer>.tar.xz, which make unpacks in the build. Files in
 * it that have a name in words show defects that a fuzzer found, or that were put into leat to see whether it does, and
 * are named after what was wrong; the others, named by a hash, are what adds coverage.
 * Usage: test_replay [fuzzer [file...]]
 */
#include "t.h"

int fuzz_adopt(const uint8_t *data, size_t size);
int fuzz_dataset(const uint8_t *data, size_t size);
int fuzz_column(const uint8_t *data, size_t size);
int fuzz_condition(const uint8_t *data, size_t size);
int fuzz_fit(const uint8_t *data, size_t size);
int fuzz_checkpoint(const uint8_t *data, size_t size);
int fuzz_foreign(const uint8_t *data, size_t size);
int fuzz_list(const uint8_t *data, size_t size);
int fuzz_folder_list(const uint8_t *data, size_t size);
int fuzz_writer(const uint8_t *data, size_t size);
int fuzz_load_json(const uint8_t *data, size_t size);
int fuzz_load_tiktoken(const uint8_t *data, size_t size);
int fuzz_load_sentencepiece(const uint8_t *data, size_t size);
int fuzz_load_folder(const uint8_t *data, size_t size);
int fuzz_tokenizer_cost(const uint8_t *data, size_t size);
int fuzz_encode(const uint8_t *data, size_t size);
int fuzz_json(const uint8_t *data, size_t size);
int fuzz_csv(const uint8_t *data, size_t size);
int fuzz_remote_answer(const uint8_t *data, size_t size);
int fuzz_remote_list(const uint8_t *data, size_t size);
int fuzz_bytes(const uint8_t *data, size_t size);
int fuzz_parquet(const uint8_t *data, size_t size);
int fuzz_plan(const uint8_t *data, size_t size);
int fuzz_state(const uint8_t *data, size_t size);
int fuzz_verify(const uint8_t *data, size_t size);
int fuzz_hub(const uint8_t *data, size_t size);
int fuzz_hub_tree(const uint8_t *data, size_t size);

static const struct fuzzer {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} fuzzers[] = {
    { "adopt", fuzz_adopt },
    { "dataset", fuzz_dataset },
    { "checkpoint", fuzz_checkpoint },
    { "column", fuzz_column },
    { "condition", fuzz_condition },
    { "fit", fuzz_fit },
    { "foreign", fuzz_foreign },
    { "list", fuzz_list },
    { "folder_list", fuzz_folder_list },
    { "writer", fuzz_writer },
    { "load_json", fuzz_load_json },
    { "load_tiktoken", fuzz_load_tiktoken },
    { "load_sentencepiece", fuzz_load_sentencepiece },
    { "load_folder", fuzz_load_folder },
    { "tokenizer_cost", fuzz_tokenizer_cost },
    { "encode", fuzz_encode },
    { "json", fuzz_json },
    { "csv", fuzz_csv },
    { "remote_answer", fuzz_remote_answer },
    { "remote_list", fuzz_remote_list },
    { "bytes", fuzz_bytes },
    { "parquet", fuzz_parquet },
    { "plan", fuzz_plan },
    { "state", fuzz_state },
    { "verify", fuzz_verify },
    { "hub", fuzz_hub },
    { "hub_tree", fuzz_hub_tree },
};

static void replay_file(const struct fuzzer *f, const char *path)
{
    FILE *file = fopen(path, "rb");
    struct stat st;
    uint8_t *bytes;
    size_t size;

    if (!file || fstat(fileno(file), &st) != 0) {
        T_FAIL("cannot open %s", path);
        return;
    }
    size = (size_t)st.st_size;
    bytes = malloc(size ? size : 1); /* to the byte: a read beyond it is seen */
    T_CHECK(bytes && fread(bytes, 1, size, file) == size);
    fclose(file);
    fprintf(stderr, "%s\n", path);
    f->run(bytes, size);
    free(bytes);
}

static void replay_folder(const struct fuzzer *f)
{
    const char *build = getenv("LEAT_BUILD");
    struct dirent *entry;
    unsigned count = 0;
    DIR *dir;
    const char *folder = t_text("%s/tests/fuzz/corpus/%s", build ? build : "build", f->name);

    dir = opendir(folder);
    while (dir && (entry = readdir(dir))) {
        if (entry->d_name[0] == '.')
            continue;
        replay_file(f, t_text("%s/%s", folder, entry->d_name));
        count++;
    }
    if (dir)
        closedir(dir);
    T_CHECK(count > 0);
}

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof fuzzers / sizeof fuzzers[0]; i++) {
        if (argc > 1 && strcmp(argv[1], fuzzers[i].name) != 0)
            continue;
        for (int n = 2; n < argc; n++)
            replay_file(&fuzzers[i], argv[n]);
        if (argc <= 2)
            replay_folder(&fuzzers[i]);
    }
    return t_end();
}
