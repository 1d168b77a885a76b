/* Uses a server through libmongoc as applications do; says what went wrong, or "fine".
 *
 * usage: driver URI crud | transactions | retries | begin | resume TOKEN | ping */

#include <mongoc/mongoc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bson_error_t error;

/* Ends the program where something is not as it must be. */
#define EXPECT(condition)                                                                    \
    do {                                                                                     \
        if (!(condition)) {                                                                  \
            fprintf(stderr, "line %d: %s (%u: %s)\n", __LINE__, #condition, error.code,      \
                    error.message);                                                          \
            exit(1);                                                                         \
        }                                                                                    \
    } while (0)

#define WITH(name, ...) bson_t *name = BCON_NEW(__VA_ARGS__)

static int64_t count(mongoc_collection_t *items, const bson_t *filter) {
    int64_t found = mongoc_collection_count_documents(items, filter, NULL, NULL, NULL, &error);
    EXPECT(found >= 0);
    return found;
}

static int32_t number(const bson_t *document, const char *path) {
    bson_iter_t start, found;
    EXPECT(bson_iter_init(&start, document));
    EXPECT(bson_iter_find_descendant(&start, path, &found));
    return (int32_t)bson_iter_as_int64(&found);
}

static int length(mongoc_cursor_t *cursor) {
    const bson_t *document;
    int found = 0;
    while (mongoc_cursor_next(cursor, &document)) found++;
    EXPECT(!mongoc_cursor_error(cursor, &error));
    mongoc_cursor_destroy(cursor);
    return found;
}

static void insert_and_find(mongoc_collection_t *items) {
    WITH(all, "n", "{", "$gte", BCON_INT32(0), "}");
    for (int i = 0; i < 1000; i++) {
        WITH(document, "_id", BCON_INT32(i), "n", BCON_INT32(i), "name", BCON_UTF8("x"));
        EXPECT(mongoc_collection_insert_one(items, document, NULL, NULL, &error));
        bson_destroy(document);
    }
    WITH(again, "_id", BCON_INT32(7));
    EXPECT(!mongoc_collection_insert_one(items, again, NULL, NULL, &error));
    EXPECT(error.code == 11000);
    EXPECT(count(items, all) == 1000);
    WITH(options, "batchSize", BCON_INT32(70), "sort", "{", "n", BCON_INT32(-1), "}");
    EXPECT(length(mongoc_collection_find_with_opts(items, all, options, NULL)) == 1000);
    bson_destroy(all), bson_destroy(again), bson_destroy(options);
}

static void change_and_delete(mongoc_collection_t *items) {
    bson_t reply;
    WITH(filter, "n", "{", "$lt", BCON_INT32(10), "}");
    WITH(update, "$inc", "{", "n", BCON_INT32(1), "}");
    EXPECT(mongoc_collection_update_many(items, filter, update, NULL, &reply, &error));
    EXPECT(number(&reply, "modifiedCount") == 10);
    bson_destroy(&reply);
    WITH(nobody, "_id", BCON_INT32(5000));
    WITH(upsert, "upsert", BCON_BOOL(true));
    EXPECT(mongoc_collection_update_one(items, nobody, update, upsert, &reply, &error));
    EXPECT(number(&reply, "upsertedId") == 5000);
    bson_destroy(&reply);
    EXPECT(mongoc_collection_delete_one(items, nobody, NULL, &reply, &error));
    EXPECT(number(&reply, "deletedCount") == 1);
    bson_destroy(&reply);
    mongoc_find_and_modify_opts_t *opts = mongoc_find_and_modify_opts_new();
    WITH(one, "_id", BCON_INT32(3));
    mongoc_find_and_modify_opts_set_update(opts, update);
    mongoc_find_and_modify_opts_set_flags(opts, MONGOC_FIND_AND_MODIFY_RETURN_NEW);
    EXPECT(mongoc_collection_find_and_modify_with_opts(items, one, opts, &reply, &error));
    EXPECT(number(&reply, "value.n") == 5);
    bson_destroy(&reply), mongoc_find_and_modify_opts_destroy(opts);
    WITH(unknown, "$nonsense", "{", "n", BCON_INT32(1), "}");
    EXPECT(!mongoc_collection_update_one(items, one, unknown, NULL, NULL, &error));
    bson_destroy(filter), bson_destroy(update), bson_destroy(nobody), bson_destroy(upsert);
    bson_destroy(one), bson_destroy(unknown);
}

static void bulk(mongoc_collection_t *items) {
    bson_t reply;
    WITH(unordered, "ordered", BCON_BOOL(false));
    mongoc_bulk_operation_t *bulk =
        mongoc_collection_create_bulk_operation_with_opts(items, unordered);
    for (int i = 2000; i < 2500; i++) {
        WITH(document, "_id", BCON_INT32(i), "n", BCON_INT32(-1));
        EXPECT(mongoc_bulk_operation_insert_with_opts(bulk, document, NULL, &error));
        bson_destroy(document);
    }
    WITH(there, "_id", BCON_INT32(1));
    WITH(filter, "n", BCON_INT32(-1));
    WITH(update, "$set", "{", "b", BCON_BOOL(true), "}");
    EXPECT(mongoc_bulk_operation_insert_with_opts(bulk, there, NULL, &error));
    EXPECT(mongoc_bulk_operation_update_many_with_opts(bulk, filter, update, NULL, &error));
    EXPECT(mongoc_bulk_operation_remove_one_with_opts(bulk, there, NULL, &error));
    EXPECT(!mongoc_bulk_operation_execute(bulk, &reply, &error));
    EXPECT(error.code == 11000 && number(&reply, "nInserted") == 500);
    EXPECT(number(&reply, "nModified") == 500 && number(&reply, "nRemoved") == 1);
    EXPECT(number(&reply, "writeErrors.0.index") == 500);
    bson_destroy(&reply), mongoc_bulk_operation_destroy(bulk), bson_destroy(unordered);
    bson_destroy(there), bson_destroy(filter), bson_destroy(update);
}

static void aggregate_and_index(mongoc_client_t *client, mongoc_collection_t *items) {
    WITH(pipeline, "pipeline", "[", "{", "$group", "{", "_id", "$b", "n", "{", "$sum",
         BCON_INT32(1), "}", "}", "}", "]");
    EXPECT(length(mongoc_collection_aggregate(items, 0, pipeline, NULL, NULL)) == 2);
    WITH(index, "createIndexes", "items", "indexes", "[", "{", "key", "{", "n", BCON_INT32(1),
         "}", "name", "n_1", "}", "]");
    EXPECT(mongoc_client_write_command_with_opts(client, "driver", index, NULL, NULL, &error));
    EXPECT(length(mongoc_collection_find_indexes_with_opts(items, NULL)) == 2);
    EXPECT(mongoc_collection_drop_index_with_opts(items, "n_1", NULL, &error));
    bson_destroy(pipeline), bson_destroy(index);
}

static void crud(mongoc_client_t *client, mongoc_collection_t *items) {
    insert_and_find(items);
    change_and_delete(items);
    bulk(items);
    aggregate_and_index(client, items);
}

static void insert(mongoc_collection_t *items, int id, const bson_t *options) {
    WITH(document, "_id", BCON_INT32(id));
    EXPECT(mongoc_collection_insert_one(items, document, options, NULL, &error));
    bson_destroy(document);
}

static void transactions(mongoc_client_t *client, mongoc_collection_t *items) {
    WITH(all, "_id", "{", "$gte", BCON_INT32(0), "}");
    insert(items, 0, NULL);
    for (int round = 0; round < 2; round++) {
        mongoc_client_session_t *session = mongoc_client_start_session(client, NULL, &error);
        EXPECT(session);
        bson_t options = BSON_INITIALIZER;
        EXPECT(mongoc_client_session_append(session, &options, &error));
        EXPECT(mongoc_client_session_start_transaction(session, NULL, &error));
        insert(items, 1, &options);
        insert(items, 2, &options);
        EXPECT(count(items, all) == 1);
        if (round == 0) {
            EXPECT(mongoc_client_session_abort_transaction(session, &error));
            EXPECT(count(items, all) == 1);
        } else {
            EXPECT(mongoc_client_session_commit_transaction(session, NULL, &error));
            EXPECT(mongoc_client_session_commit_transaction(session, NULL, &error));
            EXPECT(count(items, all) == 3);
        }
        bson_destroy(&options), mongoc_client_session_destroy(session);
    }
    bson_destroy(all);
}

static void fail_once(mongoc_client_t *client, const char *json) {
    bson_t *point = bson_new_from_json((const uint8_t *)json, -1, &error);
    EXPECT(point);
    EXPECT(mongoc_client_command_simple(client, "admin", point, NULL, NULL, &error));
    bson_destroy(point);
}

static void retries(mongoc_client_t *client, mongoc_collection_t *items) {
    WITH(update, "$inc", "{", "n", BCON_INT32(1), "}");
    WITH(one, "_id", BCON_INT32(1));
    WITH(twice, "n", BCON_INT32(1));
    insert(items, 1, NULL);
    /* The connection is lost before the write is done ... */
    fail_once(client, "{\"configureFailPoint\": \"failCommand\", \"mode\": {\"times\": 1}, "
                      "\"data\": {\"failCommands\": [\"update\"], \"closeConnection\": true}}");
    EXPECT(mongoc_collection_update_one(items, one, update, NULL, NULL, &error));
    EXPECT(count(items, twice) == 1);
    /* ... and after it is done: sent again it is answered, and not done again. */
    fail_once(client, "{\"configureFailPoint\": \"onPrimaryTransactionalWrite\", "
                      "\"mode\": {\"times\": 1}}");
    EXPECT(mongoc_collection_update_one(items, one, update, NULL, NULL, &error));
    EXPECT(count(items, twice) == 0);
    WITH(expected, "n", BCON_INT32(2));
    EXPECT(count(items, expected) == 1);
    bson_destroy(update), bson_destroy(one), bson_destroy(twice), bson_destroy(expected);
}

/* Reads events until so many documents were told of, in order. */
static void follow(mongoc_change_stream_t *stream, int from, int to) {
    const bson_t *event;
    for (int tries = 0; from < to && tries < 100; tries++) {
        while (from < to && mongoc_change_stream_next(stream, &event)) {
            EXPECT(number(event, "documentKey._id") == from);
            from++;
        }
        EXPECT(!mongoc_change_stream_error_document(stream, &error, NULL));
    }
    EXPECT(from == to);
}

/* Leaves a change stream in the middle and prints where. */
static void begin(mongoc_collection_t *items) {
    bson_t empty = BSON_INITIALIZER;
    mongoc_change_stream_t *stream = mongoc_collection_watch(items, &empty, NULL);
    const bson_t *event;
    EXPECT(!mongoc_change_stream_next(stream, &event));
    for (int i = 0; i < 10; i++) insert(items, i, NULL);
    follow(stream, 0, 4);
    char *json = bson_as_canonical_extended_json(
        mongoc_change_stream_get_resume_token(stream), NULL);
    printf("%s\n", json);
    bson_free(json), mongoc_change_stream_destroy(stream);
}

/* Goes on with the stream at a server that was started again. */
static void resume(mongoc_collection_t *items, const char *json) {
    bson_t empty = BSON_INITIALIZER;
    bson_t *token = bson_new_from_json((const uint8_t *)json, -1, &error);
    EXPECT(token);
    WITH(options, "resumeAfter", BCON_DOCUMENT(token));
    mongoc_change_stream_t *stream = mongoc_collection_watch(items, &empty, options);
    insert(items, 10, NULL);
    follow(stream, 4, 11);
    mongoc_change_stream_destroy(stream), bson_destroy(options), bson_destroy(token);
}

static void silent(
    mongoc_log_level_t level, const char *domain, const char *message, void *data) {
    (void)level, (void)domain, (void)message, (void)data;
}

int main(int argc, char **argv) {
    EXPECT(argc >= 3);
    const char *mode = argv[2];
    mongoc_init();
    mongoc_log_set_handler(silent, NULL);
    mongoc_client_t *client = mongoc_client_new(argv[1]);
    EXPECT(client && mongoc_client_set_error_api(client, 2));
    mongoc_collection_t *items = mongoc_client_get_collection(client, "driver", "items");
    if (strcmp(mode, "resume") != 0 && strcmp(mode, "ping") != 0)
        mongoc_collection_drop(items, NULL);
    if (strcmp(mode, "crud") == 0) crud(client, items);
    if (strcmp(mode, "transactions") == 0) transactions(client, items);
    if (strcmp(mode, "retries") == 0) retries(client, items);
    if (strcmp(mode, "begin") == 0) begin(items);
    if (strcmp(mode, "resume") == 0) resume(items, argv[3]);
    if (strcmp(mode, "ping") == 0) {
        WITH(find, "find", "items");
        EXPECT(mongoc_client_command_simple(client, "driver", find, NULL, NULL, &error));
        bson_destroy(find);
    }
    mongoc_collection_destroy(items), mongoc_client_destroy(client);
    mongoc_cleanup();
    if (strcmp(mode, "begin") != 0) puts("fine");
    return 0;
}
