#include "StitchShellC.h"

// `#embed` is of C23.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

// The files of Scripts, in the order in which they run.
static const unsigned char scripts[] = {
#embed "Scripts/globals.js"
    ,
#embed "Scripts/console.js"
    ,
#embed "Scripts/assert.js"
    ,
#embed "Scripts/node.js"
    ,
#embed "Scripts/intl.js"
    ,
#embed "Scripts/bulk.js"
    ,
#embed "Scripts/collection.js"
    ,
#embed "Scripts/database.js"
    ,
#embed "Scripts/explain.js"
    ,
#embed "Scripts/replica.js"
};

struct stitch_shell_scripts stitch_shell_scripts(void) {
  return (struct stitch_shell_scripts){scripts, sizeof scripts};
}
