import { expect } from 'chai';
import { pluginManager, type RolloutSpec } from '../../../src/api/rollout.ts';
import { answer, status } from '../../kube/fake-world.ts';
import { Bench } from '../bench.ts';

type Overrides = NonNullable<RolloutSpec['overrides']>;

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
