// oxlint-disable no-restricted-imports -- it only asks what an address is
import { BlockList, isIP } from 'node:net';

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * The proxy for an address, from HTTPS_PROXY, HTTP_PROXY and NO_PROXY; `null` for none. Like Go's
 * `http.ProxyFromEnvironment`, which kubectl uses: upper-case variables have precedence, and loopback addresses never
 * use a proxy.
 */
export function proxyOf(address: string, environment: Environment): string | null {
  const { protocol, hostname, port } = new URL(address);
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase();
  const value = (name: string): string => environment[name] || environment[name.toLowerCase()] || '';
  const proxy = value(protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY');
  if (proxy === '' || isOwn(host)) return null;
  const standardPort = protocol === 'https:' ? '443' : '80';
  const excluded = value('NO_PROXY')
    .split(',')
    .map((one) => one.trim().toLowerCase());
  if (excluded.some((one) => one !== '' && excludes(one, host, port || standardPort))) return null;
  return proxy.includes('://') ? proxy : `http://${proxy}`;
}

const family = (ip: string): 'ipv4' | 'ipv6' => (isIP(ip) === 6 ? 'ipv6' : 'ipv4');

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

const isOwn = (host: string): boolean =>
  host === 'localhost' || (isIP(host) !== 0 && loopback.check(host, family(host)));

/**
 * Whether an entry of NO_PROXY matches. An entry is `*`, a subnet, an address, `example.com` (with its subdomains) or
 * `.example.com` (subdomains only). An entry with `:port` matches only that port.
 */
function excludes(entry: string, host: string, port: string): boolean {
  if (entry === '*') return true;
  const [network = '', bits] = entry.split('/', 2);
  if (bits !== undefined && isIP(network) !== 0) {
    if (isIP(host) === 0 || Number.isNaN(Number(bits))) return false;
    const subnet = new BlockList();
    subnet.addSubnet(network, Number(bits), family(network));
    return subnet.check(host, family(host));
  }
  const [, bracketed, named, of] = /^(?:\[(.+)\]|([^:]+|.*:.*:.*?))(?::(\d+))?$/.exec(entry) ?? [];
  const name = (bracketed ?? named ?? entry).replace(/^\*(?=\.)/, '');
  if (of !== undefined && of !== port) return false;
  return name.startsWith('.') ? host.endsWith(name) : host === name || host.endsWith(`.${name}`);
}
