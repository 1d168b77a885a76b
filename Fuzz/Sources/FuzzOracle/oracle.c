#include "oracle.h"
#include <bson/bson.h>

static int walk(const uint8_t *bytes, size_t count, int depth) {
    bson_iter_t it;
    if (depth > 200 || !bson_iter_init_from_data(&it, bytes, count)) return 0;
    while (bson_iter_next(&it)) {
        const char *key = bson_iter_key(&it);
        if (!bson_utf8_validate(key, strlen(key), false)) return 0;
        switch (bson_iter_type(&it)) {
        case BSON_TYPE_UTF8: {
            uint32_t length;
            const char *text = bson_iter_utf8(&it, &length);
            if (!bson_utf8_validate(text, length, true)) return 0;
            break;
        }
        case BSON_TYPE_SYMBOL: {
            uint32_t length;
            const char *text = bson_iter_symbol(&it, &length);
            if (!bson_utf8_validate(text, length, true)) return 0;
            break;
        }
        case BSON_TYPE_CODE: {
            uint32_t length;
            const char *text = bson_iter_code(&it, &length);
            if (!bson_utf8_validate(text, length, true)) return 0;
            break;
        }
        case BSON_TYPE_REGEX: {
            const char *options, *pattern = bson_iter_regex(&it, &options);
            if (!bson_utf8_validate(pattern, strlen(pattern), false)) return 0;
            if (!bson_utf8_validate(options, strlen(options), false)) return 0;
            break;
        }
        case BSON_TYPE_DOCUMENT:
        case BSON_TYPE_ARRAY: {
            bson_iter_t child;
            uint32_t length;
            const uint8_t *nested;
            if (bson_iter_type(&it) == BSON_TYPE_DOCUMENT)
                bson_iter_document(&it, &length, &nested);
            else
                bson_iter_array(&it, &length, &nested);
            if (!bson_iter_recurse(&it, &child) || !walk(nested, length, depth + 1)) return 0;
            break;
        }
        case BSON_TYPE_CODEWSCOPE: {
            uint32_t length, scope_length;
            const uint8_t *scope;
            const char *code = bson_iter_codewscope(&it, &length, &scope_length, &scope);
            if (!code || !walk(scope, scope_length, depth + 1)) return 0;
            break;
        }
        default: break;
        }
    }
    return it.err_off == 0;
}

int oracle_accepts(const uint8_t *bytes, size_t count) {
    bson_t document;
    if (!bson_init_static(&document, bytes, count)) return 0;
    return walk(bytes, count, 1);
}
