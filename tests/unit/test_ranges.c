/*
 * test_ranges.c: origins, ids and text hashes of many documents in one call are those of one document a call, within a
 * dataset and across a list whose datasets store different things; ranges that are not there; too little room.
 */
#include "one_document.h"
#include "t.h"

static const char *folder;

static void write_dataset(const char *name, uint64_t documents, int lines, int ids, int hashes, uint64_t *random)
{
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 100;
    o.store_lines = lines;
    o.store_ids = ids;
    o.store_hashes = hashes;
    T_OK(leat_writer_open(&w, t_path(folder, name), &o, &t_err));
    T_OK(leat_writer_add_input(w, "a", NULL, &t_err));
    T_OK(leat_writer_add_input(w, "b", NULL, &t_err));
    for (uint64_t i = 0; i < documents; i++) {
        static const char text[] = "an id of any length, be it nothing";
        struct leat_origin origin = { .input = t_below(random, 2), .offset = t_random(random), .line = i };
        uint8_t hash[16];

        for (unsigned k = 0; k < sizeof hash; k++)
            hash[k] = (uint8_t)t_random(random);
        origin.id = text + t_below(random, 10);
        origin.id_bytes = t_below(random, 25);
        origin.text_hash = t_below(random, 10) ? hash : NULL;
        T_OK(add_one_document(w, NULL, 2, NULL, 0, t_below(random, 10) ? &origin : NULL, &t_err));
    }
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void compare_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, const char *text, uint64_t bytes)
{
    uint64_t at = 0;

    for (uint64_t i = 0; i < count; i++) {
        char one[64];
        uint64_t length;

        T_OK(leat_dataset_ids(d, first + i, 1, one, sizeof one, &length, &t_err));
        T_CHECK(length <= bytes - at && memcmp(text + at, one, length) == 0);
        at += length;
    }
    T_EQ(at, bytes);
}

static void compare_range(const struct leat_dataset *d, uint64_t first, uint64_t count)
{
    struct leat_origin *origins = malloc((count + 1) * sizeof *origins), one;
    struct hash {
        uint8_t bytes[16];
    } *hashes = malloc((count + 1) * sizeof *hashes), hash;
    enum leat_status all = LEAT_OK;
    uint64_t bytes, again, total = 0;
    char *text, *part;

    T_OK(leat_dataset_origins(d, first, count, origins, &t_err));
    for (uint64_t i = 0; i < count; i++) {
        T_OK(leat_dataset_origins(d, first + i, 1, &one, &t_err));
        T_CHECK(origins[i].input == one.input && origins[i].offset == one.offset && origins[i].line == one.line);
        T_CHECK(origins[i].id_bytes == one.id_bytes && !origins[i].id && !origins[i].text_hash);
        total += one.id_bytes;
    }
    T_OK(leat_dataset_ids(d, first, count, NULL, 0, &bytes, &t_err));
    T_EQ(bytes, total);
    text = malloc(bytes + 2);
    part = malloc(bytes + 2);
    text[bytes + 1] = '!';
    T_OK(leat_dataset_ids(d, first, count, text, bytes + 1, &again, &t_err));
    T_EQ(again, bytes);
    T_CHECK(text[bytes] == '\0' && text[bytes + 1] == '!');
    compare_ids(d, first, count, text, bytes);
    for (uint64_t room = 0; room <= bytes; room += 1 + bytes / 3) { /* too little for all */
        memset(part, '!', bytes + 2);
        T_OK(leat_dataset_ids(d, first, count, part, room, &again, &t_err));
        T_EQ(again, bytes);
        T_CHECK(part[room] == '!' && (room == 0 || part[room - 1] == '\0'));
        T_CHECK(room == 0 || memcmp(part, text, room - 1) == 0);
    }
    free(part);
    for (uint64_t i = 0; i < count && all == LEAT_OK; i++)
        all = leat_dataset_text_hashes(d, first + i, 1, &hash.bytes, &t_err);
    T_STATUS(leat_dataset_text_hashes(d, first, count, &hashes->bytes, &t_err), all);
    for (uint64_t i = 0; i < count && all == LEAT_OK; i++) {
        T_OK(leat_dataset_text_hashes(d, first + i, 1, &hash.bytes, &t_err));
        T_CHECK(memcmp(&hash, &hashes[i], 16) == 0);
    }
    free(text);
    free(origins);
    free(hashes);
}

static void compare(const char *name, uint64_t documents, uint32_t stores_hashes, uint64_t *random)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_origin origin;
    struct leat_dataset *d;
    uint8_t hash[1][16];
    uint64_t bytes;

    T_OK(leat_dataset_open(&d, t_path(folder, name), NULL, &t_err));
    leat_dataset_info(d, &info);
    T_EQ(info.documents, documents);
    T_EQ(info.stores_hashes, stores_hashes);
    compare_range(d, 0, documents);
    for (int i = 0; i < 50; i++) {
        uint64_t first = t_below(random, documents + 1);

        compare_range(d, first, t_below(random, documents - first + 1));
    }
    T_STATUS(leat_dataset_origins(d, documents, 1, &origin, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_origins(d, 1, UINT64_MAX, &origin, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_ids(d, documents, 1, NULL, 0, &bytes, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_text_hashes(d, documents, 1, hash, &t_err), LEAT_E_RANGE);
    T_STATUS(leat_dataset_text_hashes(d, documents, 1, hash, &t_err), LEAT_E_RANGE);
    leat_dataset_close(d);
}

int main(void)
{
    uint64_t random = t_seed();

    folder = t_folder();
    write_dataset("a", 5000, 1, 1, 1, &random);
    write_dataset("b", 700, 0, 0, 1, &random);
    write_dataset("c", 0, 1, 1, 0, &random);
    write_dataset("d", 900, 1, 0, 0, &random);
    write_dataset("e", 800, 0, 1, 1, &random);
    compare("a", 5000, 1, &random);
    compare("d", 900, 0, &random);
    compare("", 7400, 1, &random);
    return t_end();
}
