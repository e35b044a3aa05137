/* plan_fit.c: what rows of whole documents of a length would be, beside windows. */
#include "core/args.h"
#include "plan.h"

/* fit_report(source, seq_len): a dict of numbers */
PyObject *plan_fit_report(PyObject *self, PyObject *args)
{
    struct leat_fit_report r = LEAT_FIT_REPORT_INIT;
    uint64_t source, seq_len;
    struct leat_error err;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:fit_report", args_u64, &source, args_u64, &seq_len))
        return NULL;
    ARGS_UNLOCKED(s = leat_plan_fit_report(plan_of(self), source, seq_len, &r, &err));
    if (s != LEAT_OK)
        return errors_raise(&err, NULL);
    return Py_BuildValue("{s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K,s:K}", "documents",
                         (unsigned long long)r.documents, "predictions", (unsigned long long)r.predictions, "empty",
                         (unsigned long long)r.empty, "rows", (unsigned long long)r.rows, "full_rows",
                         (unsigned long long)r.full_rows, "pieces", (unsigned long long)r.pieces, "max_pieces",
                         (unsigned long long)r.max_pieces, "patterns", (unsigned long long)r.patterns, "padding",
                         (unsigned long long)r.padding, "cut", (unsigned long long)r.cut, "lost",
                         (unsigned long long)r.lost, "window_rows", (unsigned long long)r.window_rows, "window_cut",
                         (unsigned long long)r.window_cut, "window_lost", (unsigned long long)r.window_lost, "left_out",
                         (unsigned long long)r.left_out, "unused", (unsigned long long)r.unused, "context",
                         (unsigned long long)r.context);
}
