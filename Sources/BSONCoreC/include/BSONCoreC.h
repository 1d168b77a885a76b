#pragma once

/// Installs the script engine of queries; does nothing in a program without the module BSONScript.
///
/// It is a weak symbol, which BSONScript defines anew: whether that module is linked decides, and no
/// call from above has to come first.
void bsonstore_install_scripts(void);

/// The budget of the work that this thread does, and the steps until it is asked again.
///
/// They lie in budget.c, once for all modules.
extern _Thread_local void *bsonstore_budget;
extern _Thread_local int bsonstore_steps_left;

static inline void *bsonstore_get_budget(void) { return bsonstore_budget; }

#ifdef BUDGET_GAPS
/// Appends to the file that the environment variable BUDGET_GAPS names what took this thread more than
/// a millisecond since it last asked its budget: the time, and the calls at this question.
void bsonstore_note_gap(_Bool is_work);
#endif

static inline void bsonstore_set_budget(void *budget) {
#ifdef BUDGET_GAPS
  bsonstore_note_gap(bsonstore_budget != 0);
#endif
  bsonstore_budget = budget;
  bsonstore_steps_left = 0;
}

/// Counts steps; true when it is time to ask the budget.
static inline _Bool bsonstore_spend(int steps) {
  if (bsonstore_budget == 0) return 0;
  bsonstore_steps_left -= steps;
  return bsonstore_steps_left < 0;
}

static inline void bsonstore_refill(int steps) {
#ifdef BUDGET_GAPS
  bsonstore_note_gap(1);
#endif
  bsonstore_steps_left = steps;
}

/// Computes the SHA-256 of bytes, which is 32 bytes long.
///
/// Source: FIPS 180-4.
void bsonstore_sha256(const unsigned char *bytes, long count, unsigned char *hash);

/// A SHA-256 of bytes that come one after the other.
typedef struct {
  unsigned state[8];
  unsigned char block[64];
  unsigned long long count;
} bsonstore_digest;

void bsonstore_digest_begin(bsonstore_digest *digest);
void bsonstore_digest_add(bsonstore_digest *digest, const unsigned char *bytes, long count);
void bsonstore_digest_finish(bsonstore_digest *digest, unsigned char *hash);

/// Computes the HMAC-SHA-256 of bytes, which is 32 bytes long.
///
/// Source: RFC 2104.
void bsonstore_hmac_sha256(const unsigned char *key, long key_count, const unsigned char *bytes,
                           long count, unsigned char *code);

/// Derives a key of 32 bytes from a secret by PBKDF2 with HMAC-SHA-256.
///
/// Source: RFC 8018, section 5.2.
void bsonstore_pbkdf2_sha256(const unsigned char *secret, long secret_count,
                             const unsigned char *salt, long salt_count, int rounds,
                             unsigned char *key);

/// CRC-32 with Castagnoli's polynomial where the processor computes it: a byte in a third of a cycle.
/// The sum is neither begun nor ended with a complement here.
#if defined(__x86_64__)
static inline _Bool bsonstore_has_crc32c(void) {
  unsigned a = 1, b = 0, c = 0, d = 0;
  __asm__("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
  return (c >> 20 & 1) == 1;
}

__attribute__((target("sse4.2"))) static inline unsigned bsonstore_crc32c(
    unsigned sum, const void *bytes, long count) {
  const unsigned char *at = (const unsigned char *)bytes;
  unsigned long long wide = sum;
  for (; count >= 8; count -= 8, at += 8) {
    unsigned long long word;
    __builtin_memcpy(&word, at, 8);
    wide = __builtin_ia32_crc32di(wide, word);
  }
  sum = (unsigned)wide;
  for (; count > 0; count--) sum = __builtin_ia32_crc32qi(sum, *at++);
  return sum;
}
#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32)
static inline _Bool bsonstore_has_crc32c(void) { return 1; }

static inline unsigned bsonstore_crc32c(unsigned sum, const void *bytes, long count) {
  const unsigned char *at = (const unsigned char *)bytes;
  for (; count >= 8; count -= 8, at += 8) {
    unsigned long long word;
    __builtin_memcpy(&word, at, 8);
    sum = __builtin_arm_crc32cd(sum, word);
  }
  for (; count > 0; count--) sum = __builtin_arm_crc32cb(sum, *at++);
  return sum;
}
#else
static inline _Bool bsonstore_has_crc32c(void) { return 0; }

static inline unsigned bsonstore_crc32c(unsigned sum, const void *bytes, long count) {
  (void)bytes;
  (void)count;
  return sum;
}
#endif
