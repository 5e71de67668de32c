import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { isAskedFor } from '../../src/core/asked-for.ts';
import type { Hold, HoldRule } from '../../src/core/decision.ts';
import { explainHold } from '../../src/core/explain.ts';
import { overridable } from '../../src/core/overrides.ts';

const rules = Object.keys(overridable) as HoldRule[];
/** Whatever any rule has as an argument. */
const everyArgument = {
  member: 2,
  members: [1, 2],
  held: [1],
  away: [1, 2],
  primary: 0,
  next: 1,
  pod: 'moco-test-2',
  place: 3,
  limit: 1,
  stalled: 2,
  flag: '--disruption-interval',
  seconds: 60,
  problem: 'what is wrong',
  finding: 'a dry run came back at RollingUpdate',
  mode: 'OnDelete',
  message: 'what the API server said',
  fields: ['status.intent'],
  owner: 'other (uid 7d1f)',
  finalizers: ['example.com/keep'],
  write: 'eviction of moco-test-2',
  labelled: true,
  leaving: false,
  revision: 'moco-test-7966559688',
  current: 'moco-test-5897fd84f8',
  revisions: 4,
  generation: 2,
  succeeded: 1,
  wanted: 5,
  statefulSet: 3,
  pods: 3,
  evidence: { kind: 'idle' },
  wait: { for: 'role' },
  timeoutSeconds: 90,
  graceSeconds: 180,
  others: 1,
  needed: 2,
  maxUnavailable: 1,
  healthy: 2,
  synced: 2,
  replicas: 3,
  budget: 'moco-test',
  cause: 'used',
  tries: 2,
  retries: true,
  partition: 1,
};

/** Kubernetes takes no longer note in an Event. */
const longestNote = 1024;

describe('every rule that can hold a rollout', () => {
  let alertOf: ReadonlyMap<string, string>;

  before(async () => {
    const page = await readFile('docs/runbooks/README.md', 'utf8');
    const [, table = ''] = page.split('| rule | alert |');
    alertOf = new Map(
      [...table.matchAll(/^\| `(\w+)` \| (.+) \|$/gm)].map(([, rule = '', alert = '']) => [rule, alert]),
    );
  });

  it('is in the list of runbooks, and nothing else is', () => {
    expect([...alertOf.keys()]).to.have.members(rules);
  });

  for (const rule of rules) {
    it(`${rule} has a sentence, an Event and a runbook, or why it has none`, async () => {
      const sentence = explainHold({ rule, ...everyArgument } as unknown as Hold, (ordinal) => `moco-test-${ordinal}`);
      expect(sentence, 'a sentence without a full stop').to.match(/^[^\s].{9,}[^.\s]$/);
      expect(sentence, 'nothing that has no value').to.not.match(/undefined|null|NaN|\[object/);
      expect(sentence.length, 'the note of an Event').to.be.below(longestNote);
      expect(rule, 'the reason of an Event, and of a condition').to.match(/^[A-Z]\w{1,127}$/);
      const alert = alertOf.get(rule) ?? '';
      if (alert.startsWith('none: ')) {
        expect(isAskedFor(rule), 'without an alert').to.equal(true);
        return;
      }
      const [, name, page] = /^\[(\w+)\]\((\w+\.md)\)$/.exec(alert) ?? [];
      expect(page).to.equal(`${name}.md`);
      expect(await readFile(`docs/runbooks/${page}`, 'utf8')).to.contain(`# ${name}`);
      const isGeneral = name === 'MocoRolloutNoProgress';
      if (!isGeneral) {
        const expression = await readFile('config/prometheus/rules.yml', 'utf8');
        expect(expression).to.match(new RegExp(`rule=~?"[^"]*\\b${rule}\\b`));
      } else expect(isAskedFor(rule), 'the general alert leaves it alone').to.equal(false);
    });
  }
});
