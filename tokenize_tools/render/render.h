/*
 * render.h: conversations rendered by chat templates, in processes that the caller of leat_pack() starts: jinja2
 * renders them, in Python (python/leat/render.py). The room: the protocol between the packer and such a process.
 *
 * Both sides send frames. A frame is a number of bytes, then so many: a number of fields, then each field as a number
 * of bytes and the bytes. Numbers are uint32_t, little-endian; those inside of a field are decimal digits.
 *
 *   to the renderer, once   protocol "3", seconds, memory, most, date, learning, template, template for tools, NAME,
 *                           VALUE, ...
 *     its answer            protocol, kind TEXT, "", version of jinja2
 *                           protocol, kind FAILED, what ("jinja2", "template", "date", "learn"), why
 *   a batch                 messages, tools, turns, messages, tools, turns, ...: values of JSON, which other bytes may
 *                           follow, and which turns of the conversation are rendered
 *     for each, in order    kind TEXT, text, marks, stretches
 *                           kind REJECTED, reason (empty: the conversation has no such turns)
 *                           kind TOO_BIG, what ("text": it has more than `most` bytes; "memory")
 *
 *   kind      0 TEXT   1 REJECTED   2 TOO_BIG   3 FAILED
 *   seconds   that one conversation may take: the packer sees to it; a process without one ends a minute later
 *   memory    bytes that rendering may take
 *   date      that strftime_now() writes; empty: none
 *   learning  a line "NAME VALUE" for each option of leat_pack_options that says what is learned
 *   turns     empty: all; "FIRST COUNT": these, with the system message before them. A turn begins with a message of
 *             the user's after one of another role; what stands before the first one belongs to it
 *   tools     empty: the conversation has none. The template for tools is empty if that is the same
 *   NAME      of a variable of the templates: bos_token, ...
 *   marks     a byte for each byte of the text: 1 if it stood in the conversation, else 0
 *   stretches of the text that are learned, in order and apart: the members of struct render_stretch, 32 bytes each
 *
 * The packer sends the next batch when it has all answers. A renderer sends what it has at least ten times a second. It
 * ends when the packer closes the connection.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RENDER_H
#define LEAT_TOKENIZE_TOOLS_RENDER_H

#include <stdbool.h>

#include "base/buffer.h"
#include "leat_pack.h"

/* Bytes [begin, end) of the text with equal weights, which are from 0 to 1. */
#define RENDER_TURN   1u /* the message's turn ends after it: the token that ends the turn counts as much as `turn` */
#define RENDER_WITHIN 2u /* the stretch, which {% generation %} wrote, contains the token that ends the turn */
struct render_stretch {
    uint32_t begin, end, role, flags; /* `role`: its number in learned_roles (mask/learned.h) */
    double weight, turn;
};

/* The templates of a run and their arguments: the frame that opens a renderer, from the date on. */
struct render_plan {
    struct buffer fields;
    uint32_t count;
};
enum leat_status render_plan_add(struct render_plan *plan, const void *bytes, size_t size, struct leat_error *err);

struct render_limits {
    uint64_t memory;                 /* for rendering */
    uint64_t max_bytes;              /* of a text */
    uint32_t seconds;                /* for one conversation */
    uint32_t (*stop)(void *context); /* called now and then; 1 ends a call with LEAT_E_STOPPED */
    void *context;
};

struct renderer;

/*
 * Starts a process. `calls` and the memory that `limits` points to must outlive it. Returns LEAT_E_ARGUMENT if
 * jinja2, leat's package or the date is missing, and LEAT_E_UNSUPPORTED if the template cannot be used. The error
 * says which.
 */
enum leat_status renderer_open(struct renderer **out, const struct leat_renderers *calls,
                               const struct render_plan *plan, const struct render_limits *limits,
                               struct leat_error *err);
void renderer_close(struct renderer *r); /* ends the process, whatever it does; NULL is fine */

/* Returns the version of jinja2. */
const char *renderer_version(const struct renderer *r);

/* A conversation: values of JSON, which other bytes may follow. */
struct render_request {
    const char *messages, *tools; /* NULL if the conversation has none */
    size_t messages_bytes, tools_bytes;
    uint32_t first, turns; /* so many turns from this one on; 0: all */
};

enum render_kind { RENDER_TEXT, RENDER_REJECTED, RENDER_TOO_BIG, RENDER_FAILED };

struct render_answer {
    enum render_kind kind;
    const char *text; /* a rendered text; or a reason, which ends in a zero byte; or "text" or "memory" */
    size_t bytes;
    const uint8_t *marks;
    const struct render_stretch *stretches;
    size_t stretch_count;
};

/* Sends a batch. renderer_answer() must then be called for each conversation, or renderer_close(). */
enum leat_status renderer_ask(struct renderer *r, const struct render_request *requests, size_t count,
                              struct leat_error *err);

/*
 * Gets the next answer, which is valid until the next call. Returns LEAT_E_AGAIN if nothing came in the time that
 * one conversation may take, and LEAT_E_DEVICE if the process ended, or what it sent is no answer. After any failure
 * the renderer can only be closed.
 */
enum leat_status renderer_answer(struct renderer *r, struct render_answer *answer, struct leat_error *err);

/* Frees memory that long texts took. */
void renderer_trim(struct renderer *r, size_t keep_bytes);

#endif
