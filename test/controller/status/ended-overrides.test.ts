import { expect } from 'chai';
import { pluginManager, type RolloutSpec } from '../../../src/api/rollout.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { Bench } from '../bench.ts';

type Overrides = NonNullable<RolloutSpec['overrides']>;

describe('a pause', () => {
  it('ends by itself, with an Event that names who had set it', async () => {
    const bench = new Bench();
    const until = new Date(bench.world.wall() + 600_000).toISOString().replace(/\.\d+/, '');
    bench.setting({ paused: true, pause: { reason: 'a load test', by: 'ada', until } });
    const program = await bench.started();
    const sentence = `the rollout is paused by spec.paused of the MySQLRollout, set by ada, until ${until}: a load test`;
    expect(bench.status.hold).to.deep.include({ rule: 'Paused', message: sentence });
    expect(bench.status.conditions?.find(({ type }) => type === 'Ready')?.message).to.equal(sentence);
    expect(program.events.filter(({ reason }) => reason === 'Paused')[0]?.note).to.equal(sentence);
    await program.workAfter(300_000);
    expect(bench.status.hold?.rule).to.equal('Paused');
    await program.workAfter(300_000);
    await program.workAfter(10_000);
    expect(bench.status.hold?.rule).not.to.equal('Paused');
    expect(program.events.filter(({ reason }) => reason === 'PauseEnded').map(({ note }) => note)).to.deep.equal([
      `the pause, which ada had set, ended at ${until}`,
    ]);
  });

  it('has an Event when a person withdraws it', async () => {
    const bench = new Bench();
    bench.setting({ paused: true });
    const program = await bench.started();
    bench.setting({ paused: false });
    await program.work();
    await program.workAfter(10_000);
    expect(program.events.filter(({ reason }) => reason === 'PauseEnded').map(({ note }) => note)).to.deep.equal([
      'the pause was withdrawn; it had no end',
    ]);
  });
});

describe('overrides that have ended', () => {
  let bench: Bench;
  const entry = (rule: Overrides[number]['rule'], minutes: number): Overrides[number] => {
    const until = new Date(bench.world.wall() + minutes * 60_000).toISOString().replace(/\.\d+/, '');
    return { rule, until, reason: 'x' };
  };
  /** Each rule with the manager that has written it. */
  const written = (overrides: Overrides, managers: readonly string[]): void => {
    const fields = (at: number) => ({ [`k:{"rule":"${overrides[at]?.rule}"}`]: {} });
    const managedFields = managers.map((manager, at) => ({
      manager,
      fieldsV1: { 'f:spec': { 'f:overrides': fields(at) } },
    }));
    bench.changeRollout({ metadata: { managedFields }, spec: { overrides } });
  };
  const removals = () =>
    bench.server.writes.filter(({ method, path }) => method === 'PATCH' && path.endsWith('/mysqlrollouts/test'));

  beforeEach(() => {
    bench = new Bench();
  });

  it('are removed once, if the plugin has written them, and others stay', async () => {
    const [ending, lasting, theirs] = [
      entry('BackupRunning', 10),
      entry('AwaitingFleetSlot', 60),
      entry('ReplicasBehind', 10),
    ];
    const plugin = pluginManager('override');
    written([ending, lasting, theirs], [plugin, plugin, 'argocd-controller']);
    const program = await bench.started();
    expect(bench.status.settings?.overrides?.value.map(({ rule }) => rule)).to.have.members([
      'BackupRunning',
      'AwaitingFleetSlot',
      'ReplicasBehind',
    ]);
    expect(removals()).to.deep.equal([]);
    await program.workAfter(600_000);
    expect(removals().map(({ body }) => body['spec'])).to.deep.equal([{ overrides: [lasting] }]);
    expect(bench.status.settings?.overrides?.value).to.deep.equal([
      { rule: 'AwaitingFleetSlot', until: lasting.until },
    ]);
    bench.changeRollout({ metadata: { annotations: { a: 'b' } } });
    await program.work();
    expect(removals()).to.have.length(1);
  });

  it('have an Event that names who had set them, and when they were withdrawn', async () => {
    const [ending, lasting] = [entry('BackupRunning', 10), entry('AwaitingFleetSlot', 60)];
    bench.changeRollout({ spec: { overrides: [{ ...ending, by: 'ada' }, lasting] } });
    const program = await bench.started();
    const ended = () => program.events.filter(({ reason }) => reason === 'OverrideEnded').map(({ note }) => note);
    expect(ended()).to.deep.equal([]);
    await program.workAfter(600_000);
    await program.workAfter(10_000);
    expect(ended()).to.deep.equal([
      `the override of BackupRunning, which ada had set, ended at ${ending.until}: the rule is in force again`,
    ]);
    bench.changeRollout({ spec: { overrides: [] } });
    await program.work();
    await program.workAfter(10_000);
    expect(ended().slice(1)).to.deep.equal([
      `the override of AwaitingFleetSlot was withdrawn before its end at ${lasting.until}: the rule is in force again`,
    ]);
  });

  it('have a series with their end until then', async () => {
    const [ending, lasting] = [entry('BackupRunning', 10), entry('AwaitingFleetSlot', 60)];
    bench.changeRollout({ spec: { overrides: [ending, lasting] } });
    const program = bench.start();
    const ends = async (): Promise<Readonly<Record<string, number>>> => {
      const text = await program.registry.metrics();
      const series = text.matchAll(/^moco_rollout_override_until_timestamp_seconds\{.*rule="(\w+)"\} (\d+)$/gm);
      return Object.fromEntries([...series].map(([, rule = '', value]) => [rule, Number(value)]));
    };
    await program.work();
    const until = ({ until }: Overrides[number]): number => Date.parse(until) / 1000;
    expect(await ends()).to.deep.equal({ BackupRunning: until(ending), AwaitingFleetSlot: until(lasting) });
    await program.workAfter(600_000);
    expect(await ends()).to.deep.equal({ AwaitingFleetSlot: until(lasting) });
  });

  it('keep nothing from being reported if they may not be removed', async () => {
    const plugin = pluginManager('override');
    written([entry('BackupRunning', 10)], [plugin]);
    bench.server.always('PATCH', /mysqlrollouts\/test$/, () => answer(403, status(403, 'Forbidden')));
    const program = await bench.started();
    await program.workAfter(600_000);
    expect(removals()).to.have.length(1);
    expect(bench.status.settings?.overrides).to.equal(undefined);
  });
});
