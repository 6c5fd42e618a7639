#!/usr/bin/env python3
"""An independent verifier for the journal format of FORMAT.md.

It was written from that text alone and shares no code with `rp`. It checks bytes, chain,
tree, signatures, and authority by role and sequence; the program's own rules and the files
derived from the journal are not checked.

    verify.py WORKSPACE [--remembered FILE] [--head RECEIPT] [--kinds FILE] [--json]
    verify.py WORKSPACE --mutations FILE [...]    judge many mutations of one journal
    verify.py --vectors FILE                      check the byte vectors

The exit code is that of the class (section 7), or 64 for a wrong call. A line of a mutations
file is {"id": .., "edits": [..], "remembered": true}, see `edit`; each gets a line of answer.
Needs Python 3.9 and the packages `cryptography` and `blake3`.
"""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import struct
import sys
from functools import lru_cache, partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional
from zlib import crc32

from blake3 import blake3
from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

# The classes and their exit codes; if several apply, the first is reported.
EXITS = {"broken": 2, "fork": 4, "rollback": 4, "unverifiable": 5, "nothing": 5, "torn": 3, "ok": 0, "unreadable": 74}
VERDICTS = {"ok": "pass", "nothing": "nothing-to-check", "unverifiable": "could-not-run", "unreadable": "could-not-run"}
SEGMENT = re.compile(r"[0-9]{20}\.rpj")
HEX = re.compile("[0-9a-f]{64}")


class Bad(Exception):
    """Something that the format does not allow."""


class Unreadable(Exception):
    """A file that could not be read."""


def need(holds: bool, why: str) -> None:
    if not holds:
        raise Bad(why)


# Section 2: the strict profile.

FORBIDDEN = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
SIMPLE = {0xC0: None, 0xC2: False, 0xC3: True}
# First byte: family, width of the number that follows, and the values that need no such width.
FORMS = {
    0xC4: ("bin", 1, range(0)), 0xC5: ("bin", 2, range(1 << 8)), 0xC6: ("bin", 4, range(1 << 16)),
    0xCC: ("uint", 1, range(1 << 7)), 0xCD: ("uint", 2, range(1 << 8)), 0xCE: ("uint", 4, range(1 << 16)),
    0xCF: ("uint", 8, range(1 << 32)), 0xD0: ("int", 1, range(-32, 1 << 7)), 0xD1: ("int", 2, range(-128, 1 << 15)),
    0xD2: ("int", 4, range(-(1 << 15), 1 << 31)), 0xD3: ("int", 8, range(-(1 << 31), 1 << 63)),
    0xD9: ("str", 1, range(32)), 0xDA: ("str", 2, range(1 << 8)), 0xDB: ("str", 4, range(1 << 16)),
    0xDC: ("array", 2, range(16)), 0xDD: ("array", 4, range(1 << 16)),
    0xDE: ("map", 2, range(16)), 0xDF: ("map", 4, range(1 << 16)),
}


def decode(raw: bytes, at: int, depth: int, spans: Optional[dict[str, bytes]] = None) -> tuple[Any, int]:
    """The value at `at` and where it ends; `spans` collects the bytes of its members if it is a map."""
    need(at < len(raw), "a value is cut short")
    first, at = raw[at], at + 1
    if first < 0x80 or first >= 0xE0:
        return (first if first < 0x80 else first - 256), at
    if first in SIMPLE:
        return SIMPLE[first], at
    if first < 0xC0:
        family = "map" if first < 0x90 else "array" if first < 0xA0 else "str"
        number = first & (31 if family == "str" else 15)
    else:
        need(first in FORMS, "a first byte is not allowed")
        family, width, shorter = FORMS[first]
        number = int.from_bytes(raw[at:at + width], "big", signed=family == "int")
        at += width
        need(at <= len(raw) and number not in shorter, "a number is cut short or not in the shortest form")
    if family in ("uint", "int"):
        return number, at
    if family in ("str", "bin"):
        need(at + number <= len(raw), "a string is cut short")
        part: Any = raw[at:at + number]
        if family == "str":
            try:
                part = part.decode()
            except UnicodeDecodeError:
                raise Bad("a str is not UTF-8") from None
            need(not FORBIDDEN.search(part), "a str holds a forbidden character")
        return part, at + number
    need(depth <= 16, "more than 16 containers stand inside one another")
    if family == "array":
        items = []
        for _ in range(number):
            item, at = decode(raw, at, depth + 1)
            items.append(item)
        return items, at
    members: dict[str, Any] = {}
    before = None
    for _ in range(number):
        name, start = decode(raw, at, depth + 1)
        need(type(name) is str, "a map key is not a str")
        need(before is None or before < name.encode(), "map keys are not strictly ascending")
        members[name], at = decode(raw, start, depth + 1)
        before = name.encode()
        if spans is not None:
            spans[name] = raw[start:at]
    return members, at


# Section 3: keys and signatures.

P = 2**255 - 19
D = -121665 * pow(121666, P - 2, P) % P
ORDER = 2**252 + 27742317777372353535851937790883648493
Y8 = 2707385501144840649318225287225658788936804267575313519463743609750303402022
SMALL_ORDER = {0, 1, P - 1, Y8, P - Y8}  # the y of the eight points whose order divides 8
EVENT_TYPE = b"application/vnd.rp.event.v1+msgpack"
POP_TYPE = b"application/vnd.rp.key-pop.v1"


def canonical_large(point: bytes) -> Optional[int]:
    """The y of an encoded point, unless it is not below p or belongs to a point of small order."""
    y = int.from_bytes(point, "little") & ((1 << 255) - 1)
    return None if y >= P or y in SMALL_ORDER else y


@lru_cache(1 << 14)
def admissible(public: bytes) -> bool:
    y = canonical_large(public)
    if y is None:
        return False
    square = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    return pow(square, (P - 1) // 2, P) == 1


@lru_cache(1 << 16)
def signed(public: bytes, kind: bytes, payload: bytes, signature: bytes) -> bool:
    if not admissible(public) or canonical_large(signature[:32]) is None:
        return False
    if int.from_bytes(signature[32:], "little") >= ORDER:
        return False
    return ed25519(public, b"DSSEv1 %d %s %d %s" % (len(kind), kind, len(payload), payload), signature)


def ed25519(public: bytes, message: bytes, signature: bytes) -> bool:
    try:
        Ed25519PublicKey.from_public_bytes(public).verify(signature, message)
    except InvalidSignature:
        return False
    return True


def derive(context: str, data: bytes) -> bytes:
    return blake3(data, derive_key_context=context).digest()


def kid_of(public: bytes) -> bytes:
    return sha256(b"rp-key/1\n" + public).digest()


# Sections 3 and 8: the shapes of bodies and of trust payloads.

ROLES = set("user orchestrator claim-agent experiment-agent verify-agent iteration-agent launcher monitor "
            "paper-figure notify next-round supervisor recorder".split())

Check = Callable[[Any], bool]


def natural(value: Any, most: int = 2**64 - 1) -> bool:
    return type(value) is int and 0 <= value <= most


def short(value: Any) -> bool:
    return type(value) is str and 1 <= len(value.encode()) <= 200


def binary(size: int) -> Check:
    return lambda value: type(value) is bytes and len(value) == size


def text(pattern: str) -> Check:
    return lambda value: type(value) is str and re.fullmatch(pattern, value, re.DOTALL) is not None


def exactly(*wanted: Any) -> Check:
    return lambda value: any(type(value) is type(one) and value == one for one in wanted)


def listed(check: Check, least: int, most: int = 65535) -> Check:
    return lambda value: type(value) is list and least <= len(value) <= most and all(map(check, value))


TEXT, MOMENT, POINT = text(".*"), partial(natural, most=253_402_207_199_999), binary(32)
BODY: dict[str, Check] = {
    "at?": MOMENT, "cause?": listed(listed(TEXT, 2, 2), 1, 64), "data": lambda value: type(value) is dict,
    "idem": binary(16), "kid": binary(32), "nonce": binary(16), "prev": binary(32), "req": binary(32),
    "seq": natural, "stream?": short, "time": MOMENT, "tv": natural, "type": short, "v": exactly(1)}
TRUST: dict[str, dict[str, Check]] = {
    "journal.opened": {
        "origin": text(r"[a-z0-9][a-z0-9./-]{0,199}"), "title?": TEXT, "profile": exactly("compat", "strict"),
        "suite": exactly("rp1:b3+sha256-rfc6962+ed25519"), "root_keys": listed(POINT, 1), "threshold": exactly(1),
        "log_key": POINT},
    "key.authorized": {
        "pub": POINT, "roles": listed(TEXT, 0), "name": text(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}"),
        "pop": binary(64), "max_seq?": natural},
    "key.rotated": {
        "old": binary(32), "new": POINT, "pop": binary(64),
        "overlap_until_seq": lambda value: value is None or natural(value)},
    "key.revoked": {"kid": binary(32), "effective_seq": natural, "suspect_from_seq": natural, "reason": TEXT},
    "role.granted": {"kid": binary(32), "role": TEXT},
    "command.rejected": {"kind": TEXT, "stream": TEXT, "kid": binary(32), "code": TEXT, "request": binary(32)},
    "journal.recovered": {"kept": natural, "cut_bytes": natural, "cut_blake3": binary(32), "cause": TEXT},
    "artifact.added": {"b3": binary(32), "sha256": binary(32), "bytes": natural, "path?": TEXT},
}


def check_fields(members: dict[str, Any], spec: dict[str, Check], what: str) -> None:
    for field, check in spec.items():
        name = field.rstrip("?")
        if name in members or name == field:
            need(name in members and check(members[name]), f"{name} of the {what} is missing or not as it should be")
    known = {field.rstrip("?") for field in spec}
    need(members.keys() <= known, f"the {what} has a field that is not known")


class Entry(NamedTuple):
    fault: Optional[str]
    id: bytes = b""
    body: dict[str, Any] = {}
    raw: bytes = b""
    signature: bytes = b""


@lru_cache(1 << 14)
def entry_of(payload: bytes) -> Entry:
    """What an entry says, or its fault, as far as its own bytes tell."""
    raw, spans = payload[5:-64], {}
    try:
        need(len(payload) >= 69 and payload[:5] == b"\1" + len(raw).to_bytes(4, "big"), "the entry's length is wrong")
        body, end = decode(raw, 0, 1, spans)
        need(end == len(raw) and type(body) is dict, "the body is not one map")
        check_fields(body, BODY, "body")
        request = b"\x93" + spans["type"] + spans["tv"] + spans["data"]
        need(body["req"] == derive("rp 2026 request v1", request), "req does not match the request")
        if body["type"] in TRUST:
            check_fields(body["data"], TRUST[body["type"]], "payload")
    except Bad as bad:
        return Entry(str(bad))
    return Entry(None, derive("rp 2026 event id v1", raw), body, raw, payload[-64:])


# Section 8: authority.

class Kinds(NamedTuple):
    """The catalogue: domain and owners of each kind in its version; sources and targets of each relation."""
    of: dict[tuple[str, int], tuple[str, list[str]]]
    between: dict[str, list[tuple[list[str], list[str]]]]


def means(pattern: str, kind: str) -> bool:
    return pattern in ("*", kind) or pattern.endswith(".*") and kind.startswith(pattern[:-1])


def is_path(path: str) -> bool:
    return len(path.encode()) <= 1024 and not re.search(r"[\n\t\\]", path) \
        and not {"", ".", ".."} & set(path.split("/"))


class Key:
    """An admitted key; `last` is the last position that it may sign."""

    def __init__(self, public: bytes, roles: set[str], last: int = 1 << 64, root: bool = False):
        self.public, self.roles, self.last, self.root, self.revoked = public, roles, last, root, False


class History:
    """What entries establish, up to the first that fails."""

    def __init__(self, kinds: Kinds, entries: tuple[bytes, ...]):
        self.kinds, self.log_key = kinds, b""
        self.ids: list[bytes] = []
        self.keys: dict[bytes, Key] = {}
        self.events: dict[str, str] = {}
        self.artifacts: dict[bytes, tuple[bytes, int, set[str]]] = {}
        self.idems: set[bytes] = set()
        self.names: set[str] = set()
        self.moments: dict[str, int] = {}
        self.fault: Optional[str] = None
        try:
            for n, payload in enumerate(entries):
                self.admit(n, entry_of(payload))
        except Bad as bad:
            self.fault = str(bad)

    def admit(self, n: int, entry: Entry) -> None:
        if entry.fault:
            raise Bad(entry.fault)
        body, kind, data = entry.body, entry.body["type"], entry.body["data"]
        need(body["seq"] == n, "seq is not the position")
        need(body["prev"] == (self.ids[-1] if n else bytes(32)), "prev is not the event before")
        need((kind, body["tv"]) in self.kinds.of, "the kind is not known in its version")
        domain, owners = self.kinds.of[kind, body["tv"]]
        need((domain == "trust") == (kind in TRUST), "the kind is not one of its domain")
        need((kind == "journal.opened") == (n == 0), "journal.opened is entry 0, and no other is")
        if n == 0:
            self.open(data)
        key = self.keys.get(body["kid"])
        if key is None or n > key.last:
            raise Bad("the signing key was not admitted, or has ended")
        stream, at = body.get("stream"), body.get("at")
        moment = "trust" if stream is None else stream
        need(domain != "trust" or stream is None, "a trust entry has a stream")
        need(domain != "program" or re.fullmatch("program|round/[1-9][0-9]{0,8}", stream or "") is not None,
             "the stream of a program entry is not as it should be")
        need(body["idem"] not in self.idems, "the idempotency key was used before")
        if at is not None:
            need(at <= body["time"] + 300_000, "at is too far after time")
            need(at >= self.moments.get(moment, 0), "at is before the last one of the stream")
            self.moments[moment] = at
        for relation, target in body.get("cause", ()):
            self.cite(kind, relation, target)
        need(any(self.owns(key, owner, data) for owner in owners), "the signing key holds no role that owns the kind")
        if n and kind in TRUST:
            getattr(self, kind.replace(".", "_"))(n, data)
        need(signed(key.public, EVENT_TYPE, entry.raw, entry.signature), "the signature does not verify")
        self.ids.append(entry.id)
        self.events[entry.id.hex()] = kind
        self.idems.add(body["idem"])

    def cite(self, source: str, relation: str, target: str) -> None:
        """Holds a citation to lead to something earlier, by a relation that exists between the two."""
        scheme, _, digits = target.rpartition(":")
        if scheme:
            sums = {"b3": self.artifacts.keys(), "sha256": [sha for sha, _, _ in self.artifacts.values()]}
            need(digits in {digest.hex() for digest in sums.get(scheme, ())}, "a citation is not one of an artifact")
            cited = "artifact"
        else:
            need(target in self.events, "a citation is not one of an earlier event")
            cited = self.events[target]

        def reaches(pattern: str) -> bool:
            if cited == "artifact":
                return pattern == "artifact"
            return cited == source if pattern == "=" else means(pattern, cited)

        rows = self.kinds.between.get(relation, [])
        need(any(any(means(one, source) for one in sources) and any(map(reaches, targets)) for sources, targets in rows),
             "the relation of a citation does not exist between the two")

    @staticmethod
    def owns(key: Key, owner: str, data: dict[str, Any]) -> bool:
        if not owner.startswith("@"):
            return owner in key.roles
        named = data.get(owner[1:])
        return type(named) is str and named + "-agent" in key.roles

    def open(self, data: dict[str, Any]) -> None:
        roots, self.log_key = data["root_keys"], data["log_key"]
        need(all(map(admissible, [*roots, self.log_key])), "a key of the genesis is not admissible")
        need(self.log_key not in roots, "the log key is a root key")
        self.keys = {kid_of(public): Key(public, {"root"}, root=True) for public in roots}
        self.names = {"root" if n == 0 else f"root-{n + 1}" for n in range(len(roots))}

    def take_up(self, n: int, public: bytes, pop: bytes, key: Key) -> None:
        need(kid_of(public) not in self.keys and public != self.log_key, "the key is not new")
        proven = signed(public, POP_TYPE, self.ids[0] + public + n.to_bytes(8, "big"), pop)
        need(proven, "the key is not admissible, or its possession is not proven")
        self.keys[kid_of(public)] = key

    def named(self, kid: bytes) -> Key:
        need(kid in self.keys and not self.keys[kid].root, "the key that is named was not admitted, or is a root key")
        return self.keys[kid]

    def key_authorized(self, n: int, data: dict[str, Any]) -> None:
        roles, last = set(data["roles"]), data.get("max_seq", 1 << 64)
        need(data["name"] not in self.names, "the name is not free")
        need(roles <= ROLES and len(roles) == len(data["roles"]), "the roles are not of the list, or one comes twice")
        need(last > n, "max_seq is past")
        self.names.add(data["name"])
        self.take_up(n, data["pub"], data["pop"], Key(data["pub"], roles, last))

    def key_rotated(self, n: int, data: dict[str, Any]) -> None:
        old, overlap = self.named(data["old"]), data["overlap_until_seq"]
        need(n <= old.last, "the old key has ended")
        need(overlap is None or overlap >= n, "the overlap is past")
        self.take_up(n, data["new"], data["pop"], Key(data["new"], set(old.roles)))
        old.last = min(old.last, n if overlap is None else overlap)

    def key_revoked(self, n: int, data: dict[str, Any]) -> None:
        key, effective = self.named(data["kid"]), data["effective_seq"]
        need(not key.revoked, "the key was revoked before")
        need(effective >= n and data["suspect_from_seq"] <= effective, "the positions are not in order")
        key.revoked, key.last = True, min(key.last, effective - 1)

    def role_granted(self, n: int, data: dict[str, Any]) -> None:
        key = self.named(data["kid"])
        need(data["role"] in ROLES and data["role"] not in key.roles, "the role is not of the list, or is held")
        key.roles.add(data["role"])

    def command_rejected(self, n: int, data: dict[str, Any]) -> None:
        """Has no rules beyond its fields."""

    def artifact_added(self, n: int, data: dict[str, Any]) -> None:
        path, sha = data.get("path"), data["sha256"]
        need(data["bytes"] > 0, "the artifact is empty")
        need(path is None or is_path(path), "the path is not one of a file in the workspace")
        if data["b3"] in self.artifacts:
            known, size, paths = self.artifacts[data["b3"]]
            need((known, size) == (sha, data["bytes"]), "the artifact contradicts an earlier entry")
            need(path is not None and path not in paths, "the artifact is on record")
        else:
            need(all(known != sha for known, _, _ in self.artifacts.values()), "the digests contradict an earlier entry")
            paths = self.artifacts.setdefault(data["b3"], (sha, data["bytes"], set()))[2]
        if path is not None:
            paths.add(path)

    def journal_recovered(self, n: int, data: dict[str, Any]) -> None:
        need(data["kept"] == n, "kept is not the position")


# Section 5: the tree.

class Tree:
    """The frontier of a growing tree, the largest perfect subtree first."""

    def __init__(self) -> None:
        self.size = 0
        self.frontier: list[bytes] = []

    def push(self, entry: bytes) -> None:
        node, bits = leaf_of(entry), self.size
        while bits & 1:
            node, bits = inner(self.frontier.pop(), node), bits >> 1
        self.frontier.append(node)
        self.size += 1


def leaf_of(entry: bytes) -> bytes:
    return sha256(b"\0" + entry).digest()


def inner(left: bytes, right: bytes) -> bytes:
    return sha256(b"\1" + left + right).digest()


def root_of(frontier: list[bytes]) -> bytes:
    root = frontier[-1] if frontier else sha256().digest()
    for node in reversed(frontier[:-1]):
        root = inner(node, root)
    return root


@lru_cache(1 << 10)
def root_over(entries: tuple[bytes, ...]) -> bytes:
    tree = Tree()
    for entry in entries:
        tree.push(entry)
    return root_of(tree.frontier)


# Section 4: segments and frames.

FRAME = struct.Struct("<4sHBBQQIIII")


def segment_header(data: bytes) -> Optional[tuple[int, bytes, bytes]]:
    """First position, log id and root before, if the header holds."""
    fixed = data[:16] == b"RPJSEG01\x80\0\0\0\0\0\0\0" and data[96:124] == bytes(28)
    if not fixed or data[124:128] != crc32(data[:124]).to_bytes(4, "little"):
        return None
    return int.from_bytes(data[48:56], "little"), data[16:48], data[64:96]


def frame_header(data: bytes, at: int) -> Optional[tuple[int, int, int, int, int, int]]:
    """Kind, flag, position, durable_upto, length and checksum of the payload, if the header holds."""
    if at + FRAME.size > len(data):
        return None
    magic, size, kind, flag, position, durable, length, check, salt, own = FRAME.unpack_from(data, at)
    holds = (magic == b"RPF1" and size == 40 and kind in (1, 2) and flag <= (kind == 1) and durable <= position
             and length <= 65535 and data[56:60] == salt.to_bytes(4, "little") and own == crc32(data[at:at + 36]))
    return (kind, flag, position, durable, length, check) if holds else None


@lru_cache(1 << 6)
def frames_of(data: bytes) -> tuple[list[tuple[bool, bool, int, bytes, int]], int]:
    """The frames that hold, up to the first that does not, and where the content ends.
    A frame is: whether it is a seal, whether its group goes on, its position, its payload and its end."""
    frames, at = [], 128
    while head := frame_header(data, at):
        kind, flag, position, _, length, check = head
        cut = at + 40 + length
        end = cut + -cut % 8
        payload = data[at + 40:cut]
        if end > len(data) or crc32(payload) != check or data[cut:end] != bytes(end - cut):
            break
        frames.append((kind == 2, flag == 1, position, payload, end))
        at = end
    return frames, len(data.rstrip(b"\0"))


def durable_later(data: bytes, at: int, due: int) -> bool:
    """Whether a frame header from `at` on says that the entry that is due was acknowledged."""
    at = data.find(b"RPF1", at)
    while at >= 0:
        head = frame_header(data, at) if at % 8 == 0 else None
        if head and head[2] >= due and head[3] > due:
            return True
        at = data.find(b"RPF1", at + 1)
    return False


# Sections 6 and 9: anchors.

class Anchor(NamedTuple):
    what: str
    size: int
    root: bytes
    last: Optional[bytes] = None
    log: Optional[bytes] = None


@lru_cache(1 << 6)
def slot_of(slot: bytes, index: int) -> Optional[tuple[int, int, bytes, bytes]]:
    """Generation, size, root and last event of a slot, if it is valid."""
    if len(slot) != 4096 or slot[:8] != b"RPHEAD01" or slot[4092:] != crc32(slot[:4092]).to_bytes(4, "little"):
        return None
    generation, size = struct.unpack_from("<QQ", slot, 8)
    end = 104 + 32 * bin(size).count("1")
    root = root_of([slot[at:at + 32] for at in range(104, end, 32)])
    holds = generation % 2 == index and slot[end:4092] == bytes(4092 - end) and root == slot[40:72]
    return (generation, size, root, slot[72:104]) if holds else None


def anchors_in(data: Optional[bytes], what: str, notes: list[str], log: Optional[bytes] = None) -> list[Anchor]:
    """The anchor that a file with the layout of HEAD holds, if any."""
    slots = [] if data is None else [data[:4096], data[4096:8192]]
    valid = []
    for index, slot in enumerate(slots):
        found = slot_of(slot, index)
        if found:
            valid.append(found)
        elif slot != bytes(4096):
            notes.append(f"slot {index} of {what} is damaged")
    if not valid:
        notes.append(f"{what} is lost" if slots else f"{what} is absent")
        return []
    _, size, root, last = max(valid)
    return [Anchor(what, size, root, last, log)] if size else []


def receipt_of(raw: bytes) -> Anchor:
    form = "rp-head 1\nlog ({0})\norigin [^\n]*\nsize ([0-9]{{1,20}})\nroot ({0})\nlast ({0})\n?".format(HEX.pattern)
    match = re.fullmatch(form.encode(), raw)
    if match is None:
        raise Unreadable("the receipt is not as in section 9")
    log, size, root, last = (group.decode() for group in match.groups())
    return Anchor("the receipt", int(size), bytes.fromhex(root), bytes.fromhex(last), bytes.fromhex(log))


# Section 7: judgement.

class Fault(Exception):
    """A class other than ok, its position, and how many entries are kept (by default all that were read)."""

    def __init__(self, kind: str, position: Optional[int], why: str, kept: Optional[int] = None):
        super().__init__(why)
        self.kind, self.position, self.why, self.kept = kind, position, why, kept


class Walk:
    """Reads the segments in order, up to the first fault."""

    def __init__(self, files: dict[str, bytes], floor: int):
        self.names = sorted(name for name in files if SEGMENT.fullmatch(name))
        self.floor, self.log, self.tree = floor, b"", Tree()
        self.entries: list[bytes] = []
        self.faults: list[Fault] = []
        try:
            if files.get("FORMAT") != b"rp-journal 1\n" and (self.names or "FORMAT" in files or "HEAD" in files):
                raise Fault("broken", None, "FORMAT is not as it should be")
            for name in self.names:
                self.segment(name, files[name], name == self.names[-1])
            if len(self.entries) < floor:
                raise Fault("rollback", len(self.entries), "the journal ends before its anchor")
        except Fault as fault:
            self.faults.append(fault)
            if fault.kept is not None:
                del self.entries[fault.kept:]

    def segment(self, name: str, data: bytes, last: bool) -> None:
        entries, start = self.entries, len(self.entries)
        if int(name[:20]) != start:
            raise Fault("broken", min(int(name[:20]), start), f"{name} should begin at {start}")
        head = segment_header(data)
        if head is None and last and start >= self.floor and not data[128:].strip(b"\0"):
            raise Fault("torn", start, f"the header of {name} is not whole")
        if head is None or head[0] != start or head[2] != root_of(self.tree.frontier) or start and head[1] != self.log:
            raise Fault("broken", start, f"the header of {name} does not hold, or contradicts what is before it")
        self.log = head[1]
        frames, content = frames_of(data)
        kept, at = start, 128
        for seal, goes_on, position, payload, end in frames:
            due = len(entries)
            if seal:
                for entry in entries[start:]:
                    self.tree.push(entry)
                said = due > 0 and payload == (due - 1).to_bytes(8, "little") + root_of(self.tree.frontier)
                if not said or position != due or kept != due or (end < content if last else end != len(data)):
                    raise Fault("broken", due, f"the seal of {name} does not match")
                return
            if position != due:
                break
            entries.append(payload)
            kept, at = kept if goes_on else due + 1, end
        due = len(entries)
        if not last:
            raise Fault("broken", due, f"a frame of {name} does not hold, or the seal is missing")
        if at >= content:
            if kept < self.floor:
                raise Fault("rollback", kept, "the journal ends before its anchor", kept)
            if kept < due:
                raise Fault("torn", kept, "the last group is not closed", kept)
        elif kept < self.floor or durable_later(data, at, due):
            raise Fault("broken", due, f"the frame at {at} of {name} does not hold, and was acknowledged")
        else:
            raise Fault("torn", kept, f"the frame at {at} of {name} does not hold", kept)


def judge(files: dict[str, bytes], establish: Callable[[tuple[bytes, ...]], History],
          others: list[Anchor], notes: list[str]) -> dict[str, Any]:
    """The judgement of a journal, from the files of its folder and the anchors outside it."""
    notes = list(notes)
    heads = anchors_in(files.get("HEAD"), "HEAD", notes)
    anchors = [anchor for anchor in heads + others if anchor.size]
    floor = max((anchor.size for anchor in anchors), default=0)
    walk = Walk(files, floor)
    entries, faults = tuple(walk.entries), walk.faults
    count, history = len(entries), establish(entries)
    if history.fault:
        faults.append(Fault("broken", len(history.ids), f"entry {len(history.ids)}: {history.fault}"))
    if history.ids and history.ids[0] != walk.log:
        faults.append(Fault("broken", 0, "the log id of the segments is not the event id of entry 0"))
    for anchor in anchors if len(history.ids) == count else ():
        if count and anchor.log not in (None, history.ids[0]):
            faults.append(Fault("fork", None, f"{anchor.what} belongs to another log"))
        elif anchor.size <= count and anchor.root != root_over(entries[:anchor.size]):
            faults.append(Fault("fork", None, f"{anchor.what} has another root over {anchor.size} entries"))
        elif anchor.size <= count and anchor.last not in (None, history.ids[anchor.size - 1]):
            faults.append(Fault("fork", None, f"{anchor.what} has another event at {anchor.size - 1}"))
    if not anchors and count:
        faults.append(Fault("unverifiable", None, "there is no anchor: nobody can say whether the tail was cut"))
    elif not anchors:
        faults.append(Fault("nothing", None, "there are no entries"))
    ranks = list(EXITS)
    worst = min(faults, key=lambda fault: (ranks.index(fault.kind), -1 if fault.position is None else fault.position),
                default=Fault("ok", None, f"{count} entries hold, and the anchors match"))
    return report(worst.kind, worst.position, worst.why, notes, (
        count, len(walk.names), len(history.ids), len(history.keys), sum(len(files[name]) for name in walk.names),
        max(0, count - floor)))


def report(kind: str, first_bad: Optional[int], why: str, notes: list[str], counts=(0,) * 6) -> dict[str, Any]:
    names = ("entries", "segments", "signatures", "keys", "bytes", "unacknowledged")
    return {"schema": "rp.verify/1", "class": kind, "verdict": VERDICTS.get(kind, "fail"), "exit": EXITS[kind],
            "first_bad": first_bad, "why": why, "counts": dict(zip(names, counts)), "notes": notes,
            "not_checked": ["domain rules", "derived files"]}


# Files.

def read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Unreadable(str(error)) from None


def read_journal(workspace: Path) -> dict[str, bytes]:
    folder = workspace / ".rp" / "journal"
    try:
        os.listdir(workspace)
        names = os.listdir(folder) if os.path.lexists(folder) else []
    except OSError as error:
        raise Unreadable(str(error)) from None
    return {name: read(folder / name) for name in names if name in ("FORMAT", "HEAD") or SEGMENT.fullmatch(name)}


def read_kinds(path: Path) -> Kinds:
    try:
        document = json.loads(read(path))
        need(document["schema"] == "rp.kinds/1", "another schema")
        between = {one["name"]: [(row["from"], row["to"]) for row in one["between"]] for one in document["relations"]}
        return Kinds({(kind["kind"], kind["version"]): (kind["domain"], kind["owners"]) for kind in document["kinds"]},
                     between)
    except (Bad, ValueError, KeyError, TypeError) as error:
        raise Unreadable(f"{path} is not a list of kinds: {error!r}") from None


def read_remembered(path: Path, notes: list[str]) -> list[Anchor]:
    log = bytes.fromhex(path.name) if HEX.fullmatch(path.name) else None
    try:
        return anchors_in(path.read_bytes(), "the remembered checkpoint", notes, log)
    except OSError as error:
        notes.append(f"the remembered checkpoint cannot be read: {error}")
        return []


# Mutations of one journal.

def edit(files: dict[str, bytes], change: dict[str, Any]) -> None:
    """One of: flip (bit, 0 is the lowest of the first byte), truncate (len), append (hex or zeros), write (at, hex),
    delete, zero or empty a `file`; swap `a` and `b`."""
    op, name = change["op"], change.get("file", "")
    if op == "swap":
        files[change["a"]], files[change["b"]] = files[change["b"]], files[change["a"]]
        return
    data = files.pop(name)
    if op == "flip":
        at, bit = divmod(change["bit"], 8)
        files[name] = data[:at] + bytes((data[at] ^ 1 << bit,)) + data[at + 1:]
    elif op == "truncate":
        files[name] = data[:change["len"]]
    elif op == "append":
        files[name] = data + bytes.fromhex(change.get("hex", "")) + bytes(change.get("zeros", 0))
    elif op == "write":
        at, new = change["at"], bytes.fromhex(change["hex"])
        files[name] = data[:at].ljust(at, b"\0") + new + data[at + len(new):]
    elif op in ("zero", "empty"):
        files[name] = bytes(len(data) if op == "zero" else 0)
    elif op != "delete":
        raise ValueError(f"the edit {op} is not known")


def judge_mutations(path: Path, files: dict[str, bytes], establish: Callable[[tuple[bytes, ...]], History],
                    remembered: list[Anchor], given: list[Anchor]) -> None:
    with path.open() as lines:
        for mutation in map(json.loads, lines):
            copy = dict(files)
            for change in mutation["edits"]:
                edit(copy, change)
            result = judge(copy, establish, given + (remembered if mutation.get("remembered", True) else []), [])
            answer = {name: result[name] for name in ("class", "exit", "first_bad")}
            print(json.dumps({"id": mutation["id"], **answer}))


# Byte vectors.

def note_holds(note: str, vkey: str, size: int, root: bytes) -> bool:
    """Whether this is the checkpoint of `size` and `root`, signed by the key of `vkey`."""
    name, key_id, key = vkey.split("+", 2)
    typed, (said, signature) = base64.b64decode(key), note.rsplit(" ", 1)
    raw, message = base64.b64decode(signature), f"{name}\n{size}\n{base64.b64encode(root).decode()}\n"
    same_key = raw[:4].hex() == key_id == sha256(f"{name}\n".encode() + typed).hexdigest()[:8]
    return (said == f"{message}\n\u2014 {name}" and typed[0] == 1 and same_key
            and ed25519(typed[1:], message.encode(), raw[4:]))


def check_vectors(vectors: dict[str, Any]) -> int:
    checked: dict[str, list[bool]] = {}
    tree, leaves, ids, keys = Tree(), [], [bytes(32)], {}

    def check(what: str, holds: bool) -> None:
        checked.setdefault(what, []).append(holds)

    check("roots", root_of([]).hex() == vectors["roots"][0])
    for n, vector in enumerate(vectors["entries"]):
        raw, signature = bytes.fromhex(vector["body"]), bytes.fromhex(vector["sig"])
        payload = b"\1" + len(raw).to_bytes(4, "big") + raw + signature
        entry = entry_of(payload)
        data = entry.body["data"]
        check("entries", not entry.fault and len(payload) == vector["entry_len"] and entry.body["prev"] == ids[-1])
        check("event ids", entry.id.hex() == vector["event_id"])
        keys.update((kid_of(key), key) for key in data.get("root_keys", ()))
        check("signatures", signed(keys[entry.body["kid"]], EVENT_TYPE, raw, signature))
        if "pop" in data:
            keys[kid_of(data["pub"])] = data["pub"]
            same = vectors["pop_of_entry_1"] == {"pub": data["pub"].hex(), "sig": data["pop"].hex()}
            claim = ids[1] + data["pub"] + n.to_bytes(8, "big")
            check("pop", same and signed(data["pub"], POP_TYPE, claim, data["pop"]))
        ids.append(entry.id)
        leaves.append(leaf_of(payload))
        tree.push(payload)
        check("leaves", leaves[-1].hex() == vector["leaf"])
        check("roots", root_of(tree.frontier).hex() == vectors["roots"][n + 1])
        if n == 0:  # The checksums of the vector are of another kind; these are CRC-32 (IEEE).
            frame = bytearray.fromhex(vectors["frame_0_salt_1122334455667788"])
            frame[28:32], frame[36:40] = bytes.fromhex("d2d88409"), bytes.fromhex("188d997e")
            segment = bytes(56) + (0x1122334455667788).to_bytes(8, "little") + bytes(64) + frame
            check("frames", frames_of(segment)[0] == [(False, False, 0, payload, len(segment))])
    proof = [leaves[3], inner(leaves[0], leaves[1]), leaves[4]]
    check("proofs", [node.hex() for node in proof] == vectors["inclusion_2_of_5"])
    check("proofs", [leaves[2].hex(), *(node.hex() for node in proof)] == vectors["consistency_3_to_5"])
    check("proofs", inner(inner(proof[1], inner(leaves[2], proof[0])), proof[2]) == root_of(tree.frontier))
    check("notes", note_holds(vectors["checkpoint"], vectors["vkey"], len(leaves), root_of(tree.frontier)))
    lines = ["c2sp.org/tlog-proof@v1", "index 2", *(base64.b64encode(node).decode() for node in proof), ""]
    check("notes", vectors["tlog_proof_index2"] == "\n".join([*lines, vectors["checkpoint"]]))
    for what, results in checked.items():
        print(f"{what}: {sum(results)} of {len(results)} hold")
    return 0 if all(map(all, checked.values())) else EXITS["broken"]


# The command line.

def main() -> int:
    parser = argparse.ArgumentParser(description="An independent verifier of rp journals.")
    parser.error = lambda message: parser.exit(64, f"{parser.prog}: {message}\n")
    parser.add_argument("workspace", nargs="?", type=Path, metavar="WORKSPACE")
    parser.add_argument("--remembered", type=Path, metavar="FILE", help="the remembered checkpoint, known/<log id>")
    parser.add_argument("--head", type=Path, metavar="RECEIPT", help="what `rp head` printed")
    parser.add_argument("--kinds", type=Path, metavar="FILE", default=Path(__file__).with_name("kinds.json"))
    parser.add_argument("--json", action="store_true", help="one JSON document instead of text")
    parser.add_argument("--mutations", type=Path, metavar="FILE", help="judge the mutations that the file lists")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="check the byte vectors of the file")
    args = parser.parse_args()
    if args.vectors:
        return check_vectors(json.loads(args.vectors.read_bytes()))
    if args.workspace is None:
        parser.error("a WORKSPACE is needed")
    notes: list[str] = []
    try:
        establish = lru_cache(1 << 10)(partial(History, read_kinds(args.kinds)))
        remembered = read_remembered(args.remembered, notes) if args.remembered else []
        given = [receipt_of(read(args.head))] if args.head else []
        files = read_journal(args.workspace)
        if args.mutations:
            judge_mutations(args.mutations, files, establish, remembered, given)
            return 0
        result = judge(files, establish, given + remembered, notes)
    except Unreadable as error:
        result = report("unreadable", None, str(error), notes)
    if args.json:
        print(json.dumps(result))
        return result["exit"]
    where = "" if result["first_bad"] is None else f" at {result['first_bad']}"
    print(f"{result['class']}{where}: {result['why']}")
    print("  " + ", ".join(f"{name} {count}" for name, count in result["counts"].items()))
    for note in result["notes"] + ["not checked: " + ", ".join(result["not_checked"])]:
        print(f"  {note}")
    return result["exit"]


if __name__ == "__main__":
    sys.exit(main())
