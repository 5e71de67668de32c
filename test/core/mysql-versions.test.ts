import { expect } from 'chai';
import { decide } from '../../src/core/decide.ts';
import {
  clones,
  explainRefusedOpening,
  type MysqlVersion,
  opens,
  parseMysqlVersion,
  recovers,
  replicates,
} from '../../src/core/mysql-versions.ts';
import { versionNotes, versionWarnings } from '../../src/core/mysqld-data.ts';
import type { CloneReading } from '../../src/core/on-demand-facts.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { survey } from '../../src/core/situation.ts';
import { type ClusterBuilder, stale, three } from './cluster-builder.ts';
import { dataRecord, member, revisionAfter, revisionBefore } from './member-builder.ts';
import { deletes, demotes, evicts, holds, play, when } from './table.ts';

const version = (text: string): MysqlVersion | null => (text === '?' ? null : parseMysqlVersion(text));

/** What the manual says of data that one version has opened, and a mysqld of another: yes, no, or that is not known. */
const matrix = `
data     8.0.28 8.0.40 8.3.0 8.4.0 8.4.9 9.2.0 9.7.4 26.7.0
8.0.28   yes    yes    yes   yes   yes   no    no    no
8.0.40   no     yes    yes   yes   yes   no    no    no
8.0.35   no     yes    yes   yes   yes   no    no    no
8.3.0    no     no     yes   yes   yes   no    no    no
8.4.0    no     no     no    yes   yes   yes   yes   no
8.4.9    no     no     no    yes   yes   yes   yes   no
9.2.0    no     no     no    no    no    yes   yes   no
9.7.4    no     no     no    no    no    no    yes   ?
26.7.0   no     no     no    no    no    no    no    yes
26.10.0  no     no     no    no    no    no    no    no
?        ?      ?      ?     ?     ?     ?     ?     ?`;

const [header = [], ...rows] = matrix
  .trim()
  .split('\n')
  .map((row) => row.split(/\s+/));
const words = new Map<boolean | null, string>([
  [true, 'yes'],
  [false, 'no'],
  [null, '?'],
]);

describe('which mysqld opens which data', () => {
  for (const [data = '', ...cells] of rows) {
    it(`of ${data}`, () => {
      const found = header.slice(1).map((mysqld) => words.get(opens(version(data), version(mysqld)).allowed));
      expect(found).to.deep.equal(cells);
    });
  }

  const more: Readonly<Record<string, readonly [data: string, mysqld: string, allowed: boolean | null]>> = {
    'within 8.0 goes back to 8.0.35': ['8.0.42', '8.0.35', true],
    'within 8.0 goes back to nothing before': ['8.0.42', '8.0.34', false],
    'within 8.4 goes both ways': ['8.4.9', '8.4.0', true],
    'within 9.7 goes both ways': ['9.7.4', '9.7.0', true],
    'within an innovation series does not go back': ['9.1.1', '9.1.0', false],
    'within an innovation series continues': ['9.1.0', '9.1.1', true],
    'from an innovation release goes to the next series with long-term support': ['9.6.0', '9.7.0', true],
    'from an innovation release goes no further': ['8.3.0', '9.0.0', false],
    'is not known within 8.0 without a patch release': ['8.0', '8.0.40', null],
    'does not need a patch release within 8.4': ['8.4', '8.4.1', true],
    'does not need a patch release between series': ['8.4', '8.0', false],
    'is not known between calendar versions': ['26.7.0', '26.10.0', null],
    'is not known within a calendar version': ['26.7.1', '26.7.0', null],
  };
  for (const [sentence, [data, mysqld, allowed]] of Object.entries(more)) {
    it(sentence, () => expect(opens(version(data), version(mysqld)).allowed).to.equal(allowed));
  }

  it('has a sentence for each refusal, and none for anything else', () => {
    expect(explainRefusedOpening('8.4.9', '8.4.8')).to.equal(null);
    expect(explainRefusedOpening('latest', '8.4.8')).to.equal(null);
    expect(explainRefusedOpening('9.7.4', '8.4.9')).to.equal(
      'mysqld 8.4.9 refuses data that mysqld 9.7.4 has opened: MySQL does not support downgrades to an older series',
    );
    expect(explainRefusedOpening('8.0.40', '8.0.28')).to.match(/downgrades within 8\.0 to a release before 8\.0\.35$/);
    expect(explainRefusedOpening('9.1.1', '9.1.0')).to.match(/downgrades within the innovation series 9\.1$/);
    expect(explainRefusedOpening('8.0.40', '9.7.4')).to.match(/upgrades that skip a series, so upgrade to 8\.4 first$/);
    expect(explainRefusedOpening('8.4.9', '26.7.0')).to.match(/upgrade to 9\.7 first$/);
  });
});

describe('a version of MySQL', () => {
  it('is read from the beginning of a text', () => {
    expect(parseMysqlVersion('8.4.8.1')).to.deep.equal({ major: 8, minor: 4, patch: 8 });
    expect(parseMysqlVersion('v8.0.36-28')).to.deep.equal({ major: 8, minor: 0, patch: 36 });
    expect(parseMysqlVersion('9.7')).to.deep.equal({ major: 9, minor: 7, patch: null });
    expect(parseMysqlVersion('26.10.0')).to.deep.equal({ major: 26, minor: 10, patch: 0 });
  });

  it('is nothing that MySQL has never called a release', () => {
    for (const text of [
      '',
      'latest',
      '8',
      '5.7.44',
      '8.5.0',
      '9.8.0',
      '10.11.6',
      '25.7.0',
      '26.1.0',
      '26.13.0',
      '2026.7.1',
      '8.4.1234',
    ])
      expect(parseMysqlVersion(text), text).to.equal(null);
  });
});

describe('a clone', () => {
  const cases: readonly (readonly [donor: string, recipient: string, clones: boolean | null])[] = [
    ['8.4.0', '8.4.9', true],
    ['8.4.9', '9.7.4', false],
    ['8.0.36', '8.0.42', false],
    ['8.0.36', '8.0.36', true],
    ['8.0.42', '8.0.37', true],
    ['8.0', '8.0.42', null],
    ['?', '8.4.9', null],
  ];
  for (const [donor, recipient, expected] of cases) {
    it(`of ${donor} by ${recipient}: ${words.get(expected)}`, () =>
      expect(clones(version(donor), version(recipient))).to.equal(expected));
  }
});

describe('a redo log that was not closed', () => {
  const cases: readonly (readonly [data: string, mysqld: string, reads: boolean | null])[] = [
    ['8.4.0', '8.4.9', true],
    ['8.0.28', '8.4.0', false],
    ['8.0.28', '8.0.28', true],
    ['8.0.29', '8.0.30', false],
    ['8.0.30', '8.0.42', true],
    ['8.0.40', '8.4.0', true],
    ['8.4.9', '9.7.4', true],
    ['9.7.4', '26.7.0', null],
    ['8.0', '8.4.0', null],
    ['8.0', '8.0.42', null],
    ['?', '8.4.9', null],
  ];
  for (const [data, mysqld, expected] of cases) {
    it(`of ${data}, by ${mysqld}: ${words.get(expected)}`, () =>
      expect(recovers(version(data), version(mysqld))).to.equal(expected));
  }
});

describe('which series replicates from which', () => {
  const cases: readonly (readonly [source: string, replica: string, expected: boolean | null])[] = [
    ['8.4.8', '8.4.0', true],
    ['8.0.40', '8.4.8', true],
    ['8.4.0', '8.0.42', false],
    ['9.7.0', '9.2.0', false],
    ['26.7.0', '9.7.4', false],
    ['?', '8.4.8', null],
    ['8.4.8', '?', null],
  ];
  for (const [source, replica, expected] of cases) {
    it(`${replica} from ${source}: ${words.get(expected)}`, () =>
      expect(replicates(version(source), version(replica))).to.equal(expected));
  }
});

const uncloneable = (ordinal: number, donor: string, mysqld: string) =>
  holds({ rule: 'CloneImpossible', member: ordinal, donor, mysqld });
const copying = (reading: CloneReading) => member(2).stale().lagging(7200).clone(reading);
const givenUp = (...rules: readonly string[]) => ({
  overrides: rules.map((rule) => ({ rule, remainingSeconds: 60 })),
});
const killedData = { record: { ...dataRecord(revisionBefore), version: '8.0.28', killed: true } } as const;
const neverStarted = (ordinal: number) => member(ordinal).stale().mysqld('8.0.28').down('ImagePullBackOff');
const killed = (ordinal: number) => member(ordinal).stale().mysqld('8.0.28').but({ mysqldKilled: true });
const crashing = (ordinal: number, data: string | null) =>
  member(ordinal).stale().mysqld(data).down('CrashLoopBackOff');
const refused = (ordinal: number) =>
  holds({ rule: 'VersionRefused', member: ordinal, data: '8.4.8', mysqld: '8.0.42' });
const logOf = (ordinal: number, before: string | null, after: string | null) =>
  holds({ rule: 'RedoLogOpen', member: ordinal, works: false, before, after, killed: false });

describe('a rollout of another version', () => {
  play({
    'replaces no working member while the data of another member forbid it': when(
      stale().members(member(2).stale().mysqld('8.0.40')).toMysqld('8.0.42'),
      refused(0),
    ),
    'waits for no pinned member': when(
      stale().members(member(0).stale().mysqld('8.0.40'), member(2).stale().mysqld('8.0.40')).toMysqld('8.0.42'),
      evicts('ReplicaHealthy', 2),
      { pinnedOrdinals: [1] },
    ),
    'repairs a member whose own data allow it': when(
      stale().members(crashing(2, '8.0.40')).toMysqld('8.0.42'),
      deletes('MemberDown', 2),
    ),
    'repairs a member whose mysqld has never started': when(
      stale().members(member(2).stale().down('ImagePullBackOff').data({})).toMysqld('8.0.42'),
      deletes('MemberDown', 2),
    ),
    'knows the data of a member whose mysqld has never started in its pod by their record': when(
      stale().members(member(2).stale().down('ImagePullBackOff')).toMysqld('8.0.42'),
      refused(2),
    ),
    'brings no member that is down to a mysqld that refuses its data': when(
      stale().members(crashing(2, '8.4.8')).toMysqld('8.0.42'),
      refused(2),
    ),
    'continues if the version is not known': when(stale().toMysqld(null), evicts('ReplicaHealthy', 2)),
    'says that a member without its data could not be cloned': when(
      stale().members(member(2).stale().claimEnds()).toMysqld('9.7.4'),
      holds({
        rule: 'ClaimTerminating',
        member: 2,
        claims: [{ name: 'mysql-data-moco-test-2', state: 'terminating' }],
        uncloneable: { donor: '8.4.8', mysqld: '9.7.4' },
      }),
    ),
    'takes no member without its data that could not be cloned, although a person gives the data up': when(
      stale().members(member(2).stale().claimEnds()).toMysqld('9.7.4'),
      uncloneable(2, '8.4.8', '9.7.4'),
      givenUp('ClaimTerminating'),
    ),
    'nor within 8.0 before patch releases can clone each other': when(
      three(member(0).stale().mysqld('8.0.35'), member(1).stale(), member(2).stale().claimEnds()).toMysqld('8.0.36'),
      uncloneable(2, '8.0.35', '8.0.36'),
      givenUp('ClaimTerminating', 'VersionRefused'),
    ),
    'takes it if the primary can be cloned': when(
      stale().members(member(2).stale().claimEnds()).toMysqld('8.4.9'),
      evicts('ReplicaHealthy', 2),
      givenUp('ClaimTerminating'),
    ),
    'takes it if a person gives up the clone as well': when(
      stale().members(member(2).stale().claimEnds()).toMysqld('9.7.4'),
      evicts('ReplicaHealthy', 2),
      givenUp('ClaimTerminating', 'CloneImpossible'),
    ),
    'takes the primary, which the others do not clone': when(
      three(member(0).stale().claimEnds()).toMysqld('9.7.4'),
      demotes(0),
      givenUp('ClaimTerminating'),
    ),
    'replaces no replica during a clone that would have to start over at another series': when(
      three(member(0).stale(), member(1).stale(), copying({ kind: 'cloning' })).toMysqld('9.7.4'),
      uncloneable(2, '8.4.8', '9.7.4'),
      givenUp('Cloning'),
    ),
    'nor after a clone that never ended': when(
      three(member(0).stale(), member(1).stale(), copying({ kind: 'unfinished' })).toMysqld('9.7.4'),
      uncloneable(2, '8.4.8', '9.7.4'),
    ),
    'leaves a redo log of another format to its own mysqld': when(
      three(member(0).stale(), crashing(1, '8.0.28'), crashing(2, '8.0.28')).toMysqld('8.4.0'),
      logOf(1, '8.0.28', '8.4.0'),
    ),
    'replaces all members that are down if mysqld stays the same': when(
      three(member(0).stale(), crashing(1, '8.4.8'), crashing(2, '8.4.8')),
      deletes('MemberDown', 2, 1),
    ),
    'replaces one of two members that are down if the version is not known': when(
      three(member(0).stale(), crashing(1, '8.0.28'), crashing(2, '8.0.28')).toMysqld(null),
      deletes('MemberDown', 2),
    ),
    'waits with the second one for the first': when(
      three(member(0).stale(), crashing(1, '8.0.28'), member(2).updated().starting()).toMysqld(null),
      logOf(1, '8.0.28', null),
    ),
    'takes a member that works, although its mysqld was killed before': when(
      three(member(0).stale().mysqld('8.0.28'), member(1).stale().mysqld('8.0.28'), killed(2)).toMysqld('8.4.8'),
      evicts('ReplicaHealthy', 2),
    ),
    'takes no such member while another one has not come up at the new version': when(
      stale(5).members(killed(3), member(4).updated().starting()).toMysqld('8.4.8').memory({ verified: true }),
      holds({ rule: 'RedoLogOpen', member: 3, works: true, before: '8.0.28', after: '8.4.8', killed: true }),
      { maxUnavailable: 2 },
    ),
    'takes one whose redo log every version reads beside another one': when(
      stale(5)
        .members(member(3).stale().but({ mysqldKilled: true }), member(4).updated().starting())
        .toMysqld('8.4.9')
        .memory({ verified: true }),
      evicts('ReplicaHealthy', 3),
      { maxUnavailable: 2 },
    ),
    'leaves the log of a killed mysqld to its own version, although none has started in the next pod': when(
      three(member(0).stale(), member(1).stale(), neverStarted(2).data(killedData)).toMysqld('8.4.0'),
      holds({ rule: 'RedoLogOpen', member: 2, works: false, before: '8.0.28', after: '8.4.0', killed: true }),
    ),
    'takes the log for closed if nothing says that mysqld was killed': when(
      three(
        member(0).stale(),
        member(1).stale(),
        neverStarted(2).data({ record: { ...dataRecord(revisionBefore), version: '8.0.28' } }),
      ).toMysqld('8.4.0'),
      deletes('MemberDown', 2),
    ),
    'believes what it has seen more than the record: a mysqld that is ready has recovered its log': when(
      three(
        member(0).stale(),
        member(1).stale(),
        member(2)
          .stale()
          .data({ ...killedData, lastRun: { ...dataRecord(revisionBefore), worked: true } }),
      ).toMysqld('8.4.9'),
      evicts('ReplicaHealthy', 2),
    ),
    'leaves a member whose node does not answer to its own mysqld': when(
      three(member(0).stale(), member(1).stale(), member(2).stale().mysqld('8.0.28').unreachable()).toMysqld('8.4.0'),
      logOf(2, '8.0.28', '8.4.0'),
    ),
  });

  for (const [sentence, pod] of Object.entries({ 'is going': 'going', 'is gone': 'gone' })) {
    it(`lets no member come back at a version that cannot read the log of its killed mysqld: its pod ${sentence}`, () => {
      const lastRun = { ...killedData.record, worked: true };
      const builder = stale()
        .members(member(2).stale().mysqld('8.0.28').data({ lastRun }).terminating(5))
        .toMysqld('8.4.0')
        .memory({ verified: true, waiting: [0, 1, 2] });
      const facts = builder.facts();
      const members = pod === 'gone' ? facts.members.filter(({ ordinal }) => ordinal !== 2) : facts.members;
      const decided = (lastRuns: typeof facts.lastRuns) =>
        decide({ ...facts, members, lastRuns, strategyKeeper: 'policy' }, defaultPolicy).step;
      expect(decided(facts.lastRuns)).to.deep.include({ kind: 'setStrategy', newPods: 'CurrentRevision' });
      const closed = facts.lastRuns.map(({ killed: _, ...run }) => run);
      expect(decided(closed).kind).not.to.equal('setStrategy');
    });
  }

  it('lets no member whose pod another client deletes start on data that its mysqld refuses', () => {
    const taken = member(2).stale().terminating(5);
    const facts = stale()
      .members(taken)
      .toMysqld('8.0.42')
      .memory({ verified: true, waiting: [0, 1, 2] })
      .facts();
    const { step } = decide({ ...facts, strategyKeeper: 'policy' }, defaultPolicy);
    expect(step).to.deep.include({ kind: 'setStrategy', newPods: 'CurrentRevision' });
  });

  it('is restored whatever its redo log is', () => {
    const failed = member(2).updated().mysqld('8.4.9').down('CrashLoopBackOff');
    const restore = { revision: revisionAfter, ordinals: [2] };
    const { hold } = decide(stale().members(failed).toMysqld('8.0.42').facts(), { ...defaultPolicy, restore });
    expect(hold?.rule).not.to.match(/VersionRefused|RedoLogOpen/);
  });
});

describe('a cluster from which another one replicates', () => {
  const following = (version: string | null) => ({ replicaClusters: [{ cluster: 'shop/copy', version }] });

  play({
    'gets a newer patch release before it': when(
      stale().toMysqld('8.4.9').mysql(following('8.4.8')),
      evicts('ReplicaHealthy', 2),
    ),
    'is not held for a cluster whose version is unknown': when(
      stale().toMysqld('9.7.4').mysql(following(null)),
      evicts('ReplicaHealthy', 2),
    ),
    'gets a member back that does not work': when(
      three(member(0).stale(), member(1).stale(), member(2).stale().down('CrashLoopBackOff'))
        .toMysqld('9.7.4')
        .mysql(following('8.4.8')),
      deletes('MemberDown', 2),
    ),
  });

  it('lets no member whose pod another client deletes come up at the newer series', () => {
    const facts = stale()
      .members(member(2).stale().terminating(5))
      .toMysqld('9.7.4')
      .mysql(following('8.4.8'))
      .memory({ verified: true, waiting: [0, 1, 2] })
      .facts();
    const { step } = decide({ ...facts, strategyKeeper: 'policy' }, defaultPolicy);
    expect(step).to.deep.include({ kind: 'setStrategy', newPods: 'CurrentRevision' });
  });
});

describe('a version that no tag says', () => {
  const server = { image: 'mysql@sha256:cd', version: { version: '9.7.4', source: 'server' } } as const;

  play({
    'is what the new mysqld has said on a node': when(
      stale().toMysqld(null).preflight({ mysqldVersion: '8.0.40' }),
      holds({ rule: 'VersionRefused', member: 2, data: '8.4.8', mysqld: '8.0.40' }),
    ),
    'is what the new mysqld has said on a node, if the tag names a series alone': when(
      stale().members(member(2).stale().mysqld('8.0.40')).toMysqld('8.0').preflight({ mysqldVersion: '8.0.34' }),
      holds({ rule: 'VersionRefused', member: 2, data: '8.0.40', mysqld: '8.0.34' }),
    ),
    'is not what something else has said that is no version of MySQL': when(
      stale().toMysqld(null).preflight({ mysqldVersion: '10.11.6' }),
      evicts('ReplicaHealthy', 2),
    ),
    'is that of a member that runs the same image': when(
      three(member(0).stale().mysqld('8.0.40'), member(1).stale().mysqld('8.0.40'), member(2).updated())
        .toMysqld(null)
        .members(member(2).updated().but({ mysqld: server })),
      holds({ rule: 'VersionRefused', member: 1, data: '8.0.40', mysqld: '9.7.4' }),
    ),
  });
});

describe('what is said of versions', () => {
  const name = (ordinal: number): string => `moco-test-${ordinal}`;
  const situationOf = (given: ClusterBuilder) => survey(given.facts(), defaultPolicy);

  it('names each member whose data or redo log forbids it', () => {
    const given = three(member(0).stale(), member(1).updated(), crashing(2, '8.0.28')).toMysqld('8.0.42');
    expect(versionWarnings(situationOf(given), name)).to.deep.equal([
      'the update revision cannot start on the data of moco-test-0: mysqld 8.0.42 refuses data that mysqld 8.4.8 has opened: MySQL does not support downgrades to an older series',
      'moco-test-2 is down, and mysqld 8.0.28 may have left its redo log open: mysqld 8.0.42 cannot read a log of that format, so the member has to start at its own revision first',
    ]);
  });

  it('warns of a mysqld that was killed, where the redo log has another format', () => {
    const given = three(member(0).stale(), member(1).stale(), killed(2));
    expect(versionWarnings(situationOf(given.toMysqld('8.4.8')), name)).to.deep.equal([
      'mysqld 8.0.28 on moco-test-2 was killed (exit code 137). If it is killed again with its pod, it leaves its redo log open, and mysqld 8.4.8 may be unable to read it; raise terminationGracePeriodSeconds and the memory limit, or set innodb_fast_shutdown to 1, before the version changes',
    ]);
    const recent = three(member(0).stale(), member(1).stale(), member(2).stale().but({ mysqldKilled: true }));
    expect(versionWarnings(situationOf(recent.toMysqld('8.4.9')), name)).to.deep.equal([]);
  });

  it('says before the rollout that there is no way back', () => {
    expect(versionNotes(situationOf(stale().toMysqld('9.7.4')))).to.deep.equal([
      'there is no way back: mysqld 8.4.8 refuses data that mysqld 9.7.4 has opened',
    ]);
    expect(versionNotes(situationOf(stale().toMysqld('8.4.9')))).to.deep.equal([]);
    expect(versionNotes(situationOf(stale()))).to.deep.equal([]);
  });

  it('names the image that does not say its version', () => {
    expect(versionNotes(situationOf(stale().toMysqld(null)))).to.deep.equal([
      "MySQL's rules for upgrades are not checked, because mysql@sha256:cd does not say its version",
    ]);
  });
});
