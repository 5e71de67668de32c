import { expect } from 'chai';
import { ApiClient } from '../../src/kube/api-client.ts';
import { watchPolicy } from '../../src/objects/controller-policy.ts';
import { answer, FakeWorld, settle, status } from '../kube/fake-world.ts';

const denied =
  "leases.coordination.k8s.io \"moco-rollout-policy-probe\" is forbidden: ValidatingAdmissionPolicy 'controller.moco-rollout.io' with binding 'controller.moco-rollout.io' denied request: moco-rollout has one lease, moco-rollout";

/** What is shown and logged while the API server answers the dry runs one after the other. */
async function watched(...answers: readonly (readonly [code: number, body: unknown])[]) {
  const world = new FakeWorld(async () => {
    const [code, body] = answers[Math.min(world.requests.length, answers.length) - 1] ?? [500, {}];
    return answer(code, body);
  });
  const shown: boolean[] = [];
  const logged: string[] = [];
  const note = (level: string) => () => void logged.push(level);
  const log = { debug: note('debug'), info: note('info'), warn: note('warn'), error: note('error') };
  const client = new ApiClient({ world, qps: 100, burst: 100 });
  const stop = new AbortController();
  const watching = watchPolicy(
    { client, world, log, namespace: 'system', show: (inForce) => shown.push(inForce) },
    stop.signal,
  );
  for (const _ of answers) {
    await settle();
    await world.advance(600_000);
  }
  stop.abort();
  await watching;
  return { world, shown, logged };
}

const refusal = (message: string): readonly [number, unknown] => [422, status(422, 'Invalid', { message })];

describe('the policy that confines the controller', () => {
  it('is in force where it refuses another lease, which is a dry run', async () => {
    const { world, shown, logged } = await watched(refusal(denied));
    expect(shown[0]).to.equal(true);
    expect(logged).to.deep.equal([]);
    expect(world.requests[0]?.path).to.match(/\/namespaces\/system\/leases\?dryRun=All$/);
  });

  it('is not in force where the lease would be created: an error, once', async () => {
    const created = [201, { metadata: { name: 'moco-rollout-policy-probe' } }] as const;
    const { shown, logged } = await watched(created, created, refusal(denied));
    expect(shown.slice(0, 3)).to.deep.equal([false, false, true]);
    expect(logged).to.deep.equal(['error', 'info']);
  });

  it('may take a moment to be in force after it was installed: no error', async () => {
    const { shown, logged } = await watched([201, {}], refusal(denied));
    expect(shown.slice(0, 2)).to.deep.equal([false, true]);
    expect(logged).to.deep.equal([]);
  });

  it('is unknown where something else refuses it', async () => {
    const { shown, logged } = await watched(refusal('no'), [403, status(403, 'Forbidden')]);
    expect(shown).to.deep.equal([]);
    expect(logged).to.deep.equal([]);
  });
});
