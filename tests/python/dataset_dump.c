/*
 * dataset_dump.c: for check_reader.py:
 *
 *   dataset_dump make NAME SEED   writes a random dataset
 *   dataset_dump show NAME        prints everything of a dataset that the library gives out, a line each thing
 */
#include "one_document.h"
#include "t.h"

static void hex(const char *what, const void *bytes, uint64_t count)
{
    printf("%s", what);
    for (uint64_t i = 0; i < count; i++)
        printf("%02x", ((const uint8_t *)bytes)[i]);
}

/* ---- make ---- */

static void add_document(struct leat_writer *w, uint64_t *random, uint64_t vocabulary, uint64_t inputs, int masked)
{
    uint64_t shape = t_below(random, 10), count = shape == 0 ? 0 : shape == 1 ? 40000 : 1 + t_below(random, 300);
    struct leat_origin o = { .input = t_below(random, inputs + 1), .offset = t_random(random) >> 20 };
    uint32_t *ids = malloc((count + 1) * sizeof *ids);
    uint8_t hash[16], *mask = malloc(count + 1);
    char id[32];

    o.input = o.input == inputs ? LEAT_NONE : o.input;
    o.line = shape == 2 ? LEAT_NONE : t_below(random, 1000);
    o.id = id;
    o.id_bytes = shape == 3 ? 0 : (uint64_t)snprintf(id, sizeof id, "%" PRIx64, t_random(random));
    for (unsigned i = 0; i < sizeof hash; i++)
        hash[i] = (uint8_t)t_random(random);
    o.text_hash = shape == 4 ? NULL : hash;
    for (uint64_t i = 0; i < count; i++)
        ids[i] = (uint32_t)t_below(random, vocabulary);
    for (uint64_t i = 0; masked && i < count; i++)
        mask[i] = (uint8_t)t_below(random, 3);
    T_OK(add_one_document(w, ids, 4, masked && shape != 5 ? mask : NULL, count, &o, &t_err));
    free(mask);
    free(ids);
}

static int make(const char *name, uint64_t seed)
{
    struct leat_stored_tokenizer tokenizer = { "some.json", seed % 2 ? "gpt2" : "", "{}\n", 3 };
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    uint64_t random = seed, inputs = 1 + seed % 4, documents = seed % 5 == 0 ? 0 : 20 + seed % 100;
    struct leat_writer *w;

    options.vocabulary = seed % 3 ? 50257 : 128256;
    options.end_token = seed % 4 ? options.vocabulary - 1 : LEAT_NONE;
    options.begin_token = seed % 6 ? LEAT_NONE : 7;
    options.tokenizer = seed % 7 ? &tokenizer : NULL;
    options.store_lines = seed % 2;
    options.store_ids = seed % 3 != 1;
    options.store_hashes = seed % 5 < 3;
    options.store_mask = seed % 4 == 1;
    options.created = seed % 8 ? 0 : 1600000000 + seed;
    T_OK(leat_writer_open(&w, name, &options, &t_err));
    for (uint64_t i = 0; i < inputs; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        input.bytes = t_random(&random) >> 30;
        input.rejects = t_below(&random, 3);
        memset(input.hash, (int)i, sizeof input.hash);
        T_OK(leat_writer_add_input(w, i % 2 ? "inputs/\xc3\xa9t\xc3\xa9.jsonl" : "b", NULL, &t_err));
        T_OK(leat_writer_set_input(w, i, &input, &t_err));
    }
    for (uint64_t i = 0; i < documents; i++)
        add_document(w, &random, options.vocabulary, inputs, options.store_mask != 0);
    if (seed % 2) {
        T_OK(leat_writer_set_metadata(w, "zeta", "last", &t_err));
        T_OK(leat_writer_set_metadata(w, "zet", "\n", &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
    return t_end();
}

/* ---- show ---- */

static void show_facts(const struct leat_info *i)
{
    hex("identity ", i->identity, 16);
    hex("\nfingerprint ", i->fingerprint, 16);
    printf("\ncounts %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", i->tokens, i->documents, i->inputs);
    printf("header %" PRIu64 " %" PRIu64 " %" PRIu64 " %u %" PRIu64 "\n", i->vocabulary, i->end_token, i->begin_token,
           i->token_width, i->created);
    printf("sizes %" PRIu64 " %" PRIu64 "\n", i->token_bytes, i->index_bytes);
    printf("stores %u %u %u\n", i->stores_lines, i->stores_ids, i->stores_hashes);
}

static void show_tokens(const struct leat_dataset *d, const struct leat_info *info)
{
    uint32_t *ids = malloc((info->tokens + 1) * sizeof *ids);
    uint64_t *starts = malloc((info->documents + 1) * sizeof *starts);

    T_OK(leat_dataset_read_u32(d, 0, info->tokens, ids, &t_err));
    T_OK(leat_dataset_starts(d, 0, info->documents + 1, starts, &t_err));
    printf("tokens");
    for (uint64_t i = 0; i < info->tokens; i++)
        printf(" %u", ids[i]);
    if (info->stores_mask) {
        T_OK(leat_dataset_mask(d, 0, info->tokens, (uint8_t *)ids, &t_err));
        hex("\nmask ", ids, info->tokens);
    }
    printf("\nstarts");
    for (uint64_t i = 0; i <= info->documents; i++)
        printf(" %" PRIu64, starts[i]);
    puts("");
    for (uint64_t i = 0; i < 300 && info->tokens > 0; i++) {
        uint64_t first = i * 104729 % info->tokens, count = 1 + i * i * 31 % (info->tokens - first);
        uint64_t document, documents;

        T_OK(leat_dataset_documents_in(d, first, count, &document, &documents, &t_err));
        printf("window %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", first, count, document,
               document + documents - 1);
    }
    free(ids);
    free(starts);
}

static void show_origins(const struct leat_dataset *d, const struct leat_info *info)
{
    char text[1024];
    uint8_t hash[16];
    uint64_t bytes;

    for (uint64_t i = 0; i < info->inputs; i++) {
        struct leat_input input = LEAT_INPUT_INIT;

        T_OK(leat_dataset_input(d, i, &input, &t_err));
        T_OK(leat_dataset_input_path(d, i, text, sizeof text, &bytes, &t_err));
        hex("input ", text, bytes);
        printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, input.bytes, input.documents, input.tokens,
               input.rejects);
        hex(" ", input.hash, 16);
        puts("");
    }
    for (uint64_t i = 0; i < info->documents; i++) {
        struct leat_origin o;

        T_OK(leat_dataset_origins(d, i, 1, &o, &t_err));
        T_OK(leat_dataset_ids(d, i, 1, text, sizeof text, &bytes, &t_err));
        printf("origin %" PRIu64 " %" PRIu64 " %" PRIu64, o.input, o.offset, o.line);
        hex(" ", text, bytes);
        hex(" ", hash, leat_dataset_text_hashes(d, i, 1, &hash, NULL) == LEAT_OK ? sizeof hash : 0);
        puts("");
    }
}

static void show_stored(const struct leat_dataset *d)
{
    struct leat_stored_tokenizer *t;
    struct leat_metadata *m;

    if (leat_dataset_tokenizer(d, &t, &t_err) == LEAT_OK) {
        hex("tokenizer ", t->name, strlen(t->name));
        hex(" ", t->pattern, strlen(t->pattern));
        hex(t->file ? " " : " none", t->file, t->file_bytes);
        puts("");
        leat_stored_tokenizer_free(t);
    }
    T_OK(leat_dataset_metadata(d, 0, &m, &t_err));
    for (uint64_t i = 0; i < m->count; i++) {
        hex("pair ", m->pairs[i].key, m->pairs[i].key_bytes);
        hex(" ", m->pairs[i].value, m->pairs[i].value_bytes);
        puts("");
    }
    leat_metadata_free(m);
}

static int show(const char *name)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;

    T_OK(leat_dataset_open(&d, name, NULL, &t_err));
    leat_dataset_info(d, &info);
    show_facts(&info);
    show_tokens(d, &info);
    show_origins(d, &info);
    show_stored(d);
    leat_dataset_close(d);
    return t_end();
}

int main(int argc, char **argv)
{
    if (argc == 4 && strcmp(argv[1], "make") == 0)
        return make(argv[2], strtoull(argv[3], NULL, 0));
    if (argc == 3 && strcmp(argv[1], "show") == 0)
        return show(argv[2]);
    fprintf(stderr, "usage: dataset_dump make NAME SEED | show NAME\n");
    return 2;
}
