/*
 * test_signature.c: SHA-256 and HMAC give what their standards' examples have, in chunks of any size; and requests get
 * the signatures that AWS publishes for S3 ("Signature Calculations for the Authorization Header", examples).
 */
#include "remote/digest.h"
#include "remote/signature.h"
#include "t.h"

static void check_hash(const uint8_t hash[SHA256_BYTES], const char *wanted)
{
    char hex[SHA256_HEX];

    sha256_hex(hash, hex);
    T_STR(hex, wanted);
}

/* FIPS 180-4's examples, and a million letters. */
static void test_hashes(void)
{
    static const char two_blocks[] = "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq";
    uint8_t hash[SHA256_BYTES], chunk[1000];
    struct sha256 h;

    sha256_of("", 0, hash);
    check_hash(hash, SIGNATURE_EMPTY);
    sha256_of("abc", 3, hash);
    check_hash(hash, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_of(two_blocks, strlen(two_blocks), hash);
    check_hash(hash, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(chunk, 'a', sizeof chunk);
    sha256_begin(&h);
    for (unsigned i = 0; i < 1000; i++)
        sha256_add(&h, chunk, sizeof chunk);
    sha256_end(&h, hash);
    check_hash(hash, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

static void test_chunks(void)
{
    uint8_t text[300], whole[SHA256_BYTES], hash[SHA256_BYTES];
    uint64_t random = t_seed();

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (uint8_t)t_random(&random);
    for (size_t bytes = 0; bytes < sizeof text; bytes++) {
        struct sha256 h;
        size_t cut = (size_t)t_below(&random, bytes + 1);

        sha256_of(text, bytes, whole);
        sha256_begin(&h);
        sha256_add(&h, text, cut);
        sha256_add(&h, text + cut, bytes - cut);
        sha256_end(&h, hash);
        T_EQ(memcmp(hash, whole, sizeof hash), 0);
    }
}

/* RFC 4231, cases 1, 2 and 6. */
static void test_hmac(void)
{
    static const char long_text[] = "Test Using Larger Than Block-Size Key - Hash Key First";
    uint8_t key[131], hash[SHA256_BYTES];

    memset(key, 0x0b, 20);
    sha256_hmac(key, 20, "Hi There", 8, hash);
    check_hash(hash, "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    sha256_hmac("Jefe", 4, "what do ya want for nothing?", 28, hash);
    check_hash(hash, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    memset(key, 0xaa, sizeof key);
    sha256_hmac(key, sizeof key, long_text, strlen(long_text), hash);
    check_hash(hash, "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

#define MOMENT "20130524T000000Z"
#define HOST                                                                                                           \
    {                                                                                                                  \
        "host", "examplebucket.s3.amazonaws.com"                                                                       \
    }
#define EMPTY                                                                                                          \
    {                                                                                                                  \
        "x-amz-content-sha256", SIGNATURE_EMPTY                                                                        \
    }
#define DATE                                                                                                           \
    {                                                                                                                  \
        "x-amz-date", MOMENT                                                                                           \
    }

static void test_signatures(void)
{
    static const char put_hash[] = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072";
    static const struct {
        struct signature_request request;
        struct signed_header headers[5];
        const char *signature;
    } published[] = {
        { { .method = "GET", .path = "/test.txt", .query = "", .header_count = 4, .payload = SIGNATURE_EMPTY },
          { HOST, { "range", "bytes=0-9" }, EMPTY, DATE },
          "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41" },
        { { .method = "PUT", .path = "/test%24file.text", .query = "", .header_count = 5, .payload = put_hash },
          { { "date", "Fri, 24 May 2013 00:00:00 GMT" },
            HOST,
            { "x-amz-content-sha256", put_hash },
            DATE,
            { "x-amz-storage-class", "REDUCED_REDUNDANCY" } },
          "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd" },
        { { .method = "GET", .path = "/", .query = "lifecycle=", .header_count = 3, .payload = SIGNATURE_EMPTY },
          { HOST, EMPTY, DATE },
          "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543" },
        { { .method = "GET",
            .path = "/",
            .query = "max-keys=2&prefix=J",
            .header_count = 3,
            .payload = SIGNATURE_EMPTY },
          { HOST, EMPTY, DATE },
          "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7" },
    };
    struct credentials c = { .id = "AKIAIOSFODNN7EXAMPLE", .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY" };

    for (unsigned i = 0; i < sizeof published / sizeof *published; i++) {
        struct signature_request r = published[i].request;
        char out[SIGNATURE_AUTHORIZATION];

        r.headers = published[i].headers;
        T_CHECK(signature_make(&r, &c, "us-east-1", MOMENT, out));
        T_CONTAINS(out, "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,SignedHeaders=");
        T_CONTAINS(out, published[i].signature);
    }
}

/* A secret that with its "AWS4" is longer than the hash's block is hashed first. By Python's hmac. */
static void test_long_secrets(void)
{
    static const struct {
        int bytes;
        const char *signature;
    } rows[] = { { 60, "9313bd07045b93b956be21d4349aeb946ffbaabe2eb7d5f1e6a1b8e4753be1d6" },
                 { 80, "9cb8c17f31a4affe6ce0b04fdc7019c43ab0b7edab1066ff8340fc67c7807421" } };
    struct signed_header headers[] = { HOST, EMPTY, DATE };
    struct signature_request r = { .method = "GET",
                                   .path = "/",
                                   .query = "max-keys=2&prefix=J",
                                   .headers = headers,
                                   .header_count = 3,
                                   .payload = SIGNATURE_EMPTY };
    char secret[81], id[600], out[SIGNATURE_AUTHORIZATION];
    struct credentials c = { .id = "AKIAIOSFODNN7EXAMPLE", .secret = secret };

    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (int k = 0; k < rows[i].bytes; k++)
            secret[k] = (char)('0' + k % 10);
        secret[rows[i].bytes] = '\0';
        T_CHECK(signature_make(&r, &c, "us-east-1", MOMENT, out));
        T_CONTAINS(out, rows[i].signature);
    }
    memset(id, 'A', sizeof id);
    id[sizeof id - 1] = '\0';
    c.id = id;
    T_CHECK(!signature_make(&r, &c, "us-east-1", MOMENT, out));
}

static void test_moment(void)
{
    char text[SIGNATURE_TIME];

    signature_time(1369353600, text);
    T_STR(text, MOMENT);
}

int main(void)
{
    test_hashes();
    test_chunks();
    test_hmac();
    test_signatures();
    test_long_secrets();
    test_moment();
    return t_end();
}
