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
