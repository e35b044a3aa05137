/*
 * import.c: leat_import(). Sources are opened twice: first all of them, to see that they can be read, how large they
 * are, and of what type the ids of the first document are, which decides the default vocabulary; then one after
 * another, to copy their documents. Now and then, and when it is stopped, a checkpoint says how far it is; what a
 * resumed run has written of a file is passed over there.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/options.h"
#include "base/status.h"
#include "base/tiny.h"
#include "corpus/streams/byte_stream.h"
#include "import_resume.h"

#define CHECKPOINT_EVERY TINY_OR((uint64_t)4096, (uint64_t)4 << 30) /* bytes of files */

#define FORMAT(name)     &import_##name,
static const struct import_format *const formats[] = { IMPORT_FORMATS(FORMAT) };

#define FORMATS (sizeof formats / sizeof formats[0])

struct importing {
    struct leat_import_options options;
    struct leat_import_report report;
    struct import_writing w;
    const char *const *sources;
    uint64_t source_count;
    uint64_t all_bytes; /* of files */
    uint64_t safe;      /* as many bytes of files had been read at the last checkpoint */
    struct import_place at;
    struct page_sum facts;  /* all that a resumed run compares, */
    struct page_sum inputs; /* and what of it a finished dataset has */
    bool wide;              /* ids of a first document have more than 2 bytes */
    bool took_dtype;        /* a source needed the option */
};

/* ---- A source ---- */

struct opened {
    const struct import_format *format;
    struct import_source source;
    uint64_t file; /* that is open */
    bool begun;
};

static enum leat_status find_format(const struct import_format **format, const char *path, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool takes = false;
    struct stat st;

    for (unsigned i = 0; s == LEAT_OK && !takes && i < FORMATS; i++) {
        s = formats[i]->takes(path, &takes, err);
        *format = formats[i];
    }
    if (s == LEAT_OK && !takes && path[byte_stream_stem(path)] != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "%s is compressed as a whole, which is not imported: decompress it first; compressed texts are "
            "packed as they are",
            path);
    if (s == LEAT_OK && !takes)
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "%s is not a folder of MosaicML's streaming or litdata (with index.json), nor an Arrow file (of "
                       "version 0.15 or later) or a folder of Hugging Face datasets; texts are packed, and files of "
                       "Megatron and others need no import",
                       path);
    return s;
}

static void close_source(struct opened *o)
{
    if (!o->format)
        return;
    o->format->close(&o->source);
    for (uint64_t i = 0; i < o->source.file_count; i++)
        free(o->source.files[i].path);
    free(o->source.files);
}

static enum leat_status open_source(struct opened *o, const struct importing *im, uint64_t number,
                                    struct leat_error *err)
{
    const struct import_format *format = NULL;
    enum leat_status s;

    *o = (struct opened) { .source = { .path = im->sources[number], .options = &im->options } };
    if (!o->source.path)
        return status_set(err, LEAT_E_ARGUMENT, "leat_import: source %llu is NULL", (ull)number);
    s = find_format(&format, o->source.path, err);
    if (s != LEAT_OK)
        return s;
    o->format = format;
    return format->open(&o->source, err);
}

/* The next document; *any is false at the end of the open file, of which there must be one. */
static enum leat_status next_document(struct opened *o, struct import_document *d, bool *any, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (!o->begun)
        s = o->format->begin(&o->source, &o->source.files[o->file], err);
    o->begun = true;
    return s == LEAT_OK ? o->format->next(&o->source, d, any, err) : s;
}

static enum leat_status look_at(struct importing *im, uint64_t number, struct leat_error *err)
{
    struct import_document d;
    struct opened o;
    enum leat_status s = open_source(&o, im, number, err);
    bool any = false;

    for (uint64_t i = 0; s == LEAT_OK && i < o.source.file_count; i++) {
        const struct import_file *file = &o.source.files[i];

        im->all_bytes += file->size;
        import_facts_add(&im->facts, file->path, file->size);
        import_facts_add(&im->inputs, file->path, file->size);
        import_facts_add(&im->facts, NULL, (uint64_t)file->modified_s);
        import_facts_add(&im->facts, NULL, (uint64_t)file->modified_ns);
    }
    for (; s == LEAT_OK && !any && o.file < o.source.file_count; o.file++) {
        o.begun = false;
        s = next_document(&o, &d, &any, err);
    }
    if (s == LEAT_OK && any)
        im->wide |= d.dtype->bytes > 2;
    im->took_dtype |= o.source.took_dtype;
    if (o.source.mask)
        im->report.mask = o.source.mask;
    close_source(&o);
    return s;
}

/* ---- Copying ---- */

/* Says how far it is, between two documents, and makes that durable if it is time, or is to be the end. */
static enum leat_status tell(struct importing *im, uint64_t in_file, const struct import_file *file,
                             struct leat_error *err)
{
    const struct leat_import_options *o = &im->options;
    uint64_t done = im->at.bytes + (in_file < file->size ? in_file : file->size);
    bool stop = o->progress && o->progress(o->context, done, im->all_bytes) != 0;
    enum leat_status s = LEAT_OK;

    if (stop || done - im->safe >= CHECKPOINT_EVERY) {
        im->safe = done;
        s = import_checkpoint(&im->w, &im->at, &im->facts, err);
    }
    if (s == LEAT_OK && stop)
        return status_set_hint(err, LEAT_E_STOPPED, LEAT_HINT_RESUME, "importing was stopped; it can go on from here");
    return s;
}

#define TELL_EVERY TINY_OR(16u, 4096u) /* documents */

static enum leat_status begin_input(struct importing *im, const struct import_file *file, struct leat_error *err)
{
    struct leat_input input = { .size = sizeof input, .bytes = file->size };
    enum leat_status s;

    im->w.input = im->at.input;
    if (im->at.input != LEAT_NONE)
        return LEAT_OK;
    s = leat_writer_add_input(im->w.writer, file->path, &im->w.input, err);
    im->at.input = im->w.input;
    return s == LEAT_OK ? leat_writer_set_input(im->w.writer, im->w.input, &input, err) : s;
}

/* Passes over the documents that are written. */
static enum leat_status pass_documents(const struct importing *im, struct opened *o, struct leat_error *err)
{
    struct import_document d = { 0 };
    enum leat_status s = LEAT_OK;
    bool any = true;

    for (uint64_t i = 0; s == LEAT_OK && any && i < im->at.documents; i++) {
        s = next_document(o, &d, &any, err);
        if (s == LEAT_OK && i % TELL_EVERY == 0 && im->options.progress &&
            im->options.progress(im->options.context, im->at.bytes, im->all_bytes) != 0)
            return status_set_hint(err, LEAT_E_STOPPED, LEAT_HINT_RESUME, "importing was stopped; it can go on");
    }
    if (s == LEAT_OK && !any)
        return status_set_hint(err, LEAT_E_MISMATCH, LEAT_HINT_REPLACE,
                               "%s has fewer documents than when the import began: start over",
                               o->source.files[o->file].path);
    return s;
}

static enum leat_status copy_file(struct importing *im, struct opened *o, struct leat_error *err)
{
    const struct import_file *file = &o->source.files[o->file];
    struct import_document d = { 0 };
    uint64_t told = 0;
    bool any = true;
    enum leat_status s = begin_input(im, file, err);

    o->begun = false;
    if (s == LEAT_OK)
        s = pass_documents(im, o, err);
    while (s == LEAT_OK && any) {
        s = next_document(o, &d, &any, err);
        if (s == LEAT_OK && any)
            s = import_put(&im->w, &d, err);
        im->at.documents += any;
        if (s == LEAT_OK && (im->at.documents % TELL_EVERY == 0 || d.origin - told > IMPORT_WINDOW * 16)) {
            told = d.origin;
            s = tell(im, d.origin, file, err);
        }
    }
    if (s != LEAT_OK)
        return s;
    im->at.bytes += file->size;
    im->at.files++;
    im->at.file++;
    im->at.documents = 0;
    im->at.input = LEAT_NONE;
    return tell(im, 0, file, err);
}

static enum leat_status copy_source(struct importing *im, uint64_t number, struct leat_error *err)
{
    struct opened o;
    enum leat_status s = open_source(&o, im, number, err);

    im->at.source = number;
    for (o.file = im->at.file; s == LEAT_OK && o.file < o.source.file_count; o.file++)
        s = copy_file(im, &o, err);
    if (s == LEAT_OK)
        im->at.file = 0;
    close_source(&o);
    return s;
}

/* ---- All ---- */

static enum leat_status check_options(const struct importing *im, const char *output, struct leat_error *err)
{
    const struct leat_import_options *o = &im->options;

    if (!output || !im->sources || im->source_count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "leat_import: missing output or sources");
    if (o->dtype && !import_dtype(o->dtype, strlen(o->dtype)))
        return status_set(err, LEAT_E_ARGUMENT,
                          "unknown dtype \"%.40s\": use uint16, uint32, int32, int64 or another integer type of NumPy",
                          o->dtype);
    return LEAT_OK;
}

static enum leat_status open_writer(struct importing *im, const char *output, struct leat_error *err)
{
    const struct leat_import_options *o = &im->options;
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_error why;
    enum leat_status s = LEAT_OK;

    w.vocabulary = o->vocabulary > 0 ? o->vocabulary : im->wide ? (uint64_t)1 << 31 : 65536;
    w.end_token = o->end_token;
    w.tokenizer = o->tokenizer;
    w.fingerprint = o->fingerprint;
    w.created = o->created;
    w.force = o->force;
    w.progress = o->progress; /* while what is written is read back */
    w.context = o->context;
    im->w.vocabulary = w.vocabulary;
    im->w.end_token = w.end_token;
    im->w.ids = malloc(IMPORT_WINDOW);
    if (!im->w.ids)
        return status_no_memory(err, IMPORT_WINDOW);
    if (o->resume)
        s = import_resume(&im->w, &im->at, &im->facts, output, &w, &why);
    if (!o->resume || (s == LEAT_E_CHECKPOINT && why.hint == LEAT_HINT_NONE)) /* nothing was stopped */
        s = leat_writer_open(&im->w.writer, output, &w, &why);
    im->safe = im->at.bytes;
    if (s == LEAT_OK)
        return import_note_options(im->w.writer, o, err);
    /* where nothing can be written, a finished dataset is one all the same */
    if (o->resume && !o->force && (s == LEAT_E_EXISTS || s == LEAT_E_PERMISSION) &&
        import_is_finished(output, o, w.vocabulary, &im->inputs, &im->report))
        return LEAT_OK;
    if (err)
        *err = why;
    return s;
}

static enum leat_status copy_all(struct importing *im, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t i = im->at.source; s == LEAT_OK && i < im->source_count; i++)
        s = copy_source(im, i, err);
    if (s != LEAT_OK)
        return s;
    im->report.documents = leat_writer_documents(im->w.writer);
    im->report.tokens = leat_writer_tokens(im->w.writer);
    im->report.files = im->at.files;
    im->report.ends_added = im->w.ends_added;
    return leat_writer_finish(im->w.writer, im->report.info, err);
}

static enum leat_status import_all(struct importing *im, const char *output, struct leat_error *err)
{
    enum leat_status s = check_options(im, output, err);

    page_sum_begin(&im->facts, 0, (struct hash128) { 0, 0 });
    page_sum_begin(&im->inputs, 0, (struct hash128) { 0, 0 });
    import_facts_add(&im->facts, im->options.column, 1);
    import_facts_add(&im->facts, im->options.dtype, 2);
    for (uint64_t i = 0; s == LEAT_OK && i < im->source_count; i++)
        s = look_at(im, i, err);
    if (s == LEAT_OK && im->options.dtype && !im->took_dtype)
        s = status_set(err, LEAT_E_ARGUMENT, "%s: its files say of which type their ids are; leave dtype out",
                       im->sources[0]);
    if (s == LEAT_OK)
        s = open_writer(im, output, err);
    im->report.bytes = im->all_bytes;
    if (s == LEAT_OK && !im->report.was_finished)
        s = copy_all(im, err);
    if (s != LEAT_OK)
        leat_writer_suspend(im->w.writer);
    free(im->w.ids);
    return s;
}

enum leat_status leat_import(const char *output, const char *const *sources, uint64_t count,
                             const struct leat_import_options *options, struct leat_import_report *report,
                             struct leat_error *err)
{
    struct importing im = { .options = LEAT_IMPORT_OPTIONS_INIT,
                            .report = LEAT_IMPORT_REPORT_INIT,
                            .sources = sources,
                            .source_count = count,
                            .at = { .input = LEAT_NONE } };
    enum leat_status s = options_read(&im.report, sizeof im.report, NULL, report, "leat_import_report", err);

    if (s == LEAT_OK)
        s = options_read(&im.options, sizeof im.options, NULL, options, "leat_import_options", err);
    im.report.was_finished = 0; /* the caller's may be that of an import before */
    im.report.mask = NULL;
    if (s == LEAT_OK)
        s = import_all(&im, output, err);
    if (s == LEAT_OK && report)
        options_fill(report, &im.report, sizeof im.report);
    return s;
}
