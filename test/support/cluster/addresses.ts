/** A cluster's networks lie in namespaces of its own: all clusters have the same. */
export const addresses = {
  /** Of the control plane: the API server, the name server, and the router between the nodes. */
  controlPlane: '172.31.77.1',
  prefixLength: 24,
  apiServerPort: 6443,
  services: '10.96.0.0/12',
  /** The first of the Services. */
  kubernetesService: '10.96.0.1',
  pods: '10.244.0.0/16',
} as const;

export const apiServerUrl = `https://${addresses.controlPlane}:${addresses.apiServerPort}`;

/** Beyond it the addresses end. */
export const mostNodes = 99;

/** @param number from 1 */
export function nodeAddress(number: number): string {
  return `172.31.77.${100 + number}`;
}

/** The pods of a node. */
export function podSubnet(number: number): string {
  return `10.244.${number}.0/24`;
}
