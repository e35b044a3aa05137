/* show_places.c: tokens of a dataset, document by document; see show.h. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/status.h"
#include "show.h"

#define AT_ONCE 16384u
#define MOST    ((uint64_t)1 << 24) /* tokens that are held in memory */

static enum leat_status read_ids(const struct leat_dataset *d, uint64_t first, uint64_t count, int64_t *ids,
                                 struct leat_error *err)
{
    uint32_t block[AT_ONCE];
    enum leat_status s = LEAT_OK;

    for (uint64_t done = 0, part; s == LEAT_OK && done < count; done += part) {
        part = count - done < AT_ONCE ? count - done : AT_ONCE;
        s = commands_read_checked(d, first + done, part, block, err);
        for (uint64_t i = 0; s == LEAT_OK && i < part; i++)
            ids[done + i] = block[i];
    }
    return s;
}

/* A place's label is the next token: whether that one counts, by the mask. The dataset's last token has no label. */
static enum leat_status read_loss(const struct leat_dataset *d, uint64_t first, uint64_t count, uint8_t *loss,
                                  struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    uint64_t labels;
    enum leat_status s;

    leat_dataset_info(d, &info);
    labels = count > 0 && first + count == info.tokens ? count - 1 : count;
    s = leat_dataset_mask(d, first + 1, labels, loss, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        loss[i] = i < labels && loss[i] != 0;
    return s;
}

enum leat_status show_places(struct show_out *o, const struct leat_dataset *d, const struct show_words *words,
                             const char *title, uint64_t first, uint64_t end, struct leat_error *err)
{
    uint64_t count = end - first;
    struct show_stretch all = { .places = count, .document = LEAT_NONE, .words = words };
    struct show_row row = { .title = title, .text_bytes = LEAT_NONE, .length = count, .filled = count };
    struct leat_info info = LEAT_INFO_INIT;
    uint8_t *loss = NULL;
    enum leat_status s;
    int64_t *ids;

    if (count > MOST)
        return status_set(err, LEAT_E_RANGE,
                          "%s: %" PRIu64 " tokens are too many to show; show %" PRIu64 " at most, or use leat cat",
                          title, count, MOST);
    ids = malloc((size_t)count * sizeof *ids + 1);
    s = ids ? read_ids(d, first, count, ids, err) : status_no_memory(err, count * sizeof *ids);
    leat_dataset_info(d, &info);
    if (s == LEAT_OK && info.stores_mask) {
        row.loss = loss = malloc((size_t)count + 1);
        s = loss ? read_loss(d, first, count, loss, err) : status_no_memory(err, count);
    }
    row.ids = ids;
    if (s == LEAT_OK)
        s = show_row_add_documents(&row, d, first, &all, err);
    if (s == LEAT_OK)
        o->form->row(o, &row);
    show_row_clear(&row);
    free(loss);
    free(ids);
    return s;
}
