/*
 * test_writer.c: datasets of random documents, written in every way the writer has, read back and compared with a plain
 * model in memory: tokens, starts, the documents of ranges, origins, ids, metadata; then verified, by every thread.
 */
#include "one_document.h"
#include "t.h"

struct model {
    uint32_t *tokens;
    uint64_t *starts;
    struct leat_origin *origins;
    uint64_t token_count, document_count, vocabulary;
    uint64_t end, begin;
};

static void put(struct model *m, uint64_t id)
{
    m->tokens[m->token_count++] = (uint32_t)id;
}

/* Writes one random document through one of the ways in, and into the model. */
static void add_document(struct leat_writer *w, struct model *m, uint64_t *random, uint64_t inputs, uint64_t longest)
{
    uint64_t count = t_below(random, 8) == 0 ? 0 : t_below(random, longest), split = count ? t_below(random, count) : 0;
    uint32_t *wide = malloc((count + 1) * 4);
    uint16_t *narrow = malloc((count + 1) * 2);
    char *id = malloc(32);
    struct leat_origin o = {
        .input = t_below(random, inputs), .offset = t_random(random), .line = t_random(random), .id = id
    };

    snprintf(id, 32, "doc-%" PRIu64, t_below(random, 1000000));
    o.id_bytes = t_below(random, 3) ? strlen(id) : 0;
    m->starts[m->document_count] = m->token_count;
    if (m->begin != LEAT_NONE)
        put(m, m->begin);
    for (uint64_t i = 0; i < count; i++) {
        wide[i] = (uint32_t)t_below(random, m->vocabulary);
        narrow[i] = (uint16_t)wide[i];
        put(m, wide[i]);
    }
    if (m->end != LEAT_NONE)
        put(m, m->end);
    switch (t_below(random, m->vocabulary <= 65536 ? 4 : 2)) {
    case 0:
        T_OK(add_one_document(w, wide, 4, NULL, count, &o, &t_err));
        break;
    case 1:
        T_OK(leat_writer_append(w, wide, 4, NULL, split, &t_err));
        T_OK(leat_writer_append(w, wide + split, 4, NULL, count - split, &t_err));
        T_OK(leat_writer_end_document(w, &o, &t_err));
        break;
    case 2:
        T_OK(add_one_document(w, narrow, 2, NULL, count, &o, &t_err));
        break;
    default:
        T_OK(leat_writer_append(w, narrow, 2, NULL, split, &t_err));
        T_OK(leat_writer_append(w, wide + split, 4, NULL, count - split, &t_err));
        T_OK(leat_writer_end_document(w, &o, &t_err));
    }
    m->origins[m->document_count++] = o;
    free(wide);
    free(narrow);
}

static void compare_tokens(const struct leat_dataset *d, const struct model *m, uint64_t *random)
{
    uint32_t *ids = malloc((m->token_count + 1) * 4);

    T_OK(leat_dataset_read_u32(d, 0, m->token_count, ids, &t_err));
    T_CHECK(memcmp(ids, m->tokens, m->token_count * 4) == 0);
    for (int i = 0; i < 50 && m->token_count > 0; i++) {
        uint64_t first = t_below(random, m->token_count), count = t_below(random, m->token_count - first + 1);

        T_OK(leat_dataset_read_u32(d, first, count, ids, &t_err));
        T_CHECK(memcmp(ids, m->tokens + first, count * 4) == 0);
    }
    T_STATUS(leat_dataset_read_u32(d, m->token_count, 1, ids, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_read_u32(d, 1, UINT64_MAX, ids, &t_err), LEAT_E_RANGE);
    free(ids);
}

/* The plain way: through all documents. */
static void documents_in(const struct model *m, uint64_t first, uint64_t count, uint64_t *from, uint64_t *to)
{
    *from = LEAT_NONE;
    for (uint64_t i = 0; i < m->document_count; i++) {
        uint64_t end = i + 1 < m->document_count ? m->starts[i + 1] : m->token_count;

        if (m->starts[i] < first + count && end > first && end > m->starts[i]) {
            if (*from == LEAT_NONE)
                *from = i;
            *to = i;
        }
    }
}

static void compare_documents(const struct leat_dataset *d, const struct model *m, uint64_t *random)
{
    uint64_t *starts = malloc((m->document_count + 1) * 8);

    T_OK(leat_dataset_starts(d, 0, m->document_count + 1, starts, &t_err));
    for (uint64_t i = 0; i < m->document_count; i++) {
        uint64_t first, count, bytes;
        struct leat_origin o;
        char id[64];

        T_EQ(starts[i], m->starts[i]);
        if (t_below(random, 1 + m->document_count / 100) != 0)
            continue;
        T_OK(leat_dataset_document(d, i, &first, &count, &t_err));
        T_EQ(first, m->starts[i]);
        T_EQ(first + count, i + 1 < m->document_count ? m->starts[i + 1] : m->token_count);
        T_OK(leat_dataset_origins(d, i, 1, &o, &t_err));
        T_EQ(o.input, m->origins[i].input);
        T_EQ(o.offset, m->origins[i].offset);
        T_EQ(o.line, m->origins[i].line);
        T_EQ(o.id_bytes, m->origins[i].id_bytes);
        T_OK(leat_dataset_ids(d, i, 1, id, sizeof id, &bytes, &t_err));
        T_EQ(bytes, m->origins[i].id_bytes);
        T_CHECK(memcmp(id, m->origins[i].id, bytes) == 0 && id[bytes] == '\0');
    }
    T_EQ(starts[m->document_count], m->token_count);
    for (int i = 0; i < 100 && m->token_count > 0; i++) {
        uint64_t first = t_below(random, m->token_count), count = 1 + t_below(random, m->token_count - first);
        uint64_t from = 0, to = 0, document, documents;

        if (i % 2)
            count = 1 + count % 3000;
        count = count <= m->token_count - first ? count : m->token_count - first;
        documents_in(m, first, count, &from, &to);
        T_OK(leat_dataset_documents_in(d, first, count, &document, &documents, &t_err));
        T_EQ(document, from);
        T_EQ(documents, to - from + 1);
    }
    free(starts);
}

static void one_dataset(const char *folder, uint64_t *random, uint64_t vocabulary, uint64_t documents, uint64_t longest,
                        int end, int begin, int access)
{
    struct leat_writer_options options = LEAT_WRITER_OPTIONS_INIT;
    struct leat_open_options how = LEAT_OPEN_OPTIONS_INIT;
    struct model m = { .vocabulary = vocabulary,
                       .end = end ? vocabulary - 1 : LEAT_NONE,
                       .begin = begin ? 0 : LEAT_NONE };
    struct leat_info info = LEAT_INFO_INIT, opened = LEAT_INFO_INIT;
    struct leat_verify_report report = LEAT_VERIFY_REPORT_INIT;
    char name[600];
    struct leat_metadata *metadata;
    struct leat_dataset *d;
    struct leat_writer *w;

    snprintf(name, sizeof name, "%s/d", folder);
    m.tokens = malloc((documents * (longest + 2) + 1) * 4);
    m.starts = malloc((documents + 1) * 8);
    m.origins = malloc((documents + 1) * sizeof *m.origins);
    options.vocabulary = vocabulary;
    options.end_token = m.end;
    options.begin_token = m.begin;
    options.store_lines = options.store_ids = 1;
    options.force = 1;
    T_OK(leat_writer_open(&w, name, &options, &t_err));
    for (uint64_t i = 0; i < 5; i++)
        T_OK(leat_writer_add_input(w, i % 2 ? "inputs/a.jsonl" : "b.jsonl.zst", NULL, &t_err));
    T_OK(leat_writer_set_metadata(w, "b", "2", &t_err));
    T_OK(leat_writer_set_metadata(w, "a", "1", &t_err));
    T_OK(leat_writer_set_metadata(w, "b", "", &t_err));
    T_OK(leat_writer_set_metadata(w, "c", "gone", &t_err));
    T_OK(leat_writer_set_metadata(w, "c", NULL, &t_err));
    for (uint64_t i = 0; i < documents; i++)
        add_document(w, &m, random, 5, longest);
    T_OK(leat_writer_finish(w, &info, &t_err));

    how.access = (enum leat_access)access;
    T_OK(leat_dataset_open(&d, name, &how, &t_err));
    leat_dataset_info(d, &opened);
    T_CHECK(memcmp(&info, &opened, sizeof info) == 0);
    T_EQ(info.tokens, m.token_count);
    T_EQ(info.documents, m.document_count);
    T_EQ(info.token_width, vocabulary <= 65536 ? 2 : 4);
    T_EQ(info.inputs, 5);
    compare_tokens(d, &m, random);
    compare_documents(d, &m, random);
    T_OK(leat_dataset_metadata(d, 0, &metadata, &t_err));
    T_EQ(metadata->count, 2);
    T_STR(metadata->pairs[0].key, "a");
    T_STR(metadata->pairs[1].value, "");
    leat_metadata_free(metadata);
    T_OK(leat_dataset_verify(d, NULL, &report, &t_err));
    T_EQ(report.bytes, info.token_bytes + info.index_bytes);
    leat_dataset_close(d);
    for (uint64_t i = 0; i < m.document_count; i++)
        free((char *)(uintptr_t)m.origins[i].id);
    free(m.tokens);
    free(m.starts);
    free(m.origins);
}

int main(void)
{
    static const uint64_t vocabularies[] = { 300, 65536, 65537, 200000 };
    const char *folder = t_folder();
    uint64_t random = t_seed();

    for (int i = 0; i < 4; i++)
        for (int access = LEAT_ACCESS_LEASED; access <= LEAT_ACCESS_READ; access++) {
            one_dataset(folder, &random, vocabularies[i], 0, 1, i & 1, i & 2, access);
            one_dataset(folder, &random, vocabularies[i], 1, 5000, i & 1, i & 2, access);
            one_dataset(folder, &random, vocabularies[i], t_times(300), 20000, i & 1, i & 2, access);
            one_dataset(folder, &random, vocabularies[i], t_times(20000), 4, i & 1, !(i & 2), access);
            one_dataset(folder, &random, vocabularies[i], t_times(5000), 1 + t_below(&random, 300), !(i & 1), 1,
                        access);
        }
    return t_end();
}
