/*
 * search.h: the inside of inputs_find(): the state of a search, and what its files have of each other. A search goes
 * through the words in their order; folders and lists call it again, at most SEARCH_DEPTH deep, so that a cycle ends
 * with an error. So does what multiplies without a cycle, since each of a few lists may name the next one twice.
 */
#ifndef LEAT_TOKENIZE_TOOLS_SEARCH_H
#define LEAT_TOKENIZE_TOOLS_SEARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "base/buffer.h"
#include "base/mounts.h"
#include "corpus/streams/raw_input.h"
#include "inputs.h"
#include "leat.h"
#include "leat_pack.h"

/*
 * Whether a symbolic link in a folder of inputs leads out of the folder. A folder that somebody else has packed up may
 * hold a link to any file of this machine.
 */

/* The folder; its real path is found out at the first link. */
struct folder_links {
    const char *folder;
    char *real;
};

/* ---- What names say ---------------------------------------------------------------------------------------------- */

/*
 * What names in a folder say by themselves. Spark, Hive, Hadoop, Dask and pyarrow.dataset pass over names that begin
 * with . or _ in a folder that they read, and give such names to what is not data: half-written files, logs,
 * statistics. Some of these show that the folder is a table, whose files cannot be read one by one. A name with = in it
 * is a partition of Hive's (_lang=en), which these read, too. In folders of texts, _ says nothing: code has
 * __init__.py.
 */

enum found_name {
    NAME_PLAIN,
    NAME_HIDDEN, /* begins with . */
    NAME_MARKED  /* begins with _ and has no =; none is with LEAT_PACK_TEXT */
};

/* Judges a name up to its first /, or its end, in a folder that is packed in this format. */
enum found_name found_name(const char *name, enum leat_pack_format format);

/* Whether a file with a marked name is known to hold no texts: _SUCCESS, _metadata and the like. */
bool found_name_is_note(const char *name);

/*
 * Fails with LEAT_E_UNSUPPORTED, and says what to do, if the path shows that a folder in it is a table of Delta Lake,
 * Iceberg or Hudi, of which some files hold rows that are no longer in the table. Only what stands behind the first
 * `stem` bytes of the path counts; folders that are to count end in /.
 */
enum leat_status found_names_refuse_table(const char *path, size_t stem, struct leat_error *err);

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* The lines of a list of names, which may come through a pipe that is silent for long. */

#define LIST_FILE_LINE ((size_t)64 << 10) /* of a longer line no name can be made */

/* What came of a list through a pipe: a search that begins anew reads it from here, and goes on with the pipe. */
struct list_pipe {
    char *name;
    int fd;
    bool ended;
    struct buffer text;
};

struct list_file {
    const char *name;
    const struct input_stop *stop;
    int fd;
    struct list_pipe *pipe; /* it has the descriptor; NULL: a file */
    size_t pipe_at;         /* how much of its text was read */
    bool begun, ended;
    size_t at, held; /* text[at..held) is not given out yet */
    char text[LIST_FILE_LINE + 1];
};

struct search_tries;

void list_pipes_free(struct search_tries *tries);

/* ---- The search -------------------------------------------------------------------------------------------------- */

#define SEARCH_DEPTH   64
#define SEARCH_VISITS  16384u    /* of lists, and of folders through links, each as often as it is named */
#define SEARCH_IN_LIST 16777216u /* lines of lists, and inputs through lists and links */

/* A folder that was named, or a prefix of objects on a server. */
struct search_root {
    char *path;
    size_t first, count; /* inputs of the list */
    bool card;           /* it has a README.md */
};

/* How calls on a file server that fails are made again. */
struct search_tries {
    struct mounts mounts;
    const struct input_stop *stop;
    bool ended;               /* by it, while a server was waited for */
    bool told;                /* that one is */
    struct list_pipe **pipes; /* in the order in which a search finds them */
    size_t pipe_count, pipes_read;
};

struct search {
    struct input_list *list;
    const struct input_rules *rules;
    size_t before;              /* bytes of what is looked up now that rules->from put before its name */
    unsigned depth;             /* of folders and lists within each other */
    unsigned lists, links;      /* of these, lists, and links to folders */
    uint64_t visits, indirect;  /* so far, as SEARCH_VISITS and SEARCH_IN_LIST count */
    uint64_t lines;             /* likewise */
    bool line_said;             /* in the error: which line of a list names what was not found */
    struct folder_links folder; /* the one that is searched */
    const char *outside;        /* the first link that leads out of it and was left out; NULL: none */
    const char *marked;         /* likewise the first name that begins with _ */
    const char *special;        /* likewise the first pipe, socket or device */
    const char *patterned;      /* likewise the first file that `include` or `exclude` leaves out */
    const char *marked_last;    /* a folder on a server, ending in /, that was left out for its name */
    const char *unread;         /* the first corpus in it that leat cannot read, which is `unread_kind`; NULL: none */
    const struct file_kind *unread_kind;
    size_t unread_count;
    struct seldom_stop seldom;
    struct input_stop stop; /* asks rules->stop, ten times per second at most */
    struct search_tries *tries;
    size_t *looks; /* inputs that were named by URLs, and are judged by their first bytes */
    size_t look_count;
    struct search_root *roots; /* in the order of the inputs */
    size_t root_count;
};

/* ---- inputs.c ---- */

/* LEAT_E_STOPPED if the search is to stop. */
enum leat_status search_check_stop(struct search *s, struct leat_error *err);

/* FOLDER/name, of folder[0..length). NULL: no memory. */
char *search_join(const char *folder, size_t length, const char *name);

/* Adds an input; `st` is NULL for standard input. */
enum leat_status search_add(struct search *s, const char *path, const struct record_format *format,
                            const struct stat *st, struct leat_error *err);

/* Records that a file is left out; *kept (may be NULL) is set to its path, which stays as long as the list. */
enum leat_status search_skip(struct search *s, const char *path, enum leat_skip_reason reason, const char **kept,
                             struct leat_error *err);

/* Looks up a word: a name, a pattern, @LIST or "-". */
enum leat_status search_word(struct search *s, const char *word, struct leat_error *err);

/* ---- search_pattern.c ---- */

struct search_names {
    char **items;
    size_t count;
};

/* What matches a pattern of the shell's, sorted by bytes; search_names_free() on success. */
enum leat_status search_expand(struct search *s, const char *pattern, struct search_names *to, struct leat_error *err);
void search_names_free(struct search_names *names);

/* ---- search_folder.c, search_list.c ---- */

enum leat_status search_folder(struct search *s, const char *folder, struct leat_error *err);
enum leat_status search_list(struct search *s, const char *list, struct leat_error *err);

/* Leaves out a file that is not a corpus, or (`corpus` is not NULL) one that cannot be read. */
enum leat_status search_leave_out(struct search *s, const char *path, const struct file_kind *corpus,
                                  struct leat_error *err);

/* Whether the patterns of the rules leave out a file, whose path below its folder this is; and leaves it out. */
bool search_is_patterned(const struct search *s, const char *below);
enum leat_status search_pass_patterned(struct search *s, const char *path, struct leat_error *err);

/* LEAT_E_ARGUMENT for patterns that no file can match. */
enum leat_status search_check_patterns(const struct search *s, struct leat_error *err);

/* Leaves out what has a name that begins with _; a `note` without a word. */
enum leat_status search_pass_marked(struct search *s, const char *path, bool note, struct leat_error *err);

/* A folder is begun. */
void search_begin_folder(struct search *s, const char *folder);

/* All of a folder has been found, from input `before` on: sorts it and adds it to the roots, or says what is wrong with
 * it. `card`: it has a README.md. */
enum leat_status search_end_folder(struct search *s, const char *folder, size_t before, bool card,
                                   struct leat_error *err);

/* ---- search_objects.c ---- */

enum leat_status search_url(struct search *s, const char *url, struct leat_error *err);

/* After all words: looks up what URLs named. */
enum leat_status search_end_urls(struct search *s, struct leat_error *err);

/* ---- search_splits.c ---- */

/* At last: keeps the inputs of the split that the rules name, or refuses inputs of several. */
enum leat_status search_splits(struct search *s, struct leat_error *err);

#endif
