/*
 * verify_records.c: the checks that are small or need all threads' results: sums, padding between sections,
 * inputs against what was counted, the tokenizer and metadata records.
 */
#include "base/bytes.h"
#include "base/status.h"
#include "dataset/dataset.h"
#include "format/records.h"
#include "verify.h"

/* What could not be read comes before all damage. */
static void note(struct verify *v, enum leat_status s, const struct leat_error *why, uint64_t offset)
{
    if (s != LEAT_OK)
        verify_note(v, s, why, verify_is_damage(s, why) ? VERIFY_RANK_RECORDS + offset : offset);
}

static void check_sums(struct verify *v)
{
    struct leat_error why;

    for (unsigned i = 0; i < v->area_count; i++) {
        const struct verify_area *a = &v->areas[i];

        if (!checksum_equal(a->sum, a->place.sum))
            verify_note(v,
                        status_set_at(&why, LEAT_E_CHECKSUM, a->place.offset,
                                      "the %s section of %s (bytes %llu to %llu) is damaged: its checksum does not "
                                      "match; %s",
                                      format_section_name(a->kind), v->part->index->file.path,
                                      (unsigned long long)a->place.offset,
                                      (unsigned long long)(a->place.offset + a->place.bytes),
                                      part_remedy(v->part, false)),
                        &why, VERIFY_RANK_SUMS + a->place.offset);
    }
    /* this says more than the pages only if the pages section is sound */
    if (!v->options->index_only && v->found.damaged_pages == 0 &&
        !checksum_equal(v->token_sum, v->part->index->header.token_sum))
        verify_note(v,
                    status_set_at(&why, LEAT_E_CHECKSUM, 0,
                                  "%s is damaged: the sum of its page hashes does not match its index, although the "
                                  "short hash of each page does; %s",
                                  v->part->data.file->path, part_remedy(v->part, true)),
                    &why, VERIFY_RANK_PAGES);
}

/* The bytes between one section and the next are zero. */
static void check_padding(struct verify *v)
{
    uint8_t bytes[FORMAT_ALIGNMENT];
    struct leat_error why;

    for (unsigned i = 0; i < v->area_count; i++) {
        uint64_t end = v->areas[i].place.offset + v->areas[i].place.bytes, next = format_align(end);
        enum leat_status s;

        if (end == v->part->index->file.size || next > v->part->index->file.size)
            continue; /* the last one */
        s = file_map_read(&v->part->index->file, end, bytes, next - end, &why);
        if (s == LEAT_OK && !bytes_all_zero(bytes, next - end))
            s = status_set_at(
                &why, LEAT_E_SECTION, end, "%s: the bytes after its %s section are not zero: it is damaged; %s",
                v->part->index->file.path, format_section_name(v->areas[i].kind), part_remedy(v->part, false));
        note(v, s, &why, end);
    }
}

static void check_inputs(struct verify *v)
{
    uint64_t paths = 0, path_bytes = part_place(v->part, FORMAT_INPUT_PATHS)->bytes;
    uint64_t section = part_place(v->part, FORMAT_INPUTS)->offset;
    uint8_t record[FORMAT_INPUT_BYTES];
    struct records_input input;
    struct leat_error why;

    for (uint64_t i = 0; i <= v->inputs; i++) {
        uint64_t at = FORMAT_INPUT_BYTES * i;
        const char *wrong = NULL;

        if (i < v->inputs) {
            enum leat_status s = part_section(v->part, FORMAT_INPUTS, at, record, sizeof record, &why);

            if (s != LEAT_OK) {
                note(v, s, &why, section + at);
                return;
            }
            records_load_input(&input, record);
            if (input.path_offset != paths || !bytes_inside(paths, input.path_bytes, path_bytes))
                wrong = "its path does not follow the previous one";
            else if (!atomic_load(&v->uncounted) &&
                     (input.documents != v->counts[i].documents || input.tokens != v->counts[i].tokens))
                wrong = "its number of documents or tokens does not match the origins";
            paths += input.path_bytes;
        } else if (paths != path_bytes) {
            wrong = "the paths do not end with the path of the last input";
        }
        if (wrong) {
            status_set_at(&why, LEAT_E_RECORD, section + at, "%s: input %llu is invalid: %s; write the dataset again",
                          v->part->index->file.path, (unsigned long long)i, wrong);
            note(v, LEAT_E_RECORD, &why, section + at);
            return;
        }
    }
}

/* The ids end where their section does. */
static void check_id_ends(struct verify *v)
{
    const struct format_place *ends = part_place(v->part, FORMAT_ID_ENDS);
    const struct format_place *ids = part_place(v->part, FORMAT_IDS);
    struct leat_error why;
    uint64_t last = 0;
    enum leat_status s = LEAT_OK;

    if (!ends->present)
        return;
    if (ends->entries > 0)
        s = part_section(v->part, FORMAT_ID_ENDS, 8 * (ends->entries - 1), &last, 8, &why);
    if (s == LEAT_OK && bytes_le64(last) != ids->bytes)
        s = status_set_at(&why, LEAT_E_RECORD, ends->offset,
                          "%s: the id of the last document does not end with the ids section; write the dataset again",
                          v->part->index->file.path);
    note(v, s, &why, ends->offset);
}

/* The readers of these records check them whole. They read the first part's tokenizer and any part's metadata. */
static void check_stored(struct verify *v)
{
    struct leat_dataset alone = { .parts = v->part, .part_count = 1 };
    struct leat_stored_tokenizer *tokenizer;
    struct leat_metadata *metadata;
    struct leat_error why;
    enum leat_status s;

    if (part_has(v->part, FORMAT_TOKENIZER)) {
        s = leat_dataset_tokenizer(&alone, &tokenizer, &why);
        leat_stored_tokenizer_free(tokenizer);
        note(v, s, &why, part_place(v->part, FORMAT_TOKENIZER)->offset);
    }
    s = leat_dataset_metadata(&alone, 0, &metadata, &why);
    leat_metadata_free(metadata);
    note(v, s, &why, part_place(v->part, FORMAT_METADATA)->offset);
}

void verify_records(struct verify *v)
{
    check_sums(v);
    check_padding(v);
    check_inputs(v);
    check_id_ends(v);
    check_stored(v);
    v->report->bytes += v->part->index->file.size;
    for (unsigned i = 0; i < v->area_count; i++)
        v->report->bytes -= v->areas[i].place.bytes; /* counted by the tasks */
}
