/*
 * xml.h: reads the XML that S3 answers with: elements, texts, the five named entities and numbered characters. What it
 * does not know (document types, CDATA, elements nested deeper than XML_DEPTH) ends reading as broken; attributes,
 * comments and processing instructions are passed over. Every byte may be hostile.
 */
#ifndef LEAT_REMOTE_XML_H
#define LEAT_REMOTE_XML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define XML_DEPTH 8u
#define XML_PATH  128u

struct xml {
    uint8_t *at, *end;
    char path[XML_PATH];       /* "ListBucketResult/Contents/Key" */
    size_t lengths[XML_DEPTH]; /* length of the path before each element */
    unsigned depth;
    bool whole; /* the outermost element was closed */
    bool broken;
    bool closed; /* this event is the end of the element at `path`; the next event removes that from the path */
};

struct xml_text {
    char *at; /* text, decoded in the buffer that is read, not ended by a NUL; empty for an element that has elements */
    size_t bytes;
};

/* Begins to read. Texts are decoded in place. */
void xml_begin(struct xml *x, void *text, size_t bytes);

/* Goes to the end of the next element, at x->path, and gives the text before its end tag. Returns false if there is
 * no further element, or the XML is broken. */
bool xml_next(struct xml *x, struct xml_text *text);

bool xml_is(const struct xml *x, const char *path);

#endif
