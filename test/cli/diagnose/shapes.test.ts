import { expect } from 'chai';
import * as fc from 'fast-check';
import { eventShape, keep, podShape, rolloutShape, rulesOfOthers } from '../../../src/cli/diagnose/shapes.ts';
import { decide } from '../../../src/core/decide.ts';
import type { RolloutPolicy } from '../../../src/core/policy.ts';
import { explainHold, holdRules } from '../../../src/core/rules/catalogue.ts';
import type { ClusterSnapshot } from '../../../src/core/snapshot.ts';
import { aCluster, exampleStates } from '../../core/near-examples.ts';

/** What another program has said. */
const words = 'hunter2-do-not-tell';

/**
 * The facts with these words in every text of mysqld, agents, the kubelet, Prometheus, webhooks and the API server. Why
 * a revision has failed is a sentence of this program, whatever it is called.
 */
function quoting(facts: unknown, key = ''): unknown {
  if (typeof facts === 'string') return ofOthers.has(key) ? `${facts} ${words}` : facts;
  if (Array.isArray(facts)) return facts.map((one) => quoting(one));
  if (typeof facts !== 'object' || facts === null || facts instanceof Map || key === 'failing') return facts;
  const inside = key === 'labels' ? 'labels' : null;
  return Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, quoting(value, inside ?? name)]));
}
const ofOthers: ReadonlySet<string> = new Set([
  'message',
  'refusal',
  'createFailure',
  'backupsUnreadable',
  'user',
  'host',
  'labels',
  'value',
]);

/** The rule that holds, if its sentence has those words. */
function quotingRule(facts: ClusterSnapshot, policy: RolloutPolicy): string | null {
  const { hold } = decide(quoting(facts) as ClusterSnapshot, policy);
  return hold && explainHold(hold, (ordinal) => `moco-test-${ordinal}`).includes(words) ? hold.rule : null;
}

describe('a MySQLRollout for an issue report', () => {
  const shown = (rule: string): string => JSON.stringify(rolloutShape(statusOf(rule)));
  const statusOf = (rule: string): object => {
    const message = words;
    return {
      status: {
        hold: { rule, message, since: 'T' },
        conditions: [{ type: 'Stalled', status: 'True', reason: rule, message }],
        members: [{ ordinal: 1, rule, message }],
      },
    };
  };

  it('contains no messages of other programs, whichever rule holds', () => {
    const quotes = new Set<string | null>();
    for (const [facts, policy] of [...exampleStates, ...fc.sample(aCluster, 1500)]) {
      quotes.add(quotingRule(facts, policy));
      quotes.add(quotingRule({ ...facts, createFailure: facts.createFailure ?? 'quota' }, policy));
    }
    quotes.delete(null);
    expect([...quotes].filter((rule) => !rulesOfOthers.includes(rule))).to.deep.equal([]);
    for (const rule of ['CheckFailing', 'CheckUnavailable', 'SuccessorRefused', 'MemberMissing', 'MemberSilent']) {
      expect([...quotes]).to.include(rule);
    }
  });

  for (const rule of holdRules) {
    const isQuoting = rulesOfOthers.includes(rule);
    it(`${isQuoting ? 'leaves the sentences of' : 'has the sentences of'} ${rule}${isQuoting ? ' out' : ''}`, () => {
      const text = shown(rule);
      expect(text.includes(words)).to.equal(!isQuoting);
      if (isQuoting) expect(text.match(/"message":"removed"/g)).to.have.lengthOf(3);
      expect(text.split(`"${rule}"`), 'the rule itself').to.have.lengthOf(4);
    });
  }

  it('has no answer of the API server to a step, and says that one was carried out', () => {
    const withStep = (result: string): string => JSON.stringify(rolloutShape({ status: { lastStep: { result } } }));
    expect(withStep(words)).to.equal('{"status":{"lastStep":{"result":"removed"},"conditions":[]}}');
    expect(withStep('done')).to.contain('"result":"done"');
  });

  it('has no message of mysqld about the login, of the kubelet about images, or of mysqld about its configuration', () => {
    const said = { name: 'node-1', result: 'ImageUnavailable', message: words };
    const status = { mysqlProblem: words, preflight: { nodes: [said], configuration: said } };
    const text = JSON.stringify(rolloutShape({ status }));
    expect(text).to.not.contain(words);
    expect(text).to.contain('"result":"ImageUnavailable"').and.to.contain('"name":"node-1"');
  });
});

describe('an Event for an issue report', () => {
  const noteOf = (reportingController: string, reason: string): unknown =>
    (eventShape({ reportingController, reason, note: words }) as { note?: unknown }).note;

  it('has its note if moco-rollout has reported it', () => {
    expect(noteOf('moco-rollout', 'Evicted')).to.equal(words);
    for (const rule of rulesOfOthers) expect(noteOf('moco-rollout', String(rule)), String(rule)).to.equal(undefined);
    for (const other of ['kubelet', 'statefulset-controller', 'moco-rollout-2', '']) {
      expect(noteOf(other, 'Evicted'), other).to.equal(undefined);
    }
  });
});

describe('a pod for an issue report', () => {
  it('has the conditions as Kubernetes writes them, and no message of a container', () => {
    const condition = { type: 'PodScheduled', status: 'False', message: '0/3 nodes are available' };
    const terminated = { exitCode: 1, reason: 'Error', message: words };
    const status = {
      conditions: [condition],
      message: words,
      containerStatuses: [{ name: 'mysqld', state: { waiting: { reason: 'ErrImagePull', message: words } } }],
      initContainerStatuses: [{ name: 'init', lastState: { terminated } }],
    };
    const kept = JSON.stringify(keep({ status }, podShape));
    expect(kept).to.not.contain(words);
    expect(kept).to.contain(condition.message).and.to.contain('ErrImagePull').and.to.contain('"exitCode":1');
  });
});
