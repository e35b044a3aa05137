/*
 * search.h: the state of a search by inputs_find(), and the functions of its files. A search goes through the words in
 * their order; lists call it again, at most SEARCH_DEPTH deep, so that a cycle ends
 * with an error. Limits of visits and lines end lists that multiply without a cycle, when each names the next one
 * twice.
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
 * The folder that a symbolic link must not lead out of: a folder that somebody else has packed up may hold a link to
 * any file of this machine.
 */
struct folder_links {
    const char *folder;
    char *real; /* real path of the folder; NULL before the first link */
};

/* ---- Names ------------------------------------------------------------------------------------------------------- */

/*
 * Spark, Hive, Hadoop, Dask and pyarrow.dataset skip names that begin with . or _ in a folder that they read, and give
 * such names to files that are not data: half-written files, logs, statistics. Some of these show that the folder is a
 * table, whose files cannot be read one by one. A name with = in it is a partition of Hive's (_lang=en), which these
 * programs read, too. In folders of texts, _ has no meaning: code has __init__.py.
 */
enum found_name {
    NAME_PLAIN,
    NAME_HIDDEN, /* begins with . */
    NAME_MARKED  /* begins with _ and has no =; never the result with LEAT_PACK_TEXT */
};

/* Judges a name up to its first /, or its end, in a folder that is packed in this format. */
enum found_name found_name(const char *name, enum leat_pack_format format);

/* Returns true if a file with a marked name is known to hold no texts: _SUCCESS, _metadata and the like. */
bool found_name_is_note(const char *name);

/*
 * Fails with LEAT_E_UNSUPPORTED, and says what to do, if the path shows that a folder in it is a table of Delta Lake,
 * Iceberg or Hudi, some of whose files hold rows that were removed from the table. Looks only at the path after its
 * first `stem` bytes, and at folders that end in /.
 */
enum leat_status found_names_refuse_table(const char *path, size_t stem, struct leat_error *err);

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

#define LIST_FILE_LINE ((size_t)64 << 10) /* the longest line */

/* The text of a list that has come through a pipe: a search that begins anew reads it from here, then from the pipe. */
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
    struct list_pipe *pipe; /* pipe, which has the descriptor; NULL for a file */
    size_t pipe_at;         /* bytes of the pipe's text that were read */
    bool begun, ended;
    size_t at, held; /* text[at..held) has not been given out yet */
    char text[LIST_FILE_LINE + 1];
};

struct search_tries;

/* Opens a list. The name, `stop` (NULL: nothing stops it) and `tries`, which keep its pipe, must outlive it. */
enum leat_status list_file_open(struct list_file **out, const char *name, const struct input_stop *stop,
                                struct search_tries *tries, struct leat_error *err);
void list_file_close(struct list_file *list);

/* Sets *line to the next line without its end, and without a byte-order mark at the start of the list, or to NULL after
 * the last line. It is the list's until the next call. Returns LEAT_E_ARGUMENT for a line that is too long or has a
 * zero byte, and LEAT_E_STOPPED as `stop` says. */
enum leat_status list_file_next(struct list_file *list, char **line, struct leat_error *err);

void list_pipes_free(struct search_tries *tries);

/* ---- The search -------------------------------------------------------------------------------------------------- */

#define SEARCH_DEPTH   64
#define SEARCH_VISITS  16384u    /* most visits of lists, and of folders through links, however often they are named */
#define SEARCH_IN_LIST 16777216u /* most lines of lists, and most inputs through lists and links */

/* A folder that was named, or a prefix of objects on a server. */
struct search_root {
    char *path;
    size_t first, count; /* inputs of the folder in the list */
    bool card;           /* true if it has a README.md */
};

/* The state of retries of calls on a file server. */
struct search_tries {
    struct mounts mounts;
    const struct input_stop *stop;
    bool ended;               /* true if `stop` ended waiting for a server */
    bool told;                /* true if the user was told that a server is waited for */
    struct list_pipe **pipes; /* pipes in the order in which a search finds them */
    size_t pipe_count, pipes_read;
};

struct search {
    struct input_list *list;
    const struct input_rules *rules;
    size_t before;                       /* bytes that rules->from put before the name that is looked up */
    unsigned depth;                      /* folders and lists that are open within each other */
    unsigned lists, links;               /* open lists, and open links to folders */
    uint64_t visits;                     /* visits so far, limited by SEARCH_VISITS */
    uint64_t indirect;                   /* inputs through lists and links so far, limited by SEARCH_IN_LIST */
    uint64_t lines;                      /* lines of lists so far, limited by SEARCH_IN_LIST */
    bool line_said;                      /* true if the error names the line of a list */
    struct folder_links folder;          /* the folder that is searched */
    const char *outside;                 /* first link that leads out of the folder and was left out, or NULL */
    const char *marked;                  /* first name that begins with _ and was left out, or NULL */
    const char *special;                 /* first pipe, socket or device that was left out, or NULL */
    const char *patterned;               /* first file that `include` or `exclude` has left out, or NULL */
    const char *marked_last;             /* a folder on a server, ending in /, that was left out because of its name */
    const char *unread;                  /* first corpus in the folder that leat cannot read, or NULL */
    const struct file_kind *unread_kind; /* kind of that corpus */
    size_t unread_count;
    struct seldom_stop seldom;
    struct input_stop stop; /* asks rules->stop, at most ten times per second */
    struct search_tries *tries;
    size_t *looks; /* numbers of inputs that were named by URLs, and are judged by their first bytes */
    size_t look_count, look_room;
    struct search_root *roots; /* roots in the order of the inputs */
    size_t root_count;
};

/* ---- search.c ---- */

/* Returns LEAT_E_STOPPED if the search should stop. */
enum leat_status search_check_stop(struct search *s, struct leat_error *err);

/* Returns FOLDER/name, where FOLDER is folder[0..length); NULL if there is no memory. */
char *search_join(const char *folder, size_t length, const char *name);

/* Adds an input; `st` is NULL for standard input. */
enum leat_status search_add(struct search *s, const char *path, const struct record_format *format,
                            const struct stat *st, struct leat_error *err);

/* Records that a file is left out; *kept (may be NULL) is set to its path, which stays as long as the list. */
enum leat_status search_skip(struct search *s, const char *path, enum leat_skip_reason reason, const char **kept,
                             struct leat_error *err);

/* ---- search_pattern.c ---- */

struct search_names {
    char **items;
    size_t count, room;
};

/* Finds the paths that match a pattern of the shell, sorted by bytes. On success search_names_free() must follow. */
enum leat_status search_expand(struct search *s, const char *pattern, struct search_names *to, struct leat_error *err);
void search_names_free(struct search_names *names);

/* ---- search_folder.c ---- */

enum leat_status search_folder(struct search *s, const char *folder, struct leat_error *err);

/* Leaves out a file that is not a corpus, or a corpus of a kind (not NULL) that leat cannot read. */
enum leat_status search_leave_out(struct search *s, const char *path, const struct file_kind *corpus,
                                  struct leat_error *err);

/* Returns true if the patterns of the rules leave out the file at `below`, its path below its folder. */
bool search_is_patterned(const struct search *s, const char *below);

/* Leaves out a file because of the patterns. */
enum leat_status search_pass_patterned(struct search *s, const char *path, struct leat_error *err);

/* Returns LEAT_E_ARGUMENT for patterns that no file can match. */
enum leat_status search_check_patterns(const struct search *s, struct leat_error *err);

/* Leaves out a file or folder whose name begins with _. A `note` is not listed. */
enum leat_status search_pass_marked(struct search *s, const char *path, bool note, struct leat_error *err);

/* Begins a folder. */
void search_begin_folder(struct search *s, const char *folder);

/* Ends a folder, whose inputs are those from `before` on: sorts them and adds the folder to the roots, or says what is
 * wrong with it. `card` says that it has a README.md. */
enum leat_status search_end_folder(struct search *s, const char *folder, size_t before, bool card,
                                   struct leat_error *err);

/* ---- search_objects.c ---- */

enum leat_status search_url(struct search *s, const char *url, struct leat_error *err);

/* Looks up the objects that URLs have named, after all words. */
enum leat_status search_end_urls(struct search *s, struct leat_error *err);

/* ---- search_splits.c ---- */

/* Keeps the inputs of the split that the rules name, or refuses inputs of several splits. Called last. */
enum leat_status search_splits(struct search *s, struct leat_error *err);

#endif
