/* text_options.c: see text_options.h. */
#include "text_options.h"

/* The UTF-8 of item i of a pair, which the pair keeps. */
static const char *string_of(PyObject *pair, Py_ssize_t i)
{
    PyObject *item = PyTuple_Check(pair) && PyTuple_Size(pair) == 2 ? PyTuple_GetItem(pair, i) : NULL;

    if (item)
        return PyUnicode_AsUTF8AndSize(item, NULL);
    PyErr_SetString(PyExc_TypeError, "a split is a pair of a name and a fraction");
    return NULL;
}

Py_ssize_t text_splits_take(struct leat_split splits[TEXT_SPLITS], PyObject *list)
{
    Py_ssize_t count = PyList_Size(list);

    if (count > TEXT_SPLITS) {
        PyErr_Format(PyExc_ValueError, "at most %d splits are allowed", TEXT_SPLITS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < count; i++) {
        PyObject *pair = PyList_GetItem(list, i);

        splits[i].name = string_of(pair, 0);
        splits[i].fraction = splits[i].name ? string_of(pair, 1) : NULL;
        if (!splits[i].fraction)
            return -1;
    }
    return count;
}

int text_options_take(struct text_pack_options *o, const struct text_tokenizer *t, PyObject *tuple)
{
    struct leat_pack_options *p = &o->options;
    unsigned long long end, begin, memory, rejects, ppm, seed, created;
    PyObject *splits, *keep, *renderers;
    Py_ssize_t count;
    int format, write;

    *o = (struct text_pack_options) { .options = LEAT_PACK_OPTIONS_INIT };
    if (!PyArg_ParseTuple(tuple, "izzKKppIKKKIIpKpOppKpppOzpzzzzizpIzpO", &format, &p->text, &p->id, &end, &begin,
                          &p->special, &p->reject_invalid, &p->threads, &memory, &rejects, &ppm, &p->part, &p->parts,
                          &p->shuffle, &seed, &p->dedup, &splits, &p->resume, &p->force, &created, &p->skip_unknown,
                          &p->allow_binary, &p->follow_links, &keep, &p->by, &p->store_mask, &p->mask_field, &p->chat,
                          &p->messages, &p->tools, &write, &p->split_of, &p->allow_empty, &p->chat_seconds,
                          &p->chat_date, &p->skip_slow_chats, &renderers))
        return -1;
    if (PyList_Size(keep) > TEXT_CONDITIONS) {
        PyErr_Format(PyExc_ValueError, "at most %d conditions are allowed", TEXT_CONDITIONS);
        return -1;
    }
    for (Py_ssize_t i = 0; i < PyList_Size(keep); i++) {
        o->keep[i] = PyUnicode_AsUTF8AndSize(PyList_GetItem(keep, i), NULL);
        if (!o->keep[i])
            return -1;
    }
    p->keep = o->keep;
    p->keep_count = (uint64_t)PyList_Size(keep);
    count = text_splits_take(o->splits, splits);
    if (count < 0)
        return -1;
    p->tokenizer = t->tokenizer;
    o->renderers = (struct leat_renderers) { text_renderers_open, text_renderers_close, renderers };
    p->renderers = renderers == Py_None ? NULL : &o->renderers;
    p->format = (enum leat_pack_format)format;
    p->write = (enum leat_write)write;
    p->end_token = end;
    p->begin_token = begin;
    p->memory = memory;
    p->max_rejects = rejects;
    p->max_rejects_ppm = ppm;
    p->seed = seed;
    p->splits = o->splits;
    p->split_count = (size_t)count;
    p->created = created;
    return 0;
}

#define NUMBER(name) #name, (unsigned long long)r->name

PyObject *text_report(const struct leat_pack_report *r)
{
    return Py_BuildValue("{sK sK sK sK sK sK sK sK sK sy# sK sN sN sK sK sK sK sK}", NUMBER(inputs), NUMBER(documents),
                         NUMBER(tokens), NUMBER(text_bytes), NUMBER(disk_bytes), NUMBER(rejects), NUMBER(deduplicated),
                         NUMBER(special_strings), NUMBER(damaged_inputs), "damage", r->damage,
                         (Py_ssize_t)strnlen(r->damage, sizeof r->damage), NUMBER(peak_memory), "resumable",
                         PyBool_FromLong(r->resumable), "was_finished", PyBool_FromLong(r->was_finished),
                         NUMBER(skipped), NUMBER(replaced), NUMBER(not_json), NUMBER(kept_out), NUMBER(row_groups));
}

PyObject *text_infos(const struct leat_info *infos, size_t count)
{
    PyObject *list = PyList_New((Py_ssize_t)count);

    for (size_t i = 0; list && i < count; i++) {
        const struct leat_info *r = &infos[i];
        PyObject *item = Py_BuildValue("{sK sK sy#}", NUMBER(documents), NUMBER(tokens), "identity", r->identity,
                                       (Py_ssize_t)sizeof r->identity);

        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    return list;
}
