#include <string.h>

#include "BSONCoreC.h"

// SHA-256 (FIPS 180-4), HMAC (RFC 2104) and PBKDF2 (RFC 8018), so that an app that embeds the library
// needs no cryptographic one. It is here and not in Swift, since builds without optimisation run it, too.

typedef bsonstore_digest sha256;

static const unsigned constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static unsigned turned(unsigned word, int by) { return word >> by | word << (32 - by); }

static void take(sha256 *digest, const unsigned char *block) {
  unsigned words[64];
  for (int i = 0; i < 16; i++)
    words[i] = (unsigned)block[4 * i] << 24 | (unsigned)block[4 * i + 1] << 16 |
               (unsigned)block[4 * i + 2] << 8 | block[4 * i + 3];
  for (int i = 16; i < 64; i++) {
    unsigned x = words[i - 15], y = words[i - 2];
    words[i] = words[i - 16] + (turned(x, 7) ^ turned(x, 18) ^ x >> 3) + words[i - 7] +
               (turned(y, 17) ^ turned(y, 19) ^ y >> 10);
  }
  unsigned *s = digest->state;
  unsigned a = s[0], b = s[1], c = s[2], d = s[3], e = s[4], f = s[5], g = s[6], h = s[7];
  for (int i = 0; i < 64; i++) {
    unsigned first = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) +
                     constants[i] + words[i];
    unsigned second =
        (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g, g = f, f = e, e = d + first, d = c, c = b, b = a, a = first + second;
  }
  s[0] += a, s[1] += b, s[2] += c, s[3] += d, s[4] += e, s[5] += f, s[6] += g, s[7] += h;
}

static void begin(sha256 *digest) {
  static const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                    0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  memcpy(digest->state, start, sizeof start);
  digest->count = 0;
}

static void add(sha256 *digest, const unsigned char *bytes, long count) {
  while (count > 0) {
    long held = (long)(digest->count % 64), part = count < 64 - held ? count : 64 - held;
    memcpy(digest->block + held, bytes, (size_t)part);
    digest->count += (unsigned long long)part;
    if (held + part == 64) take(digest, digest->block);
    bytes += part;
    count -= part;
  }
}

static void finish(sha256 *digest, unsigned char *hash) {
  static const unsigned char padding[64] = {0x80};
  unsigned long long bits = digest->count * 8;
  unsigned char length[8];
  for (int i = 0; i < 8; i++) length[i] = (unsigned char)(bits >> (56 - 8 * i));
  add(digest, padding, (long)(64 - (digest->count + 8) % 64));
  add(digest, length, 8);
  for (int i = 0; i < 32; i++) hash[i] = (unsigned char)(digest->state[i / 4] >> (24 - 8 * (i % 4)));
}

void bsonstore_digest_begin(bsonstore_digest *digest) { begin(digest); }

void bsonstore_digest_add(bsonstore_digest *digest, const unsigned char *bytes, long count) {
  add(digest, bytes, count);
}

void bsonstore_digest_finish(bsonstore_digest *digest, unsigned char *hash) {
  finish(digest, hash);
}

void bsonstore_sha256(const unsigned char *bytes, long count, unsigned char *hash) {
  sha256 digest;
  begin(&digest);
  add(&digest, bytes, count);
  finish(&digest, hash);
}

// The two digests of HMAC after their blocks of the key, from which each code of that key goes on.
typedef struct {
  sha256 inner, outer;
} hmac_key;

static void begin_key(hmac_key *key, const unsigned char *bytes, long count) {
  unsigned char block[64] = {0}, padded[64];
  if (count > 64)
    bsonstore_sha256(bytes, count, block);
  else if (count > 0)
    memcpy(block, bytes, (size_t)count);
  for (int i = 0; i < 64; i++) padded[i] = block[i] ^ 0x36;
  begin(&key->inner);
  add(&key->inner, padded, 64);
  for (int i = 0; i < 64; i++) padded[i] = block[i] ^ 0x5c;
  begin(&key->outer);
  add(&key->outer, padded, 64);
}

// Ends a code whose bytes were added to a copy of the key's inner digest.
static void finish_code(const hmac_key *key, sha256 *inner, unsigned char *code) {
  sha256 outer = key->outer;
  finish(inner, code);
  add(&outer, code, 32);
  finish(&outer, code);
}

void bsonstore_hmac_sha256(const unsigned char *key, long key_count, const unsigned char *bytes,
                           long count, unsigned char *code) {
  hmac_key begun;
  begin_key(&begun, key, key_count);
  sha256 inner = begun.inner;
  add(&inner, bytes, count);
  finish_code(&begun, &inner, code);
}

void bsonstore_pbkdf2_sha256(const unsigned char *secret, long secret_count,
                             const unsigned char *salt, long salt_count, int rounds,
                             unsigned char *key) {
  static const unsigned char first_block[4] = {0, 0, 0, 1};
  unsigned char part[32];
  hmac_key begun;
  begin_key(&begun, secret, secret_count);
  memset(key, 0, 32);
  for (int round = 0; round < rounds; round++) {
    sha256 inner = begun.inner;
    if (round == 0) {
      add(&inner, salt, salt_count);
      add(&inner, first_block, 4);
    } else {
      add(&inner, part, 32);
    }
    finish_code(&begun, &inner, part);
    for (int i = 0; i < 32; i++) key[i] ^= part[i];
  }
}
