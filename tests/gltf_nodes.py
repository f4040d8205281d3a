"""glTF files whose nodes move without a skin, as VRM animations and other exports have them."""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from motion_matching.engine.motion.clip import Clip

VRM_BONES = {  # of the built-in skeleton, by the names of VRM
    "hips": "Hips",
    "spine": "Spine",
    "chest": "Chest",
    "upperChest": "UpperChest",
    "neck": "Neck",
    "head": "Head",
} | {
    f"{side.lower()}{bone}": f"{side}{own}"
    for side in ("Left", "Right")
    for bone, own in {
        "Shoulder": "Shoulder",
        "UpperArm": "Arm",
        "LowerArm": "ForeArm",
        "Hand": "Hand",
        "UpperLeg": "UpLeg",
        "LowerLeg": "Leg",
        "Foot": "Foot",
        "Toes": "Toe",
    }.items()
}


def to_gltf(positions: np.ndarray) -> np.ndarray:
    """Turn vectors (..., 3) from Z up to Y up."""
    return np.stack([positions[..., 0], positions[..., 2], -positions[..., 1]], axis=-1)


def to_gltf_turns(rotations: np.ndarray) -> np.ndarray:
    """Turn quaternions (..., 4), w first, from Z up to Y up with w last."""
    return np.concatenate([to_gltf(rotations[..., 1:]), rotations[..., :1]], axis=-1)


class NodeFile:
    """Collects nodes and animation of clips, and writes them as .glb, .vrma or .gltf."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.roots: list[int] = []
        self.blob = b""
        self.views: list[dict[str, Any]] = []
        self.accessors: list[dict[str, Any]] = []
        self.samplers: list[dict[str, Any]] = []
        self.channels: list[dict[str, Any]] = []
        self.extensions: dict[str, Any] = {}

    def add_values(self, values: np.ndarray, kind: str) -> int:
        data = np.ascontiguousarray(values, np.float32)
        view = {"buffer": 0, "byteOffset": len(self.blob), "byteLength": data.nbytes}
        self.blob += data.tobytes()
        self.views.append(view)
        accessor = {"bufferView": len(self.views) - 1, "componentType": 5126, "count": len(data)}
        if kind == "SCALAR":
            accessor |= {"min": [float(data.min())], "max": [float(data.max())]}
        self.accessors.append(accessor | {"type": kind})
        return len(self.accessors) - 1

    def animate(self, node: int, path: str, times: int, values: int) -> None:
        self.samplers.append({"input": times, "output": values, "interpolation": "LINEAR"})
        target = {"node": node, "path": path}
        self.channels.append({"sampler": len(self.samplers) - 1, "target": target})

    def add_clip(self, clip: Clip, prefix: str = "", names: Sequence[str] = ()) -> list[int]:
        """Add the nodes of a clip with their motion; only bones that leave their places slide."""
        skeleton, first = clip.skeleton, len(self.nodes)
        times = self.add_values(np.arange(clip.frame_count) / clip.fps, "SCALAR")
        named = names or [prefix + name for name in skeleton.names]
        for bone, name in enumerate(named):
            node = {"name": name, "translation": to_gltf(skeleton.rest_positions[bone]).tolist()}
            node["rotation"] = to_gltf_turns(skeleton.rest_rotations[bone]).tolist()
            if children := skeleton.get_children(bone):
                node["children"] = [first + child for child in children]
            self.nodes.append(node)
            turns = self.add_values(to_gltf_turns(clip.rotations[:, bone]), "VEC4")
            self.animate(first + bone, "rotation", times, turns)
            if np.ptp(clip.positions[:, bone], axis=0).max() > 1e-5:
                places = self.add_values(to_gltf(clip.positions[:, bone]), "VEC3")
                self.animate(first + bone, "translation", times, places)
        self.roots.append(first)
        return list(range(first, len(self.nodes)))

    def put_below(self, **node: Any) -> None:
        """Put all that was added below a still node."""
        self.nodes.append({"children": self.roots, **node})
        self.roots = [len(self.nodes) - 1]

    def write(self, path: Path, buffer: str = "") -> Path:
        """Write .gltf with its `buffer` in a file of that name or within, and else binary files."""
        data: dict[str, Any] = {
            "asset": {"version": "2.0"},
            "scene": 0,
            "scenes": [{"nodes": self.roots}],
            "nodes": self.nodes,
            "animations": [
                {"name": path.stem, "samplers": self.samplers, "channels": self.channels}
            ],
            "accessors": self.accessors,
            "bufferViews": self.views,
            "buffers": [{"byteLength": len(self.blob)}],
        }
        if self.extensions:
            data |= {"extensions": self.extensions, "extensionsUsed": list(self.extensions)}
        if path.suffix == ".gltf":
            uri = "data:application/octet-stream;base64," + base64.b64encode(self.blob).decode()
            if buffer:
                (path.parent / buffer).write_bytes(self.blob)
                uri = buffer.replace(" ", "%20")
            data["buffers"][0]["uri"] = uri
            path.write_text(json.dumps(data))
            return path
        text = json.dumps(data).encode()
        text += b" " * (-len(text) % 4)
        chunks = struct.pack("<I4s", len(text), b"JSON") + text
        chunks += struct.pack("<I4s", len(self.blob), b"BIN\0") + self.blob
        path.write_bytes(b"glTF" + struct.pack("<II", 2, 12 + len(chunks)) + chunks)
        return path


def add_humanoid(file: NodeFile, clip: Clip, nodes: Sequence[int]) -> None:
    """Say which nodes of a clip are which bones, as a VRM animation does."""
    bones: Mapping[str, dict[str, int]] = {
        name: {"node": nodes[clip.skeleton.index(own)]} for name, own in VRM_BONES.items()
    }
    file.extensions["VRMC_vrm_animation"] = {
        "specVersion": "1.0",
        "humanoid": {"humanBones": bones},
    }
