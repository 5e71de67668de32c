import { frame } from './frame.ts';
import type { Output } from './output.ts';
import type { Moment } from './rollout.ts';
import { sceneOf } from './scene.ts';
import { Screen } from './screen.ts';
import { type Happening, happeningLine, happenings } from './story.ts';

/** A rollout as it goes: a frame that is redrawn on a terminal, a line for everything that happens elsewhere. */
export class Show {
  readonly #output: Output;
  readonly #story: Happening[] = [];
  #moment: Moment | null = null;
  #screen: Screen | null = null;

  constructor(output: Output) {
    this.#output = output;
  }

  readonly take = (now: Moment, before: Moment): void => {
    this.#moment = now;
    const fresh = happenings(before, now);
    // What is waited for has its own place in a frame.
    this.#story.push(...fresh.filter(({ kind }) => kind === 'event'));
    const { terminal, colour } = this.#output;
    if (terminal === null) for (const happening of fresh) this.#output.line(happeningLine(happening));
    else if (this.#screen === null) this.#screen = new Screen(terminal, colour, (size) => this.#frame(now, size));
    else this.#screen.draw();
  };

  end(): void {
    this.#screen?.end();
  }

  #frame(first: Moment, size: { readonly columns: number; readonly rows: number }) {
    const { sight, measure } = this.#moment ?? first;
    return frame(sceneOf(sight, measure, performance.now()), this.#story, size);
  }
}
