import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import { createLog, type LogFormat } from '../../src/telemetry/log.ts';

describe('the log', () => {
  it('writes one JSON object a line, with the level as a word and the time in ISO 8601', () => {
    const { lines, log } = logTo('json');
    log.info({ cluster: 'ns/test', step: 'evict', rule: 'ReplicaHealthy' }, 'evicted');
    const record = JSON.parse(lines[0] ?? '');
    expect(record).to.include({
      level: 'info',
      msg: 'evicted',
      cluster: 'ns/test',
      step: 'evict',
      rule: 'ReplicaHealthy',
    });
    expect(new Date(record.time).toISOString()).to.equal(record.time);
    expect(record).not.to.have.any.keys('pid', 'hostname');
    expect(lines[0]).to.match(/\n$/);
  });

  it('leaves out what is less important than its level', () => {
    const { lines, log } = logTo('json', 'warn');
    log.info({}, 'unimportant');
    log.warn({}, 'important');
    expect(lines).to.have.length(1);
  });

  it('carries the fields of a child in every line', () => {
    const { lines, log } = logTo('text');
    log.child({ cluster: 'ns/test' }).info({ step: 'evict' }, 'evicted');
    expect(lines[0]).to.contain('cluster=ns/test step=evict');
  });

  it('writes lines for people with the fields in a fixed order', () => {
    const { lines, log } = logTo('text');
    log.warn({ seconds: 4, revision: 'abc', member: 'moco-test-2', cluster: 'ns/test', because: 'so be it' }, 'held');
    expect(lines[0]).to.match(
      /^\d\d:\d\d:\d\d\.\d{3} warn {2}held {2}cluster=ns\/test member=moco-test-2 revision=abc seconds=4 because="so be it"\n$/,
    );
  });

  it('shows an error by its message, with the stack below at level error only', () => {
    const { lines, log } = logTo('text');
    log.warn({ error: new Error('no answer') }, 'tried');
    log.error({ error: new TypeError('not a function') }, 'failed');
    expect(lines[0]).to.match(/error="no answer"\n$/);
    expect(lines[1]).to.match(/error="not a function"\n {4}at /);
  });

  it('keeps the type and the stack of an error in JSON, and accepts thrown values that are no errors', () => {
    const { lines, log } = logTo('json');
    log.error({ error: new TypeError('not a function') }, 'failed');
    log.error({ error: 'a string' }, 'failed');
    expect(JSON.parse(lines[0] ?? '').error).to.include({ type: 'TypeError', message: 'not a function' });
    expect(JSON.parse(lines[1] ?? '').error).to.deep.equal({ message: 'a string' });
    expect(JSON.parse(lines[0] ?? '').error.stack).to.contain('not a function\n    at ');
  });

  it('has no stack of what is only a warning, in JSON either, nor of its cause', () => {
    const { lines, log } = logTo('json');
    const cause = new Error('nothing came');
    log.warn(
      { cluster: 'ns/test', error: new ApiError({ status: 403, reason: 'Forbidden', message: 'no', cause }) },
      'tried',
    );
    const { error, ...line } = JSON.parse(lines[0] ?? '');
    expect(error).to.include({ type: 'ApiError', reason: 'Forbidden', status: 403 });
    expect(lines[0]).not.to.match(/\bat .*\.ts/);
    expect(line).to.include({ cluster: 'ns/test', msg: 'tried' });
  });

  it('keeps a line a line whatever a field contains', () => {
    const { lines, log } = logTo('text');
    log.info({ member: 'a\nb', empty: '', absent: undefined, nothing: null }, 'odd');
    expect(lines[0]?.split('\n')).to.have.length(2);
    expect(lines[0]).to.contain('member="a\\nb"').and.to.contain('empty=""').and.to.contain('nothing=null');
  });
});

function logTo(format: LogFormat, level: 'info' | 'warn' = 'info') {
  const lines: string[] = [];
  return { lines, log: createLog({ level, format, destination: { write: (line) => void lines.push(line) } }) };
}
