/*
 * writer_finish.c: how a writer ends. The names come last, in an order that lets nothing wrong be opened: first an
 * older index is removed, then the token file gets its name, then the index; the folder is synced after each step.
 */
#include <unistd.h>

#include "base/file.h"
#include "base/status.h"
#include "writer.h"

static enum leat_status flush_everything(struct leat_writer *w, struct leat_error *err)
{
    enum leat_status s = writer_flush(w, true, err);

    if (s == LEAT_OK)
        s = sink_trim(&w->spills[SPILL_TOKENS], w->end.of[SPILL_TOKENS].at, err);
    if (s == LEAT_OK)
        s = file_sync(w->spills[SPILL_TOKENS].fd, w->spills[SPILL_TOKENS].path, err);
    return s;
}

static enum leat_status name_tokens(struct leat_writer *w, struct leat_error *err)
{
    const struct writer_names *n = &w->names;
    enum leat_status s = w->replace ? file_remove(n->index, err) : LEAT_OK;

    /* the partial index's name must be durable too: it shows that NAME.tokens belongs to an unfinished run */
    if (s == LEAT_OK)
        s = file_sync_folder(n->index, err);
    if (w->index_only)
        return s;
    if (s == LEAT_OK)
        s = file_rename(n->partial[SPILL_TOKENS], n->tokens, w->replace, err);
    w->tokens_named = s == LEAT_OK;
    if (s == LEAT_OK)
        s = file_sync_folder(n->tokens, err);
    return s;
}

static enum leat_status name_index(struct leat_writer *w, struct leat_error *err)
{
    const struct writer_names *n = &w->names;
    enum leat_status s = file_rename(n->partial[FILE_INDEX], n->index, w->replace, err);

    w->index_named = s == LEAT_OK;
    return s == LEAT_OK ? file_sync_folder(n->index, err) : s;
}

/* Goes back to where a checkpoint can be resumed or everything removed. An index that is not known to be durable is not
 * finished and must not look so; while it has its name, its tokens keep theirs. */
static void unname(struct leat_writer *w)
{
    const struct writer_names *n = &w->names;

    /* removes as well, because renaming does nothing if the file has both names */
    if (w->index_named)
        w->index_named = file_rename(n->index, n->partial[FILE_INDEX], true, NULL) != LEAT_OK ||
                         file_remove(n->index, NULL) != LEAT_OK;
    if (w->tokens_named && !w->index_named)
        w->tokens_named = file_rename(n->tokens, n->partial[SPILL_TOKENS], false, NULL) != LEAT_OK;
}

enum leat_status leat_writer_prepare(struct leat_writer *w, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = writer_ready(w, err);

    if (s != LEAT_OK)
        return s;
    if (w->document_open)
        return status_set(err, LEAT_E_STATE, "a document is open: end it before finishing");
    writer_follow_names(w);
    s = flush_everything(w, &why);
    if (s == LEAT_OK)
        s = writer_check_own_lock(w, &why);
    if (s == LEAT_OK)
        s = writer_build_index(w, &w->header, &why);
    w->prepared = s == LEAT_OK;
    return writer_fail(w, s, &why, err);
}

enum leat_status leat_writer_finish(struct leat_writer *w, struct leat_info *info, struct leat_error *err)
{
    struct leat_error why;
    enum leat_status s = w->prepared ? w->failed : leat_writer_prepare(w, err);

    if (s != LEAT_OK) {
        if (w->failed != LEAT_OK && err)
            *err = w->failure;
        return s;
    }
    writer_follow_names(w);
    s = writer_check_own_lock(w, &why);
    if (s == LEAT_OK)
        s = name_tokens(w, &why);
    if (s == LEAT_OK)
        s = name_index(w, &why);
    if (s != LEAT_OK) {
        unname(w);
        return writer_fail(w, s, &why, err);
    }
    if (info)
        format_info(&w->header, info);
    /* the dataset is whole and durable: rubbish that cannot be removed now does not change that */
    writer_remove_partial(&w->names, NULL);
    writer_unlock(&w->lock, &w->names);
    writer_free(w);
    return LEAT_OK;
}

/* Whether the files with partial names are this process's: not its parent's, nor those of one that took over. */
static bool owns_files(const struct leat_writer *w)
{
    return w->owner == getpid() && !writer_lost_lock(w->lock, &w->names);
}

void leat_writer_suspend(struct leat_writer *w)
{
    if (!w)
        return;
    if (!w->checkpointed) {
        leat_writer_abandon(w);
        return;
    }
    sink_end_direct(&w->spills[SPILL_TOKENS]); /* before another process may take the files */
    writer_follow_names(w);
    if (owns_files(w)) {
        unname(w); /* if finish could not */
        writer_unlock(&w->lock, &w->names);
    }
    writer_free(w);
}

void leat_writer_abandon(struct leat_writer *w)
{
    if (!w)
        return;
    sink_end_direct(&w->spills[SPILL_TOKENS]);
    writer_follow_names(w);
    if (owns_files(w)) {
        /* what finish could not undo, in an order that never leaves something to open or resume */
        if (w->index_named)
            file_remove(w->names.index, NULL);
        file_remove(w->names.partial[FILE_CHECKPOINT], NULL);
        if (w->tokens_named)
            file_remove(w->names.tokens, NULL);
        writer_remove_partial(&w->names, NULL);
        writer_unlock(&w->lock, &w->names);
    }
    writer_free(w);
}
