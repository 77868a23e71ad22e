/* The module _wasibox_hashes: what hashlib has from OpenSSL elsewhere and is too slow in Python.
 *
 * FIPS 180-4 (SHA-1, SHA-2), RFC 8018 (PBKDF2), RFC 7914 (scrypt), RIPEMD-160 as its authors
 * describe it (Dobbertin, Bosselaers, Preneel), SM3 as GB/T 32905-2016 does. `lib/_wasibox_hashes.py` has the Python
 * half: objects with update(), and the checks of arguments that hashlib makes.
 */
#define PY_SSIZE_T_CLEAN
#include "modules.h"
#include <stdint.h>
#include <string.h>

enum { LARGEST_BLOCK = 128, LARGEST_STATE = 64 };

static inline uint32_t left(uint32_t x, int n) { return x << (n & 31) | x >> (-n & 31); }
static inline uint32_t right(uint32_t x, int n) { return x >> n | x << (32 - n); }
static inline uint64_t right64(uint64_t x, int n) { return x >> n | x << (64 - n); }

static inline uint32_t big32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return __builtin_bswap32(x);
}

static inline uint64_t big64(const uint8_t *p)
{
    uint64_t x;
    memcpy(&x, p, 8);
    return __builtin_bswap64(x);
}

static inline uint32_t little32(const uint8_t *p)
{
    uint32_t x;
    memcpy(&x, p, 4);
    return x;
}

/* SHA-1 */

static void sha1(void *state, const uint8_t *block)
{
    uint32_t *h = state, w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];
    for (int i = 0; i < 80; i++) {
        w[i] = i < 16 ? big32(block + 4 * i) : left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
        uint32_t f = i < 20 ? ((b & c) | (~b & d)) + 0x5a827999
            : i < 40 ? (b ^ c ^ d) + 0x6ed9eba1
            : i < 60 ? ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc
            : (b ^ c ^ d) + 0xca62c1d6;
        uint32_t next = left(a, 5) + f + e + w[i];
        e = d, d = c, c = left(b, 30), b = a, a = next;
    }
    h[0] += a, h[1] += b, h[2] += c, h[3] += d, h[4] += e;
}

/* SHA-2. The constants of SHA-256 are the upper halves of SHA-512's first 64. */

static const uint64_t K[80] = {
    0x428a2f98d728ae22, 0x7137449123ef65cd, 0xb5c0fbcfec4d3b2f, 0xe9b5dba58189dbbc,
    0x3956c25bf348b538, 0x59f111f1b605d019, 0x923f82a4af194f9b, 0xab1c5ed5da6d8118,
    0xd807aa98a3030242, 0x12835b0145706fbe, 0x243185be4ee4b28c, 0x550c7dc3d5ffb4e2,
    0x72be5d74f27b896f, 0x80deb1fe3b1696b1, 0x9bdc06a725c71235, 0xc19bf174cf692694,
    0xe49b69c19ef14ad2, 0xefbe4786384f25e3, 0x0fc19dc68b8cd5b5, 0x240ca1cc77ac9c65,
    0x2de92c6f592b0275, 0x4a7484aa6ea6e483, 0x5cb0a9dcbd41fbd4, 0x76f988da831153b5,
    0x983e5152ee66dfab, 0xa831c66d2db43210, 0xb00327c898fb213f, 0xbf597fc7beef0ee4,
    0xc6e00bf33da88fc2, 0xd5a79147930aa725, 0x06ca6351e003826f, 0x142929670a0e6e70,
    0x27b70a8546d22ffc, 0x2e1b21385c26c926, 0x4d2c6dfc5ac42aed, 0x53380d139d95b3df,
    0x650a73548baf63de, 0x766a0abb3c77b2a8, 0x81c2c92e47edaee6, 0x92722c851482353b,
    0xa2bfe8a14cf10364, 0xa81a664bbc423001, 0xc24b8b70d0f89791, 0xc76c51a30654be30,
    0xd192e819d6ef5218, 0xd69906245565a910, 0xf40e35855771202a, 0x106aa07032bbd1b8,
    0x19a4c116b8d2d0c8, 0x1e376c085141ab53, 0x2748774cdf8eeb99, 0x34b0bcb5e19b48a8,
    0x391c0cb3c5c95a63, 0x4ed8aa4ae3418acb, 0x5b9cca4f7763e373, 0x682e6ff3d6b2b8a3,
    0x748f82ee5defb2fc, 0x78a5636f43172f60, 0x84c87814a1f0ab72, 0x8cc702081a6439ec,
    0x90befffa23631e28, 0xa4506cebde82bde9, 0xbef9a3f7b2c67915, 0xc67178f2e372532b,
    0xca273eceea26619c, 0xd186b8c721c0c207, 0xeada7dd6cde0eb1e, 0xf57d4f7fee6ed178,
    0x06f067aa72176fba, 0x0a637dc5a2c898a6, 0x113f9804bef90dae, 0x1b710b35131c471b,
    0x28db77f523047d84, 0x32caab7b40c72493, 0x3c9ebe0a15c9bebc, 0x431d67c49c100d4c,
    0x4cc5d4becb3e42b6, 0x597f299cfc657e2a, 0x5fcb6fab3ad6faec, 0x6c44198c4a475817,
};

static void sha256(void *state, const uint8_t *block)
{
    uint32_t *h = state, v[8], w[64];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 64; i++) {
        if (i < 16)
            w[i] = big32(block + 4 * i);
        else
            w[i] = w[i - 16] + w[i - 7]
                + (right(w[i - 15], 7) ^ right(w[i - 15], 18) ^ w[i - 15] >> 3)
                + (right(w[i - 2], 17) ^ right(w[i - 2], 19) ^ w[i - 2] >> 10);
        uint32_t one = v[7] + (right(v[4], 6) ^ right(v[4], 11) ^ right(v[4], 25))
            + ((v[4] & v[5]) ^ (~v[4] & v[6])) + (uint32_t)(K[i] >> 32) + w[i];
        uint32_t two = (right(v[0], 2) ^ right(v[0], 13) ^ right(v[0], 22))
            + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + one;
        v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static void sha512(void *state, const uint8_t *block)
{
    uint64_t *h = state, v[8], w[80];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 80; i++) {
        if (i < 16)
            w[i] = big64(block + 8 * i);
        else
            w[i] = w[i - 16] + w[i - 7]
                + (right64(w[i - 15], 1) ^ right64(w[i - 15], 8) ^ w[i - 15] >> 7)
                + (right64(w[i - 2], 19) ^ right64(w[i - 2], 61) ^ w[i - 2] >> 6);
        uint64_t one = v[7] + (right64(v[4], 14) ^ right64(v[4], 18) ^ right64(v[4], 41))
            + ((v[4] & v[5]) ^ (~v[4] & v[6])) + K[i] + w[i];
        uint64_t two = (right64(v[0], 28) ^ right64(v[0], 34) ^ right64(v[0], 39))
            + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        v[7] = v[6], v[6] = v[5], v[5] = v[4], v[4] = v[3] + one;
        v[3] = v[2], v[2] = v[1], v[1] = v[0], v[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

/* RIPEMD-160: two lines of five rounds. */

static const uint8_t WORDS[2][80] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 7, 4, 13, 1, 10, 6, 15, 3, 12, 0, 9,
     5, 2, 14, 11, 8, 3, 10, 14, 4, 9, 15, 8, 1, 2, 7, 0, 6, 13, 11, 5, 12, 1, 9, 11, 10, 0, 8,
     12, 4, 13, 3, 7, 15, 14, 5, 6, 2, 4, 0, 5, 9, 7, 12, 2, 10, 14, 1, 3, 8, 11, 6, 15, 13},
    {5, 14, 7, 0, 9, 2, 11, 4, 13, 6, 15, 8, 1, 10, 3, 12, 6, 11, 3, 7, 0, 13, 5, 10, 14, 15, 8,
     12, 4, 9, 1, 2, 15, 5, 1, 3, 7, 14, 6, 9, 11, 8, 12, 2, 10, 0, 4, 13, 8, 6, 4, 1, 3, 11, 15,
     0, 5, 12, 2, 13, 9, 7, 10, 14, 12, 15, 10, 4, 1, 5, 8, 7, 6, 2, 13, 14, 0, 3, 9, 11},
};
static const uint8_t TURNS[2][80] = {
    {11, 14, 15, 12, 5, 8, 7, 9, 11, 13, 14, 15, 6, 7, 9, 8, 7, 6, 8, 13, 11, 9, 7, 15, 7, 12,
     15, 9, 11, 7, 13, 12, 11, 13, 6, 7, 14, 9, 13, 15, 14, 8, 13, 6, 5, 12, 7, 5, 11, 12, 14,
     15, 14, 15, 9, 8, 9, 14, 5, 6, 8, 6, 5, 12, 9, 15, 5, 11, 6, 8, 13, 12, 5, 12, 13, 14, 11,
     8, 5, 6},
    {8, 9, 9, 11, 13, 15, 15, 5, 7, 7, 8, 11, 14, 14, 12, 6, 9, 13, 15, 7, 12, 8, 9, 11, 7, 7,
     12, 7, 6, 15, 13, 11, 9, 7, 15, 11, 8, 6, 6, 14, 12, 13, 5, 14, 13, 13, 7, 5, 15, 5, 8, 11,
     14, 14, 6, 14, 6, 9, 12, 9, 12, 5, 15, 8, 8, 5, 12, 9, 12, 5, 14, 6, 8, 13, 6, 5, 15, 13,
     11, 11},
};
static const uint32_t ADDED[2][5] = {
    {0, 0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xa953fd4e},
    {0x50a28be6, 0x5c4dd124, 0x6d703ef3, 0x7a6d76e9, 0},
};

static uint32_t mixed(int round, uint32_t x, uint32_t y, uint32_t z)
{
    switch (round) {
    case 0: return x ^ y ^ z;
    case 1: return (x & y) | (~x & z);
    case 2: return (x | ~y) ^ z;
    case 3: return (x & z) | (y & ~z);
    default: return x ^ (y | ~z);
    }
}

static void ripemd160(void *state, const uint8_t *block)
{
    uint32_t *h = state, lines[2][5];
    for (int line = 0; line < 2; line++) {
        uint32_t *v = lines[line];
        memcpy(v, h, sizeof lines[line]);
        for (int i = 0; i < 80; i++) {
            int round = i / 16;
            uint32_t next = left(v[0] + mixed(line ? 4 - round : round, v[1], v[2], v[3])
                                     + little32(block + 4 * WORDS[line][i]) + ADDED[line][round],
                                 TURNS[line][i])
                + v[4];
            v[0] = v[4], v[4] = v[3], v[3] = left(v[2], 10), v[2] = v[1], v[1] = next;
        }
    }
    uint32_t first = h[1] + lines[0][2] + lines[1][3];
    h[1] = h[2] + lines[0][3] + lines[1][4];
    h[2] = h[3] + lines[0][4] + lines[1][0];
    h[3] = h[4] + lines[0][0] + lines[1][1];
    h[4] = h[0] + lines[0][1] + lines[1][2];
    h[0] = first;
}

/* SM3 */

static void sm3(void *state, const uint8_t *block)
{
    uint32_t *h = state, v[8], w[68];
    memcpy(v, h, sizeof v);
    for (int i = 0; i < 68; i++) {
        if (i < 16) {
            w[i] = big32(block + 4 * i);
        } else {
            uint32_t x = w[i - 16] ^ w[i - 9] ^ left(w[i - 3], 15);
            w[i] = (x ^ left(x, 15) ^ left(x, 23)) ^ left(w[i - 13], 7) ^ w[i - 6];
        }
    }
    for (int i = 0; i < 64; i++) {
        uint32_t constant = i < 16 ? 0x79cc4519 : 0x7a879d8a;
        uint32_t turned = left(v[0], 12), one = left(turned + v[4] + left(constant, i), 7);
        uint32_t two = one ^ turned;
        uint32_t f = i < 16 ? v[0] ^ v[1] ^ v[2] : (v[0] & v[1]) | (v[0] & v[2]) | (v[1] & v[2]);
        uint32_t g = i < 16 ? v[4] ^ v[5] ^ v[6] : (v[4] & v[5]) | (~v[4] & v[6]);
        uint32_t x = f + v[3] + two + (w[i] ^ w[i + 4]), y = g + v[7] + one + w[i];
        v[3] = v[2], v[2] = left(v[1], 9), v[1] = v[0], v[0] = x;
        v[7] = v[6], v[6] = left(v[5], 19), v[5] = v[4], v[4] = y ^ left(y, 9) ^ left(y, 17);
    }
    for (int i = 0; i < 8; i++)
        h[i] ^= v[i];
}

/* Every one of them */

struct hash {
    const char *name;
    void (*compress)(void *state, const uint8_t *block);
    /* Sizes in bytes; `word` is that of the state's numbers. */
    int block, word, digest;
    int is_little;
    uint64_t begin[8];
};

static const struct hash HASHES[] = {
    {"sha1", sha1, 64, 4, 20, 0,
     {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
    {"sha224", sha256, 64, 4, 28, 0,
     {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939, 0xffc00b31, 0x68581511, 0x64f98fa7,
      0xbefa4fa4}},
    {"sha256", sha256, 64, 4, 32, 0,
     {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
      0x5be0cd19}},
    {"sha384", sha512, 128, 8, 48, 0,
     {0xcbbb9d5dc1059ed8, 0x629a292a367cd507, 0x9159015a3070dd17, 0x152fecd8f70e5939,
      0x67332667ffc00b31, 0x8eb44a8768581511, 0xdb0c2e0d64f98fa7, 0x47b5481dbefa4fa4}},
    {"sha512", sha512, 128, 8, 64, 0,
     {0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
      0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179}},
    {"sha512_224", sha512, 128, 8, 28, 0,
     {0x8c3d37c819544da2, 0x73e1996689dcd4d6, 0x1dfab7ae32ff9c82, 0x679dd514582f9fcf,
      0x0f6d2b697bd44da8, 0x77e36f7304c48942, 0x3f9d85a86a1d36c8, 0x1112e6ad91d692a1}},
    {"sha512_256", sha512, 128, 8, 32, 0,
     {0x22312194fc2bf72c, 0x9f555fa3c84c64c2, 0x2393b86b6f53b151, 0x963877195940eabd,
      0x96283ee2a88effe3, 0xbe5e1e2553863992, 0x2b0199fc2c85b8aa, 0x0eb72ddc81c52ca2}},
    {"ripemd160", ripemd160, 64, 4, 20, 1,
     {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}},
    {"sm3", sm3, 64, 4, 32, 0,
     {0x7380166f, 0x4914b2b9, 0x172442d7, 0xda8a0600, 0xa96f30bc, 0x163138aa, 0xe38dee4d,
      0xb0fb0e4e}},
};

/* A hash in the middle of its work. */
struct work {
    uint64_t state[8];
    uint64_t length;
    uint8_t rest[LARGEST_BLOCK];
};

static void begin(const struct hash *hash, struct work *work)
{
    memset(work, 0, sizeof *work);
    for (int i = 0; i < 8; i++) {
        if (hash->word == 4)
            ((uint32_t *)work->state)[i] = (uint32_t)hash->begin[i];
        else
            work->state[i] = hash->begin[i];
    }
}

static void update(const struct hash *hash, struct work *work, const uint8_t *data, size_t size)
{
    size_t block = (size_t)hash->block, used = work->length % block;
    work->length += size;
    if (used > 0 && used + size >= block) {
        memcpy(work->rest + used, data, block - used);
        hash->compress(work->state, work->rest);
        data += block - used, size -= block - used;
        used = 0;
    }
    for (; used == 0 && size >= block; data += block, size -= block)
        hash->compress(work->state, data);
    memcpy(work->rest + used, data, size);
}

static void finish(const struct hash *hash, struct work *work, uint8_t *digest)
{
    size_t block = (size_t)hash->block, room = block - block / 8;
    size_t used = work->length % block;
    uint64_t bits = work->length * 8;
    work->rest[used++] = 0x80;
    if (used > room) {
        memset(work->rest + used, 0, block - used);
        hash->compress(work->state, work->rest);
        used = 0;
    }
    memset(work->rest + used, 0, block - used);
    for (int i = 0; i < 8; i++)
        work->rest[hash->is_little ? room + (size_t)i : block - 1 - (size_t)i] =
            (uint8_t)(bits >> (8 * i));
    hash->compress(work->state, work->rest);
    uint8_t all[LARGEST_STATE];
    for (int i = 0; i < 8; i++) {
        if (hash->word == 8) {
            uint64_t x = __builtin_bswap64(work->state[i]);
            memcpy(all + 8 * i, &x, 8);
        } else {
            uint32_t x = ((uint32_t *)work->state)[i];
            if (!hash->is_little)
                x = __builtin_bswap32(x);
            memcpy(all + 4 * i, &x, 4);
        }
    }
    memcpy(digest, all, (size_t)hash->digest);
}

/* HMAC (RFC 2104) whose key was taken in: the inner and the outer hash after one block. */
struct hmac {
    const struct hash *hash;
    struct work inner, outer;
};

static void hmac_begin(struct hmac *hmac, const struct hash *hash, const uint8_t *key, size_t size)
{
    uint8_t pad[LARGEST_BLOCK] = {0};
    hmac->hash = hash;
    if (size > (size_t)hash->block) {
        begin(hash, &hmac->inner);
        update(hash, &hmac->inner, key, size);
        finish(hash, &hmac->inner, pad);
    } else if (size > 0) {
        memcpy(pad, key, size);
    }
    for (int i = 0; i < hash->block; i++)
        pad[i] ^= 0x36;
    begin(hash, &hmac->inner);
    update(hash, &hmac->inner, pad, (size_t)hash->block);
    for (int i = 0; i < hash->block; i++)
        pad[i] ^= 0x36 ^ 0x5c;
    begin(hash, &hmac->outer);
    update(hash, &hmac->outer, pad, (size_t)hash->block);
}

/* The rest of an HMAC, of which `inner` has read the message. */
static void hmac_finish(const struct hmac *hmac, struct work *inner, uint8_t *digest)
{
    uint8_t first[LARGEST_STATE];
    struct work outer = hmac->outer;
    finish(hmac->hash, inner, first);
    update(hmac->hash, &outer, first, (size_t)hmac->hash->digest);
    finish(hmac->hash, &outer, digest);
}

static void pbkdf2(const struct hash *hash, const Py_buffer *password, const uint8_t *salt,
                   size_t salt_size, uint64_t rounds, uint8_t *out, size_t size)
{
    struct hmac hmac;
    size_t step = (size_t)hash->digest;
    hmac_begin(&hmac, hash, password->buf, (size_t)password->len);
    for (uint32_t number = 1; size > 0; number++) {
        uint8_t part[LARGEST_STATE], sum[LARGEST_STATE];
        uint32_t order = __builtin_bswap32(number);
        struct work work = hmac.inner;
        update(hash, &work, salt, salt_size);
        update(hash, &work, (const uint8_t *)&order, 4);
        hmac_finish(&hmac, &work, part);
        memcpy(sum, part, step);
        for (uint64_t i = 1; i < rounds; i++) {
            work = hmac.inner;
            update(hash, &work, part, step);
            hmac_finish(&hmac, &work, part);
            for (size_t j = 0; j < step; j++)
                sum[j] ^= part[j];
        }
        size_t most = size < step ? size : step;
        memcpy(out, sum, most);
        out += most, size -= most;
    }
}

/* scrypt */

static void salsa(uint32_t *b)
{
    static const uint8_t ROUNDS[8][4] = {
        {0, 4, 8, 12}, {5, 9, 13, 1}, {10, 14, 2, 6}, {15, 3, 7, 11},
        {0, 1, 2, 3}, {5, 6, 7, 4}, {10, 11, 8, 9}, {15, 12, 13, 14},
    };
    uint32_t x[16];
    memcpy(x, b, sizeof x);
    for (int round = 0; round < 4; round++) {
#pragma clang loop unroll(full)
        for (int i = 0; i < 8; i++) {
            const uint8_t *q = ROUNDS[i];
            x[q[1]] ^= left(x[q[0]] + x[q[3]], 7);
            x[q[2]] ^= left(x[q[1]] + x[q[0]], 9);
            x[q[3]] ^= left(x[q[2]] + x[q[1]], 13);
            x[q[0]] ^= left(x[q[3]] + x[q[2]], 18);
        }
    }
    for (int i = 0; i < 16; i++)
        b[i] += x[i];
}

/* From `b`, of 2r blocks of 16 words, to `y`. */
static void mix_blocks(const uint32_t *b, uint32_t *y, size_t r)
{
    uint32_t x[16];
    memcpy(x, b + (2 * r - 1) * 16, sizeof x);
    for (size_t i = 0; i < 2 * r; i++) {
        for (int j = 0; j < 16; j++)
            x[j] ^= b[i * 16 + (size_t)j];
        salsa(x);
        memcpy(y + (i / 2 + (i & 1) * r) * 16, x, sizeof x);
    }
}

static void mix(uint32_t *b, size_t r, size_t n, uint32_t *memory, uint32_t *other)
{
    size_t words = 32 * r;
    for (size_t i = 0; i < n; i++) {
        memcpy(memory + i * words, b, words * 4);
        mix_blocks(memory + i * words, b, r);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t *chosen = memory + (b[(2 * r - 1) * 16] & (n - 1)) * words;
        for (size_t j = 0; j < words; j++)
            other[j] = b[j] ^ chosen[j];
        mix_blocks(other, b, r);
    }
}

/* The module */

static const struct hash *hash_of(const char *name)
{
    for (size_t i = 0; i < sizeof HASHES / sizeof *HASHES; i++)
        if (strcmp(HASHES[i].name, name) == 0)
            return &HASHES[i];
    PyErr_Format(PyExc_ValueError, "unsupported hash type %s", name);
    return NULL;
}

static PyObject *module_sizes(PyObject *module, PyObject *args)
{
    const char *name;
    if (!PyArg_ParseTuple(args, "s", &name))
        return NULL;
    const struct hash *hash = hash_of(name);
    return hash == NULL ? NULL : Py_BuildValue("ii", hash->digest, hash->block);
}

/* update(name, work or None, data): the work as bytes after the data. */
static PyObject *module_update(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *before;
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "sOy*", &name, &before, &data))
        return NULL;
    struct work work;
    const struct hash *hash = hash_of(name);
    PyObject *after = NULL;
    if (hash != NULL) {
        if (before == Py_None)
            begin(hash, &work);
        else if (PyBytes_Check(before) && PyBytes_GET_SIZE(before) == sizeof work)
            memcpy(&work, PyBytes_AS_STRING(before), sizeof work);
        else
            hash = NULL;
    }
    if (hash != NULL) {
        update(hash, &work, data.buf, (size_t)data.len);
        after = PyBytes_FromStringAndSize((const char *)&work, sizeof work);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_TypeError, "no work of a hash");
    }
    PyBuffer_Release(&data);
    return after;
}

static PyObject *module_digest(PyObject *module, PyObject *args)
{
    const char *name, *before;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "sy#", &name, &before, &size))
        return NULL;
    const struct hash *hash = hash_of(name);
    struct work work;
    if (hash == NULL)
        return NULL;
    if (size != sizeof work)
        return PyErr_Format(PyExc_TypeError, "no work of a hash");
    uint8_t digest[LARGEST_STATE];
    memcpy(&work, before, sizeof work);
    finish(hash, &work, digest);
    return PyBytes_FromStringAndSize((const char *)digest, hash->digest);
}

static PyObject *module_pbkdf2(PyObject *module, PyObject *args)
{
    const char *name;
    Py_buffer password, salt;
    unsigned long long rounds;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "sy*y*Kn", &name, &password, &salt, &rounds, &size))
        return NULL;
    const struct hash *hash = hash_of(name);
    PyObject *key = hash == NULL ? NULL : PyBytes_FromStringAndSize(NULL, size);
    if (key != NULL)
        pbkdf2(hash, &password, salt.buf, (size_t)salt.len, rounds,
               (uint8_t *)PyBytes_AS_STRING(key), (size_t)size);
    PyBuffer_Release(&password);
    PyBuffer_Release(&salt);
    return key;
}

static PyObject *module_scrypt(PyObject *module, PyObject *args)
{
    Py_buffer password, salt;
    Py_ssize_t n, r, p, size;
    if (!PyArg_ParseTuple(args, "y*y*nnnn", &password, &salt, &n, &r, &p, &size))
        return NULL;
    PyObject *key = NULL;
    const struct hash *hash = hash_of("sha256");
    /* The caller has checked that the sum of these does not overflow. */
    size_t block = 128 * (size_t)r;
    uint8_t *blocks = PyMem_RawMalloc(block * (size_t)p);
    uint32_t *memory = PyMem_RawMalloc(block * (size_t)n + block);
    if (blocks == NULL || memory == NULL) {
        PyErr_NoMemory();
    } else if ((key = PyBytes_FromStringAndSize(NULL, size)) != NULL) {
        pbkdf2(hash, &password, salt.buf, (size_t)salt.len, 1, blocks, block * (size_t)p);
        for (Py_ssize_t i = 0; i < p; i++)
            mix((uint32_t *)(blocks + block * (size_t)i), (size_t)r, (size_t)n, memory,
                memory + block / 4 * (size_t)n);
        pbkdf2(hash, &password, blocks, block * (size_t)p, 1, (uint8_t *)PyBytes_AS_STRING(key),
               (size_t)size);
    }
    PyMem_RawFree(blocks);
    PyMem_RawFree(memory);
    PyBuffer_Release(&password);
    PyBuffer_Release(&salt);
    return key;
}

static PyMethodDef methods[] = {
    {"sizes", module_sizes, METH_VARARGS, NULL},
    {"update", module_update, METH_VARARGS, NULL},
    {"digest", module_digest, METH_VARARGS, NULL},
    {"pbkdf2", module_pbkdf2, METH_VARARGS, NULL},
    {"scrypt", module_scrypt, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_wasibox_hash",
    .m_size = 0,
    .m_methods = methods,
};

PyObject *PyInit__wasibox_hash(void)
{
    return PyModuleDef_Init(&definition);
}
