#!/bin/sh
# Creates a kind cluster with cert-manager, MOCO, moco-rollout and a MySQLCluster of three members. After a failure, run it
# again to continue.
set -eu

usage='Usage: CERT_MANAGER=MANIFEST MOCO_CHART=CHART MYSQL_IMAGE=IMAGE hack/kind/create.sh [flags]

Creates a kind cluster with cert-manager, MOCO, moco-rollout and the MySQLCluster default/test.

  CERT_MANAGER  manifest of cert-manager: a file or an address
  MOCO_CHART    the Helm chart of MOCO: a directory, an archive or an address
  MYSQL_IMAGE   an image of MySQL that MOCO can run
  KIND_IMAGE    image of the nodes, for another version of Kubernetes than the default of kind
  KIND_CLUSTER  name of the kind cluster (default moco-rollout)
  -h, --help    show this help and exit'

fail() {
  echo "$1" >&2
  exit "$2"
}

case ${1-} in
  '') ;;
  -h | --help)
    echo "$usage"
    exit 0
    ;;
  *) fail "Expected no arguments, got: $1
$usage" 2 ;;
esac
for variable in CERT_MANAGER MOCO_CHART MYSQL_IMAGE; do
  eval "value=\${$variable-}"
  # shellcheck disable=SC2154 # eval sets it
  [ -n "$value" ] || fail "Expected $variable to be set, got nothing.
$usage" 2
done
for program in docker kind kubectl helm; do
  command -v "$program" >/dev/null 2>&1 || fail "Expected $program in PATH: install it and run this again." 1
done

cd "$(dirname -- "$0")/../.."
cluster=${KIND_CLUSTER:-moco-rollout}
context=kind-$cluster
# The chart installs the image with its own version as the tag.
image=moco-rollout:$(sed -n 's/^appVersion: *//p' config/helm/moco-rollout/Chart.yaml | tr -d "\"'")

if ! kind get clusters | grep -qxF -- "$cluster"; then
  kind create cluster --name "$cluster" --config hack/kind/kind.yaml ${KIND_IMAGE:+--image "$KIND_IMAGE"}
fi

kubectl --context "$context" apply --server-side --filename "$CERT_MANAGER"
kubectl --context "$context" --namespace cert-manager wait deployment --all --for=condition=Available --timeout=5m
helm upgrade --install moco "$MOCO_CHART" --kube-context "$context" --namespace moco-system --create-namespace \
  --wait --timeout 5m

docker build --tag "$image" .
kind load docker-image "$image" --name "$cluster"
helm upgrade --install moco-rollout config/helm/moco-rollout --kube-context "$context" \
  --namespace moco-rollout-system --create-namespace --values hack/kind/values.yaml --wait --timeout 5m

sed "s|MYSQL_IMAGE|$MYSQL_IMAGE|" hack/kind/mysqlcluster.yaml | kubectl --context "$context" apply --server-side --filename -
kubectl --context "$context" wait mysqlcluster/test --for=condition=Healthy --timeout=15m
echo "MySQLCluster default/test is healthy. Next: docs/getting-started.md, \"Adopt one cluster\"."
