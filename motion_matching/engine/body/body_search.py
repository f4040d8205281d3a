"""Find the chains of bones that form the parts of a body, by names or else by shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from ..errors import RigError
from ..maths.rotations import quat
from ..skeleton.bone_names import ROLES, split_side, split_words
from ..skeleton.skeleton import Skeleton
from .arm_search import (
    FINGERS,
    Chains,
    find_arms_by_shape,
    find_fingers_by_name,
    find_fingers_by_shape,
    split_foreleg,
)
from .body_subset import BodySubset
from .named_bones import NamedBones, split_limb, walk_down
from .numbers import NUMBERS
from .published_rigs import ARM_PARTS, LEG_PARTS
from .rig import Leg, Roles, add_forelegs, find_roles
from .sampled_body import SampledBody

SIDES = {"L": "left", "R": "right"}
BODY_ROLES = (
    *("root", "hips", "spine", "neck", "head", "tail"),
    *(f"{side}_{part}" for side in SIDES.values() for part in (*ARM_PARTS, *LEG_PARTS, *FINGERS)),
)


def find_chains(body: BodySubset, given: Chains) -> tuple[Chains, bool]:
    """Return the bones of the smaller skeleton by role, and whether the body has four legs."""
    skeleton = body.skeleton
    core = {role: given[role][-1 if role == "spine" else 0] for role in ROLES if given.get(role)}
    if given.get("hips"):
        core["hips"] = _choose_fork(skeleton, given["hips"])
    names = {role: skeleton.names[bone] for role, bone in core.items()}
    roles = _find_core(body, names)
    fork = None if "hips" in names else _find_fork_above(skeleton, roles)
    if fork is not None:
        roles = _find_core(body, names | {"hips": skeleton.names[fork]})
    sides = {leg.side: leg for leg in reversed(roles.legs) if leg.side}
    if set(sides) != {"L", "R"}:
        raise RigError(
            "The rig has no left and right leg; name both thighs in the rig's roles as left_thigh "
            "and right_thigh."
        )
    thighs = [leg.thigh for leg in sides.values()]
    chains: Chains = {"hips": _extend_hips(skeleton, roles.hips, thighs)}
    for side, leg in sides.items():
        chains |= _split_leg(skeleton, SIDES[side], leg)
    shape = SampledBody.from_clips(skeleton, body.clips)
    step = max(1, len(shape.positions) // NUMBERS.shape_frames)
    shape = replace(shape, positions=shape.positions[::step])
    arms, forelegs = _find_arms(shape, roles, sides)
    for side, parts in arms.items():
        chains |= {f"{SIDES[side]}_{part}": chain for part, chain in parts.items()}
    chains |= _give_arms(skeleton, chains, given)
    chains |= _split_trunk(skeleton, roles, chains, given.get("spine"))
    chains |= _find_tail(skeleton, chains["hips"][0])
    chains |= {} if forelegs else _find_fingers(shape, chains)
    chains |= {role: _give(skeleton, role, chain, chains) for role, chain in given.items()}
    taken = {bone for role in given for bone in chains[role]}
    for role in set(chains) - set(given):
        chains[role] = tuple(bone for bone in chains[role] if bone not in taken)
    return {role: chain for role, chain in chains.items() if chain}, forelegs


def _find_fork_above(skeleton: Skeleton, roles: Roles) -> int | None:
    """Return the bone above the hips that carries the trunk too, if the hips do not carry it."""
    below = set(skeleton.get_descendants(roles.hips))
    arms = NamedBones.read(skeleton).list_arms()
    if roles.head is None or roles.head in below or arms & below:
        return None
    return skeleton.find_common_ancestor([roles.hips, roles.head])


def _choose_fork(skeleton: Skeleton, hips: tuple[int, ...]) -> int:
    """Return the lowest of the bones of the hips that carries a trunk, or else the last one."""
    named = NamedBones.read(skeleton)
    trunk = {*named.list_arms(), *named.find("head")}
    carriers = (bone for bone in hips[::-1] if trunk & set(skeleton.get_descendants(bone)))
    return next(carriers, hips[-1])


def _find_core(body: BodySubset, given: Mapping[str, str]) -> Roles:
    """Return the hips, legs and head: at rest if clips show none, as of an animal that lies."""
    searched = body.clips
    try:
        roles = find_roles(body.skeleton, searched, given)
    except RigError as in_clips:
        if not body.clips:
            raise
        searched = ()
        try:
            roles = find_roles(body.skeleton, searched, given)
        except RigError:
            raise in_clips from None
    # where thighs are given, nothing has been added to them
    again = any(role.endswith("_thigh") for role in given)
    for clips in (body.clips, ()) if body.clips else ((),):
        if len(roles.legs) < 4 and (again or clips is not searched):
            roles = add_forelegs(body.skeleton, clips, roles)
    return roles


def _give(skeleton: Skeleton, role: str, given: tuple[int, ...], chains: Chains) -> tuple[int, ...]:
    """Return the bones of a role if all, none, or the first one is given by hand."""
    chain = chains.get(role, ())
    first = given[:1]
    if len(given) != 1 or role in ("root", "hips", "head"):
        return given
    if first[0] in chain and role != "spine":
        return chain[chain.index(first[0]) :]
    if role == "spine":
        return chain if chain[-1:] == first else first
    if role == "tail" or role.endswith(FINGERS):
        return _follow(skeleton, first[0])
    return first


def _extend_hips(skeleton: Skeleton, hips: int, thighs: Sequence[int]) -> tuple[int, ...]:
    """Return the hips with the bones above and below that belong to them.

    Above are an animal's rump, with bones named like the hips, and a pelvis that carries a fork of
    another name. Below is a pelvis that carries the legs alone.
    """
    core = split_side(skeleton.names[hips], skeleton.names)[0]
    pelvises = NamedBones.read(skeleton).find("hips")
    rump = takewhile(
        lambda bone: (
            ("spine" in core and split_side(skeleton.names[bone], skeleton.names)[0] == core)
            or (bone in pelvises and hips not in pelvises)
        ),
        skeleton.get_ancestors(hips),
    )
    joint = skeleton.find_common_ancestor(thighs)
    below = () if joint is None or joint == hips else (*walk_down(skeleton, hips, joint)[1:], joint)
    return (*reversed(list(rump)), hips, *below)


def _split_leg(skeleton: Skeleton, side: str, leg: Leg) -> Chains:
    """Return the bones of a leg's parts."""
    starts = [leg.thigh, leg.shin, leg.foot] + [leg.toe] * leg.has_toe
    chains = split_limb(skeleton, dict(zip(LEG_PARTS, starts, strict=False)))
    chains |= {"toe": _follow(skeleton, leg.toe)} if leg.has_toe else {}
    return {f"{side}_{part}": chain for part, chain in chains.items()}


def _follow(skeleton: Skeleton, bone: int) -> tuple[int, ...]:
    """Return a bone and the bones below in a line, without a last one of no length."""
    chain = [bone]
    while len(children := skeleton.get_children(chain[-1])) == 1:
        chain += children
    before = float(np.linalg.norm(skeleton.rest_positions[chain[-1]]))
    is_tip = len(chain) > 1 and skeleton.measure_tip(chain[-1]) <= NUMBERS.tip * before
    return tuple(chain[:-1] if is_tip else chain)


def _find_arms(
    shape: SampledBody, roles: Roles, legs: Mapping[str, Leg]
) -> tuple[dict[str, Chains], bool]:
    """Return the parts of both arms or forelegs by side, and whether they are forelegs."""
    skeleton = shape.skeleton
    excluded = _list_leg_bones(skeleton, roles.hips, legs)
    read = NamedBones.read(skeleton)
    named = {side: read.find_arm(side, roles.hips, excluded) for side in "LR"}
    trunk = _find_trunk(skeleton, roles)
    forelegs = {
        leg.side: leg
        for leg in reversed(roles.legs)
        if leg not in legs.values() and _find_fork(skeleton, leg, trunk) != roles.hips
    }
    is_foreleg = set(forelegs) == {"L", "R"} or all("fore_toe" in arm for arm in named.values())
    for side, arm in named.items():
        if not arm and side in forelegs:
            named[side] = _split_foreleg(shape, roles, forelegs[side])
    if not all(named.values()):
        left, right = (shape.positions[:, legs[side].thigh] for side in "LR")
        left = quat.normalize_vectors(left - right)
        shaped = find_arms_by_shape(shape, left, trunk, excluded)
        named = {side: arm or shaped.get(side, {}) for side, arm in named.items()}
    arms = {
        side: _add_end(shape, arm, forelegs.get(side) if is_foreleg else None)
        for side, arm in named.items()
        if arm
    }
    return _add_collars(skeleton, roles, arms), is_foreleg


def _list_leg_bones(skeleton: Skeleton, hips: int, legs: Mapping[str, Leg]) -> set[int]:
    """Return all bones of the branches of the hips that end in legs."""
    bones: set[int] = set()
    for leg in legs.values():
        way = skeleton.get_chain_to_root(leg.thigh)
        bones.update(way[: way.index(hips)] if hips in way else way[:1])
        bones.update(skeleton.get_descendants(leg.thigh))
    return bones


def _find_trunk(skeleton: Skeleton, roles: Roles) -> list[int]:
    """Return the bones from the hips up to the head, or to the upper spine without a head."""
    top = roles.spine if roles.head is None else roles.head
    has_trunk = roles.hips in skeleton.get_chain_to_root(top)
    return skeleton.get_path(roles.hips, top) if has_trunk else [roles.hips]


def _find_fork(skeleton: Skeleton, leg: Leg, trunk: Sequence[int]) -> int | None:
    """Return the bone of the trunk that a leg branches from."""
    return next((bone for bone in skeleton.get_ancestors(leg.thigh) if bone in trunk), None)


def _split_foreleg(shape: SampledBody, roles: Roles, leg: Leg) -> Chains:
    """Return the parts of a foreleg from the chest down by shape."""
    chain = shape.skeleton.get_chain_to_root(leg.toe)
    fork = _find_fork(shape.skeleton, leg, _find_trunk(shape.skeleton, roles))
    chain = chain[: chain.index(fork)] if fork is not None else chain
    below = shape.measure_reach(leg.toe)[1][1:2]
    ahead = shape.positions[:, roles.spine] - shape.positions[:, roles.hips]
    return split_foreleg(shape, [*chain[::-1], *below], ahead)


def _add_end(shape: SampledBody, arm: Chains, foreleg: Leg | None) -> Chains:
    """Add a hand without a name, and the toe of a foreleg: the next bone that bends."""
    skeleton = shape.skeleton
    if "hand" not in arm:
        below = shape.measure_reach(arm["forearm"][0])[1][1:]
        rest = [bone for bone in below if bone not in arm["forearm"]]
        arm = {**arm, "hand": tuple(rest[:1])} if rest else arm
    if foreleg is not None and "fore_toe" not in arm and "hand" in arm:
        toes = shape.measure_reach(arm["hand"][-1])[1][1:2]
        if len(skeleton.get_children(arm["hand"][-1])) == 1 and toes:
            arm = {**arm, "fore_toe": tuple(toes)}
    return arm


def _add_collars(skeleton: Skeleton, roles: Roles, arms: Mapping[str, Chains]) -> dict[str, Chains]:
    """Return arms whose collars are all the bones between the chest and the upper arms."""
    trunk = set(_find_trunk(skeleton, roles))
    if len(arms) == 2:
        uppers = [arm["upper_arm"][0] for arm in arms.values()]
        fork = skeleton.find_common_ancestor(uppers)
        trunk |= {fork} if fork is not None else set()
    result = {}
    for side, arm in arms.items():
        above = skeleton.get_ancestors(arm["upper_arm"][0])
        count = next((n for n, bone in enumerate(above) if bone in trunk), 0)
        collar = {"collar": tuple(above[:count][::-1])} if count else {}
        result[side] = {part: chain for part, chain in arm.items() if part != "collar"} | collar
    return result


def _give_arms(skeleton: Skeleton, chains: Chains, given: Chains) -> Chains:
    """Return arm chains whose first bones are given by hand; the others end where they start."""
    changed: Chains = {}
    for side in SIDES.values():
        roles = [f"{side}_{part}" for part in ARM_PARTS]
        if not any(given.get(role) for role in roles):
            continue
        starts = {
            role: (given.get(role) or chains[role])[0]
            for role in roles
            if given.get(role) or (role in chains and role not in given)
        }
        changed |= split_limb(skeleton, starts)
        last = list(starts)[-1]
        if chains.get(last, ())[:1] == changed[last]:
            changed[last] = chains[last]
    return changed


def _split_trunk(
    skeleton: Skeleton, roles: Roles, chains: Chains, given: tuple[int, ...] | None
) -> Chains:
    """Return spine, up to where arms branch, neck and head; a spine may be `given` by hand."""
    trunk = _find_trunk(skeleton, roles)
    arms = [chains[role][0] for role in chains if role.endswith("upper_arm")]
    fork = skeleton.find_common_ancestor(arms) if len(arms) == 2 and not given else None
    chest = fork if fork in trunk else roles.spine
    necks = NamedBones.read(skeleton).list_necks()
    number = trunk.index(chest) if chest in trunk else 0
    while not given and number > 1 and (trunk[number] in necks or trunk[number] == roles.head):
        number -= 1
    top = len(trunk) if roles.head is None else len(trunk) - 1
    result = {"spine": tuple(trunk[1 : number + 1]), "neck": tuple(trunk[number + 1 : top])}
    return result | ({} if roles.head is None else {"head": (roles.head,)})


def _find_tail(skeleton: Skeleton, hips: int) -> Chains:
    """Return the bones below the hips that are named as a tail."""
    below = set(skeleton.get_descendants(hips))
    tails = [bone for bone in below if "tail" in split_words(skeleton.names[bone])]
    tails = [b for b in tails if not split_side(skeleton.names[b], skeleton.names)[1]]
    if not tails:
        return {}
    last = max(tails, key=skeleton.get_depth)
    return {"tail": tuple(b for b in skeleton.get_chain_to_root(last)[::-1] if b in tails)}


def _find_fingers(shape: SampledBody, chains: Chains) -> Chains:
    """Return the fingers of both hands, by name or by shape."""
    result: Chains = {}
    for side in SIDES.values():
        hand = chains.get(f"{side}_hand")
        if hand:
            fingers = find_fingers_by_name(shape.skeleton, hand[0])
            fingers = fingers or find_fingers_by_shape(shape, hand[-1])
            result |= {f"{side}_{finger}": chain for finger, chain in fingers.items()}
    return result
