"""Map a motion field's states, so that similar states of the field lie near each other.

Uses spectral embedding of the graph of nearest neighbours (Belkin and Niyogi, "Laplacian eigenmaps
for dimensionality reduction and data representation"), with edges by the distance to the neighbours
of both ends (Zelnik-Manor and Perona, "Self-tuning spectral clustering"). A gait is a ring.
Notebook 003 draws the same vectors by UMAP, for which commands give `build_field_map` another way
to embed them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.sparse import linalg as sparse_linalg

from ...database.database import Database
from ...field.states.gaits import classify_gaits
from ...field.states.neighbours import Metric, Neighbours
from ...field.states.states import MotionStates
from ...field.training.training import choose_evenly
from ..coverage.strands import sample_evenly
from ..numbers import NUMBERS
from .pose_map import fix_signs

Array = np.ndarray
GAITS = ("standing", "walking", "running")  # in the order of their numbers
_SHIFT = 1e-3  # below the smallest eigenvalue, 0, so that the Laplacian can be inverted
_GOLDEN = 0.5 * (5.0**0.5 - 1.0)  # share of the hue circle between two clips, so that all differ
_GAIT_COLOURS = np.array([[0.25, 0.35, 0.6], [0.2, 0.65, 0.5], [0.95, 0.6, 0.2]])


@dataclass(frozen=True)
class FieldMap:
    """Positions (N, 3) of all frames of a database; the first two columns are the flat map.

    `eigenvalues` (3,) show how connected the graph is in each: near 0 for loosely connected parts.
    A map by another `method` has none.
    """

    positions: Array
    eigenvalues: Array
    method: str = "their graph"

    def to_dict(self, database: Database, most: int = 3000) -> dict[str, Any]:
        """Return the map as JSON data, of at most `most` frames, evenly spread."""
        frames = sample_evenly(np.arange(len(self.positions)), most)
        gaits = classify_gaits(database)[0][frames]
        return {
            "method": self.method,
            "frames": frames.tolist(),
            "clips": [database.ranges[r].label for r in database.range_of_frame[frames]],
            "gaits": [GAITS[gait] for gait in gaits.tolist()],
            "positions": self.positions[frames].round(5).tolist(),
            "eigenvalues": self.eigenvalues.round(6).tolist(),
        }


def place_all(frames: Array, chains: Array, positions: Array, database: Database) -> Array:
    """Return positions (N, d) of all frames: between the sampled ones (n, d) of their clip.

    Sampled are `frames` (n,), and `chains` (n,) are the runs of states that follow each other. A
    frame of a clip without samples has the position of the nearest sampled frame.
    """
    every = np.arange(database.frame_count)
    ranges = database.range_of_frame
    before = np.maximum(frames.searchsorted(every, side="right") - 1, 0)
    after = np.minimum(before + 1, len(frames) - 1)
    own = ranges[frames[before]] == ranges
    before = np.where(own, before, after)
    joined = chains[before] == chains[after]
    span = np.maximum(frames[after] - frames[before], 1)
    share = np.where(joined, np.clip((every - frames[before]) / span, 0.0, 1.0), 0.0)
    result: Array = positions[before] + share[:, None] * (positions[after] - positions[before])
    return result


def build_field_map(
    database: Database,
    metric: Metric,
    embed: Callable[[Array], Array] | None = None,
    method: str = "their graph",
) -> FieldMap:
    """Map a database's states by the graph of their neighbours in a metric.

    `embed` returns positions (n, 3) of features (n, F) by another `method` instead.
    """
    states = MotionStates.from_database(database)
    chains = states.compute_chains(database)
    chosen = choose_evenly(chains, NUMBERS.graph_states)
    features = metric.compute_features(states.poses[chosen], states.velocities[chosen])
    if embed:
        positions = embed(features)
        eigenvalues = np.zeros(0)
    else:
        positions, eigenvalues = embed_graph(build_graph(features))
    placed = place_all(states.frames[chosen], chains[chosen], positions, database)
    return FieldMap(placed, eigenvalues, method)


def build_graph(features: Array) -> sparse.csr_matrix:
    """Return the graph (n, n) of states by features (n, F), three to a term, in one piece.

    A state has edges to its neighbours, with the weight exp(-d²/σσ') by the distances σ of both to
    their last neighbour. Unconnected pieces are joined where they are nearest, by edges as weak as
    the weakest.
    """
    count = len(features)
    indices, distances = Neighbours(features).find_nearest(features, NUMBERS.neighbours + 1)
    reach = np.maximum(distances[:, -1], np.finfo(np.float32).tiny).astype(np.float64)
    weights = np.exp(-(distances.astype(np.float64) ** 2) / (reach[:, None] * reach[indices]))
    rows = np.repeat(np.arange(count), indices.shape[1])
    graph = sparse.csr_matrix((weights.ravel(), (rows, indices.ravel())), (count, count))
    graph.setdiag(0.0)
    graph.eliminate_zeros()
    graph = graph.maximum(graph.T).tocsr()
    return _join_pieces(graph, features)


def _join_pieces(graph: sparse.csr_matrix, features: Array) -> sparse.csr_matrix:
    """Return the graph with a weak edge from each piece to the nearest piece joined before."""
    pieces, piece_of = csgraph.connected_components(graph, directed=False)
    if pieces < 2:
        return graph
    weak = float(graph.data.min()) if graph.nnz else 1.0
    sizes = np.bincount(piece_of, minlength=pieces)
    order = np.argsort(-sizes, kind="stable")
    joined = piece_of == order[0]
    edges = []
    for piece in order[1:]:
        own = np.flatnonzero(piece_of == piece)
        # the states of a piece lie together, so a few suffice to find the nearest of the others
        some = sample_evenly(own, 64)
        nearest, distances = Neighbours(features, joined).find_nearest(features[some], 1)
        best = int(distances[:, 0].argmin())
        edges.append((int(some[best]), int(nearest[best, 0])))
        joined[own] = True
    a, b = np.array(edges).T
    links = sparse.csr_matrix((np.full(len(a), weak), (a, b)), graph.shape)
    return graph.maximum(links + links.T).tocsr()


def embed_graph(graph: sparse.csr_matrix) -> tuple[Array, Array]:
    """Return positions (n, 3) of the vertices of a graph in one piece, and eigenvalues (3,).

    They are the smoothest functions on it: eigenvectors of the normalized Laplacian with the
    smallest eigenvalues above 0, over the square roots of the degrees. Positions have the mean
    square 1 in each dimension. With too few vertices the last are all 0.
    """
    count = graph.shape[0]
    dimensions = NUMBERS.map_dimensions
    wanted = min(dimensions, count - 1)
    positions = np.zeros((count, dimensions))
    eigenvalues = np.zeros(dimensions)
    if wanted < 1:
        return positions, eigenvalues
    laplacian, roots = csgraph.laplacian(graph, normed=True, return_diag=True)
    if wanted + 1 < count:
        start = np.cos(np.arange(count) ** 2.0)  # an arbitrary vector, the same in each run
        values, vectors = sparse_linalg.eigsh(
            sparse.csc_matrix(laplacian), wanted + 1, sigma=-_SHIFT, which="LM", v0=start
        )
    else:
        values, vectors = np.linalg.eigh(laplacian.toarray())
    order = np.argsort(values, kind="stable")[1 : wanted + 1]
    smooth = vectors[:, order] / roots[:, None]
    smooth /= np.maximum(np.sqrt((smooth * smooth).mean(axis=0)), 1e-30)
    positions[:, :wanted] = fix_signs(smooth)
    eigenvalues[:wanted] = values[order]
    return positions, np.maximum(eigenvalues, 0.0)


def compute_clip_colours(database: Database) -> Array:
    """Return a colour (N, 3) of each frame by its clip, which its mirror image shares."""
    clips = [part.label for part in database.ranges]
    names = list(dict.fromkeys(clips))
    numbers = np.array([names.index(clip) for clip in clips])
    hues = (numbers * _GOLDEN % 1.0)[database.range_of_frame]
    thirds = np.array([0.0, 1.0 / 3.0, 2.0 / 3.0])
    wheel = np.abs((hues[:, None] + thirds) % 1.0 * 6.0 - 3.0) - 1.0
    result: Array = 0.25 + 0.65 * np.clip(wheel, 0.0, 1.0)
    return result


def compute_gait_colours(database: Database) -> Array:
    """Return a colour (N, 3) of each frame by its gait: standing blue, walking green, running."""
    result: Array = _GAIT_COLOURS[classify_gaits(database)[0]]
    return result
