/*
 * test_description.c: the description of a run holds its options in full, however long they are. A line was cut at 255
 * bytes and lost its end: a killed run whose splits had many zeros was then resumed with other splits.
 */
#include "pack/pack_description.h"
#include "t.h"

static void describe(struct buffer *text, const char *name, const char *fraction)
{
    struct leat_split split = { .name = name, .fraction = fraction };
    struct leat_pack_options o = LEAT_PACK_OPTIONS_INIT;
    struct input_list none = { 0 };

    o.text = "text";
    o.id = "";
    o.splits = &split;
    o.split_count = 1;
    text->size = 0;
    T_OK(pack_description_make(text, &o, NULL, &none, &t_err));
}

int main(void)
{
    struct buffer text = { 0 }, other = { 0 };
    char name[65] = "", half[1002] = "", tenth[1002] = "", line[1200];
    const char *path = t_path(t_folder(), "run");

    memset(name, 'n', 64);
    memset(half, '0', 1000);
    memcpy(tenth, half, sizeof half);
    memcpy(half + 990, ".5", 2);
    memcpy(tenth + 990, ".1", 2);
    describe(&text, name, half);
    snprintf(line, sizeof line, "\nsplit %s=%s\n", name, half);
    T_CHECK(text.size > strlen(line));
    T_CHECK(text.size > strlen(line) && memcmp(text.bytes + text.size - strlen(line), line, strlen(line)) == 0);

    T_OK(pack_description_write(path, &text, &t_err));
    T_OK(pack_description_compare(path, &text, "out", pack_description_say_difference, &t_err));
    describe(&other, name, tenth);
    T_REFUSED(pack_description_compare(path, &other, "out", pack_description_say_difference, &t_err), LEAT_E_CHECKPOINT,
              "the earlier run of out differs: that one had \"split ");
    buffer_free(&text);
    buffer_free(&other);
    return t_end();
}
