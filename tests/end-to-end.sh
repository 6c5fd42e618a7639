#!/usr/bin/env bash
# The sample program through the real binary: recorded, folded, refused, validated, and checked once more by the
# verifier that shares no code with it.
#
#     tests/end-to-end.sh RP_BINARY DIR
#
# DIR is made, or empty. It holds afterwards `program/`, whose journal has the whole sample; `refusals/`, the same
# with each line of rejected.jsonl tried where it must fail; `import/`, the second round after an import of the first; `quickstart/`; and `home/` with the keys. $PYTHON
# (else python3) needs the packages that spec/verify.py names.
set -euo pipefail

if [ $# -ne 2 ]; then
    sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
    exit 64
fi
rp=$(realpath "$1")
mkdir -p "$2"
dir=$(realpath "$2")
if [ -n "$(ls -A "$dir")" ]; then
    echo "end-to-end: $dir is not empty" >&2
    exit 73
fi
repository=$(realpath "$(dirname "$0")/..")
sample=$repository/spec/samples/program
python=${PYTHON:-python3}
roles="user orchestrator claim-agent experiment-agent verify-agent iteration-agent launcher monitor paper-figure notify next-round"

# The caller's settings must not decide what is tested.
for name in $(compgen -e | grep '^RP_' || true); do unset "$name"; done
export RP_HOME=$dir/home NO_COLOR=1

say() { printf -- '- %s\n' "$*"; }
fail() {
    printf 'end-to-end: %s\n' "$*" >&2
    exit 1
}

# Runs a command that must end with a code; its output goes to $dir/out and $dir/err.
ends() {
    local due=$1 code=0
    shift
    "$@" >"$dir/out" 2>"$dir/err" || code=$?
    if [ "$code" -ne "$due" ]; then
        tail -n 20 "$dir/out" "$dir/err" >&2
        fail "exit $code where $due was due: $*"
    fi
}

# A view's bytes must be those of a file.
folds() {
    local file=$1
    shift
    ends 0 "$rp" -C "$dir/program" fold "$@"
    cmp "$dir/out" "$file" || fail "rp fold $* is not $file"
}

# The verifier in another language, with the checkpoint that was remembered outside the workspace.
verifies() {
    ends 0 "$rp" -C "$1" head
    local log
    log=$(sed -n 's/^log //p' "$dir/out")
    cp "$dir/out" "$dir/receipt"
    [ -f "$RP_HOME/known/$log" ] || fail "no checkpoint of $log is remembered in $RP_HOME/known"
    ends 0 "$python" "$repository/spec/verify.py" "$1" --remembered "$RP_HOME/known/$log" --head "$dir/receipt"
}

# A workspace with a key for each role, each named as its role.
begin() {
    mkdir "$1"
    ends 0 "$rp" -C "$1" init --profile compat
    for role in $roles; do
        ends 0 "$rp" -C "$1" key new "$role" --role "$role"
    done
}

say "an empty folder becomes a workspace with eleven keys"
begin "$dir/program"
ends 73 "$rp" -C "$dir/program" init --profile compat
ends 0 "$rp" -C "$dir/program" validate
verifies "$dir/program"

say "the sample is recorded"
ends 0 "$rp" -C "$dir/program" append --batch --file "$sample/events.jsonl" --json
first=$("$python" - "$dir/out" "$sample/events.jsonl" <<'PYTHON'
import json, sys

answers = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
lines = sum(1 for _ in open(sys.argv[2], encoding="utf-8"))
receipts, summary = answers[:-1], answers[-1]
assert lines == 257, f"the sample has {lines} lines"
assert summary["schema"] == "rp.append.summary/1", summary
assert (summary["recorded"], summary["duplicates"]) == (lines, 0), summary
assert [receipt["line"] for receipt in receipts] == list(range(1, lines + 1)), "the lines are not in order"
first = receipts[0]["seq"]
assert [receipt["seq"] for receipt in receipts] == list(range(first, first + lines)), "positions have gaps"
print(first)
PYTHON
) || fail "the answers of rp append are not as they should be"
at() { echo $((first + $1 - 1)); }

say "each file of the sample is folded byte for byte"
for round in 1 2; do
    folds "$sample/round_$round/claims_ledger.json" ledger --round $round --format json
    folds "$sample/round_$round/CLAIMS_LEDGER.md" ledger --round $round --format md
done
folds "$sample/research_memory.json" memory --format json
folds "$sample/round_2/drafted_task.md" next-task
folds "$sample/round_1/claims_ledger.json" ledger --round 1 --format json --at "$(at 200)"
folds "$sample/round_1/CLAIMS_LEDGER.md" ledger --round 1 --format md --at "$(at 200)"
folds "$sample/round_1/research_memory.json" memory --format json --at "$(at 200)"
folds "$sample/round_1/drafted_task.md" next-task --at "$(at 200)"
folds "$sample/round_2/drafted_task.md" next-task --at "$(at 257)"

say "files are written and found in step"
ends 0 "$rp" -C "$dir/program" sync
ends 0 "$rp" -C "$dir/program" sync --check
cmp "$dir/program/research_memory.json" "$sample/research_memory.json"
cmp "$dir/program/rounds/round_1/claims_ledger.json" "$sample/round_1/claims_ledger.json"

say "both auditors find it whole"
ends 0 "$rp" -C "$dir/program" validate
ends 0 "$rp" -C "$dir/program" verify
verifies "$dir/program"

say "each rejected line is refused with its code, and changes no view"
begin "$dir/refusals"
"$python" - "$rp" "$dir/refusals" "$sample" <<'PYTHON' || fail "a rejected line was not refused as it should be"
import json, subprocess, sys

rp, workspace, sample = sys.argv[1:]
lines = open(f"{sample}/events.jsonl", encoding="utf-8").read().splitlines(keepends=True)
rejected = [json.loads(line) for line in open(f"{sample}/rejected.jsonl", encoding="utf-8")]


def run(*args, given=""):
    return subprocess.run([rp, "-C", workspace, *args], input=given.encode(), capture_output=True)


def views():
    # A view that has nothing to show yet must go on to show nothing.
    asked = [["ledger", "--round", n, "--format", form] for n in "12" for form in ("json", "md")]
    asked += [["memory"], ["next-task"]]
    answers = [run("fold", *args) for args in asked]
    return [(answer.returncode, answer.stdout) for answer in answers]


recorded = 0
for after in sorted({case["after_line"] for case in rejected}):
    batch = "".join(lines[recorded:after])
    if batch:
        done = run("append", "--batch", "--file", "-", given=batch)
        assert done.returncode == 0, f"lines {recorded + 1} to {after}: {done.stdout}{done.stderr}"
    recorded = after
    before = views()
    for case in (case for case in rejected if case["after_line"] == after):
        event = case["event"]
        data = json.dumps(event["data"], ensure_ascii=False)
        args = ["append", event["kind"], "--as", event["as"], "--round", str(event["round"])]
        done = run(*args, "--data", data, "--json")
        what = f"after line {after}, {event['kind']} ({case['why']})"
        assert done.returncode == 2, f"{what}: exit {done.returncode}, {done.stdout}"
        answer = json.loads(done.stdout)
        assert answer["schema"] == "rp.error/1" and answer["next"], f"{what}: {answer}"
        assert answer["code"] == case["expect"], f"{what}: {case['expect']} was due, {answer}"
    assert views() == before, f"a refusal after line {after} changed a view"
done = run("append", "--batch", "--file", "-", given="".join(lines[recorded:]))
assert done.returncode == 0, f"lines {recorded + 1} on: {done.stdout}{done.stderr}"
print(f"  {len(rejected)} refusals after {len({case['after_line'] for case in rejected})} prefixes")
PYTHON
ends 0 "$rp" -C "$dir/refusals" fold memory --format json
cmp "$dir/out" "$sample/research_memory.json" || fail "memory differs where refusals stand between the events"
ends 0 "$rp" -C "$dir/refusals" validate
verifies "$dir/refusals"

say "a project in files is taken over, continued for a round and archived"
begin "$dir/import"
mkdir -p "$dir/import/rounds/round_1"
cp "$sample/round_1/claims_ledger.json" "$sample/round_1/CLAIMS_LEDGER.md" "$dir/import/rounds/round_1/"
cp "$sample/round_1/research_memory.json" "$dir/import/"
ends 0 "$rp" -C "$dir/import" import program . --name negation-decay --json
ends 0 "$rp" -C "$dir/import" import program . --name negation-decay --json
ends 0 "$rp" -C "$dir/import" validate
sed -n '202,257p' "$sample/events.jsonl" >"$dir/batch"
ends 0 "$rp" -C "$dir/import" append --batch --file "$dir/batch"
ends 0 "$rp" -C "$dir/import" sync
for round in 1 2; do
    cmp "$dir/import/rounds/round_$round/claims_ledger.json" "$sample/round_$round/claims_ledger.json"
    cmp "$dir/import/rounds/round_$round/CLAIMS_LEDGER.md" "$sample/round_$round/CLAIMS_LEDGER.md"
done
cmp "$dir/import/research_memory.json" "$sample/research_memory.json"
ends 0 "$rp" -C "$dir/import" validate
verifies "$dir/import"

say "quickstart makes a program once, and never over another"
ends 0 "$rp" -C "$dir" quickstart quickstart
ends 73 "$rp" -C "$dir" quickstart quickstart
ends 0 "$rp" -C "$dir/quickstart" validate
verifies "$dir/quickstart"

rm -f "$dir/out" "$dir/err" "$dir/receipt" "$dir/batch"
say "done"
