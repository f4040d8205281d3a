"""Find where two line segments are nearest to each other."""

from __future__ import annotations

from ...maths.numeric import Functions, Number, Number3

_NO_LENGTH = 1e-9  # square metres: a shorter segment is a point


def find_nearest(
    u: Number3[Number], v: Number3[Number], between: Number3[Number], of: Functions[Number]
) -> tuple[Number, Number]:
    """Return the shares of two segments along `u` and `v` at which they are nearest.

    `between` leads from the start of the second to that of the first.
    """
    (ux, uy, uz) = u
    (vx, vy, vz) = v
    (wx, wy, wz) = between
    uu = ux * ux + uy * uy + uz * uz
    uv = ux * vx + uy * vy + uz * vz
    vv = vx * vx + vy * vy + vz * vz
    uw = ux * wx + uy * wy + uz * wz
    vw = vx * wx + vy * wy + vz * wz
    s = (uv * vw - vv * uw) / of.least(uu * vv - uv * uv, _NO_LENGTH)
    s = of.most(of.least(s, 0.0), 1.0)
    t = of.most(of.least((uv * s + vw) / of.least(vv, _NO_LENGTH), 0.0), 1.0)
    return of.most(of.least((uv * t - uw) / of.least(uu, _NO_LENGTH), 0.0), 1.0), t
