/*
 * dataset_hash.c: the hashes of the documents' texts, which show which documents have the same text.
 */
#include <string.h>

#include "base/status.h"
#include "dataset.h"
#include "part_index.h"

enum leat_status leat_dataset_text_hashes(const struct leat_dataset *d, uint64_t first, uint64_t count,
                                          uint8_t (*hashes)[16], struct leat_error *err)
{
    enum leat_status s = dataset_check_documents(d, first, count, err);

    while (s == LEAT_OK && count > 0) {
        struct part *p = dataset_part_of_document(d, first);
        uint64_t at = first - p->first_document, left = p->documents - at, here = count < left ? count : left;

        if (!part_has(p, FORMAT_TEXT_HASHES))
            return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK,
                                   "%s has no text hashes; pack its inputs again", p->name);
        s = part_section(p, FORMAT_TEXT_HASHES, FORMAT_HASH_BYTES * at, hashes, FORMAT_HASH_BYTES * here, err);
        hashes += here;
        first += here;
        count -= here;
    }
    return s;
}

enum leat_status leat_dataset_text_hash(const struct leat_dataset *d, uint64_t document, uint8_t hash[16],
                                        struct leat_error *err)
{
    uint8_t one[1][16];
    enum leat_status s = leat_dataset_text_hashes(d, document, 1, one, err);

    if (s == LEAT_OK)
        memcpy(hash, one[0], sizeof one[0]);
    return s;
}
