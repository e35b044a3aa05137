/* info_damage.c: see info_damage.h. */
#include "info_damage.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"
#include "commands/common/damage_lines.h"
#include "pages/page.h"

enum leat_status info_damage_read(struct damage_list *l, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = LEAT_OK;

    leat_dataset_info(d, &info);
    for (uint64_t i = 0; s == LEAT_OK && i < info.parts; i++) {
        struct leat_metadata *m;

        s = leat_dataset_metadata(d, i, &m, err);
        if (s != LEAT_OK)
            break;
        for (uint64_t k = 0; s == LEAT_OK && k < m->count; k++)
            if (strcmp(m->pairs[k].key, DAMAGE_KEY) == 0)
                s = damage_list_read(l, m->pairs[k].value, err);
        leat_metadata_free(m);
    }
    return s;
}

void info_damage_print(const struct damage_list *l, int key_columns, size_t most)
{
    char text[DAMAGE_LINE];

    if (l->count == 0)
        return;
    damage_say_all(l, text, sizeof text);
    printf("  %-*s%s\n", key_columns, "damaged", text);
    for (size_t i = 0; i < l->count && i < most; i++) {
        if (!l->items[i].input)
            continue;
        damage_say_one(&l->items[i], text, sizeof text);
        printf("  %-*s", key_columns, "");
        cli_put(text, strlen(text));
        printf("\n");
    }
    if (l->count > most)
        printf("  %-*s... and %s more (--json has them all)\n", key_columns, "", units_count(l->count - most).text);
}

const char info_damage_style[] =
    "#damaged{border-left:.3rem solid var(--byte);padding-left:.8rem;margin-bottom:1.2rem}";

static void put_number(FILE *out, uint64_t number)
{
    fprintf(out, "<td class=\"n\">%s</td>", number == LEAT_NONE ? "not known" : units_count(number).text);
}

void info_damage_page(const struct damage_list *l, FILE *out)
{
    char text[DAMAGE_LINE];

    if (l->count == 0)
        return;
    damage_say_all(l, text, sizeof text);
    fprintf(out,
            "<section id=\"damaged\"><h2>Damaged inputs</h2>\n<p>In this dataset %s.</p>\n<div class=\"wide\"><table>\n"
            "<tr><th>input</th><th class=\"n\">read up to byte</th><th class=\"n\">bytes not read</th><th>reason</th>"
            "</tr>\n",
            text);
    for (size_t i = 0; i < l->count; i++) {
        fputs("<tr><td>", out);
        page_string(out, l->items[i].input ? l->items[i].input : "not recorded");
        fputs("</td>", out);
        put_number(out, l->items[i].offset);
        put_number(out, l->items[i].unread);
        fputs("<td>", out);
        page_string(out, l->items[i].reason);
        fprintf(out, "%s</td></tr>\n", l->items[i].unread == 0 ? "; " DAMAGE_MISSING : "");
    }
    fputs("</table></div></section>\n", out);
}
