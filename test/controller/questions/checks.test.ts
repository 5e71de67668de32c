import { expect } from 'chai';
import { Registry } from 'prom-client';
import { Checks, prometheusChecks } from '../../../src/controller/questions/checks.ts';
import type { CheckReading } from '../../../src/core/on-demand-facts.ts';
import { CheckMetrics } from '../../../src/telemetry/runtime-metrics.ts';
import { FakeWorld } from '../../kube/fake-world.ts';

const errant = { name: 'errant', query: 'errant{namespace="$namespace"}' };
const lag = { name: 'lag', query: 'lag' };
const passing: CheckReading = { kind: 'passing' };
const unknown: CheckReading = { kind: 'unknown', message: 'no route' };
const notAsked = { reading: null, ageSeconds: 0, unknownForSeconds: 0 };

/** A Prometheus that answers when the test says so. */
class Scene {
  readonly world = new FakeWorld(() => Promise.reject(new Error('expected no request, got one')));
  readonly registry = new Registry();
  readonly asked: string[] = [];
  readonly woken: string[] = [];
  readonly #answers: ((reading: CheckReading) => void)[] = [];
  readonly checks = new Checks(
    ({ name }, cluster) => {
      this.asked.push(`${name} of ${cluster.namespace}/${cluster.name}`);
      return new Promise((resolve) => this.#answers.push(resolve));
    },
    this.world,
    new CheckMetrics(this.registry),
    (key) => this.woken.push(key),
  );

  /** To the questions that have waited longest. */
  async answer(...readings: readonly CheckReading[]): Promise<void> {
    for (const reading of readings) this.#answers.shift()?.(reading);
    await new Promise((resolve) => setImmediate(resolve));
  }

  async askAndAnswer(reading: CheckReading): Promise<void> {
    this.checks.ask('db/a', [lag]);
    await this.answer(reading);
  }
}

describe('the answers to checks', () => {
  it('come from all checks in parallel, and queue the cluster once all are there', async () => {
    const scene = new Scene();
    scene.checks.ask('db/a', [errant, lag]);
    expect(scene.asked).to.deep.equal(['errant of db/a', 'lag of db/a']);
    await scene.answer(passing);
    expect(scene.woken).to.deep.equal([]);
    expect(scene.checks.factsFor('db/a', [errant])).to.deep.equal([{ name: 'errant', ...notAsked }]);
    scene.world.freeze(2000);
    await scene.answer(unknown);
    scene.world.freeze(3000);
    expect(scene.woken).to.deep.equal(['db/a']);
    expect(scene.checks.factsFor('db/a', [errant, lag])).to.deep.equal([
      { name: 'errant', reading: passing, ageSeconds: 3, unknownForSeconds: 0 },
      { name: 'lag', reading: unknown, ageSeconds: 3, unknownForSeconds: 3 },
    ]);
    expect(await scene.registry.metrics()).to.contain('moco_rollout_check_requests_total{result="Unknown"} 1');
  });

  it('are waited for once for each cluster, and a cluster without an answer delays no other', async () => {
    const scene = new Scene();
    for (const key of ['db/a', 'db/a', 'db/b']) scene.checks.ask(key, [lag]);
    expect(scene.asked).to.deep.equal(['lag of db/a', 'lag of db/b']);
    await scene.answer();
    scene.checks.ask('db/c', [lag]);
    expect(scene.asked).to.have.length(3);
  });

  it('count for no other query of the same name', async () => {
    const scene = new Scene();
    await scene.askAndAnswer(passing);
    expect(scene.checks.factsFor('db/a', [{ name: 'lag', query: 'other' }])).to.deep.equal([
      { name: 'lag', ...notAsked },
    ]);
  });

  it('count for no other cluster, and are forgotten with theirs', async () => {
    const scene = new Scene();
    await scene.askAndAnswer(passing);
    expect(scene.checks.factsFor('db/b', [lag])[0]?.reading).to.equal(null);
    scene.checks.forget('db/a');
    expect(scene.checks.factsFor('db/a', [lag])[0]?.reading).to.equal(null);
  });

  it('do not count if they were asked before a step, and come after it', async () => {
    const scene = new Scene();
    scene.checks.ask('db/a', [lag]);
    scene.checks.forget('db/a');
    scene.checks.ask('db/a', [lag]);
    await scene.answer(passing);
    expect(scene.checks.factsFor('db/a', [lag])[0]?.reading).to.equal(null);
    expect(scene.woken).to.deep.equal([]);
    await scene.answer(unknown);
    expect(scene.checks.factsFor('db/a', [lag])[0]?.reading).to.deep.equal(unknown);
  });

  it('say for how long there has been none', async () => {
    const scene = new Scene();
    const unknownFor = (): number | undefined => scene.checks.factsFor('db/a', [lag])[0]?.unknownForSeconds;
    for (const expected of [0, 30, 60]) {
      await scene.askAndAnswer(unknown);
      expect(unknownFor()).to.equal(expected);
      scene.world.freeze(30_000);
    }
    await scene.askAndAnswer(passing);
    expect(unknownFor()).to.equal(0);
    await scene.askAndAnswer(unknown);
    scene.world.freeze(60_000);
    await scene.askAndAnswer(unknown);
    expect(unknownFor(), 'after a longer pause').to.equal(0);
  });
});

describe('what Prometheus says about a check', () => {
  const cluster = { namespace: 'db', name: 'a' };
  const series = (value: string) => ({ labels: { pod: 'x' }, value });

  it('is asked for the namespace and the name of the cluster', async () => {
    const queries: string[] = [];
    const read = prometheusChecks((query) => {
      queries.push(query);
      return Promise.resolve([]);
    });
    await read(
      { name: 'x', query: 'a{namespace="$namespace",pod=~"moco-$name-[0-9]+$"} and b{x="$name$namespace"}' },
      cluster,
    );
    expect(queries).to.deep.equal(['a{namespace="db",pod=~"moco-a-[0-9]+$"} and b{x="adb"}']);
  });

  it('is that it passes if there is no series, and that it fails if there is any', async () => {
    expect(await prometheusChecks(() => Promise.resolve([]))(lag, cluster)).to.deep.equal(passing);
    const answer = [series('0'), series('1'), series('2')];
    expect(await prometheusChecks(() => Promise.resolve(answer))(lag, cluster)).to.deep.equal({
      kind: 'failing',
      series: { ...series('0'), others: 2 },
    });
  });

  describe('without data', () => {
    const query = 'a{x="$name"} > b';
    const said = (noData: 'Pass' | 'Fail' | 'Wait' | undefined, absent: readonly string[]) => {
      const asked: string[] = [];
      const read = prometheusChecks((text) => {
        asked.push(text);
        const isAboutData = text.includes('absent(');
        return Promise.resolve(isAboutData ? absent.map((selector) => ({ labels: { selector }, value: '1' })) : []);
      });
      const check = { name: 'x', query, ...(noData && { noData }) };
      return read(check, cluster).then((reading) => ({ reading, asked: asked.length }));
    };

    it('passes, by one query, unless the check says otherwise', async () => {
      for (const noData of [undefined, 'Pass'] as const) {
        expect(await said(noData, ['0'])).to.deep.equal({ reading: passing, asked: 1 });
      }
    });

    it('fails or waits as the check says, and names what has no series', async () => {
      expect(await said('Fail', ['1'])).to.deep.equal({
        reading: { kind: 'failing', series: { labels: {}, value: '', others: 0, missing: 'b' } },
        asked: 2,
      });
      expect(await said('Wait', ['0', '1'])).to.deep.equal({
        reading: { kind: 'unknown', message: 'there is no series of a{x="a"}' },
        asked: 2,
      });
    });

    it('passes where each metric has a series', async () => {
      for (const noData of ['Fail', 'Wait'] as const) {
        expect(await said(noData, [])).to.deep.equal({ reading: passing, asked: 2 });
      }
    });
  });

  it('is unknown without an answer, and without a Prometheus', async () => {
    expect(await prometheusChecks(() => Promise.reject(new Error('no route')))(lag, cluster)).to.deep.equal(unknown);
    expect(await prometheusChecks(null)(lag, cluster)).to.deep.equal({
      kind: 'unknown',
      message: 'the controller runs without --prometheus-url',
    });
  });
});
