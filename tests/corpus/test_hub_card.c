/*
 * test_hub_card.c: which configurations a README.md of the Hugging Face Hub lists, in every form that datasets takes;
 * what it cannot be read for, with the line; that nothing makes it take long or much memory; and, built a second time
 * without libyaml, that only a README.md with configurations is refused. And patterns of paths. Whole folders are
 * compared with the package datasets itself by python/tests/pack/test_hub_splits.py.
 */
#include <stdarg.h>

#include "corpus/hub/hub_card.h"
#include "corpus/hub/hub_glob.h"
#include "t.h"

static struct hub_card card;
static char text[HUB_CARD_BYTES + 100];
static size_t used;  /* of it */
static bool without; /* libyaml */

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    used += (size_t)vsnprintf(text + used, sizeof text - used, format, values);
    va_end(values);
}

static enum leat_status read_card(const char *readme)
{
    hub_card_free(&card);
    return hub_card_read(&card, "in/README.md", readme, strlen(readme), &t_err);
}

/* As one line: "name(folder) split=pattern,pattern split=pattern names" for each configuration. */
static const char *told(void)
{
    used = 0;
    add("%s", "");
    for (size_t i = 0; i < card.count; i++) {
        const struct hub_card_config *c = &card.configs[i];

        add("%s%s", i > 0 ? " | " : "", c->name);
        if (c->data_dir)
            add("(%s)", c->data_dir);
        for (size_t k = 0; k < c->count; k++) {
            add(" %s=", c->splits[k].name);
            for (size_t p = 0; p < c->splits[k].count; p++)
                add("%s%s", p > 0 ? "," : "", c->splits[k].patterns[p]);
        }
        if (c->by_names)
            add(" names");
    }
    return text;
}

static void test_forms(void)
{
    static const struct {
        const char *readme, *want;
    } rows[] = {
        { "", "" },
        { "---", "" },
        { "---\n---\n", "" },
        { "# configs:\n", "" },
        { "---\nconfigs:\n- config_name: a\n", "" }, /* without an end it is no YAML */
        { "x\n---\nconfigs:\n- config_name: a\n---\n", "" },
        { "---\nlicense: mit\n---\nconfigs:\n- config_name: a\n", "" },
        { "---\nconfigs:\n- config_name: a\n---x\n", "" },
        { "---\nconfigs:\n- config_name: a\n---", "a names" },
        { "\n \n---\nconfigs:\n- config_name: a\n--- \t\n", "a names" },
        { "---\r\nconfigs:\r\n- config_name: a\r\n---\r\n", "a names" },
        { "---\n\"configs\" : [{config_name: a, data_dir: \"x/y\"}]\n---\n", "a(x/y) names" },
        { "---\n{configs: [{config_name: a, data_files: b}]}\n---\n", "a train=b" },
        { "---\nconfigs:\n---\n", "" },
        { "---\nconfigs: []\n---\n", "" },
        { "---\nconfigs: ~\n---\n", "" },
        { "---\nmore:\n  configs:\n  - config_name: a\n---\n", "" },
        { "---\nconfigs:\n- config_name: a\n  data_files: x/*\n  default: true\n- config_name: no\n  data_files:\n  - "
          "y\n"
          "  - 'z'\n---\n",
          "a train=x/* | no train=y,z" },
        { "---\nconfigs:\n- config_name: a\n  data_files:\n  - split: train\n    path: x\n  - split: t.1\n    path: "
          "[y, z]\n"
          "---\n",
          "a train=x t.1=y,z" },
        { "---\nconfigs:\n- config_name: a\n  data_files: []\n---\n", "a train=" },
        { "---\nconfigs:\n- config_name: a\n  data_files: null\n  data_dir: \"\"\n---\n", "a() names" },
        { "---\nconfigs:\n- config_name: a\n- config_name: b\n---\n", "a names | b names" },
        { "---\na: &f [x, y]\nconfigs:\n- config_name: a\n  data_files: *f\n- config_name: b\n  data_files: *f\n---\n",
          "a train=x,y | b train=x,y" },
        { "---\nconfigs:\n- config_name: a\nconfigs:\n- config_name: b\n---\n", "b names" }, /* the last one counts */
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        enum leat_status s = read_card(rows[i].readme);

        if (without) {
            T_EQ(s, strchr(rows[i].want, 'a') || strchr(rows[i].want, 'b') ? LEAT_E_UNSUPPORTED : s);
        } else {
            T_EQ(s, LEAT_OK);
            T_STR(told(), rows[i].want);
        }
    }
}

static void test_refused(void)
{
    static const struct {
        const char *readme, *want;
    } rows[] = {
        { "---\n\nconfigs:\n- config_name: a\n  data_files: [x\n---\n",
          "its YAML cannot be read: line 6: did not find" },
        { "---\nconfigs: &a\n- config_name: *b\n---\n", "line 3: found undefined alias" },
        { "---\nconfigs:\n\t- x\n---\n", "line 3: found character that cannot start any token" },
        { "---\nconfigs: \"\xff\"\n---\n", "its YAML cannot be read: line 2: invalid leading UTF-8 octet" },
        { "---\nconfigs: x\n---\n", "configs is not a list" },
        { "---\nconfigs:\n  config_name: a\n---\n", "configs is not a list" },
        { "---\nconfigs: [a]\n---\n", "one of them is not a mapping" },
        { "---\nconfigs:\n- data_files: a\n---\n", "one of them has no config_name" },
        { "---\nconfigs:\n- config_name: [a]\n---\n", "one of them has no config_name" },
        { "---\nconfigs:\n- config_name: a\n  data_dir: [x]\n---\n", "data_dir is not text (configuration a)" },
        { "---\nconfigs:\n- config_name: a\n  data_files: {train: x}\n---\n",
          "a path is neither text nor a list (configuration a)" },
        { "---\nconfigs:\n- config_name: a\n  data_files: [x, [y]]\n---\n", "a path is not text (configuration a)" },
        { "---\nconfigs:\n- config_name: a\n  data_files: [{path: y}]\n---\n", "an entry of data_files has no split" },
        { "---\nconfigs:\n- config_name: a\n  data_files: [{split: a, path: y}, z]\n---\n",
          "an entry of data_files has no split" },
        { "---\nconfigs:\n- config_name: a\n  data_files: [{split: a}]\n---\n", "a path is neither text nor a list" },
        { "---\nconfigs:\n- config_name: a\n  data_files: [{split: a, path: x}, {split: a, path: y}]\n---\n",
          "a split is named twice (configuration a)" },
        { "---\n%YAML 1.1\n--- # here\nconfigs:\n- config_name: a\n---\n", "its YAML has directives" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        T_REFUSED(read_card(rows[i].readme), without ? LEAT_E_UNSUPPORTED : LEAT_E_ARGUMENT,
                  without ? "in/README.md lists configurations, which this build cannot read: it has no "
                            "libyaml (libyaml-dev)"
                          : rows[i].want);
        T_EQ(t_err.hint, LEAT_HINT_SPLIT_ALL);
        T_EQ(card.count, 0);
    }
}

/* A README.md that is full of one thing. */
static void fill(const char *begin, const char *again, const char *end)
{
    used = 0;
    add("---\nconfigs:\n%s", begin);
    while (used + strlen(again) + strlen(end) + 8 < HUB_CARD_BYTES)
        add("%s", again);
    add("%s\n---\n", end);
}

static void test_large(void)
{
    static const struct {
        const char *begin, *again, *end, *want;
    } rows[] = {
        { "- ", "[", "", "nested too deep" },
        { "- ", "{", "", "nested too deep" },
        { "", "- ", "", "nested too deep" },
        { "- &a x\n- [", "*a,", "]", "too many anchors" },
        { "", "%TAG !a! b\n", "", "has directives" },
        { "- config_name: a\n  data_files: [", "x,", "]", "too many names and paths" },
        { "- config_name: a\n  data_files:\n", "  - {split: x, path: y}\n", "", "more than 1,000 splits" },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows && !without; i++) {
        fill(rows[i].begin, rows[i].again, rows[i].end);
        T_REFUSED(read_card(text), LEAT_E_ARGUMENT, rows[i].want);
    }
    fill("- config_name: a\n", "# more\n", "");
    memset(text + strlen(text) - 5, 'x', HUB_CARD_BYTES - strlen(text) + 5);
    T_STATUS(hub_card_read(&card, "in/README.md", text, HUB_CARD_BYTES, &t_err),
             without ? LEAT_E_UNSUPPORTED : LEAT_E_ARGUMENT);
    if (!without)
        T_CONTAINS(t_err.message, "its YAML is longer than 4 MiB");
}

/* Aliases name a long list again and again: what is kept is bounded, whatever the file's size. */
static void test_aliases(void)
{
    used = 0;
    add("---\nlist: &a [");
    for (unsigned i = 0; i < 5000; i++)
        add("path%u,", i);
    add("]\nconfigs:\n");
    for (unsigned i = 0; i < 5000; i++)
        add("- {config_name: a, data_files: *a}\n");
    add("---\n");
    T_REFUSED(read_card(text), without ? LEAT_E_UNSUPPORTED : LEAT_E_ARGUMENT,
              without ? "libyaml" : "too many names and paths");
}

static void test_globs(void)
{
    static const struct {
        const char *pattern, *name;
        bool fits;
    } rows[] = {
        { "a", "a", true },
        { "a", "ab", false },
        { "ab", "a", false },
        { "a", "x/a", false },
        { "*", "a.b", true },
        { "*", "a/b", false },
        { "*/*", "a/b", true },
        { "*/*", "a/b/c", false },
        { "a*", "a", true },
        { "*a*b", "xaybzb", true },
        { "*a*b", "xaybz", false },
        { "***a", "ba", true },
        { "?", "a", true },
        { "?", "\xc3\xbc", true },
        { "??", "\xc3\xbc", false },
        { "?", "ab", false },
        { "[a-c]", "b", true },
        { "[a-c]", "d", false },
        { "[!a-c]", "d", true },
        { "[!a-c]", "b", false },
        { "[-._]", "-", true },
        { "[]]", "]", true },
        { "[!]]", "x", true },
        { "[!]]", "]", false },
        { "[a", "[a", true },
        { "[]", "[]", true },
        { "[]a", "x", false },
        { "x[a-]", "x-", true },
        { "[a-c-e]", "-", true },
        { "[a-c-e]", "d", false },
        { "[\xc3\xa4-\xc3\xb6]", "\xc3\xa5", true },
        { "[\xc3\xa4-\xc3\xb6]", "\xc3\xbc", false },
        { "\\*", "\\x", true },
        { "\\*", "*", false },
        { "**", "a/b/c", true },
        { "**/c", "c", true },
        { "**/c", "a/b/c", true },
        { "**/c", "a/bc", false },
        { "a/**", "a/b/c", true },
        { "a/**", "b/c", false },
        { "a/**/d", "a/d", true },
        { "a/**/d", "a/b/c/d", true },
        { "**/b/*/d", "b/b/c/d", true },
        { "**/b/**/d", "a/b/c/c/d", true },
        { "**/b/c", "b/x/b/c", true },
        { "a**b", "axxb", true },
        { "a/", "a", false },
        { "", "", true },
        { "", "a", false },
    };
    char pattern[2001] = "", name[2001] = "";

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (hub_glob(rows[i].pattern, rows[i].name) != rows[i].fits)
            T_FAIL("%s and %s: not %d", rows[i].pattern, rows[i].name, rows[i].fits);
    /* which takes ages if every star tries everything */
    for (unsigned i = 0; i < 1000; i++)
        memcpy(pattern + 2 * i, "*a", 3), memcpy(name + 2 * i, "aa", 3);
    pattern[1999] = 'b';
    T_CHECK(!hub_glob(pattern, name));
    for (unsigned i = 0; i < 400; i++)
        memcpy(pattern + 5 * i, "**/a/", 6), memcpy(name + 2 * i, "a/", 3);
    name[798] = 'b';
    T_CHECK(!hub_glob(pattern, name));
}

int main(int count, char **words)
{
    (void)count;
    without = strstr(words[0], "_none") != NULL;
#ifndef LEAT_HAVE_YAML
    without = true;
#endif
    test_forms();
    test_refused();
    test_large();
    test_aliases();
    test_globs();
    hub_card_free(&card);
    return t_end();
}
