import { expect } from 'chai';
import { isSameRecord, recordAfter } from '../../src/core/data.ts';
import type { ClaimEvidence, DataRecord } from '../../src/core/snapshot.ts';
import { type ClusterBuilder, cluster, three } from './cluster-builder.ts';
import { dataRecord, type MemberBuilder, member, revisionAfter, revisionBefore } from './member-builder.ts';
import { decideCase } from './table.ts';

/** Three members that wait for the update of a paused rollout, while new pods start at the revision they have. */
const kept = () =>
  cluster(3)
    .templateChanged()
    .but({ strategyKeeper: 'policy' })
    .memory({ waiting: [0, 1, 2] })
    .keepingRevisions();

const works = (revision: string) => ({ ...dataRecord(revision), worked: true });

/** Member 1 works at its revision, and its claim was read so many seconds ago. */
const claimSays = (record: DataRecord | null, ageSeconds = 0) =>
  kept().members(
    member(1)
      .stale()
      .data({ lastRun: works(revisionBefore), record, ageSeconds }),
  );

const asked = (given: ClusterBuilder) =>
  decideCase({ given, settings: { paused: true } }).asks.find((one) => one.kind === 'data');

const noted = (given: ClusterBuilder): readonly (readonly [number, string])[] =>
  (asked(given)?.notes ?? []).map(({ ordinal, revision }) => [ordinal, revision]);

describe('the claims of members that wait for the update', () => {
  it('are read once while new pods start at the current revision', () => {
    expect(asked(kept())?.members).to.deep.equal([0, 1, 2]);
    expect(asked(claimSays(dataRecord(revisionBefore), 100_000))?.members).to.deep.equal([0, 2]);
  });

  it('are not read in a rollout that keeps no revision', () => {
    const rolling = cluster(3)
      .templateChanged()
      .memory({ waiting: [0, 1, 2] });
    expect(asked(rolling)).to.equal(undefined);
  });

  it('get a note of the mysqld that works if they name none, or an earlier one', () => {
    expect(noted(claimSays(null))).to.deep.equal([[1, revisionBefore]]);
    expect(noted(claimSays(dataRecord('long-ago')))).to.deep.equal([[1, revisionBefore]]);
  });

  it('get no second note, and keep that of the update revision', () => {
    expect(noted(claimSays(dataRecord(revisionBefore)))).to.deep.equal([]);
    expect(noted(claimSays(dataRecord(revisionAfter)))).to.deep.equal([]);
  });

  const killed = { killed: true } as const;
  const ofItsEnd = (given: ClusterBuilder) =>
    (asked(given)?.notes ?? []).map((note) => [note.ordinal, note.killed, note.onlyKilled]);
  /** No rollout is under way. */
  const atRest = (lastRun: DataRecord, record: DataRecord | null) =>
    three(member(0), member(1).data({ lastRun: { ...lastRun, worked: true }, record }), member(2)).memory({
      waiting: null,
    });

  it('get a note of a mysqld that was killed at any time, and another one once it is ready again', () => {
    const data = dataRecord(revisionAfter);
    expect(ofItsEnd(atRest({ ...data, ...killed }, data))).to.deep.equal([[1, true, true]]);
    expect(ofItsEnd(atRest({ ...data, ...killed }, { ...data, ...killed }))).to.deep.equal([]);
    expect(ofItsEnd(atRest(data, { ...data, ...killed }))).to.deep.equal([[1, undefined, true]]);
    expect(ofItsEnd(atRest(data, data))).to.deep.equal([]);
    expect(ofItsEnd(atRest(data, null))).to.deep.equal([]);
  });

  it('get no note of a killed mysqld that was never seen to work: the data may be of a newer one', () => {
    const lastRun = { ...dataRecord(revisionBefore), ...killed, worked: false };
    expect(ofItsEnd(kept().members(member(1).stale().data({ lastRun, record: null })))).to.deep.equal([]);
  });

  const asksFor = (claim: ClaimEvidence, ageSeconds: number, ...missing: readonly number[]) =>
    asked(
      kept()
        .missing(...missing)
        .members(member(2).stale().data({ record: null, claim, ageSeconds })),
    )?.members.includes(2);

  it('are read again five seconds after a claim did not exist or had no volume, and as soon as its member has a pod', () => {
    expect([0, 4.9, 5].map((age) => asksFor('missing', age, 2))).to.deep.equal([false, false, true]);
    expect([0, 4.9, 5].map((age) => asksFor('unbound', age, 2))).to.deep.equal([false, false, true]);
    expect([0, 4.9, 5].map((age) => asksFor('unbound', age))).to.deep.equal([false, false, true]);
    expect(asksFor('missing', 0)).to.equal(true);
    expect([0, 59, 60].map((age) => asksFor('madeForPod', age))).to.deep.equal([false, false, true]);
  });

  it('are read again after a minute if no member is stale, because then the revision of a new pod is certain', () => {
    const updated = (ageSeconds: number) =>
      cluster(3)
        .missing(2)
        .members(member(2).data({ record: null, claim: 'missing', ageSeconds }));
    expect([5, 59, 60].map((age) => asked(updated(age))?.members.includes(2) ?? false)).to.deep.equal([
      false,
      false,
      true,
    ]);
  });

  it('are read before a release, which depends on them', () => {
    for (const mode of ['Partition', 'MOCO'] as const) {
      const { asks, asksAgain } = decideCase({
        given: kept().members(member(2).stale().down('ErrImagePull').dataUnknown()),
        settings: { mode },
      });
      const ofData = [...asks, ...asksAgain].filter((one) => one.kind === 'data');
      expect(ofData.map(({ members }) => members.includes(2))).to.deep.equal([true, true]);
    }
  });

  it('get a note of the first pod of a new member, which replaces no other record', () => {
    const first = (change: (one: MemberBuilder) => MemberBuilder = (one) => one) =>
      kept().members(change(member(1).stale()).data({ record: null, claim: 'madeForPod' }));
    expect(noted(first())).to.deep.equal([[1, revisionBefore]]);
    const withoutVolume = (ageSeconds: number) =>
      kept().members(member(1).stale().starting().data({ record: null, claim: 'unbound', ageSeconds }));
    expect(noted(withoutVolume(0))).to.deep.equal([[1, revisionBefore]]);
    expect(noted(withoutVolume(5))).to.deep.equal([]);
    const note = asked(first())?.notes[0];
    expect(note?.onlyFirst).to.equal(true);
    const newer = dataRecord(revisionAfter);
    expect(note && recordAfter(newer, note)).to.deep.equal(newer);
    expect(note && recordAfter(null, note)).to.include({ revision: revisionBefore });
    expect(noted(first((one) => one.updated()))).to.deep.equal([]);
    expect(noted(first().statefulSet({ newPods: 'UpdateRevision', strategy: 'OnDelete' }))).to.deep.equal([]);
  });

  it('get no note before they were read, nor of a mysqld that has only started', () => {
    expect(noted(kept())).to.deep.equal([]);
    const started = { ...dataRecord(revisionBefore), worked: false };
    expect(noted(kept().members(member(1).stale().data({ lastRun: started, record: null })))).to.deep.equal([]);
  });
});

describe('the record of a claim', () => {
  const killed = { killed: true } as const;
  const run = (revision: string, version: string | null, worked = false) => ({
    ordinal: 1,
    revision,
    image: null,
    version,
    worked,
  });
  const record = (revision: string, version: string | null) => ({ revision, image: null, version });
  const known = record('before', '8.4.9');

  it('is replaced by what may be about to start on the data, and upgrade them', () => {
    for (const version of ['8.4.9', '8.4.10', '9.7.0', '9.7', null]) {
      expect(recordAfter(known, run('next', version)), String(version)).to.deep.equal(record('next', version));
    }
    expect(recordAfter(record('before', null), run('next', '8.4.1'))).to.deep.equal(record('next', '8.4.1'));
    expect(recordAfter(null, run('next', '8.4.1'))).to.deep.equal(record('next', '8.4.1'));
  });

  it('is replaced by an earlier version only once that works', () => {
    for (const version of ['8.4.8', '8.0.46', '8.3']) {
      expect(recordAfter(known, run('next', version)), version).to.deep.equal(known);
      expect(recordAfter(known, run('next', version, true)), version).to.deep.equal(record('next', version));
    }
    expect(recordAfter(known, { ...run('next', '8.4.8'), ...killed })).to.deep.equal({ ...known, ...killed });
  });

  it('keeps its mysqld if only the end of that is to be noted', () => {
    const ready = { ...run('next', '8.4.8', true), onlyKilled: true } as const;
    const end = { ...ready, ...killed };
    expect(recordAfter(known, end)).to.deep.equal({ ...known, ...killed });
    expect(recordAfter({ ...known, ...killed }, ready)).to.deep.equal(known);
    expect(recordAfter(null, end)).to.deep.equal({ ...record('next', '8.4.8'), ...killed });
  });

  it('is not due again where an earlier version would leave it as it is', () => {
    const rolling = (version: string) =>
      cluster(3)
        .templateChanged()
        .memory({ waiting: [0, 1, 2] })
        .members(
          member(1).data({
            lastRun: { ...record(revisionAfter, version), worked: false },
            record: record('long-ago', '8.4.9'),
          }),
        );
    expect(noted(rolling('8.4.8'))).to.deep.equal([]);
    expect(noted(rolling('8.4.10'))).to.deep.equal([[1, revisionAfter]]);
  });

  it('is the same with the same revision, image, version and end alone', () => {
    expect(isSameRecord({ ...known }, known)).to.equal(true);
    expect(isSameRecord(null, known)).to.equal(false);
    for (const other of [{ revision: 'a' }, { image: 'another' }, { version: null }, killed])
      expect(isSameRecord({ ...known, ...other }, known)).to.equal(false);
  });
});
