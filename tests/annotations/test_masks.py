import numpy as np
import pytest

from bayesagree import InputError, Labels, dawid_skene


def circle(size, centre, radius):
    row, column = np.ogrid[:size, :size]
    return ((row - centre[0]) ** 2 + (column - centre[1]) ** 2 <= radius**2).astype(int)


def staple(masks, rounds=300):
    """Warfield's EM on the pixels that somebody marked: probability of each pixel, and each annotator's two rates."""
    votes = masks.reshape(len(masks), -1)
    votes = votes[:, votes.any(axis=0)].astype(float)
    truth = votes.mean(axis=0)
    for _ in range(rounds):
        sensitivity = votes @ truth / truth.sum()
        specificity = (1 - votes) @ (1 - truth) / (1 - truth).sum()
        share = truth.mean()
        inside = np.log(share) + np.log(sensitivity) @ votes + np.log1p(-sensitivity) @ (1 - votes)
        outside = np.log1p(-share) + np.log1p(-specificity) @ votes + np.log(specificity) @ (1 - votes)
        truth = 1 / (1 + np.exp(outside - inside))
    return truth, sensitivity, specificity


def test_marked_pixels_are_items():
    masks = np.zeros((2, 3, 4), int)
    masks[0, 1, 1:3] = masks[1, 1, 2:4] = 1
    labels = Labels.from_masks(masks, annotators=["ann", "bob"])
    assert list(zip(*np.divmod(labels.items, 4))) == [(1, 1), (1, 2), (1, 3)]
    assert labels.to_matrix().values.tolist() == [[1, 0], [1, 1], [0, 1]]


def test_marked_regions_are_items():
    rng = np.random.default_rng(4)
    masks, regions = rng.integers(0, 3, (3, 9, 9)), rng.integers(10, 20, (9, 9))
    masks[:, regions == 15] = 0
    labels = Labels.from_masks(masks, regions=regions)
    most = {
        name: [np.bincount(mask[regions == name]).argmax().item() for mask in masks]
        for name in np.unique(regions).tolist()
    }
    rows = {name: row for name, row in most.items() if any(row)}
    assert 15 not in rows
    assert labels.to_matrix().to_dict("split")["data"] == list(rows.values())
    assert labels.items.tolist() == list(rows)
    each = Labels.from_masks(masks, regions=np.arange(81).reshape(9, 9)).to_matrix()
    assert each.equals(Labels.from_masks(masks).to_matrix())
    with pytest.raises(
        InputError, match=r"regions has the shape \(9,\), and the masks have \(row, column\) = \(9, 9\)"
    ):
        Labels.from_masks(masks, regions=regions[0])


def test_posterior_mode_is_staple():
    rng = np.random.default_rng(2)
    masks = np.stack([circle(60, (30 + x, 30 + y), 14 + r) for x, y, r in rng.integers(-3, 4, (5, 3))])
    flipped = rng.random(masks.shape) < 0.03
    masks = np.where(flipped, 1 - masks, masks)
    truth, *_ = staple(masks)
    tree = dawid_skene(Labels.from_masks(masks), variant="full", engine="em")
    found = tree["derived"]["label_probability"].sel(category=1).values
    # The engine finds a maximum a posteriori, whose prior counts for a few of some 1,500 pixels.
    assert np.abs(found - truth).mean() < 0.01
    assert ((found > 0.5) == (truth > 0.5)).mean() > 0.99


def test_files(tmp_path):
    image = pytest.importorskip("matplotlib.image")
    masks = [circle(8, (4, 4), 2), circle(8, (4, 5), 2)]
    paths = [tmp_path / f"{number}.png" for number in range(2)]
    for path, mask in zip(paths, masks):
        image.imsave(path, np.repeat(255 * mask[:, :, None].astype(np.uint8), 3, axis=2))
    labels = Labels.from_masks(paths)
    assert labels.categories.tolist() == [0, 255]
    assert (labels.counts() == Labels.from_masks(np.stack(masks)).counts()).all()
    paths[1].write_bytes(b"no image")
    with pytest.raises(InputError, match="not a whole image"):
        Labels.from_masks(paths)


@pytest.mark.parametrize(
    ("masks", "message"),
    [
        ([[0, 1]], r"shape \(annotator, row, column\), not \(1, 2\)"),
        ([[[0.5, 1]]], "whole numbers, 0 for the background"),
        ([[[0, 0]]], "nobody marked anything"),
        ([], r"there is no mask"),
    ],
)
def test_refused(masks, message):
    with pytest.raises(InputError, match=message):
        Labels.from_masks(masks)


@pytest.mark.parametrize(
    "options", [{"variant": "full", "engine": "em"}, pytest.param({"top_labels": 1, "seed": 1}, marks=pytest.mark.slow)]
)
def test_pixels_inside_of_twenty_masks_are_inside(options):
    rng = np.random.default_rng(1)
    row, column = np.ogrid[:512, :512]
    masks = np.stack(
        [(row - a) ** 2 + (column - b) ** 2 < (c - 106) ** 2 for a, b, c in rng.integers(246, 267, (20, 3))]
    )
    labels = Labels.from_masks(masks)
    tree = dawid_skene(labels, **options)
    inside = masks.reshape(20, -1)[:, labels.items].all(axis=0)
    assert tree["derived"]["label_probability"].sel(category=1).to_numpy()[inside].min() > 0.99
