#include "store.h"
#include "baseline.h"
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_SIZE = 13, NUMBER_KEY_SIZE = 9, RANGE = 100 };

struct baseline_store {
    sqlite3 *db;
    baseline_documents documents;
    int indexed;
    size_t next, next_update;
    uint8_t *scratch;
    sqlite3_stmt *begin, *read, *commit, *insert, *insert_index, *get, *scan, *update, *index_get, *index_range;
};

static void check(baseline_store *s, int result, const char *what) {
    if (result == SQLITE_OK || result == SQLITE_ROW || result == SQLITE_DONE) return;
    fprintf(stderr, "baseline: %s: %s\n", what, sqlite3_errmsg(s->db));
    exit(1);
}

static void run(baseline_store *s, const char *sql) { check(s, sqlite3_exec(s->db, sql, 0, 0, 0), sql); }

static sqlite3_stmt *prepare(baseline_store *s, const char *sql) {
    sqlite3_stmt *statement;
    check(s, sqlite3_prepare_v3(s->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &statement, 0), sql);
    return statement;
}

static void step(baseline_store *s, sqlite3_stmt *statement) {
    check(s, sqlite3_step(statement), "step");
    sqlite3_reset(statement);
}

baseline_store *baseline_store_open(const char *path, baseline_documents documents, int indexed) {
    baseline_store *s = calloc(1, sizeof *s);
    s->documents = documents;
    s->indexed = indexed;
    s->scratch = malloc(documents.size);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    check(s, sqlite3_open_v2(path, &s->db, flags, 0), "open");
    run(s, "PRAGMA page_size=8192; PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA cache_size=-65536;"
           "PRAGMA mmap_size=0; PRAGMA wal_autocheckpoint=1000; PRAGMA temp_store=memory; PRAGMA cell_size_check=ON;"
           "CREATE TABLE d(id INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, doc BLOB NOT NULL);"
           "CREATE TABLE x(k BLOB, id INTEGER, PRIMARY KEY(k, id)) WITHOUT ROWID");
    s->begin = prepare(s, "BEGIN IMMEDIATE");
    s->read = prepare(s, "BEGIN");
    s->commit = prepare(s, "COMMIT");
    s->insert = prepare(s, "INSERT INTO d(key, doc) VALUES(?1, ?2)");
    s->insert_index = prepare(s, "INSERT INTO x(k, id) VALUES(?1, ?2)");
    s->get = prepare(s, "SELECT doc FROM d WHERE key = ?1");
    s->scan = prepare(s, "SELECT doc FROM d");
    s->update = prepare(s, "UPDATE d SET doc = ?2 WHERE key = ?1");
    s->index_get = prepare(s, "SELECT d.doc FROM x CROSS JOIN d ON d.id = x.id WHERE x.k = ?1");
    s->index_range =
        prepare(s, "SELECT d.doc FROM x CROSS JOIN d ON d.id = x.id WHERE x.k >= ?1 ORDER BY x.k LIMIT 100");
    return s;
}

void baseline_store_close(baseline_store *s) {
    sqlite3_stmt *statement;
    while ((statement = sqlite3_next_stmt(s->db, 0))) sqlite3_finalize(statement);
    check(s, sqlite3_close(s->db), "close");
    free(s->scratch);
    free(s);
}

static const uint8_t *document(baseline_store *s, size_t number) {
    return s->documents.bytes + number % s->documents.count * s->documents.size;
}

static void key_of(baseline_store *s, const uint8_t *document, uint8_t *key) {
    key[0] = 0x48;
    memcpy(key + 1, document + s->documents.id_offset, KEY_SIZE - 1);
}

static void number_key(int32_t number, uint8_t *key) {
    double d = number;
    uint64_t bits;
    memcpy(&bits, &d, 8);
    bits = bits >> 63 ? ~bits : bits | 1ull << 63;
    key[0] = 0x20;
    bits = __builtin_bswap64(bits);
    memcpy(key + 1, &bits, 8);
}

static int32_t number_of(baseline_store *s, const uint8_t *document) {
    int32_t number;
    memcpy(&number, document + s->documents.number_offset, 4);
    return number;
}

void baseline_store_insert(baseline_store *s, size_t from, long count, int each) {
    uint8_t key[KEY_SIZE], k[NUMBER_KEY_SIZE];
    if (!each) step(s, s->begin);
    for (long i = 0; i < count; i++) {
        const uint8_t *d = document(s, from + (size_t)i);
        key_of(s, d, key);
        if (each) step(s, s->begin);
        sqlite3_bind_blob(s->insert, 1, key, KEY_SIZE, SQLITE_STATIC);
        sqlite3_bind_blob(s->insert, 2, d, (int)s->documents.size, SQLITE_STATIC);
        step(s, s->insert);
        if (s->indexed) {
            number_key(number_of(s, d), k);
            sqlite3_bind_blob(s->insert_index, 1, k, NUMBER_KEY_SIZE, SQLITE_STATIC);
            sqlite3_bind_int64(s->insert_index, 2, sqlite3_last_insert_rowid(s->db));
            step(s, s->insert_index);
        }
        if (each) step(s, s->commit);
    }
    if (!each) step(s, s->commit);
}

uint64_t baseline_store_get(baseline_store *s, long count, int held) {
    uint64_t h = 0;
    uint8_t key[KEY_SIZE];
    if (held) step(s, s->read);
    for (long i = 0; i < count; i++) {
        size_t at = s->documents.order[s->next++ % s->documents.count];
        key_of(s, document(s, at), key);
        sqlite3_bind_blob(s->get, 1, key, KEY_SIZE, SQLITE_STATIC);
        check(s, sqlite3_step(s->get) == SQLITE_ROW ? SQLITE_OK : SQLITE_NOTFOUND, "get");
        const uint8_t *d = sqlite3_column_blob(s->get, 0);
        int size = sqlite3_column_bytes(s->get, 0);
        h += d[s->documents.number_offset] + d[size - 1] + (unsigned)size;
        sqlite3_reset(s->get);
    }
    if (held) step(s, s->commit);
    return h;
}

/// The int32 of a field, found by hand without any check.
static int32_t find_int32(const uint8_t *p, const char *name, size_t count) {
    uint8_t type;
    p += 4;
    while ((type = *p++)) {
        size_t key = strlen((const char *)p);
        int found = key == count && !memcmp(p, name, count);
        uint32_t length;
        p += key + 1;
        if (found && type == 16) {
            int32_t value;
            memcpy(&value, p, 4);
            return value;
        }
        switch (type) {
        case 1: case 9: case 17: case 18: p += 8; break;
        case 16: p += 4; break;
        case 8: p++; break;
        case 7: p += 12; break;
        case 2: memcpy(&length, p, 4); p += 4 + length; break;
        case 3: case 4: memcpy(&length, p, 4); p += length; break;
        case 5: memcpy(&length, p, 4); p += 5 + length; break;
        default: return -1;
        }
    }
    return -1;
}

uint64_t baseline_store_scan(baseline_store *s, long rounds) {
    uint64_t found = 0;
    for (long i = 0; i < rounds; i++) {
        while (sqlite3_step(s->scan) == SQLITE_ROW) {
            const uint8_t *d = sqlite3_column_blob(s->scan, 0);
            found += (unsigned)sqlite3_column_bytes(s->scan, 0) > 4 && find_int32(d, "group", 5) == 7;
        }
        sqlite3_reset(s->scan);
    }
    return found;
}

void baseline_store_update(baseline_store *s, long count, int each) {
    uint8_t key[KEY_SIZE];
    size_t size = s->documents.size;
    if (!each) step(s, s->begin);
    for (long i = 0; i < count; i++) {
        key_of(s, document(s, s->documents.order[s->next_update++ % s->documents.count]), key);
        if (each) step(s, s->begin);
        sqlite3_bind_blob(s->get, 1, key, KEY_SIZE, SQLITE_STATIC);
        check(s, sqlite3_step(s->get) == SQLITE_ROW ? SQLITE_OK : SQLITE_NOTFOUND, "get");
        memcpy(s->scratch, sqlite3_column_blob(s->get, 0), size);
        sqlite3_reset(s->get);
        int32_t group;
        memcpy(&group, s->scratch + s->documents.group_offset, 4);
        group++;
        memcpy(s->scratch + s->documents.group_offset, &group, 4);
        sqlite3_bind_blob(s->update, 1, key, KEY_SIZE, SQLITE_STATIC);
        sqlite3_bind_blob(s->update, 2, s->scratch, (int)size, SQLITE_STATIC);
        step(s, s->update);
        if (each) step(s, s->commit);
    }
    if (!each) step(s, s->commit);
}

uint64_t baseline_store_index_get(baseline_store *s, long count) {
    uint64_t h = 0;
    uint8_t k[NUMBER_KEY_SIZE];
    for (long i = 0; i < count; i++) {
        number_key(number_of(s, document(s, s->documents.order[s->next++ % s->documents.count])), k);
        sqlite3_bind_blob(s->index_get, 1, k, NUMBER_KEY_SIZE, SQLITE_STATIC);
        check(s, sqlite3_step(s->index_get) == SQLITE_ROW ? SQLITE_OK : SQLITE_NOTFOUND, "index");
        h += ((const uint8_t *)sqlite3_column_blob(s->index_get, 0))[s->documents.number_offset];
        sqlite3_reset(s->index_get);
    }
    return h;
}

uint64_t baseline_store_index_range(baseline_store *s, long count) {
    uint64_t h = 0;
    uint8_t k[NUMBER_KEY_SIZE];
    for (long i = 0; i < count; i++) {
        size_t from = s->documents.order[s->next++ % s->documents.count] % (s->documents.count - RANGE);
        number_key((int32_t)from, k);
        sqlite3_bind_blob(s->index_range, 1, k, NUMBER_KEY_SIZE, SQLITE_STATIC);
        long seen = 0;
        while (sqlite3_step(s->index_range) == SQLITE_ROW) {
            h += ((const uint8_t *)sqlite3_column_blob(s->index_range, 0))[s->documents.number_offset];
            seen++;
        }
        check(s, seen == RANGE ? SQLITE_OK : SQLITE_NOTFOUND, "range");
        sqlite3_reset(s->index_range);
    }
    return h;
}
