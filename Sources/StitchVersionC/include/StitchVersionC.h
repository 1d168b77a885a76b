// The commit from which the tool was built.
#pragma once

/// Returns the commit, or an empty string in a plain build.
const char *stitch_commit(void);
