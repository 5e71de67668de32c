import { expect } from 'chai';
import type { Host } from '../../src/cli/host.ts';
import { displayOf } from '../../src/cli/terminal/live.ts';

describe('what is written into a pipe while something is watched', () => {
  it('is a line for each change, except for a mere change of the place in a queue', () => {
    const lines: string[] = [];
    const host = { terminal: () => null, wall: () => 0, out: (text: string) => void lines.push(text) };
    const show = displayOf<string>(
      host as unknown as Host,
      () => [],
      (text) => [{ key: 'a', text }],
    );
    const queued = (place: number, stale: number): string =>
      `${stale} stale  AwaitingFleetSlot: 5 clusters may be rolling at a time; this one is number ${place} in the queue`;
    for (const text of [queued(12, 3), queued(11, 3), queued(3, 3), queued(3, 2), '2 stale', queued(1, 2)])
      show([text]);
    const written = [queued(12, 3), queued(3, 2), '2 stale', queued(1, 2)];
    expect(lines).to.deep.equal(written.map((text) => `1970-01-01T00:00:00Z  ${text}\n`));
  });
});
