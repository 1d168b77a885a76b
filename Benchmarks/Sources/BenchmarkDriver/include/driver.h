#pragma once
#include <stddef.h>

/* The operations that are measured; documents are {_id: i, n: i, group: i % 100, pad: 200 bytes}. */
enum driver_row {
    DRIVER_PING,
    DRIVER_INSERT,
    DRIVER_FIND_BY_ID,
    DRIVER_FIND_INDEXED,
    DRIVER_UPDATE,
    DRIVER_AGGREGATE,
    DRIVER_CURSOR,
    DRIVER_INSERT_500,
    DRIVER_COUNT,
};

/* Runs a command on the database admin, as Extended JSON. */
int driver_command(const char *uri, const char *json);

/* Fills the collection bench.items with 10,000 documents and an index on n. */
int driver_prepare(const char *uri);

/* Does an operation so often on each of some connections at once, and notes how long each took. */
int driver_run(
    const char *uri, enum driver_row row, size_t connections, size_t count, double *nanoseconds);

/* Lets so many change streams, each on its own connection and thread, wait for documents that a writer
 * then inserts; notes how long it took from the first insert until each stream had seen all. */
int driver_follow(
    const char *uri, const char *writer, size_t readers, size_t documents, double *nanoseconds);
