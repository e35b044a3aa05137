/*
 * fuzz_load_folder.c: folders of a tokenizer without a tokenizer.json, of which all files are hostile bytes.
 *
 * A byte of the input chooses the name of the vocabulary. Then come tokenizer_config.json, config.json,
 * special_tokens_map.json, added_tokens.json and merges.txt, each up to a zero byte (an empty one is missing), and last
 * the vocabulary. What opens agrees in its numbers, encodes and decodes some text, and is the same when it is opened
 * from what a dataset stores of it.
 */
#include "files.h"
#include "fuzz_load.h"

#include "tokenizer/load/spec_open.h"

static void write_folder(struct fuzz_bytes *b)
{
    static const char *const vocabularies[] = { "vocab.txt",    "vocab.json",
                                                "spiece.model", "sentencepiece.bpe.model",
                                                "spm.model",    "tokenizer.model" };
    static const char *const beside[] = { "tokenizer_config.json", "config.json", "special_tokens_map.json",
                                          "added_tokens.json", "merges.txt" };
    const char *vocabulary = vocabularies[fuzz_u8(b) % (sizeof vocabularies / sizeof vocabularies[0])];

    for (size_t i = 0; i < sizeof beside / sizeof beside[0]; i++) {
        const uint8_t *end = memchr(b->at, '\0', b->left);
        size_t length = end ? (size_t)(end - b->at) : b->left;

        if (length > 0)
            files_write(beside[i], b->at, length);
        b->at += length + (end != NULL);
        b->left -= length + (end != NULL);
    }
    files_write(vocabulary, b->at, b->left);
}

static void open_stored(const struct opened_spec *o)
{
    struct opened_spec again;
    struct leat_error err = { 0 };

    FUZZ_CHECK(spec_open_stored(&again, o->at.stored, o->at.stored_size, o->at.name, NULL, &err) == LEAT_OK);
    FUZZ_CHECK(memcmp(again.print, o->print, FINGERPRINT_BYTES) == 0);
    spec_close(&again);
}

FUZZ_TARGET(load_folder)
{
    struct fuzz_bytes b = { data, size };
    struct leat_error err = { 0 };
    struct tokenizer_spec *spec;
    struct pipeline *pipeline;
    struct opened_spec o;
    enum leat_status s;

    if (size == 0)
        return -1;
    files_begin();
    files_remove("");
    write_folder(&b);
    s = spec_open(&o, files_folder_path, NULL, &err);
    if (s == LEAT_E_NO_FILE || !fuzz_load_ok(s, &err)) /* vocab.json needs merges.txt */
        return 0;
    fuzz_load_check(o.spec);
    open_stored(&o);
    spec = o.spec;
    o.spec = NULL;
    spec_close(&o);
    if (fuzz_load_ok(pipeline_make(&pipeline, spec, &err), &err)) { /* it has the spec now, whatever it returns */
        fuzz_load_encode(pipeline);
        pipeline_free(pipeline);
    }
    return 0;
}
