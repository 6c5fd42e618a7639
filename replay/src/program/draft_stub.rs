//! Stands in for the rendering of a drafted task until the views have it.

use rp_events::program::TaskDrafted;

use super::Program;

/// The text of a draft: nothing yet.
pub(super) fn draft(_: &Program, _: &TaskDrafted) -> String {
    String::new()
}
