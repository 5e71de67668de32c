import { expect } from 'chai';
import { hasOpening } from '../../src/core/maintenance.ts';
import { defaultPolicy } from '../../src/core/policy.ts';
import { cluster, lastOne, stale, three } from './cluster-builder.ts';
import { member } from './member-builder.ts';
import { check, decideCase, deletes, demotes, evicts, holds, lowers, notYet, play, takesBack, when } from './table.ts';

const over = (): [number, number] => [-7200, -1];
/** No window is left that is known of. */
const outside = (neededSeconds = 100, opensAt: string | null = null) =>
  holds({ rule: 'OutsideMaintenanceWindow', closesAt: null, neededSeconds, opensAt });

describe('outside of the maintenance windows', () => {
  play({
    'a replica waits': when(stale().maintenance([]), outside()),
    'a replica waits for the next window that is long enough': when(
      stale().maintenance([
        [60, 159],
        [300, 400],
      ]),
      outside(100, 'T+300'),
      {},
      300,
    ),
    'a replica goes as soon as the window opens': when(stale().maintenance([[0, 100]]), evicts('ReplicaHealthy', 2)),
    'the primary waits': when(lastOne().maintenance([]), outside(190)),
    'the primary waits unless the switchover fits as well': when(
      lastOne().maintenance([[-60, 189]]),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: 'T+189', neededSeconds: 190, opensAt: null }),
    ),
    'the primary is demoted if both fit': when(lastOne().maintenance([[-60, 190]]), demotes(0)),
    'a single member needs no switchover': when(stale(1).maintenance([[0, 100]]), evicts('SingleMember', 0)),
    'a switchover that is under way continues': when(
      three(member(0).stale().demotedByUs()).maintenance([over()]),
      holds({ rule: 'AwaitingSwitchover', member: 0, timeoutSeconds: 90 }),
    ),
    'a demotion is taken back when its time is over': when(
      three(member(0).stale().demotedByUs(90)).maintenance([over()]),
      takesBack(0, 'TimedOut'),
    ),
    'the mark stays with the old primary until its turn comes': when(
      lastOne().primaryAt(1).members(member(0).stale().markAlone()).maintenance([]),
      outside(),
    ),
    'members that are down are replaced': when(
      stale().members(member(1).down('ImagePullBackOff')).maintenance([over()]),
      deletes('MemberDown', 1),
    ),
    'a member that crash-loops is replaced': when(
      stale().members(member(1).lagging().crashLooping()).maintenance([]),
      deletes('MemberNotParticipating', 1),
    ),
    'a member that lags behind waits, since it may catch up': when(
      stale().members(member(1).lagging()).maintenance([]),
      outside(),
    ),
    'an impaired member waits, since its mysqld works': when(
      stale().members(member(1).impaired('slow-log')).maintenance([]),
      outside(),
    ),
    'a primary that leads from elsewhere without its agent waits, since its mysqld works': when(
      stale(1)
        .members(member(0).agentDead())
        .mysqlCluster({
          replicatesFromElsewhere: true,
          primaryUnavailableForSeconds: null,
          primarySettledForSeconds: 600,
        })
        .maintenance([]),
      outside(),
    ),
    'a primary that does not participate is replaced': when(
      lastOne().members(member(0).stale().lagging()).primaryUnavailableFor(180).maintenance([]),
      deletes('PrimaryNotParticipating', 0),
    ),
    'an updated member that does not participate yet is what the rollout waits for': when(
      stale().members(member(2).updated().lagging()).maintenance([]),
      notYet(2, 'running'),
    ),
    'a partition waits': when(stale().atPartition(3).maintenance([]), outside(), { mode: 'Partition' }),
    'a partition that replaces no member is lowered': when(
      stale().atPartition(3).members(member(2).updated()).maintenance([]),
      lowers('AlreadyUpdated', 2),
      { mode: 'Partition' },
    ),
    'nothing waits where nothing is due': when(cluster(3).maintenance([]), 'idle', {}, 86_400),
  });

  it('does not count as a lack of progress', () => {
    const given = stale().maintenance([]).memory({ sinceProgressSeconds: 1e6 });
    expect(decideCase({ given }).progressDeadlineExceeded).to.equal(false);
  });
});

describe('a blackout', () => {
  const blackout = (from: number, until: number, opensAt: string | null, neededSeconds = 100) => {
    const [begin, end] = [from, until].map((seconds) => `T${seconds < 0 ? '' : '+'}${seconds}`);
    return holds({
      rule: 'Blackout',
      from: begin ?? '',
      until: end ?? '',
      reason: 'sales',
      begun: from <= 0,
      neededSeconds,
      opensAt,
    });
  };
  play({
    'holds from its first moment': when(stale().maintenance(null, [0, 60]), blackout(0, 60, 'T+60')),
    'holds no longer in its last moment': when(stale().maintenance(null, [-60, 0]), evicts('ReplicaHealthy', 2)),
    'holds what would not be over before it': when(
      lastOne().maintenance(null, [150, 200]),
      blackout(150, 200, 'T+200', 190),
    ),
    'ends where no other begins too soon': when(
      stale().maintenance(null, [-60, 60], [120, 300]),
      blackout(-60, 60, 'T+300'),
    ),
    'takes a part of a window': when(stale().maintenance([[-60, 400]], [-60, 250]), blackout(-60, 250, 'T+250')),
    'may need too much of a window': when(
      stale().maintenance(
        [
          [-60, 400],
          [1000, 2000],
        ],
        [-60, 301],
      ),
      blackout(-60, 301, 'T+1000'),
    ),
    'is named rather than a window that is closed as well': when(
      stale().maintenance([[500, 900]], [-60, 60]),
      blackout(-60, 60, 'T+500'),
    ),
    'is not named while a window closes before it': when(
      stale().maintenance([[-60, 50]], [60, 90]),
      holds({ rule: 'OutsideMaintenanceWindow', closesAt: 'T+50', neededSeconds: 100, opensAt: null }),
    ),
    'holds although the windows are overridden': when(stale().maintenance([], [-60, 60]), blackout(-60, 60, 'T+60'), {
      overrides: [{ rule: 'OutsideMaintenanceWindow', remainingSeconds: 600 }],
    }),
    'is no reason to leave a member down': when(
      stale().members(member(1).down('ImagePullBackOff')).maintenance(null, [-60, 60]),
      deletes('MemberDown', 1),
    ),
  });

  it('does not open the windows when it is overridden', () => {
    check(
      when(stale().maintenance([], [-60, 60]), outside(), { overrides: [{ rule: 'Blackout', remainingSeconds: 600 }] }),
    );
  });
});

describe('the openings of the next 30 days', () => {
  const suffices = (...windows: readonly (readonly [number, number])[]): boolean =>
    hasOpening(stale().maintenance(windows).facts(), defaultPolicy);

  it('suffice if the update of the primary fits into one of them', () => {
    expect(suffices([60, 249])).to.equal(false);
    expect(suffices([60, 249], [500, 690])).to.equal(true);
    expect(suffices()).to.equal(false);
  });

  it('suffice if there are no windows', () => {
    expect(hasOpening(stale().facts(), defaultPolicy)).to.equal(true);
    expect(hasOpening(stale().maintenance(null, [-60, 1e9]).facts(), defaultPolicy)).to.equal(true);
  });

  it('need no time for a switchover where there is one member', () => {
    expect(
      hasOpening(
        cluster(1)
          .maintenance([[0, 100]])
          .facts(),
        defaultPolicy,
      ),
    ).to.equal(true);
  });
});
