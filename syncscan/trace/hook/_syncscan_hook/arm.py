"""Chooses and arms the detectors; for use once torch has started CUDA."""

from __future__ import annotations

from .cupti import Cupti
from .debugmode import DebugMode

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .checked import TimelineCheck
    from .interfaces import Detector, Note, Sink


def arm(
    wanted: str,
    recorder: Sink,
    note: Note,
    fail: Note,
    *,
    starved: bool = False,
    checked: TimelineCheck | None = None,
) -> list[Detector]:
    """Arm what ``wanted`` names ("auto", "cupti", "debug-mode", "both", "none"); return the armed detectors.

    "auto" is CUPTI, which sees and times every synchronization, or debug mode without CUPTI. When
    the program starts a profiler that needs CUPTI, debug mode takes its place in the list. With ``starved``
    CUPTI also measures idle GPU time after a synchronization, and reports each measurement to ``checked``.
    """
    armed: list[Detector] = []
    if wanted == "none":
        return armed
    cupti = None
    if wanted != "debug-mode":
        cupti = _arm_cupti(wanted, armed, recorder, note, fail, starved, checked)
    if wanted in ("debug-mode", "both") or (wanted == "auto" and cupti is None):
        _arm_debug_mode(armed, recorder, note, cupti)
    return armed


def _arm_cupti(
    wanted: str,
    armed: list[Detector],
    recorder: Sink,
    note: Note,
    fail: Note,
    starved: bool,
    checked: TimelineCheck | None,
) -> Cupti | None:
    def give_way() -> None:
        armed.remove(detector)
        note("the program's profiler took CUPTI over: from there on debug mode watches, and times nothing")
        if not armed:
            _arm_debug_mode(armed, recorder, note, None)

    detector = Cupti(recorder, note, fail, give_way, starved=starved, checked=checked)
    why_not = detector.arm()
    if why_not is None:
        armed.append(detector)
        return detector
    note(why_not + ("" if wanted == "cupti" else "; debug mode watches, and times nothing"))
    return None


def _arm_debug_mode(armed: list[Detector], recorder: Sink, note: Note, cupti: Cupti | None) -> None:
    detector = DebugMode(recorder, note, cupti)
    why_not = detector.arm()
    if why_not is None:
        armed.append(detector)
    else:
        note(why_not)
