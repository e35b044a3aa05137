/* info_damage.c: see info_damage.h. */
#include "info_damage.h"

#include <string.h>

#include "cli/cli.h"
#include "cli/units.h"
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

/* What is said of all; of what an older version wrote, which inputs these are is not known. */
static void say_all(const struct damage_list *l, char *text, size_t room)
{
    size_t named = 0;

    for (size_t i = 0; i < l->count; i++)
        named += l->items[i].input != NULL;
    if (named == 0)
        snprintf(text, room,
                 "inputs were cut off or broken, and packed as far as they were readable; which ones was "
                 "not recorded");
    else
        snprintf(text, room, "%s %s cut off or broken, and packed as far as %s readable%s",
                 units_counted(named, "input").text, named == 1 ? "was" : "were", named == 1 ? "it was" : "they were",
                 named < l->count ? "; of others, which ones was not recorded" : "");
}

/* Of a file that was read to its end. */
#define MISSING "what should follow is missing"

/* What is known of the bytes after the damage. */
static void say_unread(const struct damage *d, char *text, size_t room)
{
    if (d->unread == LEAT_NONE)
        snprintf(text, room, "what follows was not read");
    else if (d->unread == 0)
        snprintf(text, room, MISSING);
    else
        snprintf(text, room, "%s %s not read", units_counted(d->unread, "byte").text, d->unread == 1 ? "was" : "were");
}

void info_damage_print(const struct damage_list *l, int key_columns, size_t most)
{
    char text[160];

    if (l->count == 0)
        return;
    say_all(l, text, sizeof text);
    printf("  %-*s%s\n", key_columns, "damaged", text);
    for (size_t i = 0; i < l->count && i < most; i++) {
        const struct damage *d = &l->items[i];

        if (!d->input)
            continue;
        say_unread(d, text, sizeof text);
        printf("  %-*s", key_columns, "");
        cli_put(d->input, strlen(d->input));
        printf(", at byte %s: ", units_count(d->offset).text);
        cli_put(d->reason, strlen(d->reason));
        printf("; %s\n", text);
    }
    if (l->count > most)
        printf("  %-*s... and %s more (--json has them all)\n", key_columns, "", units_count(l->count - most).text);
}

void info_damage_json(const struct damage_list *l, struct json *j)
{
    json_open_array(j, "damaged");
    for (size_t i = 0; i < l->count; i++) {
        json_open_object(j, NULL);
        json_string(j, "input", l->items[i].input);
        json_u64_or_null(j, "offset", l->items[i].offset);
        json_string(j, "reason", l->items[i].reason);
        json_u64_or_null(j, "unread_bytes", l->items[i].unread);
        json_close_object(j);
    }
    json_close_array(j);
}

const char info_damage_style[] =
    "#damaged{border-left:.3rem solid var(--byte);padding-left:.8rem;margin-bottom:1.2rem}";

static void put_number(FILE *out, uint64_t number)
{
    fprintf(out, "<td class=\"n\">%s</td>", number == LEAT_NONE ? "not known" : units_count(number).text);
}

void info_damage_page(const struct damage_list *l, FILE *out)
{
    char text[160];

    if (l->count == 0)
        return;
    say_all(l, text, sizeof text);
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
        fprintf(out, "%s</td></tr>\n", l->items[i].unread == 0 ? "; " MISSING : "");
    }
    fputs("</table></div></section>\n", out);
}
