"""Operators in a random order, among edits, damaged data, undo and files: no traceback, and nothing
of the user's is gone or changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import random
import time
from collections import Counter

import bpy
import numpy as np
import pytest

from motion_matching.app.takes import take_list
from motion_matching.engine.bvh import bvh
from motion_matching.engine.performance import performance, scripts
from motion_matching.engine.performance.settings import PerformerSettings
from motion_matching.scene.blender.animation import actions
from motion_matching.scene.blender.evaluation import evaluation
from motion_matching.scene.writing import recording, saved_pose
from motion_matching.ui import classes
from tests.demo import generate_clips
from tests.ui.characters import create_character
from tests.ui.drawn import draw_panels
from tests.ui.every_property import fill

SECONDS = 4.0  # of the processor, for each seed
MINE = "mine"  # custom property of what is the user's
KINDS = ("actions", "objects", "texts", "collections")
# take minutes, or a window
LEFT_OUT = {"train", "start", "tune", "add_demo_performer", "measure_coverage", "save_pictures"}
CHANGES_ACTIONS = {"fix_rig"}  # as its tooltip says
WORDS = ("", "walk", "../up", "/etc/passwd", "C:x", "a" * 300, "no_use, prefer", "é\n", "Hips", "{")
STRANGE = (5, "x", b"\xff", [1, 2], float("nan"), {"a": {"b": [1.0]}}, [{}], [{"frame": 1}], {})
SETTINGS = PerformerSettings()


class User:
    """Works at random, and knows what is the user's and how it was after each undo step."""

    def __init__(self, seed, folder):
        self.random, self.folder, self.log, self.number = random.Random(seed), folder, [], 0
        self.obj = create_character(clips=("walk_starts_and_stops",))
        bvh.save(generate_clips()[0], folder / "idle.bvh")
        for name in ("Mine", "Mine Too"):
            self.mark(bpy.data.actions[0].copy()).name = name
        self.mark(bpy.data.texts.new("notes")).from_string("print('mine')")
        self.add_object()
        self.mark(bpy.data.actions["walk_starts_and_stops"])
        self.operators = [
            cls.bl_idname.partition(".")[2]
            for cls in classes.ALL
            if issubclass(cls, bpy.types.Operator)
        ]
        self.operators = sorted(set(self.operators) - LEFT_OUT)
        self.results = Counter()
        self.start_undo()

    # what is the user's

    def mark(self, block):
        block[MINE] = True
        block.use_fake_user = True
        return block

    def list_mine(self):
        """Return by kind and name a digest of each block that is the user's."""
        found = {}
        for kind in KINDS:
            for block in getattr(bpy.data, kind):
                if block.get(MINE) is True and not block.library:
                    found[kind, block.name] = self.digest(block)
        return found

    def digest(self, block):
        if isinstance(block, bpy.types.Text):
            return block.as_string()
        if not isinstance(block, bpy.types.Action):
            return ""
        digest = hashlib.blake2b(digest_size=8)
        for bag in actions.get_channelbags(block):
            for curve in bag.fcurves:
                keys = np.empty(2 * len(curve.keyframe_points), np.float32)
                curve.keyframe_points.foreach_get("co", keys)
                digest.update(curve.data_path.encode() + keys.tobytes())
        return digest.hexdigest()

    def choose(self, blocks):
        found = [block for block in blocks if not block.library]
        return self.random.choice(found) if found else None

    def find_character(self):
        """Return an armature, made the active object if there is one."""
        obj = self.choose([o for o in bpy.context.view_layer.objects if o.type == "ARMATURE"])
        if obj is not None and bpy.context.mode == "OBJECT":
            bpy.context.view_layer.objects.active = obj
        return obj

    # what happens

    def run_operator(self):
        name = self.random.choice(self.operators)
        operator = getattr(bpy.ops.motion_matching, name)
        options = {}
        for prop in operator.get_rna_type().properties:
            if prop.identifier != "rna_type" and self.random.random() < 0.6:
                value = self.choose_option(prop)
                if value is not None:
                    options[prop.identifier] = value
        before, self.number = self.list_mine(), self.number + 1
        self.log.append(f"{name}({options})")
        try:
            result = next(iter(operator(**options)))
        except RuntimeError as error:
            result, message = "refused", str(error)
        else:
            message = ""
        assert "Traceback" not in message, f"{message}\n{self.describe()}"
        self.results[result] += 1
        if name not in CHANGES_ACTIONS:
            after = self.list_mine()
            lost = {block for block, content in before.items() if after.get(block) != content}
            assert not lost, f"{lost} gone or changed\n{self.describe()}"

    def choose_option(self, prop):
        name, choose = prop.identifier, self.random.choice
        if name in ("filepath", "directory"):
            return choose(
                [str(self.folder / "idle.bvh"), str(self.folder), f"{self.folder}/no.bvh"]
            )
        if name == "seconds":
            return self.random.uniform(0.5, 1.5)
        if prop.type == "BOOLEAN":
            return choose((True, False))
        if prop.type == "ENUM":
            return choose([item.identifier for item in prop.enum_items] or [None])
        if prop.type == "INT":
            return self.random.randint(max(prop.hard_min, -3), min(prop.hard_max, 60))
        if prop.type == "FLOAT" and not prop.is_array:
            return self.random.uniform(max(prop.hard_min, -1.0), min(prop.hard_max, 3.0))
        return choose(WORDS) if prop.type == "STRING" else None

    def add_object(self):
        empty = self.mark(bpy.data.objects.new("Empty", None))
        bpy.context.scene.collection.objects.link(empty)
        empty.animation_data_create().action = bpy.data.actions.get("Mine")

    def add_take(self):
        """List a take, or an action of the user's, or one that is used elsewhere."""
        obj = self.find_character()
        if obj is None:
            return
        action = self.random.choice((None, self.choose(bpy.data.actions)))
        if action is None:
            action = bpy.data.actions.new("Take")
            performed = scripts.build_script(
                "square", 1.0, 30.0, SETTINGS.steering.walk, SETTINGS.steering.run
            )
            recording.store_performance(action, performance.to_json(performed), 1.0, 30, 30.0)
        take_list.list_take(obj, action)
        if not action.get(MINE):  # which have their shield
            settings = obj.motion_matching
            settings.takes[settings.take_index].is_kept = self.random.random() < 0.3

    def assign_action(self):
        obj, action = self.choose(bpy.data.objects), self.choose(bpy.data.actions)
        if obj and action and obj.mode == "OBJECT" and not (action.name.startswith("Sampling")):
            obj.animation_data_create().action = action

    def rename(self):
        block = self.choose(getattr(bpy.data, self.random.choice(KINDS)))
        if block:
            block.name = self.random.choice(("A", "é" * 20, "Take", "Hero"))

    def remove(self):
        blocks = getattr(bpy.data, self.random.choice(("actions", "objects", "texts")))
        if (block := self.choose(blocks)) and bpy.context.mode == "OBJECT":
            blocks.remove(block)

    def change_settings(self):
        if obj := self.find_character():
            kind = self.random.choice(("script", "play", "roles", "features", "controller"))
            fill(getattr(obj.motion_matching, kind), self.random.randint(0, 50))

    def change_mode(self):
        if self.find_character():
            mode = self.random.choice(("OBJECT", "OBJECT", "POSE", "EDIT"))
            with contextlib.suppress(RuntimeError):  # hidden, or not editable
                bpy.ops.object.mode_set(mode=mode)

    def change_frame(self):
        bpy.context.scene.frame_set(self.random.randint(-20, 300))

    def point_path(self):
        """Have a source take its path from any object."""
        obj = self.find_character()
        if obj and obj.motion_matching.sources:
            source = self.random.choice(list(obj.motion_matching.sources))
            source.path, source.use_path = self.choose(bpy.data.objects), True

    def tamper(self):
        """Write something strange where the extension keeps its data."""
        value = self.random.choice(STRANGE)
        action, obj = self.choose(bpy.data.actions), self.find_character()
        if action:
            action[recording.PARTS if self.random.random() < 0.7 else recording.GROWING] = value
        if obj:
            name = self.random.choice((saved_pose.SAVED_POSE, evaluation._MARK))
            obj[name] = value
            obj.data["motion_matching_rest"] = value
            for database in obj.motion_matching.databases:
                database.sources = self.random.choice(("{", "5", "[[]]", "[" * 5000))
        for text in bpy.data.texts:
            if not text.get(MINE):
                text.from_string(self.random.choice(("", "{", "[" * 50_000, "null")))

    def tamper_file(self):
        """Write something strange below the properties, which is read from a file."""
        obj = self.find_character()
        if obj is None:
            return
        settings = obj.motion_matching
        settings.roles.hips, settings.script.seconds = settings.roles.hips, 2.0
        has_own_place = hasattr(obj, "bl_system_properties_get")
        group = (obj.bl_system_properties_get() if has_own_place else obj)["motion_matching"]
        for _ in range(4):
            name = self.random.choice(sorted(group.keys()) or ["roles"])
            inner = group.get(name)
            if hasattr(inner, "keys") and self.random.random() < 0.8:
                group = inner
                continue
            if inner is not None and not hasattr(inner, "keys") and not isinstance(inner, list):
                del group[name]
                group[name] = self.random.choice((b"\xff", 99, -5000, 1e30, float("nan"), "x"))
            break
        self.save_and_load()

    def save_and_load(self):
        if bpy.context.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        before, path = self.list_mine(), str(self.folder / "file.blend")
        bpy.ops.wm.save_as_mainfile(filepath=path)
        bpy.ops.wm.open_mainfile(filepath=path)
        self.expect_mine(before)
        self.start_undo()

    def draw(self):
        draw_panels()

    # undo

    def start_undo(self):
        self.steps, self.at = [], -1
        self.push()
        self.push()

    def push(self):
        bpy.ops.ed.undo_push()
        del self.steps[self.at + 1 :]
        self.steps.append(self.list_mine())
        self.at += 1

    def undo(self):
        if self.at > 1:
            bpy.ops.ed.undo()
            self.at -= 1
            self.expect_mine(self.steps[self.at])

    def redo(self):
        if self.at < len(self.steps) - 1:
            bpy.ops.ed.redo()
            self.at += 1
            self.expect_mine(self.steps[self.at])

    def expect_mine(self, expected):
        found = self.list_mine()
        lost = {block for block, content in expected.items() if found.get(block) != content}
        assert not lost, f"{lost} gone or changed\n{self.describe()}"

    def describe(self):
        return "after " + "\n".join(self.log[-25:])

    def do_something(self):
        edits = (self.add_object, self.add_take, self.assign_action, self.rename, self.remove)
        edits += (self.change_settings, self.change_mode, self.change_frame, self.point_path)
        edits += (self.tamper, self.tamper, self.tamper_file, self.save_and_load)
        looks = (self.undo, self.undo, self.redo, self.draw)
        step = self.random.choice((self.run_operator,) * 14 + edits + looks)
        self.find_character()
        if step != self.run_operator:
            self.log.append(step.__name__)
        printed = io.StringIO()
        with contextlib.redirect_stderr(printed):
            step()
        text = printed.getvalue()
        assert "Traceback" not in text, f"{text}\n{self.describe()}"
        if step not in (self.undo, self.redo, self.save_and_load, self.tamper_file):
            self.push()


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_no_order_of_operators_fails_or_loses_what_is_the_users(seed, tmp_path):
    user, until = User(seed, tmp_path), time.process_time() + SECONDS
    while time.process_time() < until:
        user.do_something()
    assert user.results["FINISHED"], user.describe()
    assert draw_panels()
