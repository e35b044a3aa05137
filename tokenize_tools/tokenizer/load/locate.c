/*
 * locate.c: the ways to read a SPEC are tried one after another: each finds a file, or leaves the SPEC to the next.
 * Only a name that does not exist is left to the next; a file that cannot be read is reported, not skipped. If all
 * fail, the sentence says where each looked, and which vocabulary a model of that name uses. The file is then read
 * whole, and decompressed if it has to be; if it lies in a folder with a tokenizer_config.json, that is read too.
 *
 * The Hub is asked last, and only for "org/name": what is fetched lies in the cache, where the way before finds it from
 * then on.
 */
#include "locate.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "builtin.h"
#include "hub_model.h"
#include "leat.h"
#include "whole_file.h"

/* ---- The hub's cache --------------------------------------------------------------------------------------------- */

/* Finds models in the folder in which Hugging Face's programs keep the files that they have downloaded. */

#define ROOM 4096

/* Returns true for a name that the hub allows: letters, digits, '-', '_' and '.'. */
static bool is_name(const char *text, size_t length)
{
    if (length == 0 || length > 96 || text[0] == '.' || text[0] == '-')
        return false;
    for (size_t i = 0; i < length; i++) {
        char c = text[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' ||
              c == '.'))
            return false;
    }
    return true;
}

/* Returns true for a revision: a branch, a tag, a hash, or a name like "refs/pr/7" with '/' in it. */
static bool is_revision(const char *text)
{
    const char *slash;

    for (; (slash = strchr(text, '/')) != NULL; text = slash + 1)
        if (!is_name(text, (size_t)(slash - text)))
            return false;
    return is_name(text, strlen(text));
}

/* Returns true if a string has the form of a model id: "name" or "org/name", perhaps with "@revision". */
static bool hub_cache_is_id(const char *id)
{
    const char *at = strchr(id, '@'), *slash = strchr(id, '/');
    size_t length = at ? (size_t)(at - id) : strlen(id);

    if (at && !is_revision(at + 1))
        return false;
    if (!slash || slash > id + length)
        return is_name(id, length);
    return is_name(id, (size_t)(slash - id)) && is_name(slash + 1, length - (size_t)(slash + 1 - id));
}

/* Reads the environment, which says where the cache is. No other part of the library reads it. */
static const char *set(const char *name)
{
    const char *value = getenv(name);

    return value && value[0] ? value : NULL;
}

/* Writes the path of the cache. Returns false if it does not fit. As in the hub's own code, a leading "~/" of the
 * variable stands for the home folder. */
static bool cache_folder(char *out, size_t room)
{
    const char *home = set("HOME"), *value, *tail = "";
    int n;

    if ((value = set("HF_HUB_CACHE")) != NULL || (value = set("HUGGINGFACE_HUB_CACHE")) != NULL)
        tail = "";
    else if ((value = set("HF_HOME")) != NULL)
        tail = "/hub";
    else if ((value = set("XDG_CACHE_HOME")) != NULL)
        tail = "/huggingface/hub";
    else {
        value = "~/.cache";
        tail = "/huggingface/hub";
    }
    if (value[0] == '~' && (value[1] == '/' || value[1] == '\0'))
        n = snprintf(out, room, "%s%s%s", home ? home : "", value + 1, tail);
    else
        n = snprintf(out, room, "%s%s", value, tail);
    return n >= 0 && (size_t)n < room;
}

static bool is_folder(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Reads the commit that refs/REVISION names. Returns false if there is no such file, or no name in it. */
static bool read_ref(char *commit, size_t room, const char *model, const char *revision)
{
    char path[ROOM];
    uint8_t *bytes;
    uint64_t size;
    bool good;

    if (snprintf(path, sizeof path, "%s/refs/%s", model, revision) >= (int)sizeof path ||
        whole_file_read(&bytes, &size, path, NULL) != LEAT_OK)
        return false;
    while (size > 0 && (bytes[size - 1] == '\n' || bytes[size - 1] == '\r' || bytes[size - 1] == ' '))
        size--;
    good = size < room && is_name((const char *)bytes, size);
    if (good)
        snprintf(commit, room, "%.*s", (int)size, (const char *)bytes);
    free(bytes);
    return good;
}

/* Finds the only folder under snapshots/, for a cache that was copied without refs. */
static bool only_snapshot(char *commit, size_t room, const char *model)
{
    char path[ROOM];
    struct dirent *entry;
    unsigned found = 0;
    DIR *d;

    if (snprintf(path, sizeof path, "%s/snapshots", model) >= (int)sizeof path || (d = opendir(path)) == NULL)
        return false;
    while ((entry = readdir(d)) != NULL)
        if (entry->d_name[0] != '.' && strlen(entry->d_name) < room && found++ == 0)
            snprintf(commit, room, "%s", entry->d_name);
    closedir(d);
    return found == 1;
}

/* Fills *folder if the model is there in this revision. */
static bool find_snapshot(char *folder, size_t room, const char *model, const char *revision)
{
    char commit[256];

    snprintf(commit, sizeof commit, "%s", revision ? revision : "");
    if (!read_ref(commit, sizeof commit, model, revision ? revision : "main") && !revision &&
        !only_snapshot(commit, sizeof commit, model))
        return false;
    return snprintf(folder, room, "%s/snapshots/%s", model, commit) < (int)room && is_folder(folder);
}

/* Writes the path of a model's folder in the cache, which may not exist. `model` has ROOM bytes. */
static enum leat_status hub_cache_place(char *model, const char *id, struct leat_error *err)
{
    size_t length = strcspn(id, "@"), used;
    char cache[ROOM];

    if (!cache_folder(cache, sizeof cache) ||
        (used = (size_t)snprintf(model, ROOM, "%s/models--", cache)) + 2 * length + 1 > ROOM)
        return status_set(err, LEAT_E_ARGUMENT, "the path of the Hugging Face cache is too long");
    for (size_t i = 0; i < length; i++) {
        model[used++] = id[i] == '/' ? '-' : id[i];
        if (id[i] == '/')
            model[used++] = '-';
    }
    model[used] = '\0';
    return LEAT_OK;
}

/* Finds the folder of the model's snapshot, and writes its path to the `room` bytes at `folder`. Returns
 * LEAT_E_NO_FILE, with what was looked for and where, if there is none; *folder is then empty. */
static enum leat_status hub_cache_find(char *folder, size_t room, const char *model, const char *id,
                                       struct leat_error *err)
{
    const char *at = strchr(id, '@'), *name = strrchr(model, '/');

    folder[0] = '\0';
    if (!is_folder(model))
        return status_set_in(err, LEAT_E_NO_FILE, model, "the Hugging Face cache %.*s has no %s", (int)(name - model),
                             model, name + 1);
    if (!find_snapshot(folder, room, model, at ? at + 1 : NULL))
        return status_set_in(err, LEAT_E_NO_FILE, model, "%s has no snapshot of revision %s", model,
                             at ? at + 1 : "main");
    return LEAT_OK;
}

/* ---- Names of models --------------------------------------------------------------------------------------------- */

/* Names of models that users give instead of the name of a vocabulary, and the vocabulary that each uses. They are
 * used in sentences only: no name in this table opens anything. */
struct model_name {
    const char *name;       /* name in small letters and digits */
    const char *builtin;    /* built-in vocabulary of the model, or NULL: */
    const char *repository; /* repository on the Hugging Face hub whose tokenizer.json has its vocabulary */
};

/* OpenAI's rows follow tiktoken 0.14.0 (tiktoken/model.py). The first row that fits is taken, so a row stands before
 * those that its name begins with. */
static const struct model_name rows[] = {
    { "gptoss", "o200k_harmony", NULL },
    { "gpt5", "o200k_base", NULL },
    { "gpt45", "o200k_base", NULL },
    { "gpt41", "o200k_base", NULL },
    { "gpt4o", "o200k_base", NULL },
    { "gpt4", "cl100k_base", NULL },
    { "gpt35", "cl100k_base", NULL },
    { "gpt2", "gpt2", NULL },
    { "chatgpt4o", "o200k_base", NULL },
    { "o1", "o200k_base", NULL },
    { "o3", "o200k_base", NULL },
    { "o4mini", "o200k_base", NULL },
    { "textembedding", "cl100k_base", NULL },
    { "textdavinci003", "p50k_base", NULL },
    { "textdavinci002", "p50k_base", NULL },
    { "textdavinci001", "gpt2", NULL },
    { "davinci002", "cl100k_base", NULL },
    { "babbage002", "cl100k_base", NULL },
    { "llama4", NULL, "meta-llama/Llama-4-Scout-17B-16E" },
    { "llama33", NULL, "meta-llama/Llama-3.3-70B-Instruct" },
    { "llama32", NULL, "meta-llama/Llama-3.2-1B" },
    { "llama31", NULL, "meta-llama/Llama-3.1-8B" },
    { "llama3", NULL, "meta-llama/Meta-Llama-3-8B" },
    { "llama2", NULL, "meta-llama/Llama-2-7b-hf" },
    { "qwen3", NULL, "Qwen/Qwen3-8B-Base" },
    { "qwen25", NULL, "Qwen/Qwen2.5-7B" },
    { "qwen2", NULL, "Qwen/Qwen2-7B" },
    { "gemma3", NULL, "google/gemma-3-4b-pt" },
    { "gemma2", NULL, "google/gemma-2-9b" },
    { "deepseekv3", NULL, "deepseek-ai/DeepSeek-V3" },
    { "mistralnemo", NULL, "mistralai/Mistral-Nemo-Base-2407" },
    { "kimik2", NULL, "moonshotai/Kimi-K2-Base" },
    { "phi4", NULL, "microsoft/phi-4" },
    { "olmo2", NULL, "allenai/OLMo-2-1124-7B" },
    { "smollm2", NULL, "HuggingFaceTB/SmolLM2-1.7B" },
    { "starcoder2", NULL, "bigcode/starcoder2-7b" },
};

static bool separates(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ' || c == ':';
}

static bool fits(const char *name, const char *row)
{
    for (; *row; name++) {
        char c = *name >= 'A' && *name <= 'Z' ? (char)(*name - 'A' + 'a') : *name;

        if (separates(c))
            continue;
        if (c != *row)
            return false;
        row++;
    }
    return *name == '\0' || separates(*name);
}

/* Returns the row of a model's name, however it is written and whatever follows: gpt4o for "GPT-4o-mini". Returns
 * NULL if no row is meant. A name with a '/' is a path or an id, and never means a row. */
static const struct model_name *model_name_find(const char *name)
{
    if (strchr(name, '/'))
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (fits(name, rows[i].name))
            return &rows[i];
    return NULL;
}

static bool is_file(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Sets *path to folder/name or folder/name.zst, the first of them that exists, or NULL. */
static enum leat_status file_of(char **path, const char *folder, const char *name, struct leat_error *err)
{
    static const char *const endings[] = { "", ".zst" };

    for (size_t i = 0; i < 2; i++) {
        *path = path_join(folder, name, endings[i], NULL);
        if (!*path)
            return status_no_memory(err, strlen(folder) + strlen(name));
        if (is_file(*path))
            return LEAT_OK;
        free(*path);
    }
    *path = NULL;
    return LEAT_OK;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), tail = strlen(ending);

    return length > tail && strcmp(text + length - tail, ending) == 0;
}

/* Finds the only file in a folder whose name has this beginning and this ending, and more between them; NAME and
 * NAME.zst together count once. `name` has ROOM bytes. */
static enum leat_status only_one(char *name, const char *folder, const char *beginning, const char *ending,
                                 struct leat_error *err)
{
    struct dirent *entry;
    char other[ROOM] = "";
    DIR *d = opendir(folder);

    name[0] = '\0';
    if (!d)
        return status_set_os(err, errno, folder, "cannot read the folder %s", folder);
    while ((entry = readdir(d)) != NULL) {
        size_t length = strlen(entry->d_name);

        if (ends_with(entry->d_name, ".zst"))
            length -= 4;
        if (length <= strlen(beginning) + strlen(ending) || strncmp(entry->d_name, beginning, strlen(beginning)) != 0 ||
            strncmp(entry->d_name + length - strlen(ending), ending, strlen(ending)) != 0)
            continue;
        if (name[0] && (strlen(name) != length || strncmp(name, entry->d_name, length) != 0))
            snprintf(other, sizeof other, "%.*s", (int)length, entry->d_name);
        else
            snprintf(name, ROOM, "%.*s", (int)length, entry->d_name);
    }
    closedir(d);
    if (other[0])
        return status_in_file(
            err,
            status_argument(err, "spec", "the folder %s has several vocabularies, %s and %s: name one", folder,
                            strcmp(name, other) < 0 ? name : other, strcmp(name, other) < 0 ? other : name),
            folder);
    return LEAT_OK;
}

/* The files that are looked for, in this order: names, and beginnings and endings of names. The first are those of
 * AutoTokenizer; after them, those of its classes. */
static const struct {
    const char *name, *beginning, *ending;
    const char *with; /* the file counts only with this file beside it */
} known_files[] = {
    { .name = "tokenizer.json" },
    { .name = "tekken.json" },
    { .name = "tokenizer.model" },
    { .name = "spiece.model" },
    { .name = "sentencepiece.bpe.model" },
    { .name = "sentencepiece.model" },
    { .name = "spm.model" },
    { .beginning = "tokenizer.model.", .ending = "" },
    { .beginning = "", .ending = ".tiktoken" },
    { .name = "tiktoken.model" },
    { .name = "vocab.json", .with = "merges.txt" },
    { .name = "vocab.txt" }, /* a vocab.txt is refused with its own sentence */
};

static enum leat_status in_folder(char **path, const char *folder, struct leat_error *err)
{
    char found[ROOM], *with;
    enum leat_status s = LEAT_OK;

    *path = NULL;
    for (size_t i = 0; i < sizeof known_files / sizeof known_files[0]; i++) {
        const char *name = known_files[i].name ? known_files[i].name : found;

        if (!known_files[i].name)
            s = only_one(found, folder, known_files[i].beginning, known_files[i].ending, err);
        if (s == LEAT_OK && *name)
            s = file_of(path, folder, name, err);
        if (s == LEAT_OK && *path && known_files[i].with) {
            s = file_of(&with, folder, known_files[i].with, err);
            if (s != LEAT_OK || !with) {
                free(*path);
                *path = NULL;
            }
            free(with);
        }
        if (s != LEAT_OK || *path)
            return s;
    }
    return status_set_in(
        err, LEAT_E_NO_FILE, folder,
        "the folder %s has no tokenizer: no tokenizer.json, tekken.json, tokenizer.model, spiece.model, "
        "sentencepiece.bpe.model, *.tiktoken, tiktoken.model, or vocab.json with merges.txt, "
        "nor one of them with .zst",
        folder);
}

/* ---- The Hub ----------------------------------------------------------------------------------------------------- */

/* The files of a folder that read_beside() reads. */
static const char *const beside_names[BESIDES] = { [BESIDE_CONFIG] = "tokenizer_config.json",
                                                   [BESIDE_MODEL] = "config.json",
                                                   [BESIDE_MAP] = "special_tokens_map.json",
                                                   [BESIDE_ADDED] = "added_tokens.json",
                                                   [BESIDE_MERGES] = "merges.txt" };

/* Returns true if a name is `wanted`, or `wanted` with .zst. */
static bool is_called(const char *name, const char *wanted)
{
    size_t length = strlen(wanted);

    return strncmp(name, wanted, length) == 0 && (!name[length] || strcmp(name + length, ".zst") == 0);
}

static bool fits_row(const char *name, size_t row)
{
    const char *begin = known_files[row].beginning;
    size_t length = strlen(name) - (ends_with(name, ".zst") ? 4 : 0);

    if (known_files[row].name)
        return is_called(name, known_files[row].name);
    return length > strlen(begin) + strlen(known_files[row].ending) && strncmp(name, begin, strlen(begin)) == 0 &&
           strncmp(name + length - strlen(known_files[row].ending), known_files[row].ending,
                   strlen(known_files[row].ending)) == 0;
}

static bool has(const struct hub_model *m, const char *wanted)
{
    size_t i = 0;

    while (i < m->count && !is_called(m->names[i], wanted))
        i++;
    return i < m->count;
}

/* Fetches the files of a row of known_files: one file, or its compressed form; or several, if in_folder() says so. */
static enum leat_status fetch_row(const struct hub_model *m, const char *folder, size_t row, bool *found,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *found = false;
    if (known_files[row].with && !has(m, known_files[row].with))
        return LEAT_OK;
    for (size_t i = 0; s == LEAT_OK && i < m->count; i++)
        if (fits_row(m->names[i], row)) {
            s = hub_model_fetch(m, folder, m->names[i], err);
            *found = true;
        }
    return s;
}

/* Fetches the files beside the vocabulary, then the vocabulary, so that a folder with a vocabulary is complete. */
static enum leat_status fetch_files(const struct hub_model *m, const char *folder, const char *id,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool found = false;

    for (size_t i = 0; s == LEAT_OK && i < m->count; i++)
        for (unsigned b = 0; s == LEAT_OK && b < BESIDES; b++)
            if (is_called(m->names[i], beside_names[b]))
                s = hub_model_fetch(m, folder, m->names[i], err);
    for (size_t row = 0; s == LEAT_OK && !found && row < sizeof known_files / sizeof known_files[0]; row++)
        s = fetch_row(m, folder, row, &found, err);
    if (s == LEAT_OK && !found)
        s = status_set_in(err, LEAT_E_NO_FILE, id,
                          "the model %s on the Hugging Face Hub has no file that says what its tokenizer is", id);
    return s;
}

/* Fetches the model's tokenizer into the cache, and sets `folder`, of ROOM bytes, to where it is then. */
static enum leat_status fetch_model(char *folder, const char *model, const char *id, const struct locate_stop *stop,
                                    struct leat_error *err)
{
    const char *at = strchr(id, '@');
    struct hub_model m;
    enum leat_status s = hub_model_open(&m, id, stop, err);

    if (s == LEAT_OK)
        s = fetch_files(&m, model, id, err);
    if (s == LEAT_OK)
        s = hub_model_note(&m, model, at ? at + 1 : HUB_MAIN, err);
    if (s == LEAT_OK && snprintf(folder, ROOM, "%s/snapshots/%s", model, m.commit) >= ROOM)
        s = status_set(err, LEAT_E_ARGUMENT, "the path of the Hugging Face cache is too long");
    hub_model_close(&m);
    return s;
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* Reads a file, and decompresses it if it is compressed: then *plain is memory of its own, else it is *stored. */
static enum leat_status read_both(const char *path, uint8_t **stored, uint64_t *stored_size, uint8_t **plain,
                                  uint64_t *plain_size, struct leat_error *err)
{
    enum leat_status s = whole_file_read(stored, stored_size, path, err);

    if (s != LEAT_OK)
        return s;
    if (whole_file_is_zstd(*stored, *stored_size))
        return whole_file_unzstd(plain, plain_size, *stored, *stored_size, path, err);
    *plain = *stored;
    *plain_size = *stored_size;
    return LEAT_OK;
}

static enum leat_status read_beside(struct located *l, struct leat_error *err)
{
    bool pairs = located_is(l, "vocab.json");
    bool model = pairs || (l->by_folder && (ends_with(l->name, ".model") || ends_with(l->name, ".model.zst")));
    const char *slash = strrchr(l->path, '/');
    enum leat_status s = LEAT_OK;
    char folder[ROOM];

    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - l->path) : 1, slash ? l->path : ".") >=
        (int)sizeof folder)
        return LEAT_OK;
    if (slash == l->path)
        snprintf(folder, sizeof folder, "/");
    for (unsigned i = 0; s == LEAT_OK && i < BESIDES; i++) {
        struct located_file *file = &l->beside[i];
        uint8_t *stored = NULL;
        uint64_t size;

        if ((i == BESIDE_MODEL && !model) || (i == BESIDE_MERGES && !pairs))
            continue;
        s = file_of(&file->path, folder, beside_names[i], err);
        if (s != LEAT_OK || !file->path)
            continue;
        s = read_both(file->path, &stored, &size, &file->bytes, &file->size, err);
        if (stored != file->bytes)
            free(stored);
    }
    return s;
}

static bool names_a_file(const char *spec)
{
    static const char *const endings[] = { ".json", ".model", ".tiktoken", ".txt" };

    for (unsigned i = 0; i < sizeof endings / sizeof endings[0]; i++)
        if (file_ends_with(spec, strlen(spec), endings[i]))
            return true;
    return false;
}

/* Says that nothing has this name, and suggests only what is certain: another vocabulary would give wrong ids. */
static enum leat_status nothing(const char *spec, const struct leat_error *cache, struct leat_error *err)
{
    const struct model_name *model = model_name_find(spec);
    const char *nearest = strchr(spec, '/') ? NULL : builtin_nearest(spec);

    if (nearest)
        return status_set_in(
            err, LEAT_E_NO_FILE, spec,
            "unknown tokenizer \"%s\"; did you mean the built-in %s? (No file, folder or model in the Hugging "
            "Face cache has that name.)",
            spec, nearest);
    if (names_a_file(spec))
        return status_set_in(err, LEAT_E_NO_FILE, spec, "unknown tokenizer \"%s\": no such file", spec);
    if (model && model->builtin)
        return status_set_in(
            err, LEAT_E_NO_FILE, spec,
            "unknown tokenizer \"%s\"; that model's is the built-in %s. (No file, folder or model in the "
            "Hugging Face cache has that name.)",
            spec, model->builtin);
    if (model)
        return status_set_in(err, LEAT_E_NO_FILE, spec,
                             "unknown tokenizer \"%s\": not a built-in (%s), not a file or folder; its vocabulary is "
                             "that of %s: give that name, which is fetched from the Hugging Face Hub",
                             spec, builtin_list(), model->repository);
    return status_set_in(err, LEAT_E_NO_FILE, spec,
                         "unknown tokenizer \"%s\": not a built-in (%s), not a file or folder%s%s", spec,
                         builtin_list(), cache->message[0] ? "; and " : "", cache->message);
}

/* Finds a model by its id: in the cache, else, if it is "org/name", on the Hub. *why says what is wrong; its status
 * is LEAT_E_NO_FILE also if the Hub could not be asked. */
static enum leat_status find_model(char **path, const char *id, const struct locate_stop *stop, struct leat_error *why)
{
    struct leat_error hub = { .message = "" };
    char model[ROOM], folder[ROOM];
    enum leat_status s = hub_cache_place(model, id, why);

    if (s == LEAT_OK)
        s = hub_cache_find(folder, sizeof folder, model, id, why);
    if (s == LEAT_OK)
        s = in_folder(path, folder, why);
    if (s != LEAT_E_NO_FILE || strcspn(id, "/") >= strcspn(id, "@") || names_a_file(id))
        return s;
    s = fetch_model(folder, model, id, stop, &hub);
    if (s == LEAT_OK)
        return in_folder(path, folder, why);
    if (s != LEAT_E_NO_FILE && s != LEAT_E_IO && s != LEAT_E_UNSUPPORTED) {
        *why = hub;
        return s;
    }
    status_after(why, "; %s", hub.message);
    return LEAT_E_NO_FILE;
}

static enum leat_status find_path(char **path, bool *by_folder, const char *spec, const struct locate_stop *stop,
                                  struct leat_error *err)
{
    struct leat_error why = { .message = "" };
    struct file_identity identity;
    enum leat_status s;

    *by_folder = is_folder(spec);
    if (*by_folder)
        return in_folder(path, spec, err);
    s = file_identify(spec, &identity, err);
    if (s != LEAT_OK)
        return s;
    if (identity.exists) {
        *path = strdup(spec);
        return *path ? LEAT_OK : status_no_memory(err, strlen(spec));
    }
    s = hub_cache_is_id(spec) ? find_model(path, spec, stop, &why) : LEAT_E_NO_FILE;
    if (s == LEAT_E_NO_FILE)
        return nothing(spec, &why, err);
    if (s != LEAT_OK && err)
        *err = why;
    *by_folder = true;
    return s;
}

enum leat_status locate(struct located *out, const char *spec, const struct locate_stop *stop, struct leat_error *err)
{
    enum leat_status s;

    *out = (struct located) { .builtin = builtin_find(spec) };
    if (out->builtin)
        return LEAT_OK;
    s = find_path(&out->path, &out->by_folder, spec, stop, err);
    if (s == LEAT_OK)
        out->name = strrchr(out->path, '/') ? strrchr(out->path, '/') + 1 : out->path;
    if (s == LEAT_OK)
        s = read_both(out->path, &out->stored, &out->stored_size, &out->plain, &out->plain_size, err);
    if (s == LEAT_OK)
        s = read_beside(out, err);
    if (s != LEAT_OK)
        located_free(out);
    return s;
}

bool located_is(const struct located *l, const char *name)
{
    return is_called(l->name, name);
}

void located_free(struct located *l)
{
    free(l->path);
    if (l->plain != l->stored)
        free(l->plain);
    free(l->stored);
    for (unsigned i = 0; i < BESIDES; i++) {
        free(l->beside[i].path);
        free(l->beside[i].bytes);
    }
    *l = (struct located) { 0 };
}
