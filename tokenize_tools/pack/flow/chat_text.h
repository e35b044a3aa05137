/* chat_text.h: a rendered conversation on its way to ids and their mask. */
#ifndef LEAT_PACK_CHAT_TEXT_H
#define LEAT_PACK_CHAT_TEXT_H

#include "render/render.h"
#include "steps.h"

struct chat_source {
    const struct render_answer *answer;
    struct leat_encoder *encoder, *apart; /* which finds special tokens, and which does not */
};

/* What a renderer says of a conversation becomes the unit's last document. LEAT_E_TEXT: it is to be rejected; *too_big:
 * because it needs more memory. */
enum leat_status chat_text_take(struct pack_worker *w, struct unit *u, const struct unit_document *as_read,
                                const struct chat_source *source, bool *too_big, struct leat_error *err);

#endif
