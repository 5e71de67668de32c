import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { HoldRule, StepKind, StepRule, TakeBackReason } from '../../src/core/decision.ts';
import type { MemberState } from '../../src/core/member.ts';
import { overridable } from '../../src/core/overrides.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const spec = read('src/core/SPEC.md');

/** The names that the types know; the compiler demands them all, and no others. */
const holdRules: Readonly<Record<HoldRule, true>> = {
  SnapshotImpossible: true,
  ClusterDeleting: true,
  RolloutNotOwned: true,
  RolloutTerminating: true,
  DefinitionOutdated: true,
  PolicyUnknown: true,
  StatefulSetMissing: true,
  StatefulSetDeleting: true,
  StatefulSetNotObserved: true,
  AwaitingOwnWrite: true,
  HandedBack: true,
  ReconciliationStopped: true,
  ClusteringStopped: true,
  Offline: true,
  ForcedRollingUpdate: true,
  AdmissionNotInForce: true,
  StrategyNotOnDelete: true,
  HandBackUnsafe: true,
  Paused: true,
  RevisionFlapping: true,
  NotReconciled: true,
  NotInitialized: true,
  MemberMissing: true,
  Scaling: true,
  UpdateRevisionFailing: true,
  AwaitingSwitchover: true,
  SwitchoverInProgress: true,
  ForeignDemote: true,
  RolesNotSettled: true,
  MemberProtected: true,
  MemberUnreachable: true,
  AwaitingFailover: true,
  AwaitingRecovery: true,
  AwaitingFleetSlot: true,
  AwaitingFleetInterval: true,
  MemberLeaving: true,
  MemberStuckTerminating: true,
  NotEnoughAcknowledging: true,
  BackupRunning: true,
  UpdatedMemberNotParticipating: true,
  BatchNotComplete: true,
  MemberDownOutOfTurn: true,
  AwaitingMoco: true,
  BudgetUsed: true,
  ClusterNotHealthy: true,
  BlockedByPDB: true,
  AwaitingApproval: true,
  PrimaryWaitsForHeld: true,
  SwitchoverFailing: true,
  PartitionReached: true,
  ConfirmationTooSlow: true,
  StepRefused: true,
};
const stepRules: Readonly<Record<StepRule, StepKind>> = {
  MemberDown: 'delete',
  MemberUnreachable: 'delete',
  MemberNotParticipating: 'delete',
  PrimaryNotParticipating: 'delete',
  NobodyParticipates: 'delete',
  MemberImpaired: 'delete',
  ReplicaHealthy: 'evict',
  PrimaryLast: 'demote',
  SingleMember: 'evict',
  AlreadyUpdated: 'setPartition',
};
const takeBackReasons: Readonly<Record<Exclude<TakeBackReason, HoldRule>, true>> = {
  NoLongerPrimary: true,
  NotDue: true,
  OthersDue: true,
  TimedOut: true,
  MarkAlone: true,
  StrategyChanged: true,
};
const memberStates: Readonly<Record<MemberState, true>> = {
  leaving: true,
  unreachable: true,
  participating: true,
  impaired: true,
  down: true,
  running: true,
};

/** The cells of the tables under a heading, but for their heads. */
function rows(heading: string): readonly (readonly string[])[] {
  const section = spec.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  const lines = section.split('\n');
  return lines
    .filter(
      (line, index) => line.startsWith('| ') && !line.startsWith('| ---') && !lines[index + 1]?.startsWith('| ---'),
    )
    .map((line) => line.slice(2, -2).split(' | '));
}

const named = (cell: string | undefined): string | null => /^`(\w+)`$/.exec(cell ?? '')?.[1] ?? null;
const names = (heading: string): readonly string[] => rows(heading).flatMap(([cell]) => named(cell) ?? []);

describe('SPEC.md', () => {
  it('names every hold that the code knows, once, and no other', () => {
    expect([...names('Holds')].sort()).to.deep.equal(Object.keys(holdRules).sort());
  });

  it('names every rule of a step and every reason to take a demotion back, and no other', () => {
    const expected = [...Object.keys(stepRules), ...Object.keys(takeBackReasons)].sort();
    expect([...names('Steps')].sort()).to.deep.equal(expected);
  });

  it('says of each rule which step it takes', () => {
    for (const [cell, kind] of rows('Steps')) {
      const rule = named(cell) ?? '';
      if (rule in stepRules) expect([rule, kind]).to.deep.equal([rule, stepRules[rule as StepRule]]);
    }
  });

  it('names every state of a member in the order of the questions', () => {
    const states = rows('Inputs').flatMap(([cell]) => cell?.split(', ') ?? []);
    expect(states).to.deep.equal(['leaving', 'unreachable', 'participating', 'impaired', 'down', 'running']);
    expect(states.toSorted()).to.deep.equal(Object.keys(memberStates).sort());
  });

  const procedures = { Procedure: 'onDelete', 'Partition mode': 'partition', 'Where MOCO drives': 'observe' };
  for (const [heading, procedure] of Object.entries(procedures)) {
    it(`has the procedure line by line in the order of the code: ${procedure}`, () => {
      const code = read('src/core/decide.ts');
      const chain = new RegExp(`const ${procedure}: [^=]*= \\[\\n(.*?)\\n\\];`, 's').exec(code)?.[1] ?? '';
      const lines = chain.split('\n').map((line) => /held\((\w+)\(|^\s*(\w+),/.exec(line)?.slice(1).find(Boolean));
      expect(lines).not.to.deep.equal([undefined]);
      expect(names(heading)).to.deep.equal(lines);
    });
  }

  it('has the holds of each chain in the order of the code', () => {
    const code = read('src/core/holds.ts');
    for (const chain of ['untouchable', 'everything', 'unfinished']) {
      const body = new RegExp(`const ${chain}: [^=]*= \\[\\n(.*?)\\n\\];`, 's').exec(code)?.[1] ?? '';
      const rules = [...body.matchAll(/^\s*(\w+),/gm)].map(
        ([, name = '']) => name.charAt(0).toUpperCase() + name.slice(1),
      );
      expect(rules, chain).not.to.deep.equal([]);
      expect(names('Holds').filter((rule) => rules.includes(rule))).to.deep.equal(rules);
    }
  });

  it('marks the holds that the user can switch off, and no other', () => {
    const marked = rows('Holds').flatMap(([cell, meaning]) => (meaning?.startsWith('◇ ') ? (named(cell) ?? []) : []));
    const expected = Object.entries(overridable).flatMap(([rule, yes]) => (yes ? [rule] : []));
    expect(marked.toSorted()).to.deep.equal(expected.toSorted());
  });

  it('numbers its invariants and points to files and functions that exist', () => {
    const found = rows('Invariants');
    const numbers = found.map(([cell]) => /^(I\d+b?) /.exec(cell ?? '')?.[1]);
    expect(numbers).to.deep.equal('I1 I2 I2b I3 I4 I5 I6 I7 I8 I9 I10 I11 I12 I15'.split(' '));
    for (const [, enforced = '', checked = ''] of found) {
      const sources = [...enforced.matchAll(/`([\w-]+\.ts)`/g)].map(([, file]) => `src/core/${file}`);
      const tests = [...checked.matchAll(/`([\w/-]+\.test\.ts)`/g)].map(([, file]) => `test/${file}`);
      expect(sources).not.to.deep.equal([]);
      expect(tests).not.to.deep.equal([]);
      for (const path of [...sources, ...tests]) expect(existsSync(new URL(path, root)), path).to.equal(true);
      const functions = [...enforced.matchAll(/`([\w-]+\.ts)` ([a-z]\w+(?:, [a-z]\w+)*)/g)];
      for (const [, file = '', list = ''] of functions) {
        for (const name of list.split(', '))
          expect(read(`src/core/${file}`), file).to.match(new RegExp(`\\b${name}\\b`));
      }
    }
  });
});
