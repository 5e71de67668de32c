import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import type { Namespaces } from './namespaces.ts';

const program = fileURLToPath(new URL('forwarder.ts', import.meta.url));

/** Ports of this machine's loopback that lead to addresses in the network of a cluster. They end with this process. */
export class Forwards {
  readonly #forwarder: ChildProcess;

  constructor(namespaces: Namespaces) {
    const [command, ...flags] = namespaces.network;
    this.#forwarder = spawn(command, [...flags, process.execPath, program], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#forwarder.unref();
    this.#forwarder.channel?.unref();
  }

  /** Resolves to the port on 127.0.0.1. */
  async open(host: string, port: number): Promise<number> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port: own } = server.address() as AddressInfo;
    await new Promise<void>((resolve, reject) => {
      this.#forwarder.send({ host, port }, server, (error) => (error === null ? resolve() : reject(error)));
    });
    // The forwarder has it as well.
    server.close();
    return own;
  }

  async close(): Promise<void> {
    if (this.#forwarder.exitCode !== null || this.#forwarder.signalCode !== null) return;
    const exited = once(this.#forwarder, 'exit');
    this.#forwarder.ref();
    this.#forwarder.kill('SIGKILL');
    await exited;
  }
}
