import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { freePort } from '../support/control-plane/free-port.ts';
import { Prometheus } from '../support/prometheus.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';
import { wholeRollout } from './rollout-story.ts';

const port = await freePort();

/** An application with a database in each cluster: the part of its requests that fail, by the namespace of the cluster. */
class Application {
  readonly #ratios = new Map<string, number>();
  readonly #server = createServer((_, response) => {
    const lines = [...this.#ratios].map(
      ([namespace, ratio]) => `application_error_ratio{namespace="${namespace}",name="x"} ${ratio}\n`,
    );
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(`# TYPE application_error_ratio gauge\n${lines.join('')}`);
  });

  async start(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  fails({ namespace }: RolloutCluster, ratio: number): void {
    this.#ratios.set(namespace, ratio);
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const checks = [{ name: 'error-ratio', query: 'application_error_ratio{namespace="$namespace", name="$name"} > 0.01' }];
const messageOf = ({ now }: RolloutCluster): string => now.rollout?.status?.hold?.message ?? '';

// What else Prometheus says: prometheus-queries.test.ts.
describe('a rollout with checks that Prometheus itself answers', () => {
  const flags = [`--prometheus-url=http://127.0.0.1:${port}`];
  const { scenario, stage } = useRollouts(ownScene({}, flags, (cluster) => cluster.isTaken()));
  const application = new Application();
  let prometheus: Prometheus;

  before(async function startPrometheus() {
    prometheus = await Prometheus.start(this, port, await application.start());
  });

  after(async () => {
    await prometheus?.stop();
    application.stop();
  });

  async function metrics(): Promise<string> {
    const [controller] = stage().controllers;
    return (await fetch(`http://127.0.0.1:${controller?.metricsPort}/metrics`)).text();
  }

  scenario(
    'is held when a query begins to fail in the middle of it, and continues once it passes',
    {},
    async (cluster) => {
      const failing = `application_error_ratio{namespace="${cluster.namespace}"} > 0.01`;
      application.fails(cluster, 0);
      await prometheus.until(`application_error_ratio{namespace="${cluster.namespace}"}`, true);
      await cluster.setting({ checks, partition: 2 });
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('PartitionReached');
      application.fails(cluster, 0.25);
      await prometheus.until(failing, true);
      await cluster.setting({ partition: null });
      await cluster.holds('CheckFailing');
      const series = `application_error_ratio{instance="`;
      expect(messageOf(cluster)).to.contain(`the check error-ratio fails: ${series}`).and.to.contain(' is 0.25');
      expect(messageOf(cluster)).to.contain(`namespace="${cluster.namespace}"`);
      expect(await cluster.steps()).to.deep.equal(['evict 2']);
      const gauge = `moco_rollout_check_failing{namespace="${cluster.namespace}",name="x",check="error-ratio"} 1`;
      expect(await metrics()).to.contain(gauge);
      application.fails(cluster, 0);
      await prometheus.until(failing, false);
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(wholeRollout);
      expect(await metrics()).to.not.contain(gauge);
    },
  );
});
