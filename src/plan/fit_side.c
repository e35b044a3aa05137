/* fit_side.c: see fit_side.h. Only header and runs are held in memory; the list is mapped, or read where needed. */
#include "fit_side.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/own_file.h"
#include "base/status.h"
#include "checksum/checksum.h"

#define HASHED    64u /* bytes of the header before its hash */
#define RUN_BYTES 16u

char *fit_side_path(const struct leat_part *part)
{
    size_t kind = strlen(part->kind), length;
    const char *name = part->name;
    char *path;

    /* "raw:FILE?dtype=u16" lies in FILE */
    if (strcmp(part->kind, "leat") != 0 && strncmp(name, part->kind, kind) == 0 && name[kind] == ':')
        name += kind + 1;
    length = name == part->name ? strlen(name) : strcspn(name, "?");
    path = malloc(length + sizeof ".fit");
    if (path)
        snprintf(path, length + sizeof ".fit", "%.*s.fit", (int)length, name);
    return path;
}

static struct hash128 hash_head(const uint8_t *head, uint64_t bytes)
{
    struct hash128 sums[2];
    const struct checksum_kernels *k = checksum_kernels();
    uint8_t both[32];

    sums[0] = k->hash(head, HASHED);
    sums[1] = k->hash(head + FIT_SIDE_HEADER, bytes - FIT_SIDE_HEADER);
    checksum_store(both, sums[0]);
    checksum_store(both + 16, sums[1]);
    return k->hash(both, sizeof both);
}

uint8_t *fit_side_head(const struct leat_part *part, const struct fit_run *runs, uint64_t run_count, uint64_t *bytes)
{
    uint8_t *head;

    *bytes = FIT_SIDE_HEADER + RUN_BYTES * run_count;
    head = calloc(1, *bytes);
    if (!head)
        return NULL;
    memcpy(head, "leatfits", 8);
    bytes_store64(head + 8, 1);
    memcpy(head + 16, part->identity, 16);
    bytes_store64(head + 32, part->documents);
    bytes_store64(head + 40, part->tokens);
    bytes_store64(head + 48, run_count);
    for (uint64_t i = 0; i < run_count; i++) {
        bytes_store64(head + FIT_SIDE_HEADER + RUN_BYTES * i, runs[i].tokens);
        bytes_store64(head + FIT_SIDE_HEADER + RUN_BYTES * i + 8, runs[i].count);
    }
    checksum_store(head + HASHED, hash_head(head, *bytes));
    return head;
}

/* Takes the runs of a head whose hash is right. */
static enum leat_status take_runs(struct fit_side *side, const uint8_t *head, struct leat_error *err)
{
    uint64_t place = 0;

    side->runs = malloc((size_t)(side->run_count + 1) * sizeof *side->runs);
    if (!side->runs)
        return status_no_memory(err, side->run_count * sizeof *side->runs);
    for (uint64_t i = 0; i < side->run_count; i++) {
        const uint8_t *run = head + FIT_SIDE_HEADER + RUN_BYTES * i;

        side->runs[i] = (struct fit_run) { bytes_load64(run), place, bytes_load64(run + 8), 0 };
        if (side->runs[i].count > side->documents - place ||
            (i > 0 && side->runs[i].tokens <= side->runs[i - 1].tokens))
            return status_set(err, LEAT_E_DOCUMENTS, "%s is damaged", side->path);
        place += side->runs[i].count;
    }
    return place == side->documents ? LEAT_OK : status_set(err, LEAT_E_DOCUMENTS, "%s is damaged", side->path);
}

static enum leat_status read_head(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    uint64_t size = side->file.size;
    uint8_t header[FIT_SIDE_HEADER], *head, *wanted;
    uint64_t bytes;
    enum leat_status s;

    if (size < sizeof header)
        return status_set(err, LEAT_E_TRUNCATED, "%s is too short", side->path);
    s = file_map_read(&side->file, 0, header, sizeof header, err);
    if (s != LEAT_OK)
        return s;
    side->run_count = bytes_load64(header + 48);
    side->documents = part->documents;
    wanted = fit_side_head(part, NULL, 0, &bytes);
    if (!wanted)
        return status_no_memory(err, bytes);
    if (memcmp(header, wanted, 48) != 0 || side->run_count > side->documents)
        s = status_set(err, LEAT_E_INCOMPATIBLE, "%s was not made of this dataset, or not by this version of leat",
                       side->path);
    free(wanted);
    side->list = FIT_SIDE_HEADER + RUN_BYTES * side->run_count;
    if (s == LEAT_OK && size != side->list + 4 * side->documents)
        s = status_set(err, LEAT_E_TRUNCATED, "%s is too short or too long", side->path);
    if (s != LEAT_OK)
        return s;
    head = malloc(side->list);
    if (!head)
        return status_no_memory(err, side->list);
    s = file_map_read(&side->file, 0, head, side->list, err);
    if (s == LEAT_OK && !checksum_equal(checksum_load(head + HASHED), hash_head(head, side->list)))
        s = status_set(err, LEAT_E_CHECKSUM, "%s is damaged", side->path);
    if (s == LEAT_OK)
        s = take_runs(side, head, err);
    free(head);
    return s;
}

enum leat_status fit_side_open(struct fit_side *side, const struct leat_part *part, struct leat_error *err)
{
    uint64_t size;
    int fd;
    enum leat_status s;

    *side = (struct fit_side) { .file = { .fd = -1 }, .path = fit_side_path(part) };
    if (!side->path)
        return status_no_memory(err, strlen(part->name));
    s = own_file_open(&fd, &size, side->path, OWN_FILE_READ, err);
    if (s == LEAT_OK)
        s = file_map_take(&side->file, fd, size, side->path, file_map_access(LEAT_ACCESS_LEASED), err);
    return s == LEAT_OK ? read_head(side, part, err) : s;
}

void fit_side_close(struct fit_side *side)
{
    file_map_close(&side->file);
    free(side->path);
    free(side->runs);
    *side = (struct fit_side) { .file = { .fd = -1 } };
}

const uint8_t *fit_side_place(struct fit_side *side, const uint8_t *map, uint64_t place)
{
    return map && file_map_fill(&side->file, side->list + 4 * place, 4) ? map + side->list + 4 * place : NULL;
}

enum leat_status fit_side_document(struct fit_side *side, const uint8_t *bytes, uint64_t place, uint64_t *document,
                                   struct leat_error *err)
{
    uint32_t number = 0;
    enum leat_status s = LEAT_OK;

    if (bytes)
        memcpy(&number, bytes, sizeof number);
    else
        s = file_map_read(&side->file, side->list + 4 * place, &number, sizeof number, err);
    *document = bytes_le32(number);
    if (s == LEAT_OK && *document >= side->documents)
        s = status_set(err, LEAT_E_DOCUMENTS, "%s is damaged: make it again with `leat fit`", side->path);
    return s;
}
