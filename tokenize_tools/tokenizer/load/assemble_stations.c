/* assemble_stations.c: see assemble_stations.h. */
#include "assemble_stations.h"

#include "base/status.h"

void assemble_add_piece(struct assembling *a, struct jsontree_text text, double score)
{
    bool found;

    if (a->status != LEAT_OK)
        return;
    if (a->piece_count == a->piece_room)
        a->status = status_set(a->err, LEAT_E_VOCABULARY, "%s: too many tokens", a->source->path);
    if (a->status != LEAT_OK)
        return;
    a->ids
        .entries[string_map_add(&a->ids, string_map_hash(&a->ids, text.bytes, text.length), text.bytes, text.length,
                                &found)]
        .value = a->piece_count;
    a->pieces[a->piece_count++] = (struct assemble_piece) { text, score };
}

void assemble_add_piece_named(struct assembling *a, enum assemble_named n)
{
    if (a->named[n].text.bytes)
        assemble_add_piece(a, a->named[n].text, 0);
    else if (a->status == LEAT_OK)
        a->status = status_set(a->err, LEAT_E_UNSUPPORTED,
                               "%s: tokenizer_config.json removes a token of the vocabulary, which is not supported",
                               a->source->path);
}

void assemble_put_charsmap(struct assembling *a)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const struct spec_string *map = &a->model->sentencepiece.charsmap;
    char four[5] = "";

    assemble_put(a, "{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"");
    for (uint32_t i = 0; a->status == LEAT_OK && i < map->length; i += 3) {
        uint32_t left = map->length - i, bits = (uint32_t)map->bytes[i] << 16;

        bits |= left > 1 ? (uint32_t)map->bytes[i + 1] << 8 : 0;
        bits |= left > 2 ? map->bytes[i + 2] : 0;
        for (unsigned k = 0; k < 4; k++)
            four[k] = k <= left ? letters[bits >> (18 - 6 * k) & 63] : '=';
        assemble_put(a, four);
    }
    assemble_put(a, "\"}");
}

bool assemble_has_map(const struct assembling *a)
{
    return a->model->sentencepiece.charsmap.length > 0;
}

void assemble_put_normalizers(struct assembling *a, const char *before, const char *after)
{
    assemble_put(a, "\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
    assemble_put(a, before);
    if (assemble_has_map(a))
        assemble_put_charsmap(a);
    assemble_put(a, assemble_has_map(a) && *after ? "," : "");
    assemble_put(a, after);
    assemble_put(a, "]},");
}

void assemble_put_metaspace(struct assembling *a, const char *before, const char *without)
{
    const char *scheme = without && !assemble_flag(a, "add_prefix_space", true) ? without : "always";

    assemble_put(a, "\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":[");
    assemble_put(a, before);
    for (unsigned i = 0; i < 2; i++) {
        assemble_put(a, i ? "]},\"decoder\":" : "");
        assemble_put(a,
                     "{\"type\":\"Metaspace\",\"replacement\":\"" SPEC_MARK "\",\"split\":true,\"prepend_scheme\":\"");
        assemble_put(a, scheme);
        assemble_put(a, "\"}");
    }
    assemble_put(a, ",");
}
