import { expect } from 'chai';
import type { Json } from '../../../src/base/json.ts';
import type { Observation } from '../../../src/controller/pass/observe.ts';
import type { NodeQuestion } from '../../../src/controller/questions/preflight-facts.ts';
import { failingAmong, inspected, type ListedPod, settled } from '../../../src/controller/questions/preflight-pods.ts';
import { ApiError } from '../../../src/kube/api-error.ts';

const now = '2026-01-01T00:05:00Z';
const nowMilliseconds = 1_000_000;
const asked: NodeQuestion = {
  about: 'images',
  name: 'n',
  since: '2026-01-01T00:04:00Z',
  at: '2026-01-01T00:04:30Z',
  trying: true,
};
const refused: NodeQuestion = { ...asked, result: 'ImageUnavailable', message: 'not found' };
const { trying: _, ...answered } = asked;
const { trying: _refused, ...stillRefused } = refused;

/** It has been asked for a minute, of so many seconds at most. */
const seen = (preflightTimeoutSeconds = 300): Observation =>
  ({
    now,
    nowMilliseconds,
    policy: { preflightTimeoutSeconds },
    snapshot: { preflight: { awaited: [{ about: 'images', nodeName: 'n', forSeconds: 60 }] } },
  }) as unknown as Observation;
const late = seen(60);

const pod = (status: object, metadata: object = {}): Json => ({ metadata: { uid: 'u', ...metadata }, status });
const container = (state: object) => ({ containerStatuses: [{ name: 'mysqld', state }] });
const fetched = pod({ phase: 'Succeeded' });
const noImage = pod({ phase: 'Pending', ...container({ waiting: { reason: 'ErrImagePull', message: '429' } }) });
const noNode = '0/3 nodes are available';
const unscheduled = pod({
  phase: 'Pending',
  conditions: [{ type: 'PodScheduled', status: 'False', message: noNode }],
});
const terminating = pod({ phase: 'Succeeded' }, { deletionTimestamp: now });
const killed = pod({ phase: 'Failed', ...container({ terminated: { exitCode: 137, reason: 'OOMKilled' } }) });
const busy = new ApiError({ status: 503, reason: 'ServiceUnavailable', message: '503 ServiceUnavailable: busy' });

type Result = NonNullable<NodeQuestion['result']>;
const waits = (message: string): NodeQuestion => ({ ...asked, message });
const answers = (result: Result, message?: string): NodeQuestion => ({
  ...answered,
  since: now,
  result,
  ...(message !== undefined && { message }),
});
/** Its time goes on: it is asked again. */
const saysNothing = (message: string): NodeQuestion => ({ ...answered, result: 'Unknown', message });

interface Look {
  readonly listed: ListedPod;
  readonly gives: NodeQuestion;
  readonly of: NodeQuestion;
  readonly failingMilliseconds: number;
  readonly observed: Observation;
}
const when = (
  listed: ListedPod,
  gives: NodeQuestion,
  { of = asked, failingMilliseconds = 0, observed = seen() }: Partial<Look> = {},
): Look => ({ listed, gives, of, failingMilliseconds, observed });

const gone = 'its pod was deleted, or its name belongs to a pod that moco-rollout did not create';
const about = 'configuration' as const;
const looks: Readonly<Record<string, Look>> = {
  'that has fetched is the answer': when(fetched, answers('Fetched')),
  'whose mysqld accepts its configuration is the answer': when(
    fetched,
    { ...answers('Accepted'), about },
    { of: { ...asked, about } },
  ),
  'that is gone, or that another client has created, is no answer': when(null, saysNothing(gone)),
  'whose mysqld was killed says nothing': when(
    killed,
    { ...saysNothing('OOMKilled, exit code 137'), about },
    { of: { ...asked, about } },
  ),
  'that is being deleted may answer an earlier question': when(terminating, waits('its pod is being deleted')),
  'that cannot be listed is waited for': when(busy, waits('503 ServiceUnavailable: busy')),
  'that no node accepts is waited for': when(unscheduled, waits(noNode)),
  'that no node accepts is waited for until the limit': when(unscheduled, answers('TimedOut', noNode), {
    observed: late,
  }),
  'that has become silent keeps its last words at the limit': when(
    pod({ phase: 'Pending' }),
    answers('TimedOut', 'before'),
    { of: waits('before'), observed: late },
  ),
  'that has no image for a moment is no refusal': when(noImage, waits('429'), { failingMilliseconds: 29_999 }),
  'that has no image for half a minute is a refusal': when(noImage, answers('ImageUnavailable', '429'), {
    failingMilliseconds: 30_000,
  }),
  'that has no image at the limit is a refusal': when(noImage, answers('ImageUnavailable', '429'), { observed: late }),
  'that has no image confirms a refusal at once': when(noImage, { ...stillRefused, message: '429' }, { of: refused }),
  'that is gone ends no refusal': when(null, stillRefused, { of: refused }),
  'that no node accepts in time ends no refusal': when(unscheduled, stillRefused, { of: refused, observed: late }),
  'that is waited for leaves a refusal its words': when(unscheduled, refused, { of: refused }),
  'that has fetched ends a refusal': when(fetched, answers('Fetched'), { of: refused }),
};

describe('the check of a pod of a preflight', () => {
  for (const [what, { of, listed, failingMilliseconds, observed, gives }] of Object.entries(looks)) {
    it(what, () => {
      const failing = new Map([['u', nowMilliseconds - failingMilliseconds]]);
      expect(inspected(of, listed, failing, observed)).to.deep.equal(gives);
    });
  }

  it('keeps a refusal if the pod cannot be created because its node accepts none', () => {
    expect(settled(refused, seen(), 'Skipped', 'cordoned')).to.deep.equal(stillRefused);
    expect(settled(asked, seen(), 'Skipped', 'cordoned')).to.deep.equal({
      ...saysNothing('cordoned'),
      result: 'Skipped',
    });
  });

  it('remembers since when the kubelet has had no image for it, and for no other pod', () => {
    const before = new Map([
      ['u', 5],
      ['gone', 6],
    ]);
    const other = pod({ phase: 'Pending', ...container({ waiting: { reason: 'ErrImagePull' } }) }, { uid: 'v' });
    expect([...failingAmong([noImage, other, unscheduled], before, 9)]).to.deep.equal([
      ['u', 5],
      ['v', 9],
    ]);
  });

  it('cuts messages that are too long for the status', () => {
    const { message = '' } = settled(asked, seen(), 'Unknown', 'x'.repeat(1000));
    expect(message.length).to.equal(448);
  });
});
