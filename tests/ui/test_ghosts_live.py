"""Live in a motion field: neighbours are noted for drawing, told with their values, and one of them is forced by hand."""

from __future__ import annotations

from test_motion_field import BEGIN

LIVE = (
    BEGIN
    + """
obj = begin("walk_curves", "run_curves")
live, keyboard = live_on(obj, "W")
field = live.session.performer.method
now = 0.0
"""
)

DRAWN = (
    LIVE
    + """
import colorsys
from motion_matching.ui import ghosts, hud, trail
play = obj.motion_matching.play
def ticks(count=1):
    global now
    for _ in range(count):
        now += 1 / 24
        live.tick(now, 0.0)
ticks(30)
assert hud._shown.around is None, "it was not asked for"
play.show_ghosts = True
ticks()
decision, shown, bones = field.decision, hud._shown.around, sum(field.skeleton.parents > 0)
assert len(shown.chosen) == 2 * bones
assert len(shown.others) == len(shown.colours) == 2 * bones * 14 + 6, "and an arrow"

# over the character: the chosen one goes where the character does, but for what drift and blending make of it
head = obj.matrix_world @ obj.pose.bones["Head"].head
assert np.linalg.norm(shown.chosen.reshape(-1, 3) - np.array(head), axis=1).min() < 0.15
assert abs(shown.chosen[:, 2].min()) < 0.15 and shown.chosen[:, 2].max() > 1.3

# brighter is who counts more; the colour is that of the heading
others = np.delete(decision.weights, decision.chosen)
alpha = shown.colours[:-6, 3].reshape(14, -1)[:, 0]
assert (np.diff(alpha[others.argsort()]) >= 0).all() and 0.1 < alpha.min() < alpha.max() <= 1
assert np.allclose(shown.colours[:, :3], ghosts.color_of_task(decision.wish))

# the arrow points where it is asked to go, in the world: as the view looks, along +Y at heading pi
keyboard.handle("W", "RELEASE")
keyboard.handle("D", "PRESS")
ticks(2)
wish, place = field.decision.wish, live.session._frame
start, tip = hud._shown.around.others[-6:-4]
heading = math.atan2(tip[0] - start[0], start[1] - tip[1])
assert abs(math.remainder(heading - place.character.yaw - wish.direction, math.tau)) < 1e-3 and abs(wish.direction) > 0.1
left, ahead, right = (colorsys.rgb_to_hsv(*ghosts.color_of_task(wish._replace(direction=d)))[0] for d in (1.5, 0.0, -1.5))
assert left < ahead < right
from motion_matching.ui.tag_colors import color_of
assert ghosts.color_of_task(wish._replace(tags=frozenset({"limp"}))) == color_of("limp"), "that of the tag, if one is asked"

# the frames of the neighbours are there for the map, and its values for the text
assert list(trail.around) == list(field.decision.frames)
scores = field.decision.scores
assert f"Value  {scores.max():.3f}    all  {scores.min():.3f} to {scores.max():.3f}" in hud._shown.texts, hud._shown.texts
performing.end()
assert not len(trail.around)

# motion matching has none
obj.motion_matching.controller.method = "MATCHING"
live, keyboard = live_on(obj, "W")
now = 0.0
ticks(5)
assert live.ending is None and hud._shown.around is None and live.decision is None and not len(trail.around)
"""
)


def test_neighbours_are_drawn_where_they_lead(run_in_blender):
    run_in_blender(DRAWN)


FORCED = (
    LIVE
    + """
controller = obj.motion_matching.controller
def decisions(count):
    global now
    found = []
    for _ in range(count):
        now += 1 / 24
        live.tick(now, 0.0)
        found.append(field.decision)
    return found
decisions(10)
assert ops.favour(number=5) == {"FINISHED"} and controller.favour == 5 and controller.preset == ""
live.toggle_recording()
assert {d.chosen for d in decisions(30)[8:]} == {4}, "another one is noticed within a quarter of a second"
from motion_matching.ui import hud
assert any("number 5 forced" in line for line in hud._shown.texts), hud._shown.texts
assert ops.favour(number=2) == {"FINISHED"}
assert {d.chosen for d in decisions(30)[8:]} == {1}
assert ops.favour(number=2) == {"FINISHED"} and controller.favour == 0
freed = decisions(30)[8:]
assert all(d.chosen == d.scores.argmax() for d in freed) and len({d.chosen for d in freed}) > 2
live.toggle_recording()
performing.end()

# the take holds what was forced when
from motion_matching.ui.baking import parts_of
take = bpy.data.actions[live.takes[0]]
[part] = parts_of(take)
changes = [change["favour"] for tick, change in part.wanted.changes if "favour" in change]
assert changes[-2:] == [2, 0], changes
"""
)


def test_a_neighbour_is_forced_and_freed_while_it_plays(run_in_blender):
    run_in_blender(FORCED)


LEARNT = (
    BEGIN
    + """
from motion_matching.ui import learning
obj = begin("walk_curves")
training = obj.motion_matching.training
training.quality = 1
status.refresh(obj)
assert learning.of(fields.key_of(obj)) is None
lengths = []
for stage, part in fields.trained(obj):
    found = learning.of(fields.key_of(obj)) if obj.motion_matching.built_key else None
    if found:
        lengths.append(len(found.lines["most"]))
        assert found.sweeps >= lengths[-1] and len(found.lines["promised"]) == found.sweeps
assert len(set(lengths)) > 3 and lengths == sorted(lengths), "it grows while it is trained"
status.refresh(obj)
status.forget()
whole = learning.of(fields.key_of(obj))
assert len(whole.lines["most"]) == whole.sweeps >= lengths[-1], "read from the file that is left"
most, promised = whole.lines["most"], whole.lines["promised"]
assert (most[:, 1] <= promised[:, 1] + 1e-6).all()

# of other tasks there is none yet, and none once it is cleared
training.speed = False
assert learning.of(fields.key_of(obj)) is None
training.speed = True
assert ops.clear_cache() == {"FINISHED"}
status.refresh(obj)
assert learning.of(fields.key_of(obj)) is None
"""
)


def test_how_a_training_goes_is_known_while_it_goes_and_afterwards(run_in_blender):
    run_in_blender(LEARNT)
