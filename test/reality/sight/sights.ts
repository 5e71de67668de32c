import { beginMeasure, type Measure, measured } from './measure.ts';
import type { MemberSight, Sight } from './sight.ts';

export const oldRevision = 'moco-test-5897fd84f8';
export const newRevision = 'moco-test-7966559688';

/** A member that participates at the old revision, unless told. */
export function member(ordinal: number, changes: Partial<MemberSight> = {}): MemberSight {
  return {
    ordinal,
    name: `moco-test-${ordinal}`,
    uid: `old-${ordinal}`,
    revision: oldRevision,
    role: ordinal === 0 ? 'primary' : 'replica',
    ready: true,
    terminating: false,
    state: 'participating',
    demoted: false,
    ...changes,
  };
}

export function updated(ordinal: number, changes: Partial<MemberSight> = {}): MemberSight {
  return member(ordinal, { uid: `new-${ordinal}`, revision: newRevision, ...changes });
}

export function terminating(ordinal: number): MemberSight {
  return member(ordinal, { terminating: true, state: 'terminating' });
}

export function missing(ordinal: number): MemberSight {
  return member(ordinal, { uid: null, revision: null, role: null, ready: false, state: 'missing' });
}

export function starting(ordinal: number): MemberSight {
  return updated(ordinal, { role: null, ready: false, state: 'starting' });
}

/** Three members, the first of them primary, in the middle of nothing. */
export function sight(atMilliseconds: number, changes: Partial<Sight> = {}): Sight {
  return {
    atMilliseconds,
    name: 'test',
    generation: 2,
    members: [member(0), member(1), member(2)],
    primary: 0,
    healthy: true,
    available: true,
    updateRevision: newRevision,
    complete: false,
    status: null,
    ...changes,
  };
}

/** What is measured of sights that follow each other; the change was sent at 0. */
export function measureOf([first = sight(0), ...rest]: readonly Sight[]): Measure {
  return rest.reduce(measured, beginMeasure(first, 0));
}

/** A whole rollout of three members, as a healthy one goes. */
export function healthyRollout(): readonly Sight[] {
  const settled = {
    members: [member(0, { role: 'replica' }), updated(1, { role: 'primary' }), updated(2)],
    primary: 1,
  };
  const rest = [updated(1, { role: 'primary' }), updated(2)];
  return [
    sight(0, { updateRevision: oldRevision, complete: true }),
    sight(100),
    sight(200, { members: [member(0), member(1), terminating(2)] }),
    sight(900, { members: [member(0), member(1), missing(2)] }),
    sight(950, { members: [member(0), member(1), starting(2)] }),
    sight(2300, { members: [member(0), member(1), updated(2)] }),
    sight(2400, { members: [member(0), terminating(1), updated(2)] }),
    sight(3100, { members: [member(0), starting(1), updated(2)] }),
    sight(4600, { members: [member(0), updated(1), updated(2)] }),
    sight(4700, { members: [member(0, { demoted: true }), updated(1), updated(2)] }),
    sight(4900, { members: [member(0, { demoted: true }), updated(1), updated(2)], primary: 1 }),
    sight(4950, { members: [member(0), updated(1), updated(2)], primary: 1, healthy: false }),
    sight(5000, { ...settled, healthy: false }),
    sight(5100, settled),
    sight(5200, {
      members: [member(0, { role: 'replica', terminating: true, state: 'terminating' }), ...rest],
      primary: 1,
    }),
    sight(5900, { members: [starting(0), ...rest], primary: 1 }),
    sight(7300, { members: [updated(0, { role: 'replica' }), ...rest], primary: 1 }),
    sight(7400, { members: [updated(0, { role: 'replica' }), ...rest], primary: 1, complete: true }),
  ];
}
