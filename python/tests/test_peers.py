"""Programs of others against the service: Triton's client and schemathesis. Both are optional:
pip install "tritonclient[http]" schemathesis"""

import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from parsimon import Client
from service import serving


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    with serving(tmp_path_factory.mktemp("data")) as address:
        rows = [{"label": k % 2, "site": f"s{k % 2}", "x": k % 7} for k in range(200)]
        Client(f"{address}/v1/models/m").learn(rows, ack="visible")
        yield address


def test_tritons_client_gets_the_scores(address):
    triton = pytest.importorskip("tritonclient.http", reason="pip install 'tritonclient[http]'", exc_type=ImportError)
    client = triton.InferenceServerClient(address.removeprefix("http://"))
    assert client.is_server_live() and client.is_server_ready() and client.is_model_ready("m") and client.is_model_ready("m", "1")
    assert not client.is_model_ready("other") and not client.is_model_ready("m", "7")
    described = client.get_model_metadata("m")
    assert [tensor["name"] for tensor in described["inputs"]] == ["rows"]
    rows = np.array([b'{"site": "s1", "x": 3}', b'{"site": "nowhere"}'], dtype=np.object_)
    expected = Client(f"{address}/v1/models/m").score([{"site": "s1", "x": 3}, {"site": "nowhere"}])
    for binary in [True, False]:
        tensor = triton.InferInput("rows", [2], "BYTES")
        tensor.set_data_from_numpy(rows, binary_data=binary)
        answer = client.infer("m", [tensor], request_id="q7", model_version="1")
        assert answer.get_response()["id"] == "q7"
        assert answer.as_numpy("prediction").tolist() == [score["prediction"] for score in expected]
        assert answer.as_numpy("known").tolist() == [score["known"] for score in expected]
        assert answer.as_numpy("probabilities").shape == (2, 2)
        wanted = [triton.InferRequestedOutput("known", binary_data=binary)]
        some = client.infer("m", [tensor], outputs=wanted)
        assert some.as_numpy("known").tolist() == [score["known"] for score in expected] and some.as_numpy("prediction") is None
        for arguments in [("other", [tensor]), ("m", [tensor], "7"), ("m", [])]:
            with pytest.raises(triton.InferenceServerException):
                client.infer(*arguments)
        with pytest.raises(triton.InferenceServerException, match="no output"):
            client.infer("m", [tensor], outputs=[triton.InferRequestedOutput("margin")])


def test_the_description_holds_for_generated_requests(address, tmp_path):
    if find_spec("schemathesis") is None:
        pytest.skip("pip install schemathesis")
    # A deadline that has passed is 504, a full queue 503. Rows are objects with any fields, and a model may refuse what they hold.
    settings = tmp_path / "schemathesis.toml"
    settings.write_text("[checks]\nnot_a_server_error.expected-statuses = ['2xx', '3xx', '4xx', 503, 504]\n")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", settings, "run", f"{address}/openapi.json"]
    command += ["--max-examples", "20", "--checks", "all", "--exclude-checks", "positive_data_acceptance", "--no-color", "--seed", "1"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False, timeout=600)
    assert ran.returncode == 0, ran.stdout[-6000:] + ran.stderr[-2000:]
