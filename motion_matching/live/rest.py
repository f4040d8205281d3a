"""Continue the rest of a partly overwritten take from where the recording ends."""

from __future__ import annotations

from typing import NamedTuple

import bpy
import numpy as np

from ..engine.control.continuation import Body, carry_on
from ..engine.control.performer import Performer
from ..engine.ground.ground import is_flat
from ..scene.blender.handle import Handle
from ..scene.reading.moving_pose import PoseReader
from ..scene.writing.channel_writer import ChannelWriter
from ..scene.writing.recording import RestTicks

_LEAST = 0.5  # ticks of a take after a recording from which on there is a rest


class RestPlan(NamedTuple):
    """Plan for the rest of a take: `reader` reads it; see `carry_on` for `lead_back`."""

    reader: PoseReader
    lead_back: float = 0.0

    def carry(
        self,
        writer: ChannelWriter,
        performer: Performer,
        take: Handle,
        last: np.ndarray,
        channels: np.ndarray,
        frame: float,
        step: float,
    ) -> RestTicks | None:
        """Return the rest after the last two poses (2, 7, B) of a recording, if the take has any.

        The later of them, with these `channels`, is at a frame; a tick is `step` frames long.
        """
        action: bpy.types.Action = take.find()
        obj = writer.armature.find()
        left = (action.frame_range[1] - frame) / step
        if obj is None or left < _LEAST:
            return None
        frames = frame + step * np.arange(-1, max(int(left + 1e-6), 1) + 1)
        rest = self.reader.show(self.reader.read(obj, frames.tolist(), action))
        method, travels = performer.method, writer.travels
        body = Body(method.skeleton, method.acceleration_limits, method.legs, method.fps)
        contacts = None
        if travels and is_flat(performer.ground):
            contacts = self.reader.find_contacts(rest)
        carried = carry_on(
            self.reader.show(last),
            rest,
            body,
            performer.settings,
            contacts=contacts,
            lead_back=self.lead_back,
            moves=travels,
        )
        rows = []
        for pose in carried.poses:
            channels = writer.compute_channels(pose, channels)
            rows.append(channels.astype(np.float32))
        moves = writer.find_carrier_moves(carried.move)
        return RestTicks(np.stack(rows), moves, self.lead_back)
