#include "driver.h"

#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DOCUMENTS = 10000 };

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1e9 + time.tv_nsec;
}

static int fail(const bson_error_t *error) {
    fprintf(stderr, "the driver: %s\n", error->message);
    return 1;
}

static void silent(
    mongoc_log_level_t level, const char *domain, const char *message, void *data) {
    (void)level, (void)domain, (void)message, (void)data;
}

static mongoc_client_t *connect_to(const char *uri) {
    mongoc_init();
    mongoc_log_set_handler(silent, NULL);
    return mongoc_client_new(uri);
}

static bson_t *document(int number) {
    static const char pad[] =
        "..................................................................................."
        "..................................................................................."
        "..................................";
    return BCON_NEW(
        "_id", BCON_INT32(number), "n", BCON_INT32(number), "group", BCON_INT32(number % 100),
        "pad", BCON_UTF8(pad));
}

int driver_prepare(const char *uri) {
    mongoc_client_t *client = connect_to(uri);
    mongoc_collection_t *items = mongoc_client_get_collection(client, "bench", "items");
    bson_t *documents[DOCUMENTS];
    bson_error_t error;
    for (int i = 0; i < DOCUMENTS; i++) documents[i] = document(i);
    bson_t *index = BCON_NEW(
        "createIndexes", "items", "indexes", "[", "{", "key", "{", "n", BCON_INT32(1), "}",
        "name", "n_1", "}", "]");
    int failed =
        !mongoc_collection_insert_many(
            items, (const bson_t **)documents, DOCUMENTS, NULL, NULL, &error)
        || !mongoc_client_write_command_with_opts(client, "bench", index, NULL, NULL, &error);
    if (failed) fail(&error);
    for (int i = 0; i < DOCUMENTS; i++) bson_destroy(documents[i]);
    bson_destroy(index), mongoc_collection_destroy(items), mongoc_client_destroy(client);
    return failed;
}

int driver_command(const char *uri, const char *json) {
    mongoc_client_t *client = connect_to(uri);
    bson_error_t error;
    bson_t *command = bson_new_from_json((const uint8_t *)json, -1, &error);
    int failed = !command
        || !mongoc_client_command_simple(client, "admin", command, NULL, NULL, &error);
    if (failed) fail(&error);
    if (command) bson_destroy(command);
    mongoc_client_destroy(client);
    return failed;
}

/* Reads a cursor to its end; the number of documents, or -1. */
static int drain(mongoc_cursor_t *cursor, bson_error_t *error) {
    const bson_t *found;
    int count = 0;
    while (mongoc_cursor_next(cursor, &found)) count++;
    if (mongoc_cursor_error(cursor, error)) count = -1;
    mongoc_cursor_destroy(cursor);
    return count;
}

static int once(
    mongoc_client_t *client, mongoc_collection_t *items, enum driver_row row, int number,
    bson_error_t *error) {
    bson_t *body = NULL, *second = NULL;
    bool done = false;
    int place = number % DOCUMENTS;
    switch (row) {
    case DRIVER_PING:
        body = BCON_NEW("ping", BCON_INT32(1));
        done = mongoc_client_command_simple(client, "admin", body, NULL, NULL, error);
        break;
    case DRIVER_INSERT:
        body = document(1000000 + number);
        done = mongoc_collection_insert_one(items, body, NULL, NULL, error);
        break;
    case DRIVER_FIND_BY_ID:
        body = BCON_NEW("_id", BCON_INT32(place));
        done = drain(mongoc_collection_find_with_opts(items, body, NULL, NULL), error) == 1;
        break;
    case DRIVER_FIND_INDEXED:
        body = BCON_NEW(
            "n", "{", "$gte", BCON_INT32(place % 9900), "$lt", BCON_INT32(place % 9900 + 10), "}");
        done = drain(mongoc_collection_find_with_opts(items, body, NULL, NULL), error) == 10;
        break;
    case DRIVER_UPDATE:
        body = BCON_NEW("_id", BCON_INT32(place));
        second = BCON_NEW("$inc", "{", "group", BCON_INT32(1), "}");
        done = mongoc_collection_update_one(items, body, second, NULL, NULL, error);
        break;
    case DRIVER_AGGREGATE:
        body = BCON_NEW(
            "pipeline", "[", "{", "$match", "{", "n", "{", "$lt", BCON_INT32(1000), "}", "}", "}",
            "{", "$group", "{", "_id", "$group", "n", "{", "$sum", "$n", "}", "}", "}", "]");
        done = drain(mongoc_collection_aggregate(items, 0, body, NULL, NULL), error) > 0;
        break;
    case DRIVER_INSERT_500: {
        bson_t *documents[500];
        for (int i = 0; i < 500; i++) documents[i] = document(10000000 + number * 500 + i);
        done = mongoc_collection_insert_many(
            items, (const bson_t **)documents, 500, NULL, NULL, error);
        for (int i = 0; i < 500; i++) bson_destroy(documents[i]);
        break;
    }
    case DRIVER_COUNT:
        body = BCON_NEW("group", BCON_INT32(place % 100));
        done = mongoc_collection_count_documents(items, body, NULL, NULL, NULL, error) > 0;
        break;
    case DRIVER_CURSOR:
        body = BCON_NEW("_id", "{", "$lt", BCON_INT32(DOCUMENTS), "}");
        done = drain(mongoc_collection_find_with_opts(items, body, NULL, NULL), error)
            == DOCUMENTS;
        break;
    }
    if (body) bson_destroy(body);
    if (second) bson_destroy(second);
    return !done;
}

struct runner {
    const char *uri;
    enum driver_row row;
    size_t first, count;
    double *nanoseconds;
    int failed;
};

static void *run(void *argument) {
    struct runner *runner = argument;
    mongoc_client_t *client = connect_to(runner->uri);
    mongoc_collection_t *items = mongoc_client_get_collection(client, "bench", "items");
    bson_error_t error = {0};
    runner->failed = once(client, items, DRIVER_PING, 0, &error);
    for (size_t i = 0; i < runner->count && !runner->failed; i++) {
        double start = now();
        runner->failed = once(client, items, runner->row, (int)(runner->first + i), &error);
        runner->nanoseconds[i] = now() - start;
    }
    if (runner->failed) fail(&error);
    mongoc_collection_destroy(items), mongoc_client_destroy(client);
    return NULL;
}

int driver_run(
    const char *uri, enum driver_row row, size_t connections, size_t count, double *nanoseconds) {
    static size_t next = 0;
    pthread_t *threads = calloc(connections, sizeof *threads);
    struct runner *runners = calloc(connections, sizeof *runners);
    int failed = 0;
    for (size_t i = 0; i < connections; i++, next += count) {
        runners[i] = (struct runner){uri, row, next, count, nanoseconds + i * count, 0};
        failed |= pthread_create(&threads[i], NULL, run, &runners[i]);
    }
    for (size_t i = 0; i < connections; i++) {
        pthread_join(threads[i], NULL);
        failed |= runners[i].failed;
    }
    free(threads), free(runners);
    return failed;
}

struct follower {
    const char *uri;
    size_t documents;
    double seen;
    int failed;
    pthread_barrier_t *ready;
};

static void *follow(void *argument) {
    struct follower *follower = argument;
    mongoc_client_t *client = connect_to(follower->uri);
    mongoc_collection_t *items = mongoc_client_get_collection(client, "bench", "followed");
    bson_t empty = BSON_INITIALIZER;
    bson_t *options = BCON_NEW("maxAwaitTimeMS", BCON_INT32(10000));
    mongoc_change_stream_t *stream = mongoc_collection_watch(items, &empty, options);
    const bson_t *event;
    bson_error_t error;
    follower->failed = mongoc_change_stream_error_document(stream, &error, &event);
    pthread_barrier_wait(follower->ready);
    size_t count = 0;
    for (int tries = 0; count < follower->documents && tries < 100 && !follower->failed; tries++) {
        while (count < follower->documents && mongoc_change_stream_next(stream, &event)) count++;
        follower->failed = mongoc_change_stream_error_document(stream, &error, &event);
    }
    follower->seen = now();
    if (count < follower->documents) follower->failed = 1;
    bson_destroy(options), mongoc_change_stream_destroy(stream);
    mongoc_collection_destroy(items), mongoc_client_destroy(client);
    return NULL;
}

int driver_follow(
    const char *uri, const char *writer, size_t readers, size_t documents, double *nanoseconds) {
    pthread_t *threads = calloc(readers, sizeof *threads);
    struct follower *followers = calloc(readers, sizeof *followers);
    pthread_barrier_t ready;
    pthread_attr_t small;
    pthread_barrier_init(&ready, NULL, (unsigned)readers + 1);
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 * 1024);
    mongoc_client_t *client = connect_to(writer);
    mongoc_collection_t *items = mongoc_client_get_collection(client, "bench", "followed");
    bson_error_t error;
    bson_t *first = document(-1);
    /* What an earlier measurement left; an error when there was none. */
    mongoc_collection_drop(items, &error);
    int failed = !mongoc_collection_insert_one(items, first, NULL, NULL, &error);
    bson_destroy(first);
    /* All or none: whoever is missing would keep the others waiting. */
    if (failed) return failed;
    for (size_t i = 0; i < readers; i++) {
        followers[i] = (struct follower){uri, documents, 0, 0, &ready};
        if (pthread_create(&threads[i], &small, follow, &followers[i])) abort();
    }
    pthread_barrier_wait(&ready);
    double start = now();
    for (size_t i = 0; i < documents && !failed; i++) {
        bson_t *next = document((int)i);
        failed = !mongoc_collection_insert_one(items, next, NULL, NULL, &error);
        bson_destroy(next);
    }
    for (size_t i = 0; i < readers; i++) {
        pthread_join(threads[i], NULL);
        nanoseconds[i] = followers[i].seen - start;
        failed |= followers[i].failed;
    }
    free(threads), free(followers);
    mongoc_collection_destroy(items), mongoc_client_destroy(client);
    return failed;
}
