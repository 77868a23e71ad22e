"""Draws thirteen kinds of charts as small PNG files into the folder OUTPUT."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np

x = np.linspace(0, 10, 60)
noise = np.random.default_rng(7).normal(size=(4, 200))


def line(ax):
    for k in range(1, 4):
        ax.plot(x, np.sin(x * k / 2), ["-", "--", ":"][k - 1], label=f"$\\sin({k}x/2)$")
    ax.legend(loc="lower left", fontsize=7)
    ax.grid(True)


def scatter(ax):
    ax.scatter(noise[0], noise[1], c=noise[2], s=20 + 30 * abs(noise[3]), alpha=0.6)
    ax.set(xlabel="first", ylabel="second", title="Scatter")


def bars(ax):
    for k in range(3):
        ax.bar(np.arange(5) + k / 4, (np.arange(5) * (k + 2)) % 7 + 1, width=0.25)
    ax.set_xticks(range(5), ["Mo", "Di", "Mi", "Do", "Fr"])


def histogram(ax):
    ax.hist(noise[:2].T, bins=20, histtype="bar", stacked=True, edgecolor="black")


def boxes(ax):
    ax.boxplot(noise.T, notch=True, tick_labels=list("abcd"))


def violins(ax):
    ax.violinplot(noise.T, showmedians=True)


def pie(ax):
    ax.pie([3, 5, 2, 7], explode=[0, 0.1, 0, 0], labels=list("ABCD"), autopct="%1.1f%%")


def heat(ax):
    image = ax.imshow(np.outer(np.sin(x), np.cos(x)), cmap="viridis", origin="lower")
    ax.figure.colorbar(image)


def contours(ax):
    u, v = np.meshgrid(np.linspace(-2, 2, 50), np.linspace(-2, 2, 50))
    z = u * np.exp(-(u**2) - v**2)
    ax.contourf(u, v, z, levels=10, cmap="coolwarm")
    ax.clabel(ax.contour(u, v, z, levels=5, colors="k", linewidths=0.5), fontsize=6)


def stacks(ax):
    ax.stackplot(x, 1 + np.sin(x), 2 + np.cos(x), x / 5, alpha=0.8)
    ax.fill_between(x, 5, 5 + np.sin(x), hatch="//", facecolor="none", edgecolor="gray")


def errors(ax):
    ax.errorbar(x[::6], np.sqrt(x[::6]), yerr=0.1 + x[::6] / 20, fmt="o", capsize=3)
    ax.set_yscale("log")
    ax.annotate("here", (5, 2), (2, 3), arrowprops={"arrowstyle": "->"})


def polar(ax):
    ax.plot(x, 1 + np.cos(3 * x))
    ax.set_rticks([0.5, 1, 1.5])


def surface(ax):
    u, v = np.meshgrid(np.linspace(-3, 3, 25), np.linspace(-3, 3, 25))
    ax.plot_surface(u, v, np.sin(np.hypot(u, v)), cmap="plasma")


CHARTS = [line, scatter, bars, histogram, boxes, violins, pie, heat, contours, stacks, errors]
PROJECTIONS = {polar: "polar", surface: "3d"}

for draw in [*CHARTS, *PROJECTIONS]:
    figure = plt.figure(figsize=(4, 3), dpi=60)
    draw(figure.add_subplot(projection=PROJECTIONS.get(draw)))
    figure.savefig(Path(sys.argv[1], f"{draw.__name__}.png"), metadata={"Software": None})
    plt.close(figure)
