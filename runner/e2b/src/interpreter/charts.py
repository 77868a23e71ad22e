"""Describes the charts of a figure of Matplotlib as data."""

import re

from matplotlib.collections import PathCollection
from matplotlib.container import BarContainer
from matplotlib.dates import num2date
from matplotlib.patches import Wedge

_UNIT = re.compile(r"\(([^()]*)\)\s*$")


def describe_figure(figure):
    """Returns the chart of a figure, or one of several charts."""
    charts = [_describe_axes(axes) for axes in figure.axes]
    if len(charts) == 1:
        return charts[0]
    title = figure.get_suptitle() or None
    if not charts:
        return {"type": "unknown", "title": title, "elements": []}
    return {"type": "superchart", "title": title, "elements": charts}


def _describe_axes(axes):
    title = axes.get_title() or None
    boxes = getattr(axes, "_wasibox_boxes", None)
    bars = [c for c in axes.containers if isinstance(c, BarContainer)]
    wedges = [p for p in axes.patches if isinstance(p, Wedge)]
    points = [c for c in axes.collections if isinstance(c, PathCollection)]
    if wedges:
        return {"type": "pie", "title": title, "elements": [_describe_wedge(w) for w in wedges]}
    if boxes:
        elements = [_describe_box(box) for box in boxes]
        return {"type": "box_and_whisker", "title": title, "elements": elements, **_labels(axes)}
    if bars:
        elements = [bar for container in bars for bar in _describe_bars(axes, container)]
        return {"type": "bar", "title": title, "elements": elements, **_labels(axes)}
    if axes.get_lines():
        elements = [_describe_line(axes, line) for line in axes.get_lines()]
        return {"type": "line", "title": title, "elements": elements, **_scales(axes)}
    if points:
        elements = [_describe_points(axes, collection) for collection in points]
        return {"type": "scatter", "title": title, "elements": elements, **_scales(axes)}
    return {"type": "unknown", "title": title, "elements": []}


def _labels(axes):
    found = {}
    for name, text in (("x", axes.get_xlabel()), ("y", axes.get_ylabel())):
        unit = _UNIT.search(text)
        found[f"{name}_label"] = text or None
        found[f"{name}_unit"] = unit[1] if unit else None
    return found


def _scale(axis):
    converter = axis.get_converter() if hasattr(axis, "get_converter") else axis.converter
    kind = type(converter).__name__
    if "Date" in kind:
        return "datetime"
    if "Category" in kind:
        return "categorical"
    return axis.get_scale()


def _scales(axes):
    found = _labels(axes)
    for name, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
        scale = _scale(axis)
        texts = [label.get_text() for label in axis.get_ticklabels()]
        ticks = [float(tick) for tick in axis.get_ticklocs()]
        if scale == "datetime":
            ticks = [num2date(tick).isoformat() for tick in ticks]
        elif scale == "categorical":
            ticks = list(texts)
        found[f"{name}_scale"] = scale
        found[f"{name}_ticks"] = ticks
        found[f"{name}_tick_labels"] = texts
    return found


def _coordinate(value, scale):
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if scale == "datetime":
        return num2date(float(value)).isoformat()
    if isinstance(value, str):
        return value
    return float(value)


def _describe_line(axes, line):
    x_scale, y_scale = _scale(axes.xaxis), _scale(axes.yaxis)
    pairs = zip(line.get_xdata(orig=True), line.get_ydata(orig=True))
    points = [(_coordinate(x, x_scale), _coordinate(y, y_scale)) for x, y in pairs]
    return {"label": line.get_label(), "points": points}


def _describe_points(axes, collection):
    x_scale, y_scale = _scale(axes.xaxis), _scale(axes.yaxis)
    offsets = collection.get_offsets().tolist()
    points = [(_coordinate(x, x_scale), _coordinate(y, y_scale)) for x, y in offsets]
    return {"label": collection.get_label(), "points": points}


def _describe_bars(axes, container):
    is_upright = container.orientation != "horizontal"
    axis = axes.xaxis if is_upright else axes.yaxis
    names = {
        round(float(place), 6): label.get_text()
        for place, label in zip(axis.get_ticklocs(), axis.get_ticklabels())
    }
    bars = []
    for bar in container.patches:
        if is_upright:
            middle, value = bar.get_x() + bar.get_width() / 2, bar.get_height()
        else:
            middle, value = bar.get_y() + bar.get_height() / 2, bar.get_width()
        name = names.get(round(float(middle), 6)) or f"{float(middle):g}"
        bars.append({"label": name, "group": container.get_label(), "value": value})
    return bars


def _describe_wedge(wedge):
    angle = round(abs(wedge.theta2 - wedge.theta1), 4)
    return {"label": wedge.get_label(), "angle": angle, "radius": wedge.r}


def _describe_box(box):
    return {
        "label": str(box.get("label", "")),
        "min": box["whislo"],
        "first_quartile": box["q1"],
        "median": box["med"],
        "third_quartile": box["q3"],
        "max": box["whishi"],
        "outliers": list(box.get("fliers", [])),
    }
