"""Every version that is installed or shipped, in one place, with the reason."""

from __future__ import annotations

# The Blenders to work with, and the Python that the module of each is for. The first that fits the
# running Python is what `build.py` works with unless told otherwise.
BLENDERS = {"5.0": "3.11", "5.2": "3.13", "4.5": "3.11", "4.2": "3.11"}

LINTED = ("5.0", "5.2")  # the newest for each Python: lint runs with these

# What is installed to work: the name, its version beside each Blender, and why this one.
PINS = (
    (
        "bpy",
        {"4.2": "4.2.23", "4.5": "4.5.15", "5.0": "5.0.1", "5.2": "5.2.3"},
        "each Blender's last as a module",
    ),
    (
        "numpy",
        {"4.2": "1.24.3", "4.5": "1.26.4", "5.0": "1.26.4", "5.2": "2.2.6"},
        "what Blender itself carries, 1.24.3 in 4.2; bpy 5.0 needs one below 2, bpy 5.2 takes "
        "none below 2.2",
    ),
    ("scipy", dict.fromkeys(BLENDERS, "1.15.3"), "the one that is shipped, see WHEELS"),
    ("tqdm", dict.fromkeys(BLENDERS, "4.70.1"), "the one that is shipped"),
    ("pytest", dict.fromkeys(BLENDERS, "9.2.0"), "test"),
    ("pysdl2", dict.fromkeys(BLENDERS, "0.9.17"), "the one that is shipped"),
    ("pysdl2-dll", dict.fromkeys(BLENDERS, "2.32.10"), "the one that is shipped"),
    ("pytest-timeout", dict.fromkeys(BLENDERS, "2.4.0"), "test: a time limit for each"),
    (
        "pytest-xdist",
        dict.fromkeys(BLENDERS, "3.8.0"),
        "test: two at a time, and a crash ends one test alone",
    ),
    ("hypothesis", dict.fromkeys(BLENDERS, "6.170.15"), "test: examples of properties"),
    ("sortedcontainers", dict.fromkeys(BLENDERS, "2.4.0"), "what hypothesis needs"),
    ("openjd-cli", dict.fromkeys(LINTED, "0.8.0"), "test: runs batches written for farms"),
    ("openjd-model", dict.fromkeys(LINTED, "0.13.0"), "what openjd-cli needs: reads templates"),
    ("openjd-sessions", dict.fromkeys(LINTED, "0.13.0"), "what openjd-cli needs: runs tasks"),
    ("ruff", dict.fromkeys(LINTED, "0.17.5"), "lint"),
    ("mypy", dict.fromkeys(LINTED, "2.4.1"), "lint"),
    ("mkdocs-material", dict.fromkeys(LINTED, "9.8.1"), "lint: the manual as a site, with MkDocs"),
    (
        "fake-bpy-module-5.0",
        dict.fromkeys(LINTED, "20260730"),
        "lint: bpy's types, the same for both",
    ),
)

# Blender's name of a platform, and how the names of wheels for it end.
PLATFORMS = {
    "windows-x64": ("win_amd64",),
    "macos-arm64": ("macosx_*_arm64", "macosx_*_universal2"),
    "macos-x64": ("macosx_*_x86_64",),
    "linux-x64": ("manylinux*_x86_64",),
}

SHIPPED_PYTHONS = ("3.11", "3.13")  # of Blender's own builds: up to 5.0, and from 5.1 on

# numpy's names for instructions of some processors. With these, the last bits of the same computation
# may change from one time to the next; without, clips and tests are the same everywhere.
UNSTEADY = "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL"

# The wheels that the extension brings along, each with its SHA-256. numpy is not among them:
# Blender has its own.
# - scipy 1.15.3 runs on numpy 1.24.3, 1.26 and 2, all of which Blenders carry; 1.16 and later fail
# on 1.24.3. For Python 3.14, which only distributions run Blender on, 1.16.3 is the oldest series
# there is.
# - PySDL2 and pysdl2-dll read gamepads: the newest, with the last SDL 2 in it.
# - tqdm draws bars of progress on terminals.
WHEELS = {
    "PySDL2-0.9.17-py3-none-any.whl": "fe923dbf5c7b27bbc1eb2bf58abfa793f8f13fd7ae8b27b1bc2de49920bcbd41",
    "pysdl2_dll-2.32.10-py2.py3-none-macosx_10_11_x86_64.whl": "cab126a82c2bd2cd79b6cb8da906916884789c9f4f1ae4cf861f26438ce651a4",
    "pysdl2_dll-2.32.10-py2.py3-none-macosx_11_0_universal2.whl": "5ccbd89cd2a032f4ac890606dfe5c33874c0e5e909b2e667438ad7d7fc7fcc5d",
    "pysdl2_dll-2.32.10-py2.py3-none-manylinux2014_x86_64.whl": "12b136c38114ae0f8a85453a879795ba5d61663d98673ba19c36c3008ff00353",
    "pysdl2_dll-2.32.10-py2.py3-none-win_amd64.whl": "65eba83d68c33b22aa5eca6c9a8521cff5044435ecd5b49521068df82674de6a",
    "scipy-1.15.3-cp311-cp311-macosx_10_13_x86_64.whl": "993439ce220d25e3696d1b23b233dd010169b62f6456488567e830654ee37a6b",
    "scipy-1.15.3-cp311-cp311-macosx_12_0_arm64.whl": "34716e281f181a02341ddeaad584205bd2fd3c242063bd3423d61ac259ca7eba",
    "scipy-1.15.3-cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64.whl": "39cb9c62e471b1bb3750066ecc3a3f3052b37751c7c3dfd0fd7e48900ed52982",
    "scipy-1.15.3-cp311-cp311-win_amd64.whl": "ae48a786a28412d744c62fd7816a4118ef97e5be0bee968ce8f0a2fba7acf3bb",
    "scipy-1.15.3-cp313-cp313-macosx_10_13_x86_64.whl": "2c620736bcc334782e24d173c0fdbb7590a0a436d2fdf39310a8902505008759",
    "scipy-1.15.3-cp313-cp313-macosx_12_0_arm64.whl": "7e11270a000969409d37ed399585ee530b9ef6aa99d50c019de4cb01e8e54e62",
    "scipy-1.15.3-cp313-cp313-manylinux_2_17_x86_64.manylinux2014_x86_64.whl": "c9deabd6d547aee2c9a81dee6cc96c6d7e9a9b1953f74850c179f91fdc729cb7",
    "scipy-1.15.3-cp313-cp313-win_amd64.whl": "b90ab29d0c37ec9bf55424c064312930ca5f4bde15ee8619ee44e69319aab163",
    "scipy-1.16.3-cp314-cp314-macosx_10_14_x86_64.whl": "875555ce62743e1d54f06cdf22c1e0bc47b91130ac40fe5d783b6dfa114beeb6",
    "scipy-1.16.3-cp314-cp314-macosx_12_0_arm64.whl": "bb61878c18a470021fb515a843dc7a76961a8daceaaaa8bad1332f1bf4b54657",
    "scipy-1.16.3-cp314-cp314-manylinux2014_x86_64.manylinux_2_17_x86_64.whl": "d3837938ae715fc0fe3c39c0202de3a8853aff22ca66781ddc2ade7554b7e2cc",
    "scipy-1.16.3-cp314-cp314-win_amd64.whl": "e5d42a9472e7579e473879a1990327830493a7047506d58d73fc429b84c1d49d",
    "tqdm-4.70.1-py3-none-any.whl": "c293e525e6fef9c20e8728fd4612df02a0aa31bb5fe91ecd93e123b1b7bffa73",
}
