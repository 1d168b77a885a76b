#include "BSONCoreC.h"

__attribute__((weak)) void bsonstore_install_scripts(void) {}
