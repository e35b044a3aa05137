/*
 * test_export_locale.c: files for datatrove are the same in a program with a locale that writes 1,5: their metadata had
 * a comma in it.
 */
#include <locale.h>

#include "leat_pack.h"
#include "one_document.h"
#include "t.h"

static const char *folder;

static void write_dataset(void)
{
    static uint16_t ids[10000];
    struct leat_writer_options o = LEAT_WRITER_OPTIONS_INIT;
    struct leat_writer *w;

    o.vocabulary = 1000;
    T_OK(leat_writer_open(&w, t_path(folder, "d"), &o, &t_err));
    for (int i = 0; i < 126; i++)
        T_OK(add_one_document(w, ids, 2, NULL, 10000, NULL, &t_err));
    T_OK(leat_writer_finish(w, NULL, &t_err));
}

static void check(const char *name)
{
    struct leat_export_options o = LEAT_EXPORT_OPTIONS_INIT;
    const char *dataset = t_path(folder, "d");
    char metadata[200] = "", path[1100];
    FILE *f;

    o.to = "datatrove";
    T_OK(leat_export(t_path(folder, name), &dataset, 1, &o, NULL, &t_err));
    snprintf(path, sizeof path, "%s/%s.ds.metadata", folder, name);
    f = fopen(path, "r");
    T_CHECK(f && fread(metadata, 1, sizeof metadata - 1, f) > 0);
    if (f)
        fclose(f);
    T_STR(metadata, "Unknown Tokenizer|2\n1260000\n1.3 M");
}

int main(void)
{
    char command[1200];

    folder = t_folder();
    write_dataset();
    check("plain");
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 %s/de >%s/said 2>&1", folder, folder);
    if (system(command) != 0 || setenv("LOCPATH", folder, 1) != 0 || !setlocale(LC_ALL, "de"))
        return t_failures ? 1 : t_skip("no locale with a decimal comma can be made here");
    T_STR(t_text("%.1f", 1.5), "1,5");
    check("comma");
    return t_end();
}
