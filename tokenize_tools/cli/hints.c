/* hints.c: how the command spells what a library's error hints at: a row per hint of enum leat_hint. */
#include <stddef.h>

#include "cli.h"

static const char *const spellings[] = {
    [LEAT_HINT_NONE] = "",
    [LEAT_HINT_REPLACE] = " (--force)",
    [LEAT_HINT_RESUME] = " (--resume)",
    [LEAT_HINT_RESUME_OR_REPLACE] = " (--resume or --force)",
    [LEAT_HINT_PATTERN] = " (--pattern NAME)",
    [LEAT_HINT_FORMAT] = " (--format NAME)",
    [LEAT_HINT_PACK] = " (leat pack)",
    [LEAT_HINT_MERGE] = " (leat merge)",
    [LEAT_HINT_READ] = "", /* no command maps tokens */
    [LEAT_HINT_INPUTS] = " (leat info)",
    [LEAT_HINT_MEMORY] = " (--memory SIZE)",
    [LEAT_HINT_SKIP] = " (--skip-unknown)",
    [LEAT_HINT_BINARY] = " (--allow-binary packs it all the same)",
    [LEAT_HINT_FOLLOW] = " (--follow-links)",
    [LEAT_HINT_ID] = " (leat pack --id FIELD)",
    [LEAT_HINT_TEXT] = " (--text NAME)",
    [LEAT_HINT_MESSAGES] = " (--messages NAME)",
    [LEAT_HINT_MASK_FIELD] = " (--mask-field NAME)",
    [LEAT_HINT_BY] = " (--by NAME)",
    [LEAT_HINT_AGAIN] = "", /* the sentences say so */
    [LEAT_HINT_EMPTY] = " (--allow-empty makes it all the same)",
    [LEAT_HINT_SPLIT] = " (--split-of train, for example, or --split-of all)",
    [LEAT_HINT_SPLIT_ALL] = " (--split-of all)",
    [LEAT_HINT_CHAT] = " (--text NAME, or --chat FILE for conversations)",
    [LEAT_HINT_CHAT_DATE] = " (--chat-date DATE)",
    [LEAT_HINT_CHAT_TIME] = " (--chat-seconds N, or --skip-slow-chats)",
    [LEAT_HINT_APPEND_OR_REPLACE] = "",     /* no command pushes */
    [LEAT_HINT_SAMPLES] = " (--samples N)", /* plan_options.c: where that means something else */
};

const char *cli_hint(const struct leat_error *err)
{
    return err->hint < sizeof spellings / sizeof *spellings ? spellings[err->hint] : "";
}
