// Counts allocations of the whole process: the executable's malloc is found before glibc's.
#include "baseline.h"

#if defined(__GLIBC__)
static volatile long total;
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

// Not atomic: the rows run on one thread, and a locked addition would be charged to who allocates.
static inline void count_one(void) { total++; }

void *malloc(size_t size) {
    count_one();
    return __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
    count_one();
    return __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
    count_one();
    return __libc_realloc(old, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
    count_one();
    return __libc_memalign(alignment, size);
}
int posix_memalign(void **result, size_t alignment, size_t size) {
    count_one();
    *result = __libc_memalign(alignment, size);
    return *result ? 0 : 12;
}
long baseline_allocations(void) { return total; }
#else
long baseline_allocations(void) { return -1; }
#endif
