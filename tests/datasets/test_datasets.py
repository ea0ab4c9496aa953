"""Data sets: every name loads what its source describes; a missing file says where it is and where to put it."""

import gzip
import hashlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from bayesagree import datasets
from bayesagree.annotations import Labels, Rankings, Ratings
from bayesagree.datasets._files import SOURCES, locate, sources_of, table_rows

# name: kind, items, annotators (0 = unknown), annotations, items with gold: the counts that the sources state
STATED = {
    "derm-ddx": (Rankings, 1947, 0, 9602, 0),
    "cifar10h": (Labels, 10000, 0, 511000, 10000),
    "chaosnli-snli": (Labels, 1514, 0, 151400, 1514),
    "crowd-gold/bluebird": (Labels, 108, 39, 4212, 108),
    "crowd-gold/rte": (Labels, 800, 164, 8000, 800),
    "crowd-gold/trec2011": (Labels, 19033, 762, 88385, 2275),
    "crowd-gold/relevance2010": (Labels, 20232, 766, 98453, 4460),
    "crowd-gold/adult2": (Labels, 11040, 825, 92721, 333),
    "crowd-gold/product": (Labels, 8315, 176, 24945, 8315),
    "crowd-gold/face": (Labels, 584, 27, 5242, 584),
    "crowd-gold/sentiment-polarity": (Labels, 4999, 203, 27746, 4999),
    "crowd-gold/music-genre": (Labels, 700, 44, 2945, 700),
    "crowd-gold/weather-cf": (Labels, 300, 461, 1720, 300),
    "human-objects/edge": (Labels, 160, 10, 1600 - 34, 160),
    "human-objects/sketch": (Labels, 800, 7, 5600 - 40, 800),
    "popquorn": (Ratings, 1500, 262, 13036, 0),
    "snow-affect": (Ratings, 600, 38, 6000, 600),
    "snow-affect/valence": (Ratings, 100, 38, 1000, 100),
    "truthfulness/s100": (Ratings, 122, 200, 1597 - 2, 120),
    "truthfulness/s6": (Ratings, 122, 200, 1600, 120),
    "lewidi2025-csc": (Ratings, 704, 850, 3186, 0),
    "lewidi2023/hs-brexit": (Labels, 1120, 6, 6720, 0),
    "lewidi2023/armis": (Labels, 943, 3, 2829, 0),
    "lewidi2023/convabuse": (Labels, 4050, 8, 12168, 0),
    "perfume/freshness": (Ratings, 14, 103, 1442, 0),
    "jester5k": (Ratings, 100, 5000, 363209, 0),
    "dices350": (Labels, 350, 123, 43050, 350),
    "trec2011-teams": (Labels, 3200, 8, 16825, 395),
    "agreement-textbook/anesthesia": (Labels, 45, 5, 315, 0),
    "crowdtruth/relex-binary": (Labels, 10, 67, 150, 0),
    "crowdtruth/rte": (Labels, 800, 164, 8000, 800),
    "rankings-plackettluce/netflix": (Rankings, 1, 0, 588, 0),
    "rankings-preflib/00003-00000001": (Rankings, 1, 0, 10, 0),
    "rankings-preflib/00005-00000001": (Rankings, 1, 0, 9788, 0),
    "rankings-preflib/00024-00000002": (Rankings, 1, 0, 794, 1),
}


@pytest.mark.parametrize("name", STATED)
def test_sets_have_the_counts_that_their_sources_state(public_data: Path, name: str) -> None:
    kind, items, annotators, annotations, gold = STATED[name]
    data = datasets.load(name)
    assert isinstance(data.annotations, kind)
    assert (data.annotations.items.size, data.annotations.annotators.size) == (items, annotators)
    assert data.annotations.n_annotations == annotations
    assert (0 if data.gold is None else len(data.gold)) == gold


@pytest.mark.long
def test_every_set_loads_and_its_parts_fit(public_data: Path) -> None:
    for name, title in datasets.available().items():
        data = datasets.load(name)
        assert (data.name, data.title) == (name, title)
        assert all((data.licence, data.citation, data.source))
        items = set(data.annotations.items.tolist())
        if data.gold is not None:
            assert set(data.gold.index) <= items
            assert data.gold.index.is_unique
            assert data.gold.notna().all()
        if data.gold is not None and not isinstance(data.annotations, Ratings):
            assert set(data.gold) <= set(data.annotations.categories.tolist())
        if data.predictions is not None and not isinstance(data.annotations, Ratings):
            data.predictions.aligned(data.annotations.items, data.annotations.categories)
        if "annotators" in data.extra:
            known = set(data.extra["annotators"].index)
            assert len(known & set(data.annotations.annotators.tolist())) >= 0.95 * len(known)


def test_models_reach_the_accuracies_that_the_sources_state(public_data: Path) -> None:
    stated = {
        "cifar10h": {
            "resnet_110": 0.9389, "preresnet_110": 0.9506, "densenet_bc_190_40": 0.9668, "cleanlab_crossval": 0.9294,
        },
        "chaosnli-snli": {
            "roberta_base_0": 0.7246, "roberta_base_1": 0.7081, "roberta_base_2": 0.7299,
            "bert_base_uncased_0": 0.6962, "bert_base_uncased_1": 0.7015,
        },
    }  # fmt: skip
    for name, accuracies in stated.items():
        data = datasets.load(name)
        assert data.predictions is not None
        assert data.gold is not None
        predicted = data.predictions.categories[data.predictions.hard_labels()]
        correct = (predicted == data.gold.reindex(data.predictions.items).to_numpy()).mean(axis=1)
        assert {m: round(c, 4) for m, c in zip(data.predictions.models.tolist(), correct)} == accuracies


def test_local_files_are_the_bytes_that_the_registry_names(public_data: Path) -> None:
    for row in table_rows("files.csv"):
        if row["part"]:
            continue
        path, local = row["file"], locate(row["file"])
        content = gzip.decompress(local.read_bytes()) if local.suffix == ".gz" else local.read_bytes()
        if path.endswith("_gold.csv"):  # the only files whose header differs from upstream
            content = content.replace(b"item,gold", b"item,truth", 1)
        assert row["sha256"] == "sha256:" + hashlib.sha256(content).hexdigest(), path


def test_models_of_the_dermatology_paper_are_read_where_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "derm-ddx"
    folder.mkdir()
    (folder / "dermatology_conditions.txt").write_text("acne\nnaevus\nwart\n")
    (folder / "dermatology_risks.txt").write_text("0\n2\n1\n")
    (folder / "dermatology_selectors.json").write_text("[[[[0], [1, 2]]], [[[2]], [[1]]]]")
    monkeypatch.setenv("BAYESAGREE_DATA", str(tmp_path))
    assert datasets.load("derm-ddx").predictions is None
    np.savetxt(folder / "dermatology_predictions1.txt", [[0.1, 0.7, 0.2], [0.5, 0.2, 0.3]], fmt="%.3e")
    models = datasets.load("derm-ddx").predictions
    assert models is not None
    assert models.models.tolist() == ["B"]
    assert models.hard_labels().tolist() == [[1, 0]]


def test_a_download_is_pinned_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pooch

    asked = []

    def retrieve(url: str, known_hash: str, fname: str, path: Path) -> str:
        asked.append((url, known_hash))
        if "risks" in fname or "conditions" in fname:
            raise ValueError("SHA256 hash of downloaded file does not match")
        (tmp_path / fname).write_text("item,worker,label\n1,a,0\n" if "label" in fname else "item,truth\n1,1\n")
        return str(tmp_path / fname)

    monkeypatch.delenv("BAYESAGREE_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    data = datasets.load("crowd-gold/bluebird")
    assert data.gold is not None
    assert data.gold.to_dict() == {1: 1}
    files = [sources_of(f"crowd-gold/bluebird_{part}.csv")[0] for part in ("labels", "gold")]
    assert asked == [(row["url"], row["sha256"]) for row in files]
    with pytest.raises(FileNotFoundError, match=r"githubusercontent\.com/google-deepmind.*the download failed: SHA"):
        datasets.load("derm-ddx")


def test_a_file_that_cannot_be_had_says_where_it_is_and_where_to_put_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a folder of data and without; without the extra that downloads; a file that is in no project as it is."""
    monkeypatch.setattr("bayesagree.datasets._files.find_spec", lambda name: None)
    monkeypatch.setenv("BAYESAGREE_DATA", str(tmp_path))
    path = "crowd-gold/bluebird_gold.csv"
    row, words = sources_of(path)[0], "(or pip install 'bayesagree[data]' to download it)"
    with pytest.raises(FileNotFoundError) as stop:
        locate(path)
    assert (
        str(stop.value)
        == f"data file {path!r} is not there; get it from {row['url']} and put it in {tmp_path}/{path} {words}"
    )
    monkeypatch.delenv("BAYESAGREE_DATA")
    with pytest.raises(FileNotFoundError, match=r"put it in <folder>/crowd-gold/.* and set BAYESAGREE_DATA=<folder> "):
        locate(path)
    with pytest.raises(
        FileNotFoundError, match="it is a conversion of files that cannot be downloaded as they are"
    ) as stop:
        locate("cifar10h/none.csv")
    assert SOURCES["cifar10h"]["url"] in str(stop.value)


def test_files_of_the_folder_come_first_plain_before_packed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BAYESAGREE_DATA", str(tmp_path))
    (tmp_path / "crowd-gold").mkdir()
    plain = tmp_path / "crowd-gold" / "bluebird_gold.csv"
    packed = plain.with_name(f"{plain.name}.gz")
    packed.write_bytes(gzip.compress(b"item,truth\n1,1\n"))
    assert locate("crowd-gold/bluebird_gold.csv") == packed
    plain.write_text("item,truth\n1,0\n")
    assert locate("crowd-gold/bluebird_gold.csv") == plain


def test_parts_of_a_file_are_joined_once_and_checked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An array of NumPy and the table of a network: a label and ten counts stand before its probabilities."""
    import pooch

    counts, shares = np.array([[3, 0], [1, 2]]), np.array([[0.75, 0.25], [0.5, 0.5]])
    np.save(tmp_path / "counts.npy", np.asfortranarray(counts))
    np.savetxt(tmp_path / "network.csv", np.column_stack([np.full((2, 11), 9), shares]), delimiter=",")
    rows = [
        {"part": part, "url": f"https://x.org/y/{name}", "dtype": dtype, "sha256": hashlib.sha256(data).hexdigest()}
        for part, name, dtype, data in (
            ("counts", "counts.npy", "<i2", counts.astype("<i2").tobytes()),
            ("network", "network.csv", "<f4", shares.astype("<f4").tobytes()),
        )
    ]
    asked = []

    def retrieve(url: str, known_hash: None, fname: str, path: Path) -> str:
        asked.append((url, path))
        return str(tmp_path / fname)

    monkeypatch.delenv("BAYESAGREE_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    monkeypatch.setattr("bayesagree.datasets._files.sources_of", lambda path: rows)
    for _ in range(2):  # the second time from the cache
        joined = locate("cifar10h/joined.npz")
    assert joined == tmp_path / "cache" / "cifar10h" / "joined.npz"
    assert asked == [(row["url"], tmp_path / "cache" / "parts") for row in rows]
    with np.load(joined) as found:
        np.testing.assert_array_equal(found["counts"], counts)
        np.testing.assert_array_equal(found["network"], shares)
        assert (found["counts"].dtype, found["network"].dtype) == ("<i2", "<f4")
    rows[1]["sha256"] = rows[0]["sha256"]
    with pytest.raises(
        FileNotFoundError, match=r"network\.csv does not hold the published network of CIFAR-10H"
    ) as stop:
        locate("cifar10h/other.npz")
    assert SOURCES["cifar10h"]["url"] in str(stop.value)


@pytest.mark.long
def test_cifar10h_is_joined_from_the_files_of_its_projects(
    public_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The upstream files, written as their projects write them, give the set that is stored; others are refused."""
    import pooch

    stored = {
        name: dict(np.load(public_data / "cifar10h" / f"{name}.npz")) for name in ("cifar10h_counts", "model_probs")
    }
    counts, labels = stored["cifar10h_counts"]["counts"], stored["cifar10h_counts"]["labels"]
    np.save(tmp_path / "cifar10h-counts.npy", np.asfortranarray(counts.astype(np.int64)))
    np.save(tmp_path / "cifar10_test_set_original_labels.npy", labels.astype(np.int64))
    np.save(tmp_path / "cifar10_test_set_pyx.npy", stored["model_probs"]["cleanlab_crossval"])
    networks = {row["part"]: row["url"] for row in sources_of("cifar10h/model_probs.npz") if row["url"][-3:] == "csv"}
    for name, url in networks.items():
        rows = np.column_stack([labels[:, None], counts, stored["model_probs"][name].astype(float)])
        pd.DataFrame(rows).to_csv(tmp_path / url.rsplit("/", 1)[1], header=False, index=False)
    asked = []

    def retrieve(url: str, known_hash: None, fname: str, path: Path) -> str:
        asked.append(url)
        return str(tmp_path / fname)

    monkeypatch.delenv("BAYESAGREE_DATA", raising=False)
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "cache")
    for _ in range(2):  # the second time from the cache
        data = datasets.load("cifar10h")
        assert isinstance(data.annotations, Labels)
        np.testing.assert_array_equal(data.annotations.counts(), counts)
    assert len(asked) == 6
    joined = dict(np.load(tmp_path / "cache" / "cifar10h" / "model_probs.npz"))
    for name, values in stored["model_probs"].items():
        np.testing.assert_array_equal(joined[name], values)
    np.save(tmp_path / "cifar10h-counts.npy", counts + 1)
    monkeypatch.setattr(pooch, "os_cache", lambda name: tmp_path / "other")
    with pytest.raises(FileNotFoundError, match="does not hold the published counts"):
        datasets.load("cifar10h")
