"""From an empty file to databases of the demo and of motion capture: tag, request tags, change
weights while live.
"""

from __future__ import annotations

import math
import os
import sys

import bpy
import gpu

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    check_left_nothing,
    click,
    count_ticks,
    empty_file,
    event,
    find_motion_capture,
    load_module,
    look_at_performer,
    read_traces,
    redrawn,
    run,
    started,
    tap,
    ticked,
    until,
    view,
    worked,
)

RED = (0.9, 0.05, 0.05)
seen: list[tuple[float, ...]] = []  # colours of one place of the Timeline, one per redraw


# ---------------------------------------------------------------- in the Timeline


def find_timeline():
    """Return the largest Timeline area and its main region."""
    window = view()[0]
    area = max(
        (area for area in window.screen.areas if area.type == "DOPESHEET_EDITOR"),
        key=lambda area: area.height,
    )
    return area, next(region for region in area.regions if region.type == "WINDOW")


def open_timeline():
    """Open a large Timeline in place of the Properties."""
    next(area for area in view()[0].screen.areas if area.type == "PROPERTIES").ui_type = "TIMELINE"
    yield 0.3


def call_in_timeline(operator, **options):
    area, region = find_timeline()
    with bpy.context.temp_override(window=view()[0], area=area, region=region):
        return operator(**options)


def watch_color(frame):
    """Note the colour at a frame at each redraw, a little above the foot of the Timeline."""
    bands = load_module("ui.tags.drawing")
    scale = bpy.context.preferences.system.ui_scale

    def note():
        region = bpy.context.region
        if region != find_timeline()[1]:
            return
        x, _ = region.view2d.view_to_region(frame, 0.0, clip=False)
        y = round((bands._MARGIN + 2) * scale)
        seen.append(
            tuple(
                gpu.state.active_framebuffer_get()
                .read_color(x, y, 1, 1, 4, 0, "FLOAT")
                .to_list()[0][0][:3]
            )
        )

    return bpy.types.SpaceDopeSheetEditor.draw_handler_add(note, (), "WINDOW", "POST_PIXEL")


def is_red(color):
    return color[0] > 2.0 * max(color[1:])


def read_color():
    """Redraw the Timeline and return the colour at the watched place."""
    seen.clear()
    find_timeline()[1].tag_redraw()
    yield from until(lambda: seen)
    return seen[-1]


def tag_a_range(obj):
    """Tag a range from the playhead; the Timeline shows it as a band, and undo removes it."""
    settings = obj.motion_matching
    settings.source_index = [source.name for source in settings.sources].index("walk_curves")
    handle = watch_color(100)
    try:
        bare = yield from read_color()
        bpy.context.scene.frame_set(80)
        call_in_timeline(bpy.ops.motion_matching.add_tag, frames="PLAYHEAD")
        tag = settings.sources[settings.source_index].tag_ranges[0]
        tag.label, tag.color = "mine", RED
        bpy.context.scene.frame_set(180)
        call_in_timeline(bpy.ops.motion_matching.tag_at_playhead, end=True)
        assert (tag.frame_start, tag.frame_end) == (80, 180)
        band = yield from read_color()
        print(
            "where the band is:", [round(c, 2) for c in bare], "became", [round(c, 2) for c in band]
        )
        assert is_red(band)
        assert not is_red(bare)
        settings.show_tags = False
        hidden = yield from read_color()
        assert not is_red(hidden)
        settings.show_tags = True
    finally:
        bpy.types.SpaceDopeSheetEditor.draw_handler_remove(handle, "WINDOW")


# ---------------------------------------------------------------- while live


def observe_ticks(live, count, look):
    """Return what `look(performer, frame)` finds at each of `count` ticks."""
    found, performer = [], live.session.performer
    step = type(performer).step

    def step_and_observe(self, intent):
        frame = step(self, intent)
        found.append(look(self, frame))
        return frame

    type(performer).step = step_and_observe
    try:
        yield from ticked(live, count)
    finally:
        type(performer).step = step
    return found


def measure_path_error(live):
    """Return by how many metres the motion misses its steered path within a second, over three
    turns.
    """
    hud, misses = load_module("ui.play.drawing"), []

    def measure_miss(performer, frame):
        wanted = performer.predict_path([1.0])[0]
        return math.dist(
            hud._find_matched_placements(live.database, frame, [1.0])[0][:2], (wanted.x, wanted.y)
        )

    for key in ("W", "S", "D"):
        event(key, unicode=key.lower())
        misses += yield from observe_ticks(live, 48, measure_miss)
        event(key, "RELEASE")
    return sum(misses) / len(misses)


def request_a_tag(live, obj):
    """Request a tag by its key, then another one in the panel."""
    database, play = live.database, obj.motion_matching.play
    wanted = database.requestable_tags.index("mine") + 1
    for _ in range(wanted):
        tap("C", unicode="c")
        yield from ticked(live, 2)
    yield from until(lambda: live.session.requested_tags == {"mine"})
    frames = yield from observe_ticks(live, 40, lambda performer, frame: frame.frame)
    share = float(database.make_tag_mask({"mine"})[frames].mean())
    print(f"asked for 'mine': {share:.0%} of the frames carry it")
    assert play.tags == "mine"
    assert share == 1.0
    play.tags = "mine, swim"
    yield from until(lambda: any("swim" in warning.text for warning in live.warnings))
    play.tags = ""
    yield from until(lambda: not live.session.requested_tags)


def change_weights(live, obj):
    """Weights act without a build: the path is followed only if its features count."""
    features = obj.motion_matching.features
    call(bpy.ops.motion_matching.apply_preset, kind="features", filepath="default")
    of_path = [item for item in features.items if item.kind.startswith("trajectory")]
    kept, misses = [item.weight for item in of_path], []
    last = max(k for k, item in enumerate(features.items) if item.kind.startswith("trajectory"))
    for weights in ([0.0] * len(of_path), kept):
        for item, weight in zip(of_path, weights, strict=True):
            item.weight = weight
        yield from until(
            lambda to=weights[-1]: (
                abs(live.session.performer.settings.search.weights[last] - to) < 1e-4
            )
        )
        misses.append((yield from measure_path_error(live)))
    print(
        f"misses its path by {misses[0]:.2f} m where that counts for nothing, by {misses[1]:.2f} "
        "m where it counts"
    )
    assert misses[1] < 0.7 * misses[0]
    call(bpy.ops.motion_matching.save_preset, "INVOKE_DEFAULT", kind="features")
    yield 0.3
    tap("RET")  # confirms its dialog
    yield from until(lambda: features.preset == "my_preset")
    assert alive().live is live


def change_features(live):
    """An added feature acts from the next start; the session continues and says so."""
    call(bpy.ops.motion_matching.add_feature, kind="bone_position", bone="head")
    yield from until(lambda: not live.plays_features)
    before = count_ticks(live)
    yield from ticked(live, 20)
    assert alive().live is live
    assert count_ticks(live) > before
    call(bpy.ops.motion_matching.remove_feature)
    yield from until(lambda: live.plays_features)


# ---------------------------------------------------------------- motion capture


def steer_motion_capture():
    """Build a database for a character from motion capture files, and steer it."""
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    bpy.context.view_layer.objects.active = None
    folder, files = find_motion_capture()
    call(
        bpy.ops.motion_matching.add_files,
        directory=f"{folder}{os.sep}",
        files=[{"name": file.name} for file in files],
    )
    obj = bpy.context.object
    assert len(obj.motion_matching.sources) == len(files)
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield from worked()
    live = yield from started()
    assert live.armature.find() == obj
    place = live.position
    event("W", unicode="w")
    yield from ticked(live, 90)
    event("W", "RELEASE")
    way = ((live.position[0] - place[0]) ** 2 + (live.position[1] - place[1]) ** 2) ** 0.5
    print(
        f"on {len(files)} files of {folder.name}, {live.database.frame_count} frames, it went "
        f"{way:.2f} m"
    )
    assert way > 1.0
    tap("ESC")
    yield from until(lambda: alive().live is None)


def scenario():
    yield from empty_file()
    yield from click("motion_matching.add_demo_performer")
    yield from worked()
    look_at_performer()
    obj = bpy.context.object
    yield from open_timeline()
    yield from tag_a_range(obj)
    yield from redrawn("UI")
    yield from click("motion_matching.build")
    yield from worked()
    before = read_traces()
    live = yield from started()
    yield from request_a_tag(live, obj)
    yield from change_weights(live, obj)
    yield from change_features(live)
    tap("ESC")
    yield from check_left_nothing(live, before)
    yield from steer_motion_capture()


run(scenario)
