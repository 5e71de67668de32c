import type { Server } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Keeps a server to so many connections. One more takes the place of the one of which nothing has been heard for longest:
 * whoever connects and says nothing, or sends a body byte by byte, keeps nobody else out. A request of the API server is
 * over within milliseconds, and an idle connection that is closed is made again by it without an error.
 */
export function limitConnections(server: Server, limit: number): void {
  /** The one that has been quiet for longest first. */
  const open = new Map<string, Socket>();
  const keyOf = ({ remoteAddress, remotePort }: Socket): string => `${remoteAddress} ${remotePort}`;
  server.on('connection', (socket: Socket) => {
    const key = keyOf(socket);
    const [quietest] = open.values();
    if (open.size >= limit) quietest?.destroy();
    open.set(key, socket);
    socket.once('close', () => {
      if (open.get(key) === socket) open.delete(key);
    });
  });
  server.on('request', ({ socket }) => {
    const key = keyOf(socket);
    const one = open.get(key);
    if (one === undefined) return;
    open.delete(key);
    open.set(key, one);
  });
}
