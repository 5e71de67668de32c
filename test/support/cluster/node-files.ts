import { stringify } from 'yaml';
import { addresses, podSubnet } from './addresses.ts';

/** The name of the image that holds the namespaces of a pod. */
export const pauseImage = 'docker.io/library/pause:1';

/** Where a node finds the registries that it pulls from, as containerd's hosts.toml has them. */
export const registries = 'registries';

/** @param directory of the node */
export function containerdConfiguration(directory: string, plugins: string): string {
  return `version = 3
root = "${directory}/containerd"
[plugins."io.containerd.internal.v1.opt"]
  path = "${directory}/opt"
[plugins."io.containerd.cri.v1.images"]
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "${pauseImage}"
  [plugins."io.containerd.cri.v1.images".registry]
    config_path = "${directory}/${registries}"
[plugins."io.containerd.cri.v1.runtime"]
  # Not everywhere may root lower the score of a process.
  restrict_oom_score_adj = true
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["${plugins}"]
    conf_dir = "${directory}/cni"
  [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
    runtime_type = "io.containerd.runc.v2"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
      SystemdCgroup = false
`;
}

/** A bridge a node, whose pods have addresses that go with its power. */
export function podNetwork(number: number): string {
  const ranges = [[{ subnet: podSubnet(number) }]];
  const ipam = { type: 'host-local', dataDir: '/run/pod-addresses', ranges, routes: [{ dst: '0.0.0.0/0' }] };
  const bridge = { type: 'bridge', bridge: 'pods', isGateway: true, ipMasq: false, hairpinMode: true, ipam };
  return JSON.stringify({ cniVersion: '1.0.0', name: 'pods', plugins: [bridge] });
}

export interface KubeletSettings {
  readonly directory: string;
  /** Path. */
  readonly ca: string;
  readonly cgroup: string;
}

export function kubeletConfiguration({ directory, ca, cgroup }: KubeletSettings): string {
  return stringify({
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    authentication: { anonymous: { enabled: false }, webhook: { enabled: true }, x509: { clientCAFile: ca } },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: `/${cgroup}`,
    failCgroupV1: false,
    failSwapOn: false,
    containerRuntimeEndpoint: 'unix:///run/containerd/containerd.sock',
    clusterDNS: [addresses.controlPlane],
    clusterDomain: 'cluster.local',
    resolvConf: `${directory}/resolv.conf`,
    volumePluginDir: `${directory}/volume-plugins`,
    makeIPTablesUtilChains: false,
    serializeImagePulls: false,
    // All nodes share the machine's disk: when it fills up, no pod is evicted and no image is removed.
    imageGCHighThresholdPercent: 100,
    evictionHard: { 'memory.available': '100Mi' },
  });
}
