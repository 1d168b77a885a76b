// What of Apple's kqueue our code uses: a struct and a function of one name, which Swift cannot declare.
#include <stdint.h>
#include <time.h>

struct kevent {
    uintptr_t ident;
    int16_t filter;
    uint16_t flags;
    uint32_t fflags;
    intptr_t data;
    void *udata;
};

int kqueue(void);
int kevent(int queue, const struct kevent *changes, int change_count, struct kevent *events, int event_count,
           const struct timespec *timeout);
