#include "baseline.h"
#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct node node;
struct node {
    uint8_t type, subtype;
    int key_count, count;
    char *key, *text, *options;
    uint32_t text_count, seconds, increment;
    int64_t integer;
    double number;
    bson_oid_t oid;
    bson_decimal128_t decimal;
    node *children;
};

struct baseline_document {
    uint8_t *bytes;
    size_t count;
    char *json[2];
    size_t json_count[2];
    node root;
};

static uint64_t kept;
void baseline_keep(uint64_t value) {
    kept ^= value;
    __asm__ volatile("" : : "r"(value) : "memory");
}

uint64_t baseline_cpu_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static char *copied(const char *text, size_t count) {
    char *copy = malloc(count + 1);
    memcpy(copy, text, count);
    copy[count] = 0;
    return copy;
}

static void decode(bson_iter_t *it, node *parent);

static void decode_value(bson_iter_t *it, node *k) {
    switch (k->type) {
    case BSON_TYPE_DOUBLE: k->number = bson_iter_double(it); break;
    case BSON_TYPE_UTF8: k->text = copied(bson_iter_utf8(it, NULL), bson_iter_utf8_len_unsafe(it)); k->text_count = bson_iter_utf8_len_unsafe(it); break;
    case BSON_TYPE_INT32: k->integer = bson_iter_int32(it); break;
    case BSON_TYPE_INT64: k->integer = bson_iter_int64(it); break;
    case BSON_TYPE_BOOL: k->integer = bson_iter_bool(it); break;
    case BSON_TYPE_DATE_TIME: k->integer = bson_iter_date_time(it); break;
    case BSON_TYPE_OID: k->oid = *bson_iter_oid(it); break;
    case BSON_TYPE_DECIMAL128: bson_iter_decimal128(it, &k->decimal); break;
    case BSON_TYPE_BINARY: {
        bson_subtype_t subtype;
        const uint8_t *content;
        bson_iter_binary(it, &subtype, &k->text_count, &content);
        k->subtype = (uint8_t)subtype;
        k->text = copied((const char *)content, k->text_count);
        break;
    }
    case BSON_TYPE_REGEX: {
        const char *options, *pattern = bson_iter_regex(it, &options);
        k->text = copied(pattern, strlen(pattern));
        k->options = copied(options, strlen(options));
        break;
    }
    case BSON_TYPE_CODE: {
        const char *code = bson_iter_code(it, &k->text_count);
        k->text = copied(code, k->text_count);
        break;
    }
    case BSON_TYPE_CODEWSCOPE: {
        uint32_t scope_count;
        const uint8_t *scope;
        const char *code = bson_iter_codewscope(it, &k->text_count, &scope_count, &scope);
        bson_iter_t child;
        k->text = copied(code, strlen(code));
        bson_iter_init_from_data(&child, scope, scope_count);
        decode(&child, k);
        break;
    }
    case BSON_TYPE_TIMESTAMP: bson_iter_timestamp(it, &k->seconds, &k->increment); break;
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY: {
        bson_iter_t child;
        bson_iter_recurse(it, &child);
        decode(&child, k);
        break;
    }
    default: break;
    }
}

static void decode(bson_iter_t *it, node *parent) {
    int room = 8;
    parent->children = malloc((size_t)room * sizeof(node));
    parent->count = 0;
    while (bson_iter_next(it)) {
        if (parent->count == room) parent->children = realloc(parent->children, (size_t)(room *= 2) * sizeof(node));
        node *k = &parent->children[parent->count++];
        memset(k, 0, sizeof *k);
        k->type = (uint8_t)bson_iter_type(it);
        k->key_count = (int)bson_iter_key_len(it);
        k->key = copied(bson_iter_key(it), (size_t)k->key_count);
        decode_value(it, k);
    }
}

baseline_document *baseline_open(const uint8_t *bytes, size_t count) {
    baseline_document *d = calloc(1, sizeof *d);
    d->bytes = malloc(count);
    memcpy(d->bytes, bytes, count);
    d->count = count;
    bson_iter_t it;
    bson_iter_init_from_data(&it, d->bytes, d->count);
    decode(&it, &d->root);
    return d;
}

uint8_t *baseline_parse(const char *json, size_t count, size_t *size) {
    bson_t *b = bson_new_from_json((const uint8_t *)json, (ssize_t)count, NULL);
    if (!b) return NULL;
    uint8_t *bytes = malloc(b->len);
    memcpy(bytes, bson_get_data(b), b->len);
    *size = b->len;
    bson_destroy(b);
    return bytes;
}

const char *baseline_json(baseline_document *d, int relaxed, size_t *count) {
    if (!d->json[relaxed]) {
        bson_t b;
        bson_init_static(&b, d->bytes, d->count);
        d->json[relaxed] = relaxed ? bson_as_relaxed_extended_json(&b, &d->json_count[relaxed])
                                   : bson_as_canonical_extended_json(&b, &d->json_count[relaxed]);
    }
    *count = d->json_count[relaxed];
    return d->json[relaxed];
}

static uint64_t iterate(bson_iter_t *it) {
    uint64_t h = 0;
    while (bson_iter_next(it)) {
        h += bson_iter_key_len(it) + (uint8_t)bson_iter_key(it)[0];
        switch (bson_iter_type(it)) {
        case BSON_TYPE_DOUBLE: {
            double d = bson_iter_double(it);
            uint64_t bits;
            memcpy(&bits, &d, 8);
            h += bits;
            break;
        }
        case BSON_TYPE_UTF8: {
            uint32_t count;
            const char *text = bson_iter_utf8(it, &count);
            h += count + (count ? (uint8_t)text[0] : 0);
            break;
        }
        case BSON_TYPE_INT32: h += (uint64_t)(int64_t)bson_iter_int32(it); break;
        case BSON_TYPE_INT64: h += (uint64_t)bson_iter_int64(it); break;
        case BSON_TYPE_BOOL: h += bson_iter_bool(it); break;
        case BSON_TYPE_DATE_TIME: h += (uint64_t)bson_iter_date_time(it); break;
        case BSON_TYPE_OID: h += bson_iter_oid(it)->bytes[0]; break;
        case BSON_TYPE_BINARY: {
            bson_subtype_t subtype;
            uint32_t count;
            const uint8_t *content;
            bson_iter_binary(it, &subtype, &count, &content);
            h += count + (count ? content[0] : 0) + subtype;
            break;
        }
        case BSON_TYPE_REGEX: {
            const char *options, *pattern = bson_iter_regex(it, &options);
            h += (uint8_t)pattern[0];
            break;
        }
        case BSON_TYPE_CODE: {
            uint32_t count;
            const char *code = bson_iter_code(it, &count);
            h += count + (uint8_t)code[0];
            break;
        }
        case BSON_TYPE_CODEWSCOPE: {
            uint32_t count, scope_count;
            const uint8_t *scope;
            const char *code = bson_iter_codewscope(it, &count, &scope_count, &scope);
            h += count + scope_count + (uint8_t)code[0];
            break;
        }
        case BSON_TYPE_TIMESTAMP: {
            uint32_t seconds, increment;
            bson_iter_timestamp(it, &seconds, &increment);
            h += seconds + (uint64_t)increment;
            break;
        }
        case BSON_TYPE_DOCUMENT:
        case BSON_TYPE_ARRAY: {
            bson_iter_t child;
            if (bson_iter_recurse(it, &child)) h += iterate(&child);
            break;
        }
        default: h += bson_iter_type(it);
        }
    }
    return h;
}

uint64_t baseline_iterate(baseline_document *d, long rounds) {
    uint64_t h = 0;
    for (long i = 0; i < rounds; i++) {
        bson_iter_t it;
        bson_iter_init_from_data(&it, d->bytes, d->count);
        baseline_keep(h = iterate(&it));
    }
    return h;
}

uint64_t baseline_validate(baseline_document *d, long rounds) {
    uint64_t h = 0;
    for (long i = 0; i < rounds; i++) {
        bson_t b;
        size_t offset;
        bson_init_static(&b, d->bytes, d->count);
        baseline_keep(h += bson_validate(&b, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, &offset));
    }
    return h;
}

uint64_t baseline_find(baseline_document *d, const char *key, long rounds) {
    uint64_t h = 0;
    for (long i = 0; i < rounds; i++) {
        bson_t b;
        bson_iter_t it;
        bson_init_static(&b, d->bytes, d->count);
        baseline_keep(h += bson_iter_init_find(&it, &b, key));
    }
    return h;
}

uint64_t baseline_find_path(baseline_document *d, const char *path, long rounds) {
    uint64_t h = 0;
    for (long i = 0; i < rounds; i++) {
        bson_t b;
        bson_iter_t it, found;
        bson_init_static(&b, d->bytes, d->count);
        bson_iter_init(&it, &b);
        baseline_keep(h += bson_iter_find_descendant(&it, path, &found));
    }
    return h;
}

static void encode(bson_t *b, const node *parent) {
    for (int i = 0; i < parent->count; i++) {
        const node *k = &parent->children[i];
        bson_t child;
        switch (k->type) {
        case BSON_TYPE_DOUBLE: bson_append_double(b, k->key, k->key_count, k->number); break;
        case BSON_TYPE_UTF8: bson_append_utf8(b, k->key, k->key_count, k->text, (int)k->text_count); break;
        case BSON_TYPE_INT32: bson_append_int32(b, k->key, k->key_count, (int32_t)k->integer); break;
        case BSON_TYPE_INT64: bson_append_int64(b, k->key, k->key_count, k->integer); break;
        case BSON_TYPE_BOOL: bson_append_bool(b, k->key, k->key_count, k->integer != 0); break;
        case BSON_TYPE_DATE_TIME: bson_append_date_time(b, k->key, k->key_count, k->integer); break;
        case BSON_TYPE_OID: bson_append_oid(b, k->key, k->key_count, &k->oid); break;
        case BSON_TYPE_NULL: bson_append_null(b, k->key, k->key_count); break;
        case BSON_TYPE_MINKEY: bson_append_minkey(b, k->key, k->key_count); break;
        case BSON_TYPE_MAXKEY: bson_append_maxkey(b, k->key, k->key_count); break;
        case BSON_TYPE_DECIMAL128: bson_append_decimal128(b, k->key, k->key_count, &k->decimal); break;
        case BSON_TYPE_BINARY: bson_append_binary(b, k->key, k->key_count, (bson_subtype_t)k->subtype, (const uint8_t *)k->text, k->text_count); break;
        case BSON_TYPE_REGEX: bson_append_regex(b, k->key, k->key_count, k->text, k->options); break;
        case BSON_TYPE_CODE: bson_append_code(b, k->key, k->key_count, k->text); break;
        case BSON_TYPE_TIMESTAMP: bson_append_timestamp(b, k->key, k->key_count, k->seconds, k->increment); break;
        case BSON_TYPE_CODEWSCOPE:
            bson_init(&child);
            encode(&child, k);
            bson_append_code_with_scope(b, k->key, k->key_count, k->text, &child);
            bson_destroy(&child);
            break;
        case BSON_TYPE_DOCUMENT:
            bson_append_document_begin(b, k->key, k->key_count, &child);
            encode(&child, k);
            bson_append_document_end(b, &child);
            break;
        case BSON_TYPE_ARRAY:
            bson_append_array_begin(b, k->key, k->key_count, &child);
            encode(&child, k);
            bson_append_array_end(b, &child);
            break;
        default: break;
        }
    }
}

uint64_t baseline_encode(baseline_document *d, long rounds) {
    uint64_t h = 0;
    for (long i = 0; i < rounds; i++) {
        bson_t b;
        bson_init(&b);
        encode(&b, &d->root);
        baseline_keep(h = b.len);
        bson_destroy(&b);
    }
    return h;
}

uint64_t baseline_write_json(baseline_document *d, int relaxed, long rounds) {
    uint64_t h = 0;
    bson_t b;
    bson_init_static(&b, d->bytes, d->count);
    for (long i = 0; i < rounds; i++) {
        size_t count;
        char *json = relaxed ? bson_as_relaxed_extended_json(&b, &count) : bson_as_canonical_extended_json(&b, &count);
        baseline_keep(h = count);
        bson_free(json);
    }
    return h;
}

uint64_t baseline_read_json(baseline_document *d, int relaxed, long rounds) {
    uint64_t h = 0;
    size_t count;
    const char *json = baseline_json(d, relaxed, &count);
    for (long i = 0; i < rounds; i++) {
        bson_t *b = bson_new_from_json((const uint8_t *)json, (ssize_t)count, NULL);
        if (b) baseline_keep(h = b->len);
        bson_destroy(b);
    }
    return h;
}

void baseline_buffer_lines(void) { setvbuf(stdout, NULL, _IOLBF, 0); }
