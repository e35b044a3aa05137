/*
 * blend.c: A node with total R gives its left child, of weight A, left(k) = floor((2kA + R) / 2R) of its first k draws.
 * Everything repeats after R draws: left(PR + k) = PA + left(k); and A is the left child's total, so the same number P
 * of whole periods holds in the whole tree. One division at the root brings k below the sum of weights, at most 2^48;
 * below the root, kA / R is one product with a stored ratio and one correction. So a node costs about 5 ns; a division
 * of 128 bits costs 30 to 60.
 */
#include "blend.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* A Huffman tree of depth d has a total of at least the (d + 2)nd Fibonacci number: with 2^48, d is at most 68. */
#define DEPTH_MAX 72

struct blend_node {
    uint64_t total;       /* R: the sum of weights below */
    uint64_t left_weight; /* A, below R */
    uint64_t ratio;       /* floor(2^64 A / R) */
    uint32_t left, right; /* children; in a leaf `left` is the source */
    uint32_t parent;      /* parent; the root's is the root */
};

/*
 * left(k) for k <= R is floor(kA / R), plus one if the rest is at least R / 2. The quotient by the ratio is that floor,
 * or one less if the rest is below R / 2^16: then *rest becomes R and a little more, which is also at least R / 2, and
 * adds the missing one. So neither this nor blend_draw() needs a correction in between.
 */
static inline uint64_t left_floor(const struct blend_node *n, uint64_t k, uint64_t *rest)
{
    uint64_t q = wide_high(k, n->ratio);

    *rest = k * n->left_weight - q * n->total; /* modulo 2^64; it is below 2R */
    return q;
}

static inline uint64_t left_of(const struct blend_node *n, uint64_t k)
{
    uint64_t rest, floor = left_floor(n, k, &rest);

    return floor + (2 * rest >= n->total);
}

/* ---- Making ---- */

struct light {
    uint64_t weight;
    uint32_t node;
};

/* Compares nodes: the lighter one first; of equal ones the older. */
static int compare_lights(const void *a, const void *b)
{
    const struct light *x = a, *y = b;

    if (x->weight != y->weight)
        return x->weight < y->weight ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static void join(struct blend_node *nodes, uint32_t at, uint32_t lesser, uint32_t greater)
{
    struct blend_node *n = &nodes[at];

    n->left = greater;
    n->right = lesser;
    n->left_weight = nodes[greater].total;
    n->total = nodes[greater].total + nodes[lesser].total;
    n->ratio = (uint64_t)(((wide_u128)n->left_weight << 64) / n->total);
    n->parent = at;
    nodes[greater].parent = nodes[lesser].parent = at;
}

/*
 * Joins all nodes to a tree. Joined nodes are made in order of weight, and the leaves are sorted once, so the
 * lightest node is always the first of one of two queues. Leaves are older than joined nodes, and come first if
 * weights are equal.
 */
static uint32_t join_all(struct blend_node *nodes, const struct light *lights, uint32_t leaves)
{
    uint32_t next_light = 0, next_join = leaves, made = leaves;

    while (made < 2 * leaves - 1) {
        uint32_t taken[2];

        for (unsigned i = 0; i < 2; i++) {
            bool has_light = next_light < leaves, has_join = next_join < made;

            if (has_light && (!has_join || lights[next_light].weight <= nodes[next_join].total))
                taken[i] = lights[next_light++].node;
            else
                taken[i] = next_join++;
        }
        join(nodes, made++, taken[0], taken[1]);
    }
    return made - 1;
}

enum leat_status blend_make(struct blend *b, const uint64_t *weights, uint32_t count, struct leat_error *err)
{
    struct light *lights;
    uint32_t leaves = 0;
    uint64_t total = 0;

    *b = (struct blend) { .nodes = NULL };
    for (uint32_t i = 0; i < count; i++) {
        total += weights[i];
        if (weights[i] > 0) {
            leaves++;
            b->only = i;
        }
    }
    b->leaves = leaves;
    b->total = wide_divider(total);
    if (leaves <= 1)
        return LEAT_OK;
    b->nodes = malloc((2 * (size_t)leaves - 1) * sizeof *b->nodes);
    b->leaf_of = malloc((size_t)count * sizeof *b->leaf_of);
    lights = malloc(leaves * sizeof *lights);
    if (!b->nodes || !b->leaf_of || !lights) {
        free(lights);
        blend_free(b);
        return status_no_memory(err, (2 * (uint64_t)leaves - 1) * sizeof *b->nodes);
    }
    leaves = 0;
    for (uint32_t i = 0; i < count; i++) {
        b->leaf_of[i] = BLEND_NO_LEAF;
        if (weights[i] == 0)
            continue;
        b->leaf_of[i] = leaves;
        lights[leaves] = (struct light) { weights[i], leaves };
        b->nodes[leaves++] = (struct blend_node) { .total = weights[i], .left = i };
    }
    qsort(lights, leaves, sizeof *lights, compare_lights);
    b->root = join_all(b->nodes, lights, leaves);
    free(lights);
    return LEAT_OK;
}

void blend_free(struct blend *b)
{
    free(b->nodes);
    free(b->leaf_of);
    b->nodes = NULL;
    b->leaf_of = NULL;
}

/* ---- Using ---- */

/* Returns the leaf under node `at` that its draw *k is of; *k: which draw of the leaf. */
static inline const struct blend_node *descend(const struct blend *b, uint32_t at, uint64_t *k)
{
    while (at >= b->leaves) {
        const struct blend_node *n = &b->nodes[at];
        uint64_t rest, half_up, next, left;

        left = left_floor(n, *k, &rest);
        half_up = 2 * rest >= n->total;
        /* the remainder for k + 1: the rest grows by A, and may pass a whole unit */
        next = rest + n->left_weight;
        next = next >= n->total ? 1 + (2 * (next - n->total) >= n->total) : 2 * next >= n->total;
        left += half_up;
        if (next > half_up) {
            at = n->left;
            *k = left;
        } else {
            at = n->right;
            *k -= left;
        }
    }
    return &b->nodes[at];
}

uint32_t blend_draw(const struct blend *b, uint64_t k, uint64_t *draw)
{
    const struct blend_node *leaf;
    uint64_t periods;

    if (!b->nodes) {
        *draw = k;
        return b->only;
    }
    periods = wide_divide(b->total, k, &k);
    leaf = descend(b, b->root, &k);
    *draw = periods * leaf->total + k;
    return leaf->left;
}

/*
 * A node and its draws, for ranges. Consecutive draws of a node are consecutive draws of each child. So a range goes
 * through the tree node by node: each divides its draws among its children without a division and without a jump
 * that depends on them. One draw after another, the processor guesses at every node, and has to learn anew what to
 * guess whenever weights change: with a phase every 32,768 samples that cost 4 to 5 ns a sample.
 */
struct branch {
    uint32_t node, begin, end; /* node; places [begin, end) of `order` with its draws */
    uint64_t k;                /* first of these draws */
};

/* Sorts the node's draws: the left child's first. Returns how many are the left child's, and sets *left to the first
 * of them. */
static inline uint32_t divide(const struct blend_node *n, uint64_t k, uint8_t *order, uint32_t count, uint64_t *left)
{
    uint8_t rights[BLEND_RANGE_MAX];
    uint32_t lefts = 0;
    uint64_t rest; /* remainder of 2kA + R divided by 2R */

    *left = left_of(n, k);
    rest = 2 * k * n->left_weight + n->total - *left * 2 * n->total;
    for (uint32_t i = 0; i < count; i++) {
        uint8_t place = order[i];
        bool is_left;

        rest += 2 * n->left_weight;
        is_left = rest >= 2 * n->total;
        rest -= is_left ? 2 * n->total : 0;
        rights[i - lefts] = place;
        order[lefts] = place;
        lefts += is_left;
    }
    memcpy(order + lefts, rights, count - lefts);
    return lefts;
}

#define FEW 3u /* fewer draws than this go down the tree one by one */

void blend_range(const struct blend *b, uint64_t k, uint32_t count, uint32_t *sources, uint64_t *draws)
{
    struct branch waiting[DEPTH_MAX];
    uint8_t order[BLEND_RANGE_MAX];
    uint32_t depth = 1;
    uint64_t periods;

    for (uint32_t i = 0; i < count; i++) {
        order[i] = (uint8_t)i;
        sources[i] = b->only;
        draws[i] = k + i;
    }
    if (!b->nodes)
        return;
    periods = wide_divide(b->total, k, &k);
    waiting[0] = (struct branch) { b->root, 0, count, k };
    while (depth > 0) {
        struct branch at = waiting[--depth];
        const struct blend_node *n = &b->nodes[at.node];

        if (at.node < b->leaves || at.end - at.begin < FEW) {
            for (uint32_t i = at.begin; i < at.end; i++) {
                uint64_t own = at.k + (i - at.begin);
                const struct blend_node *leaf = descend(b, at.node, &own);

                sources[order[i]] = leaf->left;
                draws[order[i]] = periods * leaf->total + own;
            }
        } else {
            uint64_t left;
            uint32_t middle = at.begin + divide(n, at.k, order + at.begin, at.end - at.begin, &left);

            waiting[depth++] = (struct branch) { n->right, middle, at.end, at.k - left };
            waiting[depth++] = (struct branch) { n->left, at.begin, middle, left };
        }
    }
}

uint64_t blend_place(const struct blend *b, uint32_t source, uint64_t draw)
{
    uint64_t periods, c, total;
    wide_u128 k;
    uint32_t at;

    if (!b->nodes)
        return draw < BLEND_MAX_DRAW ? draw : UINT64_MAX;
    at = b->leaf_of[source];
    periods = draw / b->nodes[at].total;
    c = draw % b->nodes[at].total;
    while (at != b->root) {
        const struct blend_node *n = &b->nodes[b->nodes[at].parent];
        uint64_t weight = b->nodes[at].total;
        wide_u128 twice = (wide_u128)(2 * c + 1) * n->total;

        if (n->left == at)
            c = (uint64_t)((twice + 2 * weight - 1) / (2 * weight)) - 1;
        else
            c = (uint64_t)(twice / (2 * weight));
        at = b->nodes[at].parent;
    }
    total = b->nodes[at].total;
    k = (wide_u128)periods * total + c;
    return k < BLEND_MAX_DRAW ? (uint64_t)k : UINT64_MAX;
}

void blend_count(const struct blend *b, uint64_t k, uint64_t *counts)
{
    uint64_t periods;

    if (!b->nodes) {
        counts[b->only] += k;
        return;
    }
    periods = wide_divide(b->total, k, &k);
    for (uint32_t leaf = 0; leaf < b->leaves; leaf++) {
        uint32_t path[DEPTH_MAX], at = leaf, depth = 0;
        uint64_t share = k;

        for (; at != b->root; at = b->nodes[at].parent)
            path[depth++] = at;
        while (depth-- > 0) {
            const struct blend_node *n = &b->nodes[b->nodes[path[depth]].parent];
            uint64_t left = left_of(n, share);

            share = n->left == path[depth] ? left : share - left;
        }
        counts[b->nodes[leaf].left] += periods * b->nodes[leaf].total + share;
    }
}
