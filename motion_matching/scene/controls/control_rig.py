"""Describe what an animator moves on a rig: controls and their deform bones, limbs, switches.

A description is read from a preset, a JSON file in `presets/motion_matching/controls`, or found by
trying. In a preset `{s}` stands for each of its `sides`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

from ...engine.files import json_files, presets
from ...engine.files.json_files import EntryError, expect_list, expect_object, expect_text
from ..blender.id_properties import Switch

_SIDE = "{s}"
_KINDS = ("leg", "arm")
_PRESET = (
    *("extends", "label", "sides", "needs", "optional", "place", "follow", "shift"),
    *("limbs", "switches", "rest", "parents"),
)
_LIMB = ("name", "kind", "fk", "bones", "ik", "pole", "toe", "roll", "target", "switches")


@dataclass(frozen=True)
class ControlLimb:
    """An arm or a leg: FK controls with the deform bones that they turn, top to bottom, and IK.

    `ik` and `pole` are "" where a rig has none. `toe` turns the toes of an IK leg; `roll` rolls its
    foot over heel and ball, and then `target` is the bone that the foot of an IK leg follows.
    """

    name: str
    kind: str
    fk: tuple[str, ...]
    bones: tuple[str, ...]
    ik: str = ""
    pole: str = ""
    toe: str = ""
    roll: str = ""
    target: str = ""
    switches: Mapping[str, tuple[Switch, ...]] = field(default_factory=dict)

    @property
    def has_ik(self) -> bool:
        return bool(self.ik and self.pole and len(self.fk) >= 3)

    @property
    def end(self) -> str:
        """Return the bone that the foot of an IK leg, or the hand of an IK arm, follows."""
        return self.target if self.roll and self.target else self.ik

    @property
    def ik_controls(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.ik, self.pole, self.toe, self.roll)))


@dataclass(frozen=True)
class ControlRig:
    """Controls by what they do: deform bones by control.

    `place` are moved and turned as their deform bones, `follow` turned, `shift` moved. Controls
    that match `rest` are put at rest. `parents` are those of deform bones that hang on none.
    `found` are sentences on the findings, and how surely, where no preset was used.
    """

    label: str
    place: Mapping[str, str] = field(default_factory=dict)
    follow: Mapping[str, str] = field(default_factory=dict)
    shift: Mapping[str, str] = field(default_factory=dict)
    limbs: tuple[ControlLimb, ...] = ()
    switches: tuple[Switch, ...] = ()
    rest: tuple[str, ...] = ()
    parents: Mapping[str, str] = field(default_factory=dict)
    needs: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    preset: str = ""
    found: tuple[str, ...] = ()

    @classmethod
    def from_preset(cls, name: str) -> ControlRig:
        """Read a shipped preset by name, or a JSON file by path; raise SettingsError."""
        data = _load(name)
        with json_files.name_file(f"preset {name}"):
            return _read_preset(data, name)

    @property
    def controls(self) -> tuple[str, ...]:
        """Return all controls that may get keys, each once."""
        limbs = [name for limb in self.limbs for name in (*limb.fk, *limb.ik_controls)]
        return tuple(dict.fromkeys((*self.place, *self.follow, *self.shift, *limbs)))

    @property
    def deform_bones(self) -> tuple[str, ...]:
        """Return all deform bones that controls move, each once."""
        chains = [bone for limb in self.limbs for bone in limb.bones]
        moved = (*self.place.values(), *self.follow.values(), *self.shift.values(), *chains)
        return tuple(dict.fromkeys(moved))

    def find_missing(self, bones: Iterable[str]) -> list[str]:
        """Return the controls and deform bones that an armature with these bones lacks."""
        known = set(bones)
        targets = (limb.target for limb in self.limbs)
        wanted = (*self.needs, *self.controls, *self.deform_bones, *targets)
        missing = [name for name in dict.fromkeys(wanted) if name and name not in known]
        return [name for name in missing if not matches(name, self.optional)]

    def keep_existing(self, bones: Iterable[str]) -> ControlRig:
        """Return the description without the optional controls that an armature lacks."""
        known = set(bones)
        place, follow, shift = (
            {c: b for c, b in part.items() if {c, b} <= known}
            for part in (self.place, self.follow, self.shift)
        )
        limbs = tuple(_keep_limb(limb, known) for limb in self.limbs)
        return replace(self, place=place, follow=follow, shift=shift, limbs=limbs)


@dataclass(frozen=True)
class KeyedControls:
    """What gets keys of a rig: limbs by FK and by IK, by name, and the switches for it.

    The limbs `shown_by_ik` are switched to IK; `matched` are the controls of the other kind, whose
    keys keep the pose if one switches.
    """

    rig: ControlRig
    by_fk: frozenset[str]
    by_ik: frozenset[str]
    shown_by_ik: frozenset[str]
    matched: frozenset[str]
    switches: tuple[Switch, ...]

    @classmethod
    def choose(cls, rig: ControlRig, legs: str, arms: str, both: bool) -> KeyedControls:
        """Choose by 'IK' or 'FK' for legs and arms, or `both`; a limb without IK is on FK."""
        wanted = {"leg": legs, "arm": arms}
        ik = {limb.name for limb in rig.limbs if limb.has_ik}
        shown = {m.name for m in rig.limbs if m.name in ik and wanted[m.kind] == "IK"}
        fk = {limb.name for limb in rig.limbs if both or limb.name not in shown}
        switches = list(rig.switches)
        matched: set[str] = set()
        for limb in rig.limbs:
            is_ik = limb.name in shown
            matched.update(limb.fk if is_ik else limb.ik_controls)
            switches += limb.switches.get("ik" if is_ik else "fk", ())
        by_ik = frozenset(ik if both else shown)
        named = frozenset(fk), by_ik, frozenset(shown), frozenset(matched)
        return cls(rig, *named, tuple(switches))

    @property
    def controls(self) -> list[str]:
        """Return the controls that get keys."""
        left = {c for limb in self.rig.limbs if limb.name not in self.by_fk for c in limb.fk}
        rest = (limb for limb in self.rig.limbs if limb.name not in self.by_ik)
        left |= {c for limb in rest for c in limb.ik_controls}
        return [control for control in self.rig.controls if control not in left]


def matches(name: str, patterns: Sequence[str]) -> bool:
    """Return whether a bone's name matches any of the patterns, such as 'tweak_*'."""
    return any(fnmatchcase(name, pattern) for pattern in patterns)


def _keep_limb(limb: ControlLimb, known: set[str]) -> ControlLimb:
    pairs = [(c, b) for c, b in zip(limb.fk, limb.bones, strict=True) if {c, b} <= known]
    fk, bones = (tuple(part) for part in zip(*pairs, strict=True)) if pairs else ((), ())
    parts = {name: getattr(limb, name) for name in ("ik", "pole", "toe", "roll", "target")}
    parts = {name: bone if bone in known else "" for name, bone in parts.items()}
    return replace(limb, fk=fk, bones=bones, **parts)


def _load(name: str, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return a preset merged over the one that it extends."""
    data = presets.load("controls", name)
    with json_files.name_file(f"preset {name}"):
        if "extends" not in data:
            return data
        above = expect_text(data["extends"], "'extends'")
        if above in (*seen, name):
            raise EntryError(f"'extends' leads back to {above!r}; name another preset")
    merged = _load(above, (*seen, name))
    for key, value in data.items():
        both = merged.get(key)
        if isinstance(value, dict) and isinstance(both, dict):
            merged[key] = both | value
        elif isinstance(value, list) and isinstance(both, list) and key != "sides":
            merged[key] = both + value
        else:
            merged[key] = value
    return merged


def _read_preset(data: Mapping[str, Any], name: str) -> ControlRig:
    json_files.check_keys(data, _PRESET, "the file")
    sides = [expect_text(side, "a side") for side in expect_list(data.get("sides", []), "'sides'")]
    maps = {key: _read_pairs(data, key, sides) for key in ("place", "follow", "shift", "parents")}
    names = {key: _read_names(data, key, sides) for key in ("needs", "optional", "rest")}
    limbs = tuple(
        _read_limb(expect_object(limb, "a limb", _LIMB), side)
        for limb in expect_list(data.get("limbs", []), "'limbs'")
        for side in sides
    )
    switches = _read_switches(data.get("switches", []), sides)
    label = expect_text(data.get("label"), "'label'")
    result = ControlRig(label, limbs=limbs, switches=switches, preset=name, **maps, **names)  # type: ignore[arg-type]
    if not result.needs or not result.place:
        raise EntryError("'needs' and 'place' must name at least one control each")
    return result


def _spread(text: Any, where: str, sides: Sequence[str]) -> list[str]:
    """Return a name for each side, or itself if it has none."""
    name = expect_text(text, where)
    return [name.replace(_SIDE, side) for side in sides] if _SIDE in name else [name]


def _read_pairs(data: Mapping[str, Any], key: str, sides: Sequence[str]) -> dict[str, str]:
    result: dict[str, str] = {}
    for control, bone in expect_object(data.get(key, {}), f"'{key}'").items():
        controls = _spread(control, f"a control of '{key}'", sides)
        bones = _spread(bone, f"the bone of '{control}'", sides)
        bones = bones * len(controls) if len(bones) == 1 else bones
        result |= dict(zip(controls, bones, strict=True))
    return result


def _read_names(data: Mapping[str, Any], key: str, sides: Sequence[str]) -> tuple[str, ...]:
    listed = expect_list(data.get(key, []), f"'{key}'")
    return tuple(name for text in listed for name in _spread(text, f"a name of '{key}'", sides))


def _read_switches(listed: Any, sides: Sequence[str]) -> tuple[Switch, ...]:
    result = []
    for entry in expect_list(listed, "'switches'"):
        bone, prop, value = expect_list(entry, "a switch", 3)
        number = json_files.expect_number(value, f"the value of '{prop}'", -1e6, 1e6)
        bones, props = (_spread(part, "a part of a switch", sides) for part in (bone, prop))
        count = max(len(bones), len(props))
        bones, props = (part * count if len(part) == 1 else part for part in (bones, props))
        result += [Switch(b, p, number) for b, p in zip(bones, props, strict=True)]
    return tuple(result)


def _read_limb(data: Mapping[str, Any], side: str) -> ControlLimb:
    texts = {
        key: _spread(data[key], f"'{key}' of a limb", [side])[0]
        for key in ("name", "kind", "ik", "pole", "toe", "roll", "target")
        if key in data
    }
    fk, bones = (_read_names(data, key, [side]) for key in ("fk", "bones"))
    groups = expect_object(data.get("switches", {}), "'switches' of a limb", ("fk", "ik"))
    switches = {key: _read_switches(value, [side]) for key, value in groups.items()}
    if texts.get("kind") not in _KINDS or len(fk) < 3 or len(fk) != len(bones):
        raise EntryError(
            "a limb needs a 'kind' (leg or arm), and as many 'fk' controls as 'bones', 3 or more"
        )
    return ControlLimb(fk=fk, bones=bones, switches=switches, **texts)
