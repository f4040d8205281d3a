"""Grasp things in the view: click where to go, and drag a target, a curve and an obstacle."""

from __future__ import annotations

import math
import os
import sys

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

sys.path.insert(0, os.path.dirname(__file__))
from drive import (
    alive,
    call,
    check_left_nothing,
    create_performer,
    load_module,
    read_traces,
    redrawn,
    run,
    started,
    tap,
    ticked,
    until,
    view,
)


def send(kind, value, pixel):
    x, y = pixel
    view()[0].event_simulate(type=kind, value=value, x=round(x), y=round(y))


def project(position):
    """Return the pixel of the window where a position is seen."""
    _, area, region = view()
    x, y = location_3d_to_region_2d(region, area.spaces.active.region_3d, position)
    return region.x + x, region.y + y


def hover(position):
    """Move the mouse there in two steps, until gizmos below it are highlighted."""
    x, y = project(position)
    for dx in (3, 1, 0):
        send("MOUSEMOVE", "NOTHING", (x + dx, y))
        yield from redrawn()


def drag_handle(position, to, ending="RELEASE"):
    yield from hover(position)
    send("LEFTMOUSE", "PRESS", project(position))
    yield 0.1
    (x0, y0), (x1, y1) = project(position), project(to)
    for step in range(1, 7):
        share = step / 6.0
        send("MOUSEMOVE", "NOTHING", (x0 + share * (x1 - x0), y0 + share * (y1 - y0)))
        yield 0.05
    if ending == "RELEASE":
        send("LEFTMOUSE", "RELEASE", project(to))
    else:
        send(ending, "PRESS", project(to))
        send(ending, "RELEASE", project(to))
        send("LEFTMOUSE", "RELEASE", project(to))
    yield 0.2


def check_near(first, second, limit=0.1):
    apart = math.dist(first[:2], second[:2])
    assert apart < limit, (tuple(first), tuple(second))


def get_play():
    return bpy.data.objects["Performer"].motion_matching.play


def link(name, data=None, location=(0.0, 0.0, 0.0)):
    made = bpy.data.objects.new(name, data)
    made.location = location
    bpy.context.scene.collection.objects.link(made)
    return made


def look_from_above():
    seen = view()[1].spaces.active.region_3d
    seen.view_distance, seen.view_location = 12.0, (0.0, -1.5, 0.0)


def go_where_clicked(before):
    """A click and a drag say where to go; buttons of the view, and shortcuts, stay Blender's."""
    get_play().steer, get_play().view = "click", "still"
    live = yield from started()
    assert live.display.goal is None
    send("LEFTMOUSE", "PRESS", project((1.0, -2.0, 0.0)))
    yield 0.1
    send("LEFTMOUSE", "RELEASE", project((1.0, -2.0, 0.0)))
    yield from until(lambda: live.display.goal)
    check_near(live.display.goal, (1.0, -2.0))
    yield from until(lambda: math.dist(live.position, live.display.goal) < 0.3)
    # drag it along
    send("LEFTMOUSE", "PRESS", project((0.0, -2.0, 0.0)))
    yield 0.1
    send("MOUSEMOVE", "NOTHING", project((-1.0, -3.0, 0.0)))
    yield from until(lambda: math.dist(live.display.goal, (-1.0, -3.0)) < 0.1)
    send("LEFTMOUSE", "RELEASE", project((-1.0, -3.0, 0.0)))
    yield 0.1
    send("MOUSEMOVE", "NOTHING", project((1.0, 1.0, 0.0)))
    yield from ticked(live, 5)
    check_near(live.display.goal, (-1.0, -3.0))
    # the corner with the axes turns the view, and nothing above the horizon is ground
    _, area, region = view()
    sidebar = next(part for part in area.regions if part.type == "UI")
    send("LEFTMOUSE", "PRESS", (sidebar.x - 40, region.y + region.height - 90))
    yield 0.1
    send("LEFTMOUSE", "RELEASE", (sidebar.x - 40, region.y + region.height - 90))
    yield from ticked(live, 5)
    check_near(live.display.goal, (-1.0, -3.0))
    assert alive().live is live
    tap("ESC")
    yield from check_left_nothing(live, before)


def drag_a_target(before):
    goal = link("Goal", None, (1.0, 0.0, 0.3))
    get_play().steer, get_play().target = "target", goal
    call(bpy.ops.ed.undo_push, message="Goal")
    yield from redrawn()
    yield from drag_handle(goal.location, (2.0, -1.0, 0.3))
    check_near(goal.location, (2.0, -1.0))
    assert abs(goal.location.z - 0.3) < 1e-4, "it stays as high as it was"
    yield from drag_handle(goal.location, (0.0, -1.0, 0.3), "RIGHTMOUSE")
    check_near(goal.location, (2.0, -1.0))
    # undo takes one movement back
    call(bpy.ops.ed.undo)
    yield 0.3
    check_near(bpy.data.objects["Goal"].location, (1.0, 0.0))
    call(bpy.ops.ed.redo)
    yield 0.3
    check_near(bpy.data.objects["Goal"].location, (2.0, -1.0))
    # its other handle turns it
    ahead = load_module("ui.play.grips").find_grips(bpy.data.objects["Performer"])[1].position
    yield from drag_handle(ahead, (3.5, -1.0, 0.3))
    assert abs(bpy.data.objects["Goal"].rotation_euler.z - 0.5 * math.pi) < 0.1
    # without overlays, nothing can be grasped
    space = view()[1].spaces.active
    space.overlay.show_overlays = False
    yield from redrawn()
    yield from drag_handle(bpy.data.objects["Goal"].location, (0.0, 0.0, 0.3))
    check_near(bpy.data.objects["Goal"].location, (2.0, -1.0))
    space.overlay.show_overlays = True
    tap("ESC")
    bpy.context.view_layer.objects.active = bpy.data.objects["Performer"]
    yield from redrawn()
    yield from drag_while_live(before)


def drag_while_live(before):
    """The character goes on while a target is dragged, and at once to where it is."""
    live = yield from started()
    goal = bpy.data.objects["Goal"]
    yield from hover(goal.location)
    send("LEFTMOUSE", "PRESS", project(goal.location))
    yield 0.1
    send("MOUSEMOVE", "NOTHING", project((-0.5, -2.0, 0.3)))
    yield from until(lambda: math.dist(goal.location[:2], (-0.5, -2.0)) < 0.1)
    place = live.position
    yield from ticked(live, 40)  # the button is still down
    assert math.dist(live.position, place) > 0.2, "it does not go on"
    send("LEFTMOUSE", "RELEASE", project((-0.5, -2.0, 0.3)))
    yield from until(lambda: math.dist(live.position, (-0.5, -2.0)) < 0.5)
    yield from drag_handle(goal.location, (1.0, -2.0, 0.3), "ESC")
    assert alive().live is live, "Esc ends the drag alone"
    check_near(bpy.data.objects["Goal"].location, (-0.5, -2.0))
    tap("ESC")
    yield from check_left_nothing(live, before)
    call(bpy.ops.ed.undo)
    yield 0.5
    assert alive().live is None
    assert "Performer" in bpy.data.objects


def drag_a_curve_and_an_obstacle():
    data = bpy.data.curves.new("Way", "CURVE")
    spline = data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (0.0, -3.0, 0.0, 1.0)
    way = link("Way", data)
    mesh = bpy.data.meshes.new("Wall")
    corners = [(-0.4, 0, 0), (0.4, 0, 0), (0.4, 0, 1), (-0.4, 0, 1)]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    ground = bpy.data.collections.new("Ground")
    bpy.context.scene.collection.children.link(ground)
    ground.objects.link(bpy.data.objects.new("Wall", mesh))
    bpy.data.objects["Wall"].location = (-2.0, -1.0, 0.0)
    get_play().steer, get_play().curve = "curve", way
    bpy.data.objects["Performer"].motion_matching.obstacles = ground
    call(bpy.ops.ed.undo_push, message="Way")
    yield from redrawn()
    yield from drag_handle((0.0, -3.0, 0.0), (2.0, -2.0, 0.0))
    check_near(bpy.data.objects["Way"].data.splines[0].points[1].co, (2.0, -2.0))
    yield from drag_handle((-2.0, -1.0, 0.0), (-2.0, -2.5, 0.0))
    check_near(bpy.data.objects["Wall"].location, (-2.0, -2.5))
    call(bpy.ops.ed.undo)
    yield 0.3
    check_near(bpy.data.objects["Wall"].location, (-2.0, -1.0))


def scenario():
    yield from create_performer()
    look_from_above()
    call(bpy.ops.motion_matching.build, "INVOKE_DEFAULT")
    yield 0.1
    yield from until(lambda: not alive().progress)
    yield from redrawn()
    before = read_traces()
    yield from go_where_clicked(before)
    yield from drag_a_target(before)
    yield from drag_a_curve_and_an_obstacle()


if __name__ == "__main__":
    run(scenario)
