import { addresses, nodeAddress, podSubnet } from './addresses.ts';
import type { Namespaces } from './namespaces.ts';

const bridge = 'nodes';
const cutTable = 'cut_off';
const podsTable = 'pods_cut_off';

/** The bridge that the nodes are attached to, and the way to Services. */
export async function openBridge(controlPlane: Namespaces): Promise<void> {
  const ip = (...flags: readonly string[]): Promise<string> => controlPlane.runInNetwork('ip', ...flags);
  await ip('link', 'add', bridge, 'type', 'bridge');
  await ip('address', 'add', `${addresses.controlPlane}/${addresses.prefixLength}`, 'dev', bridge);
  await ip('link', 'set', bridge, 'up');
  // Addresses of Services are replaced once there is a way to them.
  await ip('route', 'add', 'default', 'dev', bridge);
}

/** A cable from the node to the bridge. Goes with the node's namespaces. */
export async function attachNode(controlPlane: Namespaces, node: Namespaces, number: number): Promise<void> {
  const outside = (...flags: readonly string[]): Promise<string> => controlPlane.runInNetwork('ip', ...flags);
  const inside = (...flags: readonly string[]): Promise<string> => node.runInNetwork('ip', ...flags);
  const port = `node${number}`;
  const address = nodeAddress(number);
  // That of a node that lost power goes a moment later than its processes.
  await outside('link', 'delete', port).catch(() => '');
  await outside('link', 'add', port, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(node.pid));
  await outside('link', 'set', port, 'master', bridge, 'up');
  await inside('address', 'add', `${address}/${addresses.prefixLength}`, 'dev', 'eth0');
  await inside('link', 'set', 'eth0', 'up');
  await inside('route', 'add', 'default', 'via', addresses.controlPlane);
  await outside('route', 'replace', podSubnet(number), 'via', address);
}

/** Drops what goes between the node, its pods and the API server, and nothing else. */
export async function cutOffFromApiServer(node: Namespaces): Promise<void> {
  const { controlPlane, apiServerPort } = addresses;
  const drops = [
    `ip daddr ${controlPlane} tcp dport ${apiServerPort} drop`,
    `ip saddr ${controlPlane} tcp sport ${apiServerPort} drop`,
  ];
  const chains = ['input', 'output', 'forward'].map((hook) =>
    [`chain ${hook} {`, `type filter hook ${hook} priority 0`, ...drops, '}'].join('\n'),
  );
  await node.runInNetwork('nft', [`table inet ${cutTable} {`, ...chains, '}'].join('\n'));
}

export async function reconnectToApiServer(node: Namespaces): Promise<void> {
  await node.runInNetwork('nft', `delete table inet ${cutTable}`);
}

/**
 * Drops what goes between the pods of a node and everything outside it. The kubelet, and its probes, go on, so the
 * pods stay Ready.
 */
export async function cutOffPods(node: Namespaces, number: number): Promise<void> {
  const subnet = podSubnet(number);
  const drops = [`ip saddr ${subnet} ip daddr != ${subnet} drop`, `ip daddr ${subnet} ip saddr != ${subnet} drop`];
  const chain = ['chain forward {', 'type filter hook forward priority 0', ...drops, '}'].join('\n');
  await node.runInNetwork('nft', [`table inet ${podsTable} {`, chain, '}'].join('\n'));
}

export async function reconnectPods(node: Namespaces): Promise<void> {
  await node.runInNetwork('nft', `delete table inet ${podsTable}`);
}

/** As if its cable carried so many bytes a second towards the node, or `null`: as many as it can. */
export async function setRate(controlPlane: Namespaces, number: number, bytesPerSecond: number | null): Promise<void> {
  const qdisc = ['qdisc', bytesPerSecond === null ? 'delete' : 'replace', 'dev', `node${number}`, 'root'];
  const bucket = ['tbf', 'rate', `${bytesPerSecond}bps`, 'burst', '256kb', 'latency', '400ms'];
  await controlPlane.runInNetwork('tc', ...qdisc, ...(bytesPerSecond === null ? [] : bucket));
}
