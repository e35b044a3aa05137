/* chat_parse.c: see chat_parse.h: statements, and what both parsers need. */
#include "chat_parse.h"

#include <string.h>

#include "base/status.h"
#include "chat_parser.h"

/* ---- Tokens and nodes ---- */

void chat_refuse(struct parser *p, const char *what, const struct chat_token *token)
{
    bool shown = token->kind == CHAT_T_NAME || token->kind == CHAT_T_SIGN;

    if (p->status == LEAT_OK)
        p->status = status_set(p->err, LEAT_E_UNSUPPORTED, "line %u of the chat template: %.*s%s%s", token->line,
                               shown ? (int)token->bytes : 0, shown ? token->at : "", shown ? ": " : "", what);
}

static bool is(const struct parser *p, enum chat_token_kind kind, const char *text)
{
    return p->status == LEAT_OK && p->at->kind == kind && p->at->bytes == strlen(text) &&
           memcmp(p->at->at, text, p->at->bytes) == 0;
}

bool chat_is_sign(const struct parser *p, const char *sign)
{
    return is(p, CHAT_T_SIGN, sign);
}

bool chat_is_word(const struct parser *p, const char *word)
{
    return is(p, CHAT_T_NAME, word);
}

bool chat_pass_sign(struct parser *p, const char *sign)
{
    bool there = chat_is_sign(p, sign);

    p->at += there;
    return there;
}

bool chat_pass_word(struct parser *p, const char *word)
{
    bool there = chat_is_word(p, word);

    p->at += there;
    return there;
}

void chat_expect_sign(struct parser *p, const char *sign)
{
    char what[32] = "expected ";

    memcpy(what + strlen(what), sign, strlen(sign) + 1);
    if (!chat_pass_sign(p, sign))
        chat_refuse(p, what, p->at);
}

struct chat_node *chat_node(struct parser *p, enum chat_node_kind kind)
{
    struct chat_node *n = p->status == LEAT_OK ? chat_arena_get(p->arena, sizeof *n, p->err) : NULL;

    if (!n && p->status == LEAT_OK)
        p->status = p->err->status;
    if (!n) {
        memset(&p->nothing, 0, sizeof p->nothing);
        return &p->nothing;
    }
    n->kind = kind;
    n->line = p->at->line;
    return n;
}

void chat_take_name(struct parser *p, struct chat_node *node)
{
    char *name;

    if (p->status == LEAT_OK && p->at->kind != CHAT_T_NAME)
        chat_refuse(p, "a name is expected", p->at);
    name = p->status == LEAT_OK ? chat_arena_get(p->arena, p->at->bytes + 1, p->err) : NULL;
    if (!name) {
        p->status = p->status == LEAT_OK ? p->err->status : p->status;
        return;
    }
    memcpy(name, p->at->at, p->at->bytes);
    node->name = name;
    p->status = chat_string_make(p->arena, name, p->at->bytes, 0, &node->name_codes, p->err);
    p->at++;
}

/* ---- Statements ---- */

static struct chat_node *parse_body(struct parser *p);

static void expect_end(struct parser *p)
{
    if (p->status == LEAT_OK && p->at->kind != CHAT_T_BLOCK_END)
        chat_refuse(p, "the end of the tag, %}, is expected", p->at);
    p->at += p->status == LEAT_OK;
}

/* {% NAME %}, which ends a body. */
static bool at_tag(const struct parser *p, const char *name)
{
    struct parser next = *p;

    if (p->status != LEAT_OK || p->at->kind != CHAT_T_BLOCK_BEGIN)
        return false;
    next.at++;
    return chat_is_word(&next, name);
}

static bool pass_tag(struct parser *p, const char *name)
{
    bool there = at_tag(p, name);

    p->at += there ? 2 : 0;
    return there;
}

static void expect_tag(struct parser *p, const char *name)
{
    char what[40] = "expected ";

    memcpy(what + strlen(what), name, strlen(name) + 1);
    if (!pass_tag(p, name))
        chat_refuse(p, what, p->at->kind == CHAT_T_BLOCK_BEGIN ? p->at + 1 : p->at);
    expect_end(p);
}

static struct chat_node *parse_if(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_IF);

    n->a = chat_parse_tuple(p, chat_parse_or);
    expect_end(p);
    n->b = parse_body(p);
    if (pass_tag(p, "elif")) {
        p->depth++; /* parse_body(), one deeper, refuses what is too deep */
        n->c = parse_if(p);
        p->depth--;
        return n;
    }
    if (pass_tag(p, "else")) {
        expect_end(p);
        n->c = parse_body(p);
    }
    expect_tag(p, "endif");
    return n;
}

/* One name, or several. */
static struct chat_node *parse_target(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_NAME);

    p->set |= chat_is_word(p, "varargs") ? CHAT_USES_VARARGS : chat_is_word(p, "kwargs") ? CHAT_USES_KWARGS : 0;
    chat_take_name(p, n);
    return n;
}

static struct chat_node *parse_for(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_FOR);
    bool bracket = chat_pass_sign(p, "(");

    n->a = chat_parse_tuple(p, parse_target);
    if (bracket)
        chat_expect_sign(p, ")");
    if (!chat_pass_word(p, "in"))
        chat_refuse(p, "expected in", p->at);
    n->b = chat_parse_tuple(p, chat_parse_or);
    if (chat_pass_word(p, "if"))
        n->d = chat_parse_expression(p);
    if (chat_is_word(p, "recursive"))
        chat_refuse(p, "recursive loops are not supported", p->at);
    expect_end(p);
    p->loops++;
    n->c = parse_body(p);
    p->loops--;
    if (pass_tag(p, "else")) {
        expect_end(p);
        n->e = parse_body(p);
    }
    expect_tag(p, "endfor");
    return n;
}

static struct chat_node *parse_set(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_SET);

    n->a = chat_parse_tuple(p, parse_target);
    if (n->a->kind == CHAT_N_NAME && chat_pass_sign(p, ".")) {
        struct chat_node *member = chat_node(p, CHAT_N_MEMBER);

        member->a = n->a;
        chat_take_name(p, member);
        n->a = member;
    }
    if (chat_pass_sign(p, "=")) {
        n->b = chat_parse_tuple(p, chat_parse_expression);
        expect_end(p);
        return n;
    }
    n->kind = CHAT_N_SET_BLOCK;
    if (n->a->kind == CHAT_N_LIST || chat_is_sign(p, "|"))
        chat_refuse(p, "a block of set with a filter or several names is not supported", p->at);
    expect_end(p);
    n->b = parse_body(p);
    expect_tag(p, "endset");
    return n;
}

static struct chat_node *parse_macro(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_MACRO), **last = &n->a;
    struct parser around = *p;

    chat_take_name(p, n);
    chat_expect_sign(p, "(");
    p->set = 0;
    while (p->status == LEAT_OK && !chat_is_sign(p, ")")) {
        *last = parse_target(p);
        if (chat_pass_sign(p, "="))
            (*last)->b = chat_parse_expression(p);
        last = &(*last)->next;
        if (!chat_pass_sign(p, ","))
            break;
    }
    chat_expect_sign(p, ")");
    expect_end(p);
    p->loops = 0;
    p->uses = 0;
    n->c = parse_body(p);
    n->number = p->uses;
    p->loops = around.loops;
    p->set = around.set;
    p->uses |= around.uses; /* Jinja counts what an inner macro reads as read by the outer one, too */
    expect_tag(p, "endmacro");
    return n;
}

static struct chat_node *parse_generation(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_GENERATION);
    unsigned loops = p->loops;

    expect_end(p);
    p->loops = 0;
    n->a = parse_body(p);
    p->loops = loops;
    expect_tag(p, "endgeneration");
    return n;
}

static struct chat_node *parse_jump(struct parser *p, enum chat_node_kind kind)
{
    struct chat_node *n = chat_node(p, kind);

    if (p->loops == 0)
        chat_refuse(p, "it is not in a loop", p->at - 1);
    expect_end(p);
    return n;
}

static struct chat_node *parse_tag(struct parser *p)
{
    p->at++;
    if (chat_pass_word(p, "if"))
        return parse_if(p);
    if (chat_pass_word(p, "for"))
        return parse_for(p);
    if (chat_pass_word(p, "set"))
        return parse_set(p);
    if (chat_pass_word(p, "macro"))
        return parse_macro(p);
    if (chat_pass_word(p, "generation"))
        return parse_generation(p);
    if (chat_pass_word(p, "break"))
        return parse_jump(p, CHAT_N_BREAK);
    if (chat_pass_word(p, "continue"))
        return parse_jump(p, CHAT_N_CONTINUE);
    chat_refuse(p, "the tag is not supported", p->at);
    return chat_node(p, CHAT_N_TEXT);
}

static struct chat_node *parse_print(struct parser *p)
{
    struct chat_node *n = chat_node(p, CHAT_N_PRINT);

    p->at++;
    n->a = chat_parse_tuple(p, chat_parse_expression);
    if (p->status == LEAT_OK && p->at->kind != CHAT_T_PRINT_END)
        chat_refuse(p, "the end of the tag, }}, is expected", p->at);
    p->at += p->status == LEAT_OK;
    return n;
}

static bool ends_body(const struct parser *p)
{
    static const char *const ends[] = { "elif", "else", "endif", "endfor", "endmacro", "endset", "endgeneration" };

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (at_tag(p, ends[i]))
            return true;
    return p->status != LEAT_OK || p->at->kind == CHAT_T_END;
}

static struct chat_node *parse_body(struct parser *p)
{
    struct chat_node *first = NULL, **last = &first;

    if (++p->depth > 200)
        chat_refuse(p, "it is nested too deeply", p->at);
    while (!ends_body(p)) {
        if (p->at->kind == CHAT_T_TEXT) {
            *last = chat_node(p, CHAT_N_TEXT);
            (*last)->value = chat_str(p->at++->string);
        } else {
            *last = p->at->kind == CHAT_T_BLOCK_BEGIN ? parse_tag(p) : parse_print(p);
        }
        last = &(*last)->next;
    }
    p->depth--;
    return p->status == LEAT_OK ? first : NULL;
}

enum leat_status chat_parse(struct chat_arena *a, const char *source, size_t bytes, struct chat_node **tree,
                            struct leat_error *err)
{
    struct parser p = { .arena = a, .err = err };
    struct chat_token *tokens;

    *tree = NULL;
    p.status = chat_lex(a, source, bytes, &tokens, err);
    if (p.status != LEAT_OK)
        return p.status;
    p.at = tokens;
    *tree = parse_body(&p);
    if (p.status == LEAT_OK && p.at->kind != CHAT_T_END)
        chat_refuse(&p, "it ends nothing", p.at->kind == CHAT_T_BLOCK_BEGIN ? p.at + 1 : p.at);
    return p.status;
}
