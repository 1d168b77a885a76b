#pragma once
#include <mongoc/mongoc.h>
