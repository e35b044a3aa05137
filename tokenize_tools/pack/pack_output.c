/*
 * pack_output.c: takes units in order, and makes checkpoints.
 *
 * Units are placed in order, by one thread at a time: their documents get a place from the writer, rejected records
 * go to their file, and o->at moves past the unit. A checkpoint stores o->at, so that a resumed run continues with
 * the next unit. Any thread brings the documents to their places; the writer waits for that before a checkpoint. At
 * each unit the run is judged: too many rejects end it, and so does a field whose name seems wrong. Checkpoints are
 * made by bytes and time, and when a run is stopped.
 */
#include "pack_output.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/wide.h"
#include "pack/flow/steps.h"
#include "pack/flow/unit_kinds.h"
#include "pack_by.h"
#include "pack_description.h"
#include "pack_facts.h"

/* ---- The note of a checkpoint ------------------------------------------------------------------------------------ */

/* The note of a checkpoint, which says where the packer stood. It is written and read here only. */

static const char magic[8] = { 'l', 'e', 'a', 't', 'p', 'k', '1', '2' };

/* The numbers of a position, in the order of the note. */
#define POSITION_NUMBERS (20 + COUNTS + LEARNED_ROLES)
static void numbers_of(struct pack_position *p, uint64_t *numbers[POSITION_NUMBERS])
{
    uint64_t *all[POSITION_NUMBERS] = {
        &p->input,          &p->offset,      &p->mark.raw_offset, &p->mark.text_offset, &p->declared, &p->lines,
        &p->input_rejects,  &p->sum.low,     &p->sum.high,        &p->reject_bytes,     &p->rejects,  &p->text_bytes,
        &p->damaged_inputs, &p->replaced,    &p->reject_sum.low,  &p->reject_sum.high,  &p->damaged,  &p->lost,
        &p->row_groups,     &p->input_taken,
    };

    for (unsigned i = 0; i < COUNTS; i++)
        all[POSITION_NUMBERS - LEARNED_ROLES - COUNTS + i] = &p->counts[i];
    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        all[POSITION_NUMBERS - LEARNED_ROLES + i] = &p->learned_by_role[i];
    memcpy(numbers, all, sizeof all);
}

#define POSITION_BYTES (8 + 8 * (POSITION_NUMBERS + 1) + 16)

static void store_position(uint8_t note[POSITION_BYTES], const struct pack_position *p)
{
    struct pack_position copy = *p;
    uint64_t *numbers[POSITION_NUMBERS];

    numbers_of(&copy, numbers);
    memcpy(note, magic, sizeof magic);
    for (unsigned i = 0; i < POSITION_NUMBERS; i++)
        bytes_store64(note + 8 + 8 * i, *numbers[i]);
    bytes_store64(note + 8 + 8 * POSITION_NUMBERS, p->disk_bytes);
    memcpy(note + 16 + 8 * POSITION_NUMBERS, p->mark.sum, sizeof p->mark.sum);
}

static void load_position(struct pack_position *p, const uint8_t *note)
{
    uint64_t *numbers[POSITION_NUMBERS];

    numbers_of(p, numbers);
    for (unsigned i = 0; i < POSITION_NUMBERS; i++)
        *numbers[i] = bytes_load64(note + 8 + 8 * i);
    p->disk_bytes = bytes_load64(note + 8 + 8 * POSITION_NUMBERS);
    memcpy(p->mark.sum, note + 16 + 8 * POSITION_NUMBERS, sizeof p->mark.sum);
}

static enum leat_status append_numbers(struct buffer *note, const uint64_t *numbers, size_t count,
                                       struct leat_error *err)
{
    enum leat_status s = buffer_reserve(note, 8 * count, err);

    for (size_t i = 0; s == LEAT_OK && i < count; i++, note->size += 8)
        bytes_store64(note->bytes + note->size, numbers[i]);
    return s;
}

/*
 * Makes the note of a checkpoint. It has: the position; the number of inputs with malformed text, and each with its
 * count; the number of inputs that were rejected whole, the bytes of their reasons, these inputs, and these bytes;
 * the reason why records of the current input are rejected, the error of the first damaged input, and the list of
 * damage for the dataset, each with a zero byte after it; the number of paths, and each path with a zero byte; the
 * number of values that documents carry, and each value with a zero byte; the program's note.
 */
static enum leat_status pack_output_make_note(const struct pack_output *o, struct buffer *note, struct leat_error *err)
{
    const uint64_t count = o->paths ? o->at.declared : 0, replaced = o->replaced_inputs;
    const uint64_t rejected[2] = { o->rejected_inputs, o->reasons.size };
    enum leat_status s = buffer_reserve(note, POSITION_BYTES, err);

    if (s != LEAT_OK)
        return s;
    store_position(note->bytes, &o->at);
    note->size = POSITION_BYTES;
    s = append_numbers(note, &replaced, 1, err);
    if (s == LEAT_OK)
        s = append_numbers(note, (const uint64_t *)o->replaced_in, 2 * o->replaced_inputs, err);
    if (s == LEAT_OK)
        s = append_numbers(note, rejected, 2, err);
    if (s == LEAT_OK)
        s = append_numbers(note, (const uint64_t *)o->rejected_in, 3 * o->rejected_inputs, err);
    if (s == LEAT_OK && o->reasons.size > 0)
        s = buffer_append(note, o->reasons.bytes, o->reasons.size, err);
    if (s == LEAT_OK)
        s = buffer_append(note, o->input_reason, strlen(o->input_reason) + 1, err);
    if (s == LEAT_OK)
        s = buffer_append(note, o->damage, strlen(o->damage) + 1, err);
    if (s == LEAT_OK)
        s = damage_list_write(&o->damages, note, err);
    if (s == LEAT_OK)
        s = append_numbers(note, &count, 1, err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = buffer_append(note, o->paths[i], strlen(o->paths[i]) + 1, err);
    for (size_t i = 0; s == LEAT_OK && i < o->values.count; i++)
        s = buffer_append(note, o->values.items[i], strlen(o->values.items[i]) + 1, err);
    return s == LEAT_OK ? buffer_append(note, o->note, o->note_bytes, err) : s;
}

/* Loads the list at *at, and moves *at past it; at least 8 bytes are left there. */
static bool load_replaced(struct pack_output *o, const uint8_t **at, const uint8_t *end)
{
    uint64_t count = bytes_load64(*at);

    *at += 8;
    if (count > (uint64_t)(end - *at - 8) / 16)
        return false;
    o->replaced_in = count > 0 ? calloc((size_t)count, sizeof *o->replaced_in) : NULL;
    if (count > 0 && !o->replaced_in)
        return false;
    for (o->replaced_inputs = 0; o->replaced_inputs < count; o->replaced_inputs++, *at += 16)
        o->replaced_in[o->replaced_inputs] = (struct pack_replaced) { bytes_load64(*at), bytes_load64(*at + 8) };
    return true;
}

/* Loads the list at *at and the reason after it, and moves *at past them. */
static bool load_rejected(struct pack_output *o, const uint8_t **at, const uint8_t *end)
{
    uint64_t left = (uint64_t)(end - *at), count = left < 16 ? 0 : bytes_load64(*at);
    uint64_t bytes = left < 16 ? 0 : bytes_load64(*at + 8);
    const uint8_t *reason, *zero;

    if (left < 16 || count > (left - 16) / 24 || bytes > left - 16 - 24 * count || (count > 0 && bytes == 0))
        return false;
    *at += 16;
    if (GROW(o->rejected_in, count, o->rejected_room, NULL) != LEAT_OK)
        return false;
    for (; o->rejected_inputs < count; o->rejected_inputs++, *at += 24) {
        struct pack_rejected in = { bytes_load64(*at), bytes_load64(*at + 8), bytes_load64(*at + 16) };

        if (in.reason >= bytes)
            return false;
        o->rejected_in[o->rejected_inputs] = in;
    }
    reason = *at + bytes;
    zero = memchr(reason, 0, (size_t)(end - reason));
    if (!zero || (size_t)(zero - reason) >= sizeof o->input_reason || (bytes > 0 && reason[-1] != 0))
        return false;
    memcpy(o->input_reason, reason, (size_t)(zero - reason) + 1);
    if (bytes > 0 && buffer_append(&o->reasons, *at, (size_t)bytes, NULL) != LEAT_OK)
        return false;
    *at = zero + 1;
    return true;
}

/* Loads both texts, and moves *at past them; at least 8 bytes are left there. */
static bool load_damage(struct pack_output *o, const uint8_t **at, const uint8_t *end)
{
    const uint8_t *zero = memchr(*at, 0, (size_t)(end - *at)), *list = zero ? zero + 1 : NULL;
    const uint8_t *last = list ? memchr(list, 0, (size_t)(end - list)) : NULL;

    if (!last || (size_t)(zero - *at) >= sizeof o->damage || end - last < 9)
        return false;
    memcpy(o->damage, *at, (size_t)(zero - *at) + 1);
    *at = last + 1;
    return damage_list_read(&o->damages, "", (const char *)list, NULL) == LEAT_OK &&
           o->damages.count == o->at.damaged_inputs;
}

bool pack_output_load_note(struct pack_output *o, const void *note, size_t bytes, const void **own, size_t *own_bytes)
{
    const uint8_t *at = note, *end = at + bytes;
    uint64_t count;

    if (bytes < POSITION_BYTES + 16 || memcmp(at, magic, sizeof magic) != 0)
        return false;
    load_position(&o->at, at);
    at += POSITION_BYTES;
    if (!load_replaced(o, &at, end) || !load_rejected(o, &at, end) || !load_damage(o, &at, end))
        return false;
    count = bytes_load64(at);
    at += 8;
    if ((count > 0 && count != o->at.declared) || count > bytes)
        return false;
    o->paths = count > 0 ? calloc((size_t)count, sizeof *o->paths) : NULL;
    for (uint64_t i = 0; o->paths && i < count; i++) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));

        o->paths[i] = zero ? strdup((const char *)at) : NULL;
        if (!o->paths[i])
            return false;
        at = zero + 1;
    }
    if (o->field && !pack_by_load(o, at, end))
        return false;
    *own = at;
    *own_bytes = (size_t)(end - at);
    return count == 0 || o->paths;
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

/* A checkpoint is made when so much text, and so much time, would be lost without it. Packing at 10 GB/s, the time
 * decides; otherwise the text does. */
#define CHECKPOINT_TEXT    ((uint64_t)TINY_OR(64 << 10, 128 << 20))
#define CHECKPOINT_SECONDS TINY_OR(0, 2.0)

/* So many records, most of them rejected, end a run early: the name of the field must be wrong. */
#define HOPELESS_REJECTS 1000

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void pack_output_free(struct pack_output *o)
{
    for (uint64_t i = 0; o->paths && i < o->at.declared; i++)
        free(o->paths[i]);
    free(o->paths);
    free(o->replaced_in);
    free(o->rejected_in);
    buffer_free(&o->reasons);
    o->paths = NULL;
    o->replaced_in = NULL;
    o->rejected_in = NULL;
    damage_list_free(&o->damages);
    by_values_free(&o->values);
    reject_file_free(&o->rejects);
    free(o->rejects_given);
}

/* ---- Rejects ---- */

static const char *path_of(const struct pack_output *o, uint64_t input)
{
    if (input < o->setup->inputs.count)
        return o->setup->inputs.items[input].path;
    return o->paths && input < o->at.declared ? o->paths[input] : "";
}

void pack_output_notice(const struct pack_output *o, const struct leat_pack_options *options, bool ended)
{
    struct leat_pack_notice notice = { .kind = LEAT_NOTICE_REJECTED };

    pack_facts_notice(&o->damages, options);

    for (size_t i = 0; options->notice && i < o->rejected_inputs; i++) {
        notice.path = path_of(o, o->rejected_in[i].input);
        notice.count = o->rejected_in[i].count;
        notice.message = (const char *)o->reasons.bytes + o->rejected_in[i].reason;
        options->notice(options->context, &notice);
    }
    notice = (struct leat_pack_notice) { .kind = LEAT_NOTICE_REPLACED };
    for (size_t i = 0; ended && options->notice && i < o->replaced_inputs; i++) {
        notice.path = path_of(o, o->replaced_in[i].input);
        notice.count = o->replaced_in[i].count;
        options->notice(options->context, &notice);
    }
}

static uint64_t line_number(const struct pack_output *o, uint64_t line)
{
    return line == LEAT_NONE || o->numbers_lines ? line : o->at.lines + line + 1;
}

static enum leat_status write_rejects(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->docs.reject_count; i++) {
        const struct reject *r = &u->docs.rejects[i];
        struct reject_line line = { .input = path_of(o, r->input),
                                    .offset = r->offset,
                                    .line = line_number(o, r->line),
                                    .reason = documents_string(&u->docs, r->reason),
                                    .reason_bytes = r->reason.bytes,
                                    .sample = documents_string(&u->docs, r->sample),
                                    .sample_bytes = r->sample.bytes };

        s = reject_file_add(&o->rejects, &line, err);
        if (!o->reason[0]) {
            snprintf(o->reason, sizeof o->reason, "%.*s", (int)line.reason_bytes, (const char *)line.reason);
            snprintf(o->reason_field, sizeof o->reason_field, "%.*s", (int)r->field.bytes,
                     (const char *)documents_string(&u->docs, r->field));
            o->reason_input = r->input;
        }
        o->at.rejects += 1 + r->lost;
        o->at.lost += r->lost;
    }
    return s;
}

bool pack_too_many(uint64_t rejects, uint64_t records, const struct leat_pack_options *options)
{
    uint64_t ppm = options->max_rejects_ppm;

    return rejects > options->max_rejects || (ppm < 1000000 && (wide_u128)rejects * 1000000 > (wide_u128)records * ppm);
}

static const char *list_name(const struct pack_output *o)
{
    return o->rejects_given && !folder_left(o->folder) ? o->rejects_given : o->rejects.path;
}

/* Reports too many rejects as an error of the first one's file and field. */
static enum leat_status of_first(const struct pack_output *o, struct leat_error *err)
{
    if (!o->reason[0])
        return LEAT_E_REJECTS;
    status_in_file(err, LEAT_E_REJECTS, path_of(o, o->reason_input));
    return status_field(err, LEAT_E_REJECTS, o->reason_field);
}

static enum leat_status say_too_many(const struct pack_output *o, uint64_t records, struct leat_error *err)
{
    status_set(err, LEAT_E_REJECTS,
               "%llu of %llu record%s %s rejected, more than allowed; %s lists them with the reasons%s%s",
               (unsigned long long)o->at.rejects, (unsigned long long)records, records == 1 ? "" : "s",
               o->at.rejects == 1 ? "was" : "were", list_name(o), o->reason[0] ? ", for example: " : "", o->reason);
    return of_first(o, err);
}

void pack_output_say_unlisted(const struct pack_output *o, uint64_t records, const struct leat_error *why,
                              struct leat_error *err)
{
    status_set(err, LEAT_E_REJECTS,
               "%llu of %llu record%s %s rejected, more than allowed, and they are not listed: %.500s%s%s",
               (unsigned long long)o->at.rejects, (unsigned long long)records, records == 1 ? "" : "s",
               o->at.rejects == 1 ? "was" : "were", why->message, o->reason[0] ? "; for example: " : "", o->reason);
    of_first(o, err);
}

enum leat_status pack_output_judge(const struct pack_output *o, struct leat_error *err)
{
    uint64_t records = o->at.rejects + leat_writer_documents(o->writer);

    return pack_too_many(o->at.rejects, records, o->setup->options) ? say_too_many(o, records, err) : LEAT_OK;
}

/* Judges the rejects during a run. A number that is too large stays so, but a rate may still improve, unless that is
 * hopeless. Rows that are lost with a damaged one say nothing against the field. */
static enum leat_status judge_so_far(const struct pack_output *o, struct leat_error *err)
{
    const struct leat_pack_options *options = o->setup->options;
    uint64_t records = o->at.rejects + leat_writer_documents(o->writer), bad = o->at.rejects - o->at.lost;
    bool hopeless = bad >= HOPELESS_REJECTS && options->max_rejects_ppm < 500000 && bad > records / 2;

    return hopeless || o->at.rejects > options->max_rejects ? say_too_many(o, records, err) : LEAT_OK;
}

/* ---- Documents ---- */

/* Writes ids that did not fit in memory, chunk by chunk: `tokens` of them, from *at of the spool. */
static enum leat_status write_spooled(struct pack_output *o, struct unit *u, uint64_t *at, uint64_t tokens,
                                      const struct leat_origin *origin, struct leat_error *err)
{
    size_t width = o->setup->ids_wide ? 4 : 2;
    uint64_t left = tokens * width;
    enum leat_status s = buffer_reserve(&u->text, LONG_CHUNK, err);

    while (s == LEAT_OK && left > 0) {
        size_t count = left < LONG_CHUNK ? (size_t)left : LONG_CHUNK;

        s = spool_read(&u->docs.spooled, *at, u->text.bytes, count, err);
        if (s == LEAT_OK)
            s = leat_writer_append(o->writer, u->text.bytes, (uint32_t)width, NULL, count / width, err);
        *at += count;
        left -= count;
    }
    return s == LEAT_OK ? leat_writer_end_document(o->writer, origin, err) : s;
}

/* Counts the malformed parts of a document. The list is sorted. Files come in order, so only documents of a program
 * can belong further to the front. */
static enum leat_status count_replaced(struct pack_output *o, const struct packer_document *d, struct leat_error *err)
{
    size_t count = o->replaced_inputs, at = count;
    struct pack_replaced *in = o->replaced_in;

    if (d->malformed == 0)
        return LEAT_OK;
    o->at.replaced += d->malformed;
    while (at > 0 && in[at - 1].input > d->input)
        at--;
    if (at > 0 && in[at - 1].input == d->input) {
        in[at - 1].count += d->malformed;
        return LEAT_OK;
    }
    in = reallocarray(in, count + 1, sizeof *in);
    if (!in)
        return status_no_memory(err, (count + 1) * sizeof *in);
    memmove(in + at + 1, in + at, (count - at) * sizeof *in);
    in[at] = (struct pack_replaced) { d->input, d->malformed };
    o->replaced_in = in;
    o->replaced_inputs++;
    return LEAT_OK;
}

static enum leat_status count_all_replaced(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; u->docs.malformed > 0 && s == LEAT_OK && i < u->docs.count; i++)
        s = count_replaced(o, &u->docs.items[i], err);
    return s;
}

/* Writes documents with ids that did not fit in memory, one after another in their turn. */
static enum leat_status write_documents(struct pack_output *o, struct unit *u, struct leat_error *err)
{
    const size_t width = o->setup->ids_wide ? 4 : 2;
    uint64_t spooled = 0, at = 0; /* bytes taken of the spool, and of the ids in memory */
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->docs.count; i++) {
        uint64_t count = u->docs.items[i].tokens;
        struct leat_origin origin = u->out.origins[i];
        struct leat_documents one = LEAT_DOCUMENTS_INIT;

        origin.line = line_number(o, origin.line);
        one.ids = u->docs.tokens.bytes ? (const void *)(u->docs.tokens.bytes + at) : ""; /* a unit may have no ids */
        one.id_width = (uint32_t)width;
        one.mask = u->docs.mask.size > 0 ? u->docs.mask.bytes + at / width : NULL;
        one.lengths = &count;
        one.origins = &origin;
        one.count = 1;
        if (u->docs.items[i].spooled)
            s = write_spooled(o, u, &spooled, count, &origin, err);
        else
            s = leat_writer_add(o->writer, &one, err);
        if (!u->docs.items[i].spooled)
            at += width * count;
    }
    return s;
}

/* Writes what documents have for columns. */
static enum leat_status put_values(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    const struct buffer *values = &u->out.values;

    return values->size > 0 ? leat_writer_put_values(o->writer, u->out.values_at, values->bytes, values->size, err)
                            : LEAT_OK;
}

static enum leat_status place_documents(struct pack_output *o, struct unit *u, struct leat_error *err)
{
    enum leat_status s = count_all_replaced(o, u, err);

    if (s == LEAT_OK && o->field)
        s = pack_by_count(o, u, err);
    if (s != LEAT_OK)
        return s;
    if (u->out.values.size > 0)
        u->out.values_at = leat_writer_place_values(o->writer, u->out.values.size);
    if (u->out.any_spooled) {
        s = put_values(o, u, err);
        return s == LEAT_OK ? write_documents(o, u, err) : s;
    }
    if (!o->numbers_lines)
        u->out.ready.first_line = o->at.lines + 1;
    s = leat_writer_place(o->writer, &u->out.ready, &u->out.place, err);
    u->out.placed = s == LEAT_OK;
    return s;
}

/* ---- Inputs ---- */

static enum leat_status declare_inputs(struct pack_output *o, uint64_t end, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && o->at.declared < end && o->at.declared < o->setup->inputs.count; o->at.declared++)
        s = leat_writer_add_input(o->writer, path_of(o, o->at.declared), NULL, err);
    return s;
}

/* Declares an input that a program has declared. */
static enum leat_status declare_given(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    char **paths = reallocarray(o->paths, (size_t)o->at.declared + 1, sizeof *paths);
    char *path = strndup((const char *)u->docs.strings.bytes, u->docs.strings.size);
    enum leat_status s = paths && path ? LEAT_OK : status_no_memory(err, u->docs.strings.size);

    if (paths)
        o->paths = paths;
    if (s == LEAT_OK)
        s = leat_writer_add_input(o->writer, path, NULL, err);
    if (s == LEAT_OK)
        o->paths[o->at.declared++] = path;
    else
        free(path);
    return s;
}

static uint64_t rejects_of(const struct unit *u, size_t input)
{
    uint64_t count = 0;

    for (size_t i = 0; i < u->docs.reject_count; i++)
        count += u->docs.rejects[i].input == input ? 1 + u->docs.rejects[i].lost : 0;
    return count;
}

/* Counts an input as damaged, once, with all bytes of it that were not read. */
static enum leat_status count_damage(struct pack_output *o, const struct unit *u, uint64_t input,
                                     const struct unit_damage *d, struct leat_error *err)
{
    size_t room = sizeof o->damage - 1, bytes = d->why.bytes < room ? d->why.bytes : room;

    if (d->why.bytes == 0)
        return LEAT_OK;
    if (o->at.damaged) {
        damage_list_add_unread(&o->damages, d->unread);
        return LEAT_OK;
    }
    o->at.damaged = 1;
    if (o->at.damaged_inputs++ == 0)
        memcpy(o->damage, documents_string(&u->docs, d->why), bytes);
    return damage_list_add(&o->damages, path_of(o, input), d->offset, documents_string(&u->docs, d->reason),
                           d->reason.bytes, d->unread, err);
}

/* ---- Inputs that were rejected whole ---- */

#define MOST_REASONS ((size_t)64 << 10) /* limits bytes, since a million inputs may have as many reasons */

/* Returns true if a record of the input is a document, or was kept out. No record of a unit with several inputs is
 * kept out: each of these is a text. */
static bool is_taken(const struct unit *u, size_t input)
{
    bool taken = false;

    for (unsigned i = COUNT_KEPT_OUT; i < COUNTS; i++)
        taken = taken || u->docs.counts[i] > 0;
    for (size_t i = 0; !taken && i < u->docs.count; i++)
        taken = u->docs.items[i].input == input;
    return taken;
}

static void keep_input_reason(struct pack_output *o, const struct unit *u, size_t input)
{
    for (size_t i = 0; !o->input_reason[0] && i < u->docs.reject_count; i++) {
        const struct reject *r = &u->docs.rejects[i];

        if (r->input == input)
            snprintf(o->input_reason, sizeof o->input_reason, "%.*s", (int)r->reason.bytes,
                     (const char *)documents_string(&u->docs, r->reason));
    }
}

/* Sets *at to the place of the reason; to 0 if there is no room for it. Inputs with the same reason mostly follow
 * each other, so only the last reason is compared. */
static enum leat_status keep_reason(struct pack_output *o, uint64_t *at, struct leat_error *err)
{
    uint64_t last = o->rejected_inputs > 0 ? o->rejected_in[o->rejected_inputs - 1].reason : 0;
    enum leat_status s = o->reasons.size > 0 ? LEAT_OK : buffer_append(&o->reasons, "", 1, err);

    *at = last;
    if (s != LEAT_OK || strcmp((const char *)o->reasons.bytes + last, o->input_reason) == 0)
        return s;
    *at = o->reasons.size < MOST_REASONS ? o->reasons.size : 0;
    return *at > 0 ? buffer_append(&o->reasons, o->input_reason, strlen(o->input_reason) + 1, err) : s;
}

/* Keeps an input all of whose records were rejected. A part of a run that has only a piece of the input cannot know
 * that. */
static enum leat_status count_rejected(struct pack_output *o, const struct unit *u, size_t input, uint64_t rejects,
                                       struct leat_error *err)
{
    const struct input *in = input < o->setup->inputs.count ? &o->setup->inputs.items[input] : NULL;
    uint64_t reason;
    enum leat_status s;

    if (!in || in->begin > 0 || in->end < in->size || rejects == 0 || o->at.damaged || o->at.input_taken ||
        is_taken(u, input))
        return LEAT_OK;
    keep_input_reason(o, u, input);
    s = keep_reason(o, &reason, err);
    if (s == LEAT_OK)
        s = GROW(o->rejected_in, o->rejected_inputs + 1, o->rejected_room, err);
    if (s == LEAT_OK)
        o->rejected_in[o->rejected_inputs++] = (struct pack_rejected) { input, rejects, reason };
    return s;
}

/* Ends an input: what is known of it goes to its record. */
static enum leat_status end_input(struct pack_output *o, const struct unit *u, const struct unit_end *end,
                                  struct leat_error *err)
{
    struct leat_input input = LEAT_INPUT_INIT;
    enum leat_status s;

    input.bytes = end->size;
    input.rejects = o->at.input_rejects + rejects_of(u, end->input);
    checksum_store(input.hash, end->has_sum ? end->sum : o->at.sum);
    s = count_damage(o, u, end->input, &end->damage, err);
    if (s == LEAT_OK)
        s = count_rejected(o, u, end->input, input.rejects, err);
    o->at.damaged = o->at.input_taken = 0;
    o->input_reason[0] = '\0';
    o->at.input_rejects = 0;
    o->at.lines = 0;
    o->at.sum = (struct hash128) { 0, 0 };
    return s == LEAT_OK ? leat_writer_set_input(o->writer, end->input, &input, err) : s;
}

static enum leat_status move_on(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    enum leat_status s = count_damage(o, u, u->input, &u->rows.damage, err);

    checksum_add(&o->at.sum, u->sum);
    o->at.lines += u->newlines;
    for (size_t i = 0; s == LEAT_OK && i < u->end_count; i++)
        s = end_input(o, u, &u->ends[i], err);
    if (u->end_count == 0) {
        o->at.input_rejects += rejects_of(u, u->input);
        o->at.input_taken = o->at.input_taken || is_taken(u, u->input);
        keep_input_reason(o, u, u->input);
    }
    o->at.input = u->end_count > 0 ? u->input_end : u->input;
    o->at.offset = u->end_count > 0 ? 0 : u->offset + u->length;
    o->at.mark = u->end_count > 0 ? (struct byte_mark) { 0 } : u->mark;
    o->at.text_bytes += u->docs.text_bytes;
    for (unsigned i = 0; i < COUNTS; i++)
        o->at.counts[i] += u->docs.counts[i];
    o->at.row_groups += u->rows.groups;
    for (unsigned i = 0; i < LEARNED_ROLES; i++)
        o->at.learned_by_role[i] += u->docs.learned_by_role[i];
    o->at.disk_bytes += u->disk_bytes;
    for (unsigned i = 0; i < PACK_STEP_COUNT; i++)
        o->spent_ns[i] += u->spent_ns[i];
    return s;
}

/* ---- The whole ---- */

void pack_output_kept(struct pack_output *o)
{
    atomic_store_explicit(&o->kept_disk_bytes, o->at.disk_bytes, memory_order_relaxed);
    atomic_store_explicit(&o->kept_tokens, leat_writer_tokens(o->writer), memory_order_relaxed);
    atomic_store_explicit(&o->kept_documents, leat_writer_documents(o->writer), memory_order_relaxed);
}

enum leat_status pack_output_checkpoint(struct pack_output *o, struct leat_error *err)
{
    struct buffer note = { 0 };
    enum leat_status s = reject_file_sync(&o->rejects, err);

    if (s == LEAT_OK && !o->described)
        s = pack_description_write(o->description_path, o->description, err);
    if (s != LEAT_OK)
        return s;
    o->described = true;
    o->at.reject_bytes = o->rejects.bytes;
    o->at.reject_sum = page_sum_now(&o->rejects.sum);
    o->text_at_checkpoint = o->at.text_bytes;
    s = pack_output_make_note(o, &note, err);
    if (s == LEAT_OK)
        s = leat_writer_checkpoint(o->writer, note.bytes, note.size, err);
    o->resumable = o->resumable || s == LEAT_OK;
    if (s == LEAT_OK)
        pack_output_kept(o);
    buffer_free(&note);
    o->checkpoint_time = now();
    return s;
}

void pack_output_show(struct pack_output *o)
{
    atomic_store_explicit(&o->seen_disk_bytes, o->at.disk_bytes, memory_order_relaxed);
    atomic_store_explicit(&o->seen_text_bytes, o->at.text_bytes, memory_order_relaxed);
    atomic_store_explicit(&o->seen_tokens, leat_writer_tokens(o->writer), memory_order_relaxed);
    atomic_store_explicit(&o->seen_documents, leat_writer_documents(o->writer), memory_order_relaxed);
    atomic_store_explicit(&o->seen_rejects, o->at.rejects, memory_order_relaxed);
}

static bool checkpoint_is_due(const struct pack_output *o)
{
    return o->checkpoints && o->at.text_bytes - o->text_at_checkpoint >= CHECKPOINT_TEXT &&
           now() - o->checkpoint_time >= CHECKPOINT_SECONDS;
}

enum leat_status pack_output_place(struct pack_output *o, struct unit *u, struct leat_error *err)
{
    uint64_t began = clock_cpu_ns();
    enum leat_status s = checkpoint_is_due(o) ? pack_output_checkpoint(o, err) : LEAT_OK;

    if (s == LEAT_OK)
        s = u->kind->declares ? declare_given(o, u, err) : declare_inputs(o, u->input_end, err);
    if (s == LEAT_OK)
        s = write_rejects(o, u, err);
    if (s == LEAT_OK)
        s = place_documents(o, u, err);
    if (s == LEAT_OK)
        s = move_on(o, u, err);
    if (s == LEAT_OK)
        s = judge_so_far(o, err);
    pack_output_show(o);
    o->spent_ns[PACK_STEP_WRITE] += clock_cpu_ns() - began;
    return s;
}

enum leat_status pack_output_put(struct pack_output *o, struct unit *u, struct leat_error *err)
{
    uint64_t began = clock_cpu_ns();
    enum leat_status s = u->out.placed ? put_values(o, u, err) : LEAT_OK, put;

    if (u->out.placed) { /* once for each place, also after a failure */
        put = leat_writer_put(o->writer, &u->out.ready, &u->out.place, s == LEAT_OK ? err : NULL);
        s = s == LEAT_OK ? put : s;
    }
    atomic_fetch_add_explicit(&o->put_ns, clock_cpu_ns() - began, memory_order_relaxed);
    return s;
}
