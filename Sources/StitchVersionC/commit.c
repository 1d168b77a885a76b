#include "StitchVersionC.h"

#define TEXT(commit) #commit
#define EXPANDED(commit) TEXT(commit)

const char *stitch_commit(void) {
#ifdef STITCHSYNC_COMMIT
    return EXPANDED(STITCHSYNC_COMMIT);
#else
    return "";
#endif
}
