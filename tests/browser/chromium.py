"""Where the browser of the tests is, and how it gets there.

`find_chromium` serves the tests. Run as a program, this file says which browser that is, and with ``--install``
it first installs one where that is a matter of one command: as root, on Debian or a system like it.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.debian import install

HOW_TO = (
    "No Chromium was found: install Chromium or Google Chrome with your system's package manager "
    "(Debian: apt install chromium; Ubuntu: snap install chromium; macOS: brew install --cask chromium; "
    "Windows: winget install Google.Chrome), or set CHROMIUM to the path of one."
)

# The first two are hidden pages of the address bar, made anew for every window: a fifth of what a first page costs.
# The others are those that Playwright switches off, in place of whose list this one comes.
_SWITCHED_OFF = (
    *("WebUIOmniboxPopup", "WebUIOmniboxAimPopup"),
    *("AimEnabled", "AvoidCorsURLLoaderRestartOnRedirect", "AvoidUnnecessaryBeforeUnloadCheckSync"),
    *("DestroyProfileOnBrowserClose", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades", "LensOverlay"),
    *("MediaRouter", "NetworkTimeServiceQuerying", "OptimizationHints", "PaintHolding", "PreconnectToSearch"),
    *("TcpPortRandomizationWin", "ThirdPartyStoragePartitioning"),
)

ARGUMENTS = [
    *("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run", "--disable-sync"),
    f"--disable-features={','.join(_SWITCHED_OFF)}",
]
"""How tests and benchmarks start it."""

NAMES_ON_PATH = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")

MAC_PLACES = (
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "~/Applications/Chromium.app/Contents/MacOS/Chromium",
    "~/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
)

WINDOWS_FOLDERS = ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA")
WINDOWS_PLACES = (
    "Chromium/Application/chrome.exe",
    "Google/Chrome/Application/chrome.exe",
    "Microsoft/Edge/Application/msedge.exe",
)

# The fonts give a screenshot its Chinese words and its emoji; without them it shows boxes.
DEBIAN_PACKAGES = ("chromium", "fonts-noto-core", "fonts-noto-cjk", "fonts-noto-color-emoji")


def usual_places() -> list[Path]:
    """Where installers put Chromium, Chrome or Edge without a word on PATH, for the system this runs on."""
    if sys.platform == "darwin":
        return [Path(place).expanduser() for place in MAC_PLACES]
    if sys.platform == "win32":
        folders = [os.environ[name] for name in WINDOWS_FOLDERS if os.environ.get(name)]
        return [Path(folder) / place for folder in folders for place in WINDOWS_PLACES]
    return []


def find_chromium() -> str:
    """Path of the Chromium to test with; nothing is started or installed.

    Returns
    -------
    str
        What the variable CHROMIUM names (a path, or a name on PATH), else the first browser on PATH, else the
        first in the usual places of macOS or Windows.

    Raises
    ------
    RuntimeError
        If there is none, with one sentence that says how to get one; or if CHROMIUM names no program, since a
        set variable is never passed over.
    """
    chosen = os.environ.get("CHROMIUM")
    if chosen:
        path = shutil.which(chosen)
        if path is None:
            raise RuntimeError(f"CHROMIUM is set to {chosen!r}, where no program is: correct it, or unset it.")
        return path
    for name in (*NAMES_ON_PATH, *map(str, usual_places())):
        path = shutil.which(name)
        if path is not None:
            return path
    raise RuntimeError(HOW_TO)


def ask_version(path: str) -> str:
    """What the browser at a path calls itself, such as ``"Chromium 156.0.8078.73"``.

    Raises
    ------
    RuntimeError
        If it does not start: Ubuntu's chromium-browser, say, only points to a snap that may be missing.
    """
    if sys.platform == "win32":  # Chrome would open a window
        return Path(path).stem
    try:
        done = subprocess.run([path, "--version"], text=True, capture_output=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise RuntimeError(f"{path} does not start ({error}): set CHROMIUM to the path of one that does.") from error
    if done.returncode != 0:
        words = (done.stderr or done.stdout).strip()
        raise RuntimeError(f"{path} does not start: set CHROMIUM to the path of one that does. It says: {words}")
    return done.stdout.strip()


def main() -> int:
    """Print the browser's version and path, or the sentence that says how to get one; 0 if there is a browser."""
    parser = argparse.ArgumentParser(description="Find the Chromium that the browser tests use.")
    parser.add_argument("--install", action="store_true", help="install it first if there is none (root, Debian)")
    may_install: bool = parser.parse_args().install
    try:
        try:
            path = find_chromium()
        except RuntimeError:
            if not may_install or os.environ.get("CHROMIUM"):
                raise
            install("Chromium and fonts (about 150 MB)", DEBIAN_PACKAGES, HOW_TO)
            path = find_chromium()
        version = ask_version(path)
    except RuntimeError as error:
        print(error, file=sys.stderr)
        return 1
    print(f"Browser for the tests: {version} ({path})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
