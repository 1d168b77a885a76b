#include "BSONCoreC.h"

_Thread_local void *bsonstore_budget = 0;
_Thread_local int bsonstore_steps_left = 0;
