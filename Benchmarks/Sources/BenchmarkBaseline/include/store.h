// The same work in C over SQLite: the store's tables, settings, documents and order.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct baseline_store baseline_store;

/// Documents of one size, one behind the other, with an ObjectId at one place and int32s at others.
typedef struct {
    const uint8_t *bytes;
    size_t count;
    size_t size;
    size_t id_offset;
    size_t group_offset;
    size_t number_offset;
    /// The documents' numbers in the order in which they are looked up.
    const uint32_t *order;
} baseline_documents;

/// Makes a new file with the tables; `indexed` adds one for an index on `n`.
baseline_store *baseline_store_open(const char *path, baseline_documents documents, int indexed);
void baseline_store_close(baseline_store *store);

/// Inserts documents from a number on; `each` commits every one of them, else all at once.
void baseline_store_insert(baseline_store *store, size_t from, long count, int each);
/// Looks documents up by their id; `held` keeps one read transaction.
uint64_t baseline_store_get(baseline_store *store, long count, int held);
/// Counts the documents whose `group` is 7, so many times over.
uint64_t baseline_store_scan(baseline_store *store, long rounds);
/// Adds one to `group` of documents by their id; `each` commits every change.
void baseline_store_update(baseline_store *store, long count, int each);
/// Looks documents up by `n` through the index.
uint64_t baseline_store_index_get(baseline_store *store, long count);
/// Reads the 100 documents from some `n` on through the index.
uint64_t baseline_store_index_range(baseline_store *store, long count);
