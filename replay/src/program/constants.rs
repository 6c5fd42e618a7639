//! The vocabularies of the program: data, in one place, so that a new word needs no new type.

/// The directions of mechanism work, in canonical order.
pub static DIRECTIONS: &[&str] = &[
    "Location",
    "Causal Intervention",
    "Tuning & Editing",
    "Formation Tracing",
    "Unit Interpretation",
    "Decision Auditing",
];

/// What joins the directions of a chain.
pub const CHAIN: &str = " \u{2192} ";

/// A family of methods.
#[derive(Debug)]
pub struct Family {
    /// Its name.
    pub name: &'static str,
    /// Its submethods.
    pub submethods: &'static [&'static str],
}

/// The families of methods.
pub static FAMILIES: &[Family] = &[
    Family {
        name: "Vocabulary Projection",
        submethods: &["residual-stream state", "attention-head output", "neuron value weight"],
    },
    Family {
        name: "Magnitude Analysis",
        submethods: &["Static Parameters", "Dynamic Components", "Layer-wise Representation"],
    },
    Family {
        name: "Representation and Parameter Analysis",
        submethods: &[
            "Representation Engineering",
            "Steering Vectors",
            "Steering features",
            "Parameter-Space Task Vectors",
        ],
    },
    Family {
        name: "Probing",
        submethods: &["Residual Stream States", "SAE Feature Activation State"],
    },
    Family {
        name: "Feature Dictionary Learning",
        submethods: &["SAE", "Transcoder", "Crosscoder", "ICA Lens"],
    },
    Family {
        name: "Gradient Detection",
        submethods: &["Inputs and Layer-wise States", "Intermediate Outputs", "Parameters"],
    },
    Family {
        name: "Causal Attribution",
        submethods: &["Patching", "Ablation", "Attribution Patching"],
    },
    Family {
        name: "Circuit Discovery",
        submethods: &[
            "Intervention-based Edge Search",
            "Attribution-based Edge Scoring",
            "Feature-based Replacement Models",
        ],
    },
    Family {
        name: "SHAP",
        submethods: &["Foundational and Estimator-based", "Extended (FastSHAP)"],
    },
    Family {
        name: "Neural Feature Learning",
        submethods: &[
            "network-as-filter",
            "gradient outer product",
            "kernel/NTK regime",
            "eigenvector direction",
        ],
    },
    Family { name: "Multi-Modal", submethods: &["CLIP-Dissect", "Zennit-CRP"] },
];

/// What joins a family and its submethod.
pub const SUBMETHOD: &str = " / ";

/// The family that a name stands for: the family's own, or one followed by a submethod.
pub fn family(name: &str) -> Option<&'static Family> {
    let name = name.split_once(SUBMETHOD).map_or(name, |(family, _)| family);
    FAMILIES.iter().find(|family| family.name == name)
}

/// The family that a free text names outright: by its own name, with or without a submethod, or by the name
/// of a submethod alone; whatever the case.
pub fn family_named_by(text: &str) -> Option<&'static Family> {
    let same = |name: &str| name.eq_ignore_ascii_case(text.trim());
    let head = text.split_once(SUBMETHOD).map_or(text, |(family, _)| family).trim();
    FAMILIES.iter().find(|family| {
        family.name.eq_ignore_ascii_case(head) || family.submethods.iter().any(|name| same(name))
    })
}

/// What a claim's data may be.
pub static PROVENANCES: &[&str] = &["existing", "adapted", "constructed"];

/// What a figure may be.
pub static FIGURE_TYPES: &[&str] =
    &["line", "bar", "grouped_bar", "scatter", "heatmap", "box", "violin", "multi_panel", "table"];

/// What an impact assessment may recommend.
pub static RECOMMENDATIONS: &[&str] = &["PROCEED", "PROCEED WITH CAUTION", "DEPRIORITIZE"];

/// The aliases of models.
pub static MODEL_ALIASES: &[&str] = &["opus", "sonnet", "haiku"];

/// Words that say how something stands and are therefore no finding.
pub static LABELS: &[&str] = &[
    "pass",
    "fail",
    "failed",
    "passed",
    "warn",
    "inconclusive",
    "zero eligible variants",
    "zeroeligiblevariants",
    "integrity only",
    "integrityonly",
    "supported",
    "notsupported",
    "not supported",
    "partial",
    "null",
    "none",
    "na",
    "n a",
    "planned",
    "holds",
    "falsified",
    "confirmed",
    "refuted",
    "established",
    "conditional",
    "notestablished",
    "not established",
    "unverified",
    "ok",
    "done",
    "positive",
    "negative",
    "yes",
    "no",
];

/// What stays at the root when a round is archived, whatever the intent.
pub static KEPT: &[&str] = &[
    ".claude",
    ".mcp.json",
    ".git",
    ".gitignore",
    "task.md",
    "research_memory.json",
    "rounds",
    "notification",
];

/// What stays as well when the same behavior is taken up again.
pub static KEPT_FOR_SAME_BEHAVIOR: &[&str] = &["data", "cache"];

/// Where the journal lies; it never moves.
pub const JOURNAL: &str = ".rp";

/// Most tests of the phenomenon in a round.
pub const PHENOMENON_TESTS_MAX: u64 = 5;
/// Most rejections of a stage before the round must end for a decision.
pub const REJECTIONS_MAX: u64 = 2;
/// Most repairs of a claim's main experiment.
pub const STEP_REPAIRS_MAX: u64 = 2;
/// Most figures of a claim.
pub const FIGURES_PER_CLAIM_MAX: usize = 5;
/// Most words of a directory's short name.
pub const SLUG_WORDS_MAX: usize = 4;
/// Fewest words of a finding.
pub const FINDING_WORDS_MIN: usize = 4;

/// Declares an enumeration whose variants are words of the wire.
macro_rules! words {
    ($(#[doc = $doc:literal])+ $name:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(
            Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
        )]
        pub enum $name {
            $(#[doc = concat!("`", $word, "`.")] $variant),+
        }

        impl $name {
            /// Every word, in order.
            pub const WORDS: &'static [&'static str] = &[$($word),+];

            /// The variant of a word.
            pub fn parse(word: &str) -> Option<Self> {
                match word {
                    $($word => Some(Self::$variant),)+
                    _ => None,
                }
            }

            /// The word.
            pub fn as_str(self) -> &'static str {
                match self {
                    $(Self::$variant => $word),+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words!(
    /// A stage of a round.
    StageName {
        Claim = "claim",
        Experiment = "experiment",
        Verify = "verify",
        Iteration = "iteration",
    }
);

words!(
    /// What a variant swaps.
    Axis { Method = "method", Dataset = "dataset", Model = "model" }
);

words!(
    /// How bad an audit is; the worse is the greater.
    Severity { Nothing = "n/a", Pass = "pass", Warn = "warn", Fail = "fail" }
);

words!(
    /// What is known of a phenomenon.
    PhenomenonStatus {
        Established = "established",
        Conditional = "conditional",
        NotEstablished = "not-established",
        Inconclusive = "inconclusive",
    }
);

words!(
    /// The main experiment's verdict, without its wording.
    BaseVerdict {
        Supported = "supported",
        NotSupported = "not-supported",
        Partial = "partial",
        Null = "null",
    }
);

words!(
    /// The verify stage's verdict on a claim.
    Verdict {
        Pass = "PASS",
        Fail = "FAIL",
        Inconclusive = "INCONCLUSIVE",
        ZeroEligible = "ZERO_ELIGIBLE_VARIANTS",
        IntegrityOnly = "INTEGRITY_ONLY",
    }
);

words!(
    /// What the user wants of the next round.
    Intent {
        NewBehavior = "new-behavior",
        NewMechanism = "new-mechanism",
        ReValidate = "re-validate",
    }
);

words!(
    /// How a round may end.
    Ending {
        Completed = "completed",
        TruncatedAtVerify = "truncated-at-verify",
        NotEstablished = "ended-phenomenon-not-established",
        Inconclusive = "ended-phenomenon-inconclusive",
        NeedsDecision = "ended-needs-decision",
        Halted = "halted",
    }
);

impl Ending {
    /// The ending that a pipeline status names, bare or with its qualifier (E.1, L26); `None` while it runs.
    pub fn leading(status: &str) -> Option<Self> {
        if status.starts_with("halted-at-") {
            return Some(Self::Halted);
        }
        Self::parse(status.split(' ').next().unwrap_or_default())
    }

    /// Whether the ending is a scientific outcome, which the memory keeps.
    pub fn is_scientific(self) -> bool {
        match self {
            Self::Completed
            | Self::TruncatedAtVerify
            | Self::NotEstablished
            | Self::Inconclusive => true,
            Self::NeedsDecision | Self::Halted => false,
        }
    }
}

impl StageName {
    /// Every stage, in order.
    pub const ALL: [Self; 4] = [Self::Claim, Self::Experiment, Self::Verify, Self::Iteration];
}

impl PhenomenonStatus {
    /// Whether mechanism work may build on it.
    pub fn holds(self) -> bool {
        match self {
            Self::Established | Self::Conditional => true,
            Self::NotEstablished | Self::Inconclusive => false,
        }
    }

    /// Whether the question is answered.
    pub fn is_settled(self) -> bool {
        match self {
            Self::Established | Self::Conditional | Self::NotEstablished => true,
            Self::Inconclusive => false,
        }
    }
}
