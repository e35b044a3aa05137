/* dataset_verify.c: checking a dataset, with Ctrl-C and progress. */
#include "core/args.h"
#include "core/pause.h"
#include "dataset.h"

struct verifying {
    struct pause_work call;
    struct dataset_call *dataset;
    struct leat_verify_options options;
    struct leat_verify_report report;
    enum leat_status status;
    PyObject *progress;
    atomic_uint_fast64_t done, total;
};

/* From one of the library's threads. */
static uint32_t note_progress(void *context, uint64_t done, uint64_t total)
{
    struct verifying *v = context;

    atomic_store(&v->done, done);
    atomic_store(&v->total, total);
    return atomic_load(&v->call.stop);
}

static void work(void *context)
{
    struct verifying *v = context;

    v->status = leat_dataset_verify(v->dataset->d, &v->options, &v->report, &v->dataset->err);
}

static int look(struct pause *p, void *context)
{
    struct verifying *v = context;
    uint64_t total = atomic_load(&v->total);

    return total == 0 ? 0
                      : pause_tell(p, v->progress, "(KK)", (unsigned long long)atomic_load(&v->done),
                                   (unsigned long long)total);
}

/* verify(threads, progress): (bytes, damaged_pages, damaged_others, part, page, first_document, documents,
 * unhashed_parts), and None or the first damage as an Error. */
PyObject *dataset_verify(PyObject *self, PyObject *args)
{
    struct verifying v = { .options = LEAT_VERIFY_OPTIONS_INIT, .report = LEAT_VERIFY_REPORT_INIT };
    const struct leat_verify_report *r = &v.report;
    PyObject *facts, *damage = NULL, *type, *trace;
    struct dataset_call call;

    if (!PyArg_ParseTuple(args, "IO:verify", &v.options.threads, &v.progress) || !dataset_begin(self, &call))
        return NULL;
    v.call = (struct pause_work) { .work = work, .look = look, .context = &v };
    v.dataset = &call;
    v.options.progress = note_progress;
    v.options.context = &v;
    if (pause_run(&v.call) < 0)
        return dataset_end(&call, LEAT_OK, NULL);
    facts = Py_BuildValue("(KKKNNNKK)", (unsigned long long)r->bytes, (unsigned long long)r->damaged_pages,
                          (unsigned long long)r->damaged_others, args_number(r->part),
                          args_number(r->part == LEAT_NONE ? LEAT_NONE : r->page), args_number(r->first_document),
                          (unsigned long long)r->documents, (unsigned long long)r->unhashed_parts);
    if (v.status != LEAT_OK && facts) {
        errors_raise(&call.err, call.name);
        PyErr_Fetch(&type, &damage, &trace);
        PyErr_NormalizeException(&type, &damage, &trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    return dataset_end(&call, LEAT_OK,
                       facts ? Py_BuildValue("(NN)", facts, damage ? damage : Py_NewRef(Py_None)) : NULL);
}

PyObject *dataset_verify_range(PyObject *self, PyObject *args)
{
    struct dataset_call call;
    uint64_t first, count;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&O&:verify_range", args_u64, &first, args_u64, &count) || !dataset_begin(self, &call))
        return NULL;
    ARGS_UNLOCKED(s = leat_dataset_verify_range(call.d, first, count, &call.err));
    return dataset_end(&call, s, Py_NewRef(Py_None));
}
