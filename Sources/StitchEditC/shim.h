#pragma once
#include <histedit.h>
#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

// Swift cannot call functions with variable arguments; these call libedit's.

typedef unsigned char (*stitch_edit_key)(EditLine *, int);

// Makes the process read and write UTF-8, also where the environment names no such locale.
static inline void stitch_edit_use_utf8(void) {
    const char *names[] = {"", "C.UTF-8", "en_US.UTF-8"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (setlocale(LC_CTYPE, names[i]) && strcmp(nl_langinfo(CODESET), "UTF-8") == 0) return;
}

// Opens an editor of standard input; NULL without memory or a terminal.
static inline EditLine *stitch_edit_open(
    const char *program, void *owner, History *lines, char *(*prompt)(EditLine *),
    stitch_edit_key complete, stitch_edit_key interrupt) {
    stitch_edit_use_utf8();
    EditLine *editor = el_init(program, stdin, stdout, stderr);
    if (!editor) return NULL;
    // Keys and their commands.
    static const char *const keys[][2] = {
        {"^I", "stitch-complete"},       {"^C", "stitch-interrupt"},
        {"^R", "em-inc-search-prev"},    {"\\e[3~", "ed-delete-next-char"},
        {"\\e[1~", "ed-move-to-beg"},    {"\\e[4~", "ed-move-to-end"},
        {"\\e[1;5C", "em-next-word"},    {"\\e[1;5D", "ed-prev-word"},
    };
    el_set(editor, EL_CLIENTDATA, owner);
    el_set(editor, EL_PROMPT, prompt);
    el_set(editor, EL_EDITOR, "emacs");
    el_set(editor, EL_HIST, history, lines);
    el_set(editor, EL_ADDFN, "stitch-complete", "Complete the word", complete);
    el_set(editor, EL_ADDFN, "stitch-interrupt", "Leave the line", interrupt);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        el_set(editor, EL_BIND, keys[i][0], keys[i][1], NULL);
    // Ctrl-C is a key while a line is read, and a signal otherwise.
    el_set(editor, EL_SETTY, "-d", "-isig", NULL);
    el_source(editor, NULL);
    return editor;
}

static inline void *stitch_edit_owner(EditLine *editor) {
    void *owner = NULL;
    el_get(editor, EL_CLIENTDATA, &owner);
    return owner;
}

// Takes each key from now on. el_gets does it only after the prompt, so that a key that is typed at once
// would still be the terminal's: Ctrl-C would drop the line, and Ctrl-R would be lost.
static inline void stitch_edit_prepare(EditLine *editor) { el_set(editor, EL_PREP_TERM, 1); }

// Draws the prompt and the line in the row of the cursor.
static inline void stitch_edit_refresh(EditLine *editor) { el_set(editor, EL_REFRESH); }

static inline void stitch_edit_clear(History *lines, int size) {
    HistEvent event;
    history(lines, &event, H_CLEAR);
    history(lines, &event, H_SETSIZE, size);
}

static inline void stitch_edit_remember(History *lines, const char *line) {
    HistEvent event;
    history(lines, &event, H_ENTER, line);
}
