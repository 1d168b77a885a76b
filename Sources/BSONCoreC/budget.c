#include "BSONCoreC.h"

_Thread_local void *bsonstore_budget = 0;
_Thread_local int bsonstore_steps_left = 0;

#ifdef BUDGET_GAPS
#include <execinfo.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static _Thread_local long last_question = 0;

static long nanoseconds_of_thread(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

void bsonstore_note_gap(_Bool is_work) {
  long gap = nanoseconds_of_thread() - last_question;
  const char *path = getenv("BUDGET_GAPS");
  if (is_work && gap > 1000000 && path != 0) {
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    if (file >= 0) {
      void *calls[24];
      int count = backtrace(calls, 24);
      dprintf(file, "gap %ld us\n", gap / 1000);
      backtrace_symbols_fd(calls, count, file);
      close(file);
    }
  }
  last_question = nanoseconds_of_thread();
}
#endif
