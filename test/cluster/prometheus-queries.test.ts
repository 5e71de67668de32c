import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { type Check, checksAbout } from '../../src/api/check-settings.ts';
import { realWorld } from '../../src/base/world.ts';
import { type CheckReader, prometheusChecks } from '../../src/controller/questions/checks.ts';
import { PrometheusHttp } from '../../src/kube/prometheus-http.ts';
import { freePort } from '../support/control-plane/free-port.ts';
import { Prometheus } from '../support/prometheus.ts';

const cluster = { namespace: 'shop', name: 'a.b' };
const pods = { updated: ['moco-a.b-2'], stale: ['moco-a.b-0', 'moco-a.b-1'] };

/** Errors of each member, and of a pod whose name only an unescaped dot would match. */
const page = `# TYPE errors gauge
errors{namespace="shop",pod="moco-a.b-0"} 1
errors{namespace="shop",pod="moco-a.b-1"} 2
errors{namespace="shop",pod="moco-a.b-2"} 9
errors{namespace="shop",pod="moco-aXb-2"} 100
`;

describe('what Prometheus itself says about checks', function suite() {
  const server = createServer((_, response) => {
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(page);
  });
  let prometheus: Prometheus;
  let http: PrometheusHttp;
  let read: CheckReader;

  before(async function startPrometheus() {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    prometheus = await Prometheus.start(this, await freePort(), target);
    await prometheus.until('errors', true);
    const files = { caFile: null, tokenFile: null, basicAuthFile: null, headersFile: null, proxyUrl: null };
    http = new PrometheusHttp(
      { url: prometheus.url, ...files },
      realWorld(() => Promise.reject(new Error('none'))),
    );
    read = prometheusChecks(http.query);
  });

  after(async () => {
    await http?.close();
    await prometheus?.stop();
    server.closeAllConnections();
    server.close();
  });

  async function said(more: Partial<Check> & { readonly query: string }, about = pods): Promise<object> {
    const [check] = checksAbout([{ name: 'errors', ...more }], about);
    if (check === undefined) throw new Error('expected a check, got none');
    return read(check, cluster);
  }

  const passing = { kind: 'passing' };
  const mine = 'errors{namespace="$namespace", pod=~"$updated"}';
  const others = 'errors{namespace="$namespace", pod=~"$stale"}';

  it('compares the updated members with the others, and no other pods', async () => {
    expect(await said({ query: `max(${mine}) > 4 * max(${others})` })).to.deep.include({ kind: 'failing' });
    expect(await said({ query: `max(${mine}) > 5 * max(${others})` })).to.deep.equal(passing);
    expect(await said({ query: `count(${mine}) != 1 or count(${others}) != 2` })).to.deep.equal(passing);
  });

  it('passes while there are no members of one of the two kinds, whatever a lack of data means', async () => {
    const query = `max(${mine}) > 1 * max(${others})`;
    const all = [...pods.stale, ...pods.updated];
    for (const noData of ['Pass', 'Fail', 'Wait'] as const) {
      expect(await said({ query, noData }, { updated: [], stale: all }), noData).to.deep.equal(passing);
      expect(await said({ query, noData }, { updated: all, stale: [] }), noData).to.deep.equal(passing);
    }
  });

  it('says which metric has no series, where that does not mean that the check passes', async () => {
    const query = `max(${mine}) > 9 and sum(rate(latency_count{namespace="$namespace"}[5m])) > 1`;
    expect(await said({ query })).to.deep.equal(passing);
    expect(await said({ query, noData: 'Wait' })).to.deep.equal({
      kind: 'unknown',
      message: 'there is no series of latency_count{namespace="shop"}',
    });
    expect(await said({ query, noData: 'Fail' })).to.deep.include({ kind: 'failing' });
  });

  it('passes with data, whatever a lack of it means, in each form of a query', async () => {
    for (const query of [
      `${mine} > 10`,
      `sum by (pod) (${mine}) > 10 # and nothing(else)`,
      `max_over_time(${mine}[5m:1m]) > 10`,
      `label_replace(${mine}, "a", "$1", "pod", "(.*)") > bool 10 > 1`,
      `${mine} / on (namespace) group_left () sum by(namespace) (${others}) > 10`,
    ]) {
      for (const noData of ['Fail', 'Wait'] as const) {
        expect(await said({ query, noData }), query).to.deep.equal(passing);
      }
    }
  });
});
