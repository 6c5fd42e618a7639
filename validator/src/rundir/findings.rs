//! What a validation finds: codes, places, and the line of the checklist that each finding stands for.

/// One thing that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The protocol's code.
    pub code: &'static str,
    /// The file, relative to the run directory.
    pub path: String,
    /// What was found, and what was due.
    pub message: String,
    /// The line of a journal or of the results, from 1.
    pub line: Option<u64>,
    /// The lines of `spec/conformance/run.md`: that of the rule last, before it those of the places that use
    /// a generic rule.
    pub rules: Vec<u16>,
}

/// Collects findings; knows where the validation stands.
#[derive(Debug, Default)]
pub struct Findings {
    /// What rejects.
    pub errors: Vec<Finding>,
    /// What a reader should know although it rejects nothing.
    pub warnings: Vec<Finding>,
    path: String,
    line: Option<u64>,
    within: Vec<u16>,
}

impl Findings {
    /// Notes an error under a line of the checklist.
    pub fn find(&mut self, rule: u16, code: &'static str, message: impl Into<String>) {
        let finding = self.finding(rule, code, message.into());
        self.errors.push(finding);
    }

    /// Notes an error unless a demand holds; says whether it does.
    pub fn due(
        &mut self,
        holds: bool,
        rule: u16,
        code: &'static str,
        message: impl Into<String>,
    ) -> bool {
        if !holds {
            self.find(rule, code, message);
        }
        holds
    }

    /// Notes a warning.
    pub fn warn(&mut self, rule: u16, code: &'static str, message: impl Into<String>) {
        let finding = self.finding(rule, code, message.into());
        self.warnings.push(finding);
    }

    fn finding(&self, rule: u16, code: &'static str, message: String) -> Finding {
        let rules = self.within.iter().copied().chain([rule]).collect();
        Finding { code, path: self.path.clone(), message, line: self.line, rules }
    }

    /// Works at another place.
    pub fn at<T>(&mut self, path: &str, line: Option<u64>, work: impl FnOnce(&mut Self) -> T) -> T {
        let before = (std::mem::replace(&mut self.path, path.to_owned()), self.line);
        self.line = line;
        let done = work(self);
        (self.path, self.line) = before;
        done
    }

    /// Works under a line of the checklist that asks for generic rules.
    pub fn within<T>(&mut self, rule: u16, work: impl FnOnce(&mut Self) -> T) -> T {
        self.within.push(rule);
        let done = work(self);
        self.within.pop();
        done
    }

    /// Whether anything was found since there were this many errors.
    pub fn is_clean_since(&self, errors: usize) -> bool {
        self.errors.len() == errors
    }

    /// Sorts by file, line and code, as the output has them.
    pub(super) fn sort(&mut self) {
        for list in [&mut self.errors, &mut self.warnings] {
            list.sort_by(|left, right| {
                let key = |finding: &Finding| (finding.line.unwrap_or(0), finding.code);
                left.path.cmp(&right.path).then_with(|| key(left).cmp(&key(right)))
            });
        }
    }
}
