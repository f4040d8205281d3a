"""Blender's own message extractor accepts the user interface."""

from __future__ import annotations

from pathlib import Path

import pytest

UI = Path(__file__).resolve().parents[2] / "motion_matching" / "ui"

EXTRACTED = """
import importlib
import os
import sys
from pathlib import Path
import bpy
package = "bl_i18n_utils" if bpy.app.version < (5, 0) else "_bl_i18n_utils"
extractor = importlib.import_module(f"{package}.bl_extract_messages")
settings = importlib.import_module(f"{package}.settings").I18nSettings()
type(settings).PRESETS_DIR = bpy.utils.preset_paths("")[0]  # instead of the one in Blender's source code
RULES = ("multi_lines", "not_capitalized", "end_point", "undoc_ops")

def extracted(dump):
    \"\"\"All texts that are found, and by rule those that break it.\"\"\"
    broken, messages = {rule: set() for rule in RULES}, {}
    dump(messages, extractor._gen_reports(broken))
    return messages, broken

def of_types():
    return extracted(lambda messages, reports: extractor.dump_rna_messages(messages, reports, settings))

def added(now, before):
    return {rule: {text for _, text in now[1][rule] - before[1][rule]} for rule in RULES}

# registered texts; the first scan makes Blender load more of its own
of_types()
before = of_types()
import motion_matching
motion_matching.register()
class WM_OT_wrong(bpy.types.Operator):
    \"\"\"Of which the extractor has to say so\"\"\"
    bl_idname, bl_label = "wm.wrong", "all wrong."
bpy.utils.register_class(WM_OT_wrong)
now = of_types()
bpy.utils.unregister_class(WM_OT_wrong)
motion_matching.unregister()
assert len(now[0]) > len(before[0]) + 300, "the extractor does not see the extension"
wrong = {"not_capitalized": {"all wrong."}, "end_point": {"all wrong."}}
assert added(now, before) == {**dict.fromkeys(RULES, set()), **wrong}, added(now, before)

# texts in layouts and reports; those of errors are sentences
files = sorted(Path(sys.argv[1]).rglob("*.py"))
messages, broken = extracted(lambda messages, reports: extractor.dump_py_messages_from_files(
    messages, reports, list(map(str, files)), settings))
assert len(messages) > 60, len(messages)

def is_error(key):
    path, _, number = messages[key].comment_lines[0].rpartition(":")
    [file] = (file for file in files if path.endswith("/".join(file.parts[-2:])))
    lines = file.read_text(encoding="utf-8").splitlines()
    return any('{"ERROR"}' in line for line in lines[int(number) - 4 : int(number)])

for rule in RULES:
    found = {key for key in broken[rule] if rule != "end_point" or not is_error(key)}
    assert not found, (rule, found)
if bpy.app.version < (5, 0, 0):  # these crash or hang at exit after the extractor has run, also without the extension
    os._exit(0)
"""


@pytest.mark.slow
def test_all_texts_obey_blenders_message_extractor(run_in_blender):
    run_in_blender(EXTRACTED, UI)
