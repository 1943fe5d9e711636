"""A plot of points on two axes that both begin at nothing, as an SVG that needs no library to be made or shown."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

_WIDTH, _HEIGHT = 720, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 80, 170, 40, 50

Point = tuple[str, float, float]  # its label, and where it lies


def write_plot(path: Path, title: str, axes: tuple[str, str], points: Sequence[Point], line: float) -> None:
    """Write the points, and the line through nothing that rises by ``line``."""
    furthest, highest = max(x for _, x, _ in points) * 1.05, max(y for _, _, y in points) * 1.1
    width, height = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return round(_LEFT + width * x / furthest, 1), round(_TOP + height * (1 - y / highest), 1)

    (left, bottom), (right, top) = place(0, 0), place(furthest, highest)
    end = place(min(furthest, highest / line), min(highest, furthest * line))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#fff"/>',
        f'<text x="{_LEFT}" y="22" font-size="14">{escape(title)}</text>',
        f'<path d="M{left} {top}V{bottom}H{right}" fill="none" stroke="#333"/>',
        f'<path d="M{left} {bottom}L{end[0]} {end[1]}" stroke="#999" stroke-dasharray="5 4"/>',
        f'<text x="{right}" y="{bottom + 36}" text-anchor="end">{escape(axes[0])}</text>',
        f'<text x="{left - 64}" y="{top - 4}">{escape(axes[1])}</text>',
    ]
    for part in (0.25, 0.5, 0.75, 1.0):
        x, y = place(furthest * part, highest * part)
        parts += [
            f'<text x="{x}" y="{bottom + 18}" text-anchor="middle">{furthest * part:,.0f}</text>',
            f'<text x="{left - 8}" y="{y + 4}" text-anchor="end">{highest * part:,.0f}</text>',
        ]
    for label, *where in points:
        x, y = place(*where)
        parts += [
            f'<circle cx="{x}" cy="{y}" r="5" fill="#2a6fdb"/>',
            f'<text x="{x + 9}" y="{y + 4}">{escape(label)}</text>',
        ]
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")
