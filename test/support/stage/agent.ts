import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { metricsPath, readinessPath } from '../../../src/moco/agent.ts';

/** The ports of moco-agent: its probes and its metrics. */
const ports = { [readinessPath]: 9081, [metricsPath]: 8080 } as const;

/** moco-agent of one pod, at the pod's own loopback address: it says how far its mysqld is behind. */
export class Agent {
  /** From 60 on it is not ready. `null`: mysqld has received nothing since it started. */
  delaySeconds: number | null = 0;
  readonly #servers: readonly Server[];
  readonly #name: string;
  readonly #index: number;

  private constructor(name: string, index: number) {
    this.#name = name;
    this.#index = index;
    this.#servers = Object.keys(ports).map((path) =>
      createServer((request, response) => {
        if (request.url !== path) response.writeHead(404).end();
        else if (path === metricsPath) response.end(this.#metrics());
        else if ((this.delaySeconds ?? 0) < 60) response.end();
        else response.writeHead(503).end(`the instance delays from the primary: lag=${this.delaySeconds}s\n`);
      }),
    );
  }

  /** Listens where the pod of that cluster and ordinal has its address. */
  static async start(address: string, cluster: string, ordinal: number): Promise<Agent> {
    const agent = new Agent(cluster, ordinal);
    await Promise.all(
      Object.values(ports).map(async (port, index) => {
        const server = agent.#servers[index] as Server;
        server.listen(port, address);
        await once(server, 'listening');
      }),
    );
    return agent;
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    }
  }

  #metrics(): string {
    const labels = `{index="${this.#index}",name="${this.#name}"}`;
    const delay = this.delaySeconds;
    return [
      `moco_instance_clone_count${labels} 0`,
      ...(delay === null ? [] : [`moco_instance_replication_delay_seconds${labels} ${delay}`]),
      '',
    ].join('\n');
  }
}
