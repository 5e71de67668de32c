import type { Server } from 'node:net';

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

/** A server can't listen on its address. The message is a sentence for the person who configured it. */
export class ListenError extends Error {
  override readonly name = 'ListenError';
}

/**
 * Starts listening and returns the address, with the real port if port 0 was requested.
 * `flag` is the flag that the address came from, for the sentence of the `ListenError` that this rejects with.
 */
export async function listen(server: Server, address: BindAddress, flag: string): Promise<BindAddress> {
  await new Promise<void>((resolve, reject) => {
    const refused = (error: NodeJS.ErrnoException) => reject(new ListenError(explain(error, address, flag)));
    server.once('error', refused);
    server.listen({ port: address.port, ...(address.host === null ? {} : { host: address.host }) }, () => {
      server.off('error', refused);
      resolve();
    });
  });
  const bound = server.address();
  if (bound === null || typeof bound === 'string') {
    throw new ListenError(`Expected ${flag} to become a TCP port, got ${String(bound)}.`);
  }
  return { host: address.host, port: bound.port };
}

function explain(error: NodeJS.ErrnoException, address: BindAddress, flag: string): string {
  const shown = showBindAddress(address);
  switch (error.code) {
    case 'EADDRINUSE':
      return `Expected ${flag} to be a free address, but something else listens on ${shown}; choose another one.`;
    case 'EACCES':
      return `Expected to be allowed to listen on ${shown}, but the system refuses; choose a port above 1023 for ${flag}.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `Expected ${flag} to name an address of this machine, got ${shown}; leave the host out to listen on all.`;
    default:
      return `Expected to listen on ${shown} (${flag}), but got: ${error.message}.`;
  }
}
