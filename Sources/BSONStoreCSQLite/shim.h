#pragma once
#include <sqlite3.h>
// glibc's own headers define __GLIBC__, and SQLite's includes none of them.
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

/// Variadic functions are not imported into Swift; each is wrapped for the one form that is used.
static inline int bsonstore_sqlite3_defensive(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, on, (int *)0);
}

/// The last connection that closes then leaves the log as it is.
static inline int bsonstore_sqlite3_keep_log(sqlite3 *db) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

/// Schemas of foreign files must not run functions: https://www.sqlite.org/security.html
static inline int bsonstore_sqlite3_trusted_schema(sqlite3 *db, int on) {
  return sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, on, (int *)0);
}

/// For tests that let memory run out: before SQLite is used for the first time.
static inline int bsonstore_sqlite3_get_memory(sqlite3_mem_methods *methods) {
  return sqlite3_config(SQLITE_CONFIG_GETMALLOC, methods);
}

static inline int bsonstore_sqlite3_set_memory(const sqlite3_mem_methods *methods) {
  return sqlite3_config(SQLITE_CONFIG_MALLOC, methods);
}

/// Sets how many arenas the C library has at most, the free bytes that each keeps at its end, and from which
/// size on a block is mapped by itself; elsewhere than in glibc there are no such settings.
///
/// Without them glibc raises the two sizes to 64 and 32 MiB as soon as a large block was freed, and
/// malloc_trim passes over the end of every arena but the first.
static inline void bsonstore_limit_arenas(int count, int kept, int mapped) {
#ifdef __GLIBC__
  mallopt(M_ARENA_MAX, count);
  mallopt(M_TRIM_THRESHOLD, kept);
  mallopt(M_MMAP_THRESHOLD, mapped);
#else
  (void)count;
  (void)kept;
  (void)mapped;
#endif
}

/// How many bytes the program has taken and not given back; 0 where the C library does not tell.
static inline unsigned long bsonstore_bytes_taken(void) {
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
#else
  return 0;
#endif
}

/// Returns the C library's free memory to the system.
static inline void bsonstore_trim(void) {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

/// Asks the processor for bytes that are about to be read from front to back, a cache line after the other:
/// where each read says where the next one is, they would be waited for one by one. Behind the first
/// kilobyte it sees by itself what is wanted.
static inline void bsonstore_prefetch(const void *bytes, long count) {
  for (long at = 64; at < count && at < 1024; at += 64)
    __builtin_prefetch((const char *)bytes + at);
}

/// What the work of this thread may still take; only one file of Swift calls these, as each that does
/// has variables of its own.
static _Thread_local void *bsonstore_budget = 0;
static _Thread_local int bsonstore_steps_left = 0;

static inline void *bsonstore_get_budget(void) { return bsonstore_budget; }

static inline void bsonstore_set_budget(void *budget) {
  bsonstore_budget = budget;
  bsonstore_steps_left = 0;
}

/// Counts steps; true when it is time to ask the budget.
static inline _Bool bsonstore_spend(int steps) {
  if (bsonstore_budget == 0) return 0;
  bsonstore_steps_left -= steps;
  return bsonstore_steps_left < 0;
}

static inline void bsonstore_refill(int steps) { bsonstore_steps_left = steps; }

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
