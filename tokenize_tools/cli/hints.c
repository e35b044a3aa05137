/* hints.c: the words in which the command spells what a library's error hints at. There is a row per hint of enum
 * leat_hint; pack/option_rows.h has those of packing. */
#include <stddef.h>

#include "cli.h"

static const char *const spellings[] = {
    [LEAT_HINT_NONE] = "",
    [LEAT_HINT_REPLACE] = " (--force)",
    [LEAT_HINT_RESUME] = " (--resume)",
    [LEAT_HINT_RESUME_OR_REPLACE] = " (--resume or --force)",
    [LEAT_HINT_PATTERN] = " (--pattern NAME)",
    [LEAT_HINT_PACK] = " (leat pack)",
    [LEAT_HINT_MERGE] = " (leat merge)",
    [LEAT_HINT_READ] = "", /* no command has an option for this */
    [LEAT_HINT_INPUTS] = " (leat info)",
    [LEAT_HINT_MEMORY] = " (--memory SIZE)",
    [LEAT_HINT_AGAIN] = "",                 /* the sentences say it themselves */
    [LEAT_HINT_APPEND_OR_REPLACE] = "",     /* no command pushes */
    [LEAT_HINT_SAMPLES] = " (--samples N)", /* plan_options.c replaces it where that option means something else */
#define PACK_HINT(name, command, python) [LEAT_HINT_##name] = " " command,
#include "pack/option_rows.h"
};

const char *cli_hint(const struct leat_error *err)
{
    return err->hint < sizeof spellings / sizeof *spellings ? spellings[err->hint] : "";
}
