#ifndef STITCH_CONSOLE_C_H
#define STITCH_CONSOLE_C_H

/// A file of the console's pages.
struct stitch_console_page {
  /// The path of its URL, such as "/js/app.js".
  const char *path;
  const unsigned char *bytes;
  unsigned long count;
};

/// Returns the number of files.
unsigned long stitch_console_page_count(void);

/// Returns a file by its number.
struct stitch_console_page stitch_console_page(unsigned long index);

#endif
