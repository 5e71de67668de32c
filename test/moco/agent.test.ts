import { expect } from 'chai';
import type { DelayReading } from '../../src/core/on-demand-facts.ts';
import { cloneOf, delayOf, readinessOf } from '../../src/moco/agent.ts';

const labels = '{index="1",name="test"}';
/** As moco-agent 0.16 serves it, without the series of Go and gRPC. */
const page = (...delays: readonly string[]): string =>
  [
    '# HELP moco_instance_clone_count The number of clone operations',
    '# TYPE moco_instance_clone_count counter',
    `moco_instance_clone_count${labels} 1`,
    '# HELP moco_instance_replication_delay_seconds The seconds how much delay to replicate data',
    '# TYPE moco_instance_replication_delay_seconds gauge',
    ...delays,
    '',
  ].join('\n');
const delay = (value: string, of = labels): string => `moco_instance_replication_delay_seconds${of} ${value}`;
const ok = (body: string) => delayOf({ status: 200, body }, 'test', 1);
const unknown = (message: string): DelayReading => ({ kind: 'unknown', message });

describe("the readiness of a replica's agent", () => {
  it('is followed by the metrics where mysqld replicates', () => {
    expect(readinessOf({ status: 200, body: '' })).to.equal(null);
  });

  it('says in its own words that mysqld does not replicate', () => {
    expect(readinessOf({ status: 503, body: 'replication thread are stopped\n' })).to.deep.equal({
      kind: 'notReplicating',
      message: 'replication thread are stopped',
    });
  });

  it('says at most two hundred characters, in one line', () => {
    const reading = readinessOf({ status: 503, body: `a\n b${'c'.repeat(1000)}` });
    expect(reading).to.deep.equal({ kind: 'notReplicating', message: `a b${'c'.repeat(197)}` });
  });

  it('says nothing about replication with any other status', () => {
    for (const status of [204, 302, 404, 500]) {
      expect(readinessOf({ status, body: 'x' })).to.deep.equal(
        unknown(`expected 200 or 503 from /readyz, got ${status}`),
      );
    }
  });
});

describe("the delay in an agent's metrics", () => {
  const seconds: Readonly<Record<string, readonly [value: string, seconds: number]>> = {
    'a fraction': ['0.25', 0.25],
    zero: ['0', 0],
    'a large number, as Go writes it': ['1.234567e+06', 1_234_567],
    'less than zero where the clocks of two primaries differ': ['-0.5', 0],
    'with a timestamp': ['41 1782907200000', 41],
  };
  for (const [what, [value, expected]] of Object.entries(seconds)) {
    it(`is read: ${what}`, () => {
      expect(ok(page(delay(value)))).to.deep.equal({ kind: 'delay', seconds: expected });
    });
  }

  it('is read from lines of at most 1,024 characters behind the name of the metric', () => {
    const long = (characters: number): string => delay(`41 ${'7'.repeat(characters - labels.length - ' 41 '.length)}`);
    expect(ok(page(long(1024)))).to.deep.equal({ kind: 'delay', seconds: 41 });
    expect(ok(page(long(1025)))).to.deep.equal(unknown('expected lines of at most 1024 characters, got a longer one'));
  });

  it('is nothing where mysqld has received no transaction since it started', () => {
    expect(ok(page())).to.deep.equal({ kind: 'delay', seconds: 0 });
  });

  it('is read from the series alone, and not from a name that begins alike', () => {
    const other = `moco_instance_replication_delay_seconds_total${labels} 99`;
    expect(ok(page(other, delay('2')))).to.deep.equal({ kind: 'delay', seconds: 2 });
  });

  for (const value of ['NaN', '+Inf', '-Inf', 'soon']) {
    it(`is unknown as ${value}`, () => {
      expect(ok(page(delay(value)))).to.deep.equal(
        unknown(`expected moco_instance_replication_delay_seconds to be a number, got ${value}`),
      );
    });
  }

  it('is unknown where another program answers', () => {
    for (const body of ['', '<html>hello</html>', 'go_goroutines 7\n', '\u0000\u0001\ufffd']) {
      expect(ok(body)).to.deep.equal(
        unknown('expected the metrics of moco-agent, got none named moco_instance_clone_count'),
      );
    }
  });

  it('is unknown if another pod has the address now', () => {
    const message = 'expected the metrics of test, index 1, got those of another pod';
    expect(delayOf({ status: 200, body: page(delay('0')) }, 'test', 2)).to.deep.equal(
      unknown('expected the metrics of test, index 2, got those of another pod'),
    );
    expect(delayOf({ status: 200, body: page() }, 'other', 1)).to.deep.equal(
      unknown('expected the metrics of other, index 1, got those of another pod'),
    );
    expect(ok(page(delay('0', '{index="0",name="test"}')))).to.deep.equal(unknown(message));
    expect(ok(page(delay('0', '')))).to.deep.equal(unknown(message));
  });

  it('is unknown with two series, or with another status', () => {
    expect(ok(page(delay('0'), delay('7')))).to.deep.equal(
      unknown('expected one series of moco_instance_replication_delay_seconds, got more'),
    );
    expect(delayOf({ status: 500, body: page(delay('0')) }, 'test', 1)).to.deep.equal(
      unknown('expected 200 from /metrics, got 500'),
    );
  });
});

describe('what an agent says of a clone', () => {
  const metrics = (value: string, of = labels) => ({
    status: 200,
    body: `# TYPE moco_instance_clone_in_progress gauge\nmoco_instance_clone_in_progress${of} ${value}\n`,
  });
  const says = (readiness: { status: number; body: string }, page = metrics('0')) =>
    cloneOf(readiness, page, 'test', 1);
  const cloningNow = { status: 503, body: 'the instance is under cloning\n' };
  const behind = { status: 503, body: 'replication thread are stopped\n' };

  it('is that it runs one', () => {
    expect(says(cloningNow, metrics('1'))).to.deep.equal({ kind: 'cloning' });
    expect(says(behind, metrics('1'))).to.deep.equal({ kind: 'cloning' });
  });

  it('is that the last one has not completed', () => {
    expect(says(cloningNow)).to.deep.equal({ kind: 'unfinished' });
  });

  it('is that there is none', () => {
    expect(says(behind)).to.deep.equal({ kind: 'notCloning' });
    expect(says({ status: 200, body: '' })).to.deep.equal({ kind: 'notCloning' });
  });

  it('is unknown if mysqld does not tell the agent, and of another pod', () => {
    expect(says({ status: 500, body: 'failed to get clone status' }).kind).to.equal('unknown');
    expect(says(behind, metrics('0', '{index="2",name="test"}')).kind).to.equal('unknown');
    expect(says(behind, { status: 200, body: '' }).kind).to.equal('unknown');
    expect(says(behind, { status: 404, body: '' }).kind).to.equal('unknown');
  });
});
