//! The refusal codes of the program domain, as part K of its text lists them.

use rp_events::codes;

codes! {
    NO_PROGRAM = "no-program", "nothing of a program stands before its creation", "create it: `rp append program.created`";
    PROGRAM_EXISTS = "program-exists", "a journal records one program", "use another folder for another program";
}
