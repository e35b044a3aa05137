/*
 * verify_sections.c: one task of verifying a section of the index: its pages' sum, and the rules of those sections
 * that no sum finds broken: document starts, id ends, lines, origins.
 */
#include "base/bytes.h"
#include "base/status.h"
#include "verify.h"

/* Checks that numbers never fall, within the block and from the one before it. */
static enum leat_status check_rising(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint64_t before = 0;
    enum leat_status s = at == 0 ? LEAT_OK : part_section(w->v->part, a->kind, at - 8, &before, 8, &w->err);

    before = bytes_le64(before);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i += 8) {
        uint64_t value = bytes_load64(w->bytes + i);

        if (value < before)
            return status_set_at(
                &w->err, a->kind == FORMAT_DOCUMENTS ? LEAT_E_DOCUMENTS : LEAT_E_RECORD, a->place.offset + at + i,
                "%s: entry %llu of its %s section is less than the previous one; write the dataset again",
                w->v->part->index->file.path, (unsigned long long)((at + i) / 8), format_section_name(a->kind));
        before = value;
    }
    return s;
}

static void count_documents(struct verify *v, uint64_t input, uint64_t documents, uint64_t tokens)
{
    if (input < v->inputs && documents > 0) {
        atomic_fetch_add_explicit(&v->counts[input].documents, documents, memory_order_relaxed);
        atomic_fetch_add_explicit(&v->counts[input].tokens, tokens, memory_order_relaxed);
    }
}

static uint64_t input_of(const struct verify_worker *w, uint64_t i)
{
    return bytes_load64(w->bytes + FORMAT_ORIGIN_BYTES * i + 8);
}

/* Counts documents [first, first + n), whose origins are in w->bytes, by input. Mostly all come from one input, and
 * then only the ends of the range are fetched. */
static enum leat_status count_origins(struct verify_worker *w, uint64_t first, uint64_t n)
{
    uint64_t run = 0, same = 1; /* the first document of a run from one input */
    enum leat_status s;

    while (same < n && input_of(w, same) == input_of(w, 0))
        same++;
    if (same == n) {
        s = part_starts(w->v->part, first, 1, w->starts, &w->err);
        if (s == LEAT_OK)
            s = part_starts(w->v->part, first + n, 1, w->starts + 1, &w->err);
        if (s == LEAT_OK)
            count_documents(w->v, input_of(w, 0), n, w->starts[1] - w->starts[0]);
        return s;
    }
    s = part_starts(w->v->part, first, n + 1, w->starts, &w->err);
    for (uint64_t i = 1; s == LEAT_OK && i <= n; i++)
        if (i == n || input_of(w, i) != input_of(w, run)) {
            count_documents(w->v, input_of(w, run), i - run, w->starts[i] - w->starts[run]);
            run = i;
        }
    return s;
}

/* Checks that origins name existing inputs, and never fall if the index says so. */
static enum leat_status check_origins(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint64_t first = at / FORMAT_ORIGIN_BYTES, n = count / FORMAT_ORIGIN_BYTES, last[2] = { 0, 0 };
    bool ordered = a->place.flags & FORMAT_ORDERED;
    enum leat_status s = LEAT_OK;

    if (at > 0)
        s = part_section(w->v->part, FORMAT_ORIGINS, at - FORMAT_ORIGIN_BYTES, last, sizeof last, &w->err);
    last[0] = bytes_le64(last[0]);
    last[1] = bytes_le64(last[1]);
    for (uint64_t i = 0; s == LEAT_OK && i < n; i++) {
        uint64_t offset = bytes_load64(w->bytes + FORMAT_ORIGIN_BYTES * i), input = input_of(w, i);
        const char *wrong = NULL;

        if (input != LEAT_NONE && input >= w->v->inputs)
            wrong = "names an input that does not exist";
        else if (ordered && (input < last[1] || (input == last[1] && offset < last[0])))
            wrong = "lies before the previous one, and they are said to be in order";
        if (wrong)
            return status_set_at(&w->err, LEAT_E_RECORD, a->place.offset + at + FORMAT_ORIGIN_BYTES * i,
                                 "%s: the origin of document %llu %s; write the dataset again",
                                 w->v->part->index->file.path, (unsigned long long)(first + i), wrong);
        last[0] = offset;
        last[1] = input;
    }
    return s == LEAT_OK ? count_origins(w, first, n) : s;
}

/* Checks that line numbers count from 1. */
static enum leat_status check_lines(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 8)
        if (bytes_load64(w->bytes + i) == 0)
            return status_set_at(&w->err, LEAT_E_RECORD, a->place.offset + at + i,
                                 "%s: the line of document %llu is 0, but lines count from 1; write the dataset again",
                                 w->v->part->index->file.path, (unsigned long long)((at + i) / 8));
    return LEAT_OK;
}

/* Checks the pages' hashes that a mask has beside its sum. */
static enum leat_status check_mask(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint32_t found[VERIFY_BUFFER_BYTES / CHECKSUM_PAGE], stored[VERIFY_BUFFER_BYTES / CHECKSUM_PAGE];
    uint64_t page = at / CHECKSUM_PAGE, pages = bytes_divide_up(count, CHECKSUM_PAGE);
    enum leat_status s = part_section(w->v->part, FORMAT_MASK_PAGES, 4 * page, stored, 4 * pages, &w->err);
    struct hash128 sum = { 0, 0 };

    w->v->part->kernels->pages(&sum, w->bytes, (size_t)count, page, found);
    for (uint64_t i = 0; s == LEAT_OK && i < pages; i++)
        if (found[i] != bytes_le32(stored[i]))
            return status_set_at(&w->err, LEAT_E_CHECKSUM, a->place.offset + at + i * CHECKSUM_PAGE,
                                 "%s: page %llu of its mask does not match its hash; %s", w->v->part->index->file.path,
                                 (unsigned long long)(page + i), part_remedy(w->v->part, false));
    return s;
}

/* One task of a section. Whether its bytes or only their meaning is wrong shows in the sum, which goes on. */
void verify_section(struct verify_worker *w, struct verify_area *a, uint64_t task)
{
    uint64_t begin = task * VERIFY_TASK_BYTES, bytes = verify_task_bytes(a->place.bytes, task);
    struct verify_stretch stretch = verify_open_stretch(w, &w->v->part->index->file, a->place.offset + begin, bytes);
    struct hash128 sum = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; at < bytes && (s == LEAT_OK || verify_is_damage(s, &w->err)); at += VERIFY_BUFFER_BYTES) {
        uint64_t here = bytes - at < VERIFY_BUFFER_BYTES ? bytes - at : VERIFY_BUFFER_BYTES, from = begin + at;

        s = verify_load_chunk(w, &stretch, at, here);
        if (s == LEAT_OK) {
            w->v->part->kernels->pages(&sum, w->bytes, (size_t)here, from / CHECKSUM_PAGE, NULL);
            if (a->kind == FORMAT_DOCUMENTS || a->kind == FORMAT_ID_ENDS)
                s = check_rising(w, a, from, here);
            else if (a->kind == FORMAT_LINES)
                s = check_lines(w, a, from, here);
            else if (a->kind == FORMAT_MASK)
                s = check_mask(w, a, from, here);
            else if (a->kind == FORMAT_ORIGINS)
                s = check_origins(w, a, from, here);
        }
        if (s != LEAT_OK && a->kind == FORMAT_ORIGINS)
            atomic_store(&w->v->uncounted, true);
        if (s != LEAT_OK)
            verify_note(w->v, s, &w->err,
                        verify_is_damage(s, &w->err) ? VERIFY_RANK_RECORDS + a->place.offset + from : from);
    }
    verify_close_stretch(&stretch);
    pthread_mutex_lock(&w->v->lock);
    checksum_add(&a->sum, sum);
    pthread_mutex_unlock(&w->v->lock);
}
