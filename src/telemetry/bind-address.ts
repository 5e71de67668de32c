/** Where a server listens. */
export interface BindAddress {
  /** `null`: every address the machine has, of either family. */
  readonly host: string | null;
  /** 0 lets the system choose a free one. */
  readonly port: number;
}

const highestPort = 65_535;
const pattern = /^(?:\[(?<six>[0-9a-fA-F:.]+(?:%\w+)?)\]|(?<host>[^:[\]\s]*)):(?<port>\d{1,5})$/;

/** Reads `HOST:PORT`, `[IPv6]:PORT` or `:PORT`, as Go's net package does; `null` for anything else. */
export function parseBindAddress(text: string): BindAddress | null {
  const groups = pattern.exec(text)?.groups;
  if (groups === undefined) return null;
  const port = Number(groups['port']);
  if (port > highestPort) return null;
  const host = groups['six'] ?? groups['host'] ?? '';
  return { host: host === '' ? null : host, port };
}

/** The address as `parseBindAddress` reads it. */
export function showBindAddress({ host, port }: BindAddress): string {
  if (host === null) return `:${port}`;
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
