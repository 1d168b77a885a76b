// The same work in C over libbson, against which everything is measured as a ratio.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct baseline_document baseline_document;

/// Copies a valid document and decodes it to a tree of C values for the encoding rows.
baseline_document *baseline_open(const uint8_t *bytes, size_t count);
/// Parses Extended JSON; the result belongs to the caller (free). NULL when it is malformed.
uint8_t *baseline_parse(const char *json, size_t count, size_t *size);
/// The canonical (0) or relaxed (1) Extended JSON of a document; owned by it.
const char *baseline_json(baseline_document *document, int relaxed, size_t *count);

uint64_t baseline_iterate(baseline_document *document, long rounds);
uint64_t baseline_validate(baseline_document *document, long rounds);
uint64_t baseline_find(baseline_document *document, const char *key, long rounds);
uint64_t baseline_find_path(baseline_document *document, const char *path, long rounds);
uint64_t baseline_encode(baseline_document *document, long rounds);
uint64_t baseline_write_json(baseline_document *document, int relaxed, long rounds);
uint64_t baseline_read_json(baseline_document *document, int relaxed, long rounds);

/// Nanoseconds of CPU time of this thread.
uint64_t baseline_cpu_ns(void);
/// How often malloc, calloc, realloc and their like were called by this process.
long baseline_allocations(void);
/// Keeps a result alive for the optimiser.
void baseline_keep(uint64_t value);
/// Lets every printed line appear at once, also in a pipe.
void baseline_buffer_lines(void);
