"""The obvious loops, one number at a time: what array code must equal, and what it is timed against."""

import math

import numpy as np


def softmax_of_row(row):
    """Shares of one row."""
    largest = max(row)
    powers = [math.exp(score - largest) for score in row]
    total = sum(powers)
    return [power / total for power in powers]


def softmax_by_loops(scores):
    """Row by row."""
    shares = np.empty_like(scores)
    for at in np.ndindex(scores.shape[:-1]):
        shares[at] = softmax_of_row(scores[at].tolist())
    return shares


def entropy_by_loops(weights):
    """Row by row, in nats."""
    found = np.empty(weights.shape[:-1])
    for at in np.ndindex(found.shape):
        found[at] = -sum(share * math.log(share) for share in weights[at].tolist() if share > 0)
    return found


def jacobian_norm_by_loops(weights):
    """Of each row, from all entries of the softmax's Jacobian."""
    found = np.empty(weights.shape[:-1])
    for at in np.ndindex(found.shape):
        row, squares = weights[at].tolist(), 0.0
        for i, one in enumerate(row):
            for j, other in enumerate(row):
                squares += (one * ((i == j) - other)) ** 2
        found[at] = math.sqrt(squares)
    return found


def softmax_backward_by_loops(weights, gradient):
    """Each row's gradient times the softmax's Jacobian, entry by entry."""
    found = np.empty_like(weights)
    for at in np.ndindex(weights.shape[:-1]):
        row, back = weights[at].tolist(), gradient[at].tolist()
        for j, share in enumerate(row):
            found[at][j] = sum(back[i] * row[i] * ((i == j) - share) for i in range(len(row)))
    return found


def attend_by_loops(q, k, v, may_attend, scale):
    """One query, one key, one feature at a time."""
    scores = np.zeros((len(q), len(k)))
    weights = np.zeros((len(q), len(k)))
    output = np.zeros((len(q), v.shape[1]))
    for i in range(len(q)):
        for j in range(len(k)):
            scores[i, j] = sum(q[i, feature] * k[j, feature] for feature in range(q.shape[1]))
        allowed = [j for j in range(len(k)) if may_attend[i, j]]
        total = sum(math.exp(scores[i, j] * scale) for j in allowed)
        for j in allowed:
            weights[i, j] = math.exp(scores[i, j] * scale) / total
            output[i] += weights[i, j] * v[j]
    return scores, weights, output


def heads_by_loops(q, k, v, may_attend):
    """Output of each head, query by query and key by key; a product of two vectors is NumPy's."""
    output = np.zeros((*q.shape[:-1], v.shape[-1]))
    scale = q.shape[-1] ** -0.5
    for head in range(len(q)):
        for query in range(q.shape[1]):
            keys = [key for key in range(k.shape[1]) if may_attend[query, key]]
            shares = softmax_of_row([float(q[head, query] @ k[head, key]) * scale for key in keys])
            for share, key in zip(shares, keys, strict=True):
                output[head, query] += share * v[head, key]
    return output


def cross_attention_by_loops(x, source, w_q, w_k, w_v, w_o):
    """Head by head, the projections row by row; the heads side by side, mixed."""
    q, k, v = (
        np.array([[row @ of_head for row in rows] for of_head in w])
        for rows, w in ((x, w_q), (source, w_k), (source, w_v))
    )
    heads = heads_by_loops(q, k, v, np.ones((len(x), len(source)), dtype=bool))
    return np.array([np.concatenate(list(heads[:, query])) @ w_o for query in range(len(x))])


def layer_norm_by_loops(x, gain, shift, eps=1e-5):
    """Token by token, feature by feature."""
    found = np.empty_like(x)
    for at in np.ndindex(x.shape[:-1]):
        row = x[at].tolist()
        mean = sum(row) / len(row)
        deviation = math.sqrt(sum((number - mean) ** 2 for number in row) / len(row) + eps)
        found[at] = [
            (number - mean) / deviation * factor + offset
            for number, factor, offset in zip(row, gain, shift, strict=True)
        ]
    return found


def gelu_by_loops(x):
    """Number by number."""
    found = np.empty_like(x)
    for at in np.ndindex(x.shape):
        found[at] = x[at] * 0.5 * (1 + math.erf(x[at] / math.sqrt(2)))
    return found


def feed_forward_by_loops(x, w_1, b_1, w_2, b_2):
    """Token by token."""
    return np.array([gelu_by_loops(row @ w_1 + b_1) @ w_2 + b_2 for row in x])


def rotate_by_loops(x, base=10000.0):
    """Pair by pair."""
    found, width = x.copy(), x.shape[-1]
    for *at, position, pair in np.ndindex(*x.shape[:-1], width // 2):
        angle = position * base ** (-2 * pair / width)
        first, second = x[(*at, position)][2 * pair : 2 * pair + 2]
        found[(*at, position, 2 * pair)] = first * math.cos(angle) - second * math.sin(angle)
        found[(*at, position, 2 * pair + 1)] = first * math.sin(angle) + second * math.cos(angle)
    return found


def sinusoidal_encoding_by_loops(n_positions, width, base=10000.0):
    """Position by position, feature by feature."""
    found = np.zeros((n_positions, width))
    for position in range(n_positions):
        for feature in range(width):
            angle = position / base ** (2 * (feature // 2) / width)
            found[position, feature] = math.cos(angle) if feature % 2 else math.sin(angle)
    return found


def recurrent_states_by_loops(x, w_x, w_h, b):
    """Word by word, feature by feature."""
    states, state = [], np.zeros(len(b))
    for row in x:
        state = np.array(
            [math.tanh(row @ w_x[:, feature] + state @ w_h[:, feature] + b[feature]) for feature in range(len(b))]
        )
        states.append(state)
    return np.array(states)


def scores_by_loops(vectors):
    """Of each draw, its first vector with each of the others."""
    return np.array([[float(draw[0] @ key) for key in draw[1:]] for draw in vectors])
