#ifndef STITCH_SHELL_C_H
#define STITCH_SHELL_C_H

/// The shell's functions in its own language.
struct stitch_shell_scripts {
  const unsigned char *bytes;
  unsigned long count;
};

/// Returns the scripts, one after the other.
struct stitch_shell_scripts stitch_shell_scripts(void);

#endif
