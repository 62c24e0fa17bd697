"""The parts of the manifest fit each other, the image and the server."""

from typing import Any

import pytest
import yaml

from server.lifespan import DRAIN
from server.routes import ALIVE, READY
from tests.deploy.image import ROOT, read_image

PARTS: dict[str, dict[str, Any]] = {
    part["kind"]: part for part in yaml.safe_load_all((ROOT / "deploy" / "kubernetes.yaml").read_text(encoding="utf-8"))
}
POD = PARTS["Deployment"]["spec"]["template"]
(CONTAINER,) = POD["spec"]["containers"]


def test_every_selector_finds_the_pods() -> None:
    labels = POD["metadata"]["labels"]
    assert PARTS["Deployment"]["spec"]["selector"]["matchLabels"] == labels
    assert PARTS["Service"]["spec"]["selector"] == labels
    assert PARTS["PodDisruptionBudget"]["spec"]["selector"]["matchLabels"] == labels
    assert POD["spec"]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"] == labels


def test_the_way_in_leads_to_the_port_of_the_command() -> None:
    (rule,) = PARTS["Ingress"]["spec"]["rules"]
    service = rule["http"]["paths"][0]["backend"]["service"]
    (port,) = PARTS["Service"]["spec"]["ports"]
    (open_port,) = CONTAINER["ports"]
    assert (service["name"], service["port"]["name"]) == (PARTS["Service"]["metadata"]["name"], port["name"])
    assert port["targetPort"] == open_port["name"]
    assert open_port["containerPort"] == int(read_image().value_of("--server.port"))


def test_probes_ask_what_the_server_answers() -> None:
    probes = {name: CONTAINER[f"{name}Probe"]["httpGet"] for name in ("startup", "readiness", "liveness")}
    paths = {"startup": f"/{ALIVE}", "readiness": f"/{READY}", "liveness": f"/{ALIVE}"}
    assert probes == {name: {"path": path, "port": "http"} for name, path in paths.items()}


def test_it_serves_on_until_no_more_readers_are_sent_and_has_time_to_end() -> None:
    variables = {one["name"]: one["value"] for one in CONTAINER["env"]}
    drain, probe = float(variables[DRAIN]), CONTAINER["readinessProbe"]
    assert drain > probe["periodSeconds"] * probe["failureThreshold"]
    assert POD["spec"]["terminationGracePeriodSeconds"] >= drain + 15


def test_the_pod_may_do_nothing_but_serve() -> None:
    user = read_image().all_of("USER")[0]
    context = POD["spec"]["securityContext"]
    assert context["runAsNonRoot"]
    assert f"{context['runAsUser']}:{context['runAsGroup']}" == user
    assert CONTAINER["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    # The one place where it may write, and where its variables say that it does.
    (mount,) = CONTAINER["volumeMounts"]
    assert mount["mountPath"] == read_image().variables["HOME"]
    assert [volume["name"] for volume in POD["spec"]["volumes"] if "emptyDir" in volume] == [mount["name"]]


def test_two_replicas_at_least_and_never_all_away() -> None:
    scaler = PARTS["HorizontalPodAutoscaler"]["spec"]
    target = scaler["scaleTargetRef"]
    deployment = PARTS["Deployment"]
    names = (deployment["apiVersion"], deployment["kind"], deployment["metadata"]["name"])
    assert (target["apiVersion"], target["kind"], target["name"]) == names
    assert 2 <= scaler["minReplicas"] <= scaler["maxReplicas"]
    assert PARTS["PodDisruptionBudget"]["spec"]["maxUnavailable"] < scaler["minReplicas"]
    assert deployment["spec"]["strategy"]["rollingUpdate"]["maxUnavailable"] == 0


@pytest.mark.parametrize(("kind", "prefix"), [("Ingress", "nginx.ingress"), ("Service", "traefik.ingress")])
def test_one_reader_is_led_to_one_replica(kind: str, prefix: str) -> None:
    annotations = PARTS[kind]["metadata"]["annotations"]
    given = {name.split("/")[1]: value for name, value in annotations.items() if name.startswith(prefix)}
    assert given.get("affinity") == "cookie" or given.get("service.sticky.cookie") == "true"
