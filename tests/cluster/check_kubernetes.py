#!/usr/bin/env python3
"""check_kubernetes.py: examples/cluster/kubernetes.yaml is a valid job by Kubernetes' own schema, in which a field with
a wrong name is an error, and runs a command that leat understands."""
import copy
import pathlib
import subprocess
import sys

try:
    import kubernetes_validate
    import yaml
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

job = yaml.safe_load(pathlib.Path("examples/cluster/kubernetes.yaml").read_text(encoding="utf-8"))
version = kubernetes_validate.latest_version()
kubernetes_validate.validate(job, version, strict=True)
wrong = copy.deepcopy(job)
wrong["spec"]["completionModes"] = wrong["spec"].pop("completionMode")
try:
    kubernetes_validate.validate(wrong, version, strict=True)
    sys.exit("the schema takes a field that does not exist: it checks nothing")
except kubernetes_validate.ValidationError:
    pass
command = job["spec"]["template"]["spec"]["containers"][0]["command"]
ran = subprocess.run([sys.argv[1], *command[1:]], capture_output=True, text=True, check=False)
if "/data/run is not the folder of a run" not in ran.stderr:
    sys.exit(f"{' '.join(command)}: {ran.stderr}")
