#include "StitchConsoleC.h"

// The files of Pages; `#embed` is of C23.
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wc23-extensions"
#endif

static const unsigned char console_css[] = {
#embed "Pages/console.css"
};

static const unsigned char device_conflicts_js[] = {
#embed "Pages/device/conflicts.js"
};

static const unsigned char device_overview_js[] = {
#embed "Pages/device/overview.js"
};

static const unsigned char device_passes_js[] = {
#embed "Pages/device/passes.js"
};

static const unsigned char device_prose_js[] = {
#embed "Pages/device/prose.js"
};

static const unsigned char device_story_js[] = {
#embed "Pages/device/story.js"
};

static const unsigned char icon_svg[] = {
#embed "Pages/icon.svg"
};

static const unsigned char index_html[] = {
#embed "Pages/index.html"
};

static const unsigned char js_api_js[] = {
#embed "Pages/js/api.js"
};

static const unsigned char js_app_js[] = {
#embed "Pages/js/app.js"
};

static const unsigned char js_changes_js[] = {
#embed "Pages/js/changes.js"
};

static const unsigned char js_data_js[] = {
#embed "Pages/js/data.js"
};

static const unsigned char js_denied_js[] = {
#embed "Pages/js/denied.js"
};

static const unsigned char js_devices_js[] = {
#embed "Pages/js/devices.js"
};

static const unsigned char js_dialog_js[] = {
#embed "Pages/js/dialog.js"
};

static const unsigned char js_difference_js[] = {
#embed "Pages/js/difference.js"
};

static const unsigned char js_document_edit_js[] = {
#embed "Pages/js/document-edit.js"
};

static const unsigned char js_document_view_js[] = {
#embed "Pages/js/document-view.js"
};

static const unsigned char js_documents_js[] = {
#embed "Pages/js/documents.js"
};

static const unsigned char js_dom_js[] = {
#embed "Pages/js/dom.js"
};

static const unsigned char js_ejson_js[] = {
#embed "Pages/js/ejson.js"
};

static const unsigned char js_graph_js[] = {
#embed "Pages/js/graph.js"
};

static const unsigned char js_id_field_js[] = {
#embed "Pages/js/id-field.js"
};

static const unsigned char js_indexes_js[] = {
#embed "Pages/js/indexes.js"
};

static const unsigned char js_log_js[] = {
#embed "Pages/js/log.js"
};

static const unsigned char js_operations_js[] = {
#embed "Pages/js/operations.js"
};

static const unsigned char js_overview_js[] = {
#embed "Pages/js/overview.js"
};

static const unsigned char js_plan_picture_js[] = {
#embed "Pages/js/plan-picture.js"
};

static const unsigned char js_plan_js[] = {
#embed "Pages/js/plan.js"
};

static const unsigned char js_rules_explain_js[] = {
#embed "Pages/js/rules-explain.js"
};

static const unsigned char js_rules_trial_js[] = {
#embed "Pages/js/rules-trial.js"
};

static const unsigned char js_rules_js[] = {
#embed "Pages/js/rules.js"
};

static const unsigned char js_shell_text_js[] = {
#embed "Pages/js/shell-text.js"
};

static const unsigned char js_story_form_js[] = {
#embed "Pages/js/story-form.js"
};

static const unsigned char js_tree_js[] = {
#embed "Pages/js/tree.js"
};

static const unsigned char js_units_js[] = {
#embed "Pages/js/units.js"
};

static const unsigned char js_users_js[] = {
#embed "Pages/js/users.js"
};

static const unsigned char js_write_js[] = {
#embed "Pages/js/write.js"
};

static const struct stitch_console_page pages[] = {
    {"/console.css", console_css, sizeof console_css},
    {"/device/conflicts.js", device_conflicts_js, sizeof device_conflicts_js},
    {"/device/overview.js", device_overview_js, sizeof device_overview_js},
    {"/device/passes.js", device_passes_js, sizeof device_passes_js},
    {"/device/prose.js", device_prose_js, sizeof device_prose_js},
    {"/device/story.js", device_story_js, sizeof device_story_js},
    {"/icon.svg", icon_svg, sizeof icon_svg},
    {"/index.html", index_html, sizeof index_html},
    {"/js/api.js", js_api_js, sizeof js_api_js},
    {"/js/app.js", js_app_js, sizeof js_app_js},
    {"/js/changes.js", js_changes_js, sizeof js_changes_js},
    {"/js/data.js", js_data_js, sizeof js_data_js},
    {"/js/denied.js", js_denied_js, sizeof js_denied_js},
    {"/js/devices.js", js_devices_js, sizeof js_devices_js},
    {"/js/dialog.js", js_dialog_js, sizeof js_dialog_js},
    {"/js/difference.js", js_difference_js, sizeof js_difference_js},
    {"/js/document-edit.js", js_document_edit_js, sizeof js_document_edit_js},
    {"/js/document-view.js", js_document_view_js, sizeof js_document_view_js},
    {"/js/documents.js", js_documents_js, sizeof js_documents_js},
    {"/js/dom.js", js_dom_js, sizeof js_dom_js},
    {"/js/ejson.js", js_ejson_js, sizeof js_ejson_js},
    {"/js/graph.js", js_graph_js, sizeof js_graph_js},
    {"/js/id-field.js", js_id_field_js, sizeof js_id_field_js},
    {"/js/indexes.js", js_indexes_js, sizeof js_indexes_js},
    {"/js/log.js", js_log_js, sizeof js_log_js},
    {"/js/operations.js", js_operations_js, sizeof js_operations_js},
    {"/js/overview.js", js_overview_js, sizeof js_overview_js},
    {"/js/plan-picture.js", js_plan_picture_js, sizeof js_plan_picture_js},
    {"/js/plan.js", js_plan_js, sizeof js_plan_js},
    {"/js/rules-explain.js", js_rules_explain_js, sizeof js_rules_explain_js},
    {"/js/rules-trial.js", js_rules_trial_js, sizeof js_rules_trial_js},
    {"/js/rules.js", js_rules_js, sizeof js_rules_js},
    {"/js/shell-text.js", js_shell_text_js, sizeof js_shell_text_js},
    {"/js/story-form.js", js_story_form_js, sizeof js_story_form_js},
    {"/js/tree.js", js_tree_js, sizeof js_tree_js},
    {"/js/units.js", js_units_js, sizeof js_units_js},
    {"/js/users.js", js_users_js, sizeof js_users_js},
    {"/js/write.js", js_write_js, sizeof js_write_js},
};

unsigned long stitch_console_page_count(void) { return sizeof pages / sizeof pages[0]; }

struct stitch_console_page stitch_console_page(unsigned long index) { return pages[index]; }
