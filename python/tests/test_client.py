"""The client against the real program."""

import hashlib
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import parsimon
import pytest
from parsimon import Client, ServiceError
from service import serving


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("data")) as address:
        yield f"{address}/v1/models/m"


def row(k, **more):
    site, user = k * 7 % 13, k * 31 % 101
    return {"label": int((site + user) % 3 == 0), "site": f"s{site}", "user": f"u{user}", "x": k % 50, **more}


def test_rows_are_scored_learned_and_labelled(url):
    with Client(url) as client:
        prior = client.score({"site": "nowhere"})
        assert prior["known"] == 0 and prior["prediction"] == 0.5
        answer = client.learn([row(k, id=f"r{k}") for k in range(300)], ack="visible")
        assert answer["learned"] == 300 and answer["ack"] == "visible"
        assert client.learn(row(5, id="r5"))["duplicate"] is True
        with pytest.raises(ServiceError, match="other content") as refused:
            client.learn({**row(5, id="r5"), "label": 1 - row(5)["label"]})
        assert refused.value.status == 409
        scores = client.score(row(k) for k in range(3))
        assert len(scores) == 3 and max(score["known"] for score in scores) > 0
        explained = client.score([row(k) for k in range(9)], explain=True)
        assert any(score["contributions"] for score in explained)
        assert client.score({"id": "later", "site": "s1"})["tracked"] is True
        assert client.label({"id": "later", "label": 1})["learned"] == 1
        assert client.label([{"id": "later", "label": 1}])["duplicate"] is True
        with pytest.raises(ServiceError, match="unknown") as refused:
            client.label([{"id": "later", "label": 1}, {"id": "never", "label": 1}])
        assert (refused.value.status, refused.value.row, refused.value.token) == (404, 2, "never")


def test_bad_rows_have_a_place_and_change_nothing(url):
    client = Client(url)
    before = client.info(digest=True)["digest"]
    with pytest.raises(ServiceError) as refused:
        client.learn([row(1), {**row(2), "label": "perhaps"}])
    assert (refused.value.status, refused.value.row, refused.value.token) == (400, 2, "perhaps")
    assert client.info(digest=True)["digest"] == before
    answer = client.learn([{"label": "perhaps"}, row(900)], partial=True)
    assert answer["learned"] == 1 and answer["refused"][0]["row"] == 1
    with pytest.raises(ServiceError, match="every row was refused; row 1"):
        client.learn([{"label": "perhaps"}], partial=True)
    with pytest.raises(ValueError, match="leave missing cells out"):
        client.score({"x": float("nan")})
    with pytest.raises(TypeError, match="cell of type object"):
        client.score({"x": object()})
    assert client.score({"x": np.float32(1.5), "y": np.int64(3)})["known"] >= 0


def test_a_request_is_learned_once_by_its_key(url):
    client = Client(url)
    first = client.learn([row(1000), row(1001)], key="k1")
    again = client.learn([row(1000), row(1001)], key="k1")
    assert again["duplicate"] is True and again["seq"] == first["seq"]
    # Without a key the same rows are other rows.
    assert client.learn(row(1000))["learned"] == 1


def test_versions_go_back_and_forth(url, tmp_path):
    client = Client(url)
    client.learn([row(k) for k in range(50)])
    kept = client.snapshot()["version"]
    before = client.info(digest=True)["digest"]["digest"]
    client.learn([row(k) for k in range(50, 90)], ack="visible")
    assert client.info(digest=True)["digest"]["digest"] != before
    assert kept["seq"] in [version["seq"] for version in client.versions()["versions"]]
    assert client.rollback(**kept)["version"]["epoch"] == kept["epoch"] + 1
    assert client.info(digest=True)["digest"]["digest"] == before
    assert client.promote(**kept)["from"] == kept
    with pytest.raises(ServiceError, match="no snapshot"):
        client.rollback(7, 7)
    model = parsimon.load(client.download(tmp_path / "m.psm"))
    assert 0 < model.predict_proba_one({"site": "s1"})[1] < 1


def test_learning_is_paused_and_resumed(url):
    client = Client(url)
    client.pause("odd labels")
    assert client.learn(row(2000))["paused"] is True
    with pytest.raises(ServiceError, match="paused"):
        client.learn(row(2001), ack="visible")
    assert client.info()["paused"]["reason"] == "odd labels"
    assert client.resume("learn")["backlog"] == "learn"
    assert client.learn(row(2001), ack="visible")["learned"] == 1
    with pytest.raises(ServiceError, match="not paused"):
        client.resume("skip")
    assert client.shadows() == []
    with pytest.raises(ServiceError, match="no shadow"):
        client.promote_shadow("slow")


def test_threads_share_a_client(url):
    client = pickle.loads(pickle.dumps(Client(url)))
    with ThreadPoolExecutor(8) as pool:
        scores = list(pool.map(lambda k: client.score(row(k))["prediction"], range(200)))
    assert len(scores) == 200 and all(0 < score < 1 for score in scores)


def test_tokens_have_roles(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(f"score sha256:{hashlib.sha256(b'reader').hexdigest()}\n")
    with serving(tmp_path / "data", "--tokens", str(tokens)) as address:
        url = f"{address}/v1/models/m"
        assert Client(url, token="reader").score({"site": "a"})["known"] == 0
        for token, status in [(None, 401), ("other", 401), ("reader", 403)]:
            with pytest.raises(ServiceError) as refused:
                Client(url, token=token).learn(row(1))
            assert refused.value.status == status


def test_addresses_are_those_of_models(tmp_path):
    for bad in ["localhost:8080", "http://localhost:8080", "ftp://a/v1/models/m", "http://a/v1/models/", "http://a/v1/models/m/score"]:
        with pytest.raises(ValueError, match="expected http"):
            Client(bad)
    with pytest.raises(ValueError, match="token"):
        Client("http://a/v1/models/m", token="two\nlines")
    with pytest.raises(OSError):
        Client("http://127.0.0.1:9/v1/models/m", timeout=5).score({"a": 1})
