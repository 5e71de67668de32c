import { expect } from 'chai';
import type { DataRecord } from '../../src/core/snapshot.ts';
import { type ClusterBuilder, cluster } from './cluster-builder.ts';
import { dataRecord, member, revisionAfter, revisionBefore } from './member-builder.ts';
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

  it('get no note before they were read, nor of a mysqld that has only started', () => {
    expect(noted(kept())).to.deep.equal([]);
    const started = { ...dataRecord(revisionBefore), worked: false };
    expect(noted(kept().members(member(1).stale().data({ lastRun: started, record: null })))).to.deep.equal([]);
  });
});
