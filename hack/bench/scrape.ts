import { request } from 'node:http';
import { holdRules } from '../../src/core/rules/catalogue.ts';
import { startHttpServer } from '../../src/telemetry/http-server.ts';
import { createMetrics, type Metrics } from '../../src/telemetry/metrics.ts';

// How long a scrape of /metrics takes on a leader with many clusters, over HTTP on this machine, and how long it blocks
// the program.

const clusterCounts = [0, 100, 1000, 3000];
const scrapes = 31;
const warmUpScrapes = 10;
const targetMilliseconds: Readonly<Record<number, number>> = { 1000: 100 };

const states = ['participating', 'running', 'terminating', 'missing'];

let missed = false;
console.log('clusters   series      bytes    scrape, median      worst   of it computing');
for (const clusters of clusterCounts) {
  const metrics = createMetrics('0.0.0', [{ name: 'UpdateStrategyOnDelete', stage: 'ALPHA', enabled: true }]);
  for (let index = 0; index < clusters; index += 1) fill(metrics, index);
  const server = await startHttpServer({
    address: { host: '127.0.0.1', port: 0 },
    flag: '--metrics-bind-address',
    handlers: { '/metrics': metrics.handler },
    onError: (path, error) => console.error(path, error),
  });
  let body = '';
  const milliseconds: number[] = [];
  const computing: number[] = [];
  for (let scrape = 0; scrape < warmUpScrapes + scrapes; scrape += 1) {
    const [before, cpuBefore] = [performance.now(), process.threadCpuUsage()];
    body = await get(server.address.port);
    const { user, system } = process.threadCpuUsage(cpuBefore);
    if (scrape < warmUpScrapes) continue;
    milliseconds.push(performance.now() - before);
    computing.push((user + system) / 1000);
  }
  await server.close();
  const median = middle(milliseconds);
  const target = targetMilliseconds[clusters];
  const slow = target !== undefined && median > target;
  missed ||= slow;
  const series = body.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  console.log(
    [
      String(clusters).padStart(8),
      String(series).padStart(8),
      String(Buffer.byteLength(body)).padStart(10),
      `${median.toFixed(1)} ms`.padStart(17),
      `${Math.max(...milliseconds).toFixed(1)} ms`.padStart(10),
      `${middle(computing).toFixed(1)} ms`.padStart(17),
      slow ? `  more than ${target} ms` : '',
    ].join(' '),
  );
}
process.exitCode = missed ? 1 : 0;

/** A cluster in the middle of a rollout, with members in several states. */
function fill({ rollouts }: Metrics, index: number): void {
  const cluster = [`namespace-${index % 50}`, `cluster-with-a-name-${index}`] as const;
  rollouts.setMembers(cluster, Object.fromEntries(states.map((state, count) => [state, count])), 2);
  rollouts.setHold(cluster, { rule: holdRules[index % holdRules.length] ?? '', sinceSeconds: 1_780_000_000 + index });
  rollouts.setLastProgress(cluster, 1_780_000_000 + index);
  rollouts.setPartition(cluster, { current: 1, updated: 2, lastUpdatedSeconds: 1_780_000_000 + index });
}

function get(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path: '/metrics' }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
