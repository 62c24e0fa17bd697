"""A matrix as a picture."""

import numpy as np


def heat_map(axes, name, values, rows, columns, ramp="signed", queries_in="rows"):
    """Weights are coloured from 0 to 1, other numbers around 0; masked cells stay grey."""
    values = np.asarray(values, dtype=float)
    if queries_in == "columns":
        values, rows, columns = values.T, columns, rows
    shown = np.where(np.isfinite(values), values, np.nan)
    limit = 1.0 if ramp == "weights" or not np.nanmax(abs(shown), initial=0) else np.nanmax(abs(shown))
    low, colours = (0.0, "Blues") if ramp == "weights" else (-limit, "PuOr")
    image = axes.imshow(shown, cmap=colours, vmin=low, vmax=limit, aspect="auto")
    axes.set(title=name, xlabel=columns[0], ylabel=rows[0], facecolor="lightgrey")
    for axis, names, angle in ((axes.xaxis, columns[1], 40), (axes.yaxis, rows[1], 0)):
        places = range(0, len(names), -(-len(names) // 12) or 1)  # at most twelve, so that they stay legible
        labels = [str(names[place])[:12] for place in places]
        axis.set_ticks(places, labels, rotation=angle, parse_math=False)  # a word may hold dollar signs
    if values.size <= 64:
        for (row, column), value in np.ndenumerate(values):
            red, green, blue, _ = image.cmap(image.norm(value))
            dark = np.isfinite(value) and 0.21 * red + 0.72 * green + 0.07 * blue < 0.5
            axes.text(column, row, f"{value:z.2f}", ha="center", va="center", color="white" if dark else "black")
