/* pack.h: packs files of text into a dataset. */
#ifndef LEAT_PUBLIC_PACK_H
#define LEAT_PUBLIC_PACK_H

#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Packing files ---------------------------------------------------------------------------------------------- */

enum leat_pack_format {
    LEAT_PACK_AUTO = 0,  /* chosen by the name: a document per line in .jsonl .jsonlines .ndjson .json; one in .txt
                          * .md; one per record in .csv .tsv; one per row in .parquet .pq, and in files without a
                          * known suffix that begin as Parquet does */
    LEAT_PACK_JSONL = 1, /* used for standard input, too, unless another format is set */
    LEAT_PACK_TEXT = 2,
    LEAT_PACK_PARQUET = 3, /* plain files only */
    LEAT_PACK_CSV = 4,     /* fields between commas, RFC 4180; the first record names the columns */
    LEAT_PACK_TSV = 5      /* CSV with tabs */
};

/* A dataset OUTPUT.name of the documents whose text falls into its fraction; see leat_merge(). */
struct leat_split {
    const char *name;     /* letters, digits, '-' and '_'; not leat, tokens, partial or packed */
    const char *fraction; /* share of all texts: a decimal number above 0 and up to 1, read exactly: "0.01" */
};

/* A dataset of a run with `by`. All that it points to stays until the function that gets it returns. */
struct leat_by_output {
    const char *name;  /* the dataset's: OUTPUT.VALUE, or OUTPUT.VALUE.SPLIT */
    const char *value; /* value of the field: a string's characters; the JSON of a number, true or false */
    const char *split; /* split of the dataset; NULL: the rest, or there are no splits */
    const struct leat_info *info;
};

/* Kinds of reports about a file. */
enum leat_pack_notice_kind {
    LEAT_NOTICE_SKIPPED = 1, /* it was left out, for a `reason`; `count` is 0 */
    LEAT_NOTICE_REPLACED = 2, /* `count` malformed parts of its texts became U+FFFD */
    LEAT_NOTICE_REPEATED = 3, /* `count` inputs repeat earlier ones, and are packed again: this is the first */
    LEAT_NOTICE_SPLIT = 4,    /* `count` inputs belong to the split `path` ("": to none); `reason` 1: they are packed */
    LEAT_NOTICE_DAMAGED = 5,  /* it was cut off or broken, `message` says how: it was packed up to byte `offset`, 0 if
                                 nothing of it was, and `count` bytes were not read; LEAT_NONE: not known */
    LEAT_NOTICE_WAITING = 6,  /* a call on a file server failed, and is made again after pauses; or a server wants to
                                 be asked again in two seconds or more. `message` says which, and for how long; `path`
                                 is "". While files are packed, once a minute at most */
    LEAT_NOTICE_REJECTED = 7, /* it gave no document: each of its `count` records was rejected, the first for what
                                 `message` says ("": there are more than 64 KiB of reasons). Not for an input that is
                                 damaged, or of which a part of a run has only a piece */
    LEAT_NOTICE_FIELD = 8,    /* no record has the field `path` of a condition: `message` says so, and may name a
                               * field that they have. Only at the end of a run that has succeeded */
    LEAT_NOTICE_CHAT = 9,     /* before packing: the chat template writes no token after an answer, so that nothing
                               * that ends a turn is learned: `message` says so; `path` is "" */
    LEAT_NOTICE_SUSPECT = 10  /* after packing: `message` says what looks wrong, that the tokenizer hardly fits the
                               * texts or that training learns no token; `path` is "" */
};
enum leat_skip_reason {
    LEAT_SKIP_KIND = 0, /* it is in a folder, and not of a kind that is packed */
    LEAT_SKIP_LINK = 1, /* it is a link in a folder that leads out of it */
    LEAT_SKIP_OWN = 2,  /* it is a file of the run's own output */
    LEAT_SKIP_MARKED = 3, /* it is in a folder, and its name begins with _; for a folder (`path` ends in /),
                           * everything in it is left out */
    LEAT_SKIP_UNFINISHED = 4, /* merging: files of this part are named, but not a finished dataset */
    LEAT_SKIP_OLDER = 5,      /* merging: dataset c is not a share of the run, unlike c.1 */
    LEAT_SKIP_SPLIT = 6,      /* it does not belong to the split that `split_of` names */
    LEAT_SKIP_PATTERN = 7     /* it is in a folder, and `include` or `exclude` leaves it out */
};
struct leat_pack_notice {
    enum leat_pack_notice_kind kind;
    uint32_t reason; /* enum leat_skip_reason of a skipped file */
    const char *path;  /* "": texts that a program gave without an input */
    uint64_t count;
    uint64_t offset;     /* offset of damage; else 0 */
    const char *message; /* sentence on damage, waiting, rejects, a field or a chat template; else NULL */
};

/* How far a run is. The progress function gets it about ten times per second. */
struct leat_pack_progress {
    uint64_t bytes, total_bytes; /* bytes of the inputs as stored on disk; total 0: not known */
    uint64_t text_bytes, tokens, documents, rejects;
    uint64_t bytes_before;       /* part of `bytes` that was done before the run was resumed */
    const char *bound;           /* the step that the others wait for: "reading", "encoding" or "writing"; or
                                    "checking", before a run is resumed, and `bytes` are those that it had written; or
                                    "arranging", and `bytes` are those of the tokens */
    uint64_t kept_bytes, kept_tokens, kept_documents; /* what is kept of a run that is killed: all up to the last
                                                       * checkpoint */
};

/* Ways of tokens to the disk. The bytes do not depend on them. */
enum leat_write {
    LEAT_WRITE_AUTO = 0,   /* cached up to a quarter of the memory that is free at the start, direct after that; with
                            * more than 8 threads, which would wait for each other, direct after 1 GiB at most */
    LEAT_WRITE_CACHED = 1, /* all tokens go through the page cache, where training finds them next */
    LEAT_WRITE_DIRECT = 2, /* all tokens bypass it, if the file system says that it can do that (ext4, XFS; Linux
                            * 6.1) */
};

/*
 * Starts and ends the processes that render conversations (`chat` below): the library starts none itself. Each of its
 * threads has one, and all have another one for a conversation that needs more memory. The process is Python with
 * jinja2, which runs leat/render.py of the Python package; its standard input is a stream socket, connected to
 * the library's. It ends by itself when that is closed.
 */
struct leat_renderers {
    /* Starts one, and sets *fd, which is not inherited by other programs. Called from any thread, and by several at
     * once. On failure: a status, and `err` filled. */
    enum leat_status (*open)(void *context, int *fd, struct leat_error *err);
    void (*close)(void *context, int fd); /* closes it, and ends the process at once, whatever that does */
    void *context;
};

/* What happens to documents that are longer than `max_length`. */
enum leat_too_long {
    LEAT_TOO_LONG_REJECT = 0,
    LEAT_TOO_LONG_CUT = 1,   /* their first tokens are kept */
    LEAT_TOO_LONG_SPLIT = 2, /* with `chat`, and without pairs: a conversation becomes several, of whole turns, each
                              * with the system message before them. A turn that is too long by itself is rejected */
};

struct leat_pack_options {
    size_t size;
    const struct leat_tokenizer *tokenizer; /* required */

    /* ---- What is packed ---- */
    enum leat_pack_format format;
    uint32_t skip_unknown; /* leave out files of folders that may hold texts but cannot be read; else an error */
    uint32_t allow_binary; /* pack what does not look like UTF-8 text (Parquet, UTF-16, zip, ...) as if it did */
    uint32_t follow_links; /* 1: pack the targets of links that lead out of the folder, too */
    /* The split of folders from the Hugging Face Hub to pack ("train"), or "all" files, whatever they belong to; NULL:
     * all inputs must belong to one split. See leat_pack(). */
    const char *split_of;
    const char *text; /* the field that holds it; dots lead into objects: "meta.text", and never stand for themselves
                         in the name of a JSON member; NULL: "text" */
    const char *id;   /* field with a string or a number that names the document; NULL: "id"; "": none */
    /* The field of JSON records, or column, that says what of the text is learned, which is stored as a mask: a list of
     * [begin, end) places in characters (code points) of the text, [[0, 12], [30, 41]], in order and not overlapping;
     * empty ones are ignored. A token is learned if a byte that it stands for is in a span, as for
     * struct leat_texts. A record without the field is rejected, and so is one of more than 4 MiB. NULL:
     * all tokens are learned. */
    const char *mask_field;
    /* Conditions on fields of JSON records and columns of tables, all of which must hold, else the record is left out
     * and counted, not rejected: "lang = en", "score >= 3 and not (meta.url exists or up - 2 * down < 0)". Signs: =
     * (or ==) != < <= > >=. A value that is a JSON number is compared with numbers, as exact decimal numbers; any
     * other, in quotes or bare, with strings, by their bytes. For a field that is missing, null or of another type none
     * holds (docs/packing.md). If they leave out records, and no document is left: LEAT_E_EMPTY, and no dataset; but a
     * part of a run may be empty, and leat_merge() judges the whole. */
    const char *const *keep;
    uint64_t keep_count;
    const char *by; /* a field or column: a dataset for each of its values; see leat_pack(). NULL: one dataset */

    /* ---- Conversations ---- */
    /* Records are conversations, which this chat template (Jinja) renders: the name of a file, or "" for the one of the
     * tokenizer's folder. What `learn` says is learned. NULL: records are texts. See leat_pack(). */
    const char *chat;
    const char *messages; /* the field that holds the conversation; NULL: "messages" */
    /* The field that holds the tools of a conversation, with `chat`; NULL: "tools", if there is one. "": none. */
    const char *tools;
    const struct leat_renderers *renderers; /* starts the processes that render; required with `chat` */
    const char *chat_date; /* result of the template's strftime_now(): "2026-01-31"; NULL: a template that calls it is
                            * refused */
    uint32_t chat_seconds; /* longest time of rendering one conversation, with `chat`; 0: 10. Longer ends the run */
    uint32_t skip_slow_chats; /* a conversation that takes longer is a reject: then bytes depend on the machine */

    /* ---- Texts to tokens ---- */
    uint64_t end_token;     /* see struct leat_writer_options; LEAT_PACK_OPTIONS_INIT sets LEAT_NONE */
    uint64_t begin_token;
    uint32_t special;       /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;     /* a text with malformed UTF-8 is rejected; else each malformed part becomes U+FFFD */

    /* ---- What is made of them ---- */
    uint32_t store_mask; /* see struct leat_writer_options; a token without a mask of its own has 255 */
    uint32_t allow_empty; /* make the dataset also if the conditions of `keep` leave no document */
    uint32_t shuffle;                /* this and the next four: as in struct leat_merge_options; not together with
                                      * parts */
    uint32_t dedup;
    uint64_t seed;
    const struct leat_split *splits;
    uint64_t split_count;
    uint32_t resume;                 /* continue an unfinished run; if there is none, start */
    uint32_t force;                  /* see struct leat_writer_options */
    uint64_t created;           /* see struct leat_writer_options */
    /* If not NULL: called from the calling thread for each dataset, when all are finished, in the order of the values
     * as bytes, splits before the rest. */
    void (*output)(void *context, const struct leat_by_output *output);

    /* ---- The run ---- */
    enum leat_write write;
    uint32_t threads;       /* 0: one per CPU that the process may run on */
    uint64_t memory;        /* limit on the memory of the process; 0: 2 GiB, and whole GiB that it holds already, but in
                               control groups at most three quarters of what they leave it */
    uint64_t max_rejects;      /* more rejected records end the run; LEAT_NONE: no limit */
    uint64_t max_rejects_ppm;  /* most records rejected per million; LEAT_NONE: no limit */
    uint32_t part, parts;       /* pack only share `part` (from 1) of `parts`; parts 0: all */
    /* If not NULL: called now and then, from the calling thread, also while inputs are looked for, with zeros. Nonzero
     * stops the run (LEAT_E_STOPPED), which can then be resumed. */
    uint32_t (*progress)(void *context, const struct leat_pack_progress *progress);
    void *context;
    /* If not NULL: called from the calling thread, while a file server that fails is waited for; before packing for
     * each file that is left out, for each split that inputs belong to, and once if inputs are named more than once or
     * the chat template ends no turn with a token; at
     * the end of a successful run for each input with replaced text; and at the end of any run, or of one that had
     * finished before, for each input that was cut off or broken as far as it got. */
    void (*notice)(void *context, const struct leat_pack_notice *notice);

    /* Patterns that choose files of folders, and of prefixes on servers: files are packed that match one of `include`,
     * if there are any, and none of `exclude`. See leat_pack(). */
    const char *const *include;
    uint64_t include_count;
    const char *const *exclude;
    uint64_t exclude_count;
    uint32_t allow_truncated; /* 1: inputs that were cut off or broken do not fail the step of a run's part;
                               * leat_pack() always reports them, and succeeds */

    /* ---- What of conversations is learned, with `chat` ---- */
    uint32_t learn; /* 0: all answers, "assistant"; 1: the "last" answer; 2: "final", what follows the reasoning and
                     * tool calls of the last answer; 3: "all" tokens. See leat_pack() */
    uint32_t learn_reasoning;  /* reasoning in answers is learned; 0: yes, 1: no */
    uint32_t learn_tool_calls; /* tool calls in answers are learned; 0: yes, 1: no */
    uint32_t learn_end;        /* tokens that end turns are learned; 0: all, 1: the last, 2: none */
    uint32_t alpaca;           /* 1: records are Alpaca's; see `prompt` */
    /* The member of messages that says how much each is learned, over `learn`; "none": none does. NULL: train,
     * training, loss, loss_mask, weight and loss_scale. See leat_pack(). */
    const char *message_weight;

    /* The field of JSON records, or column, that says how much a record counts: a number from 0 to 1, which multiplies
     * its mask, rounded to 255ths. A record without it, or with anything else there, is rejected, and so is one of more
     * than 4 MiB. NULL: each counts as 1. */
    const char *weight;

    /* Records are pairs, and these are their fields: two texts, which are encoded as one, or, with `chat`, two lists of
     * messages, which are one conversation. The completion is learned. With `alpaca`, the record has the texts
     * "instruction", "input" (which may be missing or empty) and "output", and gets the prompt of Stanford's Alpaca. A
     * record without them is rejected, and so is one of more than 4 MiB. If one is set, the other's NULL is "prompt" or
     * "completion", with `alpaca` "instruction" or "output". Both NULL, without `alpaca`: no pairs. */
    const char *prompt, *completion;

    uint32_t max_length; /* limit for the tokens of a document, begin and end tokens included; 0: none */
    uint32_t too_long;   /* enum leat_too_long */

    /* Columns to make (leat/column.h), each "NAME=FIELD:TYPE[xK]", with ":document" after it for a value per document:
     * "score=meta.score:f32:document". "NAME:TYPE" is of the field NAME. See leat_pack(). At most 64. */
    const char *const *column;
    uint64_t column_count;
};
#define LEAT_PACK_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_pack_options), NULL, LEAT_PACK_AUTO, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL,          \
      NULL, NULL, NULL, NULL, NULL, 0, 0, LEAT_NONE, LEAT_NONE, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, NULL,           \
      LEAT_WRITE_AUTO, 0, 0, LEAT_NONE, LEAT_NONE, 0, 0, NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0,       \
      0, 0, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, 0 }

/* CPU time of each step, over all threads. */
struct leat_pack_times {
    uint64_t read_ns, scan_ns, encode_ns, write_ns;
    uint64_t reserved[4]; /* 0 */
};

/* CPU time of work that only one thread at a time can do: getting ready; cutting units off the input that takes the
 * longest with it, which is decompressing it if it is compressed; giving documents their places; finishing. */
struct leat_pack_serial {
    uint64_t begin_ns, cut_ns, place_ns, finish_ns;
    uint64_t reserved[4]; /* 0 */
};

/* The compressed input that takes the longest to be cut into units, which one thread at a time does, and decompresses
 * it, as far as others have not done that ahead. If threads waited for it, its decompression bounds the run. */
struct leat_pack_stream {
    char name[512];         /* cut to the array; empty: no input is compressed, or another one takes longer */
    uint64_t decompress_ns; /* CPU time of decompressing in serial.cut_ns */
    uint64_t waited_ns;     /* time that threads waited for it, summed over them */
    uint64_t threads_ns;    /* time that these threads existed, summed over them */
    uint64_t reserved[4];   /* 0 */
};

struct leat_pack_report {
    size_t size;
    uint64_t inputs, documents, tokens;
    uint64_t text_bytes;      /* bytes of all texts that were encoded, copies that were left out and splits included */
    uint64_t disk_bytes;      /* bytes of the inputs */
    uint64_t rejects;         /* rejected records; NAME.rejects.jsonl has them */
    uint64_t deduplicated;    /* documents left out because an earlier one has equal text */
    struct leat_info *splits; /* the caller's, one per split, set to LEAT_INFO_INIT; NULL: not wanted */
    uint64_t special_strings; /* strings of special tokens in the texts, encoded as such or not */
    uint64_t damaged_inputs;  /* compressed or Parquet inputs that were cut off or broken; what was readable is
                               * packed */
    char damage[512];         /* sentence on the first of them */
    uint64_t peak_memory;     /* peak memory of the process */
    uint32_t resumable;            /* on failure: `resume` can continue the run */
    uint32_t was_finished;         /* on success with `resume`: there was nothing left to do */
    struct leat_pack_times times;
    uint64_t skipped;  /* files that were left out, mostly of folders */
    uint64_t replaced; /* malformed parts of the packed texts; each became U+FFFD */
    uint64_t not_json; /* documents whose record has NaN, Infinity or -Infinity, which are not JSON */
    uint64_t kept_out; /* records for which a condition of `keep` does not hold */
    struct leat_pack_serial serial; /* time of packing; arranging comes on top */
    uint64_t values; /* values of the field `by` */
    struct leat_pack_stream stream;
    uint64_t row_groups; /* row groups of Parquet inputs that were packed */
    uint64_t units;        /* stretches of inputs that threads handed to each other, in this run */
    uint64_t lock_wait_ns; /* time that threads waited for each other to do that, summed over them */
    /* On failure: what `resume` goes on after. LEAT_NONE: it failed before it looked for that, or not at all. */
    uint64_t kept_bytes, kept_tokens, kept_documents;
    uint64_t direct_bytes; /* bytes of tokens that this run wrote past the page cache */
    /* Documents longer than `max_length` that were rejected, cut or split, by `too_long`. With LEAT_TOO_LONG_SPLIT, a
     * conversation of which each turn is too long is a reject and not counted here. */
    uint64_t too_long;
    /* How many tokens training learns, as the metadata leat.learned of NAME says it (FORMAT.md): JSON; of all datasets
     * with `by`, and not of splits; on failure of what was packed until then. Empty: there is no mask. */
    char learned[384];
};
#define LEAT_PACK_REPORT_INIT                                                                                          \
    { sizeof(struct leat_pack_report), 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, { 0 }, 0, 0, 0, { 0, 0, 0, 0, { 0 } }, 0, \
      0, 0, 0, { 0, 0, 0, 0, { 0 } }, 0, { { 0 }, 0, 0, 0, { 0 } }, 0, 0, 0, 0, 0, 0, 0, 0, { 0 } }

/*
 * With `chat`, a record (or a row) is a conversation: a list of objects with "role" and "content". The template
 * gets it as `messages`, the tokenizer's special tokens by their names (bos_token, eos_token, ...) from
 * tokenizer_config.json beside it, `add_generation_prompt` false, and as `tools` what the record has in the field of
 * that name: a list of objects, or a string that holds one as JSON; else none. A record with tools is rendered by the
 * folder's template called tool_use, if there is one. What the template writes is the document's text.
 * jinja2 renders them, set up as transformers sets it up, in the processes of `renderers`: the text is that of
 * transformers' apply_chat_template(). LEAT_E_UNSUPPORTED says why a template cannot be used, LEAT_E_ARGUMENT that
 * something is missing: jinja2, or the date for a template that calls strftime_now(). A conversation for which the
 * template raises an exception is rejected, and so is one that needs more memory than a quarter of `memory`, at most
 * 512 MiB. The dataset does not depend on time: a conversation that takes longer than `chat_seconds` ends the run
 * (LEAT_E_UNSUPPORTED; the sentence names it), unless `skip_slow_chats` is set. The dataset names the version of jinja2
 * (leat.jinja2 of its metadata); a run goes on, and its parts are packed, with the same one only.
 *
 * Special tokens in the template become these tokens. Those in messages are ordinary text, unless `special` is set;
 * then, as in transformers, they become tokens, too. A conversation in which they cannot be ordinary text exactly, with
 * a tokenizer that is not byte-level, is rejected.
 *
 * The dataset stores a mask. If the template has {% generation %}, tokens are learned that touch what it writes in such
 * a block, as transformers' return_assistant_tokens_mask has it. Else tokens are learned that touch the content of a
 * message whose role is "assistant", and what follows it up to the next added token of the template, that token
 * included, if there is only the template's white space between: the token that ends the turn.
 */

/*
 * Packs inputs into the dataset `output`: files, folders (everything in them, in the order of the paths as bytes),
 * patterns (* ? [ ], expanded here if the shell has not), "@LIST" (a file with one input per line; relative names
 * count from its folder), "-" (standard input) and URLs, each plain or compressed (zstd, gzip, xz, bzip2, lz4). The
 * same inputs and options give the same bytes with any number of threads, any memory and on any machine.
 *
 * A URL begins with s3://, gs://, az://, hf://, https:// or http://. It is an object on a server; or, if it ends in /
 * and names a bucket or a repository of the Hugging Face Hub, all objects below it, in the order of their names, chosen
 * by their suffixes alone as files of a folder are; hf:// may also be a pattern, and its branch is read at one commit,
 * which the metadata "leat.hub" names (docs/object-storage.md). Keys, region and endpoint come from the variables and
 * files of AWS, Azure and the Hub, which this call reads then. If an object changes after it was looked up:
 * LEAT_E_MISMATCH. Datasets, reports and messages name it without what follows a ?. LEAT_E_UNSUPPORTED without libcurl,
 * and for a server that does not give parts of files.
 *
 * JSON inputs are lines with an object each; or one array of objects in any layout, which begins with [ and then { or
 * ]; or objects one after another, of which the first goes over several lines, or shares the only line with the next,
 * in the first 4 KiB (256 KiB, if these hold no whole line). The first records of each input are looked at before
 * anything is written; docs/packing.md says how many. Returns LEAT_E_NOT_FOUND, with the members that exist, if none of
 * an input's first records has the member that `text` or `messages` names, or if in all inputs none has the member that
 * `mask_field`, `by` or `id` names. Returns LEAT_E_UNSUPPORTED if the text is an object or an array.
 *
 * CSV and TSV are read as Python's csv.reader(strict=True) reads them; fields have no types, and a record, and a field
 * in quotes, have at most 4 MiB. docs/packing.md has the rules.
 *
 * In a folder, hidden files are left out silently, and so are _SUCCESS, _metadata and the like, and empty files whose
 * names begin with _. Other files and folders whose names begin with _ are left out and counted, a folder as one. Names
 * with = in them (_lang=en) are as any other, and so are all that begin with _ with LEAT_PACK_TEXT. A folder
 * that is a table of Delta Lake, Iceberg or Hudi is LEAT_E_UNSUPPORTED. Files that accompany a corpus (README, LICENSE,
 * NOTICE, CITATION, dataset_info and the like, with any suffix) are left out and counted, but not with LEAT_PACK_TEXT.
 * With LEAT_PACK_AUTO, so are files with unknown suffixes. But if one of these may hold texts, by its first bytes or
 * its suffix (Arrow, zip, tar, brotli, JSON lines under another name, ...), it is LEAT_E_UNSUPPORTED, unless
 * `skip_unknown` is set.
 *
 * `include` and `exclude` have patterns. One without a slash is compared with the names of files ("*.jsonl"), one with
 * a slash with their paths below the folder that was named ("en/2024-*.jsonl"; "/a.csv" is right in it). * and ? stand
 * for characters other than /, [a-z] and [!a-z] for one of a set, and ** between slashes for any folders: "drafts/"
 * followed by ** is all that lies below. What they leave out is counted, and is not looked at. Files that are named
 * themselves are packed. LEAT_E_ARGUMENT for patterns without a folder, an empty one, and one that ends in a slash.
 *
 * Folders from the Hugging Face Hub hold splits: texts to train with, and texts to test what was trained. Inputs that
 * do not all belong to one split, or some of which belong to none, are LEAT_E_ARGUMENT, with a list, unless `split_of`
 * names the split to be packed, or "all". A file that is named alone is never refused.
 *
 * Splits are found as the package datasets finds them. The YAML of the README.md in a folder that was named decides,
 * if it lists `configs`. Otherwise names do: data/NAME-00000-of-00001.* is of the split NAME; if there are none such,
 * a word in the name of a folder counts, and if there are none of these, one in the name of a file. The words are
 * train and training; validation, valid, dev and val; test, testing, eval and evaluation: in small letters, between
 * characters of "-._ 0123456789" or the ends of the name. Where no name says a split, all files are of train. Each
 * folder that was named is looked at alone. Files that then have no split are looked at together with the files that
 * were named, also in lists: of their paths, the part after the folder that all of them share counts.
 *
 * If README.md lists several configurations of which files are there, only "all" takes the folder: LEAT_E_ARGUMENT
 * names them, and to name the folder of one of them is the choice. Folders of configurations that README.md does not
 * list are one dataset, as for datasets. If it lists any, and the library was built without libyaml:
 * LEAT_E_UNSUPPORTED.
 *
 * A symbolic link in a folder is followed if it leads to a file or folder in that folder; else it is left out and
 * counted, unless `follow_links` is set. In the cache of the Hugging Face Hub, the blobs of a repository count as part
 * of its snapshots, which are folders of links. The run's own files (dataset, rejects, NAME.partial.*) are never
 * inputs: in a folder they are passed over, and where a link, a pattern, a list or the caller names one, it is counted.
 * In folders, neither are the files of other datasets, and any NAME.rejects.jsonl, unless `format` is LEAT_PACK_TEXT.
 * At most 16,384 lists and folders behind links, 16,777,216 lines of lists, and as many inputs through lists and links.
 *
 * An input that is a file and does not begin like UTF-8 text is LEAT_E_UNSUPPORTED, and the message says what to do. A
 * text file of a folder or list that begins so is rejected as a record. So is a text with more than 16 malformed parts,
 * if these are more than one per 100 bytes. `allow_binary` packs all of these.
 *
 * A record that cannot be packed is rejected and counted, and NAME.rejects.jsonl gets a line (input, byte offset, line,
 * reason, the record's first 200 bytes); the run goes on. A compressed input or a Parquet file that is cut off or
 * broken is packed as far as it is readable, and counts in report->damaged_inputs. The dataset's metadata then has
 * "leat.damaged": which inputs, up to which byte each was read, why, and how many bytes were not (FORMAT.md). A notice
 * for each says the same. Resuming a finished run whose inputs have the same sizes reports this metadata.
 *
 * To shuffle, deduplicate or split, it first writes a dataset in the folder OUTPUT.partial.packed, which takes as much
 * disk again, then arranges that as leat_merge() does, and removes it.
 *
 * With `by`, it also writes such a dataset first. `by` names a field of JSON records (dots lead into objects:
 * "meta.lang"), or a column of a Parquet file, of a type that `id` may have. The documents of each value become the
 * dataset OUTPUT.VALUE; there is no OUTPUT itself. Each is what packing the records with this value alone, in their
 * order, would give: shuffled, deduplicated and split (OUTPUT.VALUE.SPLIT) alone, too. It lists all inputs. Values are
 * strings, numbers, true and false (the latter three by their JSON: 1 and 1.0 are two values, 1 and "1" one), of at
 * most 1,024 bytes; a record without one is rejected, with the reason. VALUE has letters, digits, - and _ as they are,
 * and %XX for other bytes. Of values that differ in capitals only, the capitals are %XX, too; so is the first letter of
 * leat, tokens, partial, packed and rejects. The empty value is "%empty"; what is spelled with more than 64 bytes is
 * cut off and ends in "%-" and 32 digits. More than 1,024 values are LEAT_E_UNSUPPORTED as soon as they come up. All
 * datasets are complete and durable, in the folder OUTPUT.partial.by, before the first one gets its name; if one cannot
 * get its name, none exists. The metadata of each say the field (leat.by), its value (leat.by.value) and how many
 * values there were (leat.by.values). A share (`part`) is one dataset, whose documents carry their values, before their
 * ids and a zero byte; leat_merge() of all shares divides it.
 *
 * A run that fails or is killed can be resumed from its last checkpoint with the same arguments; only threads, memory,
 * limits of rejects and progress may differ. It first reads back what was written, and is refused if that is damaged;
 * then it repeats what was done since: at most about 256 MiB of text or a few seconds. A run from standard input starts
 * over. `report` (may be NULL) is filled on failure too.
 * Returns what opening, reading and writing return; LEAT_E_REJECTS (more records rejected than allowed; with a larger
 * limit the run can be resumed); LEAT_E_CHECKPOINT (inputs or options are not those of the run to be resumed, or
 * what it wrote is damaged);
 * LEAT_E_STOPPED (by `progress`).
 */
LEAT_API enum leat_status leat_pack(const char *output, const char *const *inputs, uint64_t count,
                                    const struct leat_pack_options *options, struct leat_pack_report *report,
                                    struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
