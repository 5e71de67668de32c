import type { Ground } from './ground.ts';
import { departures, observe, podHistories, Revisions } from './observed.ts';
import { type Deed, Player } from './script.ts';

/** What a script has come to: for each deed the answer and how things were afterwards; then each pod's history. */
export interface Played {
  readonly deeds: readonly { readonly deed: string; readonly answer: string; readonly afterwards: string }[];
  readonly pods: Readonly<Record<string, readonly string[]>>;
  readonly departures: readonly string[];
}

/** Plays a script; `expected` is the result on another ground. */
export async function play(ground: Ground, script: readonly Deed[], expected: Played | null): Promise<Played> {
  const player = new Player(ground);
  const revisions = new Revisions();
  const deeds: Played['deeds'][number][] = [];
  const look = async (): Promise<string> => {
    try {
      const pods = ground.pods();
      const ends = Object.entries(podHistories(pods, revisions)).map(([name, history]) => `${name} ${history.at(-1)}`);
      return [await observe(ground, revisions), ...ends.toSorted()].join('\n');
    } catch {
      return 'not everything is there';
    }
  };
  for (const [index, [deed, act]] of script.entries()) {
    const answer = await act(player);
    const afterwards = await ground.settle(look, expected?.deeds[index]?.afterwards ?? null);
    deeds.push({ deed, answer, afterwards });
  }
  const versions = ground.pods();
  return { deeds, pods: podHistories(versions, revisions), departures: departures(versions) };
}
